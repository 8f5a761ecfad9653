"""The checks of guests: blocks of providers that a format keeps in a spelling of its own."""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from contentmodel_conformance import laws
from contentmodel_conformance.checks.crossing import accounted, each_way
from contentmodel_conformance.checks.payloads import of
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.guests import guests, of_provider
from contentmodel_conformance.strategies.guests import guest_documents, odd_guests
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

ON = "documents with blocks of providers, from the forms of the format"


@check(laws.identity, "guests", ON, "guests")
def kept(subject: Subject, trial: Trial) -> None:
    trial.each(_documents(subject), of(subject, laws.identity, "request"), share=4)


@check(laws.disturbance, "guests", f"{ON}, with one odd or missing value", "guests")
def odd(subject: Subject, trial: Trial) -> None:
    trial.each(_odd(subject), of(subject, laws.disturbance, "request"), share=4)


@check(laws.conversion, "guests", f"{ON}, with one odd or missing value, to every other API", "guests", "others")
def odd_crossing(subject: Subject, trial: Trial) -> None:
    targets = subject.others_by_kind["request"]
    each_way(trial, _odd(subject), laws.conversion, subject.adapter, targets, "request")


@check(laws.accounting, "guests", f"{ON}, to every other API", "guests", "others")
def accounting(subject: Subject, trial: Trial) -> None:
    each_way(trial, _documents(subject), accounted, subject.adapter, subject.others_by_kind["request"], "request")


@check(laws.accounting, "kept-guests", "requests of providers with such blocks, to the format", "guests")
def kept_accounting(subject: Subject, trial: Trial) -> None:
    def law(document: Any) -> None:
        provider, payload = of_provider(subject.adapter, "request", document)
        accounted(provider, subject.adapter, "request", payload)

    trial.each(_documents(subject), law)


@check(guests, "crossing", f"{ON}, to every provider", "guests", "others")
def crossing(subject: Subject, trial: Trial) -> None:
    providers = [other for other in subject.others_by_kind["request"] if getattr(other, "issuer", "")]
    each_way(trial, _documents(subject), guests, subject.adapter, providers, "request")


def _odd(subject: Subject) -> SearchStrategy[Any]:
    return odd_guests(subject.description, _documents(subject))


def _documents(subject: Subject) -> SearchStrategy[Any]:
    documents = guest_documents(subject.description, subject.guests, subject.written("request"))
    assert documents is not None
    return documents
