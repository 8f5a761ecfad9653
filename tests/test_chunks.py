"""Streams of chunks: the decoder and the encoder that take the columns of a message from the table."""

from __future__ import annotations

import json
from typing import Any

import pytest

import contentmodel
from contentmodel import ChatRequest, ChatResponse, ErrorContent, HostedTool, ReasoningContent, TextContent, user
from contentmodel.authoring import (
    Blocks,
    ChatAdapter,
    ErrorBody,
    ErrorFields,
    ErrorTypes,
    Filled,
    Implied,
    Rest,
    Rules,
    Silent,
    Table,
    TextOrBlocks,
    chat,
    row,
)
from contentmodel.events import BlockCatchUp, BlockStop, StreamEvent, TurnComplete, TurnError, UsageDelta
from contentmodel.events import WireEvent as Unknown

API = "chunks-api"
TABLE = Table(API)
PARTS = TABLE.union("part", [row("text", TextContent, {"text": "text"})], foreign_types=(TextContent,))
MESSAGES, ANSWER = chat.messages(TABLE, TextOrBlocks(PARTS, "string"), reasoning="thoughts")
FINISH = chat.finish_reasons("stop", "length", "tool_calls")
ERROR = TABLE.record("error", ErrorContent, {"detail": "message"}, Silent("kind"), Filled({"detail": ""}))
ERRORS = ErrorTypes((), {"server": {}}, {})


class Chunks(ChatAdapter):
    """An adapter with streams of chunks."""

    api = issuer = API
    table, rules, answer, finish, errors = TABLE, Rules(API), ANSWER, FINISH, ERRORS
    request = TABLE.record(
        "request",
        ChatRequest,
        {"messages": ("messages", MESSAGES), "tools": ("tools", chat.tools(TABLE))},
    )
    response = TABLE.record(
        "response",
        ChatResponse,
        {
            "id": "id",
            "choices": ("choices", chat.choices(TABLE, ANSWER, FINISH)),
            "usage": ("usage", chat.usage(TABLE)),
        },
        ErrorFields(ErrorBody(ERROR, ERRORS), "detail"),
    )


CHUNKS = Chunks()


def chunk(delta: dict[str, Any] | None = None, index: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a chunk with a delta of one choice."""
    return {"id": "1", "choices": [{"index": index, "delta": delta or {}, **fields}]}


def decoded(*chunks: dict[str, Any]) -> list[StreamEvent]:
    """Return the events of these chunks."""
    data = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks)
    decoder = CHUNKS.stream_decoder()
    return [*decoder.feed(data), *decoder.feed(b"data: [DONE]\n\n"), *decoder.close()]


def test_stream_has_the_content_of_the_whole_answer() -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a"'}}
    events = decoded(
        chunk({"role": "assistant", "thoughts": "Hm"}),
        chunk({"thoughts": "m."}),
        chunk({"content": "Let me "}),
        chunk({"content": "see."}),
        chunk({"tool_calls": [call]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}, finish_reason="tool_calls"),
    )
    message = {
        "role": "assistant",
        "thoughts": "Hmm.",
        "content": "Let me see.",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
    }
    whole = {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert contentmodel.fold(events) == CHUNKS.decode_response(whole)


def test_text_that_goes_on_after_another_column_is_whole_at_its_place() -> None:
    events = decoded(chunk({"content": "a"}), chunk({"thoughts": "b"}), chunk({"content": "c"}, finish_reason="stop"))
    assert next(event.content for event in events if isinstance(event, BlockStop)) == TextContent(text="a")
    assert [event.content for event in events if isinstance(event, BlockCatchUp)] == [TextContent(text="ac")]
    assert contentmodel.fold(events).choices[0].messages[0].contents == [
        ReasoningContent(text="b"),
        TextContent(text="ac"),
    ]


def test_choice_that_begins_early_has_its_place() -> None:
    events = decoded(chunk({"content": "b"}, 1, finish_reason="stop"), chunk({"content": "a"}, 0, finish_reason="stop"))
    assert [choice.messages[0].contents for choice in contentmodel.fold(events).choices] == [
        [TextContent(text="a")],
        [TextContent(text="b")],
    ]


@pytest.mark.parametrize("text", ["", None])
def test_empty_text_is_that_of_the_whole_answer(text: str | None) -> None:
    events = decoded(chunk({"role": "assistant", "content": text}, finish_reason="stop"))
    whole = {"role": "assistant", "content": text}
    answer = CHUNKS.decode_response({"id": "1", "choices": [{"index": 0, "message": whole, "finish_reason": "stop"}]})
    assert contentmodel.fold(events) == answer


def test_chunk_without_choices_is_an_error_or_unknown() -> None:
    begun = chunk({"content": "a"})
    assert isinstance(decoded(begun, {"ping": 1}, chunk(finish_reason="stop"))[-1], TurnComplete)
    assert any(isinstance(event, Unknown) for event in decoded(begun, {"ping": 1}))
    failed = decoded(begun, {"detail": "no more tokens"})[-1]
    assert isinstance(failed, TurnError)
    assert failed.error.message == "no more tokens"


def test_message_beside_deltas_repeats_them_and_may_have_more_fields() -> None:
    # The chunks of Writer have both fields.
    repeated = {"role": "assistant", "content": "ab", "sources": [1]}
    events = decoded(
        chunk({"content": "a"}, message=None), chunk({"content": "b"}, message=repeated, finish_reason="stop")
    )
    message = contentmodel.fold(events).choices[0].messages[0]
    assert message.contents == [TextContent(text="ab")]
    assert message.extra == {API: {"sources": [1]}}


def test_message_without_deltas_is_the_whole_answer() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "a", "tool_calls": [call]}
    answer = {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    assert contentmodel.fold(decoded(answer)) == CHUNKS.decode_response(answer)


def test_answer_is_a_string_if_its_other_contents_have_no_part() -> None:
    parts = [{"text": "A cat."}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    answer = contentmodel.adapter("google-generate-content").decode_response({"candidates": [candidate]})
    encoded = CHUNKS.encode_response(answer)
    assert encoded.payload["choices"][0]["message"]["content"] == "A cat."
    assert [loss.path for loss in encoded.losses if loss.family == "media"] == ["$.choices[0].messages[0].contents[1]"]


def test_payloads_are_recognised_by_their_fields_and_surely_by_a_model_of_the_api() -> None:
    class Named(Chunks):
        own_models = ("own-",)

    message = {"role": "user", "content": "Hi."}
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}}
    for payload, kind in (
        ({"messages": [message]}, "request"),
        ({"choices": [choice]}, "response"),
        (chunk({"content": "a"}), "stream"),
        ({"detail": "no more tokens"}, "response"),
    ):
        assert CHUNKS.recognises({"model": "own-1", **payload}) == {kind: 0.1}
        assert Named().recognises({"model": "own-1", **payload}) == {kind: 1.0}
        assert Named().recognises({"model": "other", **payload}) == {kind: 0.1}
    assert CHUNKS.recognises({"detail": None, "choices": []}) == {}


def test_usage_is_counted_and_written_at_the_end() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    events = decoded(chunk({"content": "a"}), {**chunk(finish_reason="stop"), "usage": usage})
    assert [event.usage.output_tokens for event in events if isinstance(event, UsageDelta)] == [2]
    encoder = CHUNKS.stream_encoder()
    written = b"".join(encoder.feed(event) for event in events)
    assert b'"usage":{"prompt_tokens":1' in written
    assert written.endswith(b"data: [DONE]\n\n")


def test_calls_are_written_with_their_index() -> None:
    calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in "ab"]
    events = decoded(chunk({"tool_calls": calls}, finish_reason="tool_calls"))
    encoder = CHUNKS.stream_encoder()
    written = b"".join(encoder.feed(event) for event in events).decode()
    chunks = [json.loads(line[6:]) for line in written.splitlines() if line.startswith("data: {")]
    deltas = [one["choices"][0]["delta"] for one in chunks]
    assert [call["index"] for delta in deltas for call in delta.get("tool_calls", ())] == [0, 1]


def test_adapter_without_columns_names_the_missing_attribute() -> None:
    class Lacking(Chunks):
        answer = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="chunks-api: chunks need the columns of an answer: set `answer"):
        Lacking().stream_decoder()


def test_answer_of_another_role_is_a_fault() -> None:
    choice = {"index": 0, "message": {"role": "user", "content": "a"}, "finish_reason": "stop"}
    with pytest.raises(contentmodel.DecodeError, match=r"expected 'assistant', got 'user' at \$.choices\[0\].message"):
        CHUNKS.decode_response({"id": "1", "choices": [choice]})
    del choice["message"]["role"]  # type: ignore[attr-defined]
    with pytest.raises(contentmodel.DecodeError, match=r"expected 'assistant', it is missing at \$"):
        CHUNKS.decode_response({"id": "1", "choices": [choice]})


def test_hosted_tools_of_the_named_kinds_are_sent() -> None:
    table = Table(API)
    tags = {"search": "web_search", "graph": "file_search"}
    rows = [row(tag, HostedTool, {}, Implied({"kind": kind}), Rest("settings")) for tag, kind in tags.items()]
    tools: Blocks[Any] = Blocks(chat.function_tools(table, others=rows, kinds=("web_search",)))
    messages, _ = chat.messages(table, TextOrBlocks(PARTS, "string"))

    class Hosting(Chunks):
        request = table.record("request", ChatRequest, {"messages": ("messages", messages), "tools": ("tools", tools)})

    own = {"messages": [], "tools": [{"type": "graph", "ids": ["g"]}, {"type": "search"}]}
    assert Hosting().encode_request(Hosting().decode_request(own)).payload == own
    request = ChatRequest(messages=[user("Hi.")], tools=[HostedTool(kind="web_search"), HostedTool(kind="file_search")])
    encoded = Hosting().encode_request(request)
    assert encoded.payload["tools"] == [{"type": "search"}]
    assert [loss.path for loss in encoded.losses if loss.code == "no-block"] == ["$.tools[1]"]


def test_kind_of_error_without_a_type_is_a_loss() -> None:
    class Typed(Chunks):
        errors = ErrorTypes(("code",), {"server": {"code": "failed"}}, {})
        response = TABLE.record(
            "typed response", ChatResponse, {}, ErrorFields(ErrorBody(ERROR, errors), "detail", "code")
        )

    error = {"error": {"message": "no", "type": "invalid_request_error"}}
    encoded = Typed().encode_response(contentmodel.adapter("openai-chat").decode_response(error))
    assert encoded.payload == {"code": "failed", "detail": "no"}
    assert [loss.code for loss in encoded.losses if loss.what == "kind of ErrorContent"] == ["no-error-type"]
