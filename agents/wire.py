"""Whole answers of each API, written by hand as the provider sends them: reasoning with its opaque state, and calls."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ModelCall:
    """A call of an answer. `group` is the group of the tool, if it is in one."""

    id: str
    name: str
    arguments: dict[str, Any] | str
    group: str | None = None

    @property
    def free(self) -> bool:
        """True if the tool takes free text."""
        return isinstance(self.arguments, str)


@dataclass(frozen=True)
class ModelTurn:
    """The contents of the answer of one turn. `number` is the number of the turn."""

    number: int
    reasoning: str
    text: str
    calls: tuple[ModelCall, ...]

    @property
    def state(self) -> str:
        """The opaque state of the reasoning: different for each turn."""
        return base64.b64encode(f"opaque state of turn {self.number}, ".encode() * 4).decode()


def _chat(turn: ModelTurn) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
        if call.free
        else {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in turn.calls
    ]
    message = {"role": "assistant", "content": turn.text or None, "refusal": None, "reasoning_content": turn.reasoning}
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "gpt-5.2-2025-12-11",
        "choices": [
            {
                "index": 0,
                "message": {**message, **({"tool_calls": calls} if calls else {})},
                "logprobs": None,
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 5000,
            "completion_tokens": 70,
            "total_tokens": 5070,
            "prompt_tokens_details": {"cached_tokens": 4000},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
    }


def _responses(turn: ModelTurn) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "reasoning",
            "id": f"rs_{turn.number:032d}",
            "summary": [{"type": "summary_text", "text": turn.reasoning}],
            "encrypted_content": turn.state,
        }
    ]
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}
        name = f"msg_{turn.number:032d}"
        output.append({"type": "message", "id": name, "status": "completed", "role": "assistant", "content": [part]})
    for place, call in enumerate(turn.calls):
        shared = {"call_id": call.id, "name": call.name, "status": "completed"}
        if call.group:
            shared["namespace"] = call.group
        if call.name == "web_search":
            name = f"ws_{turn.number:030d}_{place}"
            output.append({"type": "web_search_call", "id": name, "status": "completed", "action": call.arguments})
        elif call.name == "tool_search":
            name = f"tsc_{turn.number:030d}_{place}"
            own = {"call_id": call.id, "execution": "client", "arguments": call.arguments, "status": "completed"}
            output.append({"type": "tool_search_call", "id": name, **own})
        elif call.free:
            name = f"ctc_{turn.number:030d}_{place}"
            output.append({"type": "custom_tool_call", "id": name, "input": call.arguments, **shared})
        else:
            name = f"fc_{turn.number:030d}_{place}"
            output.append({"type": "function_call", "id": name, "arguments": json.dumps(call.arguments), **shared})
    return {
        "id": f"resp_{turn.number:032d}",
        "object": "response",
        "created_at": 1790000000,
        "status": "completed",
        "model": "gpt-5.2-2025-12-11",
        "output": output,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "top_p": None,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 5000,
            "input_tokens_details": {"cached_tokens": 4000, "cache_write_tokens": 0},
            "output_tokens": 70,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": 5070,
        },
    }


def _anthropic(turn: ModelTurn) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": turn.reasoning, "signature": turn.state}]
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    content += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in turn.calls]
    return {
        "id": f"msg_{turn.number:024d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 1000,
            "cache_read_input_tokens": 4000,
            "cache_creation_input_tokens": 0,
            "output_tokens": 70,
        },
    }


def _google(turn: ModelTurn) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": turn.reasoning, "thought": True}]
    if turn.text:
        parts.append({"text": turn.text})
    # Gemini signs the first of the calls, and sends no ids (ai.google.dev/gemini-api/docs/thought-signatures).
    for place, call in enumerate(turn.calls):
        signature = {} if place else {"thoughtSignature": turn.state}
        parts.append({"functionCall": {"name": call.name, "args": call.arguments}, **signature})
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 5000,
            "cachedContentTokenCount": 4000,
            "candidatesTokenCount": 50,
            "thoughtsTokenCount": 20,
            "totalTokenCount": 5070,
        },
        "modelVersion": "gemini-3-pro-preview",
        "responseId": f"response-{turn.number}",
    }


ANSWERS: dict[str, Callable[[ModelTurn], dict[str, Any]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
    "google-generate-content": _google,
}
"""The function that writes an answer, by API."""

CALL_IDS = {
    "openai-chat": "call_{:024d}",
    "openai-responses": "call_{:024d}",
    "anthropic-messages": "toolu_{:024d}",
    "google-generate-content": "{:d}",
}
"""The form of the ids of calls, by API."""

HOSTS = {
    "deepseek": "deepseek-v4-pro",
    "moonshot": "kimi-k2.6",
    "zai": "glm-5.3",
    "alibaba": "qwen3.6-plus",
    "minimax": "MiniMax-M2.7",
    "xai": "grok-4.6",
    "groq": "groq/openai/gpt-oss-120b",
    "google": "gemini-3-pro-preview",
}
"""A model of each host of Chat Completions. The name of a model selects the rules of its host."""

MODELS = {
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-8",
    "google-generate-content": "gemini-3-pro-preview",
}
"""The model of the upstream, by API."""
