"""The checks of odd values: payloads with an unknown, torn or odd value in one of their lists."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance import by_itself
from contentmodel_conformance.checks.payloads import of, sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.strategies.odd import with_odd
from contentmodel_conformance.strategies.session_files import SESSION_FILES
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

_TARGETS = ("anthropic-messages", "openai-chat")


def _payloads(subject: Subject, kind: str) -> list[tuple[str, st.SearchStrategy[Any]]]:
    """Return the sources of payloads, with those of session files, whose older forms no adapter writes."""
    files = SESSION_FILES.get(subject.api) if kind == "request" else None
    return [*sources(subject, kind), *([("files", st.sampled_from(files))] if files else [])]


@check(by_itself.each_by_itself, "anywhere", "payloads with an odd value in one of their lists")
def anywhere(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for label, strategy in _payloads(subject, kind):
            share = 8.0 if label == "files" else 2.0
            pairs = strategy.flatmap(with_odd)
            trial.each(pairs, of(subject, by_itself.each_by_itself, kind), f"{kind} {label}", share)


@check(by_itself.weight, "crossing", "payloads with an odd value in one of their lists, to other APIs", "others")
def crossing(subject: Subject, trial: Trial) -> None:
    targets = [other for other in subject.others if other.api in _TARGETS] or subject.others[:1]
    for kind in subject.supported:
        for label, strategy in _payloads(subject, kind):
            values = strategy.flatmap(lambda payload: st.just(payload) | with_odd(payload).map(lambda pair: pair[1]))
            tried = {
                f"{kind} {label} to {target.api}": partial(_weight, subject, target, kind)
                for target in targets
                if target in subject.others_by_kind[kind]
            }
            trial.each_of(values, tried, 8.0 if label == "files" else 1.0)


def _weight(subject: Subject, target: Any, kind: str, payload: Any) -> None:
    by_itself.weight((subject.reader, subject.reader_of(target)), subject.adapter, target, kind, payload)
