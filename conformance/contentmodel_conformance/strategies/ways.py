"""The places in a payload where the SDK's types have alternatives, and the shortest way to each.

Owns the names of these places. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from contentmodel_conformance.oracles.sdks import envelope
from contentmodel_conformance.oracles.shapes import (
    NULL,
    Field,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Scalar,
    Shape,
    members,
)

__all__ = ["ELEMENT", "Way", "field_ways", "literal_ways", "member_ways", "non_null"]

# From the envelope to a value: keys of objects, `ELEMENT` of lists and maps, numbers of union members and of literals.
Way: TypeAlias = tuple[str | int, ...]

ELEMENT = "*"
_LONGEST = 40  # The longest enumeration that is tried value by value; longer ones list models.
_Named: TypeAlias = Iterator[tuple[str, Way]]


def member_ways(api: str, kind: str) -> dict[str, Way]:
    """Return the ways to union members; outside of unions, to objects and to keys that exclude others."""
    return _ways(api, kind, _members_at)


def field_ways(api: str, kind: str) -> dict[str, Way]:
    """Return the ways to the optional keys of objects."""
    return _ways(api, kind, _fields_at)


def literal_ways(api: str, kind: str) -> dict[str, Way]:
    """Return the ways to the values of enumerations."""
    return _ways(api, kind, _literals_at)


@dataclass(frozen=True)
class _Place:
    shape: Shape
    way: Way
    name: str


@cache
def _ways(api: str, kind: str, named: Callable[[_Place], _Named]) -> dict[str, Way]:
    """Return the shortest way to each named place. A union or record with several places counts once."""
    ways: dict[str, Way] = {}
    for place in _places(envelope(api, kind)):
        for name, way in named(place):
            ways[name if name not in ways else f"{name}#{len(ways)}"] = way
    return ways


def _members_at(place: _Place) -> _Named:
    if isinstance(place.shape, Record):
        keys = ((key, item) for key, item in place.shape.fields.items() if not item.required)
        for key, item in keys:
            if key in place.shape.exclusive or _holds_record(item.shape):
                yield _dotted(place.name, key), (*place.way, key)
    elif isinstance(place.shape, OneOf) and len(non_null(place.shape)) > 1:
        for index in non_null(place.shape):
            yield f"{place.name}:{_tag(place.shape.members[index])}", (*place.way, index)


def _fields_at(place: _Place) -> _Named:
    if isinstance(place.shape, Record):
        for key, item in place.shape.fields.items():
            if not item.required:
                yield _dotted(place.name, key), (*place.way, key)


def _literals_at(place: _Place) -> _Named:
    if isinstance(place.shape, Record):
        for key, item in place.shape.fields.items():
            for way, values in _enumerations(item.shape):
                for index, value in enumerate(values):
                    yield f"{_dotted(place.name, key)}={value}", (*place.way, key, *way, index)


def _enumerations(shape: Shape) -> Iterator[tuple[Way, tuple[str | int | bool, ...]]]:
    match shape:
        case Literals(values) if 1 < len(values) <= _LONGEST:
            yield (), values
        case ListOf(item):
            yield from (((ELEMENT, *way), values) for way, values in _enumerations(item))
        case OneOf(choices):
            for index, choice in enumerate(choices):
                yield from (((index, *way), values) for way, values in _enumerations(choice))


def _holds_record(shape: Shape) -> bool:
    """Return whether values are objects of one known class, or lists or maps of them."""
    match shape:
        case OneOf():
            indices = non_null(shape)
            return len(indices) == 1 and _holds_record(shape.members[indices[0]])
        case ListOf(inner) | MapOf(inner):
            return _holds_record(inner)
    return isinstance(shape, Record)


def _places(root: Record) -> Iterator[_Place]:
    """Yield every union and record once, breadth first."""
    seen: set[Shape] = set()
    todo = [_Place(root, (), "")]
    for place in todo:  # grows as it goes
        if isinstance(place.shape, OneOf | Record):
            if place.shape in seen:
                continue
            seen.add(place.shape)
            yield place
        todo.extend(_below(place))


def _below(place: _Place) -> Iterator[_Place]:
    match place.shape:
        case OneOf(choices):
            for index in non_null(place.shape):
                mark = f":{_tag(choices[index])}" if len(non_null(place.shape)) > 1 else ""
                yield _Place(choices[index], (*place.way, index), place.name + mark)
        case ListOf(item) | MapOf(item):
            yield _Place(item, (*place.way, ELEMENT), place.name)
        case Record():
            for key, inner in place.shape.fields.items():
                yield _Place(inner.shape, (*place.way, key), _dotted(place.name, key))


def _dotted(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def non_null(union: OneOf) -> list[int]:
    """Return the indices of all members except null."""
    return [index for index, member in enumerate(union.members) if member != NULL]


def _tag(shape: Shape) -> str:
    """Return the name of a member: its `type`, else its role, else its class or kind."""
    match shape:
        case Record():
            tags = [_first_literal(shape.fields.get(key)) for key in ("type", "role")]
            return next((tag for tag in tags if tag), shape.name)
        case Scalar(name):
            return name
        case Literals(values):
            return str(values[0])
        case ListOf():
            return "list"
        case MapOf():
            return "map"
    return "any"


def _first_literal(item: Field | None) -> str:
    literals = [m for m in members(item.shape) if isinstance(m, Literals)] if item else []
    return str(literals[0].values[0]) if literals else ""
