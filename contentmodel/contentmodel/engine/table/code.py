"""The generated source of a row's two functions."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from contentmodel.engine.table.introspect import fields_of, struct_in

if TYPE_CHECKING:
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.json import JsonObject
    from contentmodel.engine.table.rows import Row
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
                held = self.fresh("held")
                conditions += f"None if ({held} := {holder}) is None else "
                holder = held
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
    given: dict[str, object] = {}
    for info in fields_of(model):
        path = prefix + info.name
        inside = [value for name, value in read.items() if name.startswith(f"{path}.") and name not in implied]
        if path == "origin":
            given[info.name] = origin
        elif path in read:
            given[info.name] = read[path]
        elif info.default is None and inside and all(value is None for value in inside):
            given[info.name] = None
        elif inside:
            given[info.name] = build(struct_in(info.type), read, origin, implied, f"{path}.")
    return model(**given)
