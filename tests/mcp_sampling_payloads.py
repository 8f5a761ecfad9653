"""Requests and results of MCP sampling, written by hand from the specification."""

from __future__ import annotations

from typing import Any

PIXEL = "iVBORw0KGgo="
WAVE = "UklGRg=="


def text(value: str, **fields: Any) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": value, **fields}


def call(call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"type": "tool_use", "id": call_id, "name": "weather", "input": arguments}


def result(*content: dict[str, Any], call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    """Return the result of a call."""
    return {"type": "tool_result", "toolUseId": call_id, "content": list(content), **fields}


HELLO = {"role": "user", "content": text("Hello")}
PLAIN = {
    "messages": [
        HELLO,
        {"role": "assistant", "content": [text("Hello."), text("Show me.")]},
        {
            "role": "user",
            "content": [
                text("What are these?", annotations={"audience": ["assistant"], "priority": 1.0}),
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                {"type": "audio", "data": WAVE, "mimeType": "audio/wav", "_meta": {"example.org/a": 1}},
            ],
            "_meta": {"example.org/b": [2]},
        },
        {"role": "assistant", "content": [text("A pixel.")]},
        {"role": "user", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}},
    ],
    "modelPreferences": {"hints": [{"name": "claude-3-sonnet"}], "costPriority": 0.3, "intelligencePriority": 0.9},
    "systemPrompt": "Be brief.",
    "includeContext": "none",
    "temperature": 0.5,
    "maxTokens": 100,
    "stopSequences": ["END"],
    "metadata": {"trace": "a"},
}
TOOLS = {
    "messages": [
        HELLO,
        {"role": "assistant", "content": [text("One moment."), call(city="Oslo"), call("c2", city="Rome")]},
        {
            "role": "user",
            "content": [
                result(text("18"), structuredContent={"degrees": 18}, isError=False),
                result(text("no such city"), call_id="c2", isError=True, _meta={"example.org/a": 1}),
            ],
        },
        {"role": "assistant", "content": call("c3")},
        {
            "role": "user",
            "content": [
                result(
                    {
                        "type": "resource",
                        "resource": {"uri": "file:///a.txt", "text": "Warm.", "mimeType": "text/plain"},
                    },
                    {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "JVBERg=="}},
                    {"type": "resource_link", "uri": "https://example.org/a", "name": "a", "title": "A", "size": 3},
                    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                    call_id="c3",
                )
            ],
        },
    ],
    "maxTokens": 200,
    "tools": [
        {
            "name": "weather",
            "title": "Weather",
            "description": "The weather.",
            "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
            "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True},
        }
    ],
    "toolChoice": {"mode": "required"},
}
HINTS = {
    "messages": [{"role": "user", "content": []}],
    "maxTokens": 1,
    "modelPreferences": {"hints": [{"name": "a"}, {"name": "b"}, {}]},
    "toolChoice": {},
    "tools": [],
    "task": {"ttl": 5},
}
REQUESTS: list[Any] = [PLAIN, TOOLS, HINTS]
ANSWER = {"role": "assistant", "content": text("Hello."), "model": "claude-opus-4-8", "stopReason": "endTurn"}
CALLING = {
    "role": "assistant",
    "content": [text("One moment."), call(city="Oslo")],
    "model": "gpt-5.2",
    "stopReason": "toolUse",
    "_meta": {"example.org/a": 1},
}
RESULTS: list[Any] = [
    ANSWER,
    CALLING,
    {**ANSWER, "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}, "stopReason": "somethingElse"},
    {**ANSWER, "content": [text("Alone.")], "stopReason": None},
    {"role": "assistant", "content": [], "model": "m"},
    {"role": "user", "content": call(), "model": "m", "stopReason": "stopSequence"},
    {"role": "assistant", "content": [call()], "model": "m", "stopReason": "toolUse"},
    {"code": -32603, "message": "The model failed."},
    {"code": -32603, "message": "Too many requests.", "data": {"type": "rate_limit", "after": 3}},
    {"code": -1, "message": "The user refused.", "data": None},
]
