"""The checks of voices: conversations that imitate the sentinels, notes and roles of every adapter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel import DecodeError
from contentmodel_conformance import laws, voices
from contentmodel_conformance.checks.crossing import each_way
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.strategies.hostile import hostile, with_notes, with_roles
from contentmodel_conformance.subject import Subject, limits_of
from contentmodel_conformance.trying import Trial


@check(
    voices.voices,
    "crossing",
    "requests that imitate sentinels, to every other API, and back or to a third API",
    "others",
)
def crossing(subject: Subject, trial: Trial) -> None:
    source = subject.adapter
    requests = hostile(source.api, limits_of(source))
    others = subject.others if "request" in subject.supported else ()
    for target in others:
        chains = [(source, target, onwards) for onwards in (source, *others) if onwards is not target]
        by_name = {
            "request " + " to ".join(adapter.api for adapter in chain): partial(voices.voices, chain)
            for chain in chains
        }
        trial.each_of(requests, by_name, share=0.4)


def _written(adapter: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of hostile conversations, encoded by the adapter."""
    return hostile(adapter.api, limits_of(adapter)).map(lambda request: adapter.encode_request(request).payload)


@check(voices.notes, "wire", "requests with keys that imitate notes")
def notes(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        pairs = _written(subject.adapter).flatmap(lambda payload: st.tuples(st.just(payload), with_notes(payload)))
        trial.each(pairs, partial(voices.notes, subject.adapter), "request", share=4)


@check(voices.roles, "crossing", "requests with role names of other APIs, to every other API", "others")
def roles(subject: Subject, trial: Trial) -> None:
    for field in _role_fields(subject) if "request" in subject.supported else ():
        payloads = _written(subject.adapter).flatmap(partial(with_roles, field=field))
        # A store sends no requests: it keeps every role unchanged.
        targets = [other for other in subject.others if other.issuer]
        each_way(trial, payloads, _roles, subject.adapter, targets, "request", share=0.5)


def _roles(source: Any, target: Any, kind: str, payload: Any) -> None:
    try:
        value = source.decode_request(payload)
    except DecodeError:
        raise laws.Refused from None
    laws.identity(source, kind, payload)
    voices.roles(target, value)


def _role_fields(subject: Subject) -> Iterator[str]:
    """Yield the wire fields for the role of a message, from the adapter's description of its tables."""
    records = subject.description.get("records", {}).values()
    messages = (row["fields"].items() for row in records if row.get("model") == "ChatMessage")
    yield from sorted({path for fields in messages for path, field in fields if field["attribute"] == "role"})
