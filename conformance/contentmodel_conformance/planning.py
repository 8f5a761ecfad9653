"""The law of plans: the steps that a plan chooses make the same of a request as all steps together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from contentmodel.engine.pipeline import steps
from contentmodel.engine.pipeline.steps import EVERY, Fact, Facts
from contentmodel_conformance import laws


@contextmanager
def every_step() -> Iterator[None]:
    """Run every step of a pipeline, as if a request had all facts."""

    def every_fact(*arguments: Any) -> Facts:
        facts = frozenset(census(*arguments))
        return facts | EVERY if Fact.FOREIGN in facts else (facts | EVERY) - {Fact.FOREIGN}

    census = steps.__dict__["census"]
    with mock.patch.object(steps, "census", every_fact):
        yield


def planning(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Compare what a plan makes of a request with what all steps make: payload, maps and losses are the same."""
    planned = laws.crossed(source, target, kind, payload)
    with every_step():
        whole = laws.crossed(source, target, kind, payload)
        losses = sorted(map(str, whole.losses))
    if planned.to_json() != whole.to_json():
        raise laws.LawBroken("planning", "$", "the payload lacks the work of a step", whole.payload, planned.payload)
    if planned.maps != whole.maps:
        raise laws.LawBroken("planning", "$", "the maps lack the work of a step", repr(whole.maps), repr(planned.maps))
    if sorted(map(str, planned.losses)) != losses:
        found = sorted(map(str, planned.losses))
        raise laws.LawBroken("planning", "$", "the losses lack those of a step", losses, found)
