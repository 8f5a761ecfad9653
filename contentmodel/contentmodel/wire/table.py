"""The tables: a `Row` pairs one wire object with one model type, a `Union` is the rows that may stand in one place.

    row("tool_use", FunctionCallContent, {"id": "call_id", "name": "name", "input": "arguments"})

says both directions. A row's fields map wire paths ("source.data" is inside a nested object) to model attributes
("options.seed" is inside a nested Struct), with a codec where the two sides differ. What no field consumes is the
residue. Rows are compiled to two plain functions when they are first used (`wire/compile.py`).
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.wire.codecs import (
    ANYTHING,
    ARGUMENTS,
    BOOL,
    INT,
    INTEGERS,
    NUMBER,
    OBJECT,
    OBJECTS,
    STR,
    STRINGS,
    Blocks,
    Codec,
    Place,
)
from contentmodel.wire.context import DecodeContext, EncodeContext
from contentmodel.wire.json import child_path

Spec = str | tuple[str | tuple[str, ...], Codec]


class Leaf:
    """One wire field and the attribute that holds it (or the attributes that hold it together)."""

    __slots__ = ("attribute", "attributes", "codec", "fallback", "required", "wire")

    def __init__(self, wire: str, attributes: tuple[str, ...], codec: Codec, required: bool, fallback: Any) -> None:
        self.wire, self.attributes, self.attribute, self.codec = wire, attributes, attributes[0], codec
        self.required, self.fallback = required, fallback

    def holds(self, value: Any) -> bool:
        """Whether the attribute can hold the wire value, and tell it from a field that is not there."""
        return self.codec.holds(value) and (self.fallback is None or self.required or value != self.fallback)


class Node:
    """A wire object: its fields, nested objects, and the constants that dispatch has already checked."""

    __slots__ = ("children", "constants")

    def __init__(self) -> None:
        self.children: dict[str, Leaf | Node | Column] = {}
        self.constants: dict[str, Any] = {}

    def child(self, key: str) -> Node:
        node = self.children.setdefault(key, Node())
        assert isinstance(node, Node), key
        return node

    def leaves(self) -> Iterator[Leaf]:
        for child in self.children.values():
            if isinstance(child, Leaf):
                yield child
            elif isinstance(child, Node):
                yield from child.leaves()


class Row:
    """One wire object and its model type, in both directions.

    `constants` are wire values that tell the row from others. `select` names a field and the values of it that choose
    this row. `gather` makes one dict attribute of several wire fields, `rest` of all that is left. `columns` makes one
    list of contents of several wire fields. `sets` are attributes whose value follows from the row. `ignores` are
    attributes that the row leaves to somebody else, or that say nothing. `group` is one attribute that several wire
    fields make together in a way of their own. `fill` is what the API requires, for values of another API that do not say
    it. `certain` says that what this row decodes is always taken for its own
    when it is encoded, so that nobody has to ask.
    """

    def __init__(
        self,
        name: str,
        model: type[Any],
        fields: Mapping[str, Spec],
        *,
        constants: Mapping[str, Any] | None = None,
        select: tuple[str, Sequence[str]] | None = None,
        gather: tuple[str, Sequence[str]] | None = None,
        columns: tuple[str, Mapping[str, Column]] | None = None,
        group: Group | None = None,
        sets: Mapping[str, Any] | None = None,
        rest: str | None = None,
        snake_case: bool = False,
        ignores: Sequence[str] = (),
        fill: Mapping[str, Any] | None = None,
        certain: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.select = select
        self.certain = certain
        self.fill = dict(fill or {})
        self.gather = gather
        self.columns = columns
        # Which column takes a content of which class, and in which order they stand.
        taken = columns[1] if columns else {}
        self.column_keys = {m: k for k, c in reversed(list(taken.items())) if not c.noted for m in c.models}
        self.column_order = {key: index for index, key in enumerate(taken)}
        self.group = group
        self.sets = dict(sets or {})
        self.rest = rest
        self.snake_case = snake_case
        self.constants = dict(constants or {})
        self.api = ""
        self.root = self._build(fields)
        self.unmapped = tuple(sorted(self._unmapped(ignores)))
        self._decode: Callable[[dict[str, Any], DecodeContext], Any] | None = None
        self._encode: Callable[[Any, EncodeContext], dict[str, Any]] | None = None

    # -- building ----------------------------------------------------------------------------------------------

    def _build(self, fields: Mapping[str, Spec]) -> Node:
        root = Node()
        for path, value in self.constants.items():
            *parents, key = path.split(".")
            node = root
            for parent in parents:
                node = node.child(parent)
            node.constants[key] = value
        for path, spec in fields.items():
            target, codec = (spec, None) if isinstance(spec, str) else spec
            attributes = (target,) if isinstance(target, str) else target
            kind, required, fallback = attribute_of(self.model, attributes[0])
            *parents, key = path.split(".")
            node = root
            for parent in parents:
                node = node.child(parent)
            if key in node.children:
                raise TypeError(f"row {self.name}: {path} is mapped twice")
            node.children[key] = Leaf(
                path,
                attributes,
                codec or codec_for(kind),
                required or bool(codec and codec.mandatory),
                fallback,
            )
        for path, column in self.columns[1].items() if self.columns else ():
            *parents, key = path.split(".")
            node = root
            for parent in parents:
                node = node.child(parent)
            node.children[key] = column
        return root

    def _unmapped(self, ignores: Sequence[str]) -> Iterator[str]:
        mapped = {name for leaf in self.root.leaves() for name in leaf.attributes}
        mapped |= {"extra", "executor", "origin", *ignores, *self.sets}
        mapped |= {self.gather[0]} if self.gather else set()
        mapped |= {self.rest} if self.rest else set()
        mapped |= {self.group.attribute} if self.group else set()
        mapped |= {self.columns[0]} if self.columns else set()
        yield from _unmapped(self.model, "", mapped)

    # -- use ---------------------------------------------------------------------------------------------------

    def bind(self, api: str) -> Row:
        """Says which API's residue this row reads and writes."""
        if self.api and self.api != api:
            raise TypeError(f"row {self.name} belongs to {self.api}")
        self.api = api
        return self

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        """The model value of a wire object."""
        if self._decode is None:
            self._compile()
        return self._decode(wire, context)  # type: ignore[misc]

    def encode(self, value: Any, context: EncodeContext) -> dict[str, Any]:
        """The wire object of a model value."""
        if self._encode is None:
            self._compile()
        return self._encode(value, context)  # type: ignore[misc]

    def _compile(self) -> None:
        from contentmodel.wire.compile import compile_row

        self._decode, self._encode = compile_row(self)

    @property
    def functions(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The compiled pair."""
        if self._decode is None:
            self._compile()
        return self._decode, self._encode  # type: ignore[return-value]

    # -- what the compiled functions call on their slow paths ------------------------------------------------------

    def residue(self, wire: Mapping[str, Any]) -> dict[str, Any]:
        """The parts of `wire` that no field, constant or column consumed."""
        left = _residue(self.root, wire)
        for key in (*(self.gather[1] if self.gather else ()), *(self.group.keys if self.group else ())):
            left.pop(key, None)
        return left

    def complete(self, wire: dict[str, Any]) -> None:
        """Fills in what the API requires and another API did not say."""
        for path, value in self.fill.items():
            *parents, key = path.split(".")
            container = wire
            for parent in parents:
                container = container.setdefault(parent, {})
            container.setdefault(key, value)

    def merge(self, residue: Mapping[str, Any], wire: dict[str, Any]) -> None:
        """Fills `wire` with the residue; what the model says stands."""
        _merge(self.root, residue, wire)

    def missing(self, wire: dict[str, Any], path: str, context: DecodeContext) -> Any:
        """A required field is not there: a fault; or null, which makes the whole object an unknown one."""
        *parents, key = path.split(".")
        container: Any = wire
        for parent in parents:
            inner = container.get(parent)
            if not isinstance(inner, dict):
                key = parent
                break
            container = inner
        value = container.get(key)
        if key in container and value is None and issubclass(self.model, msgspec.Struct):
            return UnknownContent(api=self.api, block=wire)
        if key in container:
            context.expected(container, key, _wanted(self.root, path), value)
        else:
            context.fault(container, key, f"missing {_wanted(self.root, path)}")
        return UnknownContent(api=self.api, block=wire)

    # -- what others ask of it ---------------------------------------------------------------------------------

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        """Where the model objects inside `value` came from, given that it was decoded from `wire` at `path`."""
        for leaf in self.root.leaves():
            inner = wire_at(wire, leaf.wire)
            held = get_attribute(value, leaf.attribute)
            if held is not None and inner is not None and leaf.holds(inner):
                yield from leaf.codec.places(held, inner, wire_path(path, leaf.wire))
        rest = list(getattr(value, self.columns[0])) if self.columns else []
        for key, column in self.columns[1].items() if self.columns else ():
            inner = wire_at(wire, key)
            if inner is not None and column.holds(inner):
                if not rest:
                    return
                taken = len(inner) if inner.__class__ is list and column.spreads else 1
                yield from column.codec.places(rest[:taken], inner, wire_path(path, key))
                rest = rest[taken:]

    def row_of(self, value: Any) -> Row:
        """Itself: a row and a union answer the same question."""
        return self

    def path_of(self, path: str, attribute: str) -> str:
        """The JSON path of an attribute, given that of the object; the object's own where it has none."""
        wanted = attribute
        while wanted:
            for leaf in self.root.leaves():
                if wanted in leaf.attributes:
                    return wire_path(path, leaf.wire)
            wanted = wanted.rpartition(".")[0]
        return path

    def describe(self) -> dict[str, Any]:
        """The row as data, for documentation, coverage and generators."""
        fields = {
            leaf.wire: {
                "attribute": ", ".join(leaf.attributes),
                "form": leaf.codec.describe(),
                "required": leaf.required,
            }
            for leaf in self.root.leaves()
        }
        if self.gather:
            fields.update({k: {"attribute": self.gather[0], "form": "any", "required": False} for k in self.gather[1]})
        if self.group:
            fields.update(
                {k: {"attribute": self.group.attribute, "form": "any", "required": False} for k in self.group.keys}
            )
        if self.columns:
            fields.update(
                {
                    k: {"attribute": self.columns[0], "form": c.describe(), "required": False}
                    for k, c in self.columns[1].items()
                }
            )
        return {
            "name": self.name,
            "model": self.model.__name__,
            "constants": self.constants,
            "fields": fields,
        }


class _NoRow(Exception):
    """A value has a row for its class, and none for what it says."""


class PairRow:
    """One wire object that is a call and its result: two contents with one call id.

    `apart` are the wire fields that belong to the result. The result stands right after its call, and is joined with it
    again; either half may be missing.
    """

    def __init__(self, call: Row, result: Row, apart: Sequence[str]) -> None:
        self.call, self.result, self.apart = call, result, tuple(apart)
        self.name = call.name

    def bind(self, api: str) -> PairRow:
        """Says which API's residue both rows read and write."""
        self.call.bind(api)
        self.result.bind(api)
        return self

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[Any]:
        """The call and its result."""
        apart = {key: wire[key] for key in self.apart if key in wire}
        rest = {key: value for key, value in wire.items() if key not in apart} if apart else wire
        context.copied(apart, wire)
        context.copied(rest, wire)
        call = self.call.decode(rest, context)
        if call.__class__ is UnknownContent:
            return [UnknownContent(api=self.call.api, block=wire)]
        result = self.result.decode(apart, context)
        if result.__class__ is UnknownContent:
            return [UnknownContent(api=self.call.api, block=wire)]
        return [call, msgspec.structs.replace(result, call_id=call.call_id)]

    def row_of(self, value: Any) -> Row:
        """The row of a call or of a result."""
        return self.result if value.__class__ is self.result.model else self.call

    def encode(self, call: Any, result: Any, context: EncodeContext) -> dict[str, Any]:
        """The wire object of a call, of its result, or of both."""
        wire = self.call.encode(call, context) if call is not None else dict(self.call.constants)
        if result is not None:
            wire.update(self.result.encode(result, context))
            if call is None and result.call_id is not None:
                wire.setdefault("id", result.call_id)
        return wire


class Group:
    """Several wire fields that make one attribute: `keys` are all consumed by `decode` and written by `encode`."""

    keys: tuple[str, ...] = ()
    attribute = ""

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        """The attribute's value."""
        raise TypeError(f"{type(self).__name__} does not decode")

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        """Writes the fields into `wire`."""
        raise TypeError(f"{type(self).__name__} does not encode")


class Column:
    """One of several wire fields whose contents together are one list of the model (Chat's message columns)."""

    def __init__(self, codec: Codec, *models: type[Any], noted: bool = False) -> None:
        """`noted`: only contents that came from this column go back to it; they carry the note ":column"."""
        self.codec = codec
        self.models = models
        self.noted = noted
        self.spreads = isinstance(codec, Blocks)

    def holds(self, value: Any) -> bool:
        return self.codec.holds(value)

    def describe(self) -> str:
        return self.codec.describe()


def row(name: str, model: type[Any], fields: Mapping[str, Spec], **options: Any) -> Row:
    """A row for the block whose `type` is `name`."""
    constants = {"type": name, **options.pop("constants", {})}
    label = ".".join([name, *(str(v) for k, v in constants.items() if k != "type")])
    return Row(label, model, fields, constants=constants, **options)


class Union:
    """The rows that may stand in one place, told apart on the wire by a tag and in the model by class.

    `tag` names the tag field; `find` replaces it where the tag is no field (Gemini's one-of by key), and gives a row's
    name. `choose` does that for one tag that several rows share. `default` is the tag of a block that has none; such
    a block carries the note `":absent"`. `other` is the row of a tag that nobody knows, in place of UnknownContent. Where several rows have one class, `prefer` says which is the usual one; a block
    that came as another row keeps its row's name in the note `":row"`. `abroad` are the classes that a request of
    another API may put here: others are lowered, though this API's hosts have been seen to send them.
    """

    def __init__(
        self,
        api: str,
        name: str,
        rows: Iterable[Row],
        *,
        tag: str = "type",
        find: Callable[[dict[str, Any]], str | None] | None = None,
        choose: Mapping[str, Callable[[dict[str, Any]], str | None]] | None = None,
        default: str | None = None,
        other: Row | None = None,
        abroad: Iterable[type] | None = None,
        prefer: Callable[[Any, list[Row]], Row | None] | None = None,
    ) -> None:
        self.api, self.name, self.tag, self._find = api, name, tag, find
        self.rows = [r.bind(api) for r in (*rows, *([other] if other else []))]
        self._other = other
        self._abroad = None if abroad is None else frozenset(abroad)
        self._abroad_encoders: dict[type, Callable[..., Any]] = {}
        self._choose = choose or {}
        self._default = default
        self._prefer = prefer
        self._decoders: dict[str, Callable[..., Any]] = {}
        self._encoders: dict[type, Callable[..., Any]] = {}
        self._by_class: dict[type, list[Row]] = {}
        self._by_name = {r.name: r for r in self.rows}
        for r in self.rows:
            self._by_class.setdefault(r.model, []).append(r)
        self.decode_list = self._list_decoder()
        self.encode_list = self._list_encoder()

    # -- decoding ----------------------------------------------------------------------------------------------

    def decode(self, wire: Any, context: DecodeContext) -> Any:
        """The content of one block; a block whose tag nobody knows is an UnknownContent."""
        if not self._decoders:
            self._build()
        tag = wire.get(self.tag) if self._find is None else self._find(wire)
        decoder = self._decoders.get(tag) if tag.__class__ is str else None
        if decoder is None:
            if tag is None and self._default is not None and self.tag not in wire:
                return self._decode_untagged(wire, context)
            if tag is None and self._find is None and self._other is None:
                context.fault(wire, self.tag, f"missing string: the type of this {self.name}")
            return self._unknown(wire, context)
        return decoder(wire, context)

    def _unknown(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        if self._other is None:
            return UnknownContent(api=self.api, block=wire)
        return self._decoder(self._other)(wire, context)

    def _decode_untagged(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        copy = {**wire, self.tag: self._default}
        context.copied(copy, wire)
        content = self._decoders[self._default](copy, context)  # type: ignore[index]
        if content.__class__ is UnknownContent:
            return UnknownContent(api=self.api, block=wire)
        return noted(content, self.api, ":absent", [self.tag])

    def _list_decoder(self) -> Callable[[list[Any], DecodeContext], list[Any]]:
        """The contents of a list of blocks, in order: quickly where all are objects whose tags are known."""
        decoders, tag, slowly = self._decoders, self.tag, self._decode_slowly
        if self._find is not None:
            return slowly

        def decode_list(wires: list[Any], context: DecodeContext) -> list[Any]:
            try:
                return [decoders[wire[tag]](wire, context) for wire in wires]
            except (KeyError, TypeError):
                return slowly(wires, context)

        return decode_list

    def _decode_slowly(self, wires: list[Any], context: DecodeContext) -> list[Any]:
        if not self._decoders:
            self._build()
        decoders, tag = self._decoders, self.tag
        contents: list[Any] = []
        for index, wire in enumerate(wires):
            if wire.__class__ is not dict:
                context.expected(wires, index, f"an object: a {self.name}", wire)
                continue
            name = wire.get(tag)
            decoder = decoders.get(name) if self._find is None and name.__class__ is str else None
            contents.append(self.decode(wire, context) if decoder is None else decoder(wire, context))
        return contents

    # -- encoding ----------------------------------------------------------------------------------------------

    def _list_encoder(self) -> Callable[[list[Any], EncodeContext], list[Any]]:
        """The blocks of a list of contents; what has no row here is lowered or reported."""
        home, slowly = self._encoders, self._encode_slowly
        abroad = home if self._abroad is None else self._abroad_encoders

        def encode_list(contents: list[Any], context: EncodeContext) -> list[Any]:
            encoders = home if context.native else abroad
            try:
                return [encoders[content.__class__](content, context) for content in contents]
            except (KeyError, _NoRow):
                return slowly(contents, context)

        return encode_list

    def _encode_slowly(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        if not self._decoders:
            self._build()
        encoders = self._encoders if context.native or self._abroad is None else self._abroad_encoders
        blocks: list[Any] = []
        for content in contents:
            encoder = encoders.get(content.__class__)
            try:
                blocks += [encoder(content, context)] if encoder else self._encode_other(content, context)
            except _NoRow:
                blocks += self._encode_lowered(content, context)
        return blocks

    def encode_one(self, value: Any, context: EncodeContext) -> Any:
        """The wire object of one value; None where it has no row here."""
        wires = self.encode_list([value], context)
        return wires[0] if wires else None

    def _encode_other(self, content: Any, context: EncodeContext) -> list[Any]:
        if content.__class__ is UnknownContent:
            if content.api == self.api:
                return [content.block]
            context.lose(content, None, f"only {content.api} knows this block")
            return []
        return self._encode_lowered(content, context)

    def _encode_lowered(self, content: Any, context: EncodeContext) -> list[Any]:
        if not isinstance(content, AIContent):
            context.lose(content, None, f"{self.api} has no {self.name} for it")
            return []
        from contentmodel.wire.lowering import lower

        return self.encode_list(lower(content, self, context), context)

    def has(self, model: type, *, native: bool = True) -> bool:
        """Whether a content of this class can stand here as it is."""
        return model in self._by_class and (native or self._abroad is None or model in self._abroad)

    # -- compiling ---------------------------------------------------------------------------------------------

    def _build(self) -> None:
        for model, rows in self._by_class.items():
            encoder = self._encoders[model] = self._encoder(rows)
            if self._abroad is not None and model in self._abroad:
                self._abroad_encoders[model] = encoder
        groups: dict[str, list[Row]] = {}
        for r in self.rows:
            if r is self._other:
                continue
            groups.setdefault(r.name if self._find else r.constants.get(self.tag, r.name), []).append(r)
        for tag, rows in groups.items():
            decoders = {r.name: self._decoder(r) for r in rows}
            self._decoders[tag] = (
                decoders[rows[0].name]
                if len(rows) == 1 and rows[0].select is None
                else self._choosing_decoder(tag, rows, decoders)
            )

    def _decoder(self, r: Row) -> Callable[..., Any]:
        decode = r.functions[0]
        if r.certain or len(self._by_class[r.model]) == 1:
            return decode if self._other is None else self._or_other(decode)
        rows = self._by_class[r.model]

        def decode_and_note(wire: dict[str, Any], context: DecodeContext) -> Any:
            content = decode(wire, context)
            if content.__class__ is UnknownContent and self._other is not None and r is not self._other:
                return self._unknown(wire, context)
            if content.__class__ is not r.model or self._usual(content, rows) is r:
                return content
            return noted(content, self.api, ":row", r.name)

        return decode_and_note

    def _encoder(self, rows: list[Row]) -> Callable[..., Any]:
        return rows[0].functions[1] if len(rows) == 1 else self._picking_encoder(rows)

    def _or_other(self, decode: Callable[..., Any]) -> Callable[..., Any]:
        """Where there is a row for what nobody knows, it takes also what lacks something (a name that is null)."""

        def decode_or_other(wire: dict[str, Any], context: DecodeContext) -> Any:
            value = decode(wire, context)
            return self._unknown(wire, context) if value.__class__ is UnknownContent else value

        return decode_or_other

    def _choosing_decoder(
        self, tag: str, rows: list[Row], decoders: Mapping[str, Callable[..., Any]]
    ) -> Callable[..., Any]:
        """Among rows of one tag: by a selecting field, or by a constant inside; else the row that has neither."""
        if tag in self._choose:
            return self._decoder_by_name(self._choose[tag], decoders)
        chosen: dict[Any, Callable[..., Any]] = {}
        default: Callable[..., Any] | None = None
        path: list[str] = []
        for r in rows:
            inner = {k: v for k, v in r.constants.items() if k != self.tag}
            if r.select is not None:
                path = r.select[0].split(".")
                chosen.update(dict.fromkeys(r.select[1], decoders[r.name]))
            elif inner:
                (where, value), *_ = inner.items()
                path = where.split(".")
                chosen[value] = decoders[r.name]
            else:
                default = decoders[r.name]

        if len(path) == 1 and default is not None:
            key, usual = path[0], default

            def choose_by_field(wire: dict[str, Any], context: DecodeContext) -> Any:
                value = wire.get(key)
                return (chosen.get(value, usual) if value.__class__ is str else usual)(wire, context)

            return choose_by_field

        def choose(wire: dict[str, Any], context: DecodeContext) -> Any:
            value: Any = wire
            for key in path:
                value = value.get(key) if value.__class__ is dict else None
            decoder = chosen.get(value, default) if value.__class__ is str else default
            return self._unknown(wire, context) if decoder is None else decoder(wire, context)

        return choose

    def _decoder_by_name(
        self, choose: Callable[[dict[str, Any]], str | None], decoders: Mapping[str, Callable[..., Any]]
    ) -> Callable[..., Any]:
        def decode(wire: dict[str, Any], context: DecodeContext) -> Any:
            decoder = decoders.get(choose(wire) or "")
            return self._unknown(wire, context) if decoder is None else decoder(wire, context)

        return decode

    def _picking_encoder(self, rows: list[Row]) -> Callable[..., Any]:
        encoders = {r.name: r.functions[1] for r in rows}
        api, prefer = self.api, self._prefer or (lambda content, rows: rows[0])

        def pick(content: Any, context: EncodeContext) -> Any:
            name = note_of(content, api, ":row") if content.extra is not None else None
            if name in encoders:
                return encoders[name](content, context)
            r = prefer(content, rows)
            if r is None:
                raise _NoRow
            return encoders[r.name](content, context)

        return pick

    def _usual(self, content: Any, rows: list[Row]) -> Row | None:
        return self._prefer(content, rows) if self._prefer is not None else rows[0]

    # -- what others ask of it ---------------------------------------------------------------------------------

    def row_of(self, value: Any) -> Row | None:
        """The row that made `value`, as far as its class and notes tell."""
        own = (getattr(value, "extra", None) or {}).get(self.api) or {}
        name = own.get(":row")
        if name in self._by_name:
            return self._by_name[name]
        rows = self._by_class.get(type(value), [])
        if len(rows) > 1:
            return self._usual(value, rows)
        return rows[0] if rows else None

    def describe(self) -> dict[str, Any]:
        """The union as data."""
        return {"name": self.name, "tag": self.tag, "rows": [r.describe() for r in self.rows]}


class Fields:
    """Where the attributes of a model value stand on the wire, for values that no row makes."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = paths

    def row_of(self, value: Any) -> Fields:
        return self

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        """None: whoever decodes such a value traces what is inside it."""
        return iter(())

    def path_of(self, path: str, attribute: str) -> str:
        """The JSON path of an attribute, given that of the object."""
        while attribute and attribute not in self._paths:
            attribute = attribute.rpartition(".")[0]
        return wire_path(path, self._paths[attribute]) if attribute else path


def wire_at(wire: Any, path: str) -> Any:
    """The value at a dotted path of a wire object, in either spelling; None where there is none."""
    for key in path.split("."):
        if wire.__class__ is not dict:
            return None
        wire = wire.get(key) if key in wire else wire.get(snake_name(key))
    return wire


def get_attribute(value: Any, path: str) -> Any:
    """The attribute at a dotted path; None where there is none."""
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def snake_name(name: str) -> str:
    """`fileData` is `file_data`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def wire_path(path: str, wire: str) -> str:
    """`path` with the keys of a dotted wire path behind it."""
    for key in wire.split("."):
        path = child_path(path, key)
    return path


def noted(content: Any, api: str, note: str, value: Any) -> Any:
    """`content` with a note of the codec in the residue of `api`."""
    extra = content.extra or {}
    return msgspec.structs.replace(content, extra={**extra, api: {**extra.get(api, {}), note: value}})


def note_of(content: Any, api: str, note: str) -> Any:
    """The note, or None."""
    own = None if content.extra is None else content.extra.get(api)
    return None if own is None else own.get(note)


# -- reading the model's own types ---------------------------------------------------------------------------------


def attribute_of(model: type[Any], attribute: str) -> tuple[Any, bool, Any]:
    """The type of an attribute path of a Struct, whether it must be given, and what it is when it is not."""
    head, _, rest = attribute.partition(".")
    hints = _hints(model)
    if head not in hints:
        raise TypeError(f"{model.__name__} has no attribute {head!r}")
    if rest:
        return attribute_of(struct_in(hints[head]), rest)
    info = next(f for f in msgspec.structs.fields(model) if f.name == head)
    if info.default_factory is not msgspec.NODEFAULT:
        return hints[head], False, info.default_factory
    if info.default is msgspec.NODEFAULT:
        return hints[head], True, None
    return hints[head], False, info.default


def struct_in(hint: Any) -> type[Any]:
    """The Struct class of `Struct | None`."""
    for option in typing.get_args(hint) or (hint,):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return option
    raise TypeError(f"{hint} holds no Struct")


def _hints(model: type[Any]) -> dict[str, Any]:
    return {f.name: f.type for f in msgspec.structs.fields(model)}


def codec_for(hint: Any) -> Codec:
    """The codec that an attribute's type implies."""
    options = set(_options(hint)) - {type(None)}
    simple: list[tuple[set[Any], Codec]] = [
        ({str}, STR),
        ({bool}, BOOL),
        ({int}, INT),
        ({int, float}, NUMBER),
        ({int, str}, Codec(int, str)),
        ({int, float, str}, Codec(int, float, str)),
    ]
    for wanted, codec in simple:
        if options == wanted:
            return codec
    names = {str(option) for option in options}
    if names == {"list[str]"}:
        return STRINGS
    if names == {"list[int]"}:
        return INTEGERS
    if all(name.startswith("list[dict") for name in names):
        return OBJECTS
    if any(name.startswith("dict") for name in names):
        return ARGUMENTS if str in options else OBJECT
    if Any in options:
        return ANYTHING
    raise TypeError(f"{hint} needs a codec")


def _options(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)


def _unmapped(model: type[Any], prefix: str, mapped: set[str]) -> Iterator[str]:
    """Attributes that no field maps; those of a nested Struct that is mapped piece by piece, one by one."""
    for info in msgspec.structs.fields(model):
        path = prefix + info.name
        if path in mapped or info.name == "extra":
            continue
        if any(m.startswith(path + ".") for m in mapped):
            yield from _unmapped(struct_in(info.type), path + ".", mapped)
        else:
            yield path


# -- residue -------------------------------------------------------------------------------------------------------


def _residue(node: Node, wire: Mapping[str, Any]) -> dict[str, Any]:
    left = {}
    for key, value in wire.items():
        child = node.children.get(key)
        if child is None:
            if key not in node.constants or node.constants[key] != value:
                left[key] = value
        elif isinstance(child, Leaf | Column):
            if not child.holds(value):
                left[key] = value
        elif value.__class__ is dict:
            inner = _residue(child, value)
            if inner or not value:
                left[key] = inner
        else:
            left[key] = value
    return left


def _merge(node: Node, residue: Mapping[str, Any], wire: dict[str, Any]) -> None:
    for key, value in residue.items():
        if key[:1] == ":":
            continue
        if key not in wire:
            wire[key] = value
            continue
        child = node.children.get(key)
        if isinstance(child, Node) and value.__class__ is dict and wire[key].__class__ is dict:
            _merge(child, value, wire[key])


def _wanted(root: Node, path: str) -> str:
    for leaf in root.leaves():
        if leaf.wire == path:
            return leaf.codec.describe().replace("str", "string").replace("dict", "object")
    return "value"


class Table:
    """Everything one API's adapter declares, in one place: what its rows, records and unions are made with."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.unions: dict[str, Union] = {}
        self.records: dict[str, Row] = {}
        self.pairs: list[PairRow] = []
        self.words: dict[str, tuple[str, ...]] = {}
        self.kept: dict[str, tuple[str, ...]] = {}

    def record(self, name: str, model: type[Any], fields: Mapping[str, Spec], **options: Any) -> Row:
        """A row for an object that stands in one place and has no tag."""
        made = self.records[name] = Row(name, model, fields, **options).bind(self.api)
        return made

    def union(self, name: str, rows: Iterable[Row], **options: Any) -> Union:
        """The rows that may stand in one place."""
        made = self.unions[name] = Union(self.api, name, rows, **options)
        return made

    def pair(self, call: Row, result: Row, apart: Sequence[str]) -> PairRow:
        """A wire object that is a call and its result."""
        made = PairRow(call, result, apart).bind(self.api)
        self.pairs.append(made)
        return made

    def say(self, name: str, *words: Any) -> None:
        """Words of one field that the adapter knows; others go through."""
        self.words[name] = tuple(str(word) for word in words)

    def keep(self, name: str, *fields: str) -> None:
        """Known fields of a record that have no neutral counterpart: they stay in the residue."""
        self.kept[name] = fields

    def describe(self) -> dict[str, Any]:
        """The tables as data: every row with its fields, the words that are known, the fields that are kept."""
        return {
            "api": self.api,
            "pairs": [{"call": p.call.describe(), "result": p.result.describe()} for p in self.pairs],
            "words": {name: list(words) for name, words in self.words.items()},
            "kept": {name: list(fields) for name, fields in self.kept.items()},
            "records": {name: r.describe() for name, r in self.records.items()},
            "unions": {name: u.describe() for name, u in self.unions.items()},
        }
