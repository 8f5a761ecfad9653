"""Read the times of PostgreSQL that Python's types cannot represent: `infinity`, years before 1 and after 9999, months.

The driver psycopg raises an error for a whole result if one value is such a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection

_TYPES = ("date", "time", "timetz", "timestamp", "timestamptz", "interval")
_INTERVAL = re.compile(
    r"(?:([-+]?\d+) years? ?)?(?:([-+]?\d+) mons? ?)?(?:([-+]?\d+) days? ?)?(?:([-+]?)(\d+):(\d+):([\d.]+))?"
)


@contextmanager
def all_times(connection: Connection) -> Iterator[None]:
    """Return the text of the database for times that Python cannot represent, and ISO 8601 for intervals with months.

    The connection belongs to a pool, so its loaders are restored at the end.
    """
    from psycopg import DataError
    from psycopg.adapt import Loader
    from psycopg.pq import Format

    adapters = connection.connection.driver_connection.adapters  # type: ignore[union-attr]

    def tolerant(usual: type[Any]) -> type[Loader]:
        class Tolerant(Loader):
            def __init__(self, oid: int, context: Any = None) -> None:
                super().__init__(oid, context)
                self._usual = usual(oid, context)

            def load(self, data: Any) -> Any:
                text = bytes(data).decode()
                try:
                    return _months(text) or self._usual.load(data)
                except (DataError, NotImplementedError):
                    return text

        return Tolerant

    loaders = {oid: adapters.get_loader(oid, Format.TEXT) for oid in (adapters.types[name].oid for name in _TYPES)}
    for oid, usual in loaders.items():
        adapters.register_loader(oid, tolerant(usual))
    try:
        yield
    finally:
        for oid, usual in loaders.items():
            adapters.register_loader(oid, usual)


def _months(text: str) -> str | None:
    """Return an interval with years or months as ISO 8601 text; None for any other value."""
    match = _INTERVAL.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        return None
    years, months, days, sign, hours, minutes, seconds = match.groups()
    date = "".join(f"{int(number)}{unit}" for number, unit in ((years, "Y"), (months, "M"), (days, "D")) if number)
    if hours is None:
        return f"P{date}"
    minus = "-" if sign == "-" else ""
    return f"P{date}T{minus}{int(hours)}H{minus}{int(minutes)}M{minus}{seconds}S"
