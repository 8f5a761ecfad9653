"""Times of answers: seconds since 1970, and dates in text."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

from contentmodel.derived import derives


@derives
def seconds_of(created: Any) -> float | int | None:
    """Return a time as seconds since 1970; None if it is invalid or infinite."""
    if isinstance(created, int | float) and not isinstance(created, bool):
        return created if isinstance(created, int) or isfinite(created) else None
    try:
        date = datetime.fromisoformat(created)
    except (TypeError, ValueError):
        return None
    seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp()
    return int(seconds) if seconds.is_integer() else seconds


@derives
def date_of(created: Any) -> str | None:
    """Return a time as a date in text; None if it is invalid."""
    if created.__class__ is str:
        return None if seconds_of(created) is None else created
    try:
        return datetime.fromtimestamp(created, UTC).isoformat().replace("+00:00", "Z")
    except (TypeError, ValueError, OverflowError, OSError):
        return None
