"""The reader of Gemini's Interactions API.

From https://ai.google.dev/api/interactions-api and https://ai.google.dev/gemini-api/docs/interactions (seen
2026-11-26). `input` is a text, one content, a list of contents, or a list of steps. In recorded answers, the total is
the sum of the tokens of input, output, thoughts and tool use; cached tokens are a part of the input. The result of a
function is a text, a list of contents, or any other object.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CALL,
    ENDED,
    FAILED,
    FAILURE,
    FINISH,
    LENGTH,
    MEDIUM,
    PAUSED,
    RUNNING,
    STOP,
    SYSTEM,
    TOOL_CALLS,
    USER,
    Reading,
    digest,
    link,
    neutral,
    objects,
)

_MEDIA = ("image", "document", "audio", "video")
_STATUSES: dict[Any, str] = {
    "completed": STOP,
    "requires_action": TOOL_CALLS,
    "incomplete": LENGTH,
    "budget_exceeded": LENGTH,
    "failed": FAILURE,
    "in_progress": RUNNING,
    "queued": RUNNING,
    "requires_continuation": PAUSED,
}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response."""
    reading = Reading()
    if kind == "request":
        reading.add(SYSTEM, payload.get("system_instruction"), "$.system_instruction")
        input_value = payload.get("input")
        if isinstance(input_value, str):
            reading.add(USER, input_value, "$.input")
        for path, item in objects(input_value, "$.input"):
            if item.get("type") in ("text", *_MEDIA):
                _content(reading, item, path, USER)
            else:
                _step(reading, item, path)
        return reading
    for path, step in objects(payload.get("steps"), "$.steps"):
        _step(reading, step, path)
    reason = neutral(_STATUSES, payload.get("status"))
    reading.add(FINISH, ENDED if reason == STOP and reading.of(CALL) else reason, "$.status")
    if isinstance(payload.get("usage"), dict):
        reading.counters(
            payload["usage"],
            "$.usage",
            input_tokens=("total_input_tokens", "total_tool_use_tokens"),
            cached_tokens=("total_cached_tokens",),
            output_tokens=("total_output_tokens", "total_thought_tokens"),
            reasoning_tokens=("total_thought_tokens",),
            total_tokens=("total_tokens",),
        )
    return reading


def _step(reading: Reading, step: dict[str, Any], path: str) -> None:
    kind = step.get("type")
    if kind in ("user_input", "model_output"):
        for at, item in objects(step.get("content"), f"{path}.content"):
            _content(reading, item, at, USER if kind == "user_input" else ASSISTANT, f"{path}.type")
    elif kind == "function_call":
        reading.call(step.get("name"), step.get("arguments") or {}, f"{path}.arguments", f"{path}.name")
    elif kind == "function_result":
        if step.get("is_error"):
            reading.add(FAILED, True, f"{path}.is_error")
        _result(reading, step.get("result"), f"{path}.result")


def _content(reading: Reading, item: dict[str, Any], path: str, kind: str, *paths: str) -> None:
    if item.get("type") == "text":
        reading.add(kind, item.get("text"), f"{path}.text", *paths)
    elif item.get("type") in _MEDIA:
        reading.add(MEDIUM, digest(item.get("data")), f"{path}.data")
        reading.add(MEDIUM, link(item.get("uri")), f"{path}.uri")


def _result(reading: Reading, result: Any, path: str) -> None:
    if isinstance(result, list):
        for at, item in objects(result, path):
            if item.get("type") == "text":
                reading.result(item.get("text"), f"{at}.text")
            else:
                _content(reading, item, at, MEDIUM)
    elif result is not None:
        reading.result(result, path, alone=True)
