"""The checks of null twins: each field of a payload is null in one payload, and missing in another."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance import laws, nulls
from contentmodel_conformance.checks.crossing import conversations
from contentmodel_conformance.checks.payloads import sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.subject import Subject, is_source
from contentmodel_conformance.trying import Trial

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
        found = sources(subject, kind)
        found.append(
            ("conversation", conversations(subject.adapter, kind).map(partial(_written, subject.adapter, kind)))
        )
        for name, strategy in found if targets else ():
            trial.each(strategy.flatmap(_with_field), partial(_law, subject.adapter, targets, kind), f"{kind} {name}")


def _written(adapter: Any, kind: str, value: Any) -> Any:
    return laws.encode(adapter, kind, value).payload


def _with_field(payload: Any) -> st.SearchStrategy[Any]:
    places = nulls.twins_of(payload)
    return st.tuples(st.just(payload), st.sampled_from(places) if places else st.none(), st.integers(0, 99))


def _law(adapter: Any, targets: list[Any], kind: str, value: Any) -> None:
    payload, steps, number = value
    if steps is None:
        raise laws.Refused("the payload has no field")
    nulls.null_twin(adapter, targets[number % len(targets)], kind, payload, steps)
