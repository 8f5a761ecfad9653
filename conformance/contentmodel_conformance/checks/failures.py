"""The checks of error bodies: every kind of error, from and to every other API."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from contentmodel import ErrorContent
from contentmodel.failures import STATUSES
from contentmodel_conformance.checks.crossing import each_way, fans
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.streams import SampledAnswer, frames_in, raw_of, sampled_answers
from contentmodel_conformance.failures import errors, failing
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

_ERRORS = st.builds(
    ErrorContent,
    message=st.text(st.characters(codec="ascii", categories=["L"]), min_size=1),
    kind=st.sampled_from([*STATUSES]),
)


@check(errors, "crossing", "errors of every kind, from and to every other API", "others")
def crossing(subject: Subject, trial: Trial) -> None:
    for source, targets, kind in fans(subject, "response"):
        each_way(trial, _ERRORS, _converted, source, targets, kind)


def _converted(source: Any, target: Any, kind: str, error: ErrorContent) -> None:
    errors(source, target, error)


@check(failing, "written", "streams that the adapter wrote, with an error after any event", "streams")
def ended_by_an_error(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[SampledAnswer, int]) -> None:
        frames = frames_in(subject.adapter, raw_of(subject.adapter, case[0]))
        failing(subject.adapter, frames, case[1] % (len(frames) + 1))

    trial.each(st.tuples(sampled_answers(subject), st.integers(0, 1_000)), law)
