"""Law 1: decode then encode within one API gives the same JSON value; and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, records
from contentmodel_conformance import laws
from contentmodel_conformance.strategies.sdk import sdk_fields, sdk_literals, sdk_members, sdk_payloads, with_unknowns

KINDS = ("request", "response")
CASES = [(api, kind) for api in APIS for kind in KINDS]


def accepted(api: str, kind: str) -> list[dict[str, Any]]:
    """Recorded payloads that their provider accepted, and error bodies among the responses."""
    found = [r for r in records(api, kind) if r["status"] in (200, None)]
    return [*found, *records(api, "error")] if kind == "response" else found


@pytest.mark.parametrize(("api", "kind"), CASES)
def test_what_was_recorded_comes_back(api: str, kind: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    broken = []
    for record in accepted(api, kind):
        try:
            laws.identity(adapter, kind, record["body"])
            laws.purity(adapter, kind, record["body"])
            laws.model_json(laws.decode(adapter, kind, record["body"]))
        except (laws.LawBroken, contentmodel.ContentModelError) as error:
            broken.append(f"{record['id']}: {error}")
    assert broken == []


@pytest.mark.parametrize(("api", "kind"), CASES)
def test_no_recorded_block_is_unknown(api: str, kind: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    unknown = [
        f"{record['id']}: {content.block}"
        for record in accepted(api, kind)
        for content in contents_of(laws.decode(adapter, kind, record["body"]))
        if isinstance(content, contentmodel.UnknownContent)
    ]
    assert unknown == []


def contents_of(value: Any) -> list[Any]:
    """Every content of a request or response, outputs of tools included."""
    choices = getattr(value, "choices", [])
    messages = [m for choice in choices for m in choice.messages] if choices else getattr(value, "messages", [])
    found = [*getattr(value, "instructions", []), *(c for message in messages for c in message.contents)]
    for content in found:
        found.extend(getattr(content, "outputs", ()))
    return found


@pytest.mark.parametrize(("api", "kind"), CASES)
@given(data=st.data())
def test_what_the_sdk_allows_comes_back(api: str, kind: str, data: st.DataObject) -> None:
    payload = data.draw(sdk_payloads(api, kind))
    check(api, kind, payload)


@pytest.mark.parametrize(("api", "kind"), CASES)
@given(data=st.data())
def test_what_nobody_knows_yet_comes_back(api: str, kind: str, data: st.DataObject) -> None:
    payload = data.draw(with_unknowns(sdk_payloads(api, kind)))
    check(api, kind, payload)


@pytest.mark.parametrize(("api", "kind"), CASES)
@pytest.mark.parametrize("places", [sdk_members, sdk_fields, sdk_literals], ids=["members", "fields", "literals"])
def test_every_place_of_the_sdk_types_comes_back(api: str, kind: str, places: Any) -> None:
    few = settings(max_examples=max(1, settings.default.max_examples // 25))
    for _, strategy in sorted(places(api, kind).items()):
        few(given(strategy)(lambda payload: check(api, kind, payload)))()


def check(api: str, kind: str, payload: dict[str, Any]) -> None:
    adapter = contentmodel.adapter(api)
    laws.identity(adapter, kind, payload)
    laws.purity(adapter, kind, payload)
    laws.model_json(laws.decode(adapter, kind, payload))
