"""Structs of rows, for `typed_decode.py`: msgspec decodes wire objects into them, and functions make contents of them.

A Struct accepts exactly the wire objects of a row that have no unknown fields, or only known ones (`KEPT`). msgspec
refuses others with a ValidationError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from contentmodel.authoring import noted
from contentmodel.content.base import Protected
from contentmodel.content.text import TextContent
from contentmodel.engine.table.codecs import (
    INTEGERS,
    LIST,
    OBJECTS,
    STRINGS,
    ArgumentsObject,
    ArgumentsText,
    Codec,
    EnumString,
    Opaque,
    ProviderOnly,
)
from contentmodel.engine.table.fields import Aliases, Gathered, Group, ProtobufJson, Rest
from contentmodel.engine.table.introspect import fields_of, struct_in
from contentmodel.engine.table.nested import Blocks, Record, TextOrBlocks
from contentmodel.engine.table.roles import Roles
from contentmodel.engine.table.rows import Row
from contentmodel.engine.table.tree import Column, Nested, Plain
from contentmodel.engine.table.unions import Union

STRUCTS, CLASSES_SET, SUBCLASSES = "structs", "classes set", "subclasses"


class Misfit(Exception):
    """Raised for a value that no Struct can represent."""


class Untypable(Exception):
    """Raised for a row, or a field of one, that no Struct can represent exactly as the engine decodes it."""


# Known fields that no attribute holds, by row, with their types: a Struct keeps them as residue. A subclass of a
# content has no room for them.
_CITATION = {"web_search_result_location": {"encrypted_index": str}}
_CACHE: dict[str, Any] = {tag: {"cache_control": dict[str, Any]} for tag in ("text", "tool_use", "tool_result")}
_ANNOTATIONS = {"assistant message": {"annotations": list[Any]}}
KEPT: dict[str, Mapping[str, Any]] = {**_CITATION, **_ANNOTATIONS}
KEPT_BY_STRUCTS: dict[str, Mapping[str, Any]] = {**KEPT, **_CACHE}


@dataclass
class Form:
    """The Struct of a row, and the function that makes the value of the model from it; `same` if it is that value.

    `build` is the inverse: it makes a Struct of a value, or raises Misfit.
    """

    model: type[Any]
    struct: Any
    make: Callable[..., Any]
    build: Any = None


class Forms:
    """The Structs of an adapter's rows, in one of the variants."""

    def __init__(self, variant: str) -> None:
        self.variant = variant
        self.kept = KEPT_BY_STRUCTS if variant == STRUCTS else KEPT
        self._objects: dict[str, Any] = {"Text": TextContent, "Protected": Protected, "UNSET": UNSET}
        self._unions: dict[str, list[Form]] = {}

    def name(self, value: object) -> str:
        """Return a name by which generated source refers to an object."""
        name = f"o{len(self._objects)}"
        self._objects[name] = value
        return name

    def function(self, arguments: str, *lines: str) -> Callable[..., Any]:
        """Return a function of these lines of source."""
        space = dict(self._objects)
        exec("\n    ".join([f"def made({arguments}):", *lines]), space)
        made: Callable[..., Any] = space["made"]
        return made

    def typed(self, codec: Codec, value: str, models: tuple[type, ...] = ()) -> tuple[Any, str]:
        """Return the type of a wire field, and the expression of the attribute, given that of the wire value.

        Of blocks, only those that make contents of `models` are taken, if there are any. Raise Untypable if no type
        holds what the codec holds.
        """
        if codec in _LISTS:
            return Annotated[_LISTS[codec], Meta(min_length=1)], value
        if type(codec) in (Codec, ArgumentsText, ArgumentsObject, EnumString, ProviderOnly) and codec.classes:
            return reduce(or_, (dict[str, Any] if kind is dict else kind for kind in codec.classes)), value
        if isinstance(codec, Opaque):
            return str, f"Protected(issuer={codec.issuer!r}, kind={codec.kind!r}, data={value})"
        if isinstance(codec, Record):
            form = self.form(codec.row, None)
            return form.struct, value if form.make is same else f"{self.name(form.make)}({value})"
        if type(codec) in (Blocks, TextOrBlocks):
            return self._blocks(codec, value, models)
        raise Untypable(codec.describe())

    def _blocks(self, codec: Any, value: str, models: tuple[type, ...]) -> tuple[Any, str]:
        forms = [form for form in self.union(codec.union) if not models or form.model in models]
        if not forms:
            raise Untypable(codec.describe())
        block: Any = reduce(or_, (form.struct for form in forms))
        kind: Any = Annotated[list[block], Meta(min_length=1)]
        made = value
        if any(form.make is not same for form in forms):
            makers = self.name({form.struct: form.make for form in forms})
            made = f"[{makers}[block.__class__](block) for block in {value}]"
        if type(codec) is Blocks:
            return kind, made
        note = {codec.union.api: codec._note}
        text = f"Text(text={value})"
        if codec._plain_is_string:
            made = f"{self.name(partial(_with_note, note))}({made})"
        else:
            text = f"Text(text={value}, extra={note!r})"
        return kind | str, f"([{text}] if {value}.__class__ is str else {made})"

    def untyped(self, codec: Codec, value: str) -> str:
        """Return the expression of the wire value, given that of the attribute."""
        if isinstance(codec, Opaque):
            return f"{value}.data if {value}.issuer == {codec.issuer!r} else {self.name(_refuse)}()"
        if isinstance(codec, Record):
            return f"{self.name(self.form(codec.row, None).build)}({value})"
        if isinstance(codec, Blocks):
            builders = self.name({form.model: form.build for form in reversed(self.union(codec.union))})
            several = f"[{builders}[content.__class__](content) for content in {value}]"
            if not isinstance(codec, TextOrBlocks):
                return several
            plain = self.name(partial(_plain_text, None if codec._plain_is_string else {codec.union.api: codec._note}))
            return f"(len({value}) == 1 and {plain}({value}[0])) or {several}"
        return value

    def union(self, union: Union) -> list[Form]:
        """Return the forms of those rows of a union that can be typed and that the tag identifies."""
        if union.name not in self._unions:
            self._unions[union.name] = [form for row in union.rows if (form := self._form_in(row, union)) is not None]
        return self._unions[union.name]

    def _form_in(self, row: Row, union: Union) -> Form | None:
        tag = row.constants.get(union.tag)
        alike = [other for other in union.rows if other.constants == row.constants]
        if tag is None or len(row.constants) > 1 or len(alike) > 1 or tag in union._choose or union._find is not None:
            return None
        try:
            form = self.form(row, (union.tag, tag))
        except Untypable:
            return None
        if row.certain or len(union._by_class[row.model]) == 1:
            return form
        # A content of another row than the usual one carries a note.
        return None if form.make is same else replace(form, make=_noting(form.make, row, union))

    def form(self, row: Row, tag: tuple[str, str] | None) -> Form:
        """Return the form of a row. Raise Untypable if it has none."""
        apart = (Rest, Gathered, Group, ProtobufJson, Aliases)
        if row.failure or row.select or row.shape or any(isinstance(field, apart) for field in row.others):
            raise Untypable(row.name)
        shape = _Shape(self, row, tag)
        return shape.plain() if self.variant == STRUCTS or shape.is_deep else shape.subclass()


class _Shape:
    """The fields of one Struct, and the attributes as expressions over the Struct `w`."""

    def __init__(self, forms: Forms, row: Row, tag: tuple[str, str] | None) -> None:
        self.forms, self.row = forms, row
        self.options: dict[str, Any] = {"forbid_unknown_fields": True, "omit_defaults": True, "kw_only": True}
        if tag is not None:
            self.options |= {"tag_field": tag[0], "tag": tag[1]}
        self.tag_field = tag[0] if tag is not None else ""
        self.attributes: dict[str, str] = {name: repr(value) for name, value in row.implied.items()}
        self.wire: dict[str, tuple[Any, ...]] = {}
        """The field of the Struct of each attribute: its key, type and default."""
        self.columns: dict[str, str] = {}
        self.inner: dict[str, Any] = {}
        self.kept = forms.kept.get(row.name, {})
        self.fields = self._fields(row.root, "w")
        if row.columns is not None:
            self.attributes[row.columns.attributes[0]] = " + ".join(self.columns.values())
        if tag is not None and tag[0] == "role" and "role" in row.model.__struct_fields__:
            self.attributes["role"] = repr(_role(row, tag[1]))
        named = "origin" in row.model.__struct_fields__
        nested = any(isinstance(child, Nested) for child in row.root.children.values())
        inside = any("." in name for name in self.attributes)
        self.is_deep = bool(named or nested or inside or self.kept or self.columns)

    def _fields(self, node: Nested, expression: str) -> list[Any]:
        fields: list[Any] = []
        for number, (key, child) in enumerate(node.children.items()):
            if key == self.tag_field:
                continue
            if isinstance(child, Nested):
                inside = self._fields(child, f"{expression}.{key}")
                self.inner[key] = msgspec.defstruct(key, inside, forbid_unknown_fields=True, kw_only=True)
                fields.append((key, self.inner[key]))
            elif isinstance(child, Column):
                fields.append(self._column(key, child, f"{expression}.{key}"))
            else:
                # An object inside that is empty is residue: one of its fields has to be there.
                fields += self._field(
                    key, child, f"{expression}.{key}", inside=node is not self.row.root and number == 0
                )
        return fields

    def _column(self, key: str, child: Column, expression: str) -> Any:
        # A null is residue.
        field: Any = None | UnsetType
        if not child.noted:
            with suppress(Untypable):
                kind, made = self.forms.typed(child.codec, expression, child.models)
                field |= kind
                self.columns[key] = f"([] if {expression} is UNSET or {expression} is None else {made})"
        return key, field, UNSET

    def _field(self, key: str, child: Plain, expression: str, *, inside: bool) -> Iterator[Any]:
        """Yield the field; nothing if it is untypable: a Struct without it refuses objects that have it."""
        try:
            kind, made = self.forms.typed(child.codec, expression)
        except Untypable:
            if child.required:
                raise
            return
        field: tuple[Any, ...] = (key, kind)
        if child.default == "":
            # The engine keeps an empty text as residue, apart from a field that is not there.
            field = (key, Annotated[kind, Meta(min_length=1)], "")
        elif child.default is None or child.default is list or child.default == []:
            absent = "None" if child.default is None else "[]"
            if not child.required and not inside:
                field = (key, kind, None)
                made = (
                    made
                    if made == expression and absent == "None"
                    else f"({absent} if {expression} is None else {made})"
                )
        else:
            raise Untypable(key)
        self.attributes[child.attribute] = made
        self.wire[child.attribute] = field
        yield field

    def plain(self) -> Form:
        """Return a form with a function that makes the content."""
        model, made = self.row.model, dict(self.attributes)
        kept = [(key, kind | UnsetType, UNSET) for key, kind in self.kept.items()]
        struct = msgspec.defstruct(f"{model.__name__}Wire", [*self.fields, *kept], **self.options)
        nulls = [key for key, _, default in (field for field in self.fields if len(field) == 3) if default is UNSET]
        usual = [f"w.{key} is UNSET" for key in self.kept] + [f"w.{key} is not None" for key in nulls]
        if usual:
            residue = partial(_residue, self.row.api, nulls, list(self.kept))
            made["extra"] = f"None if {' and '.join(usual)} else {self.forms.name(residue)}(w)"
        given = "w"
        if "origin" in model.__struct_fields__:
            given, made["origin"] = "w, context", "context.origin"
        make = self.forms.function(given, f"return {self._made(model, made)}")
        return Form(model, struct, make, self._builder(struct))

    def _builder(self, struct: Any) -> Callable[[Any], Any]:
        """Return the function that makes a Struct of a value of the model."""
        forms, model = self.forms, self.row.model
        apart = {"role", "origin", "executor", *self.row.implied, *(name.partition(".")[0] for name in self.attributes)}
        other = [info for info in fields_of(model) if info.name not in apart and info.default is None]
        refused = " or ".join(f"value.{info.name} is not None" for info in other)
        lines = [f"if {refused}: {forms.name(_refuse)}()"]
        if self.row.columns is not None:
            places = {kind: key for key in self.columns for kind in self.row.columns.columns[key].models}
            lines.append(f"dealt = {forms.name(partial(_dealt, places))}(value.contents)")
        lines.append(f"return {forms.name(struct)}({self._built(self.row.root)})")
        return forms.function("value", *lines)

    def _built(self, node: Nested) -> str:
        parts = []
        for key, child in node.children.items():
            if isinstance(child, Nested):
                parts.append(f"{key}={self.forms.name(self.inner[key])}({self._built(child)})")
            elif isinstance(child, Column):
                if key in self.columns:
                    made = self.forms.untyped(child.codec, f"dealt[{key!r}]")
                    parts.append(f"{key}=({made} if {key!r} in dealt else UNSET)")
            elif child.attribute in self.wire:
                value = f"value.{child.attribute}"
                made = self.forms.untyped(child.codec, value)
                parts.append(f"{key}={made if made == value else f'({made} if {value} else None)'}")
        return ", ".join(parts)

    def _made(self, model: type[Any], made: Mapping[str, str]) -> str:
        """Return the expression of a Struct of the model, given those of its attributes by their paths."""
        parts = []
        for info in fields_of(model):
            start = f"{info.name}."
            inner = {path.removeprefix(start): value for path, value in made.items() if path.startswith(start)}
            if info.name in made:
                parts.append(f"{info.name}={made[info.name]}")
            elif inner:
                parts.append(f"{info.name}={self._made(struct_in(info.type), inner)}")
        return f"{self.forms.name(model)}({', '.join(parts)})"

    def subclass(self) -> Form:
        """Return a form whose Struct is a subclass of the model's class."""
        forms, model = self.forms, self.row.model
        fields, rename, settles = [], {}, []
        for info in fields_of(model):
            # No API has a field of the name of an attribute that no field holds.
            key, kind, *default = self.wire.get(info.name, (f"({info.name})", Any, _default_of(info)))
            made = self.attributes.get(info.name, f"w.{key}").replace(f"w.{key}", f"w.{info.name}")
            if made != f"w.{info.name}":
                settles.append(f"{forms.name(force_setattr)}(w, {info.name!r}, {made})")
            rename[info.name] = key
            fields.append((info.name, kind, *default))
        space = {}
        if settles or hasattr(model, "__post_init__"):
            space["__post_init__"] = forms.function("w", *settles, "return None")
        struct = msgspec.defstruct(
            model.__name__, fields, bases=(model,), namespace=space, rename=rename, frozen=True, **self.options
        )
        if forms.variant == SUBCLASSES:
            return Form(model, struct, same)
        setter = forms.name(object.__dict__["__class__"].__set__)
        return Form(model, struct, forms.function("w", f"{setter}(w, {forms.name(model)})", "return w"))


_LISTS = {STRINGS: list[str], INTEGERS: list[int], OBJECTS: list[dict[str, Any]], LIST: list[Any]}


def _refuse() -> NoReturn:
    raise Misfit


def _plain_text(extra: Any, content: Any) -> str | None:
    is_plain = content.__class__ is TextContent and content.extra == extra and content.annotations is None
    return content.text if is_plain and content.protected is None else None


def _dealt(places: Mapping[type, str], contents: list[Any]) -> dict[str, list[Any]]:
    dealt: dict[str, list[Any]] = {}
    for content in contents:
        dealt.setdefault(places[content.__class__], []).append(content)
    return dealt


def same(value: Any) -> Any:
    """Return a value as it is."""
    return value


def _default_of(info: msgspec.structs.FieldInfo) -> Any:
    if info.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=info.default_factory)
    return None if info.default is msgspec.NODEFAULT else info.default


def _role(row: Row, role: str) -> str:
    codec = dict(row.codecs()).get("role")
    return codec.to_model[role] if isinstance(codec, Roles) else role


def _residue(api: str, nulls: list[str], kept: list[str], wire: Any) -> Any:
    own = {key: None for key in nulls if getattr(wire, key) is None}
    return {api: own | {key: value for key in kept if (value := getattr(wire, key)) is not UNSET}}


def _with_note(extra: dict[str, Any], contents: list[Any]) -> list[Any]:
    if len(contents) == 1 and isinstance(contents[0], TextContent) and contents[0].extra is None:
        contents[0] = msgspec.structs.replace(contents[0], extra=extra)
    return contents


def _noting(make: Callable[[Any], Any], row: Row, union: Union) -> Callable[[Any], Any]:
    rows = union._by_class[row.model]

    def made(wire: Any) -> Any:
        content = make(wire)
        return content if union._usual(content, rows) is row else noted(content, union.api, ":row", row.name)

    return made
