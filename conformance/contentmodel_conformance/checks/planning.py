"""The checks of plans: a step that a plan leaves out has no work."""

from __future__ import annotations

from functools import partial

from contentmodel_conformance.checks.crossing import along
from contentmodel_conformance.checks.recorded import crossing
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.planning import planning, planning_of
from contentmodel_conformance.strategies.model import requests
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


@check(planning, "crossing", "conversations, from and to every other API", "others")
def generated(subject: Subject, trial: Trial) -> None:
    along(trial, subject, planning, "request")


@check(planning, "any", "any requests of the model")
def values(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        trial.each(requests(), partial(planning_of, subject.adapter))


@check(planning, "recorded", "recorded requests, from and to every other API", "corpus", "others")
def recorded(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, planning, "request")
