"""Alternative spellings of wire values, which hints keep: those of protocol buffers in JSON, and of single fields.

Names may have underscores. A number may be a string, and an integer may have a fraction of zero
(protobuf.dev/programming-guides/json, seen 2026-11-22). Such an object is decoded from a copy in the usual spelling.
Two hints keep the original one: the names, and the numbers, by dotted path.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.engine.table.codecs import AnyCodec
from contentmodel.engine.table.introspect import get_attribute
from contentmodel.engine.table.tree import Column, Nested, Plain
from contentmodel.hints import Hint
from contentmodel.json import Json, JsonObject, camel_name, path_keys, put_at, wire_at

if TYPE_CHECKING:
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.compile import Decode, Encode, Functions
    from contentmodel.engine.table.rows import Row
    from contentmodel.engine.table.tree import Plain


NAMES = Hint[list[str]](None, "snake", 'the names that are spelled in another way, as "path=spelled"')
NUMBERS = Hint[dict[str, str | int | float]](None, "numbers", "the numbers that are spelled in another way, by path")
KEYS = frozenset({NAMES.key, NUMBERS.key})


def is_respelled(row: Row, wire: JsonObject) -> bool:
    """Return whether a known field has a name with underscores or an alias, or a number in another spelling."""
    return any(True for _ in _names(row, row.root, wire, "")) or any(True for _ in _numbers(row, row.root, wire, ""))


def decode_respelled(row: Row, wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
    """Decode a copy in the usual spelling, and keep hints of the original one."""
    names, numbers = list(_names(row, row.root, wire, "")), dict(_numbers(row, row.root, wire, ""))
    decoded: msgspec.Struct = row.decode(_usual_copy(row, row.root, wire, "", context), context)
    if not isinstance(decoded, row.model):
        return decoded
    extra = getattr(decoded, "extra", None) or {}
    residue = dict(extra.get(row.api, {}))
    if names:
        residue |= NAMES.entry(names)
    if numbers:
        residue |= NUMBERS.entry(numbers)
    return msgspec.structs.replace(decoded, extra={**extra, row.api: residue})


def respell(row: Row, wire: JsonObject, residue: JsonObject) -> None:
    """Restore the spelling of numbers and names in `wire` from the hints. An edited number keeps its own spelling."""
    if KEYS.isdisjoint(residue):
        return
    for path, spelled in (NUMBERS.read(residue) or {}).items():
        container, key = _container(wire, path)
        if key in container and spelled_number(spelled) == container[key]:
            container[key] = spelled
    for name in reversed(NAMES.read(residue) or ()):
        path, _, spelled = name.partition("=")
        container, key = _container(wire, path)
        if key in container and _usual_name(row, spelled, path.removesuffix(key)) == key:
            container[spelled] = container.pop(key)


def number_of(value: object, codec: AnyCodec) -> int | float | None:
    """Return the number that a value spells, if a codec of numbers does not hold the value itself; else None."""
    if int not in codec.classes or not codec.identity or codec.holds(value):
        return None
    number = spelled_number(value)
    if number is None or float in codec.classes:
        return number
    return int(number) if number == int(number) and abs(number) < _LARGEST_INTEGER else None


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 40
_LARGEST_INTEGER = 2**63


def spelled_number(value: object) -> int | float | None:
    """Return a number, or the number that a text spells; None for other values and for infinite numbers."""
    if value.__class__ is float:
        return value if math.isfinite(value) else None
    if value.__class__ is not str or len(value) > _LONGEST_NUMBER or not _NUMBER.fullmatch(value):
        return None
    if not set(value) & set(".eE"):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else None


def _usual_name(row: Row, key: str, prefix: str) -> str:
    camel = camel_name(key)
    return row.aliases.get(f"{prefix}{key}") or row.aliases.get(f"{prefix}{camel}", camel)


def _named_fields(
    row: Row, node: Nested, wire: JsonObject, prefix: str
) -> Iterator[tuple[str, str, Json, Plain | Nested | Column | None]]:
    """Yield each key of a wire object with its usual name, its value, and the field of the row, or None.

    If two keys have the same usual name, the key in the usual spelling gets it, else the first one.
    """
    used_names: set[str] = set()
    for key, value in wire.items():
        name = key if key in node.children else _usual_name(row, key, prefix)
        if name != key and (name in wire or name in used_names):
            name = key
        used_names.add(name)
        yield key, name, value, node.children.get(name)


def _names(row: Row, node: Nested, wire: JsonObject, prefix: str) -> Iterator[str]:
    for key, name, value, child in _named_fields(row, node, wire, prefix):
        if name != key and (child is not None or name in node.constants):
            yield f"{prefix}{name}={key}"
        if isinstance(child, Nested) and value.__class__ is dict:
            yield from _names(row, child, value, f"{prefix}{name}.")


def _numbers(row: Row, node: Nested, wire: JsonObject, prefix: str) -> Iterator[tuple[str, Json]]:
    for _, name, value, child in _named_fields(row, node, wire, prefix):
        if isinstance(child, Nested) and value.__class__ is dict:
            yield from _numbers(row, child, value, f"{prefix}{name}.")
        elif isinstance(child, Plain) and number_of(value, child.codec) is not None:
            yield f"{prefix}{name}", value


def _usual_copy(row: Row, node: Nested, wire: JsonObject, prefix: str, context: DecodeContext) -> JsonObject:
    copy: JsonObject = {}
    for key, name, value, child in _named_fields(row, node, wire, prefix):
        if isinstance(child, Nested) and value.__class__ is dict:
            value = _usual_copy(row, child, value, f"{prefix}{name}.", context)
        elif isinstance(child, Plain):
            number = number_of(value, child.codec)
            value = value if number is None else number
        copy[name if child is not None or name in node.constants else key] = value
    context.copied(copy, wire)
    context.is_respelled = True
    return copy


def _container(wire: JsonObject, path: str) -> tuple[JsonObject, str]:
    """Return the object that contains the last key of a dotted path, and that key; an empty object if there is none."""
    *parents, key = path_keys(path)
    container: Json = wire
    for parent in parents:
        container = container.get(parent) if container.__class__ is dict else None
    return (container if container.__class__ is dict else {}), key


VERBATIM = Hint[dict[str, Any]](
    None, "as-sent", "the wire values, by path, of fields that are usually written otherwise"
)


class Verbatim:
    """Keep the wire values at dotted `paths` of a row, if its codecs would write them in another way.

    A value is restored unless the attribute was changed. The codecs of these fields use no context.
    """

    def __init__(self, *paths: str) -> None:
        self.paths = paths

    def around(self, decode: Decode, encode: Encode, row: Row) -> Functions:
        """Return `decode` and `encode` of a row, wrapped to keep and restore these fields."""
        leaves = [leaf for leaf in row.root.leaves() if leaf.wire in self.paths]

        def decode_and_keep(wire: JsonObject, context: DecodeContext) -> Any:
            value: Any = decode(wire, context)
            if value.__class__ is not row.model:
                return value
            raw_values = {leaf.wire: raw for leaf in leaves if (raw := _other_spelling(leaf, wire, value)) is not None}
            return VERBATIM.on(value, row.api, raw_values) if raw_values else value

        def encode_verbatim(value: Any, context: EncodeContext) -> JsonObject:
            wire = encode(value, context)
            raw_values = VERBATIM.of(value, row.api) or {}
            for leaf in leaves:
                raw = raw_values.get(leaf.wire)
                if (
                    raw is not None
                    and leaf.codec.holds(raw)
                    and _read(leaf, raw) == get_attribute(value, leaf.attribute)
                ):
                    put_at(wire, leaf.wire, raw)
            if raw_values and row.aliases:
                respell(row, wire, value.extra[row.api])
            return wire

        return decode_and_keep, encode_verbatim


def _read(leaf: Plain, raw: Json) -> Any:
    return leaf.codec.decode(raw, None, {}, "")  # type: ignore[arg-type]


def _other_spelling(leaf: Plain, wire: JsonObject, value: object) -> Json:
    """Return the wire value of a field if its codec would write another one; else None."""
    raw = wire_at(wire, leaf.wire)
    if raw is None or not leaf.codec.holds(raw):
        return None
    usual = leaf.codec.encode(get_attribute(value, leaf.attribute), None, value)  # type: ignore[arg-type]
    # 12 and 12.0 are equal, but two spellings.
    return None if usual == raw and usual.__class__ is raw.__class__ else raw
