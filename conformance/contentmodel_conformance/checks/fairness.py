"""The checks of defects that other laws miss: swapped results, false losses, key order, depth, split surrogates."""

from __future__ import annotations

from contentmodel_conformance import fairness, laws
from contentmodel_conformance.checks.payloads import of, sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.values import FOREIGN, NATIVE, foreign, on_requests, on_values, own, repeated
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

on_values(fairness.pairing, "own", own, NATIVE, "limits")
on_values(fairness.pairing, "foreign", foreign, FOREIGN)
on_values(fairness.pairing, "repeated", repeated, "transcripts from an API without an adapter, with repeated ids")
on_values(fairness.honesty, "foreign", foreign, FOREIGN)
on_requests(fairness.policies, "foreign", foreign, "transcripts from an API without an adapter, with reasoning")


@check(
    fairness.key_order, "payloads", "payloads of the SDK's types, given payloads, and payloads that the adapter wrote"
)
def keys(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for label, payloads in sources(subject, kind):
            if label != "table":
                trial.each(payloads, of(subject, fairness.key_order, kind), f"{kind} {label}")


@check(laws.totality, "deep", "payloads that the adapter wrote, with up to 800 levels of nesting in an unknown field")
def depth(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for payload in subject.written(kind):
            for levels in fairness.LEVELS:
                for text in fairness.nested(payload, levels):
                    trial.once(text, of(subject, laws.totality, kind), f"{kind}, {levels} levels")


@check(
    fairness.surrogates, "written", "a stream that the adapter wrote, with an emoji split between two events", "streams"
)
def halves(subject: Subject, trial: Trial) -> None:
    trial.once(subject.api, lambda api: fairness.surrogates(subject.adapter))
