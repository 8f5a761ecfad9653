"""Unions: the alternative rows of one position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from types import NoneType
from typing import Any, TypeAlias

import msgspec

from contentmodel import reasons
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.pipeline.lowering import lower
from contentmodel.engine.table.compile import Decode, Encode
from contentmodel.engine.table.rows import Row
from contentmodel.hints import ROW, HasExtra, without_tag
from contentmodel.json import Json, JsonArray, JsonObject, path_keys

DecodeList: TypeAlias = Callable[[JsonArray, DecodeContext], list[Any]]
EncodeList: TypeAlias = Callable[[list[Any], EncodeContext], JsonArray]


class _NoRow(Exception):
    """Raised if no row accepts a value, although its class has rows."""


def first_fitting(
    rows: Iterable[Row], tag: str = "type", *, unknown: Collection[str] = ()
) -> Callable[[JsonObject], str | None]:
    """Return a `find` function for a union. It chooses the first row whose constants and required fields a block has.

    If no row fits, the last row with the tag of the block reports the missing field as a fault. But if the tag is in
    `unknown`, the block is unknown.
    """
    by_tag: dict[Json, list[tuple[str, list[Any]]]] = {}
    for r in rows:
        by_tag.setdefault(r.constants.get(tag), []).append((r.name, r.conditions(tag)))
    for kind, candidates in by_tag.items():
        if kind not in unknown:
            candidates[-1] = (candidates[-1][0], [])

    def find(wire: JsonObject) -> str | None:
        kind = wire.get(tag)
        for name, conditions in by_tag.get(kind, ()) if kind.__class__ is str else ():
            if not conditions or all(test(_value_at(wire, keys)) for keys, test in conditions):
                return name
        return None

    return find


def _value_at(wire: Json, keys: tuple[str, ...]) -> Json:
    for key in keys:
        wire = wire.get(key) if wire.__class__ is dict else None
    return wire


class Union:
    """The alternative rows of one position: selected on the wire by a tag, in the model by class.

    `tag` names the tag field. If the tag is not a field (Gemini's one-of by key), `find` replaces it and returns the
    name of a row. Rows that share a tag, and all rows if `tag` is None, are tried in order, and the first that fits is
    used. If none fits, the block is unknown. But if all of them require the same fields, a missing field is a fault.

    - `by_fields`: whether `first_fitting` selects the row, instead of the tag and one other field.
    - `default`: a block without a tag is decoded as if it had this tag, and gets the hint `ABSENT`.
    - `other`: the row for unknown tags. Without it, such a block becomes UnknownContent.
    - `prefer`: returns the usual row of a content, or its name, if several rows have its class; None if no row can
      encode it. A block that another row decoded gets the hint `ROW` with the name of that row.
    - `foreign_types`: the classes that a request of another API may contain here. Other classes are lowered, although
      hosts of this API may send them.
    - `accepts_untyped`: whether a block without a tag is an unknown block instead of a fault.
    - `accepts_values`: whether a value that is no object is an unknown block, too. No provider takes one; a file may
      hold it.

    - `family`: returns the row for a name that `find` returned and no row has; None if there is none. The hint `ROW`
      keeps the name. Such a row has the option `is_generated=False`: a payload can have any number of names.

    Rows with a shape decode blocks whose tag has no row. If `preferred_for` of a row accepts a content, the row is the
    usual one of this content, before `prefer`.
    """

    def __init__(
        self,
        api: str,
        name: str,
        rows: Iterable[Row],
        *,
        tag: str | None = "type",
        find: Callable[[JsonObject], str | None] | None = None,
        by_fields: bool = False,
        default: str | None = None,
        other: Row | None = None,
        foreign_types: Iterable[type] | None = None,
        prefer: Callable[[Any, list[Row]], Row | str | None] | None = None,
        accepts_untyped: bool = False,
        accepts_values: bool = False,
        family: Callable[[str], Row | None] | None = None,
    ) -> None:
        self.api, self.name, self.tag = api, name, tag or ""
        known_rows = list(rows)
        self._find = self._fitting if tag is None else first_fitting(known_rows, tag) if by_fields else find
        self.rows = [r.bind(api) for r in (*known_rows, *([other] if other else []))]
        for r in self.rows:
            r.is_one_of = True
        names = [r.name for r in self.rows]
        if again := next((row_name for at, row_name in enumerate(names) if row_name in names[:at]), None):
            fix = f'give one of them another name: row("{again}", ..., form="...")'
            raise TypeError(f"union {name}: two rows are named {again}: {fix}")
        self._other = other
        self._shaped = [r for r in self.rows if r.shape is not None]
        self._foreign_types = None if foreign_types is None else frozenset(foreign_types)
        self._foreign_encoders: dict[type, Encode] = {}
        self._default = default
        self._takes_untyped = accepts_untyped or other is not None or self._find is not None
        self._takes_values = accepts_values
        self._prefer = prefer
        self._family = family
        self._decoders: dict[str, Decode] = {}
        self._encoders: dict[type, Encode] = {}
        self._by_class: dict[type, list[Row]] = {}
        self._by_name = {r.name: r for r in self.rows}
        for r in self.rows:
            self._by_class.setdefault(r.model, []).append(r)
        self.decode_list = self._list_decoder()
        self.encode_list = self._list_encoder()

    # -- decoding ----------------------------------------------------------------------------------------------

    def decode(self, wire: Any, context: DecodeContext) -> Any:
        """Decode one block. A block with an unknown tag becomes UnknownContent."""
        if not self._decoders:
            self._build()
        tag = wire.get(self.tag) if self._find is None else self._find(wire)
        decoder = self._decoders.get(tag) if tag.__class__ is str else None
        if decoder is None:
            if tag is None and self._default is not None:
                return self._decode_untagged(wire, context)
            if tag is None and not self._takes_untyped:
                context.fault(wire, self.tag, f"missing string: the type of this {self.name}")
            family_row = self._family_row(tag) if tag.__class__ is str else None
            return self._unknown(wire, context) if family_row is None else self._decoder(family_row)(wire, context)
        return decoder(wire, context)

    def _family_row(self, name: str | None, model: type | None = None) -> Row | None:
        """Return the row of the family with this name, and this model if it is given; None if there is none."""
        row = None if self._family is None or name is None else self._family(name)
        if row is None or model not in (None, row.model):
            return None
        row.bind(self.api).is_one_of = True
        return row

    def _unknown(self, wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
        """Decode a block with an unknown tag by a row whose shape fits, else by `other`, else as UnknownContent."""
        for r in self._shaped:
            if r.shape is not None and r.shape.fits(wire):
                content = context.attempt(self._decoder(r), wire)
                if content.__class__ is r.model:
                    return content
        if self._other is None:
            return UnknownContent(api=self.api, block=wire)
        return self._decoder(self._other)(wire, context)

    def _decode_untagged(self, wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
        """Decode a block whose tag is missing or null by the default row."""
        copy = {**wire, self.tag: self._default}
        context.copied(copy, wire)
        content = self._decoders[self._default](copy, context)  # type: ignore[index]
        if content.__class__ is UnknownContent:
            return UnknownContent(api=self.api, block=wire)
        return without_tag(content, self.api, self.tag, wire)

    def _list_decoder(self) -> DecodeList:
        """Return a function that decodes a list of blocks, with a fast path for known tags."""
        decoders, tag, slowly = self._decoders, self.tag, self._decode_slowly
        if self._find is not None:
            return self._one_of_list_decoder(self._find)

        def decode_list(wires: JsonArray, context: DecodeContext) -> list[Any]:
            try:
                return [decoders[wire[tag]](wire, context) for wire in wires]
            except (KeyError, TypeError):
                return slowly(wires, context)

        return decode_list

    def _one_of_list_decoder(self, find: Callable[[JsonObject], str | None]) -> DecodeList:
        decoders, slowly = self._decoders, self._decode_slowly

        def decode_list(wires: JsonArray, context: DecodeContext) -> list[Any]:
            try:
                return [decoders[find(wire)](wire, context) for wire in wires]  # type: ignore[index]
            except (KeyError, TypeError, AttributeError):
                return slowly(wires, context)

        return decode_list

    def _decode_slowly(self, wires: JsonArray, context: DecodeContext) -> list[Any]:
        if not self._decoders:
            self._build()
        decoders, tag = self._decoders, self.tag
        contents: list[msgspec.Struct] = []
        for index, wire in enumerate(wires):
            if wire.__class__ is not dict:
                if self._takes_values:
                    contents.append(UnknownContent(api=self.api, block=wire))
                else:
                    context.expected(wires, index, f"an object: a {self.name}", wire)
                continue
            name = wire.get(tag)
            decoder = decoders.get(name) if self._find is None and name.__class__ is str else None
            contents.append(self.decode(wire, context) if decoder is None else decoder(wire, context))
        return contents

    # -- encoding ----------------------------------------------------------------------------------------------

    def _list_encoder(self) -> EncodeList:
        """Return a function that encodes a list of contents. Contents without a row here are lowered or reported."""
        native, slowly = self._encoders, self._encode_slowly
        foreign = native if self._foreign_types is None else self._foreign_encoders

        def encode_list(contents: Sequence[object], context: EncodeContext) -> JsonArray:
            encoders = native if context.native else foreign
            try:
                return [encoders[content.__class__](content, context) for content in contents]
            except (KeyError, _NoRow):
                return slowly(contents, context)

        return encode_list

    def _encode_slowly(self, contents: Sequence[object], context: EncodeContext) -> JsonArray:
        if not self._decoders:
            self._build()
        encoders = self._encoders if context.native or self._foreign_types is None else self._foreign_encoders
        blocks: JsonArray = []
        for content in contents:
            encoder = encoders.get(content.__class__)
            try:
                blocks += [encoder(content, context)] if encoder else self._encode_other(content, context)
            except _NoRow:
                blocks += self._encode_lowered(content, context)
        return blocks

    def encode_one(self, value: object, context: EncodeContext) -> Json:
        """Encode one value; None if it has no row here."""
        encoders = self._encoders if context.native or self._foreign_types is None else self._foreign_encoders
        encoder = encoders.get(value.__class__)
        if encoder is not None:
            try:
                return encoder(value, context)
            except _NoRow:
                pass
        wires = self.encode_list([value], context)
        return wires[0] if wires else None

    def _encode_other(self, content: object, context: EncodeContext) -> JsonArray:
        if content.__class__ is UnknownContent:
            if content.api == self.api:
                context.leave_residue(content)
                return [content.block]
            context.report_loss(content, None, reasons.UNKNOWN_BLOCK, source=content.api)
            return []
        return self._encode_lowered(content, context)

    def _encode_lowered(self, content: object, context: EncodeContext) -> JsonArray:
        if not isinstance(content, AIContent):
            context.report_loss(content, None, reasons.NO_BLOCK, place=self.name)
            return []
        return self.encode_list(lower(content, self, context), context)

    def has(self, model: type, *, native: bool = True) -> bool:
        """Return whether a content of this class can be encoded here without lowering."""
        return model in self._by_class and (native or self._foreign_types is None or model in self._foreign_types)

    @property
    def tags(self) -> frozenset[str]:
        """The tags of the rows; empty if rows are not selected by a tag field."""
        tagged = (r.constants.get(self.tag) for r in self.rows if r is not self._other and self._find is None)
        return frozenset(tag for tag in tagged if tag is not None)

    def knows(self, wire: JsonObject) -> bool:
        """Return whether a row has the tag of this block."""
        tag = wire.get(self.tag)
        return tag.__class__ in (str, NoneType) and tag in self._tags_of_rows

    @cached_property
    def _tags_of_rows(self) -> frozenset[str | None]:
        return frozenset(r.constants.get(self.tag) for r in self.rows if r.shape is None)

    # -- compiling ---------------------------------------------------------------------------------------------

    def _build(self) -> None:
        """Add a function for every tag and class that compiles its rows on first use and replaces itself."""
        for model, rows in self._by_class.items():
            self._encoders[model] = self._encoder_when_needed(model, rows)
            if self._foreign_types is not None and model in self._foreign_types:
                self._foreign_encoders[model] = self._encoders[model]
        groups: dict[str, list[Row]] = {}
        for r in self.rows:
            if r is not self._other and r.shape is None:
                groups.setdefault(r.name if self._find else r.constants.get(self.tag, r.name), []).append(r)
        for tag, rows in groups.items():
            self._decoders[tag] = self._decoder_when_needed(tag, rows)

    def _encoder_when_needed(self, model: type, rows: list[Row]) -> Encode:
        def encode(content: object, context: EncodeContext) -> JsonObject:
            encoder = self._encoders[model] = self._encoder(rows)
            if model in self._foreign_encoders:
                self._foreign_encoders[model] = encoder
            return encoder(content, context)

        return encode

    def _decoder_when_needed(self, tag: str, rows: list[Row]) -> Decode:
        def decode(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
            decoder = self._decoders[tag] = self._decoder_of(rows)
            return decoder(wire, context)

        return decode

    def _decoder_of(self, rows: list[Row]) -> Decode:
        decoders = {r.name: self._decoder(r) for r in rows}
        is_only = len(rows) == 1 and rows[0].select is None
        return decoders[rows[0].name] if is_only else self._choosing_decoder(rows, decoders)

    def _decoder(self, r: Row) -> Decode:
        decode = r.functions[0]
        if r.certain or (len(self._by_class[r.model]) == 1 and r.name in self._by_name):
            return decode if self._other is None else self._or_other(decode)
        rows = self._by_class[r.model]

        def decode_and_hint(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
            content = decode(wire, context)
            if content.__class__ is UnknownContent and self._other is not None and r is not self._other:
                return self._unknown(wire, context)
            if content.__class__ is not r.model or self._usual(content, rows) is r:
                return content
            return ROW.on(content, self.api, r.name)

        return decode_and_hint

    def _encoder(self, rows: list[Row]) -> Encode:
        is_only = len(rows) == 1 and self._family is None
        return rows[0].functions[1] if is_only else self._picking_encoder(rows)

    def _or_other(self, decode: Decode) -> Decode:
        """Wrap `decode`: decode an object that it rejects (such as one with a null name) as if its tag were unknown."""

        def decode_or_other(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
            value = decode(wire, context)
            return self._unknown(wire, context) if value.__class__ is UnknownContent else value

        return decode_or_other

    def _choosing_decoder(self, rows: list[Row], decoders: Mapping[str, Decode]) -> Decode:
        """Choose among rows of one tag by `select` or another constant. The default is the row that has neither."""
        if not any(r.select is not None or len(r.constants) > 1 for r in rows):
            return self._fitting_decoder(rows, decoders)
        by_value: dict[str | int, Decode] = {}
        default: Decode | None = None
        path: tuple[str, ...] = ()
        for r in rows:
            inner = {k: v for k, v in r.constants.items() if k != self.tag}
            if r.select is not None:
                path = path_keys(r.select[0])
                by_value.update(dict.fromkeys(r.select[1], decoders[r.name]))
            elif inner:
                (field, value), *_ = inner.items()
                path = path_keys(field)
                by_value[value] = decoders[r.name]
            else:
                default = decoders[r.name]

        if len(path) == 1 and default is not None:
            key, usual = path[0], default

            def choose_by_field(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
                value = wire.get(key)
                return (by_value.get(value, usual) if value.__class__ is str else usual)(wire, context)

            return choose_by_field

        def choose(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
            value: Json = wire
            for key in path:
                value = value.get(key) if value.__class__ is dict else None
            decoder = by_value.get(value, default) if value.__class__ is str else default
            return self._unknown(wire, context) if decoder is None else decoder(wire, context)

        return choose

    def _fitting_decoder(self, rows: list[Row], decoders: Mapping[str, Decode]) -> Decode:
        is_uniform = len({r.required_fields for r in rows}) == 1
        candidates = [(r.condition, decoders[r.name]) for r in rows]
        fallback = candidates[-1][1] if is_uniform else self._unknown

        def decode(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
            for fits, decoder in candidates:
                if fits(wire):
                    return decoder(wire, context)
            return fallback(wire, context)

        return decode

    def _fitting(self, wire: JsonObject) -> str | None:
        return next((r.name for r in self.rows if r.fits(wire)), None)

    def _picking_encoder(self, rows: list[Row]) -> Encode:
        encoders = {r.name: r.functions[1] for r in rows}
        api, choose = self.api, self._usual
        if self._prefer is None and self._family is None and not any(r.preferred_for for r in rows):
            usual = rows[0].functions[1]

            def pick_usual(content: HasExtra, context: EncodeContext) -> JsonObject:
                if content.extra is None:
                    return usual(content, context)
                return encoders.get(ROW.of(content, api) or "", usual)(content, context)

            return pick_usual

        def pick(content: HasExtra, context: EncodeContext) -> JsonObject:
            name = None if content.extra is None else ROW.of(content, api)
            if name in encoders:
                return encoders[name](content, context)
            r = (None if name is None else self._family_row(name, content.__class__)) or choose(content, rows)
            if r is None:
                raise _NoRow
            return r.encode(content, context)

        return pick

    def _usual(self, content: object, rows: list[Row]) -> Row | None:
        for r in rows:
            if r.preferred_for is not None and r.preferred_for(content):
                return r
        preferred = self._prefer(content, rows) if self._prefer is not None else rows[0]
        return next((r for r in rows if r.name == preferred), None) if isinstance(preferred, str) else preferred

    # -- lookups by other modules ------------------------------------------------------------------------------

    def row_of(self, value: object) -> Row | None:
        """Return the row that decoded `value`, by its class and hints; None if there is none."""
        residue = (getattr(value, "extra", None) or {}).get(self.api) or {}
        name = ROW.read(residue)
        if name in self._by_name:
            return self._by_name[name]
        family_row = self._family_row(name, type(value))
        if family_row is not None:
            return family_row
        rows = self._by_class.get(type(value), [])
        if len(rows) > 1:
            return self._usual(value, rows)
        return rows[0] if rows else None

    def has_forms(self, tag: Json) -> bool:
        """Return whether blocks with this tag have several forms, with different required fields."""
        rows = () if self._find is not None else (r for r in self.rows if r.constants.get(self.tag, r.name) == tag)
        return len({r.required_fields for r in rows}) > 1

    def describe(self) -> JsonObject:
        """Return the union as data."""
        return {"name": self.name, "tag": self.tag, "rows": [r.describe() for r in self.rows]}
