"""The checks on recorded payloads: round trips, and conversions to other APIs and back."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from contentmodel_conformance import conduct, laws
from contentmodel_conformance.checks.crossing import Way, WayLaw, accounted, continued, label, precise, ways
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.differences import Label
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.precision import precision
from contentmodel_conformance.recordings import Record
from contentmodel_conformance.subject import Subject, limits_of
from contentmodel_conformance.trying import Law, Trial


@check(conduct.readable, "recorded", "the lines of the corpus for this API", "corpus")
def corpus_lines(subject: Subject, trial: Trial) -> None:
    assert subject.recordings is not None
    for record in subject.recordings.of(subject.api, "request", "response", "error", "stream"):
        trial.once(record, lambda recording: None, source=record.source)
    for line in subject.recordings.bad.get(subject.api, ()):
        trial.once(line, conduct.readable, source=line.partition(": ")[0])


def payloads(subject: Subject, api: str, kind: str) -> list[Record]:
    """Return recorded payloads that the provider accepted. Error bodies count as responses."""
    assert subject.recordings is not None
    kinds = ("response", "error") if kind == "response" else (kind,)
    return subject.recordings.accepted(api, *kinds)


def each(subject: Subject, trial: Trial, law: Callable[[str, Any], None]) -> None:
    """Try a law on the recorded payloads of the adapter's API."""
    for kind in subject.supported:
        for record in payloads(subject, subject.api, kind):
            trial.once(record.body, partial(law, kind), kind, record.source)


@check(laws.identity, "recorded", "recorded requests, answers and errors", "corpus")
def recorded(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda kind, body: laws.identity(subject.adapter, kind, body))


@check(laws.purity, "recorded", "recorded requests, answers and errors", "corpus")
def recorded_purity(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda kind, body: laws.purity(subject.adapter, kind, body))


@check(laws.model_json, "recorded", "values decoded from recorded requests, answers and errors", "corpus")
def recorded_values(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda kind, body: laws.model_json(laws.decode(subject.adapter, kind, body)))


@check(
    laws.schema_fits, "recorded", "values decoded from recorded requests, answers and errors", "corpus", "jsonschema"
)
def recorded_schema(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda kind, body: laws.schema_fits(laws.decode(subject.adapter, kind, body)))


@check(conduct.known, "recorded", "blocks of recorded requests and answers", "corpus")
def recorded_blocks(subject: Subject, trial: Trial) -> None:
    each(subject, trial, lambda kind, body: conduct.known(laws.decode(subject.adapter, kind, body)))


@check(laws.rules, "recorded", "recorded requests that the provider accepted", "corpus", "rules")
def recorded_requests(subject: Subject, trial: Trial) -> None:
    def law(body: Any) -> None:
        for violation in subject.adapter.check_request(body):
            if violation.severity == "unchecked":
                continue
            detail = f"{violation.rule} ({violation.severity}): {violation.message}"
            expected = Label("no violation: the provider accepted it")
            raise laws.LawBroken("rules", violation.path, detail, expected, Label("a violation"))

    for record in payloads(subject, subject.api, "request"):
        trial.once(record.body, law, source=record.source)


@check(laws.replay, "recorded", "recorded answers of the API's own host that its SDK's types allow", "corpus", "judge")
def recorded_answers(subject: Subject, trial: Trial) -> None:
    accepts, allows = judge(subject.api, "request"), judge(subject.api, "response")

    def law(body: Any) -> None:
        response = subject.adapter.decode_response(body)
        # Faults outside of lists are in the envelope of the answer, which requests do not repeat.
        if not response.choices or any(re.match(r"\$(\.\w+)+\[", fault) for fault in allows.faults(body)):
            raise laws.Refused("the SDK's types do not allow the answer")
        laws.replay(subject.adapter, accepts, response)

    for record in payloads(subject, subject.api, "response"):
        if record.kind == "response" and record.data.get("dialect") is None:
            trial.once(record.body, law, source=record.source)


# -- crossing ----------------------------------------------------------------------------------------------------------


def crossing(subject: Subject, trial: Trial, law: WayLaw, *kinds: str, itself: bool = False, one_of: int = 1) -> None:
    """Try a law on every way, on the recordings of the source API. With `one_of` n, try about one of n records."""
    records: Iterable[Way] = ways(subject, *kinds)
    if itself:
        records = [*records, *((subject.adapter, subject.adapter, kind) for kind in kinds)]
    for source, target, kind in records:
        for record in payloads(subject, source.api, kind):
            if record.kind == kind and zlib.crc32(record.id.encode()) % one_of == 0:
                trial.once(record.body, _law(law, source, target, kind), label(source, target, kind), record.source)


def _law(law: WayLaw, source: Any, target: Any, kind: str) -> Law:
    return lambda body: law(source, target, kind, body)


@check(laws.accounting, "recorded", "recorded requests and answers, from and to every other API", "corpus", "others")
def recorded_audit(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, accounted)


@check(precision, "recorded", "recorded requests and answers, from and to every other API", "corpus", "others")
def recorded_precision(subject: Subject, trial: Trial) -> None:
    """Try precision. A quick run deletes one value of about every third payload."""
    most, one_of = (100, 1) if trial.deep else (1, 3)
    crossing(subject, trial, partial(precise, most=most), one_of=one_of)


@check(laws.acceptance, "recorded", "recorded requests and answers, from and to every other API", "corpus", "others")
def recorded_acceptance(subject: Subject, trial: Trial) -> None:
    def law(source: Any, target: Any, kind: str, body: Any) -> None:
        try:
            accepts = judge(target.api, kind)
        except (LookupError, ImportError):
            raise laws.Refused from None
        laws.acceptance(accepts, laws.crossed(source, target, kind, body))

    crossing(subject, trial, law)


@check(laws.rules, "recorded-crossing", "recorded requests, from and to every other API", "corpus", "others")
def recorded_crossing(subject: Subject, trial: Trial) -> None:
    def law(source: Any, target: Any, kind: str, body: Any) -> None:
        for model in (None, *limits_of(target).models):
            laws.rules(target, laws.crossed(source, target, kind, body, model), model)

    crossing(subject, trial, law, "request")


@check(laws.opacity, "recorded", "recorded requests and answers, from and to every other API", "corpus", "others")
def recorded_opacity(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, laws.opacity)


@check(laws.restoration, "recorded", "recorded requests and answers, from and to every other API", "corpus", "others")
def recorded_restoration(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, laws.restoration)


@check(laws.prefixes, "recorded", "recorded requests, from and to every API", "corpus")
def recorded_prefixes(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, continued, "request", itself=True)
