"""Validation, serialization and JSON Schema of the model's types for pydantic.

msgspec validates and serializes, with the same functions as `loads` and `dumps`. The JSON Schema is built from
pydantic's core schemas, so that types which refer to each other become `$defs` (components of an OpenAPI document).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, reduce
from operator import or_
from typing import Any

from msgspec import inspect, structs
from pydantic_core import PydanticCustomError, core_schema

from contentmodel.content import CONTENT_TYPES, Content
from contentmodel.content.base import AIContent
from contentmodel.content.registering import REGISTERED
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import EVENT_TYPES
from contentmodel.serialize import convert_value, require_valid_as, to_builtins

Schema = Any
"""A core schema of pydantic."""
Definitions = dict[str, Schema | None]
"""Core schemas by name; None for a schema under construction."""

_TAGGED: tuple[type[Any], ...] = (*CONTENT_TYPES, *EVENT_TYPES)


@cache
def validator(kind: type[Any]) -> Schema:
    """Return the core schema that accepts an instance of `kind`, or its JSON value, and serializes to a JSON value.

    If `kind` is a base class, accept all its types, distinguished by `type`. If any content is accepted, an unknown
    `type` becomes UnknownContent, or a hosted call or result.
    """
    has_tag = all(member.__struct_config__.tag is not None for member in members(kind))

    def validate(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        try:
            if has_tag and isinstance(value, dict) and "type" not in value:
                raise DecodeError("contentmodel", [Fault("$", "object has no `type`")])
            return convert_value(value, _expected(kind))
        except DecodeError as error:
            raise PydanticCustomError("contentmodel", "{fault}", {"fault": str(error)}) from None

    def written(value: Any) -> Any:
        require_valid_as(value, _expected(kind))
        return to_builtins(value)

    return core_schema.no_info_plain_validator_function(
        validate,
        ref=_ref(kind, members(kind)),
        serialization=core_schema.plain_serializer_function_ser_schema(written, when_used="always"),
    )


def members(kind: type[Any]) -> tuple[type[Any], ...]:
    """Return the types that a value of `kind` can have in JSON."""
    return tuple(member for member in (*_TAGGED, *REGISTERED.values()) if issubclass(member, kind)) or (kind,)


def _expected(kind: type[Any]) -> Any:
    """Return the type to convert to: the union of the types of `kind`, with those that are registered by now."""
    return Content if kind is AIContent else reduce(or_, members(kind))


def shape(kind: Any) -> Schema:
    """Return a core schema whose JSON Schema describes `kind`. It is not used for validation."""
    return _shape(kind, tuple(REGISTERED.values()))


@cache
def _shape(kind: Any, registered: Any) -> Schema:
    """Do the same as `shape`, for the types that are `registered` now."""
    definitions: Definitions = {}
    types = members(kind)
    top = _object(types, definitions) if types == (kind,) else _choice(kind, definitions)
    return core_schema.definitions_schema(
        top, [definition for definition in definitions.values() if definition is not None]
    )


def _described(info: inspect.Type, definitions: Definitions) -> Schema:
    if isinstance(info, inspect.StructType):
        return _object((info.cls,), definitions)
    if isinstance(info, inspect.UnionType):
        return _union(info, definitions)
    if isinstance(info, inspect.ListType):
        return core_schema.list_schema(_described(info.item_type, definitions))
    if isinstance(info, inspect.DictType) and isinstance(info.value_type, inspect.DictType):
        # Each class has the field `extra`, so its type is one definition.
        return _defined(
            "contentmodel.Residue:1",
            definitions,
            lambda: core_schema.dict_schema(core_schema.str_schema(), core_schema.dict_schema()),
        )
    if isinstance(info, inspect.DictType):
        return core_schema.dict_schema(core_schema.str_schema(), _described(info.value_type, definitions))
    return _PLAIN[type(info)]()


_PLAIN: dict[type[inspect.Type], Any] = {
    inspect.AnyType: core_schema.any_schema,
    inspect.BoolType: core_schema.bool_schema,
    inspect.FloatType: core_schema.float_schema,
    inspect.IntType: core_schema.int_schema,
    inspect.StrType: core_schema.str_schema,
}


def _union(info: inspect.UnionType, definitions: Definitions) -> Schema:
    options = [option for option in info.types if not isinstance(option, inspect.NoneType)]
    classes = [option.cls for option in options if isinstance(option, inspect.StructType)]
    if len(classes) == len(CONTENT_TYPES):
        inner = _choice(AIContent, definitions)
    elif len(options) > 1 and len(classes) == len(options):
        inner = _by_type(classes, definitions)
    elif len(options) == 1:
        inner = _described(options[0], definitions)
    else:
        inner = core_schema.union_schema([_described(option, definitions) for option in options])
    return core_schema.nullable_schema(inner) if info.includes_none else inner


def _choice(base: type[Any], definitions: Definitions) -> Schema:
    """Return a reference to the definition of a base class: a union of its types."""
    types = members(base)
    return _defined(_ref(base, types), definitions, lambda: _by_type(types, definitions))


def _by_type(types: Iterable[type[Any]], definitions: Definitions) -> Schema:
    """Return the union of types, tagged by `type`. Types with the same fields share one definition."""
    groups: dict[Any, list[type[Any]]] = {}
    for kind in types:
        groups.setdefault(_fields_of(kind), []).append(kind)
    described = ((group, _object(tuple(group), definitions)) for group in groups.values())
    choices = {kind.__struct_config__.tag: schema for group, schema in described for kind in group}
    return core_schema.tagged_union_schema(choices, discriminator="type")


def _fields_of(kind: type[Any]) -> tuple[tuple[str, str, bool], ...]:
    return tuple((field.name, str(field.type), field.required) for field in structs.fields(kind))


def _object(types: tuple[type[Any], ...], definitions: Definitions) -> Schema:
    """Return a reference to the definition of types that have the same fields."""
    return _defined(_ref(types[0], types), definitions, lambda: _fields(types, definitions))


def _fields(types: tuple[type[Any], ...], definitions: Definitions) -> Schema:
    info = inspect.type_info(types[0])
    assert isinstance(info, inspect.StructType)
    fields = {
        field.encode_name: core_schema.typed_dict_field(_described(field.type, definitions), required=field.required)
        for field in info.fields
    }
    if info.tag_field:
        tags = core_schema.literal_schema([kind.__struct_config__.tag for kind in types])
        fields = {info.tag_field: core_schema.typed_dict_field(tags, required=True), **fields}
    return core_schema.typed_dict_schema(fields, metadata={"pydantic_js_functions": [_without_titles]})


def _defined(ref: str, definitions: Definitions, make: Callable[[], Schema]) -> Schema:
    if ref not in definitions:
        definitions[ref] = None
        definitions[ref] = {**make(), "ref": ref}
    return core_schema.definition_reference_schema(ref)


def _ref(kind: type[Any], types: tuple[type[Any], ...]) -> str:
    """Return the ref of a definition. The part before the colon is its name in the JSON Schema."""
    name = kind.__name__ if types == members(kind) else f"{kind.__name__}Like"
    return f"contentmodel.{name}:{len(types)}"


def _without_titles(schema: Schema, handler: Any) -> dict[str, Any]:
    """Return the JSON Schema of an object without field titles, which only repeat the names."""
    described: dict[str, Any] = handler(schema)
    for field in described["properties"].values():
        field.pop("title", None)
    return described
