"""Hosted tools of Claude that frameworks keep: their calls and results return to Claude as its own blocks.

Pydantic AI's model class judges its form: it sends the same blocks. The AI SDK's form is that of its own converter.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from contentmodel import convert
from contentmodel.auditing import audit

CLAUDE, PYDANTIC_AI = "anthropic-messages", "pydantic-ai-messages"
FRAMEWORKS = [PYDANTIC_AI, "vercel-model-messages", "vercel-ui-messages"]
DOCUMENT = {
    "type": "document",
    "title": "Tides",
    "source": {"type": "text", "media_type": "text/plain", "data": "High at noon."},
    "citations": {"enabled": True},
}
RAN = {"stderr": "", "return_code": 0, "content": [{"type": "code_execution_output", "file_id": "file_1"}]}


def pair(name: str, arguments: dict[str, Any], kind: str, content: Any) -> list[dict[str, Any]]:
    """Return the blocks of a call of a server tool and of its result."""
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": name, "input": arguments}
    return [call, {"type": f"{kind}_tool_result", "tool_use_id": "srvtoolu_1", "content": content}]


PAGE = {"type": "web_search_result", "url": "https://a.example", "title": "A"}
FOUND = {**PAGE, "encrypted_content": "E1", "page_age": None}
UNAVAILABLE = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
VIEWED = {"content": "x", "file_type": "text", "num_lines": 1, "start_line": 1, "total_lines": 1}
REFERENCES = [{"type": "tool_reference", "tool_name": "look"}]
PAIRS = {
    "search": pair("web_search", {"query": "q"}, "web_search", [FOUND]),
    "fetch": pair(
        "web_fetch",
        {"url": "https://a.example"},
        "web_fetch",
        {"type": "web_fetch_result", "url": "https://a.example", "retrieved_at": "2026-11-27", "content": DOCUMENT},
    ),
    "code": pair(
        "code_execution", {"code": "1"}, "code_execution", {"type": "code_execution_result", "stdout": "1", **RAN}
    ),
    "encrypted code": pair(
        "code_execution",
        {"code": "1"},
        "code_execution",
        {"type": "encrypted_code_execution_result", "encrypted_stdout": "E2", **RAN},
    ),
    "bash": pair(
        "bash_code_execution",
        {"command": "ls"},
        "bash_code_execution",
        {
            "type": "bash_code_execution_result",
            "stdout": "a",
            **RAN,
            "content": [{"type": "bash_code_execution_output", "file_id": "file_1"}],
        },
    ),
    "editor": pair(
        "text_editor_code_execution",
        {"command": "view", "path": "a"},
        "text_editor_code_execution",
        {"type": "text_editor_code_execution_view_result", **VIEWED},
    ),
    "tool search": pair(
        "tool_search_tool_regex",
        {"pattern": "a.*"},
        "tool_search",
        {"type": "tool_search_tool_search_result", "tool_references": REFERENCES},
    ),
    "server": [
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "get", "server_name": "srv", "input": {"a": 1}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": False,
            "content": [{"type": "text", "text": "Fog."}],
        },
    ],
}
ERRORS = {
    "search error": pair("web_search", {"query": "q"}, "web_search", UNAVAILABLE),
    "tool search error": pair(
        "tool_search_tool_bm25",
        {"query": "q"},
        "tool_search",
        {"type": "tool_search_tool_result_error", "error_code": "unavailable"},
    ),
}


def conversation(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    answer = [*blocks, {"type": "text", "text": "So it is."}]
    turns = [("user", "Look."), ("assistant", answer), ("user", "More?")]
    return {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": r, "content": c} for r, c in turns]}


def answer_of(payload: dict[str, Any]) -> list[dict[str, Any]]:
    answers = [message for message in payload["messages"] if message["role"] == "assistant"]
    assert len(answers) == 1
    blocks: list[dict[str, Any]] = answers[0]["content"]
    return blocks


def without_nulls(blocks: list[dict[str, Any]]) -> Any:
    return json.loads(json.dumps(blocks), object_hook=lambda o: {k: v for k, v in o.items() if v is not None})


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", [*PAIRS])
def test_hosted_pair_of_claude_survives_conversion_to_a_framework_and_back(framework: str, name: str) -> None:
    request = conversation(PAIRS[name])
    kept = convert(request, source=CLAUDE, target=framework, kind="request")
    assert audit(request, kept) == []
    back = convert(kept.payload, source=framework, target=CLAUDE, kind="request", model="claude-opus-4-8")
    assert answer_of(back.payload) == answer_of(request)
    assert audit(kept.payload, back) == []
    assert "as-function-call" not in [loss.code for loss in back.losses]


@pytest.mark.parametrize("name", [*ERRORS])
def test_failed_pair_of_claude_survives_conversion_to_pydantic_ai_and_back(name: str) -> None:
    request = conversation(ERRORS[name])
    kept = convert(request, source=CLAUDE, target=PYDANTIC_AI, kind="request")
    back = convert(kept.payload, source=PYDANTIC_AI, target=CLAUDE, kind="request", model="claude-opus-4-8")
    assert answer_of(back.payload) == answer_of(request)


# Pydantic AI sends the search for tools only in requests with its own tool for that.
@pytest.mark.parametrize("name", [name for name in (*PAIRS, *ERRORS) if not name.startswith("tool search")])
def test_pydantic_ai_sends_the_same_blocks_to_claude(name: str) -> None:
    request = conversation({**PAIRS, **ERRORS}[name])
    kept = convert(request, source=CLAUDE, target=PYDANTIC_AI, kind="request")
    history = ModelMessagesTypeAdapter.validate_python(kept.payload)
    claude = AnthropicModel("claude-opus-4-8", provider=AnthropicProvider(api_key="none"))
    _, sent = asyncio.run(claude._map_message(history, ModelRequestParameters(), {}))
    assert without_nulls(sent[1]["content"]) == without_nulls(answer_of(request))


def test_hosted_pair_of_claude_is_a_text_if_the_policy_says_so() -> None:
    kept = convert(conversation(PAIRS["search"]), source=CLAUDE, target=PYDANTIC_AI, kind="request").payload
    options: dict[str, Any] = {"model": "claude-opus-4-8", "policies": {"hosted_tools": "text"}}
    back = convert(kept, source=PYDANTIC_AI, target=CLAUDE, kind="request", **options)
    assert {block["type"] for block in back.payload["messages"][1]["content"]} == {"text"}
