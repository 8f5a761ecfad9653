"""The law of obedience: for a model and a host that the caller names, conversion sends nothing that `check` refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from contentmodel.adapter import traced
from contentmodel.json import value_at
from contentmodel.pairs import TranscriptIndex
from contentmodel_conformance.differences import ABSENT, Label
from contentmodel_conformance.laws import LawBroken

Aim: TypeAlias = tuple[str, dict[str, str] | None]
"""A model, and the policies that name its host."""

EXCUSED = {
    "no-model": {"model-required", "model-or-agent"},
    "no-user-message": {"contents-have-parts", "list-lengths-in-range"},
}
"""The rules that a loss excuses, by its code."""
OPEN = {"calls-have-results", "requests-end-with-user-content", "prefill-supported"}
"""The rules that a conversation breaks whose last calls wait for their results."""

NAMED = {"model-of-this-provider"}
"""The rule about the name that the caller gives: no conversion changes it."""
KEPT = {"response-media-supported"}
"""The rules that a request of the target's own API may break at an older model: results keep their media."""


def obedience(source: Any, target: Any, aim: Aim, payload: Any) -> None:
    """A request that is converted for a named model and host breaks no rule of the target that refuses it.

    A request of the target's own API is sent back, so it breaks no more rules than before.
    """
    model, policies = aim
    value, trace = traced(source, "request", payload)
    encoded = target.encode_request(value, policies, model)
    encoded = encoded if trace is None else encoded.trace_to(*trace)
    excused = {rule for loss in encoded.losses for rule in EXCUSED.get(loss.code, ())}
    excused |= NAMED
    excused |= OPEN if TranscriptIndex(value.messages).unanswered else set()
    if source.api == target.api:
        excused |= KEPT | {violation.rule for violation in target.check_request(payload)}
    for violation in target.check_request(encoded.payload, model, policies):
        if violation.severity == "refused" and violation.rule not in excused:
            host = "" if policies is None else f" at {policies['dialect']}"
            detail = f"{model}{host}: {violation.rule}: {violation.message}"
            refused = value_at(encoded.payload, violation.path, ABSENT)
            raise LawBroken("obedience", violation.path, detail, Label(violation.fix), refused)


def aims(adapter: Any, models: tuple[str, ...], *, every: bool) -> Iterator[Aim]:
    """Yield models of an adapter's API and its hosts: `models`, and if `every` is set, one for each listed row."""
    table = getattr(adapter.rules, "capabilities", None)
    rows = () if table is None or not every else table.rows
    listed = dict.fromkeys((*models, *(example_of(row.names) for row in rows)))
    for model in listed:
        if adapter.look_up_model(model).status in ("listed", "newest", "unlimited"):
            yield model, None
    for host in adapter.dialects:
        for model in listed if every else models[:1]:
            yield model, {"dialect": host}


def example_of(pattern: str) -> str:
    """Return a text that a regular expression of names matches: its first alternatives, and its shortest repeats."""
    text = _example(_parser.parse(pattern))
    if re.fullmatch(pattern, text) is None:
        raise ValueError(f"{pattern!r} has no simple example: {text!r}")
    return text


def _example(parsed: Any) -> str:
    return "".join(_example_of_one(kind, value) for kind, value in parsed)


def _example_of_one(kind: Any, value: Any) -> str:
    if kind == _constants.LITERAL:
        return chr(value)
    if kind == _constants.IN:
        return _example([value[0]]) if value[0][0] != _constants.RANGE else chr(value[0][1][0])
    if kind == _constants.CATEGORY:
        return "1" if value == _constants.CATEGORY_DIGIT else "a"
    if kind == _constants.BRANCH:
        return _example(value[1][0])
    if kind == _constants.SUBPATTERN:
        return _example(value[-1])
    if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
        least: int = value[0]
        return _example(value[2]) * least
    return ""
