"""The checks of two adapters: conversion to another API and back. All installed adapters are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from contentmodel import DecodeError
from contentmodel.auditing import STRUCTURE
from contentmodel_conformance import laws, mapping
from contentmodel_conformance.checks.payloads import sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.precision import MOST, precision, reported_once
from contentmodel_conformance.strategies.damage import misfitting
from contentmodel_conformance.strategies.sdk import disturbed, sdk_members, sdk_payloads, with_unknowns
from contentmodel_conformance.strategies.transcripts import answers, cited_answers, transcripts
from contentmodel_conformance.subject import KINDS, Subject, is_source, limits_of
from contentmodel_conformance.trying import Law, Trial

Way = tuple[Any, Any, str]
"""The source adapter, the target adapter, and the kind."""
WayLaw = Callable[[Any, Any, str, Any], None]


def ways(subject: Subject, *kinds: str) -> Iterator[Way]:
    """Yield every way from and to the adapter.

    A store is only a target: its content has the origins of other APIs.
    """
    adapter = subject.adapter
    for kind in kinds or KINDS:
        for other in subject.others_by_kind[kind] if kind in subject.supported else ():
            pairs = [(adapter, other)] if subject.is_one_of_many else [(adapter, other), (other, adapter)]
            yield from ((source, target, kind) for source, target in pairs if is_source(source))


def conversations(source: Any, kind: str) -> Any:
    """Return a strategy of model values that came from an API."""
    limits = limits_of(source)
    if kind == "request":
        return transcripts(source.api, limits)
    made = answers(source.api, limits)
    return made | cited_answers(source.api, limits) if limits is not None and limits.cites else made


def along(trial: Trial, subject: Subject, law: WayLaw, *kinds: str) -> None:
    """Try a law of payloads on every way, on payloads that the source encodes from its own conversations."""
    for source, target, kind in ways(subject, *kinds):
        trial.each(conversations(source, kind), _of_payload(law, source, target, kind), label(source, target, kind))


def label(source: Any, target: Any, kind: str) -> str:
    """Return the label of a way."""
    return f"{kind} {source.api} to {target.api}"


def _of_payload(law: WayLaw, source: Any, target: Any, kind: str) -> Law:
    return lambda value: law(source, target, kind, laws.encode(source, kind, value).payload)


@check(laws.accounting, "crossing", "conversations, from and to every other API", "others")
def accounting(subject: Subject, trial: Trial) -> None:
    along(trial, subject, accounted)


def accounted(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Check accounting of a converted payload."""
    original, encoded = laws.loss_source(source, kind, payload), laws.crossed(source, target, kind, payload)
    laws.accounting(original, encoded, laws.vocabulary_for(source), laws.vocabulary_for(target))


@check(precision, "crossing", "conversations, from and to every other API", "others")
def crossing_precision(subject: Subject, trial: Trial) -> None:
    along(trial, subject, precise)


def precise(source: Any, target: Any, kind: str, payload: Any, *, most: int = MOST) -> None:
    """Check precision of a converted payload."""
    original, encoded = laws.loss_source(source, kind, payload), laws.crossed(source, target, kind, payload)
    precision(original, encoded, laws.vocabulary_for(source), laws.vocabulary_for(target), most=most)


@check(laws.accounting, "list", "lists of messages instead of requests, to every other API and to its own", "others")
def lists(subject: Subject, trial: Trial) -> None:
    field = getattr(subject.adapter, "conversation", "")
    is_field = field and subject.no_lines and "request" in subject.supported
    for target in [subject.adapter, *subject.others_by_kind["request"]] if is_field else []:
        law = _of_payload(_of_list(field), subject.adapter, target, "request")
        trial.each(conversations(subject.adapter, "request"), law, label(subject.adapter, target, "request"))


def _of_list(field: str) -> WayLaw:
    def law(source: Any, target: Any, kind: str, payload: Any) -> None:
        items = payload if isinstance(payload, list) else payload[field]
        if source is target:
            laws.identity(source, kind, items)
        else:
            accounted(source, target, kind, items)

    return law


@check(laws.accounting, "sdk", "requests and answers that the SDK's types allow, to every other API", "types", "others")
def sdk_crossing(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for other in subject.others_by_kind[kind]:
            law = _accounts(subject.adapter, other, kind)
            trial.each(sdk_payloads(subject.api, kind), law, label(subject.adapter, other, kind))


@check(
    laws.accounting,
    "sdk-members",
    "a minimal payload for each member of the SDK's types, to every other API",
    "types",
    "others",
)
def members_accounting(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        laws_of_all = [_accounts(subject.adapter, other, kind) for other in subject.others_by_kind[kind]]
        for name, strategy in sorted(sdk_members(subject.api, kind).items()):
            # The first example is minimal, with empty texts: it has no values to lose.
            trial.each(strategy, _all(laws_of_all), f"{kind} {name}", share=0.08)


def _all(laws_to_try: list[Law]) -> Law:
    return lambda value: [law(value) for law in laws_to_try]


def _accounts(source: Any, target: Any, kind: str) -> Law:
    """Return a law of conversion, accounting and single reports of losses, also for unrealistic payloads."""

    def law(payload: Any) -> None:
        encoded, missing = laws.converted(source, target, kind, payload)
        laws.require_complete(missing)
        reported_once(encoded.losses)

    return law


def _crosses(source: Any, target: Any, kind: str) -> Law:
    """Return the law of conversion, for unrealistic payloads: no errors, and losses have paths."""
    return lambda payload: laws.conversion(source, target, kind, payload)


@check(
    laws.conversion,
    "anywhere",
    "payloads with one to three values missing or replaced by arbitrary JSON, from and to every other API",
    "others",
)
def anything_converted(subject: Subject, trial: Trial) -> None:
    for source, target, kind in ways(subject):
        reader = subject if source is subject.adapter else Subject(source, others=[target])
        for name, strategy in sources(reader, kind):
            trial.each(disturbed(strategy), _crosses(source, target, kind), f"{label(source, target, kind)} {name}")


@check(laws.accounting, "misfits", "conversations whose roles, types and statuses have a wrong JSON type", "others")
def misfits(subject: Subject, trial: Trial) -> None:
    for source, target, kind in ways(subject):
        written = conversations(source, kind).map(partial(_written, source, kind))
        payloads = written.flatmap(partial(misfitting, fields=STRUCTURE | laws.vocabulary_for(source).structure))
        trial.each(payloads, partial(_accounted_or_refused, source, target, kind), label(source, target, kind))


@check(
    laws.accounting, "unknown", "conversations with unknown fields and blocks, from and to every other API", "others"
)
def unknowns(subject: Subject, trial: Trial) -> None:
    for source, target, kind in ways(subject):
        payloads = with_unknowns(conversations(source, kind).map(partial(_written, source, kind)))
        trial.each(payloads, partial(accounted, source, target, kind), label(source, target, kind))


def _written(source: Any, kind: str, value: Any) -> Any:
    return laws.encode(source, kind, value).payload


def _accounted_or_refused(source: Any, target: Any, kind: str, payload: Any) -> None:
    try:
        laws.decode(source, kind, payload)
    except DecodeError:
        raise laws.Refused from None
    accounted(source, target, kind, payload)


@check(laws.acceptance, "crossing", "conversations, from and to every other API", "others")
def acceptance(subject: Subject, trial: Trial) -> None:
    for source, target, kind in ways(subject):
        try:
            accepts = judge(target.api, kind)
        except (LookupError, ImportError):
            continue
        law = _of_payload(_acceptance(accepts), source, target, kind)
        trial.each(conversations(source, kind), law, label(source, target, kind))


def _acceptance(accepts: Any) -> WayLaw:
    def law(source: Any, target: Any, kind: str, payload: Any) -> None:
        laws.acceptance(accepts, laws.crossed(source, target, kind, payload, limits_of(target).model))

    return law


@check(laws.rules, "crossing", "requests, from and to every other API", "others")
def rules(subject: Subject, trial: Trial) -> None:
    along(trial, subject, _rules, "request")


def _rules(source: Any, target: Any, kind: str, payload: Any) -> None:
    model = limits_of(target).model
    laws.rules(target, laws.crossed(source, target, kind, payload, model), model)


@check(laws.opacity, "crossing", "conversations, from and to every other API", "others")
def opacity(subject: Subject, trial: Trial) -> None:
    along(trial, subject, laws.opacity)


@check(laws.restoration, "crossing", "conversations, from and to every other API", "others")
def restoration(subject: Subject, trial: Trial) -> None:
    along(trial, subject, laws.restoration)


@check(mapping.maps, "crossing", "requests, from and to every other API", "others")
def maps(subject: Subject, trial: Trial) -> None:
    along(trial, subject, mapping.maps, "request")


@check(laws.prefixes, "crossing", "requests, from and to every other API", "others")
def prefixes(subject: Subject, trial: Trial) -> None:
    along(trial, subject, continued, "request")


def continued(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Check prefixes of a converted request."""
    laws.prefixes(target, source.decode_request(payload))
