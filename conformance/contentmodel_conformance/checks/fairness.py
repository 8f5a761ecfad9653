"""The checks of defects that other laws miss: swapped results, false losses, key order, depth, split surrogates."""

from __future__ import annotations

from contentmodel_conformance import fairness, laws
from contentmodel_conformance.checks.payloads import of, sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.values import ABROAD, AT_HOME, foreign, home, on_requests, on_values, repeated
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

on_values(fairness.pairing, "home", home, AT_HOME, "limits")
on_values(fairness.pairing, "foreign", foreign, ABROAD)
on_values(
    fairness.pairing, "repeated", repeated, "transcripts from an API without an adapter, their ids used again and again"
)
on_values(fairness.honesty, "foreign", foreign, ABROAD)
on_requests(fairness.policies, "foreign", foreign, "transcripts from an API without an adapter, thoughts in them")


@check(fairness.key_order, "payloads", "payloads of the SDK's types, of the adapter's own, and that it wrote")
def keys(subject: Subject, trial: Trial) -> None:
    for kind in subject.does:
        for label, payloads in sources(subject, kind):
            if label != "table":
                trial.each(payloads, of(subject, fairness.key_order, kind), f"{kind} {label}")


@check(laws.totality, "deep", "what it wrote, with up to 800 levels of nesting in an unknown field")
def depth(subject: Subject, trial: Trial) -> None:
    for kind in subject.does:
        for payload in subject.written(kind):
            for levels in fairness.LEVELS:
                for text in fairness.nested(payload, levels):
                    trial.once(text, of(subject, laws.totality, kind), f"{kind}, {levels} levels")


@check(fairness.surrogates, "written", "a stream that it wrote, an emoji in it cut in two", "streams")
def halves(subject: Subject, trial: Trial) -> None:
    trial.once(subject.api, lambda api: fairness.surrogates(subject.adapter))
