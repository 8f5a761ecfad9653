"""Generate the two functions of a row: decode from its wire object, and encode to it.

The code is generated for speed. Decoding a field costs one `dict.get` and one class check; encoding it costs one
attribute access and one dict entry. Rare cases (residue, faults, losses) call the row or the context. `plain` returns
two functions that do the same without generated code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.engine.table.code import Code, Functions, build
from contentmodel.engine.table.hints import ABSENT, escaped
from contentmodel.engine.table.respelling import respell
from contentmodel.engine.table.tree import CONTENTS

if TYPE_CHECKING:
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.json import JsonObject
    from contentmodel.engine.table.rows import Row


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
    known = code.name("known", frozenset(row.known_keys()))
    code.add(f"    residue = {{k: v for k, v in wire.items() if k not in {known}}}")
    code.add(f"    if {count} + len(residue) != len(wire):", "        residue = ROW.residue(wire)")
    rest = f"{row.rest}=residue" if row.rest else f"extra={{API: {code.name('escaped', escaped)}(residue)}}"
    code.add(f"    return MODEL({arguments}{', ' if arguments else ''}{rest})")


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
