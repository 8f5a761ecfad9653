"""From one API to another, and which API a payload is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.adapter import Payload, adapter, adapters, as_json
from contentmodel.errors import DetectError
from contentmodel.rules import Violation
from contentmodel.wire.json import kind_of
from contentmodel.wire.losses import Encoded, LossError
from contentmodel.wire.lowering import POLICIES
from contentmodel.wire.names import Maps

KINDS = ("request", "response")


def convert(
    payload: Payload,
    *,
    target: str,
    source: str | None = None,
    kind: str | None = None,
    model: str | None = None,
    maps: Maps | None = None,
    policies: Mapping[str, str] | None = None,
    on_loss: str = "report",
) -> Encoded:
    """`payload` of API `source` as API `target` writes it, with every loss.

    `model` is the target's model that a request is for: what only some models take is settled for this one.
    `maps` are those of the request that a response answers: its ids and tool names are those of `target` again.

    `source` and `kind` ("request", "response") are detected where they are not given. `policies` says what the target
    gets of content that it has no place for, by family (`contentmodel.POLICIES` lists them). `on_loss="raise"` raises
    LossError instead of losing anything.

    Raises DecodeError (the payload is not of `source`), DetectError, UnknownApiError, LossError.
    """
    _check_arguments(kind, policies, on_loss)
    if source is None or kind is None:
        payload = as_json(payload, source or "json")
        source, kind = detect(payload, api=source, kind=kind)
    reader, writer = adapter(source), adapter(target)
    trace = reader.trace_request if kind == "request" else reader.trace_response
    if maps is not None and kind == "request":
        raise ValueError("maps are undone in a response: this is a request")
    value, wire, context = trace(payload)
    if kind == "request":
        encoded: Encoded = writer.encode_request(value, policies, model)
    else:
        answer = value if maps is None else maps.undo(value, reader.restore_arguments, context.replaced)
        encoded = writer.encode_response(answer, policies)
    encoded.trace_to(wire, context)
    if on_loss == "raise" and encoded.losses:
        raise LossError(target, encoded.losses)
    return encoded


def detect(payload: Payload, *, api: str | None = None, kind: str | None = None) -> tuple[str, str]:
    """The API id and the kind ("request" or "response") of a payload, from what only that API has.

    What is known already is given: `api`, or `kind`. DetectError says which come closest where none, or more than one,
    is recognised.
    """
    payload = as_json(payload, api or "json")
    if not isinstance(payload, dict):
        raise DetectError(f"expected an object to detect its API from, got {kind_of(payload)}")
    candidates = adapters() if api is None else {api: adapter(api)}
    scores = {
        (name, found): score
        for name, candidate in candidates.items()
        for found, score in candidate.recognises(payload).items()
        if kind is None or found == kind
    }
    if not scores and api is not None:
        raise DetectError(f"this looks like neither a request nor a response of {api}: say which it is")
    if not scores:
        known = ", ".join(sorted(candidates))
        raise DetectError(f"no API is recognised in an object with the keys {_keys(payload)}: name it, one of {known}")
    best = max(scores.values())
    winners = [found for found, score in scores.items() if score == best]
    if len(winners) > 1:
        names = " or ".join(f"{name} ({found})" for name, found in winners)
        raise DetectError(f"this may be {names}: name the API")
    return winners[0]


def check(payload: Payload, *, api: str | None = None, model: str | None = None) -> list[Violation]:
    """What `api` refuses, ignores or answers badly in a request payload: an empty list where it breaks no rule.

    `model` is the model that the request is for, where the payload does not say it. The API is detected where it is
    not given. Raises DecodeError where the payload is no JSON object, DetectError, UnknownApiError.
    """
    if api is None:
        payload = as_json(payload, "json")
        api, _ = detect(payload, kind="request")
    found: list[Violation] = adapter(api).check_request(payload, model)
    return found


def _keys(payload: Mapping[str, Any]) -> str:
    keys = list(payload)
    return ", ".join(keys[:8]) + (", ..." if len(keys) > 8 else "") if keys else "(none)"


def _check_arguments(kind: str | None, policies: Mapping[str, str] | None, on_loss: str) -> None:
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")
    if on_loss not in ("report", "raise"):
        raise ValueError(f"on_loss is {on_loss!r}: expected 'report' or 'raise'")
    for family, policy in (policies or {}).items():
        if policy not in POLICIES.get(family, ()):
            choices = "; ".join(f"{name}: {' | '.join(options)}" for name, options in POLICIES.items())
            raise ValueError(f"no policy {family}={policy}: {choices}")
