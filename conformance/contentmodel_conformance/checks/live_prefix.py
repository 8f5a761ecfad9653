"""The check of live blocks: arguments that are cut off, malformed or oddly spelled, from every source."""

from __future__ import annotations

from functools import partial

from contentmodel_conformance import streams
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.values import FOREIGN_ORIGIN
from contentmodel_conformance.laws import Refused
from contentmodel_conformance.live_prefix import live_prefix
from contentmodel_conformance.recordings import Record
from contentmodel_conformance.strategies.arguments import typed_calls
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


@check(
    live_prefix, "typed", "arguments cut off, malformed or spelled in any way, from every API and its own", "streams"
)
def typed(subject: Subject, trial: Trial) -> None:
    trial.each(typed_calls(FOREIGN_ORIGIN), partial(live_prefix, subject.adapter))
    for source in (subject.adapter, *subject.others):
        if not Subject(source, others=[]).no_streams:
            trial.each(typed_calls(FOREIGN_ORIGIN), partial(_from, source, subject.adapter), source.api, share=0.5)


def _from(source: object, target: object, events: streams.Events) -> None:
    raw, _ = streams.encode(source, events)
    live_prefix(target, streams.decode(source, [raw]))


@check(live_prefix, "recorded", "recorded streams of every API, encoded as its stream", "corpus", "streams")
def recorded(subject: Subject, trial: Trial) -> None:
    assert subject.recordings is not None
    for source in (subject.adapter, *subject.others):
        if Subject(source, others=[]).no_streams:
            continue
        for record in subject.recordings.accepted(source.api, "stream"):
            trial.once(record, partial(_recorded, source, subject.adapter), source=record.source)


def _recorded(source: object, target: object, record: Record) -> None:
    events = streams.decode(source, [record.raw])
    if type(events[-1]).__name__ == "TurnError":
        # A call that broke off is not written, or stays open.
        raise Refused
    live_prefix(target, events)
