"""Find wrong JSON classes, unknown enum values, and blocks of a known type that have the fields of no row.

Decoding keeps such a value, so that it round-trips. A check of the payload reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from contentmodel.content.outcomes import UnknownContent
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.json import JsonObject, kind_of, name_of, value_at, wire_at, wire_path
from contentmodel.engine.losses.provenance import Place, spelled
from contentmodel.engine.table.codecs import AnyCodec
from contentmodel.engine.table.rows import Row
from contentmodel.engine.table.unions import Union
from contentmodel.errors import Fault


class Accepts(Protocol):
    """Return whether an API accepts a value of a JSON class or an enum value that is not in the tables."""

    def __call__(self, name: str, value: object, codec: AnyCodec) -> bool: ...


def misfits(payload: JsonObject, context: DecodeContext, accepts: Accepts, *, is_own: bool) -> Iterator[Fault]:
    """Yield a fault for each field whose value has a wrong class or is an unknown enum value. Null is ignored.

    `is_own` is true if the model is the provider's own. Enum values and blocks that hosts may extend are checked only
    then.
    """
    places = list(context.paths(payload).places())
    for place in places if is_own else ():
        yield from _without_form(payload, place)
    for path, row in dict.fromkeys((place.path, place.row) for place in places):
        wire = value_at(payload, path)
        # Some objects are found without a row. The rows of other objects cover their fields.
        for name, codec in row.codecs() if wire.__class__ is dict and isinstance(row, Row) else ():
            value = wire_at(wire, name)
            message = None if value is None else _misfit(value, codec, is_own)
            if message is not None and not accepts(name, value, codec):
                yield Fault(spelled(payload, wire_path(path, name)), message)
            if codec.tagged is not None and value.__class__ is dict and (is_own or not codec.other_hosts_add_values):
                tag, known = codec.tagged
                message = _strange(value.get(tag), known)
                if message is not None and not accepts(f"{name}.{tag}", value[tag], codec):
                    yield Fault(spelled(payload, wire_path(path, f"{name}.{tag}")), message)


def _without_form(payload: JsonObject, place: Place) -> Iterator[Fault]:
    """Yield a fault if the type of an unknown block has several forms, none of which fits its fields."""
    table, wire = place.table, place.wire
    if not isinstance(place.item, UnknownContent) or not isinstance(table, Union) or wire.__class__ is not dict:
        return
    if table.has_forms(wire.get(table.tag)):
        fields = ", ".join(key for key in wire if key != table.tag) or "no other field"
        yield Fault(spelled(payload, place.path), f"no form of {wire[table.tag]} has such fields: {fields}")


def _misfit(value: object, codec: AnyCodec, is_own: bool) -> str | None:
    if codec.classes and value.__class__ not in codec.classes:
        # Every API accepts an integer for a number.
        classes = [kind for kind in codec.classes if kind is not int or float not in codec.classes]
        wanted = " or ".join(dict.fromkeys(map(name_of, classes)))
        return f"expected {wanted}, got {kind_of(value)}"
    return _strange(value, codec.known_values) if is_own or not codec.other_hosts_add_values else None


def _strange(value: object, known: frozenset[str] | None) -> str | None:
    """Return a message if a text is not one of the known values."""
    if known is None or value.__class__ is not str or value in known:
        return None
    return f"{value!r:.60} is none of {', '.join(sorted(known))}"
