"""The law of null twins: an optional field that is null means the same as a missing one, and loses nothing.

Clients in Go and C#, and `model_dump()` of pydantic, send every unset field as null.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from contentmodel import DecodeError
from contentmodel.json import camel_name, child_path, path_keys, snake_name
from contentmodel.losses import significant
from contentmodel_conformance import laws
from contentmodel_conformance.differences import Label, difference
from contentmodel_conformance.hints import without_extra
from contentmodel_conformance.laws import LawBroken, Refused

_MARK = "null-twin-mark"
_NAME = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class Twins:
    """A payload in which one field is null, and the same payload without this field."""

    path: str
    null: Any
    missing: Any


def twins_of(payload: Any) -> list[tuple[str | int, ...]]:
    """Return the steps to every field of an object in a payload."""
    return list(_fields(payload, ()))


def _fields(value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*steps, key)
            yield from _fields(item, (*steps, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(item, (*steps, index))


def objects_of(payload: Any) -> list[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Return the steps to every object in a payload, with the object."""
    return list(_objects(payload, ()))


def _objects(value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    if isinstance(value, dict):
        yield steps, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from _objects(item, (*steps, step))


def names_of(description: Any) -> frozenset[str]:
    """Return the names of the fields in the description of an adapter, in camel and in snake case."""
    names = {key for path in _paths(description) for key in path_keys(path) if _NAME.fullmatch(key)}
    return frozenset(spell(name) for name in names for spell in (str, camel_name, snake_name))


def _paths(value: Any) -> Iterator[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key in ("fields", "constants", "part", "columns") and isinstance(item, dict):
            yield from item
        yield from _paths(item)


def twins_at(payload: Any, steps: tuple[str | int, ...]) -> Twins:
    """Return the twins of a payload for the field at these steps, which the payload itself may not have."""
    path = "$"
    for step in steps:
        path = child_path(path, step) if isinstance(step, str) else f"{path}[{step}]"
    null, missing = copy.deepcopy(payload), copy.deepcopy(payload)
    _owner(null, steps)[steps[-1]] = None
    _owner(missing, steps).pop(steps[-1], None)
    return Twins(path, null, missing)


def null_twin(source: Any, target: Any, kind: str, payload: Any, steps: tuple[str | int, ...]) -> None:
    """A field that is null decodes, and converts to another API, like a missing field, with the same losses.

    Fields that the API requires have no twin. Neither have those of the application's JSON, such as arguments of calls.
    An object without a field may be such JSON, although it is none with it: a result's list of parts, one of which has
    no type, is any list.
    """
    twins = twins_at(payload, steps)
    try:
        missing = laws.decode(source, kind, twins.missing)
    except DecodeError:
        raise Refused from None
    if _is_of_application(source, kind, twins.missing, steps):
        raise Refused("the field belongs to a JSON value of the application")
    try:
        null = laws.decode(source, kind, twins.null)
    except DecodeError as error:
        detail = f"null is refused, and a missing field is not: {error.faults[0].message}"
        raise LawBroken("null twin", twins.path, detail, Label("a value"), error.faults[0].message) from None
    _same(twins.path, "decodes to", _plain(missing), _plain(null))
    laws.identity(source, kind, twins.null)
    one, other = (laws.crossed(source, target, kind, twin) for twin in (twins.missing, twins.null))
    _same(twins.path, f"becomes, in {target.api},", _without_nulls(one.payload), _without_nulls(other.payload))
    _same(twins.path, f"loses, to {target.api},", _losses(one), _losses(other))


def _same(path: str, verb: str, missing: Any, null: Any) -> None:
    changed = difference(missing, null)
    if changed is not None:
        detail = f"null {verb} another value than a missing field: {changed.detail} (at {changed.where})"
        raise LawBroken("null twin", path, detail, changed.expected, changed.found)


def _losses(encoded: Any) -> list[str]:
    return sorted(f"{loss.code} {loss.path}" for loss in significant(encoded.losses))


def _owner(payload: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps[:-1]:
        payload = payload[step]
    return payload


def _is_of_application(adapter: Any, kind: str, payload: Any, steps: tuple[str | int, ...]) -> bool:
    """Return whether the object that has the field is a JSON value: an unknown key of it is in the decoded value.

    Residue may repeat it: a message of LangChain has its calls twice.
    """
    marked = copy.deepcopy(payload)
    _owner(marked, steps)[_MARK] = 1
    try:
        decoded = msgspec.to_builtins(laws.decode(adapter, kind, marked))
    except DecodeError:
        return True
    return _contains(without_extra(decoded), _MARK) or not _has_mark(decoded)


def _has_mark(value: Any) -> bool:
    """Return whether the residue of a value has the mark."""
    if isinstance(value, list):
        return any(map(_has_mark, value))
    if not isinstance(value, dict):
        return False
    extra = value.get("extra")
    if isinstance(extra, dict) and any(_contains(residue, _MARK) for residue in extra.values()):
        return True
    return any(_has_mark(item) for key, item in value.items() if key != "extra")


def _contains(value: Any, key: str) -> bool:
    if isinstance(value, list):
        return any(_contains(item, key) for item in value)
    return isinstance(value, dict) and (key in value or any(_contains(item, key) for item in value.values()))


def _plain(value: Any) -> Any:
    """Return a decoded value as JSON, without residue, and without nulls in unknown blocks."""
    return _without_nulls(msgspec.to_builtins(value), "extra")


def _without_nulls(value: Any, other: str | None = None) -> Any:
    """Return a copy of a JSON value without the fields that are null, and those of another name."""
    if isinstance(value, list):
        return [_without_nulls(item, other) for item in value]
    if isinstance(value, dict):
        return {key: _without_nulls(item, other) for key, item in value.items() if item is not None and key != other}
    return value
