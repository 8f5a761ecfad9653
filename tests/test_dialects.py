"""Hosts of Chat Completions: what they add to the API reaches other APIs and is restored."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import FunctionCallContent, convert
from contentmodel.cli.errors import Problem
from contentmodel.cli.options import parse_policies
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


# -- sources -----------------------------------------------------------------------------------------------------------

LINKS = ["https://example.org/a", "https://example.org/b"]


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


# -- hosts -------------------------------------------------------------------------------------------------------------


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


GROQ: Any = {"dialect": "groq"}


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
