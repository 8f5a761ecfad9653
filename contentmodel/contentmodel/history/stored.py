"""Check rows of the database as they are read. Raise DamagedError, and no other exception, for an invalid row.

Databases do not guarantee valid rows: SQLite accepts any value in any column, and a disk may corrupt any byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Column, Integer, Table

from contentmodel.errors import DecodeError
from contentmodel.history.columns import Damaged, Json, Moment
from contentmodel.history.errors import DamagedError
from contentmodel.history.tables import KIND

UNREADABLE = (DecodeError, TypeError, ValueError, LookupError, AttributeError, RecursionError)
"""The exceptions of decoding a JSON value with an invalid structure."""


def checked(table: Table, row: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the row. Raise DamagedError if a column has a value that its type does not allow."""
    for name, kind, may_be_null in _columns(table):
        value = row[name]
        if isinstance(value, Damaged):
            raise DamagedError(f"{place_of(table, row)}: the column {name} cannot be read: {value.why}")
        if value is None and may_be_null:
            continue
        if kind is not None and value.__class__ is not kind:
            expected = f"expected {kind.__name__}, got {value.__class__.__name__}"
            raise DamagedError(f"{place_of(table, row)}: the column {name} is damaged: {expected}")
    return row


@cache
def _columns(table: Table) -> tuple[tuple[str, type[Any] | None, bool], ...]:
    """Return the name of each column, the class of its values (None: any), and whether it may be null."""
    return tuple((column.name, _class_of(column), bool(column.nullable)) for column in table.columns)


def _class_of(column: Column[Any]) -> type[Any] | None:
    kind = column.type
    if isinstance(kind, Json):
        return column.info.get(KIND)
    if isinstance(kind, Moment):
        return datetime
    return bool if isinstance(kind, Boolean) else int if isinstance(kind, Integer) else str


def place_of(table: Table, row: Mapping[Any, Any]) -> str:
    """Return a readable description of a row: its table and its key."""
    keys = ", ".join(f"{column.name} {row[column.name]!r:.60}" for column in table.primary_key)
    return f"the row with {keys} of {table.name}"


@contextmanager
def reading_row(table: Table, row: Mapping[Any, Any]) -> Iterator[None]:
    """Convert the exceptions of reading the JSON of a row to DamagedError with the description of the row."""
    try:
        yield
    except UNREADABLE as error:
        raise DamagedError(f"{place_of(table, row)} cannot be read: {error}") from error
