"""The tree of a row's fields: plain fields, columns and constants, in their nested wire objects.

`read` and `write` are the interpreted code, which is slow. `read_source` and `write_source` generate the same code for
a row's functions. A property test checks that both agree (tests/test_fields.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import eq
from typing import TYPE_CHECKING, Any

from contentmodel.engine.table.codecs import AnyCodec, Codec
from contentmodel.engine.table.introspect import get_attribute
from contentmodel.hints import COLUMN
from contentmodel.json import JsonObject, path_keys

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.compile import Code


class Plain:
    """One wire field and the attribute, or the attributes together, that hold its value."""

    __slots__ = ("attribute", "attributes", "codec", "default", "defaults", "is_alternative", "required", "wire")

    def __init__(
        self,
        wire: str,
        attributes: tuple[str, ...],
        codec: AnyCodec,
        required: bool,
        defaults: tuple[object, ...],
        *,
        is_alternative: bool = False,
    ) -> None:
        """Create a field. `defaults` are those of the attributes.

        If `is_alternative`, an earlier field has the same attribute: only a set value is read, and the codecs of both
        fields decide which one is written.
        """
        self.is_alternative = is_alternative
        self.wire, self.attributes, self.attribute, self.codec = wire, attributes, attributes[0], codec
        self.required, self.defaults, self.default = required, defaults, defaults[0]

    def holds(self, value: object) -> bool:
        """Return whether the attribute can hold the wire value, and the value differs from that of a missing field."""
        return self.codec.holds(value) and (
            self.default is None or self.required or value != _default_value(self.default)
        )

    def missing(self) -> Iterator[tuple[str, object]]:
        """Yield each attribute with its default."""
        return zip(self.attributes, map(_default_value, self.defaults), strict=True)

    def read(self, wire: JsonObject, key: str, read: JsonObject, context: DecodeContext) -> str | None:
        """Read the attributes. Return the path of the field if it is required and missing."""
        value = wire.get(key)
        if not self.holds(value):
            if not self.is_alternative:
                read.update(self.missing())
            return self.wire if self.required else None
        decoded: Any = value if self.codec.identity else self.codec.decode(value, context, wire, key)
        read.update(zip(self.attributes, decoded if len(self.attributes) > 1 else (decoded,), strict=True))
        return None

    def read_source(self, wire: str, key: str, count: str, code: Code, pad: str) -> None:
        """Generate the code of `read`. It also counts the field if its value is held."""
        name = code.fresh("other") if self.is_alternative else code.variable(self.attribute)
        targets = [code.variable(attribute) for attribute in self.attributes]
        code.add(f"{pad}{name} = {wire}.get({key!r})", f"{pad}if {self._test(name, code)}:")
        code.add(f"{pad}    {count} += {_whole_source(self.codec, name, code)}")
        if not self.codec.identity:
            call = f"{code.name('decode', self.codec.decode)}({name}, context, {wire}, {key!r})"
            code.add(f"{pad}    {', '.join(targets)} = {self.codec.quick_decode(name, call, code.name)}")
        if self.is_alternative:
            return
        code.add(f"{pad}else:")
        if self.required:
            code.add(*missing_source(self.wire, code, pad))
        else:
            assignments = zip(targets, map(code.default, self.defaults), strict=True)
            code.add(*(f"{pad}    {target} = {default}" for target, default in assignments))

    def _test(self, name: str, code: Code) -> str:
        test = test_source(self.codec, name, code)
        if self.required or self.default is None or self.default is list or self.default == []:
            return test
        return f"({test}) and {name} != {code.default(self.default)}"

    @property
    def is_always_written(self) -> bool:
        """True if the wire object always has the field, with the unchanged value of the attribute."""
        return self.required and self.codec.identity

    def write(self, key: str, value: object, wire: JsonObject, context: EncodeContext) -> None:
        """Write the field into a wire object, if the attribute is set."""
        values = [get_attribute(value, attribute) for attribute in self.attributes]
        if len(values) > 1:
            encoded = self.codec.encode(tuple(values), context, value)
        elif self.is_always_written:
            wire[key] = values[0]
            return
        elif values[0] is None or values[0] == _default_value(self.default) or (self.default == "" and not values[0]):
            return
        else:
            encoded = values[0] if self.codec.identity else self.codec.encode(values[0], context, value)
        if encoded is not None:
            wire[key] = encoded

    def write_source(self, key: str, wire: str, code: Code, pad: str) -> None:
        """Generate the code of `write`."""
        name = code.fresh("field")
        expressions = [code.attribute(attribute) for attribute in self.attributes]
        encode = None if self.codec.identity else code.name("encode", self.codec.encode)
        if len(expressions) > 1:
            code.add(f"{pad}{name} = {encode}(({', '.join(expressions)}), context, value)")
        else:
            code.add(f"{pad}{name} = {expressions[0]}", f"{pad}if {self._is_set(name, code)}:")
            pad += "    "
            if encode is not None:
                call = f"{encode}({name}, context, value)"
                code.add(f"{pad}{name} = {self.codec.quick_encode(name, call, code.name)}")
        if encode is not None:
            code.add(f"{pad}if {name} is not None:")
            pad += "    "
        code.add(f"{pad}{wire}[{key!r}] = {name}")

    def _is_set(self, name: str, code: Code) -> str:
        if self.default is None:
            return f"{name} is not None"
        if self.default is list or self.default == [] or self.default == "":
            return name
        return f"{name} != {code.default(self.default)}"


def _default_value(default: object) -> object:
    """Return the default of an attribute: a value, or what a class returns."""
    return default() if isinstance(default, type) else default


class Column:
    """One of several wire fields whose contents form one list of the model (Chat's message columns).

    `models` are the types of its contents. If `codec` has a union, they are the types of its rows by default.
    """

    def __init__(self, codec: AnyCodec, *models: type, hinted: bool = False) -> None:
        """Create a column. If `hinted`, it takes only contents that came from it and have the hint `COLUMN`."""
        self.codec = codec
        union = None if models else getattr(codec, "union", None)
        self.models = models if union is None else tuple({row.model: None for row in union.rows})
        self.hinted = hinted
        self.spreads = codec.has_strays

    def holds(self, value: object) -> bool:
        """Return whether contents can hold the wire value."""
        return self.codec.holds(value)

    def describe(self) -> str:
        """Return the form of the wire value."""
        return self.codec.describe()

    def read(self, wire: JsonObject, key: str, read: JsonObject, context: DecodeContext) -> None:
        """Append the contents of the column to the contents read so far."""
        value = wire.get(key)
        if not self.holds(value):
            return
        contents = self.codec.decode(value, context, wire, key)
        if self.hinted:
            contents = hint_column(contents, context.api, key)
        elif self.spreads:
            contents = hint_strays(contents, context.api, key, frozenset(self.models))
        read[CONTENTS] += contents

    def read_source(self, wire: str, key: str, count: str, code: Code, pad: str) -> None:
        """Generate the code of `read`."""
        name = code.fresh("column")
        call = f"{code.name('decode', self.codec.decode)}({name}, context, {wire}, {key!r})"
        if self.hinted:
            call = f"{code.name('hint', hint_column)}({call}, API, {key!r})"
        elif self.spreads:
            models = code.name("models", frozenset(self.models))
            call = f"{code.name('hint', hint_strays)}({call}, API, {key!r}, {models})"
        code.add(f"{pad}{name} = {wire}.get({key!r})", f"{pad}if {test_source(self.codec, name, code)}:")
        code.add(f"{pad}    {count} += 1", f"{pad}    contents += {call}")


CONTENTS = "$contents"
"""The key under which `read` collects the contents of columns."""


class Nested:
    """A wire object: its fields, nested objects, and the constants that selected its row."""

    __slots__ = ("children", "constants")

    def __init__(self) -> None:
        self.children: dict[str, Plain | Nested | Column] = {}
        self.constants: JsonObject = {}

    def put(self, path: str, field: Plain | Column) -> bool:
        """Add a field at a dotted path. Return False if the path is taken, or leads through another field."""
        *parents, key = path_keys(path)
        node = self.at(parents)
        if node is None or key in node.children:
            return False
        node.children[key] = field
        return True

    def at(self, parents: Sequence[str]) -> Nested | None:
        """Return the nested object at a path, created if missing; None if the path leads through a field."""
        node = self
        for key in parents:
            inner = node.children.setdefault(key, Nested())
            if not isinstance(inner, Nested):
                return None
            node = inner
        return node

    def leaves(self) -> Iterator[Plain]:
        """Yield all plain fields, including those of nested objects."""
        for child in self.children.values():
            if isinstance(child, Plain):
                yield child
            elif isinstance(child, Nested):
                yield from child.leaves()

    def rare_fields(self) -> dict[str, Plain]:
        """Return the plain fields of this object that most wire objects lack, by key."""
        return {k: field for k, field in self.children.items() if isinstance(field, Plain) and field.codec.is_rare}

    def codecs(self, path: str = "") -> Iterator[tuple[str, AnyCodec]]:
        """Yield each field's path in the wire object with its codec."""
        for key, child in self.children.items():
            inner_path = f"{path}.{key}" if path else key
            if isinstance(child, Nested):
                yield from child.codecs(inner_path)
            else:
                yield inner_path, child.codec

    def holders(self) -> dict[str, Callable[[object], bool]] | None:
        """Return a test for each key of whether its value is held; None if a value may be held in part."""
        holders: dict[str, Callable[[object], bool]] = {
            key: partial(eq, constant) for key, constant in self.constants.items()
        }
        for key, child in self.children.items():
            if isinstance(child, Nested) or _leaves_entries(child.codec):
                return None
            holders[key] = child.holds
        return holders

    def residue(self, wire: Mapping[str, object]) -> JsonObject:
        """Return the parts of a wire object that no field and no constant holds."""
        residue = {}
        for key, value in wire.items():
            child = self.children.get(key)
            if child is None:
                if key not in self.constants or self.constants[key] != value:
                    residue[key] = value
            elif not isinstance(child, Nested):
                remaining = child.codec.unread(value) if child.holds(value) else value
                if remaining is not None or not child.holds(value):
                    residue[key] = remaining
            elif value.__class__ is dict:
                inner = child.residue(value)
                if inner or not value:
                    residue[key] = inner
            else:
                residue[key] = value
        return residue

    def merge(self, residue: Mapping[str, object], wire: JsonObject) -> None:
        """Fill a wire object with residue. Fields that the model sets keep the model's value.

        Nested objects are copied, because later steps may change the wire object.
        """
        for key, value in residue.items():
            child = self.children.get(key)
            if isinstance(child, Nested) and value.__class__ is dict:
                inner = wire.setdefault(key, {})
                if inner.__class__ is dict:
                    child.merge(value, inner)
            elif isinstance(child, Plain) and value.__class__ is list and _leaves_entries(child.codec):
                wire[key] = child.codec.woven(value, wire.get(key))
            elif key not in wire:
                wire[key] = value

    def read(self, wire: JsonObject, key: str, read: JsonObject, context: DecodeContext) -> str | None:
        """Read the fields of the object at `key`. Return the path of a missing required field."""
        inner = wire.get(key)
        if inner.__class__ is dict:
            return self.read_fields(inner, read, context)
        for leaf in self.leaves():
            if not leaf.is_alternative:
                read.update(leaf.missing())
        return next((leaf.wire for leaf in self.leaves() if leaf.required), None)

    def read_fields(self, wire: JsonObject, read: JsonObject, context: DecodeContext) -> str | None:
        """Read the fields of a wire object. Return the path of a missing required field."""
        for key, child in self.children.items():
            missing = child.read(wire, key, read, context)
            if missing is not None:
                return missing
        return None

    def read_source(self, wire: str, key: str, count: str, code: Code, pad: str) -> None:
        """Generate the code of `read`. It also counts the object if all of its fields are held."""
        inner = code.fresh("inner")
        code.add(f"{pad}{inner} = {wire}.get({key!r})", f"{pad}if {inner}.__class__ is dict:")
        inner_count = self.fields_source(inner, code, f"{pad}    ")
        code.add(f"{pad}    if {inner_count} == len({inner}) and {inner}:", f"{pad}        {count} += 1")
        required = next((leaf for leaf in self.leaves() if leaf.required), None)
        if required is not None:
            code.add(f"{pad}else:", *missing_source(required.wire, code, pad))

    def fields_source(self, wire: str, code: Code, pad: str) -> str:
        """Generate the code of `read_fields`. Return the variable that counts the fields that are held."""
        count = code.fresh("count")
        if code.row.protobuf_json and self.constants:
            # Row selection accepted the constants in any spelling. Count only those in the usual one.
            keys = code.name("constants", tuple(self.constants))
            code.add(f"{pad}{count} = sum(k in {wire} for k in {keys})")
        else:
            code.add(f"{pad}{count} = {len(self.constants)}")
        rare = self.rare_fields() if self is code.row.root else {}
        for key, child in self.children.items():
            if key not in rare:
                child.read_source(wire, key, count, code, pad)
        return count

    def write(self, value: object, context: EncodeContext) -> JsonObject:
        """Return the wire object of the constants and the fields that are set."""
        wire = dict(self.constants)
        for key, child in self.children.items():
            if isinstance(child, Plain):
                child.write(key, value, wire, context)
            elif isinstance(child, Nested):
                inner = child.write(value, context)
                if inner:
                    wire[key] = inner
        return wire

    def write_source(self, wire: str, code: Code, pad: str) -> None:
        """Generate the code of `write`."""
        always = {k: c.attribute for k, c in self.children.items() if isinstance(c, Plain) and c.is_always_written}
        entries = [f"{key!r}: {value!r}" for key, value in self.constants.items()]
        entries += [f"{key!r}: value.{attribute}" for key, attribute in always.items()]
        code.add(f"{pad}{wire} = {{{', '.join(entries)}}}")
        for key, child in self.children.items():
            if isinstance(child, Plain) and key not in always:
                child.write_source(key, wire, code, pad)
            elif isinstance(child, Nested):
                inner = code.fresh("inner")
                child.write_source(inner, code, pad)
                code.add(f"{pad}if {inner}:", f"{pad}    {wire}[{key!r}] = {inner}")


def test_source(codec: AnyCodec, name: str, code: Code) -> str:
    """Return an expression for whether a codec holds the value of a variable."""
    return codec.test(name) or f"{name} is not None and {code.name('holds', codec.holds)}({name})"


def _leaves_entries(codec: AnyCodec) -> bool:
    """Return whether a codec may leave entries of a list."""
    return type(codec).unread is not Codec.unread


def _whole_source(codec: AnyCodec, name: str, code: Code) -> str:
    """Return an expression for the number of fields that a codec reads as a whole: 1, or 0 if it leaves entries."""
    return f"({code.name('unread', codec.unread)}({name}) is None)" if _leaves_entries(codec) else "1"


def missing_source(path: str, code: Code, pad: str) -> list[str]:
    """Return the code for a missing required field."""
    return [*code.respelled_source(f"{pad}    "), f"{pad}    return ROW.missing(wire, {path!r}, context)"]


def hint_column(contents: list[AIContent], api: str, column: str) -> list[AIContent]:
    """Add the hint `COLUMN` to contents. The list is changed in place, because it is traced."""
    contents[:] = [COLUMN.on(content, api, column) for content in contents]
    return contents


def hint_strays(contents: list[AIContent], api: str, column: str, models: frozenset[type]) -> list[AIContent]:
    """Add the hint `COLUMN` to contents whose class is not usual for this column."""
    for index, content in enumerate(contents):
        if content.__class__ not in models:
            contents[index] = COLUMN.on(content, api, column)
    return contents
