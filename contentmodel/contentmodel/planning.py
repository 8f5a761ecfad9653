"""What each target would make of a transcript, before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from contentmodel.adapter import Payload, adapter, adapters, as_json, traced
from contentmodel.convert import detect
from contentmodel.engine.losses.encoded import Encoded
from contentmodel.engine.losses.loss import Loss
from contentmodel.engine.pipeline.lowering import check_policies
from contentmodel.literals import PayloadKind, Policies
from contentmodel.message import Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.rules import Violation

COSTS = {"dropped": 10, "degraded": 3, "moved": 1, "synthesized": 1, "insignificant": 0}
"""What a loss of each kind counts, where content is lost.

Settings, keywords of schemas and fields of one provider count a tenth.
"""

_CHEAP = frozenset({"settings", "schemas", "provider fields", "usage"})


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What one target would make of a transcript: its `losses`, and the `violations` of its rules that remain.

    `families` counts the losses of each family of content by kind: {"reasoning": {"dropped": 3}}. `cost` weighs them
    by `COSTS`; a violation that the target refuses counts as a hundred.
    """

    target: str
    model: str | None = None
    losses: tuple[Loss, ...] = ()
    violations: tuple[Violation, ...] = ()
    families: dict[str, dict[str, int]] = {}
    cost: float = 0


def plan(
    transcript: Payload | ChatRequest | ChatResponse,
    *,
    targets: Sequence[str] | None = None,
    source: str | None = None,
    kind: PayloadKind | None = None,
    models: Mapping[str, str] | None = None,
    policies: Policies | None = None,
) -> list[Plan]:
    """What each of `targets` (other providers' APIs where none is named) would lose of a transcript, cheapest first.

    The transcript is a payload, whose API and kind are detected where they are not given, or a value of the model.
    `models` says for which model of a target it is planned. Raises as `convert` does.
    """
    chosen = check_policies(policies)
    value, source, trace = _decoded(transcript, source, kind)
    # Formats that nobody answers in, such as the rows of a store, are no target where nobody names them.
    others = [api for api, adapter in adapters().items() if api != source and adapter.issuer]
    wanted = others if targets is None else targets
    plans = [_plan(value, trace, target, (models or {}).get(target), chosen) for target in wanted]
    return sorted(plans, key=lambda made: made.cost)


def _decoded(transcript: Any, source: str | None, kind: PayloadKind | None) -> tuple[Any, str | None, Any]:
    if isinstance(transcript, ChatRequest | ChatResponse):
        origin: Origin | None = transcript.origin
        return transcript, source or (origin.api if origin else None), None
    if source is None or kind is None:
        transcript = as_json(transcript, source or "json")
        source, kind = detect(transcript, api=source, kind=kind)
    reader = adapter(source)
    value, trace = traced(reader, kind, transcript)
    return value, source, trace


def _plan(value: Any, trace: Any, target: str, model: str | None, policies: Mapping[str, str] | None) -> Plan:
    writer = adapter(target)
    violations: tuple[Violation, ...] = ()
    if isinstance(value, ChatRequest):
        encoded: Encoded = writer.encode_request(value, policies, model)
        # Other adapters than those made of tables need not know what a model takes.
        said = (policies,) if policies and "capabilities" in policies else ()
        violations = tuple(v for v in writer.check_request(encoded.payload, model, *said) if v.severity != "unchecked")
    else:
        encoded = writer.encode_response(value, policies)
    if trace is not None:
        encoded.trace_to(*trace)
    families: dict[str, Counter[str]] = {}
    for loss in encoded.losses:
        families.setdefault(loss.family, Counter())[loss.kind] += 1
    return Plan(
        target=target,
        model=model,
        losses=encoded.losses,
        violations=violations,
        families={family: dict(families[family]) for family in sorted(families)},
        cost=sum(map(_cost, encoded.losses)) + 100 * sum(v.severity == "refused" for v in violations),
    )


def _cost(loss: Loss) -> float:
    return COSTS[loss.kind] * (0.1 if loss.family in _CHEAP else 1)
