"""A hand-written reader of OpenAI Chat Completions.

From https://platform.openai.com/docs/api-reference/chat (seen 2026-11-22): `prompt_tokens` include
`prompt_tokens_details.cached_tokens` and `cache_write_tokens`; `completion_tokens` include
`completion_tokens_details.reasoning_tokens`. The reason is `stop` also for calls, if the request forced one
function. `function_call` and the role `function` are the deprecated form of calls.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CALL,
    ENDED,
    FAILURE,
    FILTERED,
    FINISH,
    LENGTH,
    MEDIUM,
    STOP,
    SYSTEM,
    TOOL_CALLS,
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
_STOPS = {
    "stop": STOP,
    "length": LENGTH,
    "tool_calls": TOOL_CALLS,
    "function_call": TOOL_CALLS,
    "content_filter": FILTERED,
    # Of hosts: an answer that broke off, and words of Z.ai.
    "error": FAILURE,
    "network_error": FAILURE,
    "model_context_window_exceeded": LENGTH,
    "sensitive": FILTERED,
}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response; of several choices, only the first is read."""
    reading = Reading()
    if kind == "request":
        for path, message in objects(payload.get("messages"), "$.messages"):
            _message(reading, message, path)
        return reading
    for path, choice in [*objects(payload.get("choices"), "$.choices")][:1]:
        for message_path, message in objects(choice.get("message"), f"{path}.message"):
            _message(reading, {"role": "assistant", **message}, message_path, alone=True)
        reason = neutral(_STOPS, choice.get("finish_reason"))
        reading.add(FINISH, ENDED if reason == STOP and reading.of(CALL) else reason, f"{path}.finish_reason")
    usage = payload.get("usage")
    if isinstance(usage, dict):
        openai_usage(reading, usage, "prompt_tokens", "completion_tokens")
    return reading


def _message(reading: Reading, message: dict[str, Any], path: str, *, alone: bool = False) -> None:
    role, content = message.get("role", ""), message.get("content")
    for part_path, text in texts(content, f"{path}.content", ["text"]):
        if role in ("tool", "function"):
            reading.result(text, part_path)
        else:
            reading.add(_ROLES.get(role, USER), text, part_path, f"{path}.role", alone=alone)
    for part_path, part in objects(content, f"{path}.content"):
        _medium(reading, part, part_path)
    audio = message.get("audio")
    if isinstance(audio, dict):
        reading.add(MEDIUM, digest(audio.get("data")), f"{path}.audio.data")
    for part_path, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
        _call(reading, call, part_path)
    if isinstance(message.get("function_call"), dict):
        _function(reading, message["function_call"], f"{path}.function_call")


def _call(reading: Reading, call: dict[str, Any], path: str) -> None:
    if isinstance(call.get("function"), dict):
        _function(reading, call["function"], f"{path}.function")
    elif isinstance(call.get("custom"), dict):
        custom = call["custom"]
        reading.free_call(custom.get("name"), custom.get("input"), f"{path}.custom.input", f"{path}.custom.name")


def _function(reading: Reading, function: dict[str, Any], path: str) -> None:
    reading.call(function.get("name"), function.get("arguments"), f"{path}.arguments", f"{path}.name")


def _medium(reading: Reading, part: dict[str, Any], path: str) -> None:
    inner = part.get(part.get("type", ""))
    if not isinstance(inner, dict):
        return
    value_path = f"{path}.{part['type']}"
    if part["type"] == "image_url":
        reading.add(MEDIUM, link(inner.get("url")), f"{value_path}.url")
    elif part["type"] == "input_audio":
        reading.add(MEDIUM, digest(inner.get("data")), f"{value_path}.data")
    elif part["type"] == "file":
        data = inner.get("file_data")
        # Some hosts take a link in place of the data.
        is_uri = isinstance(data, str) and data.startswith(("data:", "http://", "https://"))
        reading.add(MEDIUM, link(data) if is_uri else digest(data), f"{value_path}.file_data")
        reading.add(MEDIUM, inner.get("file_id"), f"{value_path}.file_id")
