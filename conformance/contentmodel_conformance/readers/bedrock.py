"""A hand-written reader of Converse.

From https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (seen 2026-11-23), the pages of
its types, and "Prompt caching" of the user guide (`inputTokens` are those that were neither read from a cache nor
written to it).
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CALL,
    ENDED,
    FAILED,
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
    digest_of_bytes,
    neutral,
    objects,
)

_ROLES = {"user": USER, "assistant": ASSISTANT, "system": SYSTEM}
_STOPS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "tool_use": TOOL_CALLS,
    "guardrail_intervened": FILTERED,
    "content_filtered": FILTERED,
    "malformed_model_output": FAILURE,
    "malformed_tool_use": FAILURE,
}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response."""
    reading = Reading()
    if kind == "request":
        for path, block in objects(payload.get("system"), "$.system"):
            _text(reading, block, path, SYSTEM)
        for path, message in objects(payload.get("messages"), "$.messages"):
            _message(reading, message, path)
        return reading
    output = payload.get("output")
    answer = output.get("message") if isinstance(output, dict) else None
    if isinstance(answer, dict):
        # Whatever its role is, an answer is the model's.
        _message(reading, {**answer, "role": "assistant"}, "$.output.message")
    reason = neutral(_STOPS, payload.get("stopReason"))
    reading.add(FINISH, ENDED if reason == STOP and reading.of(CALL) else reason, "$.stopReason")
    usage = payload.get("usage")
    if isinstance(usage, dict):
        beside = ("cacheReadInputTokens", "cacheWriteInputTokens")
        reading.counters(
            usage,
            "$.usage",
            input_tokens=("inputTokens", *beside),
            cached_tokens=beside[:1],
            output_tokens=("outputTokens",),
            cache_written_tokens=beside[1:],
            total_tokens=("totalTokens",),
        )
    return reading


def _text(reading: Reading, block: dict[str, Any], path: str, kind: str, *paths: str) -> None:
    guarded = block.get("guardContent")
    cited = block.get("citationsContent")
    if isinstance(block.get("text"), str):
        reading.add(kind, block["text"], f"{path}.text", *paths)
    elif isinstance(guarded, dict) and isinstance(guarded.get("text"), dict):
        reading.add(kind, guarded["text"].get("text"), f"{path}.guardContent.text.text", *paths)
    elif isinstance(cited, dict):
        parts = [part.get("text") for _, part in objects(cited.get("content"), "")]
        text = "".join(part for part in parts if isinstance(part, str))
        reading.add(kind, text, f"{path}.citationsContent.content", *paths)


def _message(reading: Reading, message: dict[str, Any], path: str) -> None:
    kind, role = _ROLES.get(message.get("role", ""), USER), f"{path}.role"
    for at, block in objects(message.get("content"), f"{path}.content"):
        _text(reading, block, at, kind, role)
        call, result = block.get("toolUse"), block.get("toolResult")
        if isinstance(call, dict) and call.get("type") != "server_tool_use":
            typed = {} if call.get("input") is None else call["input"]
            reading.call(call.get("name"), typed, f"{at}.toolUse.input", f"{at}.toolUse.name")
        if isinstance(result, dict):
            _result(reading, result, f"{at}.toolResult")
        _medium(reading, block, at)


def _result(reading: Reading, result: dict[str, Any], path: str) -> None:
    failed = f"{path}.status"
    kind = result.get("type")
    if isinstance(kind, str) and kind.endswith("_result") and kind != "tool_result":
        return
    if result.get("status") == "error":
        reading.add(FAILED, True, failed)
    for at, part in objects(result.get("content"), f"{path}.content"):
        if isinstance(part.get("text"), str):
            reading.result(part["text"], f"{at}.text", failed)
        if "json" in part:
            reading.result(part["json"], f"{at}.json", failed)
        _medium(reading, part, at)


def _medium(reading: Reading, block: dict[str, Any], path: str) -> None:
    for kind in ("image", "document", "video", "audio"):
        medium = block.get(kind)
        source = medium.get("source") if isinstance(medium, dict) else None
        if not isinstance(source, dict):
            continue
        at = f"{path}.{kind}.source"
        location = source.get("s3Location")
        reading.add(MEDIUM, digest(source.get("bytes")), f"{at}.bytes")
        if isinstance(source.get("text"), str):
            reading.add(MEDIUM, digest_of_bytes(source["text"].encode("utf-8", "surrogatepass")), f"{at}.text")
        if isinstance(location, dict):
            reading.add(MEDIUM, location.get("uri"), f"{at}.s3Location.uri")
