"""What the model's own types say about a row: the type of an attribute, and the codec that it implies."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from contentmodel.engine.json import JsonObject
from contentmodel.engine.table.codecs import (
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
    Codec,
)

_FIELDS: dict[type[Any], tuple[msgspec.structs.FieldInfo, ...]] = {}


def fields_of(model: type[Any]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a Struct class, looked up once: msgspec evaluates every annotation anew."""
    if model not in _FIELDS:
        _FIELDS[model] = msgspec.structs.fields(model)
    return _FIELDS[model]


def attribute_of(model: type[Any], attribute: str) -> tuple[Any, bool, Any]:
    """The type of an attribute path of a Struct, whether it must be given, and what it is when it is not."""
    head, _, rest = attribute.partition(".")
    hints = _hints(model)
    if head not in hints:
        raise TypeError(f"{model.__name__} has no attribute {head!r}")
    if rest:
        return attribute_of(struct_in(hints[head]), rest)
    info = next(f for f in fields_of(model) if f.name == head)
    if info.default_factory is not msgspec.NODEFAULT:
        return hints[head], False, info.default_factory
    if info.default is msgspec.NODEFAULT:
        return hints[head], True, None
    return hints[head], False, info.default


def struct_in(hint: object) -> type[Any]:
    """The Struct class of `Struct | None`."""
    for option in typing.get_args(hint) or (hint,):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return option
    raise TypeError(f"{hint} holds no Struct")


def _hints(model: type[Any]) -> JsonObject:
    return {f.name: f.type for f in fields_of(model)}


def codec_for(hint: object) -> Codec:
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


def _options(hint: object) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)


def unmapped_attributes(model: type[Any], prefix: str, mapped: set[str]) -> Iterator[str]:
    """Attributes that no field maps; those of a nested Struct that is mapped piece by piece, one by one."""
    for info in fields_of(model):
        path = prefix + info.name
        if path in mapped or info.name == "extra":
            continue
        if any(m.startswith(path + ".") for m in mapped):
            yield from unmapped_attributes(struct_in(info.type), path + ".", mapped)
        else:
            yield path


def get_attribute(value: object, path: str) -> Any:
    """The attribute at a dotted path; None where there is none."""
    return get_path(value, path.split("."))


def get_path(value: object, path: Iterable[str]) -> Any:
    """Return the attribute to which a path of names leads; None where there is none."""
    for name in path:
        value = getattr(value, name, None)
    return value
