"""Law 12: every type in the installed official SDKs stands in a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import contentmodel
from conftest import APIS
from contentmodel_conformance.coverage import sdk_types

# Open sets that the SDKs list and the adapters take as they come: each is one field of ErrorContent.
OPEN = {"error.type": "ErrorContent.code holds any word", "error.code": "a finer word, kept in the residue"}
# What the SDK's types have and the wire has not.
NOT_ON_THE_WIRE = {
    "anthropic-messages": {"request.fields": {"user_profile_id", "workspace_id", "betas"}},
}


@pytest.mark.parametrize("api", APIS)
def test_every_type_of_the_sdk_stands_in_a_table(api: str) -> None:
    named = set(names(contentmodel.adapter(api).describe()))
    missing = {
        position: sorted(tags - named - NOT_ON_THE_WIRE.get(api, {}).get(position, set()))
        for position, tags in sdk_types(api).items()
        if position not in OPEN
    }
    assert {position: tags for position, tags in missing.items() if tags} == {}


def names(value: Any) -> Iterator[str]:
    """Every word of a table's description, and the parts of dotted ones."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from names(key)
            yield from names(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names(item)
    elif isinstance(value, str):
        yield value
        yield from value.split(".")
        yield from value.split(", ")


@pytest.mark.parametrize("api", APIS)
def test_a_table_describes_itself(api: str) -> None:
    described = contentmodel.adapter(api).describe()
    assert described["api"] == api
    rows = [row for union in described["unions"].values() for row in union["rows"]]
    assert rows
    for row in rows:
        assert set(row) == {"name", "model", "constants", "fields"}
