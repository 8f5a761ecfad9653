"""The checks of the cost of work: every shape of conversation, answer and stream, at three sizes.

A quick run tries each shape with one other adapter, in rotation. A deep run tries each with all others; with the one
whose turn it is, the inputs are larger, and copied bytes are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from contentmodel_conformance import bounds as law
from contentmodel_conformance.answer_shapes import RESPONSES
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.shapes import NESTED, REQUESTS, Shape
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial
from contentmodel_conformance.work import Work

Make = Callable[[Any, Any, Any], Work]
"""Returns the work on a value, for an adapter and another one."""


@check(law.bounds, "requests", "conversations that each grow in one way, converted to another API and back")
def requests(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        _each(subject, trial, REQUESTS, partial(_payload, "request"), "request")


@check(law.bounds, "responses", "answers that each grow in one way, converted to another API and back")
def responses(subject: Subject, trial: Trial) -> None:
    if "response" in subject.supported:
        _each(subject, trial, RESPONSES, partial(_payload, "response"), "response")


@check(law.bounds, "streams", "streams of answers that each grow in one way, in small pieces", "streams")
def streams(subject: Subject, trial: Trial) -> None:
    _each(subject, trial, RESPONSES, law.stream_work, "stream")


def _payload(kind: str, adapter: Any, other: Any, value: Any) -> Work:
    return law.payload_work(adapter, other, kind, value)


def _each(subject: Subject, trial: Trial, shapes: Mapping[str, Shape], make: Make, kind: str) -> None:
    others = _partners(subject, kind)
    for number, (name, shape) in enumerate(shapes.items()):
        in_turn = others[number % len(others)]
        for other in others if trial.deep else [in_turn]:
            is_large = trial.deep and other is in_turn
            tried = partial(_grows_evenly, trial, partial(make, subject.adapter, other), shape, is_large=is_large)
            trial.once(name, tried, f"{name}, with {other.api}" if other is not None else name)


def _partners(subject: Subject, kind: str) -> Sequence[Any]:
    """Return the other adapters that shapes are tried with; None in place of an adapter if there are none."""
    if kind == "stream":
        return [other for other in subject.others if not Subject(other, others=()).no_streams] or [None]
    return subject.others_by_kind[kind] or [None]


def _grows_evenly(trial: Trial, make: Callable[[Any], Work], shape: Shape, name: str, *, is_large: bool) -> None:
    values = [shape(size) for size in law.sizes(large=is_large)]
    works = [partial(_restarting, trial, work) for work in law.works_of(make, values)]
    # A value that nests deeply has long paths: their texts are quadratic in its depth.
    law.bounds(works, copies=is_large and name not in NESTED)


def _restarting(trial: Trial, work: Work) -> None:
    """Do a piece of work that restarts the watchdog: it is measured many times, and traced."""
    trial.restart()
    work()
