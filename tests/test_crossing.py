"""What crosses from one API to another: it breaks no rule there, leaks nothing, keeps its head, and comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, records
from contentmodel import ChatRequest, convert
from contentmodel_conformance import laws
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.strategies.transcripts import LIMITS, transcripts

PAIRS = list(permutations(APIS, 2))
MODELS = {
    "openai-chat": ("gpt-4.1", "gpt-5.2"),
    "openai-responses": ("gpt-5.2", "gpt-4.1"),
    "anthropic-messages": ("claude-opus-4-8", "claude-sonnet-4-5"),
    "google-generate-content": ("gemini-3-pro-preview", "gemini-2.5-flash"),
}
# Of a conversation that the provider keeps, the request says nothing: nobody can say it in its place.
NOTHING_SAID = {"lists-have-a-fitting-length", "messages-and-max-tokens-are-given", "contents-have-parts"}
# How a request goes on that ends with the assistant's own words, only its author knows.
PREFILLED = {"a-prefill-is-for-older-models", "a-prefill-ends-in-text"}


def accepted(api: str, kind: str) -> Iterator[dict[str, Any]]:
    return (record for record in records(api, kind) if record["status"] in (200, None))


def remaining(payload: Any, target: str, model: str | None) -> list[str]:
    """The violations of a converted request that conversion could have mended."""
    turns = payload.get("messages", payload.get("contents", payload.get("input")))
    excused = set() if turns else NOTHING_SAID
    if turns and isinstance(turns, list) and turns[-1].get("role") == "assistant":
        excused = PREFILLED
    violations = contentmodel.check(payload, api=target, model=model)
    return [str(violation) for violation in violations if violation.rule not in excused]


def each_of(found: Iterator[dict[str, Any]], law: Callable[[Any], None]) -> list[str]:
    """The records that break a law, each with what broke it."""
    broken = []
    for record in found:
        try:
            law(record["body"])
        except (laws.LawBroken, contentmodel.ContentModelError) as error:
            broken.append(f"{record['id']}: {error}")
    return broken


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_recorded_requests_break_no_rule_of_the_target(source: str, target: str, corpus: Any) -> None:
    broken = {}
    for record in accepted(source, "request"):
        for model in (None, *MODELS[target]):
            payload = convert(record["body"], source=source, target=target, kind="request", model=model).payload
            violations = remaining(payload, target, model)
            if violations:
                broken[record["id"], model] = violations
    assert broken == {}


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_no_opaque_value_crosses_issuers(source: str, target: str, kind: str, corpus: Any) -> None:
    here, there = contentmodel.adapter(source), contentmodel.adapter(target)
    assert each_of(accepted(source, kind), lambda body: laws.opacity(here, there, kind, body)) == []


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_could_be_carried_comes_back(source: str, target: str, kind: str, corpus: Any) -> None:
    here, there = contentmodel.adapter(source), contentmodel.adapter(target)
    assert each_of(accepted(source, kind), lambda body: laws.restoration(here, there, kind, body)) == []


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("source", APIS)
def test_what_was_written_stays_when_a_turn_is_added(source: str, target: str, corpus: Any) -> None:
    here, there = contentmodel.adapter(source), contentmodel.adapter(target)
    assert each_of(accepted(source, "request"), lambda body: laws.prefixes(there, here.decode_request(body))) == []


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(data=st.data())
def test_transcripts_as_agents_leave_them_cross(source: str, target: str, data: st.DataObject) -> None:
    request = data.draw(transcripts(source))
    here, there = contentmodel.adapter(source), contentmodel.adapter(target)
    payload = here.encode_request(request).payload
    laws.identity(here, "request", payload)
    model = LIMITS[target].model
    encoded = convert(payload, source=source, target=target, kind="request", model=model)
    laws.acceptance(judge(target, "request"), encoded)
    assert remaining(encoded.payload, target, model) == []
    laws.accounting(payload, encoded)
    laws.opacity(here, there, "request", payload)
    laws.restoration(here, there, "request", payload)
    laws.prefixes(there, here.decode_request(payload))


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_a_transcript_keeps_its_head_at_home(api: str, data: st.DataObject) -> None:
    request: ChatRequest = data.draw(transcripts(api))
    laws.prefixes(contentmodel.adapter(api), request)
