"""The checks of streams, on streams that the adapter encodes: of answers of its own API and of other APIs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import replace

from contentmodel import ChatMessage
from contentmodel.content.tools import ToolCallContent
from contentmodel.events import fold
from contentmodel.framing import stream_format_of
from contentmodel.json import write
from contentmodel.unfolding import unfold
from contentmodel_conformance import laws, streams
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.values import FOREIGN_ORIGIN, as_foreign
from contentmodel_conformance.choice_order import last_choice_first, stream_choices
from contentmodel_conformance.late_texts import stream_late_texts
from contentmodel_conformance.oracles.accumulators import CannotAccumulate
from contentmodel_conformance.strategies.damage import bytes_of, flips, mixed_up, out_of_order
from contentmodel_conformance.strategies.mixed import late_events, mixed_answers
from contentmodel_conformance.strategies.sdk import json_values, sdk_members
from contentmodel_conformance.strategies.transcripts import answers
from contentmodel_conformance.subject import Subject, is_source, limits_of, samples
from contentmodel_conformance.trying import Law, Trial

SampledAnswer = tuple[Any, int | None]
"""An answer, and the size of its deltas in characters; None: whole."""

Body = list[dict[str, Any]]
"""The events of a stream as {event?, data}."""

ALL_UP_TO = 2_000
"""Streams up to this many bytes are cut at every byte."""


def sampled_answers(subject: Subject) -> st.SearchStrategy[SampledAnswer]:
    """Draw answers of an API without an adapter, and of this API if its limits are set, with a delta size each."""
    drawn = answers("anthropic-messages").map(as_foreign)
    if subject.limits is not None:
        drawn = answers(subject.api, subject.limits) | drawn
    return st.tuples(drawn, st.sampled_from((None, 1, 3, 7)))


def events_of(one: SampledAnswer) -> list[Any]:
    """Return the events that an answer unfolds to."""
    response, size = one
    return list(unfold(response, size=size))


def raw_of(adapter: Any, one: SampledAnswer) -> bytes:
    """Return the bytes of the stream that an adapter encodes an answer to."""
    return streams.encode(adapter, events_of(one))[0]


def frames_in(adapter: Any, raw: bytes) -> list[bytes]:
    """Split the bytes of a stream after every event."""
    return stream_format_of(adapter).split(raw)


def body_in(adapter: Any, raw: bytes) -> Body:
    """Return the events of a stream as {event?, data}; [] if they are not written in the adapter's stream format."""
    form = stream_format_of(adapter)
    frames = form.framing().feed(raw)
    if b"".join(form.write(data, name) for name, data in frames) != raw:
        return []
    return [{**({} if name is None else {"event": name}), "data": _data(data)} for name, data in frames]


def _data(text: bytes) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text.decode()
    return value if isinstance(value, dict) else text.decode()


def of_raw(subject: Subject, law: Callable[[Any, bytes], Any]) -> Law:
    """Turn a law of a stream's bytes into a law of an answer."""
    return lambda one: law(subject.adapter, raw_of(subject.adapter, one))


def of_events(subject: Subject, law: Callable[[Sequence[Any]], Any]) -> Law:
    """Turn a law of a stream's events into a law of an answer: its bytes are decoded to events."""
    return lambda one: law(streams.decode(subject.adapter, [raw_of(subject.adapter, one)]))


# -- cut and spelled ---------------------------------------------------------------------------------------------------


@check(
    streams.cuts,
    "written",
    "streams that the adapter wrote, cut between and inside events and characters; short ones at every byte",
    "streams",
)
def cuts(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[SampledAnswer, list[int]]) -> None:
        raw = raw_of(subject.adapter, case[0])
        inside = [at for at, byte in enumerate(raw) if 0x80 <= byte < 0xC0]
        streams.cuts(subject.adapter, raw, [*(place % (len(raw) + 1) for place in case[1]), *inside])
        if len(raw) <= ALL_UP_TO:
            streams.cuts(subject.adapter, raw, range(len(raw)))

    trial.each(st.tuples(sampled_answers(subject), st.lists(st.integers(0, 1_000_000), max_size=20)), law)


@check(streams.spellings, "written", "streams that the adapter wrote in its stream format", "streams")
def spellings(subject: Subject, trial: Trial) -> None:
    trial.each(sampled_answers(subject), of_raw(subject, _spellings))


def _spellings(adapter: Any, raw: bytes) -> None:
    if not body_in(adapter, raw):
        raise laws.Refused
    streams.spellings(adapter, raw, stream_format_of(adapter))


@check(streams.readings, "written", "streams that the adapter wrote in its stream format", "streams")
def readings(subject: Subject, trial: Trial) -> None:
    trial.each(sampled_answers(subject), of_raw(subject, _readings))


def _readings(adapter: Any, raw: bytes) -> None:
    body = body_in(adapter, raw)
    if not body:
        raise laws.Refused
    streams.readings(adapter, body)


@check(stream_choices, "written", "streams with several choices that the adapter wrote", "streams")
def choices(subject: Subject, trial: Trial) -> None:
    adapter, drawn = subject.adapter, answers("anthropic-messages").map(as_foreign)
    if not last_choice_first(_body_of_all(adapter, [samples("response")[-1]] * 2)):
        trial.note("its streams have one choice")
        return
    trial.each(st.lists(drawn, min_size=2, max_size=3), partial(_choices, adapter))


def _choices(adapter: Any, responses: list[Any]) -> None:
    body = _body_of_all(adapter, responses)
    turned = last_choice_first(body)
    if not turned:
        raise laws.Refused
    stream_choices(adapter, body, turned)


def _body_of_all(adapter: Any, responses: Sequence[Any]) -> Body:
    """Return the events of a stream whose choices are those of several answers."""
    choices = [choice for response in responses for choice in response.choices]
    return body_in(adapter, raw_of(adapter, (replace(responses[0], choices=choices), 3)))


@check(streams.separation, "written", "two streams that the adapter wrote, decoded in turns", "streams")
def separation(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[SampledAnswer, SampledAnswer, int]) -> None:
        one, other, size = case
        streams.separation(subject.adapter, raw_of(subject.adapter, one), raw_of(subject.adapter, other), size)

    trial.each(st.tuples(sampled_answers(subject), sampled_answers(subject), st.integers(1, 300)), law)


# -- events ------------------------------------------------------------------------------------------------------------


@check(streams.order, "written", "streams that the adapter wrote", "streams")
def order(subject: Subject, trial: Trial) -> None:
    trial.each(sampled_answers(subject), of_events(subject, streams.order))


@check(streams.deltas, "written", "streams that the adapter wrote", "streams")
def deltas(subject: Subject, trial: Trial) -> None:
    trial.each(sampled_answers(subject), of_events(subject, streams.deltas))


@check(streams.snapshots, "written", "streams that the adapter wrote, at every event", "streams")
def snapshots(subject: Subject, trial: Trial) -> None:
    trial.each(
        sampled_answers(subject), of_events(subject, lambda events: streams.snapshots(events, range(len(events))))
    )


@check(streams.section, "written", "streams that the adapter wrote", "streams")
def section(subject: Subject, trial: Trial) -> None:
    trial.each(sampled_answers(subject), of_events(subject, lambda events: streams.section(subject.adapter, events)))


@check(streams.unfolding, "folded", "responses that its streams fold to", "streams")
def unfolding(subject: Subject, trial: Trial) -> None:
    def law(events: Sequence[Any]) -> None:
        for size in (None, 1, 7):
            streams.unfolding(fold(events), size)

    trial.each(sampled_answers(subject), of_events(subject, law))


# -- encoding ----------------------------------------------------------------------------------------------------------


@check(streams.encoding, "written", "streams that the adapter wrote", "streams")
def encoding(subject: Subject, trial: Trial) -> None:
    trial.each(sampled_answers(subject), of_events(subject, lambda events: streams.encoding(subject.adapter, events)))


@check(streams.encoding, "sdk-places", "streams of answers with each member of the SDK's types", "types", "streams")
def of_members(subject: Subject, trial: Trial) -> None:
    def law(payload: Any) -> None:
        response = subject.adapter.decode_response(payload)
        raw, _ = streams.encode(subject.adapter, unfold(response))
        streams.encoding(subject.adapter, streams.totality(subject.adapter, [raw]))

    for name, payloads in sorted(sdk_members(subject.api, "response").items()):
        trial.each(payloads, law, name, share=0.04)


@check(streams.crossing, "foreign", "answers of other APIs, known and unknown, encoded as its stream", "streams")
def crossing(subject: Subject, trial: Trial) -> None:
    sources = [("anywhere", answers("anthropic-messages").map(as_foreign))]
    others = filter(is_source, subject.others_by_kind["response"])
    sources += [(other.api, answers(other.api, limits_of(other))) for other in others]
    for name, strategy in sources:
        cases = st.tuples(strategy, st.sampled_from((None, 1, 3, 7)))
        trial.each(cases, lambda case: streams.crossing(subject.adapter, events_of(case)), name)


@check(streams.crossing, "mixed", "answers with texts between other contents, encoded as its stream", "streams")
def mixed_crossing(subject: Subject, trial: Trial) -> None:
    cases = st.tuples(mixed_answers(FOREIGN_ORIGIN), st.sampled_from((None, 1, 3, 7)))
    trial.each(cases, lambda one: streams.crossing(subject.adapter, events_of(one)))


@check(stream_late_texts, "foreign", "answers of another API whose texts go on after other contents", "streams")
def late_texts(subject: Subject, trial: Trial) -> None:
    trial.each(late_events(FOREIGN_ORIGIN), partial(stream_late_texts, subject.adapter))


@check(
    streams.repetition, "foreign", "answers of other APIs, which their adapters encode and decode as streams", "streams"
)
def repetition(subject: Subject, trial: Trial) -> None:
    for other in subject.others:
        if not Subject(other, others=[subject.adapter]).no_streams:
            cases = st.tuples(mixed_answers(FOREIGN_ORIGIN), st.sampled_from((None, 3)))
            trial.each(cases, of_events(Subject(other), partial(streams.repetition, subject.adapter)), other.api)


@check(streams.unfinished, "turn", "a turn without an end", "streams")
def unfinished(subject: Subject, trial: Trial) -> None:
    trial.once(subject.api, lambda api: streams.unfinished(subject.adapter))


@check(streams.accumulation, "written", "streams that the adapter wrote", "accumulator")
def accumulation(subject: Subject, trial: Trial) -> None:
    def law(answer: SampledAnswer) -> None:
        try:
            streams.accumulation(subject.api, subject.adapter, events_of(answer))
        except CannotAccumulate:
            if _has_distinct_ids(answer) and not _has_halves(answer):
                raise
            raise laws.Refused("the SDK accepts neither two calls with one id nor half of a surrogate pair") from None

    trial.each(sampled_answers(subject), law, subject.api)


def _has_distinct_ids(one: SampledAnswer) -> bool:
    calls = [call.call_id for message in _messages(one) for call in message.tool_calls]
    return len(calls) == len(set(calls))


def _has_halves(one: SampledAnswer) -> bool:
    contents = (content for message in _messages(one) for content in message.contents)
    return any(b"\\ud" in write(call.arguments) for call in contents if isinstance(call, ToolCallContent))


def _messages(one: SampledAnswer) -> list[ChatMessage]:
    return [message for choice in one[0].choices for message in choice.messages]


# -- broken, mixed up, and noise ---------------------------------------------------------------------------------------


@check(streams.prefix, "written", "streams that the adapter wrote, broken off at any byte", "streams")
def broken_off(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[SampledAnswer, list[int]]) -> None:
        raw = raw_of(subject.adapter, case[0])
        whole = streams.decode(subject.adapter, [raw])
        for place in case[1]:
            streams.prefix(subject.adapter, raw, place % (len(raw) + 1), whole)

    trial.each(st.tuples(sampled_answers(subject), st.lists(st.integers(0, 1_000_000), min_size=1, max_size=9)), law)


@check(streams.malformed, "written", "streams that the adapter wrote, with an event that is not JSON", "streams")
def malformed(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[SampledAnswer, int]) -> None:
        raw = raw_of(subject.adapter, case[0])
        if not body_in(subject.adapter, raw):
            raise laws.Refused
        frames = frames_in(subject.adapter, raw)
        streams.malformed(subject.adapter, frames, stream_format_of(subject.adapter), case[1] % len(frames))

    trial.each(st.tuples(sampled_answers(subject), st.integers(0, 1_000)), law)


@check(
    streams.totality,
    "mixed-up",
    "streams that the adapter wrote, with events dropped, repeated or swapped, or with arbitrary JSON in them",
    "streams",
)
def mixed(subject: Subject, trial: Trial) -> None:
    bodies = written_bodies(subject.adapter)
    if not bodies:
        trial.note("its streams are not written in its stream format")
        return
    trial.each(damaged(bodies), lambda body: disordered(subject.adapter, body))


def written_bodies(adapter: Any) -> list[Body]:
    """Return a few streams that an adapter writes; [] if they are not written in its stream format."""
    return [body for one in _some() if (body := body_in(adapter, raw_of(adapter, one)))]


@st.composite
def damaged(draw: DrawFn, bodies: Sequence[Body]) -> Body:
    """Draw one of these streams, with its events mixed up."""
    body: Body = draw(mixed_up(draw(st.sampled_from(list(bodies)))))
    return body


@check(
    streams.conversion,
    "mixed-up",
    "streams that an adapter wrote, damaged or truncated, to its own API, and from and to every other API",
    "streams",
)
def converted(subject: Subject, trial: Trial) -> None:
    by_source: dict[Any, dict[str, Law]] = {}
    for source, target in stream_ways(subject):
        by_source.setdefault(source, {})[f"{source.api} to {target.api}"] = conversion_of(source, target)
    for source, by_target in by_source.items():
        bodies = written_bodies(source)
        if bodies:
            trial.each_of(st.tuples(damaged(bodies), st.none() | st.integers(0, 1_000_000)), by_target)


def stream_ways(subject: Subject) -> list[tuple[Any, Any]]:
    """Return every (source, target) pair for streams of the adapter, itself included."""
    adapter = subject.adapter
    others = [other for other in subject.others if not Subject(other, others=[adapter]).no_streams]
    out, back = [(adapter, other) for other in others], [(other, adapter) for other in others]
    return [(adapter, adapter), *out, *([] if subject.is_one_of_many else back)]


def conversion_of(source: Any, target: Any) -> Law:
    """Return the law of conversion for a stream and the offset at which it is truncated."""

    def law(case: tuple[Body, int | None]) -> None:
        body, place = case
        raw = bytes_of(body, stream_format_of(source))
        streams.conversion(source, target, [raw if place is None else raw[: place % (len(raw) + 1)]])

    return law


@check(
    streams.disorder, "turns", "turns whose events are dropped, repeated, swapped, or moved to another block", "streams"
)
def misordered(subject: Subject, trial: Trial) -> None:
    turns = [list(events_of(one)) for one in _some()]
    trial.each(out_of_order(turns), lambda events: streams.disorder(subject.adapter, events))


def disordered(adapter: Any, body: Body) -> None:
    """Check that invalid events raise nothing, end the turn, and decode alike as pieces, as a whole, and parsed."""
    frames = streams.frames_of(body, stream_format_of(adapter))
    events = streams.totality(adapter, frames)
    streams.same_events("cuts", events, streams.decode(adapter, [b"".join(frames)]))
    streams.readings(adapter, body)
    streams.snapshots(events, range(0, len(events), 5))


@check(streams.totality, "flipped", "streams that the adapter wrote, with some bytes changed", "streams")
def flipped(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[SampledAnswer, list[tuple[int, int]]]) -> None:
        streams.totality(subject.adapter, [with_flips(raw_of(subject.adapter, case[0]), case[1])])

    trial.each(st.tuples(sampled_answers(subject), flips()), law)


def with_flips(raw: bytes, places: Sequence[tuple[int, int]]) -> bytes:
    """Return the bytes with some of them replaced."""
    changed = bytearray(raw)
    for place, byte in places if raw else ():
        changed[place % len(raw)] = byte
    return bytes(changed)


@check(streams.totality, "bytes", "any bytes, and any JSON", "streams")
def noise(subject: Subject, trial: Trial) -> None:
    noises = st.binary(max_size=200) | st.lists(json_values, max_size=4).map(lambda v: json.dumps(v).encode())
    form = stream_format_of(subject.adapter)
    framed = json_values.map(lambda value: form.write(json.dumps(value).encode(), None))
    trial.each(noises | framed, lambda raw: streams.totality(subject.adapter, [raw]))


def _some() -> list[SampledAnswer]:
    """Return a few fixed answers, each with and without a delta size."""
    return [(value, size) for value in samples("response") for size in (None, 3)]
