"""Hand-written readers of the conversations that agent frameworks of Microsoft store.

The .NET contents from src/Libraries/Microsoft.Extensions.AI.Abstractions/Contents of dotnet/extensions, the Python ones
from `agent_framework/_types.py` of agent-framework-core 1.23.0 (both seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CACHED,
    FAILED,
    FINISH,
    INPUT,
    MEDIUM,
    NORMALIZED_FINISHES,
    OUTPUT,
    REASONING,
    SYSTEM,
    TOOL_CALLS,
    TOTAL,
    USER,
    WRITTEN,
    Reading,
    link,
    neutral,
    number_at,
    objects,
)

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": ASSISTANT}
_FINISHES = {**NORMALIZED_FINISHES, "tool_calls": TOOL_CALLS}
_COUNTERS = {
    INPUT: "inputTokenCount",
    CACHED: "cachedInputTokenCount",
    OUTPUT: "outputTokenCount",
    REASONING: "reasoningTokenCount",
    TOTAL: "totalTokenCount",
}
_PYTHON_COUNTERS = {
    INPUT: "input_token_count",
    CACHED: "cache_read_input_token_count",
    WRITTEN: "cache_creation_input_token_count",
    OUTPUT: "output_token_count",
    REASONING: "reasoning_output_token_count",
    TOTAL: "total_token_count",
}


def read_extensions_ai(kind: str, payload: Any) -> Reading:
    """Return the facts of a list of ChatMessage of Microsoft.Extensions.AI, or of a ChatResponse."""
    reading = _read(payload, _extensions_ai)
    return _with_end(reading, payload, "finishReason", "usage", _COUNTERS) if kind == "response" else reading


def read_agent_framework(kind: str, payload: Any) -> Reading:
    """Return the facts of a list of messages of Microsoft Agent Framework for Python, or of an answer."""
    reading = _read(payload, _agent_framework)
    return (
        _with_end(reading, payload, "finish_reason", "usage_details", _PYTHON_COUNTERS)
        if kind == "response"
        else reading
    )


def _with_end(reading: Reading, payload: dict[str, Any], finish: str, usage: str, counters: dict[str, str]) -> Reading:
    """Return the facts with the finish reason and the counters of an answer."""
    reading.add(FINISH, neutral(_FINISHES, payload.get(finish)), f"$.{finish}")
    for counter, name in counters.items():
        reading.add(counter, number_at(payload.get(usage), name), f"$.{usage}.{name}")
    return reading


def _read(payload: Any, content: Callable[[Reading, dict[str, Any], str], None]) -> Reading:
    reading = Reading()
    messages, at = (payload, "$") if isinstance(payload, list) else (payload.get("messages"), "$.messages")
    for path, message in objects(messages, at):
        for content_path, part in objects(message.get("contents"), f"{path}.contents"):
            if part.get("$type", part.get("type")) == "text":
                reading.add(_ROLES.get(message["role"], USER), part.get("text"), f"{content_path}.text", f"{path}.role")
            content(reading, part, content_path)
    return reading


def _extensions_ai(reading: Reading, part: dict[str, Any], path: str) -> None:
    match part.get("$type"):
        case "functionCall":
            reading.call(part.get("name"), part.get("arguments") or {}, f"{path}.arguments", f"{path}.name")
        case "functionResult":
            _value(reading, part.get("result"), f"{path}.result", "$type")
        case _:
            _medium(reading, part, path, "$type")


def _agent_framework(reading: Reading, part: dict[str, Any], path: str) -> None:
    match part.get("type"):
        case "function_call":
            reading.call(part.get("name"), part.get("arguments") or {}, f"{path}.arguments", f"{path}.name")
        case "function_result":
            if part.get("exception"):
                reading.add(FAILED, True, f"{path}.exception")
            # `result` repeats the texts of the items.
            key = "items" if part.get("items") else "result"
            _value(reading, part.get(key), f"{path}.{key}", "type")
        case _:
            _medium(reading, part, path, "type")


def _value(reading: Reading, value: Any, path: str, tag: str) -> None:
    """Read the result of a function: a text, contents, or any other value."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and tag in item for item in value):
        for item_path, item in objects(value, path):
            if item[tag] == "text":
                reading.result(item.get("text"), f"{item_path}.text")
            _medium(reading, item, item_path, tag)
    elif value is not None:
        reading.result(value, path)


def _medium(reading: Reading, part: dict[str, Any], path: str, tag: str) -> None:
    if part.get(tag) in ("data", "uri"):
        reading.add(MEDIUM, link(part.get("uri")), f"{path}.uri")
    key = {"hostedFile": "fileId", "hosted_file": "file_id"}.get(str(part.get(tag)))
    if key is not None:
        reading.add(MEDIUM, part.get(key), f"{path}.{key}")
