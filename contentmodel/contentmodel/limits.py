"""Rate limits: read them from one API's headers and write them as another's.

A reset is a number of seconds from now. The clock is only read if `now` is not given.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.json import is_error_in_list, whole_number


class RateLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One limit of an account: the `limit` per window, the rest (`remaining`), and the seconds until the reset."""

    limit: int | None = None
    remaining: int | None = None
    reset_after: float | None = None


class RateLimits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rate limits in the headers of a response.

    `retry_after` is the time in seconds to wait before a retry. The keys of `limits` are the counted units: "requests",
    "tokens", "input_tokens", "output_tokens", or another one of the provider.
    """

    retry_after: float | None = None
    limits: dict[str, RateLimit] = {}


class LimitHeaders:
    """The names of an API's rate limit headers.

    `name` is a header name with the placeholders `{what}` and `{field}`. If `as_dates` is true, a reset is a date, else
    a duration. `writes` are the limits that the API has; None means any.
    """

    def __init__(self, name: str, *, as_dates: bool = False, writes: tuple[str, ...] | None = None) -> None:
        self._name, self._as_dates, self._writes = name, as_dates, writes
        pattern = re.escape(name).replace(r"\{what\}", "(?P<what>[a-z_-]+)")
        self._pattern = re.compile(pattern.replace(r"\{field\}", "(?P<field>limit|remaining|reset)"))

    def read(self, headers: Mapping[str, str], now: float) -> dict[str, RateLimit]:
        """Read the limits of lower-case headers. `now` is in seconds since 1970. Ignore headers that are invalid."""
        limits: dict[str, dict[str, Any]] = {}
        for name, value in headers.items():
            match = self._pattern.fullmatch(name)
            if match is None:
                continue
            number = _seconds(value, now) if match["field"] == "reset" else _count(value)
            if number is not None:
                field = "reset_after" if match["field"] == "reset" else match["field"]
                limits.setdefault(match["what"].replace("-", "_"), {})[field] = number
        return {unit: RateLimit(**fields) for unit, fields in limits.items()}

    def write(self, limits: Mapping[str, RateLimit], now: float) -> dict[str, str]:
        """Return the headers of `limits`. Omit limits that this API does not have."""
        headers = {}
        for unit, limit in limits.items():
            if self._writes is not None and unit not in self._writes:
                continue
            reset = None if limit.reset_after is None else self._reset(limit.reset_after, now)
            for field, value in (("limit", limit.limit), ("remaining", limit.remaining), ("reset", reset)):
                if value is not None:
                    headers[self._name.format(what=unit.replace("_", "-"), field=field)] = str(value)
        return headers

    def _reset(self, seconds: float, now: float) -> str:
        return _as_date(now + seconds) if self._as_dates else _as_duration(seconds)


def read_limits(headers: Mapping[str, str], api: str, *, body: Any = None, now: float | None = None) -> RateLimits:
    """Read the rate limits of a response of `api`. `body` is the JSON of an error response, if there is one.

    Gemini sends the time to wait in the body (google.rpc.RetryInfo); the other APIs use `retry-after` and
    `retry-after-ms`. `now` is the time in seconds since 1970. Header names may have any case. Raise UnknownApiError.
    """
    now = time.time() if now is None else now
    lower = {name.lower(): value for name, value in headers.items()}
    names = getattr(adapter(api), "limit_headers", None)
    return RateLimits(
        retry_after=_first(wait_in_headers(lower, now), wait_in_body(body)),
        limits={} if names is None else names.read(lower, now),
    )


def write_limits(limits: RateLimits, api: str, *, now: float | None = None) -> dict[str, str]:
    """Return limits as headers of `api`, with `retry-after` rounded up to whole seconds. Raise UnknownApiError."""
    now = time.time() if now is None else now
    names = getattr(adapter(api), "limit_headers", None)
    headers = {} if limits.retry_after is None else {"retry-after": str(-int(-limits.retry_after // 1))}
    return headers if names is None else {**headers, **names.write(limits.limits, now)}


def wait_in_headers(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait from the retry headers: a number, or a date (RFC 9110, section 10.2.3); else None."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None


def wait_in_body(body: Any) -> float | None:
    """Return the seconds of the RetryInfo of an error body ("34.4s", google/rpc/error_details.proto); else None."""
    body = body[0] if is_error_in_list(body) else body
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and _DURATION.fullmatch(delay):
            return _seconds(delay, 0.0)
    return None


def with_wait_in_body(body: Any, seconds: float) -> Any:
    """Return an error body with the seconds to wait as its RetryInfo, which `wait_in_body` reads.

    A RetryInfo that it has already, and a body of another form, are left as they are.
    """
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or wait_in_body(body) is not None:
        return body
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}
    return {**body, "error": {**error, "details": [*(error.get("details") or ()), info]}}


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


_LONGEST = 18
"""The maximum number of digits in a header. A longer number is no valid limit and may be too large for a date."""


def _count(text: str) -> int | None:
    return whole_number(text, _LONGEST)


# OpenAI's headers have Go durations: "6m0s", "12ms", "1h2m3.5s".
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:h|ms|m|s))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_LONGEST_DURATION = 50
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def _seconds(text: str, now: float) -> float | None:
    """Parse a duration, a number, or an RFC 3339 date. Return the seconds from `now`; None if the text is invalid."""
    if len(text) > _LONGEST_DURATION:
        return None
    if _DURATION.fullmatch(text):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now)


def _as_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _as_duration(seconds: float) -> str:
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(round(seconds, 3), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{rest:.3f}".rstrip("0").rstrip(".") + "s"
    return f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}" if minutes else text
