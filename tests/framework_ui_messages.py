"""UI messages of the AI SDK, written by hand from its types."""

from __future__ import annotations

from typing import Any

SIGNATURE = {"anthropic": {"signature": "EqQB"}}
ENCRYPTED = {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAA"}}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def tool(state: str, name: str = "tool-weather", **fields: Any) -> dict[str, Any]:
    """Return a tool part."""
    return {"type": name, "toolCallId": "call_1", "state": state, "input": {"city": "Oslo"}, **fields}


def approval(**fields: Any) -> dict[str, Any]:
    """Return the approval of a tool part."""
    return {"id": "approval_1", **fields}


def assistant(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an assistant message with one step."""
    return {"id": "a1", "role": "assistant", **fields, "parts": [{"type": "step-start"}, *parts]}


def user(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a user message."""
    return {"id": "u1", "role": "user", **fields, "parts": list(parts)}


HELLO = user({"type": "text", "text": "Hello"})
TEXT = {"type": "text", "text": "It is warm.", "state": "done"}
STEP = {"type": "step-start"}
LOOP = [
    {"id": "s1", "role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
    user(
        {"type": "text", "text": "What is the weather on this picture?"},
        {"type": "file", "mediaType": "image/png", "filename": "a.png", "url": PIXEL},
        {"type": "file", "mediaType": "application/pdf", "url": "https://example.org/a.pdf"},
        metadata={"createdAt": 1770000000},
    ),
    assistant(
        {"type": "reasoning", "text": "Look it up.", "state": "done", "providerMetadata": SIGNATURE},
        {"type": "text", "text": "One moment.", "state": "done"},
        tool("output-available", output={"degrees": 18}),
        tool("output-available", "dynamic-tool", toolName="search", toolCallId="call_2", output="Sunny."),
        STEP,
        tool("output-error", toolCallId="call_3", errorText="no such city"),
        STEP,
        TEXT,
        {"type": "source-url", "sourceId": "1", "url": "https://example.org", "title": "Weather"},
        metadata={"model": "m"},
    ),
]
APPROVALS = [
    HELLO,
    assistant(tool("approval-requested", approval=approval(requestReason="costs money", isAutomatic=False))),
    assistant(tool("approval-responded", approval=approval(approved=True, reason="yes")), id="a2"),
    assistant(tool("approval-responded", approval=approval(approved=False, reason="no")), id="a3"),
    assistant(tool("output-denied", approval=approval(approved=False, reason="no")), id="a4"),
    assistant(tool("output-denied", approval=approval(approved=False)), TEXT, id="a5"),
    assistant(tool("output-available", output=1, approval=approval(approved=True)), TEXT, id="a6"),
    assistant(tool("output-error", errorText="e", approval=approval(approved=True)), TEXT, id="a7"),
    assistant(
        tool(
            "approval-responded",
            "dynamic-tool",
            toolName="mcp.x",
            providerExecuted=True,
            approval=approval(approved=True),
        ),
        id="a8",
    ),
]
STATES = [
    HELLO,
    assistant(tool("input-streaming", rawInput='{"city": "Os', inputEncoding="json")),
    assistant(tool("input-available", title="Weather", toolMetadata={"a": 1}), id="a2"),
    assistant(tool("output-available", output=None), id="a3"),
    assistant(tool("output-available", output=[1, "a"], preliminary=True), id="a4"),
    assistant(tool("output-error", input="not JSON", errorText="invalid input"), id="a5"),
    assistant(tool("output-available", output={"content": [{"type": "text", "text": "one"}]}), id="a6"),
    assistant(
        tool(
            "output-available",
            output={
                "content": [{"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
            },
            callProviderMetadata={"google": {"thoughtSignature": "c2ln"}},
        ),
        id="a7",
    ),
    assistant(
        tool(
            "output-available",
            output={"content": [{"type": "text", "text": "no"}], "isError": True, "structuredContent": {"a": 1}},
        ),
        id="a9",
    ),
    assistant(
        tool("output-available", "tool-web_search", providerExecuted=True, output=[{"url": "https://a.org"}]),
        {"type": "source-url", "sourceId": "1", "url": "https://a.org"},
        {"type": "source-document", "sourceId": "2", "mediaType": "application/pdf", "title": "A", "filename": "a.pdf"},
        tool("output-error", "tool-code_execution", providerExecuted=True, toolCallId="call_2", errorText="timeout"),
        TEXT,
        id="a8",
    ),
]
PARTS = [
    HELLO,
    assistant(
        {"type": "reasoning", "id": "r1", "text": "One.", "providerMetadata": ENCRYPTED},
        {"type": "reasoning", "text": "", "providerMetadata": {"anthropic": {"redactedData": "abc"}}},
        {"type": "reasoning", "text": "plain"},
        {"type": "custom", "kind": "openai.compaction", "providerMetadata": {"openai": {"encryptedContent": "x"}}},
        {"type": "custom", "kind": "xai.thing", "providerMetadata": {"xai": {"a": 1}}},
        {"type": "data-weather", "id": "d1", "data": {"degrees": 18}},
        {"type": "reasoning-file", "mediaType": "image/png", "url": PIXEL},
        {"type": "reasoning-file", "mediaType": "image/png", "url": "https://example.org/a.png"},
        {
            "type": "file",
            "mediaType": "image",
            "url": "https://example.org/a.png",
            "providerReference": {"openai": "file-1"},
        },
        {"type": "file", "mediaType": "image/*", "url": PIXEL, "providerMetadata": {"openai": {"imageDetail": "low"}}},
        {
            "type": "text",
            "text": "It is warm.",
            "providerMetadata": {"google": {"thoughtSignature": "c2ln"}},
            "citations": [
                {
                    "source": {"type": "source", "sourceType": "url", "id": "1", "url": "https://a.org", "title": "A"},
                    "startIndex": 0,
                    "endIndex": 2,
                    "citedText": "warm",
                },
                {"source": {"type": "source", "sourceType": "document", "id": "2", "mediaType": "a/b", "title": "B"}},
            ],
        },
        {"type": "steering-message", "id": "s1", "parts": [{"type": "text", "text": "In Celsius."}]},
        {
            "type": "text",
            "text": "18 degrees",
            "providerMetadata": {"anthropic": {"cacheControl": {"type": "ephemeral"}}},
        },
        STEP,
        STEP,
        TEXT,
        STEP,
    ),
    {"id": "a2", "role": "assistant", "parts": []},
    {"id": "a3", "role": "assistant", "parts": [TEXT]},
    assistant(TEXT, id="a4"),
]
WRAPPED = {"id": "chat_1", "messages": [HELLO], "trigger": "submit-message", "messageId": "u1"}
DOCUMENTS: list[Any] = [LOOP, APPROVALS, STATES, PARTS, WRAPPED]
