"""A hand-written reader of Mistral's chat completions.

From https://docs.mistral.ai/api and the types of mistralai 3.7.0 (seen 2026-11-23): the content of a message is a
string or a list of chunks, the text of a `thinking` chunk is not part of the answer, and `image_url` is a string or an
object.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CALL,
    ENDED,
    FAILURE,
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
    texts,
)

_ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_STOPS = {"stop": STOP, "length": LENGTH, "model_length": LENGTH, "tool_calls": TOOL_CALLS, "error": FAILURE}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response; of several choices, only the first is read."""
    reading = Reading()
    if kind == "request":
        for path, message in objects(payload.get("messages"), "$.messages"):
            _message(reading, message, path)
        return reading
    for path, choice in [*objects(payload.get("choices"), "$.choices")][:1]:
        for message_path, message in objects(choice.get("message"), f"{path}.message"):
            _message(reading, message, message_path)
        reason = neutral(_STOPS, choice.get("finish_reason"))
        reading.add(FINISH, ENDED if reason == STOP and reading.of(CALL) else reason, f"{path}.finish_reason")
    usage = payload.get("usage")
    if isinstance(usage, dict):
        reading.counters(
            usage,
            "$.usage",
            input_tokens=("prompt_tokens",),
            cached_tokens=("prompt_tokens_details.cached_tokens", "num_cached_tokens"),
            output_tokens=("completion_tokens",),
            total_tokens=("total_tokens",),
        )
    return reading


def _message(reading: Reading, message: dict[str, Any], path: str) -> None:
    role, content = message.get("role", ""), message.get("content")
    for part_path, text in texts(content, f"{path}.content", ["text"]):
        if role == "tool":
            reading.result(text, part_path)
        else:
            reading.add(_ROLES.get(role, USER), text, part_path, f"{path}.role")
    for part_path, part in objects(content, f"{path}.content"):
        _medium(reading, part, part_path)
    for part_path, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
        function = call.get("function")
        if isinstance(function, dict):
            at = f"{part_path}.function"
            reading.call(function.get("name"), function.get("arguments"), f"{at}.arguments", f"{at}.name")


def _medium(reading: Reading, part: dict[str, Any], path: str) -> None:
    kind = part.get("type")
    if kind == "image_url" and isinstance(part.get(kind), dict):
        reading.add(MEDIUM, link(part[kind].get("url")), f"{path}.image_url.url")
    elif kind in ("image_url", "document_url"):
        reading.add(MEDIUM, link(part.get(kind)), f"{path}.{kind}")
    elif kind == "input_audio":
        reading.add(MEDIUM, digest(part.get(kind)), f"{path}.input_audio")
    elif kind == "file":
        reading.add(MEDIUM, part.get("file_id"), f"{path}.file_id")
