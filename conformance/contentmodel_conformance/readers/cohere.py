"""A hand-written reader of Cohere's Chat API v2.

From https://docs.cohere.com/v2/reference/chat (seen 2026-11-23): a message of the role `tool` is the result of one
call. `usage.tokens` are all tokens, and `usage.billed_units` those that are billed; `cached_tokens` are part of
`tokens.input_tokens`. Documents are data beside the messages.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    FAILURE,
    FINISH,
    LENGTH,
    MEDIUM,
    STOP,
    SYSTEM,
    TOOL_CALLS,
    USER,
    Reading,
    link,
    neutral,
    objects,
    texts,
)

_ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_STOPS = {
    "COMPLETE": STOP,
    "STOP_SEQUENCE": STOP,
    "MAX_TOKENS": LENGTH,
    "TOOL_CALL": TOOL_CALLS,
    "ERROR": FAILURE,
    "TIMEOUT": FAILURE,
}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response."""
    reading = Reading()
    if kind == "request":
        for path, message in objects(payload.get("messages"), "$.messages"):
            _message(reading, message, path)
        return reading
    for path, message in objects(payload.get("message"), "$.message"):
        _message(reading, {"role": "assistant", **message}, path)
    if isinstance(payload.get("finish_reason"), str):
        reading.add(FINISH, neutral(_STOPS, payload["finish_reason"]), "$.finish_reason")
    if isinstance(payload.get("usage"), dict):
        reading.counters(
            payload["usage"],
            "$.usage",
            input_tokens=("tokens.input_tokens",),
            cached_tokens=("cached_tokens",),
            output_tokens=("tokens.output_tokens",),
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
        for image_path, image in objects(part.get("image_url"), f"{part_path}.image_url"):
            reading.add(MEDIUM, link(image.get("url")), f"{image_path}.url")
    for part_path, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
        for function_path, function in objects(call.get("function"), f"{part_path}.function"):
            name, arguments = function.get("name"), function.get("arguments") or {}
            reading.call(name, arguments, f"{function_path}.arguments", f"{function_path}.name")
