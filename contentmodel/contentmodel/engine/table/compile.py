"""Generate the two functions of a row: decode from its wire object, and encode to it.

The code is generated for speed. Decoding a field costs one `dict.get` and one class check; encoding it costs one
attribute access and one dict entry. Rare cases (residue, faults, losses) call the row or the context. `plain` returns
two functions that do the same without generated code.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from contentmodel.engine.table.introspect import fields_of, struct_in
from contentmodel.engine.table.respelling import respell
from contentmodel.engine.table.tree import CONTENTS
from contentmodel.hints import ABSENT, escaped

if TYPE_CHECKING:
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.rows import Row
    from contentmodel.json import JsonObject
    from contentmodel.message import Origin


Decode: TypeAlias = "Callable[[JsonObject, DecodeContext], msgspec.Struct]"
"""Decode one wire object. The result has the class of the row, or is UnknownContent."""
Encode: TypeAlias = "Callable[[Any, EncodeContext], JsonObject]"
"""Encode one value of the row's class."""
Functions: TypeAlias = tuple[Decode, Encode]


class Code:
    """Generated lines of source, the objects that they refer to, and an expression for each decoded attribute."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.lines: list[str] = []
        self.objects: dict[str, Any] = {"ROW": row, "MODEL": row.model, "API": row.api}
        self.read: dict[str, str] = {}
        self._counter = itertools.count()

    def add(self, *lines: str) -> None:
        """Add lines of source."""
        self.lines += lines

    def fresh(self, prefix: str) -> str:
        """Return a new variable name."""
        return f"{prefix}{next(self._counter)}"

    def name(self, prefix: str, value: object) -> str:
        """Bind an object to a new name in the source. Return the name."""
        name = self.fresh(prefix)
        self.objects[name] = value
        return name

    def variable(self, attribute: str) -> str:
        """Return the variable of a decoded attribute."""
        return self.read.setdefault(attribute, f"v_{attribute.replace('.', '_')}")

    def default(self, value: object) -> str:
        """Return an expression for the default of an attribute: a value, or a class that is called."""
        if value is None or isinstance(value, str | bool | int):
            return repr(value)
        if value is list or value == []:
            return "[]"
        return f"{self.name('Default', value)}()" if isinstance(value, type) else self.name("default", value)

    def attribute(self, path: str) -> str:
        """Return an expression for an attribute of the encoded value."""
        *outer, last = path.split(".")
        model, holder, conditions = self.row.model, "value", ""
        for name in outer:
            info = next(f for f in fields_of(model) if f.name == name)
            model, holder = struct_in(info.type), f"{holder}.{name}"
            if info.default is None:
                variable = self.fresh("holder")
                conditions += f"None if ({variable} := {holder}) is None else "
                holder = variable
        return f"({conditions}{holder}.{last})" if conditions else f"{holder}.{last}"

    def respelled_source(self, pad: str) -> list[str]:
        """Return the code that decodes an object in an alternative spelling, if the row accepts any."""
        if not self.row.protobuf_json:
            return []
        return [f"{pad}if ROW.is_respelled(wire):", f"{pad}    return ROW.decode_respelled(wire, context)"]

    def arguments(self, model: type[msgspec.Struct], prefix: str, implied: Collection[str]) -> str:
        """Return the arguments of a Struct's constructor, made from the decoded attributes."""
        parts = []
        for info in fields_of(model):
            path = prefix + info.name
            if path == "origin":
                parts.append("origin=context.origin")
            elif path in self.read:
                parts.append(f"{info.name}={self.read[path]}")
            elif any(name.startswith(f"{path}.") for name in self.read):
                parts.append(f"{info.name}={self._nested(info, path, implied)}")
        return ", ".join(parts)

    def _nested(self, info: msgspec.structs.FieldInfo, path: str, implied: Collection[str]) -> str:
        inner = struct_in(info.type)
        call = f"{self.name('Model', inner)}({self.arguments(inner, f'{path}.', implied)})"
        if info.default is not None:
            return call
        parts = [v for name, v in self.read.items() if name.startswith(f"{path}.") and name not in implied]
        return f"({call} if {' or '.join(f'{part} is not None' for part in parts)} else None)"

    def functions(self) -> Functions:
        """Compile the source, and register it for tracebacks. Return `decode` and `encode`."""
        source = "\n".join([*self.lines, ""])
        name = f"<row {self.row.api} {self.row.name} -> {self.row.model.__name__}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), self.objects)
        return self.objects["decode"], self.objects["encode"]


def build(
    model: type[msgspec.Struct], read: dict[str, object], origin: Origin, implied: Collection[str], prefix: str = ""
) -> msgspec.Struct:
    """Build the Struct of `Code.arguments` from decoded attributes, by path."""
    arguments: dict[str, object] = {}
    for info in fields_of(model):
        path = prefix + info.name
        inside = [value for name, value in read.items() if name.startswith(f"{path}.") and name not in implied]
        if path == "origin":
            arguments[info.name] = origin
        elif path in read:
            arguments[info.name] = read[path]
        elif info.default is None and inside and all(value is None for value in inside):
            arguments[info.name] = None
        elif inside:
            arguments[info.name] = build(struct_in(info.type), read, origin, implied, f"{path}.")
    return model(**arguments)


def generated(row: Row) -> Functions:
    """Return the compiled `decode(wire, context)` and `encode(value, context)` of a row."""
    code = Code(row)
    _decoder_source(row, code)
    code.add("")
    _encoder_source(row, code)
    return code.functions()


def _decoder_source(row: Row, code: Code) -> None:
    code.add("def decode(wire, context):")
    for leaf in row.nested_leaves():
        # Fields of nested objects need a default, because their object may be missing.
        names = zip(leaf.attributes, leaf.defaults, strict=True)
        code.add(*(f"    {code.variable(name)} = {code.default(default)}" for name, default in names))
    if row.columns is not None:
        code.add("    contents = []")
        code.read[row.columns.attributes[0]] = "contents"
    count = row.root.fields_source("wire", code, "    ")
    for field in row.others:
        field.read_source(count, code)
    arguments = code.arguments(row.model, "", row.implied)
    code.add(f"    if {count} == len(wire):", f"        return MODEL({arguments})", *code.respelled_source("    "))
    rare = row.root.rare_fields()
    if rare:
        for key, leaf in rare.items():
            leaf.read_source("wire", key, count, code, "    ")
        arguments = code.arguments(row.model, "", row.implied)
        code.add(f"    if {count} == len(wire):", f"        return MODEL({arguments})")
    # If the codecs hold all known fields completely, the residue consists of the unknown keys.
    known_keys = code.name("known", frozenset(row.known_keys()))
    code.add(f"    residue = {{k: v for k, v in wire.items() if k not in {known_keys}}}")
    code.add(f"    if {count} + len(residue) != len(wire):", "        residue = ROW.residue(wire)")
    residue_argument = f"{row.rest}=residue" if row.rest else f"extra={{API: {code.name('escaped', escaped)}(residue)}}"
    code.add(f"    return MODEL({arguments}{', ' if arguments else ''}{residue_argument})")


def _encoder_source(row: Row, code: Code) -> None:
    code.add("def encode(value, context):")
    row.root.write_source("wire", code, "    ")
    for field in row.others:
        field.write_source(code)
    if row.default_tag is not None:
        code.add("    wire.setdefault({!r}, {!r})".format(*row.default_tag))
    if row.has_residue:
        code.add("    extra = value.extra", "    if extra is not None:", "        if API in extra:")
        code.add(f"            {code.name('merge', merge_residue)}(ROW, extra[API], wire)")
        code.add("        if API not in extra or len(extra) > 1:", "            context.leave_residue(value)")
    for field in row.others:
        field.finish_source(code)
    if row.protobuf_json and row.has_residue:
        code.add("    if extra is not None and API in extra:")
        code.add(f"        {code.name('respell', respell)}(ROW, wire, extra[API])")
    code.add("    return wire")


def plain(row: Row) -> Functions:
    """Return `decode(wire, context)` and `encode(value, context)` of a row without generated code."""

    def decode(wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
        attributes: JsonObject = {CONTENTS: []} if row.columns is not None else {}
        missing = row.root.read_fields(wire, attributes, context)
        residue = row.residue(wire)
        if (missing is not None or residue) and row.protobuf_json and row.is_respelled(wire):
            return row.decode_respelled(wire, context)
        if missing is not None:
            return row.missing(wire, missing, context)
        for field in row.others:
            field.read(wire, attributes, context)
        if residue:
            attributes[row.rest or "extra"] = residue if row.rest else {row.api: escaped(residue)}
        return build(row.model, attributes, context.origin, row.implied)

    def encode(value: Any, context: EncodeContext) -> JsonObject:
        wire = row.root.write(value, context)
        for field in row.others:
            field.write(value, wire, context)
        if row.default_tag is not None:
            wire.setdefault(*row.default_tag)
        extra = value.extra if row.has_residue else None
        if extra is not None:
            if row.api in extra:
                merge_residue(row, extra[row.api], wire)
            if row.api not in extra or len(extra) > 1:
                context.leave_residue(value)
        for field in row.others:
            field.finish(value, wire, context)
        if row.protobuf_json and extra is not None and row.api in extra:
            respell(row, wire, extra[row.api])
        return wire

    return decode, encode


def merge_residue(row: Row, residue: JsonObject, wire: JsonObject) -> None:
    """Add the residue of the row's own API to the wire object."""
    row.merge(residue, wire)
    if ABSENT.key in residue:
        for key in ABSENT.read(residue) or ():
            if key in row.root.constants:
                wire.pop(key, None)
                if key in residue:
                    wire[key] = residue[key]
