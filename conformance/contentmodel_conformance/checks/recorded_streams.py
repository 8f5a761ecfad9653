"""The checks on recorded streams: cut into pieces, respelled, truncated, folded, encoded again, and converted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from contentmodel.events import TurnComplete, fold
from contentmodel_conformance import laws, streams
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.streams import (
    Body,
    conversion_of,
    damaged,
    disordered,
    stream_ways,
    with_flips,
)
from contentmodel_conformance.differences import Label
from contentmodel_conformance.oracles.accumulators import CannotAccumulate, accumulated, comparable
from contentmodel_conformance.recordings import Record
from contentmodel_conformance.strategies.damage import flips, out_of_order
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

NEEDS = ("corpus", "streams")
PLACES = {False: 30, True: 400}
"""The number of offsets tried of each recorded stream, by `deep`."""
ALL_UP_TO = {False: 40_000, True: 1_000_000}
"""The length in bytes up to which every offset is tried, by `deep`."""
SHORT = 5000
"""The length in bytes up to which a stream is broken off at every byte. The work grows with its square."""


def recorded(subject: Subject, api: str | None = None) -> list[Record]:
    """Return the accepted recorded streams of the adapter's API, or of another."""
    assert subject.recordings is not None
    return subject.recordings.accepted(api or subject.api, "stream")


def each(subject: Subject, trial: Trial, law: Callable[[Record], None]) -> None:
    """Try a law on every recorded stream."""
    for record in recorded(subject):
        trial.once(record, law, source=record.source)


def events_of(subject: Subject, record: Record) -> Sequence[Any]:
    """Decode a recorded stream."""
    return streams.decode(subject.adapter, [record.raw])


def contradicts_itself(record: Record) -> bool:
    """Return whether the deltas of a text differ from its final text: some fixtures were shortened."""
    texts: dict[Any, str] = defaultdict(str)
    for wire in record.wires:
        place = wire.get("output_index"), wire.get("content_index")
        if wire.get("type") == "response.output_text.delta":
            texts[place] += wire["delta"]
        elif wire.get("type") == "response.output_text.done" and texts[place] != wire["text"]:
            return True
    return False


def unless_contradicted(record: Record) -> Record:
    """Return the record. Raises Refused if it contradicts itself: then it has no defined result."""
    if contradicts_itself(record):
        raise laws.Refused
    return record


# -- whole, split and respelled ----------------------------------------------------------------------------------------


@check(streams.cuts, "recorded", "recorded streams, cut at many offsets, and at every byte at once", *NEEDS)
def recorded_cuts(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        streams.cuts(subject.adapter, record.raw, record.places(PLACES[trial.deep]))
        if len(record.raw) <= ALL_UP_TO[trial.deep]:
            streams.cuts(subject.adapter, record.raw, range(len(record.raw)))

    each(subject, trial, law)


@check(streams.readings, "recorded", "recorded streams", *NEEDS)
def recorded_readings(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        frames = streams.decode(subject.adapter, record.frames)
        streams.same_events("readings (event by event)", events_of(subject, record), frames)
        streams.readings(subject.adapter, record.body)

    each(subject, trial, law)


@check(streams.spellings, "recorded", "recorded streams", *NEEDS)
def recorded_spellings(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda record: streams.spellings(subject.adapter, record.raw, record.stream_format))


@check(streams.separation, "recorded", "recorded streams, each with the next", *NEEDS)
def recorded_separation(subject: Subject, trial: Trial) -> None:
    records = recorded(subject)
    following = dict(zip([record.source for record in records], [*records[1:], *records[:1]], strict=True))
    each(
        subject,
        trial,
        lambda record: streams.separation(subject.adapter, record.raw, following[record.source].raw, 500),
    )


# -- events ------------------------------------------------------------------------------------------------------------


@check(streams.order, "recorded", "recorded streams", *NEEDS)
def recorded_order(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda record: streams.order(events_of(subject, record)))


@check(streams.ending, "recorded", "recorded streams", *NEEDS)
def recorded_endings(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda record: streams.ending(events_of(subject, record)))


@check(streams.deltas, "recorded", "recorded streams", *NEEDS)
def recorded_deltas(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda record: streams.deltas(events_of(subject, unless_contradicted(record))))


@check(streams.snapshots, "recorded", "recorded streams, at some events", *NEEDS)
def recorded_snapshots(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        events = events_of(subject, record)
        streams.snapshots(events, range(0, len(events), max(1, len(events) // 20)))

    each(subject, trial, law)


@check(streams.section, "recorded", "recorded streams that are complete", *NEEDS)
def recorded_section(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        events = events_of(subject, record)
        if isinstance(events[-1], TurnComplete):
            streams.section(subject.adapter, events)

    each(subject, trial, law)


@check(streams.last_word, "recorded", "recorded streams whose last event has the whole answer", *NEEDS)
def recorded_answers(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        last = record.wires[-1].get("response") if record.wires else None
        if not isinstance(last, dict) or not last.get("output"):
            raise laws.Refused
        streams.last_word(subject.adapter, events_of(subject, record), last)

    each(subject, trial, law)


@check(streams.unfolding, "recorded", "responses that recorded streams fold to", *NEEDS)
def recorded_unfolding(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        for size in (None, 1, 7):
            streams.unfolding(fold(events_of(subject, record)), size)

    each(subject, trial, law)


# -- broken off, broken, and mixed up ----------------------------------------------------------------------------------


@check(streams.prefix, "recorded", "recorded streams, broken off at many offsets; the shortest at every byte", *NEEDS)
def recorded_breaks(subject: Subject, trial: Trial) -> None:
    by_length = sorted(recorded(subject), key=lambda record: len(record.raw))
    shortest = [record for record in by_length[: 12 if trial.deep else 3] if len(record.raw) <= SHORT]

    def law(record: Record) -> None:
        unless_contradicted(record)
        whole = events_of(subject, record)
        places = range(len(record.raw)) if record in shortest else record.places(PLACES[trial.deep])
        for length in places:
            streams.prefix(subject.adapter, record.raw, length, whole)

    each(subject, trial, law)


@check(streams.malformed, "recorded", "recorded streams, with an event that is not JSON", *NEEDS)
def recorded_malformed(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        place = sum(record.id.encode()) % len(record.frames)
        streams.malformed(subject.adapter, record.frames, record.stream_format, place)

    each(subject, trial, law)


@check(
    streams.totality,
    "recorded-mixed-up",
    "recorded streams, with events dropped, repeated or swapped, or with arbitrary JSON in them",
    *NEEDS,
)
def recorded_mixed(subject: Subject, trial: Trial) -> None:
    pool = short_bodies(subject)
    if pool:
        trial.each(damaged(pool), lambda body: disordered(subject.adapter, body))


def short_bodies(subject: Subject) -> list[Body]:
    """Return the recorded streams that are short enough to be decoded many times."""
    return [record.body for record in recorded(subject) if 0 < len(record.body) < 150]


@check(
    streams.conversion,
    "recorded-mixed-up",
    "recorded streams, damaged or truncated, to its own API and to every other",
    *NEEDS,
)
def recorded_conversion(subject: Subject, trial: Trial) -> None:
    pool = short_bodies(subject)
    for source, target in stream_ways(subject) if pool else ():
        if source is subject.adapter:
            cases = st.tuples(damaged(pool), st.none() | st.integers(0, 1_000_000))
            trial.each(cases, conversion_of(source, target), target.api)


@check(
    streams.disorder,
    "recorded",
    "turns of recorded streams whose events are dropped, repeated, swapped, or moved to another block",
    *NEEDS,
)
def recorded_disorder(subject: Subject, trial: Trial) -> None:
    turns = [list(events_of(subject, record)) for record in recorded(subject) if 0 < len(record.body) < 50]
    if turns:
        trial.each(out_of_order(turns), lambda events: streams.disorder(subject.adapter, events))


@check(streams.totality, "recorded-flipped", "recorded streams, with some bytes changed", *NEEDS)
def recorded_flips(subject: Subject, trial: Trial) -> None:
    pool = [record.raw for record in recorded(subject) if 0 < len(record.raw) < 20_000]
    if pool:
        flipped = st.builds(with_flips, st.sampled_from(pool), flips())
        trial.each(flipped, lambda raw: streams.totality(subject.adapter, [raw]))


# -- encoded again, and converted --------------------------------------------------------------------------------------


@check(streams.encoding, "recorded", "recorded streams", *NEEDS)
def recorded_encoding(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        events = events_of(subject, record)
        streams.encoding(subject.adapter, events, losses=contradicts_itself(record))

    each(subject, trial, law)


@check(streams.crossing, "recorded", "recorded streams of every other API", *NEEDS, "others")
def recorded_crossing(subject: Subject, trial: Trial) -> None:
    _from_others(subject, trial, lambda record, events: streams.crossing(subject.adapter, events))


@check(streams.repetition, "recorded", "recorded streams of every other API", *NEEDS, "others")
def recorded_repetition(subject: Subject, trial: Trial) -> None:
    _from_others(subject, trial, lambda record, events: streams.repetition(subject.adapter, events))


@check(streams.accumulation, "recorded", "recorded streams of every API", "corpus", "accumulator")
def recorded_accumulation(subject: Subject, trial: Trial) -> None:
    def law(record: Record, events: Sequence[Any]) -> None:
        if fold(events).error is not None:
            raise laws.Refused
        is_own = record.data["api"] == subject.api
        if is_own and _is_beyond(record, subject.api):
            raise laws.Refused
        streams.accumulation(subject.api, subject.adapter, events)

    _from_others(subject, trial, law, itself=True)


def _is_beyond(record: Record, api: str) -> bool:
    """Return whether the SDK cannot read a recorded stream: it is a host's dialect, or a fixture."""
    try:
        accumulated(api, record.wires)
    except CannotAccumulate:
        return True
    return False


@check(streams.agreement, "recorded", "recorded streams that the SDK can read", "corpus", "accumulator")
def recorded_agreement(subject: Subject, trial: Trial) -> None:
    def law(record: Record) -> None:
        try:
            theirs = comparable(subject.api, accumulated(subject.api, record.wires))
        except CannotAccumulate as error:
            # Dialects of hosts and edited fixtures may be unreadable for the SDK.
            if record.data.get("dialect") or record.data.get("provenance") == "fixture":
                raise laws.Refused from None
            raise laws.LawBroken("agreement", "$", str(error), Label("what the SDK reads"), record.id) from None
        streams.agreement(subject.api, subject.adapter, events_of(subject, record), theirs)

    each(subject, trial, law)


def _from_others(
    subject: Subject, trial: Trial, law: Callable[[Record, Sequence[Any]], None], itself: bool = False
) -> None:
    """Try a law on the decoded recorded streams of the other APIs; with `itself`, also of this one."""
    for other in [*subject.others, *([subject.adapter] if itself else [])]:
        for record in recorded(subject, other.api):

            def tried(recording: Record, other: Any = other) -> None:
                law(unless_contradicted(recording), streams.decode(other, [recording.raw]))

            trial.once(record, tried, other.api, record.source)
