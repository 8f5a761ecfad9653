"""The checks of null twins: each field of a payload is null in one payload, and missing in another."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance import laws, nulls
from contentmodel_conformance.checks.crossing import conversations
from contentmodel_conformance.checks.payloads import sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.strategies.sdk import sdk_fields
from contentmodel_conformance.subject import Subject, is_source
from contentmodel_conformance.trying import Trial

_EXACT = ("turn-blocks", "langchain-messages")
"""The formats that refuse or keep an object with a further field: the model's JSON, and parts of providers."""
_LEAST = 10
"""More fields than payloads are tried, by this factor: each payload has many fields."""


@check(nulls.null_twin, "payloads", "payloads with one field that is null or missing, to another API", "others")
def payloads(subject: Subject, trial: Trial) -> None:
    if not is_source(subject.adapter):
        return
    if hasattr(subject.adapter, "inner"):
        trial.note("the messages are those of another API, with which they are tried")
        return
    for kind in subject.supported:
        # Stores keep the residue with its nulls, and so do files of sessions.
        others = subject.others_by_kind[kind]
        targets = [target for target in others if target.issuer and not hasattr(target, "inner")]
        strategies = sources(subject, kind)
        strategies.append(
            ("conversation", conversations(subject.adapter, kind).map(partial(_written, subject.adapter, kind)))
        )
        for name, strategy in strategies if targets else ():
            trial.each(strategy.flatmap(_with_field), partial(_law, subject.adapter, targets, kind), f"{kind} {name}")


@check(nulls.null_twin, "other-fields", "payloads with a null in a field of another object of the format", "others")
def other_fields(subject: Subject, trial: Trial) -> None:
    """Try nulls in the fields of the format that an object does not have: of its other forms, in other spellings."""
    if hasattr(subject.adapter, "inner") or subject.api in _EXACT:
        trial.note("the fields of the document are those of another API, or of the model")
        return
    names = nulls.names_of(subject.adapter.describe())
    for kind in subject.supported:
        targets = [target for target in subject.others_by_kind[kind] if target.issuer and not hasattr(target, "inner")]
        for label, strategy in sources(subject, kind) if targets else ():
            with_null = strategy.flatmap(partial(_with_other_field, names))
            trial.each(with_null, partial(_law, subject.adapter, targets, kind), f"{kind} {label}", share=2.0)


@check(nulls.null_twin, "sdk-places", "each optional field of the SDK's types, null or missing", "types", "others")
def sdk_places(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        targets = [target for target in subject.others_by_kind[kind] if target.issuer]
        for at, (name, strategy) in enumerate(sorted(sdk_fields(subject.api, kind).items()) if targets else ()):
            law = partial(_each_at, subject.adapter, targets[at % len(targets)], kind, name.rpartition(".")[2])
            trial.each(strategy, law, f"{kind} {name}", share=0.04)


def _each_at(adapter: Any, target: Any, kind: str, key: str, payload: Any) -> None:
    """Try each field of this name in a payload."""
    places = [steps for steps in nulls.twins_of(payload) if steps[-1] == key]
    refused = [steps for steps in places if not _holds(adapter, target, kind, payload, steps)]
    if refused == places:
        raise laws.Refused("the field has no twin")


def _holds(adapter: Any, target: Any, kind: str, payload: Any, steps: tuple[str | int, ...]) -> bool:
    """Try a field. Return whether the law applies to it."""
    try:
        nulls.null_twin(adapter, target, kind, payload, steps)
    except laws.Refused:
        return False
    return True


def _written(adapter: Any, kind: str, value: Any) -> Any:
    return laws.encode(adapter, kind, value).payload


def _with_field(payload: Any) -> st.SearchStrategy[Any]:
    places = nulls.twins_of(payload)
    return st.tuples(st.just(payload), st.sampled_from(places) if places else st.none(), st.integers(0, 99))


def _with_other_field(names: frozenset[str], payload: Any) -> st.SearchStrategy[Any]:
    places = [(steps, sorted(names - value.keys())) for steps, value in nulls.objects_of(payload)]
    places = [(steps, others) for steps, others in places if others]
    chosen = st.sampled_from(places).flatmap(
        lambda place: st.sampled_from(place[1]).map(lambda name: (*place[0], name)),
    )
    return st.tuples(st.just(payload), chosen if places else st.none(), st.integers(0, 99))


def _law(adapter: Any, targets: list[Any], kind: str, value: Any) -> None:
    payload, steps, number = value
    if steps is None:
        raise laws.Refused("the payload has no field")
    nulls.null_twin(adapter, targets[number % len(targets)], kind, payload, steps)
