"""Report what the reader of Microsoft.Extensions.AI refuses.

No .NET runs here. `refusals` is written from the properties and constructors of the classes in
src/Libraries/Microsoft.Extensions.AI.Abstractions of dotnet/extensions (seen 2026-11-23).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

CONTENT = {"annotations": list, "additionalProperties": dict}
FIELDS: dict[str, dict[str, Any]] = {
    "text": {"text!": str},
    "reasoning": {"text!": str, "protectedData": str},
    "data": {"uri!": "data", "name": str},
    "uri": {"uri!": str, "mediaType!": str},
    "error": {"message!": str, "errorCode": str, "details": str},
    "functionCall": {"callId!": str, "name!": str, "arguments": dict, "informationalOnly": bool},
    "functionResult": {"callId!": str, "result": object},
    "hostedFile": {"fileId!": str, "mediaType": str, "name": str, "sizeInBytes": int, "createdAt": "date"},
    "hostedVectorStore": {"vectorStoreId!": str},
    "usage": {"details!": dict},
    "toolCall": {"callId!": str},
    "toolResult": {"callId!": str},
    "inputRequest": {"requestId!": str},
    "inputResponse": {"requestId!": str},
    "toolApprovalRequest": {"requestId!": str, "toolCall!": "call", "requiresConfirmation": bool},
    "toolApprovalResponse": {"requestId!": str, "approved!": bool, "toolCall!": "call", "reason": str},
    "mcpServerToolCall": {"callId!": str, "name!": str, "serverName": str, "arguments": dict},
    "mcpServerToolResult": {"callId!": str, "outputs": "contents"},
    "imageGenerationToolCall": {"callId!": str},
    "imageGenerationToolResult": {"callId!": str, "outputs": "contents"},
    "codeInterpreterToolCall": {"callId!": str, "inputs": "contents"},
    "codeInterpreterToolResult": {"callId!": str, "outputs": "contents"},
    "webSearchToolCall": {"callId!": str, "queries": list},
    "webSearchToolResult": {"callId!": str, "outputs": "contents"},
}
"""The properties of each type. Those with an exclamation mark must not be null."""
MESSAGE = {
    "authorName": str,
    "createdAt": "date",
    "role": str,
    "contents": "contents",
    "messageId": str,
    "additionalProperties": dict,
}
ANNOTATION = {
    **dict.fromkeys(("title", "url", "fileId", "toolName", "snippet"), str),
    "annotatedRegions": list,
    "additionalProperties": dict,
}
REGION = {"start": int, "end": int}


def refusals(messages: Any) -> list[str]:
    """Return the paths that System.Text.Json refuses or drops in a list of ChatMessage."""
    if not isinstance(messages, list):
        return ["$"]
    return [fault for at, message in enumerate(messages) for fault in _object(message, MESSAGE, f"$[{at}]")]


def _object(value: Any, fields: dict[str, Any], path: str) -> list[str]:
    if not isinstance(value, dict):
        return [path]
    known = {name.rstrip("!"): kind for name, kind in fields.items()}
    faults = [f"{path}.{name}" for name in value if name not in known]
    faults += [f"{path}.{name[:-1]}" for name in fields if name.endswith("!") and value.get(name[:-1]) is None]
    for name, item in value.items():
        if item is not None and name in known:
            faults += _value(item, known[name], f"{path}.{name}")
    for at, annotation in enumerate(value.get("annotations") or []):
        faults += _annotation(annotation, f"{path}.annotations[{at}]")
    return faults


def _value(value: Any, kind: Any, path: str) -> list[str]:
    if kind == "contents":
        is_list = isinstance(value, list)
        return (
            [fault for at, item in enumerate(value) for fault in _content(item, f"{path}[{at}]")] if is_list else [path]
        )
    if kind == "call":
        return _content(value, path) if str(value.get("$type", "")).lower().endswith("call") else [path]
    if kind == "data":
        return [] if isinstance(value, str) and value.startswith("data:") and "," in value else [path]
    if kind == "date":
        return [] if _is_date(value) else [path]
    fits = isinstance(value, kind) and (kind is not int or not isinstance(value, bool))
    return [] if fits else [path]


def _is_date(value: Any) -> bool:
    try:
        return bool(datetime.fromisoformat(value))
    except (TypeError, ValueError):
        return False


def _content(value: Any, path: str) -> list[str]:
    fields = FIELDS.get(value.get("$type", "")) if isinstance(value, dict) else None
    if fields is None:
        return [path]
    if next(iter(value)) != "$type":
        return [f"{path}.$type"]
    return _object(value, {"$type": str, **CONTENT, **fields}, path)


def _annotation(value: Any, path: str) -> list[str]:
    if not isinstance(value, dict) or next(iter(value), "") != "$type" or value["$type"] != "citation":
        return [path]
    faults = _object(value, {"$type": str, **ANNOTATION}, path)
    for at, region in enumerate(value.get("annotatedRegions") or []):
        faults += _object(region, {"$type": str, **REGION}, f"{path}.annotatedRegions[{at}]")
    return faults
