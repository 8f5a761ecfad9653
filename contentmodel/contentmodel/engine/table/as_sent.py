"""Fields whose exact wire value is kept by a hint, because their codec writes one value in one way only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contentmodel.engine.json import Json, JsonObject, put_at, wire_at
from contentmodel.engine.table.hints import Hint
from contentmodel.engine.table.introspect import get_attribute
from contentmodel.engine.table.respelling import respell

if TYPE_CHECKING:
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.code import Decode, Encode, Functions
    from contentmodel.engine.table.rows import Row
    from contentmodel.engine.table.tree import Plain

AS_SENT = Hint[dict[str, Any]](
    None, "as-sent", "the wire values, by path, of fields that are usually written otherwise"
)


class AsSent:
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
            kept = {leaf.wire: raw for leaf in leaves if (raw := _other_spelling(leaf, wire, value)) is not None}
            return AS_SENT.on(value, row.api, kept) if kept else value

        def encode_as_sent(value: Any, context: EncodeContext) -> JsonObject:
            wire = encode(value, context)
            kept = AS_SENT.of(value, row.api) or {}
            for leaf in leaves:
                raw = kept.get(leaf.wire)
                if (
                    raw is not None
                    and leaf.codec.holds(raw)
                    and _read(leaf, raw) == get_attribute(value, leaf.attribute)
                ):
                    put_at(wire, leaf.wire, raw)
            if kept and row.aliases:
                respell(row, wire, value.extra[row.api])
            return wire

        return decode_and_keep, encode_as_sent


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
