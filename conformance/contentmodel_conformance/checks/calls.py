"""The checks of calls: ids that repeat or are missing, results of half-answered turns, and the paths of losses."""

from __future__ import annotations

from functools import partial

from contentmodel_conformance import calls, laws
from contentmodel_conformance.checks.crossing import along
from contentmodel_conformance.checks.recorded import crossing
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.strategies.calls import call_transcripts
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

_ON = "transcripts with repeated and missing ids, half-answered turns and instructions between results"


@check(calls.answered_calls, "foreign", _ON)
def answered(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        trial.each(call_transcripts(), partial(calls.answered_calls, subject.adapter), "request")


@check(laws.prefixes, "calls", _ON)
def prefixes(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        trial.each(call_transcripts(), partial(laws.prefixes, subject.adapter), "request")


@check(calls.loss_paths, "crossing", "requests, from and to every other API", "others")
def paths(subject: Subject, trial: Trial) -> None:
    along(trial, subject, calls.loss_paths, "request")


@check(calls.unique_ids, "recorded", "recorded requests, from and to every other API", "corpus", "others")
def recorded_ids(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, calls.unique_ids, "request")
