"""The fields of a row that are not in its tree of wire paths: one class for each kind.

`read`, `write` and `finish` do the work directly, which is slow. The `..._source` methods generate equivalent code for
a row's functions. A property test checks that both agree (tests/test_fields.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content.documents import DocumentContent
from contentmodel.content.outcomes import ErrorContent, ReferenceContent
from contentmodel.content.text import TextContent
from contentmodel.engine.pipeline.lowering import as_texts
from contentmodel.engine.table.codecs import ArgumentsObject, Place
from contentmodel.engine.table.introspect import attribute_of
from contentmodel.engine.table.tree import CONTENTS, Column
from contentmodel.hints import COLUMN
from contentmodel.json import Json, JsonObject, container_of, dotted_key, path_keys, put_at, wire_at, wire_path

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.compile import Code
    from contentmodel.engine.table.rows import Row

FOLLOWING = ("executor", "role", "cached_inside", "reasoning_inside")
"""Attributes that steps set, or that follow from the position of a value. If they differ, it is not a loss."""


class Field:
    """A field outside of the tree: the wire `keys` that it consumes, and the `attributes` that it sets."""

    keys: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def join(self, row: Row) -> None:
        """Add this field to a row under construction."""

    def keys_of(self, attribute: str) -> Sequence[str]:
        """Return the wire paths of an attribute."""
        return [dotted_key(key) for key in self.keys] if attribute in self.attributes else ()

    def describe(self) -> Iterator[tuple[str, JsonObject]]:
        """Yield the wire path of each key with the field as data."""
        for key in self.keys:
            yield dotted_key(key), {"attribute": self.attributes[0], "form": "any", "required": False}

    def read(self, wire: JsonObject, read: JsonObject, context: DecodeContext) -> None:
        """Read the attributes, by path, into `read`."""

    def read_source(self, count: str, code: Code) -> None:
        """Generate the code of `read`. It also counts the keys that are consumed."""

    def write(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        """Write into the wire object, before the residue."""

    def write_source(self, code: Code) -> None:
        """Generate the code of `write`. By default, it calls `write`."""
        if type(self).write is not Field.write:
            code.add(f"    {code.name('write', self.write)}(value, wire, context)")

    def consumed(self, wire: Mapping[str, Json]) -> Collection[str]:
        """Return the keys of a wire object that the field consumes."""
        return self.keys

    def finish(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        """Complete the wire object after the residue, and report losses."""

    def finish_source(self, code: Code) -> None:
        """Generate the code of `finish`."""


_AS_TEXTS = (ErrorContent, DocumentContent, ReferenceContent)


def _in_text_column(
    content: AIContent, usual: Mapping[type[AIContent], str], context: EncodeContext
) -> tuple[AIContent, str | None]:
    """Return a refusal or document of another API as a text, with the column of texts; any other content with None."""
    column = usual.get(TextContent)
    # An answer keeps what has a column of its own.
    is_moved = not context.native and (context.kind == "request" or content.__class__ not in usual)
    texts = as_texts(content, context) if column and is_moved and isinstance(content, _AS_TEXTS) else []
    return (texts[0], column) if texts else (content, None)


class Columns(Field):
    """One list of contents in several wire fields. Each such field is a column, with a dotted path."""

    def __init__(self, attribute: str, columns: Mapping[str, Column]) -> None:
        self.attributes, self.columns = (attribute,), dict(columns)
        # The column of each content class, and the position of each column.
        self._usual = {m: k for k, c in reversed(list(self.columns.items())) if not c.hinted for m in c.models}
        self.order = {key: index for index, key in enumerate(self.columns)}

    def join(self, row: Row) -> None:
        for path, column in self.columns.items():
            row.put(path, column)

    def keys_of(self, attribute: str) -> Sequence[str]:
        return tuple(self.columns) if attribute in self.attributes else ()

    def describe(self) -> Iterator[tuple[str, JsonObject]]:
        for key, column in self.columns.items():
            yield key, {"attribute": self.attributes[0], "form": column.describe(), "required": False}

    def counts(self, wire: JsonObject) -> Iterator[tuple[str, int]]:
        """Yield the columns that a wire object has, in order, each with the number of its contents."""
        for key, column in self.columns.items():
            inner = wire_at(wire, key)
            if inner is not None and column.holds(inner):
                yield key, column.codec.count(inner)

    def places(self, value: object, wire: JsonObject, path: str) -> Iterator[Place]:
        """Yield the origins of the contents of a decoded value."""
        remaining = list(getattr(value, self.attributes[0]))
        for key, count in self.counts(wire):
            if not remaining:
                return
            yield from self.columns[key].codec.places(remaining[:count], wire_at(wire, key), wire_path(path, key))
            remaining = remaining[count:]

    def read(self, wire: JsonObject, read: JsonObject, context: DecodeContext) -> None:
        read[self.attributes[0]] = read.pop(CONTENTS)

    def write(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        """Distribute the contents to their columns. Report contents whose order is lost."""
        contents, usual, api = getattr(value, self.attributes[0]), self._usual, context.api
        if len(contents) == 1 and contents[0].extra is None and contents[0].__class__ in usual:
            column = usual[contents[0].__class__]
            put_at(wire, column, self.columns[column].codec.encode(contents, context, value))
            return
        by_column: dict[str, list[AIContent]] = {}
        latest = 0
        for content in contents:
            extra = content.extra
            key = usual.get(content.__class__) if extra is None or api not in extra else self._column_of(content, api)
            if key is None:
                content, key = _in_text_column(content, usual, context)
            if key is None:
                context.report_loss(content, None, reasons.UNSUPPORTED_IN_MESSAGE)
                continue
            position = self.order[key]
            if position < latest:
                context.report_loss(content, None, reasons.SEPARATE_COLUMN, column=key)
            else:
                latest = position
            if key in by_column:
                by_column[key].append(content)
            else:
                by_column[key] = [content]
        for key, column_contents in by_column.items():
            put_at(wire, key, self.columns[key].codec.encode(column_contents, context, value))

    def _column_of(self, content: AIContent, api: str) -> str | None:
        origin = COLUMN.of(content, api)
        if origin is not None:
            for key in self.columns:
                if key.rpartition(".")[2] == origin:
                    return key
        return self._usual.get(content.__class__)


class Gathered(Field):
    """One JSON object in the model, built from the wire fields `keys`."""

    def __init__(self, attribute: str, *keys: str) -> None:
        self.attributes, self.keys = (attribute,), keys
        self._as_object = ArgumentsObject(keys[0]).encode
        self._is_optional = False

    def join(self, row: Row) -> None:
        self._is_optional = attribute_of(row.model, self.attributes[0])[2] is None

    def read(self, wire: JsonObject, read: JsonObject, context: DecodeContext) -> None:
        gathered = {key: wire[key] for key in self.consumed(wire)}
        read[self.attributes[0]] = (gathered or None) if self._is_optional else gathered

    def read_source(self, count: str, code: Code) -> None:
        code.add(f"    gathered = {{k: wire[k] for k in {code.name('keys', self.keys)} if wire.get(k) is not None}}")
        code.add(f"    {count} += len(gathered)")
        code.read[self.attributes[0]] = "(gathered or None)" if self._is_optional else "gathered"

    def consumed(self, wire: Mapping[str, Json]) -> Collection[str]:
        return [key for key in self.keys if wire.get(key) is not None]

    def write(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        gathered = getattr(value, self.attributes[0])
        if gathered.__class__ is str:
            gathered = self._as_object(gathered, context, value)
        if gathered:
            wire.update(gathered)


class Group(Field):
    """One attribute that `decode` builds from several wire fields (`keys`). A row may have several groups.

    `parts` maps a key to the nested attribute that it holds. It is used for documentation and the paths of losses.
    """

    attribute = ""
    parts: Mapping[str, str] = {}

    def join(self, row: Row) -> None:
        self.attributes = (self.attribute,)

    def decode(self, wire: JsonObject, context: DecodeContext) -> Any:
        """Return the attribute's value."""
        raise TypeError(f"{type(self).__name__} has no `decode`: implement it")

    def encode(self, value: Any, wire: JsonObject, context: EncodeContext, owner: Any) -> None:
        """Write the fields into `wire`."""
        raise TypeError(f"{type(self).__name__} has no `encode`: implement it")

    def consumed(self, wire: Mapping[str, Json]) -> Collection[str]:
        """Return the keys of a wire object that `decode` reads completely. The others stay in the residue.

        The default: all of `keys` that the object has.
        """
        return [key for key in self.keys if key in wire]

    def keys_of(self, attribute: str) -> Sequence[str]:
        return [dotted_key(key) for key in self.keys if attribute in (self.attribute, self.parts.get(key))]

    def describe(self) -> Iterator[tuple[str, JsonObject]]:
        for key in self.keys:
            yield dotted_key(key), {"attribute": self.parts.get(key, self.attribute), "form": "any", "required": False}

    def read(self, wire: JsonObject, read: JsonObject, context: DecodeContext) -> None:
        read[self.attribute] = self.decode(wire, context)

    def read_source(self, count: str, code: Code) -> None:
        group = code.name("group", self)
        code.add(f"    {count} += len({group}.consumed(wire))")
        code.add(f"    {code.variable(self.attribute)} = {group}.decode(wire, context)")

    def write(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        self.encode(getattr(value, self.attribute), wire, context, value)


class Rest(Field):
    """All fields that no other field consumes: provider-specific settings."""

    def __init__(self, attribute: str) -> None:
        self.attributes = (attribute,)

    def write(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        settings = getattr(value, self.attributes[0])
        if settings and not context.is_ours(value):
            context.report_loss(value, self.attributes[0], reasons.FOREIGN_SETTINGS)
            return
        for key, item in settings.items():
            wire.setdefault(key, item)


class ProtobufJson(Field):
    """Accept the alternative spellings of names and numbers in the JSON form of protocol buffers (`respelling.py`)."""


class Aliases(Field):
    """Alternative names of the row's fields: the usual name by dotted path."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = dict(names)


class Implied(Field):
    """Attributes whose value is implied by the row. When encoding, any other value is reported as lost."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self.values = dict(values)
        self.attributes = tuple(self.values)
        top_level = ((name, value) for name, value in self.values.items() if "." not in name)
        self._checked = {name: value for name, value in top_level if name not in FOLLOWING}

    def read(self, wire: JsonObject, read: JsonObject, context: DecodeContext) -> None:
        read.update(self.values)

    def read_source(self, count: str, code: Code) -> None:
        code.read.update((name, repr(value)) for name, value in self.values.items())

    def finish(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        for name, implied in self._checked.items():
            context.report_other_value(value, name, implied)

    def finish_source(self, code: Code) -> None:
        if type(self).finish is not Implied.finish:
            code.add(f"    {code.name('finish', self.finish)}(value, wire, context)")
            return
        for name, implied in self._checked.items():
            code.add(f"    if value.{name} is not None and value.{name} != {implied!r}:")
            code.add(f"        context.report_other_value(value, {name!r}, {implied!r})")


class Filled(Field):
    """Fields that the API requires, with defaults by dotted path, for values that did not come from this API.

    `complete(value, wire)` writes missing fields that depend on the value. If `changed` is true, the fields are also
    written for values of this API that a step has changed: it may have emptied a list.
    """

    def __init__(
        self,
        values: Mapping[str, Json],
        complete: Callable[[Any, JsonObject], None] | None = None,
        *,
        changed: bool = False,
    ) -> None:
        self.values, self._complete, self._changed = dict(values), complete, changed

    def finish(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        if not context.completes and not (self._changed and context.is_changed(value)):
            return
        for path, required in self.values.items():
            container, key = container_of(wire, path)
            # Copied, so that no two wire objects share a list.
            container.setdefault(key, deepcopy(required))
        if self._complete is not None:
            self._complete(value, wire)

    def finish_source(self, code: Code) -> None:
        if type(self).finish is not Filled.finish:
            code.add(f"    {code.name('finish', self.finish)}(value, wire, context)")
            return
        if self.values or self._complete is not None:
            changed = " or context.is_changed(value)" if self._changed else ""
            code.add(f"    if context.completes{changed}:")
        for path, value in self.values.items():
            *parents, key = path_keys(path)
            container = "wire" + "".join(f".setdefault({parent!r}, {{}})" for parent in parents)
            code.add(f"        {container}.setdefault({key!r}, {value!r})")
        if self._complete is not None:
            code.add(f"        {code.name('complete', self._complete)}(value, wire)")


class Silent(Field):
    """Attributes that the row neither writes nor reports: other code writes them, or they have no meaning.

    All other unmapped attributes are reported as lost if they are set.
    """

    def __init__(self, *silent: str) -> None:
        self.silent = silent
        self.names: tuple[str, ...] = ()
        self._model: type[msgspec.Struct] = msgspec.Struct

    def join(self, row: Row) -> None:
        self.names, self._model = tuple(sorted(row.unmapped(self.silent))), row.model

    def finish(self, value: object, wire: JsonObject, context: EncodeContext) -> None:
        context.report_lost_attributes(value, self.names)

    def finish_source(self, code: Code) -> None:
        if self.names:
            code.add(f"    if {' or '.join(self._is_set(path, code) for path in self.names)}:")
            code.add(f"        context.report_lost_attributes(value, {code.name('unmapped', self.names)})")

    def _is_set(self, path: str, code: Code) -> str:
        attribute, default = code.attribute(path), attribute_of(self._model, path)[2]
        if "." in path:
            return f"{attribute} not in (None, {default!r})"
        if path == "is_error":
            # All APIs express success by a missing flag: False is no loss.
            return attribute
        if isinstance(default, type):
            return attribute
        return f"{attribute} is not None" if default is None else f"{attribute} != {code.default(default)}"
