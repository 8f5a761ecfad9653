"""Messages and samples of Inspect AI, written by hand from its types, and a log that the library wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LOG = Path(__file__).parent / "data_sets" / "inspect.eval"
"""A log of two samples with the model `mockllm/model` and real tools, as inspect_ai 0.3.285 wrote it."""
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def assistant(*content: Any, model: str = "claude-opus-4-8", **fields: Any) -> dict[str, Any]:
    """Return a message of a model."""
    return {"role": "assistant", "content": list(content), "source": "generate", "model": model, **fields}


def text(value: str, **fields: Any) -> dict[str, Any]:
    """Return a text."""
    return {"type": "text", "text": value, **fields}


def reasoning(value: str, **fields: Any) -> dict[str, Any]:
    """Return reasoning."""
    return {"type": "reasoning", "reasoning": value, **fields}


def used(tool_type: str, name: str, arguments: str, result: str, **fields: Any) -> dict[str, Any]:
    """Return the call of a tool that a provider ran, with its result."""
    fixed = {"type": "tool_use", "tool_type": tool_type, "id": f"{name}_1", "name": name}
    return {**fixed, "arguments": arguments, "result": result, **fields}


def call(call_id: str, function: str = "weather", **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"id": call_id, "function": function, "arguments": arguments, "type": "function"}


def result(call_id: str, content: Any = "", **fields: Any) -> dict[str, Any]:
    """Return a message with a result."""
    return {"role": "tool", "content": content, "tool_call_id": call_id, "function": "weather", **fields}


LOOP = [
    {"role": "system", "content": "Be brief.", "id": "m1"},
    {"role": "user", "content": "How is Oslo?", "source": "input"},
    assistant(
        reasoning("c2ln", summary="Look it up.", redacted=True),
        reasoning("cmVk", redacted=True),
        text("One moment."),
        tool_calls=[call("c1", city="Oslo"), call("c2", city="Nowhere"), call("c3"), call("c4")],
    ),
    result("c1", "18 degrees", id="m4"),
    result("c2", error={"type": "unknown", "message": "no such city"}),
    result("c3", [text("Here."), {"type": "image", "image": PIXEL, "detail": "auto"}]),
    result("c4", "partly", error={"type": "timeout", "message": "too slow"}),
    assistant(text("It is warm.", internal={"message_id": "msg_1"})),
]
PARTS = [
    {
        "role": "user",
        "content": [
            text("What is on these?", cache_breakpoint=True),
            {"type": "image", "image": PIXEL, "detail": "low"},
            {"type": "image", "image": "https://example.org/a.png", "detail": "auto"},
            {"type": "audio", "audio": "data:audio/wav;base64,UklGRg==", "format": "wav"},
            {"type": "audio", "audio": "a.mp3", "format": "mp3"},
            {"type": "video", "video": "data:video/mp4;base64,AAAA", "format": "mp4"},
            {"type": "video", "video": "https://example.org/a.mov", "format": "mov"},
            {
                "type": "document",
                "document": "data:application/pdf;base64,JVBERg==",
                "filename": "a.pdf",
                "mime_type": "application/pdf",
                "citations": True,
            },
            {"type": "document", "document": "b.txt", "filename": "b.txt", "mime_type": "text/plain"},
        ],
        "metadata": {"kind": "question"},
    },
    assistant(
        reasoning("Plain.", signature="c2ln"),
        text(
            "It is warm today.",
            citations=[
                {"type": "url", "url": "https://example.org/a", "title": "A", "cited_text": [0, 5]},
                {
                    "type": "document",
                    "title": "B",
                    "cited_text": "warm",
                    "range": {"type": "page", "start_index": 0, "end_index": 1},
                    "internal": {"document_index": 0},
                },
                {"type": "content", "cited_text": "today"},
            ],
        ),
        text("I cannot say more.", refusal=True),
        {"type": "data", "data": {"compaction_metadata": {"type": "anthropic_compact", "content": "So far."}}},
        {"type": "data", "data": {"fallback_metadata": {"type": "anthropic_fallback"}}},
    ),
    {"role": "user", "content": "Go on.", "tool_call_id": ["c1"]},
    assistant(
        reasoning("ZW5j", summary="Think.", signature="rs_1", redacted=True),
        reasoning("Visible.", signature="rs_2"),
        reasoning("", summary="Only a summary.", signature="rs_3"),
        reasoning("Both.", summary="Short.", internal={"reasoning_encrypted_content": "ZW5j"}),
        reasoning("", signature='reasoning-details://[{"type": "reasoning.text"}]', redacted=True),
        {
            "type": "data",
            "data": {"compaction_metadata": {"type": "openai_compact", "id": "cmp_1", "encrypted_content": "ZW5j"}},
        },
        model="gpt-5.2",
    ),
]
HOSTED = [
    {"role": "user", "content": "Search."},
    assistant(
        used("web_search", "web_search", '{"query": "Oslo"}', '[{"url": "https://example.org"}]'),
        used("web_search", "web_fetch", '{"url": "https://example.org"}', "A page."),
        used("web_search", "find_in_page", '{"pattern": "a"}', "", error="failed"),
        used("mcp_call", "ask", '{"q": 1}', "", context="deep", error="no such tool (404)"),
        used("mcp_call", "look", "{}", "3", context="deep", error="error"),
        used("mcp_call", "mcp_list_tools", "", '[{"name":"ask"}]', context="deep"),
        used("mcp_call", "unknown_server", "{}", "3"),
        used("code_execution", "code_interpreter", "print(1)", "1\n"),
        used("code_execution", "code_execution", '{"code": "print(1)"}', '{"stdout": "1"}'),
        used("code_execution", "bash_code_execution", '{"command": "ls"}', "a.txt"),
        used("code_execution", "text_editor_code_execution", '{"command": "view"}', "one", internal={"a": 1}),
        {**used("code_execution", "PYTHON", "1 + 1", "2"), "id": ""},
        text("Found."),
    ),
]


def anchor(call_id: str, signature: str = "") -> dict[str, Any]:
    """Return the part with the signature of a call of Gemini."""
    return reasoning(signature, redacted=True, internal={"gemini_function_call_id": call_id})


GEMINI = [
    {"role": "user", "content": "Go."},
    assistant(
        reasoning("Think."),
        anchor("c1", "c2ln"),
        text("Both."),
        anchor("c2"),
        model="gemini-3-pro",
        tool_calls=[call("c1", city="Oslo"), call("c2")],
    ),
    result("c1", "1"),
    result("c2", "2"),
    assistant(anchor("c3", "c2ln"), model="gemini-3-pro", tool_calls=[call("c3")]),
    result("c3", "3"),
]
CALLS = [
    {"role": "user", "content": "Go."},
    assistant(
        tool_calls=[
            {"id": "c1", "function": "patch", "arguments": {"input": "*** Begin"}, "type": "custom"},
            {"id": "c2", "function": "patch", "arguments": {"path": "a"}, "type": "custom"},
            {**call("c3"), "parse_error": "not JSON: {", "view": {"format": "markdown", "content": "x"}},
            {"id": "c4", "function": "weather", "arguments": {}},
            {"id": "c5", "function": "weather", "arguments": {}, "type": None},
        ]
    ),
    result("c1", "Done."),
    result("c2", error={"type": "approval", "message": "denied"}),
    result("c3", "too long", error={"type": "limit", "message": "too long"}),
    result("c4", error={"type": "parsing", "message": ""}),
    result("c4", error=None),
    {"role": "tool", "content": "5", "tool_call_id": "c5"},
    {"role": "assistant", "content": "Done.", "tool_calls": None},
]
ATTACHED = {
    "id": 1,
    "epoch": 1,
    "input": "What is it?",
    "target": "a cat",
    "messages": [
        {"role": "user", "content": [text("What is it?"), {"type": "image", "image": "attachment://a1"}]},
        assistant(tool_calls=[call("c1", note="attachment://a2")]),
        result("c1", "attachment://a2"),
        {"role": "user", "content": "attachment://none"},
        {"role": "user", "content": "A long text."},
        {"role": "assistant", "content": "A cat."},
    ],
    "attachments": {"a1": PIXEL, "a2": "A long text.", "a3": "of an event"},
    "events": [{"event": "info", "data": "attachment://a3"}],
    "scores": {"match": {"value": "C"}},
}
MESSAGES: list[Any] = [LOOP, PARTS, HOSTED, CALLS, GEMINI]
DOCUMENTS: list[Any] = [*MESSAGES, ATTACHED, {"messages": LOOP, "epoch": 1, "target": ""}]
