"""A hand-written reader of Anthropic Messages.

From https://platform.claude.com/docs/en/api/messages (seen 2026-11-22) and the pages that it links: "Prompt caching"
(`input_tokens` are those after the last cache point: tokens read from the cache and written to it are counted
separately), "Extended thinking" (`output_tokens` include thinking), "Handling stop reasons".
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    FAILED,
    FILTERED,
    FINISH,
    LENGTH,
    MEDIUM,
    PAUSED,
    STOP,
    SYSTEM,
    TOOL_CALLS,
    USER,
    Reading,
    digest,
    digest_of_bytes,
    link,
    neutral,
    objects,
    texts,
)

_ROLES = {"user": USER, "assistant": ASSISTANT, "system": SYSTEM}
_STOPS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "tool_use": TOOL_CALLS,
    "refusal": FILTERED,
    "pause_turn": PAUSED,
}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response."""
    reading = Reading()
    if kind == "request":
        for path, text in texts(payload.get("system"), "$.system", ["text"]):
            reading.add(SYSTEM, text, path)
        for path, message in objects(payload.get("messages"), "$.messages"):
            _message(reading, message, path)
        return reading
    _message(reading, payload, "$")
    reading.add(FINISH, neutral(_STOPS, payload.get("stop_reason")), "$.stop_reason")
    usage = payload.get("usage")
    if isinstance(usage, dict):
        _usage(reading, usage)
    return reading


def _usage(reading: Reading, usage: dict[str, Any]) -> None:
    beside = ("cache_read_input_tokens", "cache_creation_input_tokens")
    reading.counters(
        usage,
        "$.usage",
        input_tokens=("input_tokens", *beside),
        cached_tokens=beside[:1],
        output_tokens=("output_tokens",),
        reasoning_tokens=("output_tokens_details.thinking_tokens",),
        cache_written_tokens=beside[1:],
    )


def _message(reading: Reading, message: dict[str, Any], path: str) -> None:
    kind, role, content = _ROLES.get(message.get("role", ""), USER), f"{path}.role", message.get("content")
    if isinstance(content, str):
        reading.add(kind, content, f"{path}.content", role)
    for block_path, block in objects(content, f"{path}.content"):
        name = block.get("type")
        if name == "text":
            reading.add(kind, block.get("text"), f"{block_path}.text", role)
        elif name == "tool_use":
            reading.call(block.get("name"), block.get("input"), f"{block_path}.input", f"{block_path}.name")
        elif name == "tool_result":
            _result(reading, block, block_path)
        else:
            _medium(reading, block, block_path)


def _result(reading: Reading, block: dict[str, Any], path: str) -> None:
    failed = f"{path}.is_error"
    if block.get("is_error") is True:
        reading.add(FAILED, True, failed)
    for part_path, text in texts(block.get("content"), f"{path}.content", ["text"]):
        reading.result(text, part_path, failed)
    for part_path, part in objects(block.get("content"), f"{path}.content"):
        _medium(reading, part, part_path)


def _medium(reading: Reading, block: dict[str, Any], path: str) -> None:
    source = block.get("source")
    if block.get("type") not in ("image", "document") or not isinstance(source, dict):
        return
    name = source.get("type")
    if name == "base64":
        reading.add(MEDIUM, digest(source.get("data")), f"{path}.source.data")
    elif name == "text" and isinstance(source.get("data"), str):
        reading.add(MEDIUM, digest_of_bytes(source["data"].encode("utf-8", "surrogatepass")), f"{path}.source.data")
    elif name == "url":
        reading.add(MEDIUM, link(source.get("url")), f"{path}.source.url")
    elif name == "file":
        reading.add(MEDIUM, source.get("file_id"), f"{path}.source.file_id")
    elif name == "content":
        for part_path, part in objects(source.get("content"), f"{path}.source.content"):
            _medium(reading, part, part_path)
