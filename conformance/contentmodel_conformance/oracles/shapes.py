"""Read the payload types of the installed SDKs from their annotations, as a small set of shapes.

Owns the introspection: TypedDicts and pydantic models become records with wire names. Independent of adapters.
Request judges, payload strategies and coverage tables use it. Response judges use the SDK's models directly.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, cached_property
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Scalar:
    """A scalar. `date` and `bytes` are texts (ISO 8601, base64)."""

    of: Literal["str", "int", "float", "bool", "null", "date", "bytes"]


@dataclass(frozen=True)
class Literals:
    """One of several constants."""

    values: tuple[str | int | bool, ...]


@dataclass(frozen=True)
class ListOf:
    """A list with items of one shape."""

    item: Shape


@dataclass(frozen=True)
class MapOf:
    """An object with any keys, and values of one shape."""

    value: Shape


@dataclass(frozen=True)
class OneOf:
    """A union, flat: no member is itself a union."""

    members: tuple[Shape, ...]


@dataclass(frozen=True)
class Anything:
    """Any JSON."""


@dataclass(frozen=True)
class Field:
    """A field of a record."""

    shape: Shape
    required: bool


@dataclass(frozen=True, eq=False)
class Record:
    """An object with known keys. Each Python class has one record, so recursive types terminate.

    A valid object has at most one of the keys in `exclusive`.
    """

    name: str
    read: Callable[[], dict[str, Field]] = field(repr=False)
    exclusive: frozenset[str] = frozenset()

    @cached_property
    def fields(self) -> dict[str, Field]:
        return self.read()


Shape: TypeAlias = Scalar | Literals | ListOf | MapOf | OneOf | Anything | Record

NULL = Scalar("null")
# Classes without fields that stand for any object (google-genai 3.4, _gaos/types/interactions).
_ANY_OBJECT = tuple(f"{step}Result" for step in ("FunctionResultStep", "MCPServerToolResultStep", "FileSearch"))
_SCALARS: dict[Any, Scalar] = {
    str: Scalar("str"),
    int: Scalar("int"),
    float: Scalar("float"),
    bool: Scalar("bool"),
    None: NULL,
    types.NoneType: NULL,
    date: Scalar("date"),
    datetime: Scalar("date"),
    bytes: Scalar("bytes"),
}
_LISTS = (list, Iterable, Sequence)
_MAPS = (dict, Mapping)

# Keys that exclude each other, in classes whose other fields are modifiers; documented only in docstrings
# (google-genai 3.4, types.Part).
_EXCLUSIVE: dict[str, frozenset[str]] = {
    "Part": frozenset(
        {
            "text",
            "inlineData",
            "fileData",
            "functionCall",
            "functionResponse",
            "executableCode",
            "codeExecutionResult",
            "toolCall",
            "toolResponse",
        }
    ),
    "FunctionResponsePart": frozenset({"inlineData", "fileData"}),
}
# Wire names that differ from those of the SDKs' TypedDicts (mistralai 3.7, models/jsonschema.py; google-genai 3.4).
_RENAMED = {
    "JSONSchemaTypedDict": {"schema_definition": "schema"},
    "RagRetrievalConfigParam": {"filter_": "filter"},
    "TextResponseFormatParam": {"schema_": "schema"},
}

# Fields that an API requires, though the SDK's class has a default for them (cohere 7.3, types; google-genai 3.4).
_REQUIRED: dict[str, frozenset[str]] = {
    "ToolV2": frozenset({"function"}),
    "Function": frozenset({"name"}),
    "FunctionParam": frozenset({"name"}),
    "ToolCallV2": frozenset({"function"}),
    "ToolCallV2Function": frozenset({"name", "arguments"}),
}


def shape_of(annotation: Any) -> Shape:
    """Return the shape of an annotation. Raises TypeError if it has no JSON form."""
    shape = _shape(annotation, params=False)
    if shape is None:
        raise TypeError(f"no wire shape: {annotation!r}")
    return shape


def fields_of(source: type) -> dict[str, Field]:
    """Return the fields of a TypedDict or a model by wire name, without those that have no JSON form."""
    return _params_fields(source) if typing_extensions.is_typeddict(source) else _model_fields(source)


def members(shape: Shape) -> tuple[Shape, ...]:
    """Return the members of a union, or the shape itself."""
    return shape.members if isinstance(shape, OneOf) else (shape,)


def _shape(annotation: Any, *, params: bool) -> Shape | None:
    """Return None for Python-only types: files, callables and, inside request params, response models."""
    if annotation in (Any, object):
        return Anything()
    if isinstance(annotation, typing_extensions.TypeAliasType):
        return _shape(annotation.__value__, params=params)
    if scalar := _SCALARS.get(annotation):
        return scalar
    if isinstance(annotation, type) and not get_origin(annotation):
        return _class_shape(annotation, params=params)
    return _generic_shape(annotation, params=params)


def _class_shape(source: Any, *, params: bool) -> Shape | None:
    if issubclass(source, enum.Enum):
        return Literals(tuple(member.value for member in source))
    if source.__name__.removesuffix("Param") in _ANY_OBJECT:
        return MapOf(Anything())
    if typing_extensions.is_typeddict(source):
        return _record(source)
    if issubclass(source, BaseModel):
        # The class of values that an SDK does not recognize has no wire form (google-genai 3.4, _gaos).
        is_python_only = params or source is BaseModel or "is_unknown" in source.model_fields
        return None if is_python_only else _record(source)
    if issubclass(source, dict):
        return MapOf(Anything())
    return None


def _generic_shape(annotation: Any, *, params: bool) -> Shape | None:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Required, NotRequired):
        return _shape(arguments[0], params=params)
    if isinstance(origin, typing_extensions.TypeAliasType):
        return _shape(origin.__value__[arguments], params=params)
    if origin is Literal:
        return Literals(arguments)
    if origin in (Union, types.UnionType):
        return _union(arguments, params=params)
    if origin in _MAPS:
        return _wrapped(MapOf, arguments[1], params=params)
    if origin in _LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        return _wrapped(ListOf, arguments[0], params=params)
    if origin is not None and typing_extensions.is_typeddict(origin):
        return _record(origin)
    return None


def _wrapped(kind: Callable[[Shape], Shape], inner: Any, *, params: bool) -> Shape | None:
    shape = _shape(inner, params=params)
    return None if shape is None else kind(shape)


def _union(arguments: tuple[Any, ...], *, params: bool) -> Shape | None:
    shapes = [shape for argument in arguments if (shape := _shape(argument, params=params))]
    flat = tuple(dict.fromkeys(member for shape in shapes for member in members(shape)))
    if len(flat) > 1:
        return OneOf(flat)
    return flat[0] if flat else None


@cache
def _record(source: Any) -> Record:
    return Record(source.__name__, lambda: fields_of(source), _EXCLUSIVE.get(source.__name__, frozenset()))


def _params_fields(source: Any) -> dict[str, Field]:
    """Return the fields of a TypedDict. Marks in annotations override `__required_keys__`."""
    hints = typing.get_type_hints(source, include_extras=True)
    shapes = {name: _shape(hint, params=True) for name, hint in hints.items()}
    renamed = _RENAMED.get(source.__name__, {})
    return {
        _alias(hints[name]) or renamed.get(name, name): Field(
            shape,
            _is_required(hints[name], name in source.__required_keys__) or name in _REQUIRED.get(source.__name__, ()),
        )
        for name, shape in shapes.items()
        if shape is not None
    }


def _is_required(hint: Any, otherwise: bool) -> bool:
    origins = [get_origin(layer) for layer in _layers(hint)]
    return Required in origins or (otherwise and NotRequired not in origins)


def _alias(hint: Any) -> str | None:
    """Return the wire name in the SDK's property metadata, if any."""
    marks = (mark for layer in _layers(hint) for mark in getattr(layer, "__metadata__", ()))
    return next((alias for mark in marks if isinstance(alias := getattr(mark, "alias", None), str)), None)


def _layers(hint: Any) -> Iterator[Any]:
    """Yield the hint, and the types inside Required, NotRequired and Annotated."""
    yield hint
    while get_origin(hint) in (Annotated, Required, NotRequired):
        hint = get_args(hint)[0]
        yield hint


def _model_fields(source: Any) -> dict[str, Field]:
    source.model_rebuild()  # resolves forward references of recursive models
    shapes = ((name, info, _shape(info.annotation, params=False)) for name, info in source.model_fields.items())
    return {
        info.alias or _generated_alias(source, name): Field(shape, _is_sent(source, name, info))
        for name, info, shape in shapes
        if shape is not None
    }


def _is_sent(source: Any, name: str, info: FieldInfo) -> bool:
    """Return whether a field is required. A constant that selects a member of a union is, though it has a default."""
    is_tag = get_origin(info.annotation) is Literal and get_args(info.annotation) == (info.default,)
    return info.is_required() or is_tag or name in _REQUIRED.get(source.__name__, ())


def _generated_alias(source: Any, name: str) -> str:
    return to_camel(name) if source.model_config.get("alias_generator") else name
