"""The creation time of an answer in each API's form: seconds since 1970, or a date as text (RFC 3339)."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

from contentmodel.engine.context import EncodeContext
from contentmodel.engine.json import JsonObject
from contentmodel.engine.losses import reasons
from contentmodel.response import ChatResponse


def whole_seconds(response: ChatResponse, context: EncodeContext) -> int:
    """Return the creation time of an answer in whole seconds since 1970, or 0; report what is lost."""
    created = response.created
    if created.__class__ is int:
        return created
    if created is None:
        context.report_loss(response, "created", reasons.UNKNOWN_TIME)
        return 0
    seconds = seconds_of(created)
    found = reasons.TIME_ROUNDED if seconds and seconds % 1 else reasons.TIME_REWRITTEN
    lost = reasons.TIME_DROPPED if seconds is None else found
    context.report_loss(response, "created", lost, form="in seconds since 1970")
    return 0 if seconds is None else int(seconds)


def with_date(payload: JsonObject, key: str, response: ChatResponse, context: EncodeContext) -> JsonObject:
    """Return an encoded answer with its creation time, the value at `key`, as a date in text; report what is lost."""
    created = payload.get(key)
    if created is None or isinstance(created, str):
        return payload
    date = date_of(created)
    lost = reasons.TIME_DROPPED if date is None else reasons.TIME_REWRITTEN
    context.report_loss(response, "created", lost, form="as a date in text")
    rest = {name: value for name, value in payload.items() if name != key}
    return rest if date is None else {**rest, key: date}


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


def date_of(created: Any) -> str | None:
    """Return a time as a date in text; None if it is invalid."""
    if created.__class__ is str:
        return None if seconds_of(created) is None else created
    try:
        return datetime.fromtimestamp(created, UTC).isoformat().replace("+00:00", "Z")
    except (TypeError, ValueError, OverflowError, OSError):
        return None
