"""Compiles a row to two plain functions: one from its wire object to the model, one back.

The source is registered in linecache, so that a traceback shows it. A field costs one `dict.get` and one class check
on the way in, and one attribute and one dict entry on the way out; everything rare (residue, faults, losses) is
a call to the row or the context.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.engine.losses import reasons
from contentmodel.engine.table.codecs import ArgumentsObject, Codec
from contentmodel.engine.table.introspect import attribute_of, fields_of, struct_in
from contentmodel.engine.table.nodes import Column, Leaf, Node
from contentmodel.engine.table.notes import escaped, note_of, noted
from contentmodel.engine.table.respelling import NOTES, decode_respelled, is_respelled, respell

if TYPE_CHECKING:
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.table.rows import Row


def compile_row(row: Row) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`decode(wire, context)` and `encode(value, context)` of a row."""
    writer = _Writer(row)
    source = "\n".join([*writer.decoder(), "", *writer.encoder(), ""])
    name = f"<row {row.api} {row.name} -> {row.model.__name__}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), writer.names)
    return writer.names["decode"], writer.names["encode"]


FOLLOWING = ("executor", "role", "cached_inside", "reasoning_inside")
"""Attributes that passes settle, or that say where a value stands: another value of these is no loss."""


class _Writer:
    """Writes the source of one row's pair of functions."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.names: dict[str, Any] = {"ROW": row, "MODEL": row.model, "API": row.api}
        self._counter = itertools.count()
        self._variables: dict[str, str] = {}

    def _name(self, prefix: str, value: Any = None) -> str:
        name = f"{prefix}{next(self._counter)}"
        if value is not None:
            self.names[name] = value
        return name

    # -- decode ------------------------------------------------------------------------------------------------

    def decoder(self) -> list[str]:
        lines = ["def decode(wire, context):"]
        lines += [
            f"    {self._variable(leaf, attribute)} = {self._fallback(leaf)}"
            for leaf in self._nested_leaves()
            for attribute in leaf.attributes
        ]
        if self.row.columns:
            lines.append("    contents = []")
            self._variables[self.row.columns[0]] = "contents"
        count = self._decode_node(self.row.root, "wire", lines, "    ")
        if self.row.gather:
            attribute, keys = self.row.gather
            lines.append(f"    gathered = {{k: wire[k] for k in {self._name('keys', tuple(keys))} if k in wire}}")
            lines.append(f"    {count} += len(gathered)")
            optional = attribute_of(self.row.model, attribute)[2] is None
            self._variables[attribute] = "(gathered or None)" if optional else "gathered"
        if self.row.group:
            group = self._name("group", self.row.group)
            lines.append(f"    {count} += sum(k in wire for k in {group}.keys)")
            lines.append(f"    grouped = {group}.decode(wire, context)")
            self._variables[self.row.group.attribute] = "grouped"
        for attribute, value in self.row.sets.items():
            self._variables[attribute] = repr(value)
        arguments = self._arguments(self.row.model, "")
        lines.append(f"    if {count} == len(wire):")
        lines.append(f"        return MODEL({arguments})")
        if self.row.protobuf_json:
            lines.append(f"    if {self._name('is_respelled', is_respelled)}(ROW, wire):")
            lines.append(f"        return {self._name('decode_respelled', decode_respelled)}(ROW, wire, context)")
        # Where all known fields were taken whole, the rest is what is not known.
        known = self._name("known", frozenset(self.row.known_keys()))
        lines.append(f"    residue = {{k: v for k, v in wire.items() if k not in {known}}}")
        lines.append(f"    if {count} + len(residue) != len(wire):")
        lines.append("        residue = ROW.residue(wire)")
        keyword = f"{self.row.rest}=residue"
        if not self.row.rest:
            keyword = f"extra={{API: {self._name('escaped', escaped)}(residue)}}"
        lines.append(f"    return MODEL({arguments}{', ' if arguments else ''}{keyword})")
        return lines

    def _nested_leaves(self) -> list[Leaf]:
        """Leaves inside nested objects need a value where their object is not there."""
        nested = (c for c in self.row.root.children.values() if isinstance(c, Node))
        return [leaf for node in nested for leaf in node.leaves()]

    def _decode_node(self, node: Node, variable: str, lines: list[str], pad: str) -> str:
        count = self._name("count")
        if self.row.protobuf_json and node.constants:
            # Dispatch took the constants in either spelling: here they count only where they are spelled as usual.
            keys = self._name("constants", tuple(node.constants))
            lines.append(f"{pad}{count} = sum(k in {variable} for k in {keys})")
        else:
            lines.append(f"{pad}{count} = {len(node.constants)}")
        for key, child in node.children.items():
            if isinstance(child, Leaf):
                self._decode_leaf(child, key, variable, count, lines, pad)
            elif isinstance(child, Column):
                self._decode_column(child, key, variable, count, lines, pad)
            else:
                inner = self._name("inner")
                lines.append(f"{pad}{inner} = {variable}.get({key!r})")
                lines.append(f"{pad}if {inner}.__class__ is dict:")
                inner_count = self._decode_node(child, inner, lines, pad + "    ")
                lines.append(f"{pad}    if {inner_count} == len({inner}) and {inner}:")
                lines.append(f"{pad}        {count} += 1")
                required = next((leaf for leaf in child.leaves() if leaf.required), None)
                if required is not None:
                    lines.append(f"{pad}else:")
                    self._decode_missing(required, lines, pad)
        return count

    def _decode_leaf(self, leaf: Leaf, key: str, variable: str, count: str, lines: list[str], pad: str) -> None:
        name = self._variable(leaf)
        lines.append(f"{pad}{name} = {variable}.get({key!r})")
        lines.append(f"{pad}if {self._leaf_test(leaf, name)}:")
        lines.append(f"{pad}    {count} += 1")
        if not leaf.codec.identity:
            decode = self._name("decode", leaf.codec.decode)
            targets = ", ".join(self._variable(leaf, attribute) for attribute in leaf.attributes)
            call = f"{decode}({name}, context, {variable}, {key!r})"
            lines.append(f"{pad}    {targets} = {leaf.codec.quick_decode(name, call, self._name)}")
        lines.append(f"{pad}else:")
        if leaf.required:
            self._decode_missing(leaf, lines, pad)
        else:
            targets = " = ".join(self._variable(leaf, attribute) for attribute in leaf.attributes)
            lines.append(f"{pad}    {targets} = {self._fallback(leaf)}")

    def _decode_missing(self, leaf: Leaf, lines: list[str], pad: str) -> None:
        if self.row.protobuf_json:
            lines.append(f"{pad}    if {self._name('is_respelled', is_respelled)}(ROW, wire):")
            lines.append(f"{pad}        return {self._name('decode_respelled', decode_respelled)}(ROW, wire, context)")
        lines.append(f"{pad}    return ROW.missing(wire, {leaf.wire!r}, context)")

    def _decode_column(self, column: Column, key: str, variable: str, count: str, lines: list[str], pad: str) -> None:
        name, decode = self._name("column"), self._name("decode", column.codec.decode)
        call = f"{decode}({name}, context, {variable}, {key!r})"
        if column.noted:
            call = f"{self._name('note', note_column)}({call}, API, {key!r})"
        elif column.spreads:
            models = self._name("models", frozenset(column.models))
            call = f"{self._name('note', note_strays)}({call}, API, {key!r}, {models})"
        lines.append(f"{pad}{name} = {variable}.get({key!r})")
        lines.append(f"{pad}if {self._test(column.codec, name)}:")
        lines.append(f"{pad}    {count} += 1")
        lines.append(f"{pad}    contents += {call}")

    def _leaf_test(self, leaf: Leaf, name: str) -> str:
        test = self._test(leaf.codec, name)
        if leaf.required or leaf.fallback is None or leaf.fallback is list or leaf.fallback == []:
            return test
        return f"({test}) and {name} != {self._fallback(leaf)}"

    def _test(self, codec: Codec, name: str) -> str:
        return codec.test(name) or f"{name} is not None and {self._name('holds', codec.holds)}({name})"

    def _variable(self, leaf: Leaf, attribute: str | None = None) -> str:
        attribute = attribute or leaf.attribute
        return self._variables.setdefault(attribute, "v_" + attribute.replace(".", "_"))

    def _fallback(self, leaf: Leaf) -> str:
        if leaf.fallback is None or isinstance(leaf.fallback, str | bool | int):
            return repr(leaf.fallback)
        if leaf.fallback is list or leaf.fallback == []:
            return "[]"
        if isinstance(leaf.fallback, type):
            return f"{self._name('Fallback', leaf.fallback)}()"
        return self._name("fallback", leaf.fallback)

    def _arguments(self, model: type[Any], prefix: str) -> str:
        parts = []
        for info in fields_of(model):
            path = prefix + info.name
            if path == "origin":
                parts.append("origin=context.origin")
            elif path in self._variables:
                parts.append(f"{info.name}={self._variables[path]}")
            elif any(name.startswith(path + ".") for name in self._variables):
                parts.append(f"{info.name}={self._nested(info, path)}")
        return ", ".join(parts)

    def _nested(self, info: msgspec.structs.FieldInfo, path: str) -> str:
        inner = struct_in(info.type)
        name = self._name("Model", inner)
        call = f"{name}({self._arguments(inner, path + '.')})"
        if info.default is not None:
            return call
        said = [v for a, v in self._variables.items() if a.startswith(path + ".") and a not in self.row.sets]
        return f"({call} if {' or '.join(f'{v} is not None' for v in said)} else None)"

    # -- encode ------------------------------------------------------------------------------------------------

    def encoder(self) -> list[str]:
        lines = ["def encode(value, context):"]
        self._encode_node(self.row.root, "wire", lines, "    ")
        if self.row.gather:
            lines.append(f"    gathered = value.{self.row.gather[0]}")
            lines.append("    if gathered.__class__ is str:")
            read = self._name("read", ArgumentsObject(self.row.gather[1][0]).encode)
            lines.append(f"        gathered = {read}(gathered, context, value)")
            lines.append("    if gathered:")
            lines.append("        wire.update(gathered)")
        if self.row.group:
            group = self._name("group", self.row.group)
            lines.append(f"    {group}.encode(value.{self.row.group.attribute}, wire, context, value)")
        if self.row.rest:
            lines.append(f"    {self._name('settings', encode_rest)}(ROW, value, wire, context)")
        if self.row.columns:
            columns = self._name("columns", self.row)
            encode = self._name("encode", encode_columns)
            lines.append(f"    {encode}({columns}, value, wire, context)")
        if self.row.select is not None and self.row.root.children.get(self.row.select[0]) is not None:
            lines.append(f"    wire.setdefault({self.row.select[0]!r}, {self.row.select[1][0]!r})")
        if "extra" in self.row.model.__struct_fields__:
            merge = self._name("merge", merge_residue)
            lines.append("    extra = value.extra")
            lines.append("    if extra is not None:")
            lines.append("        if API in extra:")
            lines.append(f"            {merge}(ROW, extra[API], wire)")
            lines.append("        if API not in extra or len(extra) > 1:")
            lines.append("            context.leave_residue(value)")
        self._encode_fill(lines)
        self._encode_unmapped(lines)
        self._encode_sets(lines)
        lines.append("    return wire")
        return lines

    def _encode_node(self, node: Node, variable: str, lines: list[str], pad: str) -> None:
        entries = [f"{key!r}: {value!r}" for key, value in node.constants.items()]
        rest: list[tuple[str, Leaf | Node]] = []
        for key, child in node.children.items():
            if isinstance(child, Column):
                continue
            if isinstance(child, Leaf) and child.required and child.codec.identity:
                entries.append(f"{key!r}: value.{child.attribute}")
            else:
                rest.append((key, child))
        lines.append(f"{pad}{variable} = {{{', '.join(entries)}}}")
        for key, child in rest:
            if isinstance(child, Leaf):
                self._encode_leaf(child, key, variable, lines, pad)
            else:
                inner = self._name("inner")
                self._encode_node(child, inner, lines, pad)
                lines.append(f"{pad}if {inner}:")
                lines.append(f"{pad}    {variable}[{key!r}] = {inner}")

    def _encode_leaf(self, leaf: Leaf, key: str, variable: str, lines: list[str], pad: str) -> None:
        name = self._name("field")
        lines.append(f"{pad}{name} = {self._attribute(leaf.attribute)}")
        if len(leaf.attributes) > 1:
            both = ", ".join(self._attribute(attribute) for attribute in leaf.attributes)
            encode = self._name("encode", leaf.codec.encode)
            lines.append(f"{pad}{name} = {encode}(({both}), context, value)")
            lines.append(f"{pad}if {name} is not None:")
            lines.append(f"{pad}    {variable}[{key!r}] = {name}")
            return
        if leaf.fallback is None:
            lines.append(f"{pad}if {name} is not None:")
        elif leaf.fallback is list or leaf.fallback == [] or leaf.fallback == "":
            lines.append(f"{pad}if {name}:")
        else:
            lines.append(f"{pad}if {name} != {self._fallback(leaf)}:")
        if leaf.codec.identity:
            lines.append(f"{pad}    {variable}[{key!r}] = {name}")
            return
        call = f"{self._name('encode', leaf.codec.encode)}({name}, context, value)"
        lines.append(f"{pad}    {name} = {leaf.codec.quick_encode(name, call, self._name)}")
        lines.append(f"{pad}    if {name} is not None:")
        lines.append(f"{pad}        {variable}[{key!r}] = {name}")

    def _attribute(self, path: str) -> str:
        head, _, rest = path.partition(".")
        if not rest:
            return f"value.{head}"
        get = self._name("get", get_path)
        info = next(f for f in fields_of(self.row.model) if f.name == head)
        if info.default is None or "." in rest:
            return f"{get}(value, {tuple(path.split('.'))!r})"
        return f"value.{path}"

    def _encode_fill(self, lines: list[str]) -> None:
        if not self.row.fill:
            return
        lines.append("    if context.completes:")
        for path, value in self.row.fill.items():
            *parents, key = path.split(".")
            container = "wire" + "".join(f".setdefault({parent!r}, {{}})" for parent in parents)
            lines.append(f"        {container}.setdefault({key!r}, {value!r})")

    def _encode_sets(self, lines: list[str]) -> None:
        """What follows from the row when it is read is lost where the value says something else."""
        for attribute, value in self.row.sets.items():
            if "." not in attribute and attribute not in FOLLOWING:
                lines.append(f"    if value.{attribute} is not None and value.{attribute} != {value!r}:")
                lines.append(f"        context.lose_other_word(value, {attribute!r}, {value!r})")

    def _encode_unmapped(self, lines: list[str]) -> None:
        if not self.row.unmapped:
            return
        names = self._name("unmapped", self.row.unmapped)
        tests = " or ".join(self._said(path) for path in self.row.unmapped)
        lines.append(f"    if {tests}:")
        lines.append(f"        context.lose_attributes(value, {names})")

    def _said(self, path: str) -> str:
        if "." in path:
            default = attribute_of(self.row.model, path)[2]
            return f"{self._attribute(path)} not in (None, {default!r})"
        info = next(f for f in fields_of(self.row.model) if f.name == path)
        if path == "is_error":
            # That nothing went wrong is what every API says by saying nothing.
            return "value.is_error"
        if info.default is None or info.default is msgspec.NODEFAULT:
            return f"value.{path}" if info.default_factory is not msgspec.NODEFAULT else f"value.{path} is not None"
        return f"value.{path} != {self._name('default', info.default) if info.default else repr(info.default)}"


def get_path(value: Any, path: tuple[str, ...]) -> Any:
    """An attribute of an attribute, None where one on the way is None."""
    for name in path:
        value = getattr(value, name)
        if value is None:
            return None
    return value


def merge_residue(row: Row, residue: dict[str, Any], wire: dict[str, Any]) -> None:
    """Fills the wire object with its own API's residue."""
    row.merge(residue, wire)
    if ":absent" in residue:
        for key in residue[":absent"]:
            wire.pop(key, None)
    if not NOTES.isdisjoint(residue):
        respell(wire, residue)


def encode_rest(row: Row, value: Any, wire: dict[str, Any], context: EncodeContext) -> None:
    """Settings in the words of the API that they came from: they mean nothing to another."""
    settings = getattr(value, row.rest or "")
    if settings and not context.is_ours(value):
        context.lose(value, row.rest, reasons.FOREIGN_SETTINGS)
        return
    for key, item in settings.items():
        wire.setdefault(key, item)


def encode_columns(row: Row, value: Any, wire: dict[str, Any], context: EncodeContext) -> None:
    """Deals the contents of one list out to the columns that take them, and says where an order is lost."""
    assert row.columns is not None
    attribute, columns = row.columns
    usual, order, api = row.column_keys, row.column_order, row.api
    said = getattr(value, attribute)
    if len(said) == 1 and said[0].extra is None and said[0].__class__ in usual:
        only = usual[said[0].__class__]
        _put(wire, only, columns[only].codec.encode(said, context, value))
        return
    dealt: dict[str, list[Any]] = {}
    latest = 0
    for content in said:
        extra = content.extra
        key = usual.get(content.__class__) if extra is None or api not in extra else _column_for(content, columns, row)
        if key is None:
            context.lose(content, None, reasons.NO_PLACE_IN_MESSAGE)
            continue
        place = order[key]
        if place < latest:
            context.lose(content, None, reasons.COLUMN_APART, column=key)
        else:
            latest = place
        if key in dealt:
            dealt[key].append(content)
        else:
            dealt[key] = [content]
    for key, contents in dealt.items():
        _put(wire, key, columns[key].codec.encode(contents, context, value))


def _put(wire: dict[str, Any], path: str, value: Any) -> None:
    """`value` at a dotted path of a wire object; None is no value."""
    if value is None:
        return
    if "." in path:
        *parents, path = path.split(".")
        for parent in parents:
            wire = wire.setdefault(parent, {})
    wire[path] = value


def _column_for(content: Any, columns: Any, row: Row) -> str | None:
    origin = note_of(content, row.api, ":column")
    if origin is not None:
        for key in columns:
            if key.rpartition(".")[2] == origin:
                return str(key)
    return row.column_keys.get(content.__class__)


def note_column(contents: list[Any], api: str, column: str) -> list[Any]:
    """Contents that say which column they came from; changed in place, for the list is traced."""
    contents[:] = [noted(content, api, ":column", column) for content in contents]
    return contents


def note_strays(contents: list[Any], api: str, column: str, models: frozenset[type]) -> list[Any]:
    """The same for those alone that are of a class that usually comes from another column, or from none."""
    for index, content in enumerate(contents):
        if content.__class__ not in models:
            contents[index] = noted(content, api, ":column", column)
    return contents
