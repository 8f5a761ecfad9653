"""The checks of hosted tools: unknown tools, and forms of failure."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel.unfolding import unfold
from contentmodel_conformance import laws, streams
from contentmodel_conformance.checks.crossing import each_way
from contentmodel_conformance.checks.payloads import of
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.hosted import handmade, hosted, hosted_failures
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.oracles.hosted import FAILURES, SUCCESSES, payload_of
from contentmodel_conformance.strategies.handmade import handmade_turns
from contentmodel_conformance.strategies.hosted import surprising, unknown_tools
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


@check(hosted, "unknown", "requests and answers with a call of an unknown hosted tool and its result", "hosted")
def unknown(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        trial.each(unknown_tools(subject.api), partial(hosted, subject.adapter, kind), kind)


@check(laws.identity, "hosted", "calls and results of unknown hosted tools, with fields of unexpected types", "hosted")
def surprises(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        trial.each(_payloads(subject.api, kind, odd=True), of(subject, laws.disturbance, kind), kind)


@check(laws.conversion, "hosted", "calls and results of unknown hosted tools, to every other API", "hosted", "others")
def crossing(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        targets = subject.others_by_kind[kind]
        each_way(trial, _payloads(subject.api, kind), laws.conversion, subject.adapter, targets, kind)


@check(
    streams.encoding, "hosted", "streams of answers with calls and results of unknown hosted tools", "hosted", "streams"
)
def streamed(subject: Subject, trial: Trial) -> None:
    def law(payload: Any) -> None:
        raw, _ = streams.encode(subject.adapter, list(unfold(subject.adapter.decode_response(payload))))
        streams.encoding(subject.adapter, streams.decode(subject.adapter, [raw]))

    trial.each(_payloads(subject.api, "response"), law)


def _payloads(api: str, kind: str, *, odd: bool = False) -> st.SearchStrategy[Any]:
    blocks = surprising(api) if odd else unknown_tools(api)
    return blocks.map(lambda drawn: payload_of(api, kind, drawn))


@check(
    hosted_failures,
    "listed",
    "every form in which hosted tools of the API report a failure, and successes",
    "hosted_failures",
)
def failures(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        law = partial(hosted_failures, subject.adapter, kind)
        for name, blocks in FAILURES[subject.api].items():
            trial.once(blocks, law, f"{kind}: {name}")
        for name, blocks in SUCCESSES[subject.api].items():
            trial.once(blocks, partial(law, failed=False), f"{kind}: {name}, without a failure")


@check(handmade, "listed", "every kind of hosted call and result, created from fields of the model", "judge", "hosted")
def made_by_hand(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        law = partial(handmade, judge(subject.api, kind), subject.adapter, kind)
        for name, contents in handmade_turns(subject.api):
            trial.once(contents, law, f"{kind}: {name}")
