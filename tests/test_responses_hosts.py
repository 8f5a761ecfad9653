"""Variants of the Responses API of different hosts, written by hand: streams, and opaque state."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel.events import BlockCatchUp, StreamEvent, TextDelta, fold
from contentmodel.streams import encode_stream
from contentmodel_conformance import streams
from test_events import CREATED, last, lawful, sse, summary

API = "openai-responses"
RESPONSES = contentmodel.adapter(API)
CALL = {"type": "function_call", "call_id": "fc_a", "name": "f", "arguments": "", "status": "in_progress"}
CALLED = {**CALL, "arguments": '{"x":1}', "status": "completed"}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
TEXT = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Return an event without an `output_index`."""
    return {"type": f"response.{kind}", **fields}


def message(text: str) -> dict[str, Any]:
    """Return a whole message item."""
    return {**MESSAGE, "status": "completed", "content": [{**TEXT, "text": text}]}


def reads_as(events: list[StreamEvent], target: str) -> list[Any]:
    """Return a summary of the turn as clients of the target API read it."""
    raw = b"".join(encode_stream(events, target))
    return summary(streams.decode(contentmodel.adapter(target), [raw]))


# -- items without an index --------------------------------------------------------------------------------------------

INDEX_FREE = [
    event("output_item.added", item=MESSAGE),
    event("content_part.added", item_id="msg_1", part=TEXT),
    event("output_text.delta", item_id="msg_1", delta="He"),
    event("output_text.delta", item_id="msg_1", delta="llo"),
    event("output_item.added", item=CALL),
    event("function_call_arguments.delta", item_id="fc_a", delta='{"x"'),
    event("function_call_arguments.delta", item_id="fc_a", delta=":1}"),
    event("output_text.done", item_id="msg_1", text="Hello"),
    event("output_item.done", item=message("Hello")),
    event("output_item.done", item=CALLED),
]


@pytest.mark.parametrize("end", [[], [last("completed", output=[message("Hello"), CALLED])]], ids=["cut", "whole"])
@pytest.mark.parametrize(
    ("target", "arguments"), [(API, '{"x":1}'), ("openai-chat", '{"x":1}'), ("anthropic-messages", {"x": 1})]
)
def test_decoder_finds_items_without_an_index_by_their_ids(target: str, arguments: Any, end: list[Any]) -> None:
    """llama.cpp sends no numbers, and its calls have the id `call_id` only."""
    events = lawful(API, sse(CREATED, *INDEX_FREE, *end))
    assert summary(events) == ["Hello", ("fc_a", "f", '{"x":1}')]
    assert reads_as(events, target) == ["Hello", ("fc_a", "f", arguments)]


def test_decoder_reads_items_without_an_index_and_an_id() -> None:
    item = {key: value for key, value in message("Hello").items() if key != "id"}
    events = lawful(API, sse(CREATED, event("output_item.done", item=item), last("completed", output=[])))
    assert summary(events) == ["Hello"]


def test_decoder_refuses_a_delta_without_an_index_of_an_unknown_item() -> None:
    raw = sse(CREATED, event("output_text.delta", item_id="msg_2", delta="He"))
    error = fold(lawful(API, raw)).error
    assert error is not None
    assert error.code == "stream_malformed"


# -- numbers that do not fit -------------------------------------------------------------------------------------------


def numbered(kind: str, place: int, number: int | None = None, **fields: Any) -> dict[str, Any]:
    """Return an event of an item, or of a part."""
    return event(kind, output_index=place, **({} if number is None else {"content_index": number}), **fields)


@pytest.mark.parametrize("first", [0, None], ids=["part added", "no part added"])
@pytest.mark.parametrize("numbers", [(1, 2, 3), (1, 1, 1), (0, 1, 1)])
@pytest.mark.parametrize("target", [API, "openai-chat", "anthropic-messages", "google-generate-content"])
def test_decoder_appends_deltas_with_new_numbers_to_the_open_part(
    target: str, numbers: tuple[int, ...], first: int | None
) -> None:
    """Some versions of vLLM number the deltas of a part."""
    deltas = [numbered("output_text.delta", 0, n, delta=t) for n, t in zip(numbers, ("He", "ll", "o"), strict=True)]
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=MESSAGE),
            *([] if first is None else [numbered("content_part.added", 0, first, part=TEXT)]),
            *deltas,
            numbered("output_text.done", 0, 4, text="Hello"),
            numbered("content_part.done", 0, 5, part={**TEXT, "text": "Hello"}),
            numbered("output_item.done", 0, item=message("Hello")),
            last("completed", output=[message("Hello")]),
        ),
    )
    assert summary(events) == ["Hello"]
    assert reads_as(events, target) == ["Hello"]


def test_decoder_starts_a_part_after_the_end_of_the_part_before() -> None:
    parts = [{**TEXT, "text": "One."}, {**TEXT, "text": "Two."}]
    whole = {**message(""), "content": parts}
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=MESSAGE),
            numbered("output_text.delta", 0, 0, delta="One."),
            numbered("output_text.done", 0, 0, text="One."),
            numbered("output_text.delta", 0, 1, delta="Two."),
            numbered("output_item.done", 0, item=whole),
            last("completed", output=[whole]),
        ),
    )
    assert summary(events) == ["One.", "Two."]
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["One.", "Two."]
    assert not any(isinstance(e, BlockCatchUp) for e in events)


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "status": "completed"}
THOUGHTS = {**THOUGHT, "content": [{"type": "reasoning_text", "text": "Hm."}]}


@pytest.mark.parametrize(
    ("begun_as", "number", "item_id"),
    [("msg_1", 1, "msg_9"), ("rs_1", 1, "msg_9"), ("msg_1", 0, "msg_1")],
    ids=["another number", "another number and id", "the same number"],
)
def test_decoder_starts_an_item_with_the_number_of_a_finished_one(begun_as: str, number: int, item_id: str) -> None:
    """Some versions of vLLM start the message with the number and the id of the reasoning before it."""
    whole = {**message("Hello"), "id": item_id}
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=THOUGHT),
            numbered("reasoning_text.delta", 0, 1, item_id="rs_1", delta="H"),
            numbered("reasoning_text.delta", 0, 2, item_id="rs_1", delta="m."),
            numbered("output_item.done", 0, item=THOUGHTS),
            numbered("output_item.added", 0, item={**MESSAGE, "id": begun_as}),
            numbered("output_text.delta", number, 1, item_id=item_id, delta="Hel"),
            numbered("output_text.delta", number, 2, item_id=item_id, delta="lo"),
            numbered("output_item.done", number, item=whole),
            last("completed", output=[THOUGHTS, whole]),
        ),
    )
    assert summary(events) == ["Hm.", "Hello"]
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Hel", "lo"]
    assert not any(isinstance(e, BlockCatchUp) for e in events)
    assert reads_as(events, "openai-chat") == ["Hello"]


# -- opaque state ------------------------------------------------------------------------------------------------------

SUMMARY = [{"type": "summary_text", "text": "Look it up."}, {"type": "summary_text", "text": "Then answer."}]
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": SUMMARY,
    "encrypted_content": "c2VhbGVk",
    "status": "completed",
}
ANSWER = message("Hello")


def request(model: str, **reasoning: Any) -> dict[str, Any]:
    """Return a request with an item of reasoning."""
    items = [{"role": "user", "content": "Hi."}, {**REASONING, **reasoning}, ANSWER, {"role": "user", "content": "Go."}]
    return {"model": model, "input": items}


def test_older_document_without_the_maker_of_state_is_sent_to_its_maker_only() -> None:
    stored = msgspec.to_builtins(RESPONSES.decode_request(request("grok-4")))
    for content in stored["messages"][1]["contents"]:
        if "protected" in content:
            content["protected"]["issuer"] = "openai"
    older = msgspec.convert(stored, contentmodel.ChatRequest)
    for model, is_kept in (("grok-4", True), ("grok-4.1-fast", True), ("gpt-5.2", False)):
        sent = msgspec.structs.replace(older, model=model)
        assert (REASONING in RESPONSES.encode_request(sent).payload["input"]) is is_kept


# -- arguments that are objects ----------------------------------------------------------------------------------------

OBJECT = {**CALLED, "arguments": {"x": 1}}


@pytest.mark.parametrize("target", [API, "openai-chat", "anthropic-messages"])
def test_stream_with_arguments_that_are_an_object_reaches_other_apis(target: str) -> None:
    begun = {**CALL, "arguments": {}}
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=begun),
            numbered("output_item.done", 0, item=OBJECT),
            last("completed", output=[OBJECT]),
        ),
    )
    assert summary(events) == [("fc_a", "f", {"x": 1})]
    ((call_id, name, arguments),) = reads_as(events, target)
    assert (call_id, name) == ("fc_a", "f")
    assert arguments in ({"x": 1}, '{"x":1}')


# -- signatures of OpenRouter ------------------------------------------------------------------------------------------

SIGNED_REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "Look."}],
    "signature": "EqRf",
    "format": "anthropic-claude-v1",
}


def test_streamed_signature_of_openrouter_reaches_anthropic() -> None:
    begun = {**SIGNED_REASONING, "content": [], "signature": None}
    part = {"type": "reasoning_text", "text": "Look."}
    raw = sse(
        CREATED,
        event("output_item.added", output_index=0, item=begun),
        event("reasoning_text.delta", output_index=0, content_index=0, item_id="rs_1", delta="Look."),
        event("reasoning_text.done", output_index=0, content_index=0, item_id="rs_1", text=part["text"]),
        event("output_item.done", output_index=0, item=SIGNED_REASONING),
        event("output_item.added", output_index=1, item=MESSAGE),
        event("output_item.done", output_index=1, item=message("A cat.")),
        last("completed", output=[SIGNED_REASONING, message("A cat.")]),
    )
    events = lawful(API, raw)
    assert b"EqRf" in b"".join(encode_stream(events, "anthropic-messages"))


def test_responses_api_takes_functions_beside_an_effort() -> None:
    for model in ("gpt-5.6", "gpt-9"):
        assert contentmodel.adapter("openai-responses").look_up_model(model).capabilities.functions_with_effort
        assert not contentmodel.adapter("openai-chat").look_up_model(model).capabilities.functions_with_effort
