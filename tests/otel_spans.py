"""Attributes of spans for tests of OpenTelemetry's GenAI messages: every part, and both sides of a call."""

from __future__ import annotations

import json
from typing import Any

PARTS: list[dict[str, Any]] = [
    {"type": "text", "content": "What is on the picture?", "visible": True},
    {"type": "blob", "mime_type": "image/png", "modality": "image", "content": "iVBORw0KGgo="},
    {"type": "blob", "modality": "audio", "content": "SUQzBAA=", "transcript": "Hello."},
    {"type": "blob", "mime_type": "image/png", "modality": "image"},
    {"type": "file", "mime_type": "application/pdf", "modality": "document", "file_id": "file_1"},
    {"type": "uri", "mime_type": "image/png", "modality": "image", "uri": "https://example.org/a.png"},
    {"type": "uri", "modality": "hologram", "uri": "https://example.org/a.holo"},
    {"type": "image-url", "url": "https://example.org/b.png"},
    {"type": "binary", "media_type": "image/png", "content": "iVBORw0KGgo="},
    {"type": "gesture", "content": "o/"},
]
ANSWER: list[dict[str, Any]] = [
    {"type": "reasoning", "content": "A picture is asked for."},
    {"type": "thinking", "content": "Look at it."},
    {"type": "compaction", "id": "c_1", "content": "They greeted each other."},
    {"type": "compaction"},
    {"type": "tool_call", "id": "call_1", "name": "look", "arguments": {"where": "out"}},
    {"type": "tool_call", "id": None, "name": "wave"},
    {
        "type": "server_tool_call",
        "id": "s_1",
        "name": "web_search",
        "server_tool_call": {"type": "web_search", "query": "x"},
    },
    {
        "type": "server_tool_call_response",
        "id": "s_1",
        "server_tool_call_response": {"type": "web_search_20250305", "results": [{"url": "https://example.org"}]},
    },
    {"type": "server_tool_call", "name": "gaze", "server_tool_call": {"type": "crystal_ball", "question": "?"}},
    {"type": "server_tool_call_response", "server_tool_call_response": {"type": "crystal_ball"}},
    {"type": "tool_call", "id": "b_1", "name": "code_execution", "builtin": True, "arguments": {"code": "1"}},
    {"type": "tool_call_response", "id": "b_1", "name": "code_execution", "builtin": True, "result": "1"},
]
RESULTS: list[dict[str, Any]] = [
    {"type": "tool_call_response", "id": "call_1", "response": {"degrees": 18}},
    {"type": "tool_call_response", "id": "call_2", "response": "Sunny."},
    {"type": "tool_call_response", "id": "call_3", "response": [{"type": "text", "content": "Mild."}]},
    {"type": "tool_call_response", "id": "call_4", "response": [{"type": "text", "text": "of MCP"}]},
    {"type": "tool_call_response", "id": "call_5", "response": None},
    {"type": "tool_call_response", "id": "call_6", "name": "look", "result": {"degrees": 18}},
    {"type": "tool_call_response", "id": "call_7", "response": [{"type": "text", "text": "of MCP"}, {"type": "image"}]},
]
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
    {"type": "web_search", "name": "web_search"},
]
SPAN: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-opus-5",
    "gen_ai.request.temperature": 1.0,
    "gen_ai.request.max_tokens": 300,
    "gen_ai.request.stop_sequences": ["END"],
    "gen_ai.request.choice.count": 1,
    "gen_ai.output.type": "text",
    "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
    "gen_ai.tool.definitions": TOOLS,
    "gen_ai.input.messages": [
        {"role": "user", "parts": PARTS, "name": "Ada"},
        {"role": "assistant", "parts": ANSWER, "finish_reason": "tool_call"},
        {"role": "tool", "parts": RESULTS},
        {"role": "critic", "parts": []},
    ],
    "gen_ai.output.messages": [
        {"role": "assistant", "parts": [{"type": "text", "content": "A cat."}], "finish_reason": "stop"}
    ],
    "gen_ai.response.id": "msg_1",
    "gen_ai.response.model": "claude-opus-5-20260101",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 120,
    "gen_ai.usage.output_tokens": 30,
    "gen_ai.usage.cache_read.input_tokens": 100,
    "server.address": "api.anthropic.com",
}
LISTS = ("gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.input.messages", "gen_ai.output.messages")


def in_texts(span: dict[str, Any]) -> dict[str, Any]:
    """Return a span with its lists as JSON texts, as exporters write them."""
    return {key: json.dumps(value) if key in LISTS else value for key, value in span.items()}


SPANS = [SPAN, in_texts(SPAN)]
