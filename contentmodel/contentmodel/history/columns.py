"""Column types: JSON and text without restrictions on their values, and times in UTC.

PostgreSQL's text accepts neither NUL nor lone surrogates, and its JSONB converts large floats to integers. A value that
one of the databases would change is stored as ASCII JSON text in both.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

from contentmodel.errors import DecodeError

ESCAPED = ":json"
"""The only key of an object that represents an escaped value; its value is the JSON text."""
MARK = "\ufdd0"
"""The prefix of a text that is escaped as JSON. It is a noncharacter, so ordinary texts do not start with it."""


def is_kept_as_text(text: str) -> bool:
    """Return whether every database stores this text unchanged."""
    if "\0" in text or text.startswith(MARK):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_kept_as_json(value: Any) -> bool:
    """Return whether every database stores this JSON value unchanged."""
    if isinstance(value, str):
        return is_kept_as_text(value)
    if isinstance(value, dict):
        return (
            set(value) != {ESCAPED} and all(map(is_kept_as_text, value)) and all(map(is_kept_as_json, value.values()))
        )
    if isinstance(value, list):
        return all(map(is_kept_as_json, value))
    # JSON writes a float beyond 2**53 with an exponent. JSONB expands it, so it would be read as an integer. JSONB has
    # no negative zero.
    return not isinstance(value, float) or (abs(value) < 2**53 and str(value) != "-0.0")


class Damaged:
    """A placeholder for a stored value that cannot be read. `stored.checked` raises DamagedError with `why`."""

    def __init__(self, why: str) -> None:
        self.why = why


def _total(read: Any, kind: type[Any] | None) -> Any:
    """Wrap `read`: return `Damaged` if it raises, or if the stored value is not of the class `kind`."""

    def read_or_damaged(value: Any) -> Any:
        if kind is not None and value is not None and value.__class__ is not kind:
            return Damaged(f"expected {kind.__name__}, got {value.__class__.__name__}")
        try:
            return read(value)
        except (DecodeError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            return Damaged(str(error))

    return read_or_damaged


class Total(TypeDecorator[Any]):
    """A column type whose reader never raises: a value that cannot be read becomes `Damaged`."""

    impl: Any = Text
    cache_ok = True

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        # PostgreSQL enforces the types of its columns. SQLite stores all these types as text, but accepts any class.
        return _total(super().result_processor(dialect, coltype), str if dialect.name == "sqlite" else None)


class Json(Total):
    """A JSON value. None is SQL NULL. Top-level numbers are escaped: SQLite returns them as numbers, not as JSON."""

    impl = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> Any:
        is_kept = value is None or (isinstance(value, dict | list | str) and is_kept_as_json(value))
        return value if is_kept else {ESCAPED: json.dumps(value)}

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        if isinstance(value, dict) and set(value) == {ESCAPED}:
            return json.loads(value[ESCAPED])
        return value


class AnyText(Total):
    """Any text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return value if value is None or is_kept_as_text(value) else MARK + json.dumps(value)

    def process_result_value(self, value: Any, dialect: Any) -> str | None:
        if value is None or not value.startswith(MARK):
            return value  # type: ignore[no-any-return]
        return str(json.loads(value[len(MARK) :]))


class Moment(Total):
    """A time zone aware datetime in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Any) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)  # type: ignore[no-any-return]
