"""Hosts of Chat Completions: what they add to the API reaches other APIs and is restored."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import FunctionCallContent, ReasoningContent, ReasoningOptions, convert
from contentmodel.cli.errors import Problem
from contentmodel.cli.options import parse_policies
from contentmodel.content import (
    CodeInterpreterToolResultContent,
    HostedToolCallContent,
    TextContent,
    UnknownContent,
    UriContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.base import Protected
from contentmodel.events import TurnComplete, fold
from test_chat_streams import chat
from test_events import chunk, sse

CHAT = contentmodel.adapter("openai-chat")
ANTHROPIC, GOOGLE = "anthropic-messages", "google-generate-content"
LITELLM: Any = {"dialect": "litellm"}

THINKING = [
    {"type": "thinking", "thinking": "Look it up.", "signature": "EqRfc2ln"},
    {"type": "redacted_thinking", "data": "RW5jcnlwdGVk"},
]
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"name": "cat"}'}}
SIGNED_CALL = {**CALL, "extra_content": {"google": {"thought_signature": "c2lnbmF0dXJl"}}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "A small animal."}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}]


def request(model: str, **answer: Any) -> dict[str, Any]:
    """Return a request in the middle of a loop of tools."""
    messages = [{"role": "user", "content": "What is a cat?"}, {"role": "assistant", **answer}, RESULT]
    return {"model": model, "messages": messages, "tools": TOOLS}


def answer(**message: Any) -> dict[str, Any]:
    """Return an answer with a message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


# -- opaque state ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "issuer"),
    [
        ("claude-opus-4-8", "anthropic"),
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("us.anthropic.claude-sonnet-4-5-v1:0", "anthropic"),
        ("gemini/gemini-3-pro-preview", "google"),
        ("my-alias", "openai-chat"),
    ],
)
def test_issuer_of_thinking_blocks_is_the_maker_of_the_model(model: str, issuer: str) -> None:
    payload = request(model, content=None, reasoning_content="Look it up.", thinking_blocks=THINKING, tool_calls=[CALL])
    decoded = CHAT.decode_request(payload)
    thought, redacted, _ = decoded.messages[1].contents
    assert isinstance(thought, ReasoningContent)
    assert thought.text == "Look it up."
    assert thought.protected == Protected(issuer=issuer, kind="signature", data="EqRfc2ln")
    assert redacted.protected == Protected(issuer=issuer, kind="redacted", data="RW5jcnlwdGVk")
    assert CHAT.encode_request(decoded).payload == payload


def test_thinking_blocks_survive_conversion_to_anthropic_and_back() -> None:
    payload = request("claude-opus-4-8", content=None, thinking_blocks=THINKING, tool_calls=[CALL])
    there = convert(payload, source="openai-chat", target=ANTHROPIC).payload
    assert there["messages"][1]["content"][:2] == THINKING
    back = convert(there, source=ANTHROPIC, target="openai-chat", policies=LITELLM).payload
    assert back["messages"][1]["thinking_blocks"] == THINKING


def test_state_is_not_sent_to_a_host_that_does_not_read_it() -> None:
    payload = request("claude-opus-4-8", content=None, thinking_blocks=THINKING, tool_calls=[CALL])
    there = convert(payload, source="openai-chat", target=ANTHROPIC).payload
    for model, policies in [
        ("gpt-5.2", LITELLM),
        ("claude-opus-4-8", None),
        ("claude-opus-4-8", {"dialect": "google"}),
    ]:
        lossy = convert(there, source=ANTHROPIC, target="openai-chat", model=model, policies=policies)
        assert b"EqRfc2ln" not in lossy.to_json()
        assert "$.messages[1].content[0]" in {loss.path.partition(".signature")[0] for loss in lossy.losses}


DETAILS = [
    {"type": "reasoning.text", "text": "Look it up.", "signature": "EqRfc2ln", "format": "anthropic-claude-v1"},
    {"type": "reasoning.encrypted", "data": "RW5jcnlwdGVk", "format": "anthropic-claude-v1"},
]


CLAUDES = {
    "thinking_blocks": THINKING,
    "reasoning_details": [
        {
            "type": "reasoning.text",
            "text": "Look it up.",
            "signature": "EqRf",
            "format": "anthropic-claude-v1",
            "id": "r",
        },
        {"type": "reasoning.encrypted", "data": "RW5jcnlwdGVk", "format": "anthropic-claude-v1"},
    ],
}


@pytest.mark.parametrize("field", CLAUDES)
@pytest.mark.parametrize(
    ("model", "policies", "expected"),
    [
        ("deepseek-v4-pro", None, {"reasoning_content": "Look it up."}),
        ("gpt-5.2", None, {}),
        ("gemini-3-pro-preview", None, {}),
        ("llama-4", {"dialect": "groq"}, {"reasoning": "Look it up."}),
        ("openai/gpt-5.2", LITELLM, {"reasoning_content": "Look it up."}),
    ],
)
def test_signed_reasoning_is_lowered_for_model_of_another_maker(
    field: str, model: str, policies: Any, expected: dict[str, str]
) -> None:
    payload = request("claude-opus-4-8", tool_calls=[CALL], **{field: CLAUDES[field]})
    payload["thinking"] = {"type": "enabled", "budget_tokens": 2000}
    made = convert(payload, source="openai-chat", target="openai-chat", model=model, policies=policies)
    assert made.payload["messages"][1] == {"role": "assistant", **expected, "tool_calls": [CALL]}
    assert ("budget_tokens" in made.payload.get("thinking", {})) is (policies == LITELLM)
    assert contentmodel.audit(payload, made) == []
    by_hand = contentmodel.ChatRequest(model=model, messages=CHAT.decode_request(payload).messages)
    assert CHAT.encode_request(by_hand, policies).payload["messages"] == made.payload["messages"]


@pytest.mark.parametrize("field", CLAUDES)
@pytest.mark.parametrize("model", [None, "claude-opus-4-8", "claude-sonnet-4-5", "our-alias"])
@pytest.mark.parametrize("policies", [None, LITELLM])
def test_signed_reasoning_is_unchanged_for_model_of_its_maker_or_alias(field: str, model: Any, policies: Any) -> None:
    payload = request("claude-opus-4-8", tool_calls=[CALL], **{field: CLAUDES[field]})
    payload["thinking"] = {"type": "enabled", "budget_tokens": 2000}
    made = convert(payload, source="openai-chat", target="openai-chat", model=model, policies=policies)
    assert made.payload == {**payload, "model": model or "claude-opus-4-8"}


def test_signature_of_call_is_not_sent_to_model_of_another_maker() -> None:
    payload = request("gemini-3-pro-preview", content=None, tool_calls=[SIGNED_CALL])
    made = convert(payload, source="openai-chat", target="openai-chat", model="gpt-5.2")
    assert made.payload["messages"][1]["tool_calls"] == [CALL]
    assert {loss.code for loss in made.losses} == {"opaque-state"}
    assert contentmodel.audit(payload, made) == []


def test_reasoning_details_survive_conversion_to_anthropic_and_back() -> None:
    payload = request("anthropic/claude-opus-4-8", content=None, reasoning_details=DETAILS, tool_calls=[CALL])
    there = convert(payload, source="openai-chat", target=ANTHROPIC, model="claude-opus-4-8").payload
    assert there["messages"][1]["content"][:2] == THINKING
    policies: Any = {"dialect": "openrouter"}
    back = convert(there, source=ANTHROPIC, target="openai-chat", policies=policies).payload
    assert back["messages"][1]["reasoning_details"] == DETAILS


def test_reasoning_details_of_other_formats_are_sent_only_to_the_same_api() -> None:
    details = [{**detail, "format": "openai-responses-v1"} for detail in DETAILS]
    payload = request("claude-opus-4-8", content=None, reasoning_details=details, tool_calls=[CALL])
    assert b"EqRfc2ln" not in convert(payload, source="openai-chat", target=ANTHROPIC).to_json()
    decoded = CHAT.decode_request(payload)
    assert CHAT.encode_request(decoded).payload == payload


def test_thought_signature_survives_conversion_to_google_and_back() -> None:
    payload = request("gemini-3-pro-preview", content=None, tool_calls=[SIGNED_CALL])
    decoded = CHAT.decode_request(payload)
    assert decoded.messages[1].contents[0].protected == Protected(
        issuer="google", kind="signature", data="c2lnbmF0dXJl"
    )
    there = convert(payload, source="openai-chat", target=GOOGLE).payload
    part = there["contents"][1]["parts"][0]
    assert part["thoughtSignature"] == "c2lnbmF0dXJl"
    back = convert(there, source=GOOGLE, target="openai-chat", model="gemini-3-pro-preview")
    assert back.payload["messages"][1]["tool_calls"][0]["extra_content"] == SIGNED_CALL["extra_content"]
    elsewhere = convert(there, source=GOOGLE, target="openai-chat", model="gpt-5.2")
    assert b"c2lnbmF0dXJl" not in elsewhere.to_json()


EXTRA = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
SIGNED_TEXT = [{"text": "A small animal.", "thoughtSignature": "c2lnbmF0dXJl"}]


def test_signature_of_text_survives_conversion_to_google_and_back() -> None:
    payload = request("gemini-3-pro-preview", extra_content=EXTRA, content="A small animal.")
    payload["messages"] = payload["messages"][:2]
    signature = CHAT.decode_request(payload).messages[1].contents[0]
    assert signature.protected == Protected(issuer="google", kind="signature", data="c2lnbmF0dXJl")
    there = convert(payload, source="openai-chat", target=GOOGLE)
    assert there.payload["contents"][1]["parts"] == SIGNED_TEXT
    back = convert(there.payload, source=GOOGLE, target="openai-chat", model="gemini-3-pro-preview")
    assert back.payload["messages"][1] == payload["messages"][1]
    assert back.losses == ()
    elsewhere = convert(payload, source="openai-chat", target=ANTHROPIC)
    assert b"c2lnbmF0dXJl" not in elsewhere.to_json()
    assert contentmodel.audit(payload, elsewhere) == []


def test_signature_of_text_in_answer_is_written_for_google_models() -> None:
    google = {
        "candidates": [{"content": {"role": "model", "parts": SIGNED_TEXT}, "finishReason": "STOP"}],
        "modelVersion": "gemini-3-pro-preview",
    }
    made = convert(google, source=GOOGLE, target="openai-chat", kind="response")
    assert made.payload["choices"][0]["message"]["extra_content"] == EXTRA


def test_streamed_signature_of_text_folds_to_the_whole_answer() -> None:
    frames = sse(
        {**chunk({"role": "assistant", "content": "A small"}), "created": 1},
        chunk({"content": " animal."}),
        chunk({"extra_content": EXTRA}, finish="stop"),
    )
    whole = CHAT.decode_response({**answer(content="A small animal.", extra_content=EXTRA), "id": "c1"})
    assert contentmodel.fold_stream(frames, "openai-chat") == whole
    again = convert(frames, source="openai-chat", target="openai-chat", kind="stream")
    assert contentmodel.fold_stream(again.payload, "openai-chat") == whole


@pytest.mark.parametrize("model", ["gemini-3-pro-preview", "gemini-2.5-pro"])
def test_first_call_of_another_api_gets_placeholder_signature_for_gemini_3(model: str) -> None:
    source = convert(request("m", content=None, tool_calls=[CALL]), source="openai-chat", target=ANTHROPIC).payload
    made = convert(source, source=ANTHROPIC, target="openai-chat", model=model)
    (call,) = made.payload["messages"][1]["tool_calls"]
    placeholder = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert call.get("extra_content") == (placeholder if model.startswith("gemini-3") else None)
    assert ("placeholder-signature" in {loss.code for loss in made.losses}) is model.startswith("gemini-3")
    back = convert(made.payload, source="openai-chat", target=GOOGLE, model="gemini-2.5-pro")
    assert b"skip_thought" not in back.to_json()
    assert not [loss for loss in back.losses if "extra_content" in loss.path and loss.is_significant]


def test_calls_of_another_api_in_a_native_request_keep_no_foreign_state() -> None:
    google = convert(request("m", content=None, tool_calls=[SIGNED_CALL]), source="openai-chat", target=GOOGLE).payload
    turn = contentmodel.adapter(GOOGLE).decode_request(google).messages[1]
    native = CHAT.decode_request({"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]})
    mixed = contentmodel.ChatRequest(model="gpt-5.2", messages=[*native.messages, turn], origin=native.origin)
    encoded = CHAT.encode_request(mixed)
    assert b"c2lnbmF0dXJl" not in encoded.to_json()
    assert [loss.code for loss in encoded.losses if "protected" in loss.path] == ["opaque-state"]


def test_stream_of_thinking_blocks_folds_to_the_whole_answer() -> None:
    deltas = [
        {
            "reasoning_content": "Look ",
            "thinking_blocks": [{"type": "thinking", "thinking": "Look ", "signature": None}],
        },
        {"reasoning_content": "it up.", "thinking_blocks": [{"type": "thinking", "thinking": "it up."}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "EqRfc2ln"}]},
        {"thinking_blocks": [THINKING[1]]},
        {"content": "A cat."},
    ]
    events = chat(*deltas)
    assert isinstance(events[-1], TurnComplete)
    thought, redacted, text = fold(events).messages[0].contents
    assert (thought.text, thought.protected.data) == ("Look it up.", "EqRfc2ln")
    assert (redacted.protected.data, text.text) == ("RW5jcnlwdGVk", "A cat.")


def test_stream_encoder_writes_the_signature_of_a_call_for_google_models() -> None:
    parts = [{"functionCall": {"id": "c", "name": "f", "args": {"x": 1}}, "thoughtSignature": "c2lnbmF0dXJl"}]
    wire = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    decoder = contentmodel.adapter(GOOGLE).stream_decoder()
    encoder, again = CHAT.stream_encoder(), CHAT.stream_decoder()
    events = [*decoder.feed(sse({**wire, "modelVersion": "gemini-3-pro-preview"})), *decoder.close()]
    out = b"".join(map(encoder.feed, events)) + encoder.close()
    (call,) = fold([*again.feed(out), *again.close()]).messages[0].contents
    assert isinstance(call, FunctionCallContent)
    assert call.protected == Protected(issuer="google", kind="signature", data="c2lnbmF0dXJl")


# -- tools of the host -------------------------------------------------------------------------------------------------

FOUND = {"title": "Cats", "url": "https://example.org/cats", "content": "Cats are small.", "score": 0.9}
EXECUTED = [
    {
        "index": 0,
        "type": "search",
        "arguments": '{"query": "cats"}',
        "output": "Title: Cats",
        "search_results": {"images": [], "results": [FOUND, {"score": 0.1}]},
    },
    {"index": 1, "type": "python", "arguments": '{"code": "1"}', "code_results": [{"text": "1"}, {"png": "iVBORw0K"}]},
    {"index": 2, "type": "wolfram", "arguments": "{}", "output": None},
]


def test_executed_tools_decode_to_calls_with_results() -> None:
    payload = answer(content="A cat.", executed_tools=EXECUTED)
    decoded = CHAT.decode_response(payload)
    search, found, _, computed, other, nothing, _ = decoded.messages[0].contents
    assert isinstance(search, WebSearchToolCallContent)
    assert search.arguments == '{"query": "cats"}'
    assert isinstance(found, WebSearchToolResultContent)
    assert [type(output) for output in found.outputs] == [TextContent, UriContent, UnknownContent]
    assert found.outputs[1].uri == FOUND["url"]
    assert isinstance(computed, CodeInterpreterToolResultContent)
    assert [type(output).__name__ for output in computed.outputs] == ["TextContent", "DataContent"]
    assert (type(other), other.name, nothing.outputs) == (HostedToolCallContent, "wolfram", [])
    assert CHAT.encode_response(decoded).payload == payload


def test_streamed_executed_tools_are_written_as_one_object() -> None:
    started = {key: value for key, value in EXECUTED[0].items() if key not in ("output", "search_results")}
    events = chat({"executed_tools": [started]}, {"executed_tools": [EXECUTED[0]]}, {"content": "A cat."})
    contents = fold(events).messages[0].contents
    assert [type(content).__name__ for content in contents[:2]] == [
        "WebSearchToolCallContent",
        "WebSearchToolResultContent",
    ]
    encoder, again = CHAT.stream_encoder(), CHAT.stream_decoder()
    out = b"".join(map(encoder.feed, events)) + encoder.close()
    assert fold([*again.feed(out), *again.close()]).messages == fold(events).messages


def test_an_answer_with_executed_tools_is_sent_back_without_them() -> None:
    decoded = CHAT.decode_response(answer(content="A cat.", executed_tools=EXECUTED))
    encoded = CHAT.encode_request(contentmodel.ChatRequest(model="m", messages=decoded.messages, origin=decoded.origin))
    assert encoded.payload["messages"] == [{"role": "assistant", "content": "A cat."}]
    assert "answer-field" in {loss.code for loss in encoded.losses}


# -- sources -----------------------------------------------------------------------------------------------------------

LINKS = ["https://example.org/a", "https://example.org/b"]
RESULTS = [{"title": "A", "url": LINKS[0], "date": "2026-11-01", "snippet": "An A."}, {"title": "B", "url": LINKS[1]}]


@pytest.mark.parametrize("lists", [{"citations": LINKS}, {"search_results": RESULTS, "citations": LINKS}], ids=str)
def test_sources_of_an_answer_decode_to_citations_without_a_span(lists: dict[str, Any]) -> None:
    payload = {**answer(content="See [1] and [2]."), **lists}
    decoded = CHAT.decode_response(payload)
    annotations = decoded.messages[0].contents[0].annotations or []
    assert [(citation.url, citation.span) for citation in annotations] == [(link, None) for link in LINKS]
    assert CHAT.encode_response(decoded).payload == payload
    other = convert(payload, kind="response", source="openai-chat", target="openai-responses").payload
    cited = other["output"][0]["content"][0]["annotations"]
    assert [annotation["url"] for annotation in cited] == LINKS


def test_streamed_sources_equal_those_of_the_whole_answer() -> None:
    raw = sse({**chunk({"content": "See "}), "citations": LINKS}, {**chunk({"content": "[1]."}), "citations": LINKS})
    raw += sse({**chunk(finish="stop"), "citations": LINKS}) + b"data: [DONE]\n\n"
    decoder, encoder, again = CHAT.stream_decoder(), CHAT.stream_encoder(), CHAT.stream_decoder()
    events = [*decoder.feed(raw), *decoder.close()]
    text = fold(events).messages[0].contents[0]
    assert [citation.url for citation in text.annotations or []] == LINKS
    out = b"".join(map(encoder.feed, events)) + encoder.close()
    assert fold([*again.feed(out), *again.close()]).messages == fold(events).messages


# -- counters and cache points -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"cached_tokens": 7}, 7),
        ({"prompt_cache_hit_tokens": 5, "prompt_cache_miss_tokens": 4}, 5),
        ({"prompt_cache_hit_tokens": 5, "prompt_tokens_details": {"cached_tokens": 5}}, 5),
        ({"cached_tokens": None, "prompt_tokens_details": None}, None),
    ],
    ids=str,
)
def test_cached_tokens_are_read_from_each_field(usage: dict[str, Any], cached: int | None) -> None:
    counters = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, **usage}
    payload = {**answer(content="A cat."), "usage": counters}
    decoded = CHAT.decode_response(payload)
    assert decoded.usage is not None
    assert decoded.usage.cache_read_tokens == cached
    assert CHAT.encode_response(decoded).payload == payload


TOKENS = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
LAST_CHUNKS: dict[str, dict[str, Any]] = {
    "groq": {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"id": "r", "usage": TOKENS}},
    "moonshot": {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": TOKENS}]},
}


@pytest.mark.parametrize("host", LAST_CHUNKS)
def test_stream_decoder_reads_usage_from_field_of_host(host: str) -> None:
    first = {**chunk({"role": "assistant", "content": "Hi."}), "created": 1}
    frames = sse(first, {**first, **LAST_CHUNKS[host]})
    folded = contentmodel.fold_stream(frames, "openai-chat")
    assert folded.usage == CHAT.decode_response({**answer(content="Hi."), "usage": TOKENS}).usage
    again = convert(frames, source="openai-chat", target="openai-chat", kind="stream").payload
    assert again.count(b'"usage"') == 1
    assert contentmodel.fold_stream(again, "openai-chat") == folded


@pytest.mark.parametrize("ttl", [{}, {"ttl": "1h"}], ids=str)
def test_cache_control_of_a_part_decodes_to_a_cache_point(ttl: dict[str, str]) -> None:
    part = {"type": "text", "text": "A long text.", "cache_control": {"type": "ephemeral", **ttl}}
    payload = {"model": "anthropic/claude-sonnet-4-5", "messages": [{"role": "user", "content": [part]}]}
    decoded = CHAT.decode_request(payload)
    point = decoded.messages[0].contents[0].cache_point
    assert point is not None
    assert point.ttl == ttl.get("ttl")
    assert CHAT.encode_request(decoded).payload == payload
    there = convert(payload, source="openai-chat", target=ANTHROPIC).payload
    assert there["messages"][0]["content"] == [part]


@pytest.mark.parametrize("ttl", [{}, {"ttl": "1h"}], ids=str)
def test_cache_control_of_a_tool_survives_conversion_to_anthropic_and_back(ttl: dict[str, str]) -> None:
    point = {"type": "ephemeral", **ttl}
    payload = {**request("claude-opus-4-8", tool_calls=[CALL]), "tools": [{**TOOLS[0], "cache_control": point}]}
    decoded = CHAT.decode_request(payload)
    assert CHAT.encode_request(decoded).payload == payload
    there = convert(payload, source="openai-chat", target=ANTHROPIC).payload
    assert there["tools"][0]["cache_control"] == point
    back = convert(there, source=ANTHROPIC, target="openai-chat", policies=LITELLM)
    assert back.payload["tools"][0]["cache_control"] == point
    lossy = convert(there, source=ANTHROPIC, target="openai-chat", model="gpt-5.2")
    assert "cache_control" not in lossy.payload["tools"][0]
    assert "$.tools[0].cache_control" in {loss.path for loss in lossy.losses}


def test_both_fields_of_cache_points_are_kept() -> None:
    part = {
        "type": "text",
        "text": "A",
        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"},
        "cache_control": {"type": "ephemeral"},
    }
    payload = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    assert CHAT.encode_request(CHAT.decode_request(payload)).payload == payload


# -- reasoning settings ------------------------------------------------------------------------------------------------

SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"reasoning": {"effort": "high", "exclude": True}}, {"effort": "high", "include": False}),
    ({"reasoning": {"max_tokens": 2000, "enabled": True}}, {"budget_tokens": 2000, "mode": "enabled"}),
    ({"reasoning_effort": "low", "reasoning": {"effort": "high"}}, {"effort": "high"}),
    ({"thinking": {"type": "disabled"}}, {"mode": "disabled"}),
    ({"thinking": {"type": "enabled", "clear_thinking": False}}, {"mode": "enabled"}),
    ({"thinking": {"clear_thinking": False}}, {}),
    ({"enable_thinking": True, "thinking_budget": 50}, {"mode": "enabled", "budget_tokens": 50}),
    ({"enable_thinking": False, "thinking": {"type": "enabled"}}, {"mode": "disabled"}),
    ({"reasoning_format": "hidden"}, {"include": False}),
    ({"reasoning_format": "raw"}, {}),
    ({"include_reasoning": True}, {"include": True}),
]


def asked(**settings: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **settings}


@pytest.mark.parametrize(("fields", "expected"), SETTINGS, ids=str)
def test_settings_of_hosts_decode_to_reasoning_options(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    decoded = CHAT.decode_request(asked(**fields))
    assert (decoded.options.reasoning or ReasoningOptions()) == ReasoningOptions(**expected)
    encoded = CHAT.encode_request(decoded)
    assert encoded.payload == asked(**fields)
    assert encoded.losses == ()


# -- media of hosts ----------------------------------------------------------------------------------------------------

ADDRESS, DATA = "https://example.org/a", "data:audio/wav;base64,AAAA"


@pytest.mark.parametrize(
    ("part", "gemini"),
    [
        ({"image_url": f"{ADDRESS}.png"}, {"fileData": {"fileUri": f"{ADDRESS}.png", "mimeType": "image/png"}}),
        ({"image_url": "data:image/png;base64,AAAA"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        (
            {"audio_url": {"url": f"{ADDRESS}.mp3"}},
            {"fileData": {"fileUri": f"{ADDRESS}.mp3", "mimeType": "audio/mpeg"}},
        ),
        ({"audio_url": {"url": DATA}}, {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}),
        (
            {"input_audio": {"data": f"{ADDRESS}.wav", "format": "wav"}},
            {"fileData": {"fileUri": f"{ADDRESS}.wav", "mimeType": "audio/wav"}},
        ),
        (
            {"file": {"file_id": f"{ADDRESS}.pdf", "format": "application/pdf"}},
            {"fileData": {"fileUri": f"{ADDRESS}.pdf", "mimeType": "application/pdf"}},
        ),
        (
            {"file": {"file_data": f"{ADDRESS}.pdf", "filename": "a.pdf"}},
            {"fileData": {"fileUri": f"{ADDRESS}.pdf", "mimeType": "application/pdf", "displayName": "a.pdf"}},
        ),
        (
            {"file_url": {"url": f"{ADDRESS}.pdf"}},
            {"fileData": {"fileUri": f"{ADDRESS}.pdf", "mimeType": "application/pdf"}},
        ),
    ],
)
def test_media_of_hosts_are_media_at_other_apis(part: dict[str, Any], gemini: dict[str, Any]) -> None:
    """The server of vLLM takes addresses without an object, and audio by address."""
    [tag] = part
    payload = {"model": "qwen", "messages": [{"role": "user", "content": [{"type": tag, **part}]}]}
    assert convert(payload, source="openai-chat", target="openai-chat").payload == payload
    made = convert(payload, source="openai-chat", target=GOOGLE)
    assert made.payload["contents"] == [{"role": "user", "parts": [gemini]}]
    assert contentmodel.audit(payload, made) == []


@pytest.mark.parametrize(
    ("policies", "written"), [({}, None), ({"dialect": "openrouter"}, 3), ({"dialect": "groq"}, None)]
)
def test_top_k_is_an_option_that_some_hosts_take(policies: Any, written: int | None) -> None:
    source = {"model": "qwen", "max_tokens": 9, "top_k": 3, "messages": [{"role": "user", "content": "Hi."}]}
    made = convert(source, source=ANTHROPIC, target="openai-chat", policies=policies)
    assert made.payload.get("top_k") == written
    assert [loss.path for loss in made.losses] == ([] if written else ["$.top_k"])
    chat = {"model": "qwen", "top_k": 3, "messages": [{"role": "user", "content": "Hi."}]}
    assert convert(chat, source="openai-chat", target="openai-chat").payload == chat
    assert convert(chat, source="openai-chat", target=GOOGLE).payload["generationConfig"]["topK"] == 3
    unlimited = convert({**chat, "top_k": -1}, source="openai-chat", target=GOOGLE)
    assert "generationConfig" not in unlimited.payload
    assert "$.top_k" in {loss.path for loss in unlimited.losses}


def test_an_edited_setting_is_written_to_the_field_that_it_was_read_from() -> None:
    decoded = CHAT.decode_request(asked(thinking={"type": "enabled", "clear_thinking": False}))
    edited = msgspec.structs.replace(decoded.options, reasoning=ReasoningOptions(mode="disabled"))
    payload = CHAT.encode_request(msgspec.structs.replace(decoded, options=edited)).payload
    assert payload["thinking"] == {"type": "disabled", "clear_thinking": False}


@pytest.mark.parametrize(
    ("dialect", "thinking", "expected"),
    [
        ("openrouter", {"type": "enabled", "budget_tokens": 2000}, {"reasoning": {"max_tokens": 2000}}),
        ("openrouter", {"type": "disabled"}, {"reasoning": {"enabled": False}}),
        ("zai", {"type": "disabled"}, {"thinking": {"type": "disabled"}}),
        ("alibaba", {"type": "disabled"}, {"enable_thinking": False}),
        (
            "alibaba",
            {"type": "enabled", "budget_tokens": 2000},
            {"enable_thinking": True, "thinking_budget": 2000},
        ),
        (
            "litellm",
            {"type": "enabled", "budget_tokens": 2000},
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        ),
        ("openai", {"type": "disabled"}, {"reasoning_effort": "none"}),
    ],
)
def test_thinking_of_anthropic_is_encoded_as_a_setting_of_the_host(
    dialect: Any, thinking: dict[str, Any], expected: dict[str, Any]
) -> None:
    payload = {"model": "m", "max_tokens": 4000, "messages": [{"role": "user", "content": "Hi"}], "thinking": thinking}
    encoded = convert(payload, source=ANTHROPIC, target="openai-chat", model="m2", policies={"dialect": dialect})
    fields = ("reasoning", "thinking", "enable_thinking", "thinking_budget", "reasoning_effort")
    assert {key: value for key, value in encoded.payload.items() if key in fields} == expected


def test_settings_of_hosts_convert_to_thinking_of_anthropic() -> None:
    wire = asked(reasoning={"max_tokens": 2000}, max_tokens=4000)
    encoded = convert(wire, source="openai-chat", target=ANTHROPIC, model="claude-sonnet-4-5")
    assert encoded.payload["thinking"] == {"type": "enabled", "budget_tokens": 2000}


# -- hosts -------------------------------------------------------------------------------------------------------------


def claude_loop(**answer: Any) -> dict[str, Any]:
    """Return a loop of tools with Claude, whose signatures no other model reads."""
    chat_loop = request("claude-opus-4-8", content=None, tool_calls=[CALL], **answer)
    payload: dict[str, Any] = convert(chat_loop, source="openai-chat", target=ANTHROPIC).payload
    return payload


@pytest.mark.parametrize(
    ("model", "policies", "field", "value"),
    [
        ("deepseek-v4-pro", None, "reasoning_content", "Look it up."),
        ("kimi-k2-thinking", None, "reasoning_content", "Look it up."),
        ("qwen/qwen3-32b", {"dialect": "groq"}, "reasoning", "Look it up."),
        ("m", {"dialect": "openrouter"}, "reasoning_details", [{"type": "reasoning.text", "text": "Look it up."}]),
        ("deepseek-v4-pro", {"reasoning": "drop"}, "reasoning_content", ""),
        ("gpt-5.2", None, "reasoning_content", None),
    ],
)
def test_reasoning_is_written_to_the_field_of_the_host(model: str, policies: Any, field: str, value: Any) -> None:
    encoded = convert(
        claude_loop(thinking_blocks=THINKING[:1]),
        source=ANTHROPIC,
        target="openai-chat",
        model=model,
        policies=policies,
    )
    assert encoded.payload["messages"][1].get(field) == value
    assert b"EqRfc2ln" not in encoded.to_json()


def test_empty_reasoning_is_added_to_calls_if_the_host_requires_it() -> None:
    encoded = convert(claude_loop(), source=ANTHROPIC, target="openai-chat", model="deepseek-v4-pro")
    assert encoded.payload["messages"][1]["reasoning_content"] == ""
    assert "openai-chat-empty-reasoning" in {loss.code for loss in encoded.losses}
    assert [v.rule for v in contentmodel.check(encoded.payload) if v.severity == "refused"] == []


def test_check_reports_violations_of_the_rules_of_a_host() -> None:
    payload = {**request("deepseek-v4-pro", content=None, tool_calls=[CALL]), "max_completion_tokens": 9}
    payload["messages"].insert(0, {"role": "developer", "content": "Be brief."})
    certain = {v.rule: v.path for v in contentmodel.check(payload) if v.severity != "unchecked"}
    assert certain == {
        "calls-have-reasoning": "$.messages[2].reasoning_content",
        "roles-known-to-host": "$.messages[0].role",
        "limit-has-name-of-host": "$.max_completion_tokens",
    }
    elsewhere = {**payload, "thinking": {"type": "disabled"}}
    found = contentmodel.check(elsewhere, api="openai-chat", policies={"dialect": "moonshot"})
    assert [violation.rule for violation in found if violation.severity != "unchecked"] == ["roles-known-to-host"]
    with pytest.raises(ValueError, match="unknown policy dialect=x: expected openai"):
        contentmodel.check(payload, api="openai-chat", policies={"dialect": "x"})


FORCED = {"tools": TOOLS, "tool_choice": "required"}
GROQ: Any = {"dialect": "groq"}
QWEN: Any = {"dialect": "alibaba"}


@pytest.mark.parametrize(
    ("model", "policies", "fields", "expected"),
    [
        ("llama-4", GROQ, {"logit_bias": {"9": 1}, "n": 2}, {"$.logit_bias", "$.n"}),
        ("llama-4", GROQ, {"logit_bias": {}, "logprobs": False, "n": 1, "top_logprobs": None}, set()),
        ("llama-4", None, {"logit_bias": {"9": 1}, "n": 2}, set()),
        ("deepseek-v4-pro", None, FORCED, {"$.tool_choice"}),
        ("deepseek-v4-pro", None, {**FORCED, "tool_choice": "auto"}, set()),
        ("deepseek-v4-pro", None, {**FORCED, "thinking": {"type": "disabled"}}, set()),
        ("deepseek-chat", None, FORCED, set()),
        ("deepseek-reasoner", None, {"logprobs": True}, {"$.logprobs"}),
        ("deepseek-v4-pro", None, {"logprobs": True}, set()),
        ("kimi-k2.6", None, {"temperature": 0.6, "top_p": 1, "n": 1}, {"$.temperature", "$.top_p"}),
        ("kimi-k2.6", None, {"temperature": 0.6, "thinking": {"type": "disabled"}}, set()),
        ("kimi-k2.6", None, {"temperature": 1, "thinking": {"type": "disabled"}}, {"$.temperature"}),
        ("kimi-k2.5", None, FORCED, {"$.tool_choice"}),
        ("kimi-k3", None, {**FORCED, "temperature": 0.2}, set()),
        ("qwen-plus", QWEN, {**FORCED, "enable_thinking": True}, {"$.tool_choice"}),
        ("qwen-plus", QWEN, FORCED, set()),
        ("grok-4-0709", None, {"stop": ["x"], "reasoning_effort": "low"}, {"$.stop", "$.reasoning_effort"}),
        ("grok-3-mini", None, {"presence_penalty": 1, "reasoning_effort": "low"}, {"$.presence_penalty"}),
        ("grok-4-fast-non-reasoning", None, {"stop": ["x"]}, set()),
    ],
)
def test_refused_fields_of_host_are_reported_and_not_sent(
    model: str, policies: Any, fields: dict[str, Any], expected: set[str]
) -> None:
    payload = {"model": model, "messages": [{"role": "user", "content": "Hi"}], **fields}
    found = contentmodel.check(payload, api="openai-chat", policies=policies)
    assert {v.path for v in found if v.rule == "fields-accepted-by-host" and v.severity == "refused"} == expected
    decoded = CHAT.decode_request(payload)
    assert CHAT.encode_request(decoded).payload == payload
    by_hand = CHAT.encode_request(msgspec.structs.replace(decoded, origin=None), policies)
    if policies is not None:
        # A host that the caller names is obeyed, also for a request of this API.
        assert CHAT.encode_request(decoded, policies).payload == by_hand.payload
    assert contentmodel.check(by_hand.payload, api="openai-chat", policies=policies) == [
        violation for violation in found if violation.path not in expected
    ]
    assert {loss.code for loss in by_hand.losses if loss.is_significant} == ({"refused-setting"} if expected else set())


@pytest.mark.parametrize(
    ("model", "fields", "expected"),
    [
        ("deepseek-v4-pro", {"temperature": 0.2, "top_p": 0.5}, {"$.temperature"}),
        ("deepseek-chat", {"temperature": 0.2}, set()),
        ("MiniMax-M2.7", {"frequency_penalty": 1, "temperature": 0.2}, {"$.frequency_penalty"}),
        ("grok-4.20-reasoning", {"logprobs": True}, {"$.logprobs"}),
    ],
)
def test_ignored_fields_of_host_are_reported_and_sent(model: str, fields: Any, expected: set[str]) -> None:
    payload = {"model": model, "messages": [{"role": "user", "content": "Hi"}], **fields}
    found = contentmodel.check(payload, api="openai-chat")
    assert {v.path for v in found if v.severity == "ignored"} == expected
    by_hand = msgspec.structs.replace(CHAT.decode_request(payload), origin=None)
    assert CHAT.encode_request(by_hand).payload == payload


def test_names_of_messages_are_not_sent_to_a_host_that_refuses_them() -> None:
    payload = {"model": "m", "messages": [{"role": "user", "content": "Hi", "name": "ann"}, {**RESULT, "name": "f"}]}
    (violation,) = [v for v in contentmodel.check(payload, policies=GROQ) if v.rule == "fields-accepted-by-host"]
    assert (violation.path, violation.message) == ("$.messages[0].name", "'ann' at groq")
    rows: Any = [{"type": "human", "data": {"content": "Hi", "name": "ann"}}]
    lossy = convert(rows, source="langchain-messages", target="openai-chat", model="m", policies=GROQ)
    assert lossy.payload["messages"] == [{"role": "user", "content": "Hi"}]
    assert [loss.path for loss in lossy.losses if loss.is_significant] == ["$[0].data.name"]
    assert contentmodel.audit(rows, lossy) == []
    elsewhere = convert(rows, source="langchain-messages", target="openai-chat", model="m")
    assert elsewhere.payload["messages"][0]["name"] == "ann"


def test_command_accepts_a_dialect() -> None:
    assert parse_policies(["dialect=litellm"]) == LITELLM
    with pytest.raises(Problem, match="unknown policy 'dialect=x'"):
        parse_policies(["dialect=x"])


def test_instructions_and_limit_have_the_names_of_the_host() -> None:
    payload = {
        "model": "gpt-5.2",
        "max_output_tokens": 100,
        "input": [
            {"type": "message", "role": "developer", "content": "Be brief."},
            {"type": "message", "role": "user", "content": "Hi"},
        ],
    }
    encoded = convert(payload, source="openai-responses", target="openai-chat", model="deepseek-chat")
    assert encoded.payload["messages"][0]["role"] == "system"
    assert encoded.payload["max_tokens"] == 100
    assert "max_completion_tokens" not in encoded.payload


@pytest.mark.parametrize("dialect", ["openrouter", "litellm"])
def test_cache_points_of_anthropic_are_encoded_for_the_host(dialect: Any) -> None:
    part = {"type": "text", "text": "A long text.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    payload = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [part]}]}
    encoded = convert(payload, source=ANTHROPIC, target="openai-chat", policies={"dialect": dialect})
    assert encoded.payload["messages"][0]["content"] == [part]
    elsewhere = convert(payload, source=ANTHROPIC, target="openai-chat")
    assert elsewhere.payload["messages"][0]["content"] == "A long text."


@pytest.mark.parametrize(
    "part", [{"type": "thinking", "thinking": "T", "signature": "c2ln"}, {"type": "redacted_thinking", "data": "c2ln"}]
)
def test_thinking_of_claude_among_the_parts_is_signed_reasoning(part: dict[str, Any]) -> None:
    contents = [part, {"type": "text", "text": "Yes."}]
    messages = [{"role": "user", "content": "Is it?"}, {"role": "assistant", "content": contents}]
    payload = {"model": "claude-opus-4-6", "messages": messages}
    assert convert(payload, source="openai-chat", target="openai-chat").payload == payload
    made = convert(payload, source="openai-chat", target=ANTHROPIC)
    assert made.payload["messages"][1]["content"] == contents
    assert contentmodel.detect({**payload, "tools": TOOLS}) == ("openai-chat", "request")
    folded = contentmodel.fold_stream([sse(chunk({"role": "assistant", "content": [part]}), chunk({}))], "openai-chat")
    [content] = folded.choices[0].messages[0].contents
    assert content.protected is not None
    assert content.protected.data == "c2ln"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("engine_overloaded_error", "overloaded"),
        ("exceeded_current_quota_error", "billing"),
        ("rate_limit_reached_error", "rate_limit"),
        ("queue_exceeded", "rate_limit"),
        ("invalid_authentication_error", "authentication"),
    ],
)
def test_error_types_of_hosts_have_kinds(kind: str, expected: str) -> None:
    error = CHAT.decode_response({"error": {"message": "No.", "type": kind}}).error
    assert error is not None
    assert error.kind == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("model_context_window_exceeded", "model_context_window_exceeded"), ("sensitive", "refusal")],
)
def test_finish_reasons_of_zai_have_their_meaning(reason: str, expected: str) -> None:
    payload = answer(content="Yes.")
    payload["choices"][0]["finish_reason"] = reason
    made = convert(payload, source="openai-chat", target=ANTHROPIC, kind="response")
    assert made.payload["stop_reason"] == expected
    assert convert(payload, source="openai-chat", target="openai-chat", kind="response").payload == payload


@pytest.mark.parametrize(
    ("usage", "reasoning", "is_inside"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 29, "reasoning_tokens": 5}, 5, True),
        ({"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 29, "reasoning_tokens": 900}, 900, False),
    ],
    ids=["SGLang", "Perplexity"],
)
def test_reasoning_tokens_beside_the_output_are_counted(usage: dict[str, Any], reasoning: int, is_inside: bool) -> None:
    message = {"role": "assistant", "content": "A"}
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    answer |= {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    decoded = contentmodel.adapter("openai-chat").decode_response(answer)
    assert decoded.usage is not None
    assert (decoded.usage.reasoning_tokens, decoded.usage.reasoning_inside) == (reasoning, is_inside)
    assert contentmodel.adapter("openai-chat").encode_response(decoded).payload == answer
    made = contentmodel.convert(answer, source="openai-chat", target="openai-responses")
    assert made.payload["usage"]["output_tokens_details"] == {"reasoning_tokens": reasoning}
    assert made.payload["usage"]["output_tokens"] == (20 if is_inside else 920)
