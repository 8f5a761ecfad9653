"""The law of model names: which provider the model of a converted request belongs to."""

from __future__ import annotations

from typing import Any

from contentmodel.losses import significant
from contentmodel.reasons import FOREIGN_MODEL
from contentmodel.rules import MODEL_RULE
from contentmodel_conformance.laws import LawBroken, crossed
from contentmodel_conformance.strategies.transcripts import LIMITS
from contentmodel_conformance.subject import limits_of

SERVED = {"openai-chat": {"google", "mistral"}}
"""Issuers that have an endpoint with another provider's API: Google and Mistral have one with Chat Completions
(ai.google.dev/gemini-api/docs/openai, docs.mistral.ai/api, seen 2026-11-29)."""


def model_names(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Keep the model of a request if it is one of the target, or report it; never report one that the caller names.

    A loss and a violation report a model of another provider.
    """
    encoded, limits = crossed(source, target, kind, payload), LIMITS.get(target.api)
    model = encoded.value.model  # type: ignore[attr-defined]
    is_reported = any(loss.code == FOREIGN_MODEL.code for loss in encoded.losses)
    is_refused = any(violation.rule == MODEL_RULE for violation in target.check_request(encoded.payload, model))
    if is_reported is not is_refused:
        only = "the encoder" if is_reported else "check"
        raise LawBroken("model names", "$.model", f"only {only} reports {model!r:.60} as another provider's model")
    theirs, own_issuers = (
        limits_of(source).issuer,
        set() if limits is None else {limits.issuer, *SERVED.get(target.api, ())},
    )
    if (
        target.issuer
        and limits is not None
        and theirs not in own_issuers
        and model not in (None, "m")
        and not is_reported
    ):
        raise LawBroken("model names", "$.model", f"{target.api} gets {model!r:.60}, and no loss reports it")
    named = crossed(source, target, kind, payload, limits_of(target).model)
    lost = [loss for loss in significant(named.losses) if loss.path in named.named_by_caller]
    if lost:
        raise LawBroken("model names", "$.model", "a loss reports the model that the caller named", (), lost)
