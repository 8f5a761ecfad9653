"""Model messages of the AI SDK, written by hand from its types."""

from __future__ import annotations

from typing import Any

CACHED = {"anthropic": {"cacheControl": {"type": "ephemeral", "ttl": "1h"}}}
PIXEL = "iVBORw0KGgo="


def call(call_id: str = "call_1", **fields: Any) -> dict[str, Any]:
    """Return a call."""
    return {"type": "tool-call", "toolCallId": call_id, "toolName": "weather", "input": {"city": "Oslo"}, **fields}


def result(output: dict[str, Any], call_id: str = "call_1", **fields: Any) -> dict[str, Any]:
    """Return a result."""
    return {"type": "tool-result", "toolCallId": call_id, "toolName": "weather", "output": output, **fields}


def assistant(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an assistant message."""
    return {"role": "assistant", "content": list(parts), **fields}


def tool(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a tool message."""
    return {"role": "tool", "content": list(parts)}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a user message."""
    return {"role": "user", "content": list(parts)}


def file(data: Any, media_type: str, **fields: Any) -> dict[str, Any]:
    """Return a file."""
    return {"type": "file", "data": data, "mediaType": media_type, **fields}


TEXT = {"type": "text", "text": "It is warm."}
HELLO = {"role": "user", "content": "Hello"}
LOOP = [
    {"role": "system", "content": "Be brief.", "providerOptions": CACHED},
    user(
        {"type": "text", "text": "What is on these?", "providerOptions": CACHED},
        file(PIXEL, "image/png", filename="a.png"),
        file("https://example.org/a.pdf", "application/pdf"),
        {"type": "image", "image": "https://example.org/a.png"},
    ),
    assistant(
        {"type": "reasoning", "text": "Look.", "providerOptions": {"anthropic": {"signature": "EqQB"}}},
        {"type": "text", "text": "One moment."},
        call(providerOptions={"google": {"thoughtSignature": "c2ln"}}),
        call("call_2"),
    ),
    tool(
        result({"type": "json", "value": {"degrees": 18}}),
        result({"type": "error-text", "value": "no such city"}, "call_2", providerOptions=CACHED),
    ),
    assistant(TEXT, providerOptions={"openai": {"a": 1}}),
]
OUTPUTS = [
    HELLO,
    assistant(*(call(f"call_{number}") for number in range(8))),
    tool(
        result({"type": "text", "value": "Sunny."}, "call_0"),
        result({"type": "json", "value": None}, "call_1"),
        result({"type": "error-json", "value": {"code": 3}}, "call_2"),
        result({"type": "execution-denied", "reason": "no"}, "call_3"),
        result({"type": "execution-denied"}, "call_4"),
        result(
            {
                "type": "content",
                "value": [
                    {"type": "text", "text": "one"},
                    file({"type": "data", "data": PIXEL}, "image/png"),
                    file({"type": "url", "url": "https://example.org/a.png"}, "image"),
                    {"type": "file-data", "data": "JVBERg==", "mediaType": "application/pdf", "filename": "a.pdf"},
                    {"type": "file-url", "url": "https://example.org/a.pdf", "mediaType": "application/pdf"},
                    {"type": "image-data", "data": PIXEL, "mediaType": "image/png"},
                    {"type": "image-url", "url": "https://example.org/a.png"},
                    {"type": "file-id", "fileId": "file_1"},
                    {"type": "image-file-id", "fileId": {"openai": "file_1", "anthropic": "file_2"}},
                    {"type": "file-reference", "providerReference": {"anthropic": "file_2"}},
                    {"type": "custom", "providerOptions": {"anthropic": {"type": "tool-reference"}}},
                ],
            },
            "call_5",
        ),
        result({"type": "content", "value": [{"type": "file-id", "fileId": "file_3"}]}, "call_6"),
        result({"type": "content", "value": [{"type": "text", "text": "one"}]}, "call_7"),
    ),
    {"role": "assistant", "content": "Done."},
]
APPROVALS = [
    HELLO,
    assistant(
        call(), {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "call_1", "reason": "costs money"}
    ),
    tool(
        {"type": "tool-approval-response", "approvalId": "a1", "approved": False, "reason": "no"},
        result({"type": "execution-denied", "reason": "no"}),
    ),
    assistant(
        call("mcp_1", toolName="mcp.search", providerExecuted=True),
        {"type": "tool-approval-request", "approvalId": "a2", "toolCallId": "mcp_1"},
    ),
    tool({"type": "tool-approval-response", "approvalId": "a2", "approved": True, "providerExecuted": True}),
    assistant(TEXT),
]
PARTS = [
    user(
        file(f"data:image/png;base64,{PIXEL}", "image/png"),
        file(f"data:image/png;base64,{PIXEL}", "image"),
        file("https://example.org/a.png", "image/*"),
        file({"type": "text", "text": "one"}, "text/plain"),
        file({"type": "reference", "reference": {"openai": "file_1"}}, "application/pdf"),
        file({"anthropic": "file_1"}, "application/pdf"),
        {"type": "image", "image": PIXEL, "providerOptions": {"openai": {"imageDetail": "low"}}},
        {"type": "image", "image": PIXEL, "mediaType": "image/png"},
        {"type": "image", "image": {"openai": "file_1"}},
    ),
    assistant(
        {"type": "reasoning", "text": "", "providerOptions": {"anthropic": {"redactedData": "abc"}}},
        {
            "type": "reasoning",
            "text": "a",
            "providerOptions": {"openai": {"itemId": "1", "reasoningEncryptedContent": "g"}},
        },
        {"type": "reasoning", "text": "plain"},
        {"type": "reasoning-file", "data": PIXEL, "mediaType": "image/png"},
        {"type": "custom", "kind": "openai.compaction", "providerOptions": {"openai": {"encryptedContent": "x"}}},
        {"type": "custom", "kind": "xai.thing", "providerOptions": {"xai": {"a": 1}}},
        {"type": "text", "text": "so far", "providerOptions": {"anthropic": {"type": "compaction"}}},
        {"type": "text", "text": "signed", "providerOptions": {"google": {"thoughtSignature": "c2ln"}}},
        call("ws_1", toolName="web_search", providerExecuted=True, input={"query": "a"}),
        result({"type": "json", "value": [{"url": "https://a.org"}]}, "ws_1", toolName="web_search"),
        file(PIXEL, "image/png"),
    ),
    user({"type": "text", "text": "Thanks."}),
]
OLDER = [
    HELLO,
    assistant(call()),
    tool(result({"type": "content", "value": [{"type": "media", "data": PIXEL, "mediaType": "image/png"}]})),
]
"""A form of version 5, which later versions refuse."""
OF_VERSION_4 = [
    user(
        {"type": "image", "image": f"data:image/png;base64,{PIXEL}", "mimeType": "image/png"},
        {"type": "image", "image": PIXEL, "mimeType": "image/jpeg"},
        {"type": "image", "image": "https://example.org/a.webp", "mimeType": "image/webp"},
        {"type": "file", "data": "JVBERg==", "mimeType": "application/pdf", "filename": "a.pdf"},
        {"type": "file", "data": "data:text/plain;base64,b25l", "mimeType": "text/markdown"},
    ),
    assistant(
        {"type": "reasoning", "text": "so", "signature": "EuYB"},
        {"type": "redacted-reasoning", "data": "EmwK"},
        *({"type": "tool-call", "toolCallId": f"c{n}", "toolName": "weather", "args": {"n": n}} for n in range(4)),
    ),
    tool(
        {"type": "tool-result", "toolCallId": "c0", "toolName": "weather", "result": {"sky": "clear"}, "isError": True},
        {"type": "tool-result", "toolCallId": "c1", "toolName": "weather", "result": None},
        {
            "type": "tool-result",
            "toolCallId": "c2",
            "toolName": "weather",
            "result": {"file": "a.png"},
            "experimental_content": [
                {"type": "text", "text": "the map"},
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            ],
        },
        {"type": "tool-result", "toolCallId": "c3", "toolName": "weather", "result": "Sunny.", "isError": False},
    ),
    assistant(TEXT),
]
"""Core messages of version 4."""
DOCUMENTS: list[Any] = [LOOP, OUTPUTS, APPROVALS, PARTS, OLDER, OF_VERSION_4, {"messages": [HELLO], "model": "m"}]
