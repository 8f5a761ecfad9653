"""Payloads generated from an adapter's table: its blocks with their fields, at the places of blocks of the same union.

A table describes blocks, but not their places. So the adapter encodes a conversation, and blocks of the same union
replace those in it. The result may be an invalid payload: if the adapter refuses it, the law does not apply.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contentmodel.json import path_keys
from contentmodel_conformance.strategies.sdk import json_values

__all__ = ["table_payloads"]

Unions: TypeAlias = dict[str, dict[str, Any]]
Place: TypeAlias = tuple[list[Any], int, str]

_TEXT = st.text(max_size=8)
_DEPTH = 2
_FORMS: dict[str, SearchStrategy[Any]] = {
    "str": _TEXT,
    "int": st.integers(0, 99),
    "int|float": st.integers(0, 99) | st.floats(0, 9),
    "bool": st.booleans(),
    "dict": st.dictionaries(_TEXT, json_values, max_size=2),
    "dict|str": _TEXT,
    "list|str": _TEXT,
    "list[str]": st.lists(_TEXT, max_size=2),
    "opaque": st.binary(min_size=3, max_size=9).map(lambda data: base64.b64encode(data).decode()),
    "data uri": st.sampled_from(
        [
            "data:image/png;base64,+/8=",
            "data:image/png;base64,-_8",
            "data:application/pdf;base64,JVBERg==",
            "data:;base64,AAAA",
            "data:image/png;base64,no, really",
        ]
    ),
    "any": json_values,
}


def table_payloads(described: dict[str, Any], samples: list[Any]) -> SearchStrategy[Any] | None:
    """Return a strategy of `samples`, which the adapter wrote, with blocks of its table; None if they have no place."""
    unions = described["unions"]
    usable = [sample for sample in samples if any(True for _ in _places(sample, unions))]
    return _payloads(unions, usable) if usable else None


@st.composite
def _payloads(draw: DrawFn, unions: Unions, samples: list[Any]) -> Any:
    payload = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(payload, unions))
        if not places:
            break
        owner, index, name = draw(st.sampled_from(places))
        block = _block(draw, unions, name, _DEPTH)
        if draw(st.booleans()):
            owner[index] = block
        else:
            owner.insert(index, block)
    return payload


def _places(value: Any, unions: Unions) -> Iterator[Place]:
    """Yield every list element that a union has a row for: the list, the index, and the union's name."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _places(item, unions)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield from ((value, index, name) for name, union in unions.items() if is_of(item, union))
            yield from _places(item, unions)


def is_of(block: dict[str, Any], union: dict[str, Any]) -> bool:
    """Return whether a union has a row for a block."""
    return any(_fits(block, row) for row in union["rows"])


def _fits(block: dict[str, Any], row: dict[str, Any]) -> bool:
    constants = row["constants"].items()
    required = [name for name, field in row["fields"].items() if field["required"]]
    return bool(constants or required) and all(
        [
            *(_at(block, name) == value for name, value in constants),
            *(_at(block, name) is not None for name in required),
        ]
    )


def _block(draw: DrawFn, unions: Unions, name: str, depth: int) -> dict[str, Any]:
    """Draw a block of one row of a union, with some of its fields."""
    return block_of(draw, unions, draw(st.sampled_from(unions[name]["rows"])), depth)


def block_of(draw: DrawFn, unions: Unions, row: dict[str, Any], depth: int) -> dict[str, Any]:
    """Draw a block of a row, with some of its fields."""
    block: dict[str, Any] = {}
    for wire, value in row["constants"].items():
        put(block, wire, value)
    for wire, field in row["fields"].items():
        if field["required"] or draw(st.booleans()):
            put(block, wire, value_of(draw, unions, field["form"], depth))
    return block


def value_of(draw: DrawFn, unions: Unions, form: str, depth: int) -> Any:
    """Draw a value of a field's form; any JSON if the form is unknown."""
    inner = form.rpartition("list of ")[2].removesuffix(" or one")
    if inner in unions and inner != form:
        count = draw(st.integers(0, 2)) if depth > 0 else 0
        return [_block(draw, unions, inner, depth - 1) for _ in range(count)]
    if form in unions:
        return _block(draw, unions, form, depth - 1) if depth > 0 else {}
    if form.endswith("*"):
        return f"{form[:-1]}{draw(_TEXT)}"
    return draw(_FORMS.get(form, json_values))


def put(block: dict[str, Any], name: str, value: Any) -> None:
    """Set a value at a dotted name, unless a parent is not an object."""
    *owners, last = path_keys(name)
    for owner in owners:
        inner = block.setdefault(owner, {})
        if not isinstance(inner, dict):
            return
        block = inner
    block[last] = value


def _at(block: Any, name: str) -> Any:
    for step in path_keys(name):
        block = block.get(step) if isinstance(block, dict) else None
    return block
