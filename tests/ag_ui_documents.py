"""Inputs of runs and messages of AG-UI, written by hand from its types."""

from __future__ import annotations

from typing import Any

PIXEL = "iVBORw0KGgo="
SEALED = '{"issuer":"anthropic","kind":"signature","data":"EqQB"}'


def call(call_id: str = "call_1", **fields: Any) -> dict[str, Any]:
    """Return a call."""
    function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    return {"id": call_id, "type": "function", "function": function, **fields}


def assistant(content: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an assistant message."""
    return {"id": "a1", "role": "assistant", **({} if content is None else {"content": content}), **fields}


def tool(content: Any, call_id: str = "call_1", **fields: Any) -> dict[str, Any]:
    """Return a message with a result."""
    return {"id": f"t-{call_id}", "role": "tool", "toolCallId": call_id, "content": content, **fields}


def reasoning(content: str, **fields: Any) -> dict[str, Any]:
    """Return a message with reasoning."""
    return {"id": "r1", "role": "reasoning", "content": content, **fields}


def part(kind: str, source: str, value: str, **fields: Any) -> dict[str, Any]:
    """Return a part with a medium."""
    return {"type": kind, "source": {"type": source, "value": value, **fields}}


HELLO = {"id": "u1", "role": "user", "content": "Hello"}
LOOP = [
    {"id": "s1", "role": "system", "content": "Be brief."},
    {"id": "d1", "role": "developer", "content": "Use tools.", "name": "app", "metadata": {"a": 1}},
    {
        "id": "u1",
        "role": "user",
        "name": "ada",
        "content": [
            {"type": "text", "id": "p1", "text": "What is on these?"},
            part("image", "data", PIXEL, mimeType="image/png"),
            {**part("document", "url", "https://example.org/a.pdf"), "metadata": {"filename": "a.pdf"}},
            part("audio", "file", "file_1", provider="openai", mimeType="audio/mpeg"),
        ],
    },
    reasoning("Look it up.", encryptedValue=SEALED),
    reasoning("Both cities.", id="r2", encryptedValue="a value of another agent"),
    assistant("One moment.", toolCalls=[call(encryptedValue="c2ln"), call("call_2")], metadata={"step": 1}),
    tool("18 degrees", encryptedValue="b3V0"),
    tool("", "call_2", error="no such city"),
    {"id": "v1", "role": "activity", "activityType": "PLAN", "content": {"steps": [{"done": True}]}},
    assistant("It is warm.", id="a2", encryptedValue="c2ln", name="agent"),
]
RESULTS = [
    HELLO,
    assistant(toolCalls=[call(name) for name in ("call_1", "call_2", "call_3", "call_4")]),
    tool("boom", error="boom"),
    tool("boom", "call_2", error="it failed"),
    tool([{"type": "text", "text": "a map"}, part("image", "url", "https://example.org/m.png")], "call_3"),
    tool("", "call_4", error="The tool failed."),
    assistant("Sorry.", id="a2"),
]
EMPTY = [
    HELLO,
    reasoning("Alone."),
    {**HELLO, "id": "u2"},
    reasoning("Before a call.", id="r2"),
    assistant("", id="a2", toolCalls=[call()], encryptedValue=None),
    tool("", metadata=None, error=None),
    assistant(id="a3", content=None, toolCalls=[], encryptedValue="eA=="),
    {"id": "a4", "role": "assistant", "content": None, "toolCalls": None},
    reasoning("", id="r3", encryptedValue="eHg="),
]
SUBAGENTS = [
    HELLO,
    assistant(toolCalls=[call()]),
    reasoning("As a helper.", subagentRunId="run_2"),
    assistant("Looking.", id="b1", subagentRunId="run_2", toolCalls=[call("sub_1")]),
    tool("warm", "sub_1", subagentRunId="run_2"),
    reasoning("The helper is done.", id="r2", subagentRunId="run_2"),
    assistant("Wait.", id="a3"),
    tool("It is warm."),
    assistant("Warm.", id="a2"),
]
OLDER = [
    {
        "id": "u1",
        "role": "user",
        "content": [
            {"type": "text", "text": "Compare these."},
            {"type": "binary", "mimeType": "image/png", "data": PIXEL, "filename": "a.png"},
            {"type": "binary", "mimeType": "image/png", "url": "https://example.org/b.png"},
            {"type": "binary", "mimeType": "image/png", "id": "file_1"},
            part("video", "url", "https://example.org/c.mp4", mimeType="video/mp4"),
        ],
    },
]
RUN = {
    "threadId": "thread_1",
    "runId": "run_1",
    "parentRunId": "run_0",
    "protocolVersion": "1.0",
    "state": {"cities": ["Oslo"]},
    "messages": [HELLO, assistant(toolCalls=[call()])],
    "tools": [
        {
            "name": "weather",
            "description": "The weather.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            "metadata": {"frontend": True},
        }
    ],
    "context": [{"description": "The page", "value": "Weather"}],
    "forwardedProps": {"debug": True},
    "resume": [
        {"interruptId": "call_1", "status": "resolved", "payload": {"approved": True, "reason": "yes"}},
        {"interruptId": "i2", "status": "resolved", "payload": False},
        {"interruptId": "i3", "status": "cancelled"},
        {"interruptId": "i4", "status": "resolved", "payload": {"city": "Oslo"}, "metadata": {"a": 1}},
        {"interruptId": "i5", "status": "resolved"},
    ],
}
DOCUMENTS: list[Any] = [LOOP, RESULTS, EMPTY, SUBAGENTS, OLDER, RUN, {**RUN, "messages": [], "resume": []}, [HELLO]]
