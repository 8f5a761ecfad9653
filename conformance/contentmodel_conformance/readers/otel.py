"""A hand-written reader of OpenTelemetry's GenAI messages.

From docs/gen-ai/non-normative/examples-llm-calls.md and the JSON Schemas of semantic-conventions-genai (seen
2026-11-23). The readers of other APIs count no calls of tools that the provider runs.
"""

from __future__ import annotations

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
    USER,
    WRITTEN,
    Reading,
    digest,
    link,
    neutral,
    number_at,
    objects,
)

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": ASSISTANT}
_FINISHES = {**NORMALIZED_FINISHES, "tool_call": TOOL_CALLS}
_COUNTERS = {
    INPUT: "input_tokens",
    CACHED: "cache_read.input_tokens",
    WRITTEN: "cache_creation.input_tokens",
    OUTPUT: "output_tokens",
    REASONING: "reasoning.output_tokens",
}

_MEDIA = ("blob", "uri", "file")
_RESULTS = {"text": "content", "json": "value"}
"""The field of each part of a tool's response that is not a medium."""


def read(kind: str, payload: Any) -> Reading:
    """Return the facts of the attributes of a span, or of a list of messages; of several choices, only the first."""
    reading = Reading()
    if isinstance(payload, list):
        _messages(reading, payload, "$")
    elif kind == "request":
        at = "$['gen_ai.system_instructions']"
        for path, part in objects(payload.get("gen_ai.system_instructions"), at):
            _part(reading, part, path, "system", path)
        _messages(reading, payload.get("gen_ai.input.messages"), "$['gen_ai.input.messages']")
    else:
        answers = payload.get("gen_ai.output.messages")
        # Each message is a choice.
        _messages(reading, answers[:1] if isinstance(answers, list) else None, "$['gen_ai.output.messages']")
        for counter, name in _COUNTERS.items():
            key = f"gen_ai.usage.{name}"
            reading.add(counter, number_at({"count": payload.get(key)}, "count"), f"$['{key}']")
    return reading


def _messages(reading: Reading, messages: Any, at: str) -> None:
    for path, message in objects(messages, at):
        for part_path, part in objects(message.get("parts"), f"{path}.parts"):
            _part(reading, part, part_path, message.get("role", ""), f"{path}.role")
        reading.add(FINISH, neutral(_FINISHES, message.get("finish_reason")), f"{path}.finish_reason")


def _part(reading: Reading, part: dict[str, Any], path: str, role: str, role_path: str) -> None:
    match part.get("type"):
        case "text":
            reading.add(_ROLES.get(role, USER), part.get("content"), f"{path}.content", role_path)
        case "tool_call":
            reading.call(part.get("name"), part.get("arguments") or {}, f"{path}.arguments", f"{path}.name")
        case "tool_call_response":
            reading.add(FAILED, part.get("is_error") or None, f"{path}.is_error")
            _response(reading, part.get("response"), f"{path}.response")
        case "server_tool_call_response":
            response, at = part.get("server_tool_call_response"), f"{path}.server_tool_call_response.outputs"
            outputs = response.get("outputs") if isinstance(response, dict) else None
            for output_path, output in objects(outputs, at):
                if output.get("type") in _MEDIA:
                    _part(reading, output, output_path, "", path)
        case "blob":
            reading.add(MEDIUM, digest(part.get("content")), f"{path}.content")
        case "uri":
            reading.add(MEDIUM, link(part.get("uri")), f"{path}.uri")
        case "file":
            reading.add(MEDIUM, part.get("file_id"), f"{path}.file_id")


def _response(reading: Reading, value: Any, path: str) -> None:
    """Read the response of a tool: a text, parts, or any other value."""
    if not isinstance(value, list) or not all(isinstance(item, dict) and "type" in item for item in value):
        reading.result(value, path) if value is not None else None
        return
    for item_path, item in objects(value, path):
        key = _RESULTS.get(item["type"])
        if key is not None:
            reading.result(item.get(key), f"{item_path}.{key}")
        else:
            _part(reading, item, item_path, "", path)
