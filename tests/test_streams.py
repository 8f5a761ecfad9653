"""Law 4: a stream, however it is cut, spelled, broken or mixed up, is the content of the answer that it carries."""

from __future__ import annotations

import copy
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, PROFILE, records
from contentmodel.content.tools import ToolCallContent
from contentmodel.events import BlockStart, TextDelta, TurnComplete, TurnError, fold
from contentmodel_conformance import streams
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.oracles.accumulators import CannotAccumulate, accumulated, comparable
from contentmodel_conformance.strategies.sdk import json_values

every_api = pytest.mark.parametrize("api", APIS)
# How many places of each recorded stream are tried, and up to which length all of them are.
PLACES, ALL_UP_TO = (400, 1_000_000) if PROFILE == "deep" else (30, 40_000)


class Recorded:
    """One recorded stream: its events as the wire has them, its bytes, and what they decode to."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.id: str = record["id"]
        self.record = record
        self.body: list[dict[str, Any]] = record["body"]
        self.adapter = contentmodel.adapter(record["api"])
        self.frames = streams.frames_of(self.body)
        self.raw = b"".join(self.frames)
        self.events = streams.decode(self.adapter, [self.raw])
        # What is random here, is the same in every run, whatever the order of the tests.
        self.random = random.Random(self.id)

    def places(self) -> list[int]:
        """Some places to cut the bytes at: between events, and inside of them."""
        ends = [0]
        for frame in self.frames:
            ends.append(ends[-1] + len(frame))
        inside = [self.random.randrange(1, len(self.raw)) for _ in range(PLACES)]
        return sorted({*self.random.sample(ends, min(PLACES, len(ends))), *inside})

    @property
    def wires(self) -> list[dict[str, Any]]:
        return [event["data"] for event in self.body if isinstance(event["data"], dict)]


@lru_cache
def recorded(api: str) -> list[Recorded]:
    return [Recorded(record) for record in records(api, "stream") if record["status"] in (200, None)]


def broken(api: str, law: Callable[[Recorded], Any]) -> list[str]:
    """The recorded streams that break a law, each with how."""
    found = []
    for stream in recorded(api):
        try:
            law(stream)
        except (LawBroken, contentmodel.ContentModelError) as error:
            found.append(f"{stream.id}: {error}")
    return found


def contradicts_itself(stream: Recorded) -> bool:
    """Whether the deltas of a text are not what the API says, at its end, that it was: some fixtures were shortened."""
    said: dict[Any, str] = defaultdict(str)
    for wire in stream.wires:
        place = wire.get("output_index"), wire.get("content_index")
        if wire.get("type") == "response.output_text.delta":
            said[place] += wire["delta"]
        elif wire.get("type") == "response.output_text.done" and said[place] != wire["text"]:
            return True
    return False


# -- whole, cut and spelled otherwise ----------------------------------------------------------------------------------


@every_api
def test_cutting_a_stream_changes_nothing(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        streams.cuts(stream.adapter, stream.raw, stream.places())
        if len(stream.raw) <= ALL_UP_TO:
            streams.cuts(stream.adapter, stream.raw, range(len(stream.raw)))

    assert broken(api, law) == []


@every_api
def test_events_that_somebody_else_cut_or_parsed_are_the_same(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        streams.same_events("frames", stream.events, streams.decode(stream.adapter, stream.frames))
        streams.readings(stream.adapter, stream.body)

    assert broken(api, law) == []


@every_api
def test_line_ends_comments_and_marks_change_nothing(api: str, corpus: Any) -> None:
    assert broken(api, lambda stream: streams.spellings(stream.adapter, stream.raw)) == []


@every_api
def test_two_streams_do_not_mix(api: str, corpus: Any) -> None:
    others = iter([*recorded(api)[1:], recorded(api)[0]])
    assert broken(api, lambda stream: streams.separation(stream.adapter, stream.raw, next(others).raw, 500)) == []


def test_the_transport_text_is_the_recorded_stream(corpus: Any) -> None:
    known = {stream.id: stream for api in APIS for stream in recorded(api)}
    compared = 0
    with (corpus / "recorded" / "raw-framing.jsonl").open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            stream = known.get(record["id"])
            if stream is not None:
                compared += 1
                raw = record["raw"].encode()
                assert streams.decode(stream.adapter, [raw]) == stream.events, record["id"]
                streams.cuts(stream.adapter, raw, range(0, len(raw), 777))
    assert compared > 0


# -- what the events say -----------------------------------------------------------------------------------------------


@every_api
def test_a_stream_folds_to_what_the_api_answers(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        if isinstance(stream.events[-1], TurnComplete):
            streams.section(stream.adapter, stream.events)

    assert broken(api, law) == []


@every_api
def test_every_recorded_stream_comes_to_its_end(api: str, corpus: Any) -> None:
    ends = {stream.id: stream.events[-1] for stream in recorded(api)}
    codes = {name: end.error.code for name, end in ends.items() if isinstance(end, TurnError)}
    assert not {"stream_ended", "stream_malformed"} & set(codes.values()), codes


@every_api
def test_events_come_in_order(api: str, corpus: Any) -> None:
    assert broken(api, lambda stream: streams.order(stream.events)) == []


@every_api
def test_deltas_tell_the_truth(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        if not contradicts_itself(stream):
            streams.deltas(stream.events)

    assert broken(api, law) == []


@every_api
def test_there_is_a_response_at_any_moment(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        streams.snapshots(stream.events, stream.random.sample(range(len(stream.events)), min(20, len(stream.events))))

    assert broken(api, law) == []


@every_api
def test_a_folded_stream_can_be_told_again(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        for size in (None, 1, 7):
            streams.unfolding(fold(stream.events), size)

    assert broken(api, law) == []


def test_the_answer_in_the_last_event_counts(corpus: Any) -> None:
    for stream in recorded("openai-responses"):
        last = stream.wires[-1].get("response")
        if last and last.get("output"):
            response = stream.adapter.decode_response(last)
            found = [message.contents for message in fold(stream.events).messages]
            assert found == [message.contents for message in response.messages], stream.id


# -- streams that break off --------------------------------------------------------------------------------------------


@every_api
def test_a_stream_that_breaks_off_keeps_what_came(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        for length in stream.places():
            streams.prefix(stream.adapter, stream.raw, length, stream.events)

    assert [
        told for told in broken(api, law) if not any(s.id in told for s in recorded(api) if contradicts_itself(s))
    ] == []


@every_api
def test_a_stream_may_break_off_at_every_byte(api: str, corpus: Any) -> None:
    shortest = sorted(recorded(api), key=lambda stream: len(stream.raw))[: 12 if PROFILE == "deep" else 3]
    for stream in shortest:
        for length in range(len(stream.raw)):
            streams.prefix(stream.adapter, stream.raw, length, stream.events)


@every_api
def test_a_frame_that_is_no_json_ends_the_turn_and_keeps_what_came(api: str, corpus: Any) -> None:
    for stream in recorded(api):
        place = stream.random.randrange(len(stream.frames))
        events = streams.decode(stream.adapter, [*stream.frames[:place], b'data: {"oops\n\n', *stream.frames[place:]])
        before = streams.decode(stream.adapter, stream.frames[:place])
        streams.order(events)
        if isinstance(before[-1], TurnError) and before[-1].error.code == "stream_ended":
            assert isinstance(events[-1], TurnError), stream.id
            assert events[-1].error.code == "stream_malformed", stream.id
            assert contents(events) == contents(before), stream.id


def contents(events: Any) -> list[Any]:
    return [c for choice in fold(events).choices for message in choice.messages for c in message.contents]


# -- streams that nobody would send ------------------------------------------------------------------------------------


def places_of(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places_of(item)


def mixed_up(body: list[dict[str, Any]], draw: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """A stream with events left out, doubled or swapped, and with values of another kind."""
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(body) - 1))
        other = draw(st.integers(0, len(body) - 1))
        change = draw(st.sampled_from(["drop", "double", "swap", "replace", "replace", "forget"]))
        found = list(places_of(body[at]["data"]))
        if change == "drop" and len(body) > 1:
            del body[at]
        elif change == "double":
            body.insert(other, copy.deepcopy(body[at]))
        elif change == "swap":
            body[at], body[other] = body[other], body[at]
        elif found:
            owner, key = draw(st.sampled_from(found))
            if change == "forget" and isinstance(owner, dict):
                del owner[key]
            else:
                owner[key] = draw(json_values)
    return body


@every_api
@given(data=st.data())
def test_events_that_are_mixed_up_raise_nothing(api: str, data: st.DataObject) -> None:
    pool = [stream for stream in recorded(api) if len(stream.body) < 150]
    if pool:
        stream = data.draw(st.sampled_from(pool))
        body = mixed_up(stream.body, data.draw)
        frames = streams.frames_of(body)
        events = streams.totality(stream.adapter, frames)
        streams.same_events("cuts", events, streams.decode(stream.adapter, [b"".join(frames)]))
        streams.readings(stream.adapter, body)
        streams.snapshots(events, range(0, len(events), 5))


@every_api
@given(data=st.data())
def test_bytes_that_are_flipped_raise_nothing(api: str, data: st.DataObject) -> None:
    pool = [stream for stream in recorded(api) if len(stream.raw) < 20_000]
    if pool:
        stream = data.draw(st.sampled_from(pool))
        raw = bytearray(stream.raw)
        for place, byte in data.draw(
            st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)), min_size=1, max_size=5)
        ):
            raw[place] = byte
        streams.totality(stream.adapter, [bytes(raw)])


@every_api
@given(raw=st.binary(max_size=200) | st.lists(json_values, max_size=4).map(lambda v: json.dumps(v).encode()))
def test_any_bytes_are_a_turn(api: str, raw: bytes) -> None:
    events = streams.totality(contentmodel.adapter(api), [raw])
    assert isinstance(events[-1], TurnComplete | TurnError)


# -- the official SDKs -------------------------------------------------------------------------------------------------

ACCUMULATING = [api for api in APIS if api != "google-generate-content"]


@pytest.mark.parametrize("api", ACCUMULATING)
@pytest.mark.filterwarnings("ignore")
def test_the_sdk_makes_the_same_of_a_stream(api: str, corpus: Any) -> None:
    refused = []
    for stream in recorded(api):
        try:
            theirs = accumulated(api, stream.wires)
        except CannotAccumulate:
            refused.append(stream)
            continue
        ours = stream.adapter.encode_response(fold(stream.events)).payload
        assert comparable(api, ours) == comparable(api, theirs), stream.id
    # What an SDK refuses is a host's own way, or a fixture, and few.
    assert all(stream.record["dialect"] or stream.record["provenance"] == "fixture" for stream in refused)
    assert len(refused) < len(recorded(api)) / 10


@pytest.mark.parametrize("api", ACCUMULATING)
@pytest.mark.parametrize("source", APIS)
@pytest.mark.filterwarnings("ignore")
def test_the_sdk_reads_what_was_written(source: str, api: str, corpus: Any) -> None:
    target = contentmodel.adapter(api)
    for stream in recorded(source):
        response = fold(stream.events)
        if response.error is not None or contradicts_itself(stream):
            continue
        raw, _ = streams.encode(target, stream.events)
        try:
            theirs = accumulated(api, sse_values(raw))
        except CannotAccumulate:
            assert is_beyond_the_sdk(stream, api), stream.id
            continue
        ours = target.encode_response(fold(streams.decode(target, [raw]))).payload
        if stream.events[0].response.id != response.id:
            # Hosts that change it on the way: the SDKs keep the first one, or the last.
            ours, theirs = {**ours, "id": ""}, {**theirs, "id": ""}
        assert comparable(api, ours) == comparable(api, theirs), stream.id


def is_beyond_the_sdk(stream: Recorded, api: str) -> bool:
    """Whether the SDK cannot read it from anybody: it could not before."""
    if stream.adapter.api != api:
        return False
    try:
        accumulated(api, stream.wires)
    except CannotAccumulate:
        return True
    return False


def sse_values(raw: bytes) -> list[dict[str, Any]]:
    """The events of a stream as its SDK would parse them."""
    lines = (line[6:] for line in raw.split(b"\n") if line.startswith(b"data: "))
    return [json.loads(line) for line in lines if line != b"[DONE]"]


# -- written again -----------------------------------------------------------------------------------------------------


@every_api
def test_what_was_decoded_is_encoded(api: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        raw, losses = streams.encode(stream.adapter, stream.events)
        assert not losses or contradicts_itself(stream), stream.id
        again = streams.decode(stream.adapter, [raw])
        streams.order(again)
        streams.same("encoding", fold(stream.events), fold(again))

    assert broken(api, law) == []


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in APIS for b in APIS if a != b])
def test_a_stream_of_another_api_says_the_same(source: str, target: str, corpus: Any) -> None:
    def law(stream: Recorded) -> None:
        if contradicts_itself(stream):
            return
        streams.crossing(contentmodel.adapter(target), stream.events)

    assert broken(source, law) == []


@every_api
def test_a_turn_that_is_not_over_is_written_as_one_that_failed(api: str) -> None:
    adapter = contentmodel.adapter(api)
    told = [BlockStart(index=0, content=contentmodel.TextContent(text="")), TextDelta(index=0, text="Half of it")]
    events = streams.decode(adapter, [streams.encode(adapter, told)[0]])
    assert isinstance(events[-1], TurnError)
    assert fold(events).text == "Half of it"


# -- the same exchange, without streaming ------------------------------------------------------------------------------


def asked(record: dict[str, Any], requests: dict[str, Any]) -> str | None:
    """What was asked, as a key; None where it was not recorded. How it was to be delivered is no part of it."""
    request = requests.get(record.get("request_id") or "")
    if request is None:
        return None
    body = {key: value for key, value in request["body"].items() if key not in ("stream", "stream_options")}
    return json.dumps([record["model"], body], sort_keys=True)


def twins(api: str) -> Iterator[tuple[Recorded, Any]]:
    """Recorded streams, each with what the same request gave without streaming."""
    requests = {record["id"]: record for record in records(api, "request")}
    answers = defaultdict(list)
    for record in records(api, "response"):
        answers[asked(record, requests)].append(record)
    for stream in recorded(api):
        key = asked(stream.record, requests)
        for answer in answers[key] if key is not None else ():
            yield stream, stream.adapter.decode_response(answer["body"])


def gist(content: Any) -> Any:
    """A content without what is new in every answer: ids, opaque state, residue, thoughts, and what a search found."""
    calls = content.arguments_object if isinstance(content, ToolCallContent) else None
    sources = [(citation.url, citation.title) for citation in content.annotations or ()]
    outputs = {type(output).__name__ for output in getattr(content, "outputs", ())}
    words = content.text if isinstance(content, contentmodel.TextContent) else None
    return type(content).__name__, words, getattr(content, "name", None), calls, sources, outputs


def gists(response: Any) -> list[Any]:
    """Every content but texts without words: generateContent puts a signature on one of its own, when it streams."""
    found = [content for message in response.messages for content in message.contents]
    return [gist(c) for c in found if not isinstance(c, contentmodel.TextContent) or c.text]


def said(response: Any) -> list[Any]:
    """The words and calls of an answer: where two have the same, the model answered the same twice."""
    found = [content for message in response.messages for content in message.contents]
    return [response.text, *[c.arguments_object for c in found if isinstance(c, ToolCallContent)]]


@every_api
def test_an_exchange_without_streaming_has_the_same_content(api: str, corpus: Any) -> None:
    pairs = [(stream.id, fold(stream.events), answer) for stream, answer in twins(api)]
    same = [pair for pair in pairs if said(pair[1]) == said(pair[2])]
    assert same
    for name, streamed, answer in same:
        assert gists(streamed) == gists(answer), name
        assert streamed.finish_reason == answer.finish_reason, name
