"""The checks of one adapter on payloads of its API: from its table, SDK types and samples, and on noise."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hypothesis import strategies as st

from contentmodel import DecodeError
from contentmodel.lines import write_lines
from contentmodel_conformance import conduct, laws
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.examples import example
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.strategies.damage import Edit, added_nulls, replacements, with_one_replaced
from contentmodel_conformance.strategies.sdk import (
    disturbed,
    json_values,
    sdk_fields,
    sdk_literals,
    sdk_members,
    sdk_payloads,
    with_unknowns,
)
from contentmodel_conformance.strategies.tables import table_payloads
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Law, Trial

KindLaw = Callable[[Any, str, Any], None]


@check(conduct.face, "adapter", "the adapter itself")
def adapter(subject: Subject, trial: Trial) -> None:
    trial.once(subject.adapter, conduct.face)
    for kind, why in subject.unsupported.items():
        trial.note(f"the adapter does not support {kind}s, so they were not tried: {why}")


@check(conduct.coverage, "sdk", "the types of the installed SDK", "types")
def sdk_types(subject: Subject, trial: Trial) -> None:
    trial.once(subject.adapter, conduct.coverage)


def of(subject: Subject, law: KindLaw, kind: str) -> Law:
    """Bind a law of payloads or values to an adapter and a kind."""
    return lambda payload: law(subject.adapter, kind, payload)


def keeps(subject: Subject, kind: str) -> Law:
    """Return the laws of identity, purity and model JSON as one law of a payload."""

    def law(payload: Any) -> None:
        laws.identity(subject.adapter, kind, payload)
        laws.purity(subject.adapter, kind, payload)
        laws.model_json(laws.decode(subject.adapter, kind, payload))

    return law


# -- identity ----------------------------------------------------------------------------------------------------------


@check(laws.identity, "sdk", "payloads that the SDK's types allow", "types")
def sdk_identity(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        trial.each(sdk_payloads(subject.api, kind), of(subject, laws.identity, kind), kind)


@check(laws.identity, "unknown", "payloads that the SDK's types allow, with unknown fields and blocks", "types")
def sdk_unknowns(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        trial.each(with_unknowns(sdk_payloads(subject.api, kind)), keeps(subject, kind), kind)


@check(
    laws.identity, "sdk-places", "a minimal payload for each member, field and enum value of the SDK's types", "types"
)
def sdk_places(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for places in (sdk_members, sdk_fields, sdk_literals):
            for name, strategy in sorted(places(subject.api, kind).items()):
                trial.each(strategy, keeps(subject, kind), f"{kind} {name}", share=0.04)


@check(laws.identity, "table", "payloads generated from the adapter's table", "table")
def table_identity(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        strategy = table_payloads(subject.description, subject.written(kind))
        if strategy is not None:
            trial.each(strategy, of(subject, laws.disturbance, kind), kind)
    if not trial.tried:
        trial.note("no block that the adapter writes is in its table")


@check(laws.identity, "given", "payloads given with the adapter", "payloads")
def own_payloads(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        payloads = subject.own(kind)
        if payloads is not None:
            trial.each(payloads, keeps(subject, kind), kind)


@check(laws.identity, "given-unknown", "payloads given with the adapter, with unknown fields and blocks", "payloads")
def own_unknowns(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        payloads = subject.own(kind)
        if payloads is not None:
            trial.each(with_unknowns(payloads), of(subject, laws.disturbance, kind), kind)


@check(example, "given", "payloads given with their expected values", "examples")
def examples(subject: Subject, trial: Trial) -> None:
    for number, pair in enumerate(subject.examples):
        trial.once(pair, partial(example, subject.adapter), f"example {number}")


# -- purity and the model's own JSON -----------------------------------------------------------------------------------


OTHER_PAYLOADS = "payloads from the table, given payloads, and payloads that the adapter wrote"


@check(laws.purity, "sdk", "payloads that the SDK's types allow", "types")
def sdk_purity(subject: Subject, trial: Trial) -> None:
    from_sdk(subject, trial, laws.purity)


@check(laws.purity, "payloads", OTHER_PAYLOADS)
def purity(subject: Subject, trial: Trial) -> None:
    from_others(subject, trial, laws.purity)


@check(laws.model_json, "sdk", "values decoded from payloads that the SDK's types allow", "types")
def sdk_values(subject: Subject, trial: Trial) -> None:
    from_sdk(subject, trial, _of_value(laws.model_json))


@check(laws.model_json, "payloads", f"values decoded from {OTHER_PAYLOADS}")
def model_json(subject: Subject, trial: Trial) -> None:
    from_others(subject, trial, _of_value(laws.model_json))


@check(laws.schema_fits, "sdk", "values decoded from payloads that the SDK's types allow", "types", "jsonschema")
def sdk_schema(subject: Subject, trial: Trial) -> None:
    from_sdk(subject, trial, _of_value(laws.schema_fits))


@check(laws.schema_fits, "payloads", f"values decoded from {OTHER_PAYLOADS}", "jsonschema")
def schema_fits(subject: Subject, trial: Trial) -> None:
    from_others(subject, trial, _of_value(laws.schema_fits))


def from_sdk(subject: Subject, trial: Trial, law: KindLaw) -> None:
    """Try a law on payloads from the SDK's types."""
    for kind in subject.supported:
        trial.each(sdk_payloads(subject.api, kind), of(subject, law, kind), kind)


def from_others(subject: Subject, trial: Trial, law: KindLaw) -> None:
    """Try a law on payloads from the table, on given ones, and on ones that the adapter wrote."""
    for kind in subject.supported:
        for label, strategy in sources(subject, kind):
            if label != "sdk":
                trial.each(strategy, _unless_refused(subject, law, kind), f"{kind} {label}")


def _unless_refused(subject: Subject, law: KindLaw, kind: str) -> Law:
    """Return a law that skips payloads that the adapter refuses. Wrong refusals are found by the law of identity."""

    def tried(payload: Any) -> None:
        try:
            law(subject.adapter, kind, payload)
        except DecodeError:
            raise laws.Refused from None

    return tried


def _of_value(law: Law) -> KindLaw:
    return lambda adapter, kind, payload: law(laws.decode(adapter, kind, payload))


# -- totality ----------------------------------------------------------------------------------------------------------


@check(laws.totality, "bytes", "any bytes")
def any_bytes(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        trial.each(st.binary(max_size=200), of(subject, laws.totality, kind), kind)


@check(laws.totality, "json", "any JSON, as text and as values")
def any_json(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        trial.each(json_values.map(json.dumps), of(subject, laws.totality, kind), f"{kind} text")
        trial.each(json_values, of(subject, laws.totality, kind), f"{kind} values")


@check(laws.disturbance, "anywhere", "payloads with one to three values missing or replaced by arbitrary JSON")
def anything_anywhere(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for label, strategy in sources(subject, kind):
            trial.each(disturbed(strategy), of(subject, laws.disturbance, kind), f"{kind} {label}")


REPLACED = "one value missing, or replaced by null or by an object"


@check(laws.disturbance, "each", f"payloads that the adapter wrote, with {REPLACED}")
def each_replaced(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for payload in with_one_replaced(subject.written(kind)):
            if trial.is_over:
                return
            trial.once(payload, of(subject, laws.disturbance, kind), kind)


@check(laws.disturbance, "given", f"payloads given with the adapter, with {REPLACED}, or with a null added", "payloads")
def given_edited(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        payloads = subject.payloads.get(kind, ())
        for find, most in _EDITS.items():
            if isinstance(payloads, st.SearchStrategy):
                edited = payloads.flatmap(partial(_edited, find))
                trial.each(edited, of(subject, laws.disturbance, kind), kind, share=most / _LEAST)
                continue
            for edit in _some([*find(payloads)], most * trial.examples, trial.seed):
                if trial.is_over:
                    return
                trial.once(edit.applied(), of(subject, laws.disturbance, kind), kind)


_EDITS: dict[Callable[[Iterable[Any]], Iterable[Edit]], int] = {replacements: 30, added_nulls: 5}
"""The edits of payloads, and how many of them are tried for each example of the profile.

Drawing payloads from a strategy takes longer, so fewer edits of them are tried, by the factor `_LEAST`.
"""
_LEAST = 10


def _some(edits: list[Edit], most: int, seed: int) -> list[Edit]:
    """Return at most `most` edits, chosen by a seed."""
    return edits if len(edits) <= most else random.Random(seed).sample(edits, most)


def _edited(find: Callable[[Iterable[Any]], Iterable[Edit]], payload: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of copies of a payload with one edit; of the payload itself if it can have none."""
    edits = [*find([payload])]
    return st.sampled_from(edits).map(Edit.applied) if edits else st.just(payload)


def sources(subject: Subject, kind: str) -> list[tuple[str, st.SearchStrategy[Any]]]:
    """Return all sources of payloads of the API, each with a label."""
    strategies: list[tuple[str, st.SearchStrategy[Any]]] = []
    if not subject.no_types:
        strategies.append(("sdk", sdk_payloads(subject.api, kind)))
    own_payloads = subject.own(kind)
    if own_payloads is not None:
        strategies.append(("own", own_payloads))
    written = subject.written(kind)
    if written:
        strategies.append(("written", st.sampled_from(written)))
    table = None if subject.no_table else table_payloads(subject.description, written)
    if table is not None:
        strategies.append(("table", table))
    return strategies


_DEEP = 10_000
HARD = {
    "deep arrays": b'{"messages":' + b"[" * _DEEP + b"]" * _DEEP + b"}",
    "deep objects": b'{"input":' + b'{"a":' * _DEEP + b"1" + b"}" * _DEEP + b"}",
    "not a number": b'{"messages": [], "temperature": NaN}',
    "infinity": b'{"messages": [], "temperature": -Infinity}',
    "beyond a double": b'{"messages": [], "temperature": 1e999}',
    "cut short": b'{"messages": [{"role": "us',
    "not UTF-8": b'{"model": "\xff\xfe"}',
    "nothing": b"",
    "a number": b"17",
    "a string": b'"messages"',
    "a list of numbers": b"[17]",
}


@check(laws.refusal, "hard", "invalid JSON, and JSON that is not a document", "refusals")
def hard_bytes(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for name, data in HARD.items():
            trial.once(data, of(subject, laws.refusal, kind), f"{kind} {name}")


@check(laws.refusal, "cut", "payloads that the adapter wrote, truncated", "refusals")
def cut_payloads(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for payload in subject.written(kind)[:2]:
            text = json.dumps(payload).encode()
            cuts = st.builds(_start_of, st.just(text), st.integers(0, len(text) - 1))
            trial.each(cuts, of(subject, laws.refusal, kind), kind)


def _start_of(text: bytes, end: int) -> bytes:
    return text[:end]


@check(laws.identity, "lines", "JSON Lines, cut off after the first line, and with lines that are not JSON", "lines")
def damaged_lines(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for label, strategy in sources(subject, kind):
            if label != "table":
                trial.each(strategy.flatmap(_damaged), of(subject, laws.identity_of_lines, kind), f"{kind} {label}")


def _damaged(values: list[Any]) -> st.SearchStrategy[bytes]:
    """Return a strategy of texts: the first lines, one of them cut off or replaced, or all lines and a text."""
    data = write_lines(values)
    cuts = st.integers(data.find(b"\n") + 1, len(data)).map(lambda end: data[:end])
    noise = st.sampled_from([b"torn", b"\xff\xfe", b'"text"', b"{", b"[1,", b"\x00", b"\r\n"])
    return cuts | st.builds(lambda start, text: start[: start.rfind(b"\n") + 1] + text + b"\n" + data, cuts, noise)


# -- detection and replay ---------------------------------------------------------------------------------------------


@check(conduct.detection, "written", "payloads that the adapter wrote")
def written(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for payload in subject.written(kind):
            trial.once(payload, of(subject, conduct.detection, kind), kind)


@check(laws.replay, "sdk", "answers that the SDK's types allow", "judge", "rules")
def sdk_answers(subject: Subject, trial: Trial) -> None:
    accepts = judge(subject.api, "request")

    def law(payload: Any) -> None:
        response = subject.adapter.decode_response(payload)
        if not response.choices:
            raise laws.Refused("the answer has no choices")
        laws.replay(subject.adapter, accepts, response)

    trial.each(sdk_payloads(subject.api, "response"), law)
    for name, strategy in sorted(sdk_members(subject.api, "response").items()):
        trial.each(strategy, law, name, share=0.04)
