"""Strict validators: of a shape, rebuilt as strict pydantic types, and of an SDK's model.

The SDKs' TypedDicts cannot validate directly: pydantic validates an iterable only when it is iterated, and accepts
unknown keys. So the types are rebuilt with lists instead of iterables, and without extra keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, NotRequired, Required, TypeAlias, Union

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from contentmodel_conformance.oracles.faults import faults_of
from contentmodel_conformance.oracles.shapes import (
    Anything,
    Field,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Scalar,
    Shape,
)

Check: TypeAlias = Callable[[dict[str, Any]], list[str]]

_PYTHON: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "null": None,
    "date": datetime,
    "bytes": str,
}


def shape_check(record: Record) -> Check:
    """Return a check of payloads against a record and its nested shapes."""
    return type_check(_Types().of(record))


def type_check(annotation: Any, *, strict: bool = True) -> Check:
    """Return a check of payloads against a type, which refuses unknown keys. With `strict`, nothing is converted."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def check(payload: dict[str, Any]) -> list[str]:
        try:
            # Pydantic refuses lone surrogates, which are valid strings in the APIs' types.
            text = json.dumps(payload, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
        except (TypeError, ValueError) as error:
            return [f"$: not JSON: {error}"]
        try:
            adapter.validate_json(text, strict=strict, extra="forbid")
        except ValidationError as error:
            return faults_of(error, payload)
        return []

    return check


# Not typing.TypedDict: pydantic does not accept it before Python 3.12. `Any`, since mypy cannot check the call.
_typed_dict: Any = TypedDict


class _Types:
    """Builds the types of one payload. Each record is built once, so recursive types terminate."""

    def __init__(self) -> None:
        self._built: dict[Record, Any] = {}

    def of(self, shape: Shape) -> Any:
        match shape:
            case Scalar(name):
                return _PYTHON[name]
            case Literals(values):
                return Literal[values]
            case ListOf(item):
                return list[self.of(item)]  # type: ignore[misc]
            case MapOf(value):
                return dict[str, self.of(value)]  # type: ignore[misc]
            case OneOf(members):
                return Union[tuple(self.of(member) for member in members)]  # noqa: UP007
            case Record():
                return self._record(shape)
            case Anything():
                return Any

    def _record(self, record: Record) -> Any:
        if record not in self._built:
            typed = _typed_dict(record.name, {})
            typed.__pydantic_config__ = {"extra": "forbid"}
            self._built[record] = typed
            typed.__annotations__ = {name: self._field(item) for name, item in record.fields.items()}
        return self._built[record]

    def _field(self, item: Field) -> Any:
        inner = self.of(item.shape)
        return Required[inner] if item.required else NotRequired[inner]
