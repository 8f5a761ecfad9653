"""The law of plans: the steps that a plan chooses make the same of a request as all steps together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

from contentmodel import ChatRequest
from contentmodel.encoded import Encoded
from contentmodel.engine.pipeline import steps
from contentmodel.engine.pipeline.steps import EVERY, Fact, Facts, Plan, Step
from contentmodel_conformance import laws


@contextmanager
def every_step() -> Iterator[None]:
    """Run every step of a pipeline, as if a request or an answer had all facts."""

    def every_fact(*arguments: Any) -> Facts:
        facts = frozenset(census(*arguments))
        return facts | EVERY if Fact.FOREIGN in facts else (facts | EVERY) - {Fact.FOREIGN}

    def every_stage(plan: Any, messages: Any, context: Any, start: int = 0) -> tuple[Step, ...]:
        chosen = (step for step in plan._chosen[context.native, False] if step.place >= start)
        return steps._joined((step for step in chosen if step.on is None or step.on(context)), EVERY)

    census = steps.__dict__["census"]
    with (
        mock.patch.object(steps, "census", every_fact),
        mock.patch.object(Plan, "stages_of_answer", every_stage),
        mock.patch.object(Plan, "is_idle", return_value=False),
    ):
        yield


def planning(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Compare what a plan makes of a request or answer with what all steps make: payload, maps and losses are equal."""
    _compare(lambda: laws.crossed(source, target, kind, payload))


def planning_of(adapter: Any, value: Any, policies: Mapping[str, str] | None = None) -> None:
    """Compare what a plan makes of a request or an answer of the model with what all steps make."""
    encode = adapter.encode_request if isinstance(value, ChatRequest) else adapter.encode_response
    _compare(lambda: encode(value, policies))


def _compare(encoded: Callable[[], Encoded]) -> None:
    planned = encoded()
    with every_step():
        whole = encoded()
        losses = sorted(map(str, whole.losses))
    if planned.to_json() != whole.to_json():
        raise laws.LawBroken("planning", "$", "the payload lacks the work of a step", whole.payload, planned.payload)
    if planned.maps != whole.maps:
        raise laws.LawBroken("planning", "$", "the maps lack the work of a step", repr(whole.maps), repr(planned.maps))
    if sorted(map(str, planned.losses)) != losses:
        actual = sorted(map(str, planned.losses))
        raise laws.LawBroken("planning", "$", "the losses lack those of a step", losses, actual)
