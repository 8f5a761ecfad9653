"""The check of hints: stored values with hints of wrong types, or in wrong places."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance import hints
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.values import own
from contentmodel_conformance.laws import decode
from contentmodel_conformance.strategies.hints import forged, with_hints
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


@check(hints.hints, "stored", "transcripts and answers with more hints, of wrong types or in wrong places", "limits")
def stored(subject: Subject, trial: Trial) -> None:
    for kind, values in own(subject):
        adapters = (subject.adapter, *subject.others_by_kind[kind])
        trial.each(values.flatmap(partial(_hinted, subject.api)), partial(hints.hints, adapters, kind), kind)


def _hinted(api: str, value: Any) -> st.SearchStrategy[tuple[Any, Any, Any]]:
    return st.tuples(st.just(value), with_hints(value, (api,), right=False), with_hints(value, (api,), right=True))


@check(hints.stored_documents, "forged", "written values with odd hints, fields and paths of any API")
def forged_values(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        others = subject.others_by_kind[kind]
        targets = [subject.adapter, *(others[number % len(others)] for number in (3, 7) if others)]
        law = partial(hints.stored_documents, targets, kind)
        apis = tuple(target.api for target in targets)
        written = [decode(subject.adapter, kind, payload) for payload in subject.written(kind)]
        if written:
            values = st.sampled_from(written).flatmap(partial(forged, apis=apis))
            trial.each(values, law, kind)
