"""Wire objects: values by dotted path, the spelling of names, and the fields of requests. None is changed in place."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from contentmodel.authoring import Row, Table, object_of, snake_name


def at(wire: dict[str, Any], path: str) -> Any:
    """Return the value at a path; None if there is none."""
    key, _, rest = path.partition(".")
    return at(object_of(wire, key), rest) if rest else wire.get(key)


def is_free(wire: dict[str, Any], path: str) -> bool:
    """Return whether a value can be put at a path, and taken away again, without a change of others."""
    key, _, rest = path.partition(".")
    if key not in wire:
        return True
    return bool(rest) and wire[key].__class__ is dict and is_free(wire[key], rest)


def without(wire: dict[str, Any], path: str) -> dict[str, Any]:
    """Return a copy of an object without the value at a path, and without the objects that are empty then."""
    key, _, rest = path.partition(".")
    inner = without(object_of(wire, key), rest) if rest else None
    return {name: value for name, value in wire.items() if name != key} | ({key: inner} if inner else {})


def put(wire: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of an object with a value at a path."""
    key, _, rest = path.partition(".")
    return {**wire, key: put(object_of(wire, key), rest, value) if rest else value}


# -- spelling ----------------------------------------------------------------------------------------------------------


def in_snake_case(value: Any) -> Any:
    """Return a value whose names have underscores, at every depth."""
    if value.__class__ is list:
        return [in_snake_case(item) for item in value]
    if value.__class__ is not dict:
        return value
    return {snake_name(key): in_snake_case(item) for key, item in value.items()}


# -- requests ----------------------------------------------------------------------------------------------------------


def fields_of(request: Row, table: Table) -> frozenset[str]:
    """Return the fields of the requests of an API."""
    return frozenset((*request.known_keys(), *table.kept["request"]))


def may_be_request(payload: Mapping[str, Any], fields: Set[str]) -> bool:
    """Return whether an object with `input` may be a request: most of its fields are of requests, or it names a model.

    Rows of data sets have `input`, too: those of Alpaca have `instruction`, `input` and `output` (data/README.md of
    hiyouga/LLaMA-Factory, seen 2026-11-27).
    """
    count = len(payload.keys() & fields)
    return "output" not in payload and ("model" in payload or 2 * count >= len(payload))
