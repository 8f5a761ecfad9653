"""The base class of the model's types, with support for pydantic and FastAPI.

pydantic is only imported when pydantic itself requests a schema.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Protocol

import msgspec


def options_of(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union of types, annotated or not; a tuple of the type itself for any other type."""
    if typing.get_origin(kind) is Annotated:
        kind = typing.get_args(kind)[0]
    return typing.get_args(kind) if typing.get_origin(kind) in (UnionType, typing.Union) else (kind,)


class Hooks(Protocol):
    """The functions that return core schemas for pydantic. See `contentmodel.interop.pydantic`."""

    def validator(self, kind: Any) -> Any:
        """Return the schema that validates values of a type."""
        ...

    def shape(self, kind: Any) -> Any:
        """Return the schema that describes a type."""
        ...


_load_hooks: list[Callable[[], Hooks]] = []


def register_hooks(load: Callable[[], Hooks]) -> None:
    """Register a function that loads the hooks. The types cannot import them, because the hooks import the types."""
    _load_hooks[:] = [load]


class PydanticInterop:
    """A mixin that makes a Struct of the model usable as a pydantic type. It adds no field."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return _load_hooks[0]().validator(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        described: dict[str, Any] = handler(_load_hooks[0]().shape(cls))
        return described


class Discriminated:
    """An `Annotated` marker for a union of Structs that pydantic validates by `type`, as one schema definition."""

    def __init__(self, base: type[PydanticInterop]) -> None:
        self.base = base

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return self.base.__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return self.base.__get_pydantic_json_schema__(schema, handler)


class Model(
    PydanticInterop,
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    repr_omit_defaults=True,
    gc=False,
):
    """The base class of the model's types: plain data, compared by value. Fields with default values are not written.

    Values form trees. The garbage collector does not track them, so a value that contains itself is never collected.
    """
