"""Compare the losses of a transcript between targets, before a request is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from contentmodel.adapter import Adapter, Payload, RequestsOnly, adapter, adapters, traced, violations_of
from contentmodel.detecting import identify
from contentmodel.encoded import Encoded
from contentmodel.literals import PayloadKind, Policies
from contentmodel.losses import Loss
from contentmodel.message import Origin
from contentmodel.names import api_and_model, api_of
from contentmodel.policies import check_policies
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.rules import Violation

COSTS = {"dropped": 10, "degraded": 3, "moved": 1, "synthesized": 1, "insignificant": 0}
"""The cost of a loss of each kind. Losses of settings, schemas, provider fields and usage cost a tenth of it."""

REFUSED = 100
"""The cost of a violation that the target refuses."""
_CHEAP = ("settings", "schemas", "provider fields", "usage")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The result of encoding a transcript for one target: its `losses`, and `violations` of the target's rules.

    `families` counts the losses of each family of content by kind: {"reasoning": {"dropped": 3}}. `cost` is the sum of
    the losses weighted by `COSTS`, plus `REFUSED` for each violation that the target refuses.
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
    """Return a plan for each of `targets`, lowest cost first. By default, the targets are all other providers' APIs.

    `transcript` is a payload, or a ChatRequest or ChatResponse. If `source` or `kind` are not given, detect them.
    `models` maps a target to the model that the request is for; a target may also name it: "anthropic:claude-opus-5".
    Raise the errors of `convert`.
    """
    chosen = check_policies(policies)
    value, source, trace = _decoded(transcript, source, kind)
    # Formats of files and stores are only targets if they are named.
    others = [api for api, adapter in adapters().items() if api != source and _is_of_provider(adapter)]
    named = [(target, (models or {}).get(target)) for target in (others if targets is None else targets)]
    wanted = [api_and_model(target, model) for target, model in named]
    plans = [_plan(value, trace, target, model, chosen) for target, model in wanted]
    return sorted(plans, key=lambda entry: entry.cost)


def _is_of_provider(adapter: Adapter) -> bool:
    return bool(adapter.issuer) and not isinstance(adapter, RequestsOnly)


def _decoded(transcript: Any, source: str | None, kind: PayloadKind | None) -> tuple[Any, str | None, Any]:
    if isinstance(transcript, ChatRequest | ChatResponse):
        origin: Origin | None = transcript.origin
        return transcript, source or (origin.api if origin else None), None
    source = source and api_of(source)
    if source is None or kind is None:
        transcript, source, kind = identify(transcript, source, kind)
    reader = adapter(source)
    value, trace = traced(reader, kind, transcript)
    return value, source, trace


def _plan(value: Any, trace: Any, target: str, model: str | None, policies: Mapping[str, str] | None) -> Plan:
    writer = adapter(target)
    violations: tuple[Violation, ...] = ()
    if isinstance(value, ChatRequest):
        encoded: Encoded = writer.encode_request(value, policies, model)
        found = violations_of(writer, encoded.payload, model, policies)
        violations = tuple(violation for violation in found if violation.severity != "unchecked")
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
        cost=sum(map(_cost, encoded.losses)) + REFUSED * sum(v.severity == "refused" for v in violations),
    )


def explanation() -> str:
    """Return the sentence that explains the cost of a plan."""
    each = ", ".join(f"{cost} for each {kind} value" for kind, cost in COSTS.items() if cost)
    return f"cost: {each}; a tenth for {', '.join(_CHEAP)}; {REFUSED} for each violation that is refused"


def _cost(loss: Loss) -> float:
    return COSTS[loss.kind] * (0.1 if loss.family in _CHEAP else 1)
