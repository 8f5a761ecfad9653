"""The reports, values of metrics, and counters of keys that the processes of a gateway share. Here: of one process.

`stored_records` keeps them in the store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from contentmodel.gateway.metrics import Snapshot
from contentmodel.gateway.report import Report, Reports


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The reports that are listed, the newest first.

    `since` is the time of the request in seconds since 1970. `status` is one ("429"), or all of a hundred ("5xx").
    """

    since: float = 0.0
    limit: int = 100
    upstream: str | None = None
    status: str | None = None
    code: str | None = None

    def has(self, report: Report) -> bool:
        """Return whether a report is wanted."""
        status = str(report.status)
        return (
            report.started >= self.since
            and self.upstream in (None, report.upstream)
            and self.status in (None, status, f"{status[0]}xx")
            and (self.code is None or any(self.code in counts for counts in report.counted))
        )


class Counter(msgspec.Struct, frozen=True):
    """One counter of a key: the limit, and the start of its time in seconds since 1970."""

    key: str
    limit: str
    start: int


class Records:
    """The reports and counters of one process."""

    scope = "process"
    """The origin of the reports: this "process", or all processes with the same "store"."""

    def __init__(self, reports: Reports) -> None:
        self.reports = reports
        self._counters: dict[Counter, int] = {}
        self.own_metrics: Callable[[], Snapshot] = list
        """A function that returns the values of this process."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Share the records while the gateway runs."""
        yield

    async def check(self) -> None:
        """Raise HistoryError if the store cannot be read."""

    def finished(self, report: Report) -> None:
        """Take the report of a finished request."""

    async def find(self, name: str) -> Report | None:
        """Return the report of a request; None if it is unknown or was forgotten."""
        return self.reports.find(name)

    async def latest(self, wanted: Wanted) -> list[Report]:
        """Return the latest reports that are wanted, the newest first."""
        return [report for report in self.reports.newest() if wanted.has(report)][: wanted.limit]

    async def metrics(self) -> list[Snapshot]:
        """Return the values of all processes."""
        return [self.own_metrics()]

    async def reserve(self, counter: Counter, amount: int, most: int) -> int:
        """Add an amount to a counter, as far as it does not exceed `most`. Return what was added.

        A negative `amount` gives back what was not used. Raise HistoryError if the store cannot be read.
        """
        if counter not in self._counters:
            # Of the same limit, only the present time counts.
            same = [other for other in self._counters if (other.key, other.limit) == (counter.key, counter.limit)]
            for other in same:
                del self._counters[other]
        used = self._counters.get(counter, 0)
        added = min(amount, max(0, most - used))
        self._counters[counter] = used + added
        return added
