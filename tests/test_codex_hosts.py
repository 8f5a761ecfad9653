"""The requests of Codex at the hosts of Chat Completions, judged by `check` and by the documentation of each host."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

import contentmodel
from contentmodel import convert
from gateways import config_for, gateway
from raw_upstreams import answer, raw_upstream

PATCH = "*** Begin Patch\n*** Add File: a.txt\n+ünï\n*** End Patch"
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: begin_patch hunk+ end_patch"}


def text(role: str, words: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}


FIRST = [text("developer", "<permissions>Ask first.</permissions>"), text("user", "Write a file.")]
WORKED = [
    *FIRST,
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Plan."}], "encrypted_content": "gAAA"},
    {"type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": PATCH, "status": "completed"},
    {"type": "custom_tool_call_output", "call_id": "call_1", "output": "Done."},
    {"type": "function_call", "call_id": "call_2", "name": "exec_command", "arguments": '{"cmd":"ls"}'},
    {"type": "function_call_output", "call_id": "call_2", "output": "a.txt"},
    {
        "type": "local_shell_call",
        "call_id": "call_3",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    },
    {"type": "local_shell_call_output", "call_id": "call_3", "output": "a.txt"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
    text("developer", "Be brief now."),
    text("user", "And now?"),
]
CONVERSATIONS = {
    "first turn": FIRST,
    "worked": WORKED,
    "ends with results": WORKED[:7],
    "ends with answer": [*WORKED, text("assistant", "Done.")],
}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "name": "exec_command",
        "description": "Run a command.",
        "strict": False,
        "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]},
    },
    {"type": "custom", "name": "apply_patch", "description": "Edit files.", "format": GRAMMAR},
    {"type": "web_search", "external_web_access": True},
    {"type": "local_shell"},
]


def codex(items: list[dict[str, Any]], **changed: Any) -> dict[str, Any]:
    """Return a request as Codex sends it."""
    return {
        "model": "gpt-5.5",
        "instructions": "You are a coding agent.",
        "input": items,
        "tools": TOOLS,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "019a-thread",
        "text": {"verbosity": "low"},
        **changed,
    }


FOUR = {"system", "user", "assistant", "tool"}
USUAL = {"model", "messages", "stream", "stream_options", "temperature", "top_p", "stop", "tools", "tool_choice"}
USUAL |= {"response_format", "max_tokens"}
THINKING = {"thinking", "reasoning_effort"}

DOCUMENTED: dict[str, tuple[str, set[str], set[str]]] = {
    # api-docs.deepseek.com/api/create-chat-completion
    "deepseek": ("deepseek-v4-pro", FOUR, USUAL | THINKING | {"parallel_tool_calls", "logprobs", "user_id"}),
    # platform.kimi.ai/docs/api/chat
    "moonshot": (
        "kimi-k2.6",
        FOUR,
        USUAL | THINKING | {"parallel_tool_calls", "prompt_cache_key", "safety_identifier", "max_completion_tokens"},
    ),
    # docs.bigmodel.cn/api-reference, chat completions
    "zai": ("glm-5.3", FOUR, USUAL | THINKING | {"parallel_tool_calls", "do_sample", "request_id", "user_id"}),
    # docs.qwencloud.com/api-reference/chat/openai-chat
    "alibaba": (
        "qwen3.6-plus",
        FOUR,
        USUAL | {"parallel_tool_calls", "enable_thinking", "thinking_budget", "reasoning_effort", "seed", "top_k"},
    ),
    # platform.minimax.io/docs/api-reference/text-openai-api
    "minimax": (
        "MiniMax-M2.7",
        FOUR,
        USUAL | {"parallel_tool_calls", "reasoning_split", "thinking", "max_completion_tokens", "reasoning_effort"},
    ),
    # docs.x.ai/docs/api-reference, chat completions
    "xai": ("grok-4.6", FOUR, USUAL | {"parallel_tool_calls", "reasoning_effort", "seed", "user", "n", "deferred"}),
    # console.groq.com/docs/api-reference; groq 1.7.0
    "groq": (
        "groq/openai/gpt-oss-120b",
        FOUR | {"developer"},
        USUAL | {"parallel_tool_calls", "reasoning_effort", "reasoning_format", "seed", "user", "n", "service_tier"},
    ),
    # ai.google.dev/gemini-api/docs/openai; liliMozi/openhanako#394 and #2494
    "google": ("gemini-3-pro-preview", FOUR, USUAL | {"reasoning_effort", "extra_body", "n", "max_completion_tokens"}),
}
"""A model, the roles and the fields of each host, as its documentation has them (seen 2026-11-29). Tools: functions."""
EACH = pytest.mark.parametrize("host", DOCUMENTED)


def refusals(payload: dict[str, Any], host: str) -> list[str]:
    """Return what a strict host refuses in a request: roles, types of tools and calls, and fields."""
    _, roles, fields = DOCUMENTED[host]
    messages = payload["messages"]
    found = [f"role {message['role']}" for message in messages if message["role"] not in roles]
    found += [f"field {name}" for name in payload.keys() - fields]
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    found += [f"type {item['type']}" for item in (*payload.get("tools", ()), *calls) if item["type"] != "function"]
    called = [call["id"] for call in calls]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return found + [f"pair {name}" for name in {*called} ^ {*answered}]


@EACH
@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_request_of_codex_is_accepted_by_host(host: str, kind: str) -> None:
    model = DOCUMENTED[host][0]
    encoded = convert(codex(CONVERSATIONS[kind]), source="openai-responses", target="openai-chat", model=model)
    assert refusals(encoded.payload, host) == []
    found = contentmodel.check(encoded.payload, api="openai-chat", model=model)
    assert [violation for violation in found if violation.severity != "unchecked"] == []
    names = [tool["function"]["name"] for tool in encoded.payload["tools"]]
    assert names == ["exec_command", "apply_patch"]
    called = [call["function"] for message in encoded.payload["messages"] for call in message.get("tool_calls", ())]
    patches = [json.loads(call["arguments"]) for call in called if call["name"] == "apply_patch"]
    assert patches == ([] if kind == "first turn" else [{"input": PATCH}])


@EACH
def test_request_of_codex_for_another_model_of_chat_is_accepted_by_host(host: str) -> None:
    model = DOCUMENTED[host][0]
    openais = convert(codex(WORKED), source="openai-responses", target="openai-chat", model="gpt-5.2").payload
    assert {tool["type"] for tool in openais["tools"]} == {"function", "custom"}
    payload = convert(openais, source="openai-chat", target="openai-chat", model=model).payload
    assert refusals(payload, host) == []


@EACH
def test_codex_gets_its_custom_call_from_a_host_behind_the_gateway(host: str) -> None:
    model = DOCUMENTED[host][0]
    arguments = json.dumps({"input": PATCH})
    call = {"id": "call_9", "type": "function", "function": {"name": "apply_patch", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}
    with raw_upstream(answer(body)) as upstream:
        config = config_for("openai-chat", upstream.base_url("openai-chat"), model=model)
        with gateway(config) as (url, _):
            response = httpx2.post(f"{url}/v1/responses", json=codex(WORKED, stream=False), trust_env=False)
    assert response.status_code == 200, response.text
    assert refusals(upstream.requests[-1].payload, host) == []
    [item] = [item for item in response.json()["output"] if item["type"] != "reasoning"]
    assert (item["type"], item["call_id"], item["name"], item["input"]) == (
        "custom_tool_call",
        "call_9",
        "apply_patch",
        PATCH,
    )
