"""The checks of plans: a step that a plan leaves out has no work."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from contentmodel import ChatRequest, ChatResponse, Origin
from contentmodel_conformance.checks.crossing import along, each_way
from contentmodel_conformance.checks.recorded import crossing
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.obedience import Aim, aims
from contentmodel_conformance.planning import planning, planning_of
from contentmodel_conformance.strategies.facts import rare_answers, rare_requests
from contentmodel_conformance.strategies.guests import guest_documents
from contentmodel_conformance.strategies.model import requests
from contentmodel_conformance.subject import Subject, limits_of
from contentmodel_conformance.trying import Trial


@check(planning, "crossing", "conversations, from and to every other API", "others")
def generated(subject: Subject, trial: Trial) -> None:
    along(trial, subject, planning, "request")


@check(planning, "any", "any requests of the model")
def values(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        trial.each(requests(), partial(planning_of, subject.adapter))


@check(planning, "rare", "short requests with one thing that few requests have, for models and hosts")
def rare(subject: Subject, trial: Trial) -> None:
    if "request" not in subject.supported:
        return
    adapter, limits = subject.adapter, limits_of(subject.adapter)
    models = (*limits.models, *limits.settings_of)
    has_hosts = getattr(adapter, "dialects", None) is not None
    tried = [*(aims(adapter, models, every=False) if has_hosts else ()), (limits.model, None)]
    for number, (name, values) in enumerate(rare_requests().items()):
        law = partial(_of_aimed, adapter, limits.models, tried[number % len(tried)])
        trial.each(values, law, name, share=0.08)


def _of_aimed(adapter: Any, models: tuple[str, ...], aim: Aim, request: ChatRequest) -> None:
    for aimed, policies in _aimed(adapter, request, models, aim):
        planning_of(adapter, aimed, policies)


def _aimed(
    adapter: Any, request: ChatRequest, models: tuple[str, ...], aim: Aim
) -> Iterator[tuple[ChatRequest, dict[str, str] | None]]:
    """Yield a request of the application, and the same as one of the adapter's API, for models and hosts."""
    model, policies = aim
    origin = Origin(api=adapter.api, issuer=adapter.issuer, model=models[0])
    own_messages = [replace(message, origin=origin) for message in request.messages]
    for usual in models:
        yield replace(request, model=usual), None
    yield replace(request, model=model), policies
    yield replace(request, model=models[0], messages=own_messages, origin=origin), None
    yield replace(request, model=model, messages=own_messages, origin=origin), policies
    yield replace(request, model=model, messages=own_messages), policies


@check(planning, "answers", "short answers with one thing that few answers have")
def answers(subject: Subject, trial: Trial) -> None:
    if "response" not in subject.supported:
        return
    adapter = subject.adapter
    origin = Origin(api=adapter.api, issuer=adapter.issuer, model=limits_of(adapter).model, is_answer=True)

    def law(response: ChatResponse) -> None:
        planning_of(adapter, response)
        choices = [
            replace(choice, messages=[replace(message, origin=origin) for message in choice.messages])
            for choice in response.choices
        ]
        planning_of(adapter, replace(response, model=origin.model, choices=choices, origin=origin))

    for name, values in rare_answers().items():
        trial.each(values, law, name, share=0.08)


@check(planning, "guests", "documents with blocks of providers, to every provider", "guests", "others")
def kept(subject: Subject, trial: Trial) -> None:
    providers = [other for other in subject.others_by_kind["request"] if getattr(other, "issuer", "")]
    documents = guest_documents(subject.description, subject.guests, subject.written("request"))
    each_way(trial, documents, planning, subject.adapter, providers, "request")


@check(planning, "recorded", "recorded requests, from and to every other API", "corpus", "others")
def recorded(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, planning, "request")
