"""The checks of agreement: hand-written readers find the same facts in a payload and in its conversion."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contentmodel import TextContent
from contentmodel_conformance.agreement import agreement
from contentmodel_conformance.checks.crossing import WayLaw, conversations, each_way, fans, law_of_payloads
from contentmodel_conformance.checks.recorded import crossing
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.laws import Refused
from contentmodel_conformance.strategies.sdk import sdk_payloads
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


def law_of_readers(subject: Subject) -> WayLaw:
    """Return the law of agreement, with the readers of the subject."""

    def law(source: Any, target: Any, kind: str, payload: Any) -> None:
        readers = subject.reader_of(source), subject.reader_of(target)
        if readers[0] is None or readers[1] is None:
            raise Refused(f"no reader of {target.api if readers[0] else source.api}")
        agreement((readers[0], readers[1]), source, target, kind, payload)

    return law


@check(agreement, "crossing", "conversations, from and to every other API", "others", "reader")
def generated(subject: Subject, trial: Trial) -> None:
    law = law_of_payloads(law_of_readers(subject))
    for source, targets, kind in fans(subject):
        values = conversations(source, kind)
        if kind == "request":
            values = values.map(_with_texts_apart)
        each_way(trial, values, law, source, targets, kind)


def _with_texts_apart(request: Any) -> Any:
    """Return the request with a second text after the first content of each user message."""
    messages = [
        replace(message, contents=[*message.contents[:1], TextContent(text="And this."), *message.contents[1:]])
        if message.role == "user"
        else message
        for message in request.messages
    ]
    return replace(request, messages=messages)


@check(agreement, "sdk", "answers that the SDK's types allow, to every other API", "types", "others", "reader")
def typed(subject: Subject, trial: Trial) -> None:
    for source, targets, kind in fans(subject, "response"):
        if source is subject.adapter:
            each_way(trial, sdk_payloads(subject.api, kind), law_of_readers(subject), source, targets, kind)


@check(
    agreement, "recorded", "recorded requests and answers, from and to every other API", "corpus", "others", "reader"
)
def recorded(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, law_of_readers(subject))
