"""Payloads drawn from the SDKs' annotations: whole ones, and minimal ones with a given member or field.

The generator uses the same shapes as the request judges: if a judge accepts its payloads, this proves only that both
read the SDK in the same way. The payloads are plain JSON: ints fit a double, texts are short, recursion ends.
"""

from __future__ import annotations

import base64
import copy
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contentmodel_conformance.oracles.sdks import envelope
from contentmodel_conformance.oracles.shapes import (
    Anything,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Scalar,
    Shape,
)
from contentmodel_conformance.strategies.ways import Way, field_ways, literal_ways, member_ways, non_null

__all__ = [
    "HALVES",
    "disturbed",
    "json_values",
    "sdk_fields",
    "sdk_literals",
    "sdk_members",
    "sdk_payloads",
    "with_unknowns",
]

JSON: TypeAlias = Any

_EXACT = 2**53
_DEPTH = 5
_MEMBER_DEPTH = 3
_NEVER = 1_000

_COUNTS = st.sampled_from((1, 0, 2, 1, 3))
HALVES = st.sampled_from(["\ud83d", "half \ude00 of it"])
"""Texts with a lone surrogate: valid in JSON, but not in UTF-8."""
# The last of ten, so that examples shrink to plain text.
_TEXT = st.integers(0, 9).flatmap(lambda nth: HALVES if nth == 9 else st.text(max_size=8))
_KEYS = st.text("abcdefghijklmnop_", min_size=1, max_size=8)
_INTS = st.integers(-9, 99) | st.integers(-_EXACT, _EXACT)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_SCALARS: dict[str, SearchStrategy[JSON]] = {
    "str": _TEXT,
    "int": _INTS,
    "float": _FLOATS | st.integers(-9, 99),
    "bool": st.booleans(),
    "null": st.none(),
    "date": st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    # The Gemini SDK writes the URL-safe alphabet, and reads both.
    "bytes": st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())
    | st.binary(min_size=2, max_size=9).map(lambda data: base64.urlsafe_b64encode(b"\xfb\xff" + data).decode()),
}
json_values: SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | _INTS | _FLOATS | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=2),
    max_leaves=3,
)
_FREE = json_values | st.dictionaries(_KEYS, json_values, max_size=2)


def sdk_payloads(api: str, kind: str) -> SearchStrategy[dict[str, JSON]]:
    """Return a strategy of whole requests or responses of the SDK's types."""
    return _objects(api, kind, ())


def sdk_members(api: str, kind: str) -> dict[str, SearchStrategy[dict[str, JSON]]]:
    """Return a strategy of minimal payloads for each member of each union, by the name of its place.

    Outside of unions, objects count as members, and so do keys that exclude each other, such as the kinds of parts of
    generateContent.
    """
    return {name: _objects(api, kind, way) for name, way in member_ways(api, kind).items()}


def sdk_fields(api: str, kind: str) -> dict[str, SearchStrategy[dict[str, JSON]]]:
    """Return a strategy of minimal payloads for each optional key of each object, by the name of its place."""
    return {name: _objects(api, kind, way) for name, way in field_ways(api, kind).items()}


def sdk_literals(api: str, kind: str) -> dict[str, SearchStrategy[dict[str, JSON]]]:
    """Return a strategy of minimal payloads for each value of each short enumeration."""
    return {name: _objects(api, kind, way) for name, way in literal_ways(api, kind).items()}


@st.composite
def _objects(draw: DrawFn, api: str, kind: str, way: Way) -> dict[str, JSON]:
    root = envelope(api, kind)
    payload: dict[str, JSON] = _along(draw, root, way) if way else _value(draw, root, _DEPTH)
    return payload


# --- drawing -----------------------------------------------------------------------------------------------


def _value(draw: DrawFn, shape: Shape, depth: int) -> JSON:
    """Draw a value of the shape. At depth 0 or less, it has the smallest structure."""
    match shape:
        case Scalar(name):
            return draw(_SCALARS[name])
        case Literals(values):
            return draw(st.sampled_from(values))
        case ListOf(item):
            return [_value(draw, item, depth) for _ in range(_count(draw, depth))]
        case MapOf(value):
            return {draw(_KEYS): _value(draw, value, depth) for _ in range(_count(draw, depth))}
        case OneOf(choices):
            return _value(draw, _choice(draw, choices, depth), depth)
        case Record():
            return _record(draw, shape, depth)
        case Anything():
            return draw(_FREE)


def _count(draw: DrawFn, depth: int) -> int:
    return draw(_COUNTS) if depth > 0 else 0


def _choice(draw: DrawFn, choices: tuple[Shape, ...], depth: int) -> Shape:
    return draw(st.sampled_from(choices)) if depth > 0 else min(choices, key=_height)


def _record(draw: DrawFn, record: Record, depth: int) -> dict[str, JSON]:
    names = _optional_names(record) if depth > 0 else ()
    chosen = set(_some(draw, names, often=depth >= _DEPTH)) | _one_of(draw, record, depth)
    return {
        name: _value(draw, item.shape, depth - 1)
        for name, item in record.fields.items()
        if item.required or name in chosen
    }


@cache
def _optional_names(record: Record) -> tuple[str, ...]:
    return tuple(n for n, item in record.fields.items() if not item.required and n not in record.exclusive)


def _some(draw: DrawFn, names: tuple[str, ...], *, often: bool) -> list[str]:
    """Draw five or three of eight names, by bit masks: three draws for all are faster than one per name."""
    if not names:
        return []
    size = (len(names) + 7) // 8
    first, second, third = (int.from_bytes(draw(st.binary(min_size=size, max_size=size))) for _ in range(3))
    mask = first | (second & third) if often else first & (second | third)
    return [name for position, name in enumerate(names) if mask >> position & 1]


def _one_of(draw: DrawFn, record: Record, depth: int) -> set[str]:
    if not record.exclusive:
        return set()
    names = sorted(record.exclusive, key=lambda name: (_height(record.fields[name].shape), name))
    return {draw(st.sampled_from(names)) if depth > 0 else names[0]}


@cache
def _height(shape: Shape) -> int:
    """Return how many nested records the smallest value of the shape has."""
    return _least(shape, frozenset())


def _least(shape: Shape, above: frozenset[Record]) -> int:
    if isinstance(shape, OneOf):
        return min(_least(member, above) for member in shape.members)
    if not isinstance(shape, Record):
        return 0
    if shape in above:
        return _NEVER
    below = above | {shape}
    return 1 + max((_least(item.shape, below) for item in shape.fields.values() if item.required), default=0)


# --- a member of a union, and what holds it ----------------------------------------------------------------


def _along(draw: DrawFn, shape: Shape, way: Way) -> JSON:
    """Draw the smallest value that contains the way, with any value at its end."""
    if not way:
        return _something(draw, shape)
    step, rest = way[0], way[1:]
    match shape:
        case OneOf(choices):
            return _along(draw, choices[int(step)], rest)
        case Literals(values):
            return values[int(step)]
        case ListOf(item):
            return [_along(draw, item, rest)]
        case MapOf(value):
            return {draw(_KEYS): _along(draw, value, rest)}
        case Record():
            return _record_along(draw, shape, str(step), rest)
    raise LookupError(f"no way to {step!r}")


def _something(draw: DrawFn, shape: Shape) -> JSON:
    """Draw a value that is neither null nor empty."""
    match shape:
        case OneOf(choices):
            return _something(draw, choices[draw(st.sampled_from(non_null(shape)))])
        case ListOf(item):
            return [_value(draw, item, _MEMBER_DEPTH) for _ in range(draw(st.integers(1, 2)))]
        case MapOf(value):
            return {draw(_KEYS): _value(draw, value, _MEMBER_DEPTH)}
        case Record() if _is_tag_optional(shape):
            return _record(draw, shape, _MEMBER_DEPTH) | {"type": _something(draw, shape.fields["type"].shape)}
    return _value(draw, shape, _MEMBER_DEPTH)


def _is_tag_optional(record: Record) -> bool:
    """Return whether the tag is optional. It is drawn anyway: without a tag, the member could not be identified."""
    return "type" in record.fields and not record.fields["type"].required


def _record_along(draw: DrawFn, record: Record, key: str, rest: Way) -> dict[str, JSON]:
    fields = {name: item for name, item in record.fields.items() if item.required or name == key}
    return {
        name: _along(draw, item.shape, rest) if name == key else _value(draw, item.shape, 0)
        for name, item in fields.items()
    }


# --- unknowns ----------------------------------------------------------------------------------------------


_UNKNOWN_NAMES = _KEYS.map(lambda key: f"unknown_{key}")
_UNKNOWN_FIELDS = st.dictionaries(_UNKNOWN_NAMES, json_values, min_size=1, max_size=2)
_UNKNOWN_BLOCKS = st.builds(lambda tag, fields: {"type": tag, **fields}, _UNKNOWN_NAMES, _UNKNOWN_FIELDS)


@st.composite
def with_unknowns(draw: DrawFn, payloads: SearchStrategy[JSON]) -> JSON:
    """Draw a payload with at least one unknown field at any level, and unknown blocks among typed ones.

    Every new name begins with `unknown_`. A list of lines without another unknown value gets an unknown line.
    """
    payload = draw(payloads)
    grown = _grown(draw, payload)
    if grown != payload:
        return grown
    return [*grown, draw(_UNKNOWN_FIELDS)] if isinstance(grown, list) else grown | draw(_UNKNOWN_FIELDS)


def _grown(draw: DrawFn, value: JSON) -> JSON:
    if isinstance(value, dict):
        fields = {key: _grown(draw, inner) for key, inner in value.items()}
        return fields | (draw(_UNKNOWN_FIELDS) if _one_in_four(draw) else {})
    if isinstance(value, list):
        return _with_block(draw, [_grown(draw, inner) for inner in value])
    return value


def _with_block(draw: DrawFn, items: list[JSON]) -> list[JSON]:
    typed = all(isinstance(item, dict) and isinstance(item.get("type"), str) for item in items)
    if not items or not typed or not _one_in_four(draw):
        return items
    place = draw(st.integers(0, len(items)))
    return [*items[:place], draw(_UNKNOWN_BLOCKS), *items[place:]]


def _one_in_four(draw: DrawFn) -> bool:
    return draw(st.integers(0, 3)) == 3


# --- damage ------------------------------------------------------------------------------------------------


@st.composite
def disturbed(draw: DrawFn, payloads: SearchStrategy[dict[str, JSON]]) -> dict[str, JSON]:
    """Draw a payload with one to three values dropped or replaced by any JSON value."""
    payload = draw(payloads)
    for _ in range(draw(st.integers(1, 3))):
        payload = _struck(draw, payload)
    return payload


def _struck(draw: DrawFn, value: JSON, top: bool = True) -> JSON:
    """Draw a copy of `value` with one place changed; the outermost object stays an object."""
    keys = sorted(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys or (not top and draw(st.integers(0, 4)) == 0):
        return value if top else draw(json_values)
    key: Any = draw(st.sampled_from(keys))
    changed = copy.copy(value)
    if draw(st.integers(0, 5)) == 0:
        del changed[key]
    else:
        changed[key] = _struck(draw, changed[key], top=False)
    return changed
