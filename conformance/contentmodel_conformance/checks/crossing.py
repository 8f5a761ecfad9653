"""The checks of two adapters: conversion to another API and back. All installed adapters are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from contentmodel import ChatChoice, ChatMessage, ChatRequest, ChatResponse, DecodeError, TextContent
from contentmodel.auditing import STRUCTURE, leaves
from contentmodel_conformance import laws, mapping
from contentmodel_conformance.checks.payloads import sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.precision import MOST, precision, reported_once
from contentmodel_conformance.strategies.damage import misfitting
from contentmodel_conformance.strategies.sdk import disturbed, sdk_members, sdk_payloads, with_unknowns
from contentmodel_conformance.strategies.transcripts import answers, cited_answers, transcripts
from contentmodel_conformance.subject import KINDS, Subject, is_source, limits_of
from contentmodel_conformance.trying import Trial

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
    strategy = answers(source.api, limits)
    return strategy | cited_answers(source.api, limits) if limits is not None and limits.cites else strategy


def fans(subject: Subject, *kinds: str) -> Iterator[tuple[Any, list[Any], str]]:
    """Yield every source and kind of the ways, with all its targets."""
    targets: dict[tuple[str, str], tuple[Any, list[Any], str]] = {}
    for source, target, kind in ways(subject, *kinds):
        targets.setdefault((source.api, kind), (source, [], kind))[1].append(target)
    yield from targets.values()


def along(trial: Trial, subject: Subject, law: WayLaw, *kinds: str) -> None:
    """Try a law of payloads on every way, on payloads that the source encodes from its own conversations."""
    for source, targets, kind in fans(subject, *kinds):
        each_way(trial, conversations(source, kind), law_of_payloads(law), source, targets, kind)


def each_way(
    trial: Trial,
    values: Any,
    law: WayLaw,
    source: Any,
    targets: list[Any],
    kind: str,
    name: str = "",
    share: float = 1.0,
) -> None:
    """Try a law on generated values, each on the ways to all targets. `name` follows the way in labels."""
    laws_of_ways = {f"{label(source, target, kind)}{name}": partial(law, source, target, kind) for target in targets}
    trial.each_of(values, laws_of_ways, share)


def law_of_payloads(law: WayLaw) -> WayLaw:
    """Return a law of model values for a law of their payloads. Each value is encoded once for all targets."""
    last: tuple[Any, Any] = None, None

    def encoded(source: Any, target: Any, kind: str, value: Any) -> None:
        nonlocal last
        if last[0] is not value:
            last = value, laws.encode(source, kind, value).payload
        law(source, target, kind, last[1])

    return encoded


def label(source: Any, target: Any, kind: str) -> str:
    """Return the label of a way."""
    return f"{kind} {source.api} to {target.api}"


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
    vocabularies = laws.vocabulary_for(source), laws.vocabulary_for(target)
    precision(original, encoded, *vocabularies, most=most, usual=usual_values(target, kind))


@cache
def usual_values(target: Any, kind: str) -> frozenset[Any]:
    """Return the values that an adapter writes for the shortest conversation, such as those of a header."""
    messages = [ChatMessage(role="user" if kind == "request" else "assistant", contents=[TextContent(text=".")])]
    short = (
        ChatRequest(messages=messages) if kind == "request" else ChatResponse(choices=[ChatChoice(messages=messages)])
    )
    return frozenset(value for _, value, _ in leaves(laws.encode(target, kind, short).payload))


@check(laws.accounting, "list", "lists of messages instead of requests, to every other API and to its own", "others")
def lists(subject: Subject, trial: Trial) -> None:
    field = getattr(subject.adapter, "conversation", "")
    is_field = field and subject.no_lines and "request" in subject.supported
    if is_field:
        source, targets = subject.adapter, [subject.adapter, *subject.others_by_kind["request"]]
        law = law_of_payloads(_of_list(field))
        each_way(trial, conversations(source, "request"), law, source, targets, "request")


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
        payloads, targets = sdk_payloads(subject.api, kind), list(subject.others_by_kind[kind])
        each_way(trial, payloads, _accounts, subject.adapter, targets, kind)


@check(
    laws.accounting,
    "sdk-members",
    "a minimal payload for each member of the SDK's types, to every other API",
    "types",
    "others",
)
def members_accounting(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        targets = list(subject.others_by_kind[kind])
        for name, strategy in sorted(sdk_members(subject.api, kind).items()):
            # The first example is minimal, with empty texts: it has no values to lose.
            each_way(trial, strategy, _accounts, subject.adapter, targets, kind, f" {name}", share=0.08)


def _accounts(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Check conversion, accounting and single reports of losses, also of unrealistic payloads."""
    encoded, missing = laws.converted(source, target, kind, payload)
    laws.require_complete(missing)
    reported_once(encoded.losses)


@check(
    laws.conversion,
    "anywhere",
    "payloads with one to three values missing or replaced by arbitrary JSON, from and to every other API",
    "others",
)
def anything_converted(subject: Subject, trial: Trial) -> None:
    for source, targets, kind in fans(subject):
        reader = subject if source is subject.adapter else Subject(source, others=targets)
        for name, strategy in sources(reader, kind):
            each_way(trial, disturbed(strategy), laws.conversion, source, targets, kind, f" {name}")


@check(laws.accounting, "misfits", "conversations whose roles, types and statuses have a wrong JSON type", "others")
def misfits(subject: Subject, trial: Trial) -> None:
    for source, targets, kind in fans(subject):
        written = conversations(source, kind).map(partial(_written, source, kind))
        payloads = written.flatmap(partial(misfitting, fields=STRUCTURE | laws.vocabulary_for(source).structure))
        each_way(trial, payloads, _accounted_or_refused, source, targets, kind)


@check(
    laws.accounting, "unknown", "conversations with unknown fields and blocks, from and to every other API", "others"
)
def unknowns(subject: Subject, trial: Trial) -> None:
    for source, targets, kind in fans(subject):
        payloads = with_unknowns(conversations(source, kind).map(partial(_written, source, kind)))
        each_way(trial, payloads, accounted, source, targets, kind)


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
    along(trial, subject, _accepted)


def _accepted(source: Any, target: Any, kind: str, payload: Any) -> None:
    try:
        accepts = judge(target.api, kind)
    except (LookupError, ImportError):
        raise laws.Refused(f"no types of {target.api} are installed") from None
    laws.acceptance(accepts, laws.crossed(source, target, kind, payload, limits_of(target).model))


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
