"""A hand-written reader of Gemini generateContent. Reads both spellings of fields, as protobuf's JSON mapping allows.

From https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching (seen 2026-11-22):
`promptTokenCount` includes `cachedContentTokenCount`; `toolUsePromptTokenCount`, the results of hosted tools, is
counted separately; `candidatesTokenCount` does not include `thoughtsTokenCount`. `STOP` is also the reason of an answer
that ends in a function call; enums may be numbers. A function's response is an object: the text under `output`, or
under `error` if it failed, else the whole object. The official SDKs write `result` if they call a function themselves.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    ENDED,
    FAILED,
    FAILURE,
    FILTERED,
    FINISH,
    LENGTH,
    MEDIUM,
    PAUSED,
    SYSTEM,
    USER,
    Reading,
    digest,
    first,
    link,
    neutral,
    objects,
)

_FILTERS = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"),
    *("IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION", "PUP_LIMITED_DISABLED"),
)
_FAILURES = (
    *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"),
    *("MISSING_THOUGHT_SIGNATURE", "NO_IMAGE", "OTHER", "LANGUAGE", "IMAGE_OTHER"),
)
_STOPS: dict[Any, str] = {"STOP": ENDED, "MAX_TOKENS": LENGTH, **dict.fromkeys(_FILTERS, FILTERED), 1: ENDED, 2: LENGTH}
_STOPS |= {"CONTINUATION": PAUSED}
_STOPS |= dict.fromkeys(_FAILURES, FAILURE)
_WRAPPERS = ("output", "error", "result")


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response; of several candidates, only the first is read."""
    reading = Reading()
    if kind == "request":
        key, system = first(payload, "systemInstruction", "system_instruction")
        for path, content in objects(system, f"$.{key}"):
            _parts(reading, content, path, SYSTEM)
        for path, content in objects(payload.get("contents"), "$.contents"):
            _parts(reading, content, path, ASSISTANT if content.get("role") == "model" else USER)
        return reading
    for path, candidate in [*objects(payload.get("candidates"), "$.candidates")][:1]:
        for content_path, content in objects(candidate.get("content"), f"{path}.content"):
            _parts(reading, content, content_path, ASSISTANT)
        key, reason = first(candidate, "finishReason", "finish_reason")
        reading.add(FINISH, neutral(_STOPS, reason), f"{path}.{key}")
    key, usage = first(payload, "usageMetadata", "usage_metadata")
    if isinstance(usage, dict):
        _usage(reading, usage, f"$.{key}")
    return reading


def _usage(reading: Reading, usage: dict[str, Any], path: str) -> None:
    reading.counters(
        usage,
        path,
        input_tokens=("promptTokenCount", "toolUsePromptTokenCount"),
        cached_tokens=("cachedContentTokenCount",),
        output_tokens=("candidatesTokenCount", "thoughtsTokenCount"),
        reasoning_tokens=("thoughtsTokenCount",),
        total_tokens=("totalTokenCount",),
    )


def _parts(reading: Reading, content: dict[str, Any], path: str, kind: str) -> None:
    for part_path, part in objects(content.get("parts"), f"{path}.parts"):
        if not part.get("thought"):  # The text of a thought is reasoning.
            reading.add(kind, part.get("text"), f"{part_path}.text", f"{path}.role")
        _medium(reading, part, part_path)
        key, call = first(part, "functionCall", "function_call")
        if isinstance(call, dict):
            reading.call(call.get("name"), call.get("args") or {}, f"{part_path}.{key}.args", f"{part_path}.{key}.name")
        key, response = first(part, "functionResponse", "function_response")
        if isinstance(response, dict):
            _result(reading, response, f"{part_path}.{key}")


def _medium(reading: Reading, part: dict[str, Any], path: str) -> None:
    key, data = first(part, "inlineData", "inline_data")
    if isinstance(data, dict):
        reading.add(MEDIUM, digest(data.get("data")), f"{path}.{key}.data")
    key, file = first(part, "fileData", "file_data")
    if isinstance(file, dict):
        inner, uri = first(file, "fileUri", "file_uri")
        reading.add(MEDIUM, link(uri), f"{path}.{key}.{inner}")


def _result(reading: Reading, result: dict[str, Any], path: str) -> None:
    response, response_path = result.get("response"), f"{path}.response"
    key, text = next(iter(response.items())) if isinstance(response, dict) and len(response) == 1 else ("", None)
    if key == "error":
        reading.add(FAILED, True, f"{response_path}.error")
    if key in _WRAPPERS and isinstance(text, str):
        reading.result(text, f"{response_path}.{key}", alone=True)
    elif key in _WRAPPERS and isinstance(text, list) and all(isinstance(item, str) for item in text):
        for index, item in enumerate(text):
            reading.result(item, f"{response_path}.{key}[{index}]")
    elif response:
        reading.result(response, response_path, alone=True)
    for at, part in objects(result.get("parts"), f"{path}.parts"):
        _medium(reading, part, at)
