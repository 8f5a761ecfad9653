"""Variants of Responses streams of different hosts, written by hand."""

from __future__ import annotations

from typing import Any

import pytest

import contentmodel
from contentmodel.events import StreamEvent, fold
from contentmodel.streams import encode_stream
from contentmodel_conformance import streams
from test_events import CREATED, last, lawful, sse, summary

API = "openai-responses"
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
