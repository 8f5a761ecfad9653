"""Inspect the types of the model's own classes: the fields of a class, and the type of an attribute."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

_FIELDS: dict[type[msgspec.Struct], tuple[msgspec.structs.FieldInfo, ...]] = {}


def fields_of(model: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a Struct class. Cached, because msgspec evaluates all annotations in each call."""
    if model not in _FIELDS:
        _FIELDS[model] = msgspec.structs.fields(model)
    return _FIELDS[model]


def attribute_of(model: type[msgspec.Struct], attribute: str) -> tuple[object, bool, object]:
    """Return the type of an attribute path, whether it is required, and its default value or factory.

    Raise TypeError if the class has no such attribute.
    """
    head, _, tail = attribute.partition(".")
    hints = _hints(model)
    if head not in hints:
        near = get_close_matches(head, hints, 1)
        fix = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(hints)}"
        raise TypeError(f"{model.__name__} has no attribute {head!r}: {fix}")
    if tail:
        return attribute_of(struct_in(hints[head]), tail)
    info = next(f for f in fields_of(model) if f.name == head)
    if info.default_factory is not msgspec.NODEFAULT:
        return hints[head], False, info.default_factory
    if info.default is msgspec.NODEFAULT:
        return hints[head], True, None
    return hints[head], False, info.default


def struct_in(hint: object) -> type[msgspec.Struct]:
    """Return the Struct class of `Struct | None`. Raise TypeError if there is none."""
    for option in typing.get_args(hint) or (hint,):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return option
    raise TypeError(f"expected a type with a Struct class, got {hint}")


def _hints(model: type[msgspec.Struct]) -> dict[str, object]:
    return {f.name: f.type for f in fields_of(model)}


def options_of(hint: object) -> tuple[object, ...]:
    """Return the types of a union; the type itself if it is not a union."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)


def classes_in(hint: object) -> set[object]:
    """Return the classes of a type without their parameters: dict and NoneType for `dict[str, Any] | None`."""
    classes = set()
    for option in options_of(hint):
        origin = typing.get_origin(option)
        if origin is typing.Literal:
            classes |= {value.__class__ for value in typing.get_args(option)}
        else:
            classes.add(origin or option)
    return classes


def unmapped_attributes(model: type[msgspec.Struct], prefix: str, mapped: set[str]) -> Iterator[str]:
    """Yield the attributes that no field maps. A nested Struct that is mapped in parts is checked by attribute."""
    for info in fields_of(model):
        path = prefix + info.name
        if path in mapped or info.name == "extra":
            continue
        if any(m.startswith(path + ".") for m in mapped):
            yield from unmapped_attributes(struct_in(info.type), path + ".", mapped)
        else:
            yield path


def get_attribute(value: object, path: str) -> Any:
    """Return the attribute at a dotted path; None if there is none."""
    return get_path(value, path.split("."))


def get_path(value: object, path: Iterable[str]) -> Any:
    """Return the attribute at a path of names; None if there is none."""
    for name in path:
        value = getattr(value, name, None)
    return value
