"""A hand-written reader of OpenAI Responses.

From https://platform.openai.com/docs/api-reference/responses (seen 2026-11-22): `input_tokens` include
`input_tokens_details.cached_tokens` and `cache_write_tokens`; `output_tokens` include
`output_tokens_details.reasoning_tokens`. The status of an answer is `completed` whether it ends in a call or not;
`incomplete_details.reason` is why it is `incomplete`.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    ENDED,
    FILTERED,
    FINISH,
    LENGTH,
    MEDIUM,
    RUNNING,
    SYSTEM,
    USER,
    Reading,
    digest,
    link,
    neutral,
    objects,
    openai_usage,
    texts,
)

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": ASSISTANT}
_TEXTS = ("input_text", "output_text", "text")
_STATUSES = {"completed": ENDED, "incomplete": LENGTH, "in_progress": RUNNING, "queued": RUNNING}
_INCOMPLETE = {"max_output_tokens": LENGTH, "max_messages": LENGTH, "content_filter": FILTERED}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response."""
    reading = Reading()
    if kind == "request":
        for path, text in texts(payload.get("instructions"), "$.instructions", _TEXTS):
            reading.add(SYSTEM, text, path, alone=path == "$.instructions")
        if isinstance(payload.get("input"), str):
            reading.add(USER, payload["input"], "$.input")
        _items(reading, payload.get("input"), "$.input", kind)
        return reading
    _items(reading, payload.get("output"), "$.output", kind)
    _finish(reading, payload)
    usage = payload.get("usage")
    if isinstance(usage, dict):
        openai_usage(reading, usage, "input_tokens", "output_tokens")
    return reading


def _finish(reading: Reading, payload: dict[str, Any]) -> None:
    status, details = payload.get("status"), payload.get("incomplete_details")
    reason = details.get("reason") if status == "incomplete" and isinstance(details, dict) else None
    if reason is not None:
        reading.add(FINISH, neutral(_INCOMPLETE, reason), "$.incomplete_details.reason", "$.status")
    else:
        # An incomplete answer without a reason was cut off; every API has a reason for that.
        reading.add(FINISH, neutral(_STATUSES, status), "$.status")


def _items(reading: Reading, items: Any, path: str, kind: str) -> None:
    for item_path, item in objects(items, path):
        name = item.get("type", "message")
        if name == "message":
            _message(reading, item, item_path)
        elif name == "agent_message" and kind == "request":
            _message(reading, {**item, "role": "user"}, item_path)
        elif name == "function_call":
            reading.call(item.get("name"), item.get("arguments"), f"{item_path}.arguments", f"{item_path}.name")
        elif name == "custom_tool_call":
            reading.free_call(item.get("name"), item.get("input"), f"{item_path}.input", f"{item_path}.name")
        elif name in ("function_call_output", "custom_tool_call_output"):
            for at, text in texts(item.get("output"), f"{item_path}.output", _TEXTS):
                reading.result(text, at)
            _media(reading, item.get("output"), f"{item_path}.output")
        elif name == "image_generation_call":
            reading.add(MEDIUM, digest(item.get("result")), f"{item_path}.result")


def _message(reading: Reading, message: dict[str, Any], path: str) -> None:
    content = message.get("content")
    for part_path, text in texts(content, f"{path}.content", _TEXTS):
        reading.add(_ROLES.get(message.get("role", ""), USER), text, part_path, f"{path}.role")
    _media(reading, content, f"{path}.content")


def _media(reading: Reading, content: Any, path: str) -> None:
    for part_path, part in objects(content, path):
        if part.get("type") == "input_image":
            reading.add(MEDIUM, link(part.get("image_url")), f"{part_path}.image_url")
            reading.add(MEDIUM, part.get("file_id"), f"{part_path}.file_id")
        elif part.get("type") == "input_file":
            data = part.get("file_data")
            is_uri = isinstance(data, str) and data.startswith("data:")
            reading.add(MEDIUM, link(data) if is_uri else digest(data), f"{part_path}.file_data")
            reading.add(MEDIUM, link(part.get("file_url")), f"{part_path}.file_url")
            reading.add(MEDIUM, part.get("file_id"), f"{part_path}.file_id")
        elif part.get("type") == "input_audio" and isinstance(part.get("input_audio"), dict):
            reading.add(MEDIUM, digest(part["input_audio"].get("data")), f"{part_path}.input_audio.data")
