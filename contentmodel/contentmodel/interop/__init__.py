"""The base of the model's types, which pydantic and FastAPI take as types of their own.

pydantic is imported only when pydantic itself asks.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Protocol

import msgspec


def options_of(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union of types, annotated or not; of any other type, the type alone."""
    if typing.get_origin(kind) is Annotated:
        kind = typing.get_args(kind)[0]
    return typing.get_args(kind) if typing.get_origin(kind) in (UnionType, typing.Union) else (kind,)


class Hooks(Protocol):
    """What pydantic asks of a type, as core schemas of pydantic: see `contentmodel.interop.pydantic`."""

    def validator(self, kind: Any) -> Any:
        """Return the schema that validates values of a type."""
        ...

    def shape(self, kind: Any) -> Any:
        """Return the schema that describes a type."""
        ...


_load_hooks: list[Callable[[], Hooks]] = []


def register_hooks(load: Callable[[], Hooks]) -> None:
    """Register what loads the hooks. The types must not import them: the hooks import the types."""
    _load_hooks[:] = [load]


class PydanticInterop:
    """Makes a Struct of the model a type of pydantic. Adds no field."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return _load_hooks[0]().validator(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        described: dict[str, Any] = handler(_load_hooks[0]().shape(cls))
        return described


class Discriminated:
    """Marks a union of Structs, in `Annotated`, that pydantic validates by `type` and describes as one definition."""

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
    """The base of the model's types: plain data that compares by value; unset fields are not written.

    Values form trees. They are not tracked by the garbage collector: one that was made to contain itself is never
    collected.
    """
