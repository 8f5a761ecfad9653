"""The checks of the cost of work: every shape of conversation, answer and stream, at three sizes.

A quick run tries each shape with one other adapter, in rotation. A deep run tries all pairs and larger inputs, and
also counts copied bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    for number, (name, shape) in enumerate(shapes.items()):
        for other in _partners(subject, number, kind, deep=trial.deep):
            tried = partial(_grows_evenly, partial(make, subject.adapter, other), shape, deep=trial.deep)
            trial.once(name, tried, f"{name}, with {other.api}" if other is not None else name)


def _partners(subject: Subject, number: int, kind: str, *, deep: bool) -> Iterator[Any]:
    """Yield the other adapters that a shape is tried with; None if there are none."""
    if kind == "stream":
        others = [other for other in subject.others if not Subject(other, others=()).no_streams]
    else:
        others = subject.others_by_kind[kind]
    if not others:
        yield None
    elif deep:
        yield from others
    else:
        yield others[number % len(others)]


def _grows_evenly(make: Callable[[Any], Work], shape: Shape, name: str, *, deep: bool) -> None:
    values = [shape(size) for size in law.sizes(deep=deep)]
    # A value that nests deeply has long paths: their texts are quadratic in its depth.
    law.bounds(law.works_of(make, values), copies=deep and name not in NESTED)
