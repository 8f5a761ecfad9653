"""Events and their fold, and decoding of streams that fail, are truncated, or have unknown events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, FEW, records
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatResponse,
    DataContent,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    ReasoningContent,
    TextContent,
)
from contentmodel.content import (
    CONTENT_TYPES,
    ToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.errors import StreamError, ToolArgumentsError
from contentmodel.events import (
    EVENT_TYPES,
    ArgumentsDelta,
    BlockCatchUp,
    BlockStart,
    BlockStop,
    Fold,
    StreamEvent,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    UnknownDelta,
    UsageDelta,
    WireEvent,
    fold,
    growing_field,
)
from contentmodel.server.log import Log, Reader
from contentmodel.streams import encode_stream
from contentmodel.unfolding import unfold
from contentmodel.usage import Usage
from contentmodel_conformance import streams
from contentmodel_conformance.strategies import model
from contentmodel_conformance.strategies.transcripts import transcripts

SIZES = st.sampled_from([None, 1, 2, 7])


# -- fold and unfold ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS)
@given(data=st.data(), size=SIZES)
def test_fold_reverses_unfold(api: str, data: st.DataObject, size: int | None) -> None:
    turns = data.draw(st.lists(transcripts(api), min_size=1, max_size=3))
    choices = [
        ChatChoice(messages=turn.messages, index=number, finish_reason=FinishReason(reason="stop"))
        for number, turn in enumerate(turns)
    ]
    failed = data.draw(st.sampled_from([None, ErrorContent(message="no", code="overloaded")]))
    streams.unfolding(ChatResponse(id="r", model="m", choices=choices, error=failed), size)


@pytest.mark.parametrize("api", APIS)
def test_fold_reverses_unfold_of_recorded_answers(api: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    for record in records(api, "response"):
        response = adapter.decode_response(record["body"])
        for size in (None, 3):
            streams.unfolding(response, size)


def test_events_round_trip_through_json() -> None:
    call = FunctionCallContent(call_id="c", name="f", arguments={"a": 1})
    response = ChatResponse(id="r", choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=[call])])])
    events = [*unfold(response), UsageDelta(usage=Usage(input_tokens=1)), WireEvent(api="x", data={"a": [1]})]
    for event in events:
        assert msgspec.json.decode(msgspec.json.encode(event), type=reduce(or_, EVENT_TYPES)) == event


@pytest.mark.parametrize(
    "event",
    [
        TextDelta(index=0, text="a"),
        ArgumentsDelta(index=3, text="a"),
        BlockStop(index=0, content=TextContent(text="")),
    ],
)
def test_fold_refuses_events_of_a_block_that_has_not_started(event: StreamEvent) -> None:
    with pytest.raises(StreamError, match="has not started"):
        fold([event])


def test_fold_refuses_a_layout_with_unknown_blocks() -> None:
    with pytest.raises(StreamError, match="has not started"):
        fold([TurnComplete(response=ChatResponse(), layout=[[[0]]])])


def test_fold_gives_response_after_each_event() -> None:
    gathered = Fold()
    assert gathered.response == ChatResponse()
    gathered.feed(TurnStart(response=ChatResponse(id="r")))
    gathered.feed(BlockStart(index=0, content=TextContent(text="")))
    for word in ("He", "llo"):
        gathered.feed(TextDelta(index=0, text=word))
    gathered.feed(UsageDelta(usage=Usage(output_tokens=2)))
    assert (gathered.response.text, gathered.response.id) == ("Hello", "r")
    assert gathered.response.usage == Usage(output_tokens=2)
    assert not gathered.is_over
    gathered.feed(BlockCatchUp(index=0, content=TextContent(text="Good bye")))
    gathered.feed(TextDelta(index=0, text="!"))
    assert gathered.content(0) == TextContent(text="Good bye!")
    with pytest.raises(StreamError):
        gathered.content(1)


RESULTS = [kind for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent)]


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data(), size=SIZES)
def test_fold_of_a_growing_result_is_the_same_wherever_the_events_are_cut(
    kind: Any, data: st.DataObject, size: int | None
) -> None:
    last = data.draw(st.sampled_from([TextContent, ErrorContent]).flatmap(model.structs))
    last = msgspec.structs.replace(last, **{growing_field(last): data.draw(st.text(min_size=1, max_size=9))})
    others = data.draw(st.lists(model.structs(TextContent), max_size=2))
    result = msgspec.structs.replace(data.draw(model.structs(kind)), outputs=[*others, last])
    whole = ChatResponse(choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=[result])])])
    events = list(unfold(whole, size=size))
    assert any(isinstance(event, TextDelta) for event in events)
    assert fold(event for event in events if not isinstance(event, BlockStop)) == whole
    for cut in range(2, len(events) + 1):
        log, late = Log(), Fold()
        for event in events[:cut]:
            log.add(event)
        sent = [piece.event for piece in Reader(log, after=10**6).take(10**6)]
        for event in [*sent, *events[cut:]]:
            late.feed(event)
        assert late.response == whole
        content: Any = log.state()[0]
        assert result.text.startswith(content.text)
        (caught,) = [event for event in sent if isinstance(event, BlockCatchUp)]
        assert caught.is_complete == any(isinstance(event, BlockStop) for event in events[:cut])


def test_more_text_of_a_result_extends_its_last_output_or_begins_one() -> None:
    picture = DataContent(media_type="image/png", data="QQ==")
    for outputs, expected in (
        ([], [TextContent(text="ab")]),
        ([TextContent(text="x")], [TextContent(text="xab")]),
        ([picture], [picture, TextContent(text="ab")]),
    ):
        start = BlockStart(index=0, content=FunctionResultContent(call_id="c", outputs=outputs))
        folded = fold([start, TextDelta(index=0, text="a"), TextDelta(index=0, text="b")])
        assert folded.messages[0].contents == [FunctionResultContent(call_id="c", outputs=expected)]


@pytest.mark.parametrize("api", APIS)
def test_encoder_holds_a_growing_result_until_its_end(api: str) -> None:
    grown = WebSearchToolResultContent(call_id="c", outputs=[TextContent(text="Sunny in Oslo.")])
    call = WebSearchToolCallContent(call_id="c", arguments={"query": "Oslo"})
    text = TextContent(text="Done.")
    message = ChatMessage(role="assistant", contents=[call, grown, text])
    whole = ChatResponse(id="r", model="m", choices=[ChatChoice(messages=[message])])
    growing = list(unfold(whole, size=3))
    at_once = [event for event in growing if not (isinstance(event, TextDelta) and event.index == 1)]
    assert len(at_once) < len(growing)
    start = next(event for event in at_once if isinstance(event, BlockStart) and event.index == 1)
    at_once[at_once.index(start)] = msgspec.structs.replace(start, content=grown)
    assert b"".join(encode_stream(growing, api)) == b"".join(encode_stream(at_once, api))


# -- streams by hand ---------------------------------------------------------------------------------------------------


def sse(*wires: Any, name: str | None = None) -> bytes:
    return b"".join(streams.frames_of([{"data": wire, "event": name} for wire in wires]))


def chunk(delta: Any = None, *, finish: str | None = None, index: int | None = 0, **rest: Any) -> dict[str, Any]:
    choice = {"delta": delta or {}, "finish_reason": finish, **rest}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": index, **choice}]}


def lawful(api: str, raw: bytes) -> list[StreamEvent]:
    adapter = contentmodel.adapter(api)
    events = streams.decode(adapter, [raw])
    streams.order(events)
    streams.deltas(events)
    streams.cuts(adapter, raw, range(0, len(raw), 3))
    for length in range(0, len(raw), 11):
        streams.prefix(adapter, raw, length, events)
    if isinstance(events[-1], TurnComplete):
        streams.section(adapter, events)
    return events


def call(index: int | None, arguments: str | None = None, name: str | None = None, id: str | None = None) -> Any:
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": id, "type": "function" if id else None, "function": function}
    fields = {key: value for key, value in entry.items() if value is not None}
    return {**fields, "function": {key: value for key, value in function.items() if value is not None}}


def calls(*entries: Any) -> dict[str, Any]:
    return {"tool_calls": list(entries)}


def summary(events: Iterable[StreamEvent]) -> list[Any]:
    """Return a summary of the turn: texts, and calls as id, name and arguments."""
    contents = [c for choice in fold(events).choices for message in choice.messages for c in message.contents]
    return [
        (c.call_id, c.name, c.arguments) if isinstance(c, FunctionCallContent) else getattr(c, "text", c)
        for c in contents
    ]


# -- failures ----------------------------------------------------------------------------------------------------------

MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None}
USAGE = {"input_tokens": 1, "output_tokens": 1}
START = {"type": "message_start", "message": {**MESSAGE, "stop_sequence": None, "usage": USAGE}}


def begun(place: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": place, "content_block": block}


def more(place: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": place, "delta": delta}


def ended(place: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": place}


def over(reason: str = "end_turn") -> list[dict[str, Any]]:
    end = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": USAGE}
    return [end, {"type": "message_stop"}]


CREATED = {
    "type": "response.created",
    "response": {"id": "r", "object": "response", "created_at": 1, "model": "g", "status": "in_progress", "output": []},
}
ITEM = {"type": "message", "id": "m1", "role": "assistant", "status": "in_progress", "content": []}
CALLED = {"type": "function_call", "id": "f1", "call_id": "a", "name": "f", "arguments": "", "status": "in_progress"}


def added(item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def delta_event(kind: str, delta: str, **rest: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": 0, "delta": delta, **rest}


def last(status: str, **rest: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {**CREATED["response"], "status": status, **rest}}  # type: ignore[dict-item]


def candidate(*parts: Any, finish: str | None = None, number: int = 0, **rest: Any) -> dict[str, Any]:
    fields = {"content": {"parts": list(parts), "role": "model"}, "index": number, **rest}
    return {
        "candidates": [{**fields, "finishReason": finish} if finish else fields],
        "responseId": "r",
        "modelVersion": "g",
    }


BEGINNING = {
    "openai-chat": sse(chunk({"content": "Half"})),
    "anthropic-messages": sse(START, begun(0, {"type": "text", "text": ""}), more(0, type="text_delta", text="Half")),
    "openai-responses": sse(CREATED, added(ITEM), delta_event("output_text", "Half", content_index=0)),
    "google-generate-content": sse(candidate({"text": "Half"})),
}
BOOM = {"code": "boom", "message": "It broke"}
FAILING = [
    ("openai-chat", sse({"error": BOOM})),
    ("openai-chat", sse({"error": BOOM}, name="error")),
    ("openai-chat", sse(BOOM, name="error")),
    ("openai-chat", sse({"error": BOOM, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]})),
    ("anthropic-messages", sse({"type": "error", "error": {"type": "boom", "message": "It broke"}})),
    ("anthropic-messages", sse({"type": "error", "error": {"type": "boom", "message": "It broke"}}, name="error")),
    ("openai-responses", sse({"type": "error", **BOOM, "param": None, "sequence_number": 3})),
    ("openai-responses", sse({"type": "error", "error": BOOM})),
    ("openai-responses", sse({"error": BOOM})),
    ("openai-responses", sse(last("failed", error=BOOM))),
    ("openai-responses", sse({"type": "error", "error": BOOM}, last("failed", error=BOOM))),
    ("openai-responses", sse({"type": "error", "error": BOOM}, last("failed", error=None))),
    ("google-generate-content", sse({"error": {"code": 503, "message": "It broke", "status": "boom"}})),
]


@pytest.mark.parametrize(("api", "failure"), FAILING)
def test_stream_decoder_keeps_the_text_before_an_error(api: str, failure: bytes) -> None:
    events = lawful(api, BEGINNING[api] + failure)
    assert isinstance(events[-1], TurnError)
    assert (events[-1].error.code, events[-1].error.message) == ("boom", "It broke")
    assert fold(events).text == "Half"
    assert fold(events).error == events[-1].error


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("openai-chat", {"error": BOOM}),
        ("openai-responses", {"error": BOOM}),
        ("anthropic-messages", {"type": "error", "error": {"type": "boom", "message": "It broke"}}),
        ("google-generate-content", {"error": {"code": 400, "message": "It broke", "status": "boom"}}),
        ("google-generate-content", [{"error": {"code": 400, "message": "It broke", "status": "boom"}}]),
    ],
)
def test_stream_decoder_reads_an_error_body_instead_of_a_stream(api: str, body: Any, indent: int | None) -> None:
    (event,) = lawful(api, json.dumps(body, indent=indent).encode())
    assert isinstance(event, TurnError)
    assert (event.error.code, event.error.message) == ("boom", "It broke")


@pytest.mark.parametrize("api", APIS)
def test_stream_decoder_reads_an_answer_that_is_not_streamed(api: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    for record in records(api, "response"):
        response = adapter.decode_response(record["body"])
        if record["status"] in (200, None) and response.choices and response.finish_reason:
            folded = fold(streams.decode(adapter, [json.dumps(record["body"]).encode()]))
            assert summary(unfold(folded)) == summary(unfold(response)), record["id"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("rest", [b"data: {oops\n\n", b"data: 17\n\n", b'data: "text"\n\n', b"data: \xff\n\n"])
def test_stream_decoder_ends_turn_if_event_is_malformed(api: str, rest: bytes) -> None:
    events = lawful(api, BEGINNING[api] + rest + BEGINNING[api])
    assert isinstance(events[-1], TurnError)
    assert events[-1].error.code == "stream_malformed"
    assert fold(events).text == "Half"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("event", [b"{oops", "17", b"\xff"])
def test_feed_event_ends_turn_if_event_is_malformed(api: str, event: Any) -> None:
    decoder = contentmodel.adapter(api).stream_decoder()  # type: ignore[attr-defined]
    *_, last = [*decoder.feed_event(event), *decoder.close()]
    assert isinstance(last, TurnError)
    assert last.error.code == "stream_malformed"


@pytest.mark.parametrize("api", APIS)
def test_stream_decoder_ends_turn_if_value_has_a_wrong_type(api: str) -> None:
    wrong = {
        "openai-chat": chunk(
            {"tool_calls": [{"index": 0, "function": [1]}, {"index": 0, "function": {"arguments": "{"}}]}
        ),
        "anthropic-messages": more(0, type=["text_delta"], text="x"),
        "openai-responses": delta_event("output_text", "x", content_index=0) | {"output_index": {"a": 1}},
        "google-generate-content": candidate("text"),
    }
    events = lawful(api, BEGINNING[api] + sse(wrong[api]))
    assert isinstance(events[-1], TurnError)
    assert fold(events).text == "Half"


# -- incomplete calls --------------------------------------------------------------------------------------------------


def part(**fields: Any) -> dict[str, Any]:
    return {"functionCall": fields}


TOOL = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
CITY = [{"jsonPath": "$.city", "stringValue": "Lon", "willContinue": True}]
HALVES = {
    "openai-chat": sse(chunk(calls(call(0, '{"city":"Lon', "f", "a")))),
    "anthropic-messages": sse(START, begun(0, TOOL), more(0, type="input_json_delta", partial_json='{"city":"Lon')),
    "openai-responses": sse(CREATED, added(CALLED), delta_event("function_call_arguments", '{"city":"Lon')),
    "google-generate-content": sse(
        candidate(part(name="f", willContinue=True)), candidate(part(partialArgs=CITY, willContinue=True))
    ),
}


@pytest.mark.parametrize("api", APIS)
def test_stream_decoder_marks_a_truncated_call_as_incomplete(api: str) -> None:
    events = lawful(api, HALVES[api])
    assert isinstance(events[-1], TurnError)
    (content,) = fold(events).messages[0].contents
    assert (content.name, content.status) == ("f", "incomplete")
    assert "Lon" in str(content.arguments)
    assert not next(event for event in events if isinstance(event, BlockStop)).is_complete


@pytest.mark.parametrize(
    ("api", "end"),
    [
        ("openai-responses", [last("incomplete", incomplete_details={"reason": "max_output_tokens"})]),
        ("openai-responses", [last("cancelled")]),
        ("google-generate-content", [candidate(finish="MAX_TOKENS")]),
        ("google-generate-content", [candidate({"text": "x"}), candidate(finish="STOP")]),
        ("google-generate-content", [candidate(part(name="g", args={})), candidate(finish="STOP")]),
    ],
)
def test_stream_decoder_marks_an_incomplete_call_if_the_turn_completes(api: str, end: list[Any]) -> None:
    events = lawful(api, HALVES[api] + sse(*end))
    content = fold(events).messages[0].contents[0]
    assert (content.name, content.status) == ("f", "incomplete")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (5, "expected a ChatResponse, got int"),
        (contentmodel.ChatRequest(), "expected a ChatResponse, got ChatRequest"),
        (ChatResponse(choices=5), "at $.choices"),  # type: ignore[arg-type]
    ],
)
def test_unfold_refuses_a_value_that_is_not_a_response(value: Any, fault: str) -> None:
    with pytest.raises(contentmodel.EncodeError, match=re.escape(fault)):
        contentmodel.unfold(value)


def test_incomplete_arguments_stay_text_and_raise_when_parsed() -> None:
    raw = HALVES["anthropic-messages"] + sse(ended(0), *over("max_tokens"))
    (content,) = fold(streams.decode(contentmodel.adapter("anthropic-messages"), [raw])).messages[0].contents
    assert content.arguments == '{"city":"Lon'
    with pytest.raises(ToolArgumentsError):
        _ = content.arguments_object


# -- Messages, Responses, generateContent ------------------------------------------------------------------------------


def test_anthropic_stream_decoder_keeps_unknown_blocks_deltas_and_events() -> None:
    unknown = {"type": "hologram", "frames": []}
    events = lawful(
        "anthropic-messages",
        sse(
            START,
            begun(0, unknown),
            more(0, type="frame_delta", frame=7),
            ended(0),
            begun(1, {"type": "text", "text": "a"}),
            more(1, type="text_delta", text="b", tone="calm"),
            ended(1),
            {"type": "weather", "sky": "blue"},
            *over(),
        ),
    )
    contents = fold(events).messages[0].contents
    assert contents[0].block == {**unknown, "frame": 7}
    assert contents[1].text == "ab"
    assert [e.delta for e in events if isinstance(e, UnknownDelta)] == [
        {"type": "frame_delta", "frame": 7},
        {"type": "text_delta", "tone": "calm"},
    ]
    assert [e.data for e in events if isinstance(e, WireEvent)] == [{"type": "weather", "sky": "blue"}]


def test_responses_stream_decoder_keeps_an_unknown_item() -> None:
    item = {"type": "hologram", "id": "h", "status": "completed", "x": 1}
    begins = added({**item, "status": "in_progress"})
    progress = {"type": "response.hologram.shown", "output_index": 0, "angle": 3}
    end = {"type": "response.output_item.done", "output_index": 0, "item": item}
    events = lawful("openai-responses", sse(CREATED, begins, progress, end, last("completed", output=[item])))
    assert fold(events).messages[0].contents[0].block == item
    assert [e.data for e in events if isinstance(e, WireEvent)] == [progress]


def test_responses_stream_decoder_ignores_deltas_after_the_end_of_an_item() -> None:
    whole = {**ITEM, "status": "completed", "content": [{"type": "output_text", "text": "Half", "annotations": []}]}
    late = [
        delta_event("output_text", " more", content_index=0),
        {"type": "response.content_part.added", "output_index": 0, "content_index": 1, "part": whole["content"][0]},
        {
            "type": "response.output_text.annotation.added",
            "output_index": 0,
            "content_index": 0,
            "annotation": {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1},
        },
    ]
    end = {"type": "response.output_item.done", "output_index": 0, "item": whole}
    raw = BEGINNING["openai-responses"] + sse(end, *late, last("completed", output=[whole]))
    events = lawful("openai-responses", raw)
    assert summary(events) == ["Half"]
    assert fold(events).messages[0].contents[0].annotations is None
    assert [e.data for e in events if isinstance(e, WireEvent)] == late


def test_google_stream_decoder_merges_partial_arguments() -> None:
    entries = [
        {"jsonPath": "$.city", "stringValue": "don"},
        {"jsonPath": "$.days", "numberValue": 3},
        {"jsonPath": "$.list[0]", "boolValue": True},
        {"jsonPath": "$.list[1]", "nullValue": None},
        {"jsonPath": "$.deep.er", "stringValue": "x"},
    ]
    raw = HALVES["google-generate-content"] + sse(
        candidate({"text": ""}),
        candidate(part(partialArgs=entries, willContinue=True)),
        candidate(part()),
        candidate(finish="STOP"),
    )
    (content,) = fold(lawful("google-generate-content", raw)).messages[0].contents
    assert content.arguments == {"city": "London", "days": 3, "list": [True, None], "deep": {"er": "x"}}
    assert content.status is None


def test_google_stream_decoder_completes_a_call_without_will_continue() -> None:
    entries = [{"jsonPath": "$.a", "numberValue": 1}]
    events = lawful(
        "google-generate-content",
        sse(
            candidate(part(name="f", partialArgs=entries)), candidate(part(name="g", args={})), candidate(finish="STOP")
        ),
    )
    calls = fold(events).messages[0].contents
    assert [(c.name, c.arguments, c.status) for c in calls] == [("f", {"a": 1}, None), ("g", {}, None)]


def test_google_stream_decoder_reads_candidates_signatures_and_grounding() -> None:
    grounding = {
        "webSearchQueries": ["q"],
        "groundingChunks": [{"web": {"uri": "u", "title": "t"}}],
        "groundingSupports": [
            {"segment": {"startIndex": 0, "endIndex": 2, "partIndex": 1}, "groundingChunkIndices": [0]}
        ],
    }
    events = lawful(
        "google-generate-content",
        sse(
            candidate({"text": "hm", "thought": True}),
            candidate({"text": "x"}, number=1),
            candidate({"text": "a"}),
            candidate({"text": "b"}),
            candidate({"text": "y"}, number=1, finish="MAX_TOKENS"),
            candidate({"text": "", "thoughtSignature": "c2ln"}, finish="STOP", groundingMetadata=grounding),
        ),
    )
    first, second = fold(events).choices
    thought, text, sealed, search, result = first.messages[0].contents
    assert isinstance(thought, ReasoningContent)
    assert (thought.text, text.text, sealed.text) == ("hm", "ab", "")
    assert sealed.protected.data == "c2ln"
    assert [citation.url for citation in text.annotations] == ["u"]
    assert search.arguments == {"queries": ["q"]}
    assert [output.uri for output in result.outputs] == ["u"]
    assert (second.messages[0].text, second.finish_reason.reason) == ("xy", "length")


def test_google_stream_decoder_reads_a_blocked_prompt_as_a_complete_turn() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "r"}
    adapter = contentmodel.adapter("google-generate-content")
    events = streams.decode(adapter, [sse(blocked)])
    assert isinstance(events[-1], TurnComplete)
    assert fold(events) == adapter.decode_response(blocked)


def test_google_stream_decoder_reads_an_array_of_chunks() -> None:
    chunks = [candidate({"text": 'a{"'}), candidate({"text": "\\]}"}, finish="STOP")]
    events = lawful("google-generate-content", json.dumps(chunks, indent=1).encode())
    assert summary(events) == ['a{"\\]}']
