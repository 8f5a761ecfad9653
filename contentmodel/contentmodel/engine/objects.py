"""Read fields of wire objects by their JSON class.

A wire object may contain any JSON value under any key: a host may send it, or residue restores it. These functions read
fields safely. If the value has another class, `*_of` returns an empty value and `*_at` raises DecodeError with a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeVar

from contentmodel.engine.json import JsonArray, JsonObject, kind_of
from contentmodel.errors import DecodeError, Fault

_T = TypeVar("_T")


def runs(items: Iterable[_T], is_single: Callable[[_T], bool]) -> Iterator[tuple[list[_T], bool]]:
    """Yield each single item in a list of its own, with True, and each run of other items, with False."""
    for are_single, run in groupby(items, key=is_single):
        if are_single:
            yield from (([item], True) for item in run)
        else:
            yield list(run), False


def text_of(wire: Mapping[str, object], key: str) -> str:
    """Return the string at `key`; the empty string if there is none."""
    value = wire.get(key)
    return value if value.__class__ is str else ""


def list_of(wire: Mapping[str, object], key: str) -> JsonArray:
    """Return the array at `key`; an empty one if there is none."""
    value = wire.get(key)
    return value if value.__class__ is list else []


def object_of(wire: Mapping[str, object], key: str) -> JsonObject:
    """Return the object at `key`; an empty one if there is none."""
    value = wire.get(key)
    return value if value.__class__ is dict else {}


def objects_of(wire: Mapping[str, object], key: str) -> list[JsonObject]:
    """Return the objects in the array at `key`."""
    value = wire.get(key)
    return [item for item in value if item.__class__ is dict] if value.__class__ is list else []


def is_error_in_list(wire: object) -> bool:
    """Return whether a value is a list of one object with an error, as Google sends it to clients of streams."""
    return wire.__class__ is list and len(wire) == 1 and wire[0].__class__ is dict and bool(object_of(wire[0], "error"))


def object_at(wire: Mapping[str, object], key: str, api: str) -> JsonObject:
    """Return the object at `key`. Raise DecodeError if there is none."""
    value = wire.get(key)
    if value.__class__ is not dict:
        raise DecodeError(api, [Fault(f"$.{key}", f"expected an object, got {kind_of(value)}")])
    return value


def place_at(wire: Mapping[str, object], key: str, api: str) -> int:
    """Return the integer at `key`, the index of a block. Raise DecodeError if there is none."""
    value = wire.get(key)
    if value.__class__ is not int:
        raise DecodeError(api, [Fault(f"$.{key}", f"expected an integer, got {kind_of(value)}")])
    return value
