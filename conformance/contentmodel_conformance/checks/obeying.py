"""The checks of obedience: conversations of every API, for the listed models and the hosts of a provider's API."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from contentmodel import ChatMessage, ChatRequest, TextContent
from contentmodel_conformance import laws
from contentmodel_conformance.checks.crossing import conversations
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.obedience import Aim, aims, obedience
from contentmodel_conformance.subject import Subject, is_source
from contentmodel_conformance.trying import Trial


@check(obedience, "conversations", "conversations of every API that end anywhere, for models and hosts", "rules")
def obeying_conversations(subject: Subject, trial: Trial) -> None:
    adapter = subject.adapter
    tried = _aims(subject, every=trial.deep)
    sources = [adapter, *(other for other in subject.others if other.issuer or trial.deep)] if tried else []
    for source in filter(is_source, sources):
        law = partial(_of_value, source, adapter, tried)
        trial.each(cut(conversations(source, "request")), law, f"{source.api} to {adapter.api}", share=0.2)


@check(obedience, "recorded", "recorded requests of every API, for models and hosts", "rules", "corpus")
def obeying_recorded(subject: Subject, trial: Trial) -> None:
    assert subject.recordings is not None
    tried = _aims(subject, every=False)
    for source in [subject.adapter, *subject.others] if tried else []:
        for number, record in enumerate(subject.recordings.accepted(source.api, "request")):
            chosen = tried if trial.deep else [tried[number % len(tried)]]
            law = partial(_of_payload, source, subject.adapter, chosen)
            trial.once(record.body, law, f"{source.api} to {subject.adapter.api}", record.source)


def cut(values: Any) -> Any:
    """Return a strategy of conversations that end after any message or text of the model, or inside of an answer."""
    return st.builds(_cut, values, st.integers(0, 3), st.booleans(), st.integers(0, 2))


def _cut(request: ChatRequest, dropped: int, answered: bool, broken_off: int) -> ChatRequest:
    count = max(len(request.messages) - dropped, 1)
    if answered:
        answers = [at for at, message in enumerate(request.messages, 1) if _is_answer(message)]
        count = answers[-1] if answers else count
    *before, last = request.messages[:count] or [ChatMessage(role="user")]
    if last.role == "assistant" and len(last.contents) > broken_off:
        last = replace(last, contents=last.contents[: len(last.contents) - broken_off])
    return replace(request, messages=[*before, last] if request.messages else [])


def _is_answer(message: ChatMessage) -> bool:
    last = message.contents[-1] if message.contents else None
    return message.role == "assistant" and isinstance(last, TextContent) and bool(last.text.strip())


def _aims(subject: Subject, *, every: bool) -> list[Aim]:
    """Return the models and hosts to try; none for an API that is not a provider's."""
    adapter, limits = subject.adapter, subject.limits
    if not adapter.issuer or limits is None or "request" not in subject.supported:
        return []
    return list(aims(adapter, (*limits.models, *limits.settings_of), every=every))


def _of_value(source: Any, target: Any, tried: list[Aim], value: ChatRequest) -> None:
    _of_payload(source, target, tried, laws.encode(source, "request", value).payload)


def _of_payload(source: Any, target: Any, tried: list[Aim], payload: Any) -> None:
    for aim in tried:
        obedience(source, target, aim, payload)
