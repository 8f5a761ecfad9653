"""Answers of the APIs of this project, each with the expected model value: an answer that reached its token limit.

Authors give such pairs for an adapter (`examples`). They are the only inputs with a known expected value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ContentModelError,
    FinishReason,
    TextContent,
    Usage,
)
from contentmodel.adapter import as_json
from contentmodel.serialize import require_valid, to_builtins
from contentmodel_conformance import laws
from contentmodel_conformance.differences import difference
from contentmodel_conformance.laws import LawBroken

Example: TypeAlias = tuple[Any, ChatRequest | ChatResponse]
"""A payload, and the request or response expected of it."""


def checked(api: str, pairs: Sequence[Any]) -> list[Example]:
    """Return given examples with their payloads as JSON values. Raise ValueError if one is invalid."""
    examples = []
    for index, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[1], ChatRequest | ChatResponse):
            expected = "a payload with its expected ChatRequest or ChatResponse"
            raise ValueError(f"examples[{index}]: expected {expected}, got {pair!r:.80}")
        try:
            require_valid(pair[1])
            examples.append((as_json(pair[0], api), pair[1]))
        except ContentModelError as error:
            raise ValueError(f"examples[{index}]: {error}") from None
    return examples


def example(adapter: Any, pair: Example) -> None:
    """A payload of the author decodes to the value that the author expects, and encodes to the same payload.

    `origin`, `extra` and a finish reason's `raw` are compared only if the expected value has them.
    """
    payload, expected = pair
    kind = "request" if isinstance(expected, ChatRequest) else "response"
    decoded = laws.decode(adapter, kind, payload)
    before, after = to_builtins(expected), to_builtins(decoded)
    changed = difference(_stated(before), _like(_stated(before), after))
    if changed is not None:
        raise LawBroken("example", *changed)
    laws.identity(adapter, kind, payload)


_KEPT = ("origin", "extra", "raw")


def _stated(value: Any) -> Any:
    """Return the model's JSON without unset fields."""
    if isinstance(value, dict):
        return {key: _stated(item) for key, item in value.items() if item is not None}
    return [_stated(item) for item in value] if isinstance(value, list) else value


def _like(expected: Any, value: Any) -> Any:
    """Return the JSON found, without unset fields, and without those `_KEPT` fields that the expected value lacks."""
    if isinstance(expected, dict) and isinstance(value, dict):
        hidden = {key for key in _KEPT if key not in expected}
        return {
            key: _like(expected.get(key), item) for key, item in value.items() if key not in hidden and item is not None
        }
    if isinstance(expected, list) and isinstance(value, list):
        return [_like(one, two) for one, two in zip([*expected, *[None] * len(value)], value, strict=False)]
    return _without_kept(value) if expected is None else value


def _without_kept(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_kept(v) for k, v in value.items() if k not in _KEPT and v is not None}
    return [_without_kept(item) for item in value] if isinstance(value, list) else value


def _answer(usage: Usage, *, response_id: str | None = "a", **fields: Any) -> ChatResponse:
    message = ChatMessage(role="assistant", contents=[TextContent(text="The sky is")])
    choice = ChatChoice(messages=[message], finish_reason=FinishReason(reason="length"), **fields)
    return ChatResponse(id=response_id, model="m", choices=[choice], usage=usage)


_COUNTS: dict[str, Any] = {"cache_read_tokens": 200, "output_tokens": 50, "reasoning_tokens": 7}

EXAMPLES: dict[str, Sequence[Example]] = {
    "cohere-chat": [
        (
            {
                "id": "a",
                "finish_reason": "MAX_TOKENS",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "The sky is"}]},
                "usage": {
                    "billed_units": {"input_tokens": 2, "output_tokens": 4},
                    "tokens": {"input_tokens": 3210, "output_tokens": 50},
                    "cached_tokens": 200,
                },
            },
            ChatResponse(
                id="a",
                choices=[
                    ChatChoice(
                        messages=[ChatMessage(role="assistant", contents=[TextContent(text="The sky is")])],
                        finish_reason=FinishReason(reason="length"),
                    )
                ],
                usage=Usage(input_tokens=3210, output_tokens=50, cache_read_tokens=200),
            ),
        )
    ],
    "anthropic-messages": [
        (
            {
                "id": "a",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": "The sky is"}],
                "stop_reason": "max_tokens",
                "usage": {
                    "input_tokens": 10,
                    "cache_read_input_tokens": 200,
                    "cache_creation_input_tokens": 3000,
                    "output_tokens": 50,
                    "output_tokens_details": {"thinking_tokens": 7},
                },
            },
            _answer(Usage(input_tokens=10, cache_write_tokens=3000, cached_inside=False, **_COUNTS)),
        )
    ],
    "openai-chat": [
        (
            {
                "id": "a",
                "model": "m",
                "choices": [
                    {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "The sky is"}}
                ],
                "usage": {
                    "prompt_tokens": 3210,
                    "completion_tokens": 50,
                    "total_tokens": 3260,
                    "prompt_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 3000},
                    "completion_tokens_details": {"reasoning_tokens": 7},
                },
            },
            _answer(Usage(input_tokens=3210, cache_write_tokens=3000, total_tokens=3260, **_COUNTS), index=0),
        )
    ],
    "openai-responses": [
        (
            {
                "id": "a",
                "model": "m",
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "The sky is"}],
                    }
                ],
                "usage": {
                    "input_tokens": 3210,
                    "output_tokens": 50,
                    "total_tokens": 3260,
                    "input_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 3000},
                    "output_tokens_details": {"reasoning_tokens": 7},
                },
            },
            _answer(Usage(input_tokens=3210, cache_write_tokens=3000, total_tokens=3260, **_COUNTS)),
        )
    ],
    "bedrock-converse": [
        (
            {
                "modelId": "m",
                "output": {"message": {"role": "assistant", "content": [{"text": "The sky is"}]}},
                "stopReason": "max_tokens",
                "usage": {
                    "inputTokens": 10,
                    "outputTokens": 50,
                    "totalTokens": 3260,
                    "cacheReadInputTokens": 200,
                    "cacheWriteInputTokens": 3000,
                },
            },
            _answer(
                Usage(
                    input_tokens=10,
                    output_tokens=50,
                    total_tokens=3260,
                    cache_read_tokens=200,
                    cache_write_tokens=3000,
                    cached_inside=False,
                ),
                response_id=None,
            ),
        )
    ],
    "google-generate-content": [
        (
            {
                "responseId": "a",
                "modelVersion": "m",
                "candidates": [
                    {
                        "content": {"role": "model", "parts": [{"text": "The sky is"}]},
                        "finishReason": "MAX_TOKENS",
                    }
                ],
                "usageMetadata": {
                    "promptTokenCount": 3210,
                    "cachedContentTokenCount": 200,
                    "candidatesTokenCount": 50,
                    "thoughtsTokenCount": 7,
                    "totalTokenCount": 3267,
                },
            },
            _answer(Usage(input_tokens=3210, total_tokens=3267, reasoning_inside=False, **_COUNTS)),
        )
    ],
}
"""The examples of the APIs of this project. Their counters all differ, so swapped counters are found."""
