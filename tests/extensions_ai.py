"""Conversations of Microsoft.Extensions.AI and of Agent Framework, and what their readers refuse.

No .NET runs here. `refusals` is written from the properties and constructors of the classes in
src/Libraries/Microsoft.Extensions.AI.Abstractions of dotnet/extensions (seen 2026-11-23).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

CALL = {"$type": "functionCall", "callId": "c1", "name": "weather", "arguments": {"city": "Oslo"}}
MCP_CALL = {
    "$type": "mcpServerToolCall",
    "callId": "m1",
    "name": "search",
    "serverName": "docs",
    "arguments": {"q": "a"},
}
CITATION = {
    "$type": "citation",
    "title": "Oslo",
    "url": "https://example.org/oslo",
    "fileId": "f1",
    "toolName": "search",
    "snippet": "a city",
    "annotatedRegions": [{"$type": "textSpan", "start": 3, "end": 7}],
    "additionalProperties": {"rank": 1},
}
CONTENTS: list[dict[str, Any]] = [
    {"$type": "text", "text": "\U0001f30d Oslo", "annotations": [CITATION]},
    {"$type": "text", "text": "two places", "annotations": [{"$type": "citation", "annotatedRegions": []}]},
    {"$type": "reasoning", "text": "Look it up.", "protectedData": "c2VjcmV0"},
    {"$type": "reasoning", "text": "", "protectedData": "c2VjcmV0"},
    {"$type": "data", "uri": "data:image/png;base64,iVBORw0KGgo=", "additionalProperties": {"detail": "high"}},
    {"$type": "data", "uri": "data:text/plain,hello", "name": "a.txt"},
    {"$type": "uri", "uri": "https://example.org/a.png", "mediaType": "image/png"},
    {"$type": "error", "message": "no", "errorCode": "refusal", "details": "more"},
    CALL,
    {**CALL, "informationalOnly": True},
    {"$type": "functionCall", "callId": "c2", "name": "now"},
    {"$type": "functionResult", "callId": "c1", "result": "18 degrees"},
    {"$type": "functionResult", "callId": "c1", "result": {"degrees": 18, "$type": "measure"}},
    {"$type": "functionResult", "callId": "c1", "result": [1, "a", None]},
    {"$type": "functionResult", "callId": "c1", "result": False},
    {"$type": "functionResult", "callId": "c1", "result": None},
    {"$type": "functionResult", "callId": "c1"},
    {"$type": "functionResult", "callId": "c1", "result": {"$type": "text", "text": "one"}},
    {"$type": "functionResult", "callId": "c1", "result": [{"$type": "text", "text": "listed"}]},
    {
        "$type": "functionResult",
        "callId": "c1",
        "result": [{"$type": "text", "text": "a"}, {"$type": "data", "uri": "data:image/png;base64,iVBORw0KGgo="}],
    },
    {
        "$type": "hostedFile",
        "fileId": "f1",
        "mediaType": "text/csv",
        "name": "a.csv",
        "sizeInBytes": 12,
        "createdAt": "2026-11-23T10:00:00+00:00",
    },
    {"$type": "hostedVectorStore", "vectorStoreId": "v1"},
    {
        "$type": "usage",
        "details": {
            "inputTokenCount": 11,
            "outputTokenCount": 7,
            "totalTokenCount": 18,
            "cachedInputTokenCount": 3,
            "reasoningTokenCount": 2,
            "additionalCounts": {"InputTokenDetails.AudioTokenCount": 1},
        },
    },
    {"$type": "toolCall", "callId": "t1"},
    {"$type": "toolResult", "callId": "t1"},
    {"$type": "inputRequest", "requestId": "r1"},
    {"$type": "inputResponse", "requestId": "r1"},
    {"$type": "toolApprovalRequest", "toolCall": CALL, "requiresConfirmation": True, "requestId": "r2"},
    {"$type": "toolApprovalResponse", "approved": False, "toolCall": CALL, "reason": "no", "requestId": "r2"},
    {"$type": "toolApprovalRequest", "toolCall": MCP_CALL, "requestId": "r3"},
    {"$type": "toolApprovalRequest", "toolCall": {"$type": "imageGenerationToolCall", "callId": "i"}, "requestId": "r"},
    MCP_CALL,
    {"$type": "mcpServerToolResult", "callId": "m1", "outputs": [{"$type": "text", "text": "found"}]},
    {"$type": "imageGenerationToolCall", "callId": "i1"},
    {
        "$type": "imageGenerationToolResult",
        "callId": "i1",
        "outputs": [{"$type": "uri", "uri": "https://example.org/a.png", "mediaType": "image/png"}],
    },
    {
        "$type": "codeInterpreterToolCall",
        "callId": "p1",
        "inputs": [{"$type": "data", "uri": "data:text/x-python;base64,cHJpbnQoMSk="}],
    },
    {
        "$type": "codeInterpreterToolResult",
        "callId": "p1",
        "outputs": [{"$type": "text", "text": "1"}, {"$type": "error", "message": "no memory"}],
    },
    {"$type": "webSearchToolCall", "callId": "w1", "queries": ["Oslo", "weather"]},
    {
        "$type": "webSearchToolResult",
        "callId": "w1",
        "outputs": [{"$type": "uri", "uri": "https://example.org/oslo", "mediaType": "text/html"}],
    },
]
"""One content of each type at least."""
CHAT: list[dict[str, Any]] = [
    {"role": "system", "contents": [{"$type": "text", "text": "Be brief."}]},
    {
        "authorName": "Ann",
        "createdAt": "2026-11-23T10:00:00+00:00",
        "role": "user",
        "contents": [
            {"$type": "text", "text": "Weather here?"},
            {"$type": "data", "uri": "data:image/png;base64,iVBORw0KGgo=", "name": "a.png"},
        ],
        "messageId": "msg_1",
        "additionalProperties": {"thread": 7},
    },
    {"role": "assistant", "contents": [{"$type": "reasoning", "text": "Hm.", "protectedData": "c2VjcmV0"}, CALL]},
    {"role": "tool", "contents": [{"$type": "functionResult", "callId": "c1", "result": {"degrees": 18}}]},
    {"role": "assistant", "contents": [{"$type": "text", "text": "18 degrees."}]},
    {"role": "user", "contents": [{"$type": "text", "text": "Thanks."}]},
]
EVERY = [{"role": "assistant", "contents": CONTENTS}]
RESPONSE = {
    "messages": [{"role": "assistant", "contents": [{"$type": "text", "text": "Hi."}], "messageId": "msg_1"}],
    "responseId": "resp_1",
    "conversationId": "conv_1",
    "modelId": "gpt-5.2",
    "createdAt": "2026-11-23T10:00:00+00:00",
    "finishReason": "stop",
    "usage": {"inputTokenCount": 11, "outputTokenCount": 7, "totalTokenCount": 18},
    "additionalProperties": {"region": "north"},
}
EMPTY: dict[str, Any] = {"additional_properties": {}}
PYTHON_CALL = {
    "type": "function_call",
    "call_id": "c1",
    "name": "weather",
    "arguments": '{"city": "Oslo"}',
    "hosted": False,
    "id": "af-call-1",
    **EMPTY,
}
PYTHON_RESPONSE: dict[str, Any] = {
    "type": "chat_response",
    "messages": [
        {
            "type": "message",
            "role": "assistant",
            "contents": [{"type": "text", "text": "Hi.", **EMPTY}],
            "message_id": "msg_1",
            **EMPTY,
        }
    ],
    "response_id": "resp_1",
    "conversation_id": "conv_1",
    "model": "gpt-5.2",
    "created_at": "2026-11-23T10:00:00+00:00",
    "finish_reason": "stop",
    "usage_details": {
        "input_token_count": 11,
        "output_token_count": 7,
        "total_token_count": 18,
        "cache_read_input_token_count": 2,
    },
}
PYTHON: list[dict[str, Any]] = [
    {"type": "message", "role": "system", "contents": [{"type": "text", "text": "Be brief.", **EMPTY}], **EMPTY},
    {
        "type": "message",
        "role": "user",
        "contents": [
            {"type": "text", "text": "Weather here?", **EMPTY},
            {"type": "data", "uri": "data:image/png;base64,iVBORw0KGgo=", "media_type": "image/png", **EMPTY},
        ],
        "author_name": "Ann",
        "message_id": "msg_1",
        "additional_properties": {"thread": 7},
    },
    {"type": "message", "role": "assistant", "contents": [PYTHON_CALL], **EMPTY},
    {
        "type": "message",
        "role": "tool",
        "contents": [
            {
                "type": "function_result",
                "call_id": "c1",
                "exception": "FunctionInvocationError",
                "result": "no",
                "items": [{"type": "text", "text": "no", **EMPTY}],
                "id": "af-call-1",
                **EMPTY,
            }
        ],
        **EMPTY,
    },
    {
        "type": "message",
        "role": "assistant",
        "contents": [
            {
                "type": "function_approval_request",
                "function_call": {**PYTHON_CALL, "call_id": "c2"},
                "user_input_request": True,
                "id": "af-call-2",
                **EMPTY,
            },
            {
                "type": "shell_tool_result",
                "call_id": "h1",
                "outputs": [{"type": "shell_command_output", "stdout": "a", "exit_code": 1, **EMPTY}],
                **EMPTY,
            },
            {"type": "oauth_consent_request", "consent_link": "https://example.org/consent", **EMPTY},
        ],
        **EMPTY,
    },
    {"type": "message", "role": "user", "contents": [{"type": "text", "text": "Thanks.", **EMPTY}], **EMPTY},
]

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
