"""Conversion of token counts: each target counts in its own way, with a correct total."""

from __future__ import annotations

from typing import Any

import pytest

from contentmodel import adapter, convert, fold_stream
from contentmodel.streams import convert_stream, encode_stream
from contentmodel.unfolding import unfold

ANTHROPIC, CHAT, RESPONSES, GEMINI = "anthropic-messages", "openai-chat", "openai-responses", "google-generate-content"

# 3,210 tokens in, of which 200 are read from a cache, and 50 out, of which 7 are reasoning.
INSIDE = {"cached_tokens": 200}, {"reasoning_tokens": 7}
USAGE: dict[str, dict[str, Any]] = {
    ANTHROPIC: {
        "input_tokens": 3010,
        "cache_read_input_tokens": 200,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 7},
    },
    CHAT: {
        "prompt_tokens": 3210,
        "completion_tokens": 50,
        "prompt_tokens_details": INSIDE[0],
        "completion_tokens_details": INSIDE[1],
    },
    RESPONSES: {
        "input_tokens": 3210,
        "output_tokens": 50,
        "input_tokens_details": INSIDE[0],
        "output_tokens_details": INSIDE[1],
    },
    GEMINI: {
        "promptTokenCount": 3200,
        "toolUsePromptTokenCount": 10,
        "cachedContentTokenCount": 200,
        "candidatesTokenCount": 43,
        "thoughtsTokenCount": 7,
    },
}
COUNTS = {
    CHAT: ("prompt_tokens", "completion_tokens", "total_tokens"),
    RESPONSES: ("input_tokens", "output_tokens", "total_tokens"),
}


def answer(api: str, usage: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "text": "Hm."}
    if api == ANTHROPIC:
        head = {"id": "i", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
        return {**head, "content": [text], "stop_reason": "end_turn", "usage": usage}
    if api == CHAT:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hm."}}
        return {
            "id": "i",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    if api == RESPONSES:
        output = [{"type": "message", "role": "assistant", "content": [{**text, "type": "output_text"}]}]
        head = {"id": "i", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
        return {**head, "output": output, "usage": usage}
    candidate = {"content": {"role": "model", "parts": [{"text": "Hm."}]}, "finishReason": "STOP"}
    return {"responseId": "i", "modelVersion": "m", "candidates": [candidate], "usageMetadata": usage}


def converted(payload: dict[str, Any], source: str, target: str) -> list[Any]:
    """Return the usage of an answer and of its stream after conversion to the target."""
    whole = convert(payload, source=source, target=target, kind="response").payload
    stream = encode_stream(unfold(adapter(source).decode_response(payload)), source)
    streamed = fold_stream(convert_stream(stream, source=source, target=target), target)
    return [adapter(target).decode_response(whole).usage, streamed.usage]


@pytest.mark.parametrize("source", USAGE)
@pytest.mark.parametrize("target", [CHAT, RESPONSES, GEMINI])
def test_convert_computes_missing_total_from_counters_of_target(source: str, target: str) -> None:
    if source == target:
        assert convert(answer(source, USAGE[source]), target=source).payload == answer(source, USAGE[source])
        return
    for usage in converted(answer(source, USAGE[source]), source, target):
        assert (usage.all_input_tokens, usage.all_output_tokens) == (3210, 50)
        assert usage.total_tokens == 3260


@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_hosted_tool_tokens_are_added_to_input_if_target_has_no_counter(target: str) -> None:
    encoded = convert(answer(GEMINI, USAGE[GEMINI]), source=GEMINI, target=target)
    lost = {loss.path: loss.code for loss in encoded.losses}
    assert (
        lost["$.usageMetadata.toolUsePromptTokenCount"]
        == lost["$.usageMetadata.promptTokenCount"]
        == "token-counter-differs"
    )
    assert adapter(target).decode_response(encoded.payload).usage.all_input_tokens == 3210


@pytest.mark.parametrize("source", [CHAT, RESPONSES])
@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES, GEMINI])
def test_reasoning_tokens_beside_output_are_added_to_output(source: str, target: str) -> None:
    """The API of xAI counts tokens this way."""
    names = COUNTS[source]
    usage = {**USAGE[source], **dict(zip(names, (3210, 43, 3260), strict=True))}
    for found in converted(answer(source, usage), source, target):
        assert found.all_output_tokens == 50
        assert found.total_tokens in (3260, None)


def test_missing_gemini_output_counter_is_zero() -> None:
    usage = {"promptTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 12}
    chat = convert(answer(GEMINI, usage), source=GEMINI, target=CHAT).payload["usage"]
    assert [chat[name] for name in COUNTS[CHAT]] == [5, 7, 12]
