"""Share reports, values of metrics, and counters of keys with the other processes of a gateway, in its store.

Requests do not wait for it: what is finished is written twice a second, in one transaction.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Column, Connection, Float, MetaData, String, Table, Text, delete, select, text

from contentmodel.errors import ContentModelError
from contentmodel.gateway.metrics import Snapshot
from contentmodel.gateway.records import Counter, Records, Wanted
from contentmodel.gateway.report import Report, Reports, logger
from contentmodel.history.common import translated_errors
from contentmodel.history.engines import BUSY, make_async_engine, url_of
from contentmodel.history.steps import IMMEDIATE
from contentmodel.json import parse, write
from contentmodel.serialize import convert_value

INTERVAL = 0.5
"""The seconds between two writes."""
REFRESH, FORGOTTEN = 3600, 24 * 3600
"""The seconds until values that do not change are written again, and until those of an ended process are deleted."""
KEPT = 400 * 24 * 3600
"""The seconds for which counters are kept."""

METADATA = MetaData()
REPORTS = Table(
    "gateway_reports",
    METADATA,
    Column("id", String, primary_key=True),
    Column("started", Float, nullable=False, index=True),
    Column("report", Text, nullable=False),
)
PROCESSES = Table(
    "gateway_processes",
    METADATA,
    Column("id", String, primary_key=True),
    Column("gateway", String, nullable=False),
    Column("seen", Float, nullable=False),
    Column("metrics", Text, nullable=False),
)
COUNTERS = Table(
    "gateway_counters",
    METADATA,
    Column("key", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("used", BigInteger, nullable=False),
)
GAUGES = ("streams_open", "upstream_open")
"""The values of a process that ended with it."""

T = TypeVar("T")


class StoredRecords(Records):
    """The reports and counters of all processes with the same store."""

    scope = "store"

    def __init__(self, reports: Reports, location: str, group: str | None) -> None:
        """`group` is the name of the processes of one gateway, whose metrics are added."""
        super().__init__(reports)
        self._location, self._id = location, uuid.uuid4().hex
        self._group = group or self._id
        self._finished: list[Report] = []
        self._written: Snapshot = []
        self._written_at = 0.0
        self._stopping = asyncio.Event()
        self._fails = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the store, and write to it while the gateway runs."""
        self._engine = make_async_engine(url_of(self._location, is_async=True), BUSY)
        writing = None
        try:
            await self._do(_create)
            writing = asyncio.create_task(self._keep_writing())
            yield
        finally:
            self._stopping.set()
            if writing is not None:
                await writing
            await self._engine.dispose()

    async def check(self) -> None:
        await self._do(lambda connection: connection.execute(select(REPORTS.c.id).limit(1)), writes=False)

    def finished(self, report: Report) -> None:
        self._finished.append(report)
        # If the store fails, no more wait than are kept.
        del self._finished[: -self.reports.most]

    async def find(self, name: str) -> Report | None:
        own = self.reports.find(name)
        if own is not None:
            return own
        query = select(REPORTS.c.report).where(REPORTS.c.id == name)
        found = await self._do(lambda connection: connection.execute(query).scalar(), writes=False)
        return None if found is None else _report(found)

    async def latest(self, wanted: Wanted) -> list[Report]:
        await self._write()
        query = select(REPORTS.c.report).where(REPORTS.c.started >= wanted.since)
        query = query.order_by(REPORTS.c.started.desc()).limit(self.reports.most)
        rows = await self._do(lambda connection: connection.execute(query).scalars().all(), writes=False)
        return [report for report in map(_report, rows) if wanted.has(report)][: wanted.limit]

    async def metrics(self) -> list[Snapshot]:
        query = select(PROCESSES.c.metrics, PROCESSES.c.seen).where(
            PROCESSES.c.gateway == self._group, PROCESSES.c.id != self._id
        )
        rows = await self._do(lambda connection: connection.execute(query).all(), writes=False)
        alive = time.time() - 20 * INTERVAL
        return [self.own_metrics(), *(_values(parse(row.metrics), is_alive=row.seen > alive) for row in rows)]

    async def reserve(self, counter: Counter, amount: int, most: int) -> int:
        def add(connection: Connection) -> int:
            values = {"key": counter.key, "name": counter.limit, "start": counter.start, "amount": amount}
            connection.execute(text(_BEGIN), values)
            after: int = connection.execute(text(_ADD), values).scalar_one()
            over = min(max(0, after - most), max(0, amount))
            if over:
                connection.execute(text(_ADD), {**values, "amount": -over}).scalar_one()
            return amount - over

        return await self._do(add)

    async def _do(self, work: Callable[[Connection], T], *, writes: bool = True) -> T:
        """Run `work` in a transaction. Raise HistoryError if the store fails.

        A cancellation of the caller does not reach the driver.
        """
        return await asyncio.shield(self._done(work, writes=writes))

    async def _done(self, work: Callable[[Connection], T], *, writes: bool) -> T:
        with translated_errors("the store"):
            async with self._engine.connect() as connection:
                if not writes:
                    return await connection.run_sync(work)
                connection = await connection.execution_options(**{IMMEDIATE: True})
                async with connection.begin():
                    return await connection.run_sync(work)

    async def _keep_writing(self) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), INTERVAL)
            await self._write(is_last=self._stopping.is_set())

    async def _write(self, *, is_last: bool = False) -> None:
        """Write what is new. A failure is logged once, and what was not written waits."""
        reports, self._finished = self._finished, []
        metrics, now = self.own_metrics(), time.time()
        is_known = metrics == self._written and not reports and not any(map(_is_live, metrics))
        if is_known and now - self._written_at < REFRESH and not is_last:
            return
        kept = [value for value in metrics if value[0] not in GAUGES] if is_last else metrics
        row = {"id": self._id, "gateway": self._group, "seen": now, "metrics": write(kept).decode()}
        most = self.reports.most

        def save(connection: Connection) -> None:
            if reports:
                rows = [{"id": r.id, "started": r.started, "report": write(r).decode()} for r in reports]
                connection.execute(REPORTS.insert(), rows)
                newest = select(REPORTS.c.started).order_by(REPORTS.c.started.desc()).offset(most).limit(1)
                connection.execute(delete(REPORTS).where(REPORTS.c.started <= newest.scalar_subquery()))
            connection.execute(delete(PROCESSES).where(PROCESSES.c.id == self._id))
            connection.execute(PROCESSES.insert(), [row])
            if is_last:
                connection.execute(delete(COUNTERS).where(COUNTERS.c.start < time.time() - KEPT))

        try:
            await self._do(save)
        except ContentModelError as error:
            self._finished = [*reports, *self._finished][-most:]
            if not self._fails:
                logger.error("the reports cannot be written to the store: %s", error)
            self._fails = True
        else:
            self._fails, self._written, self._written_at = False, metrics, now


_BEGIN = (
    'INSERT INTO gateway_counters ("key", name, start, used) VALUES (:key, :name, :start, 0) ON CONFLICT DO NOTHING'
)
_ADD = (
    "UPDATE gateway_counters SET used = used + :amount"
    ' WHERE "key" = :key AND name = :name AND start = :start RETURNING used'
)


def _create(connection: Connection) -> None:
    """Create the tables. Several processes may do this at the same time."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7164480)"))
    METADATA.create_all(connection)
    connection.execute(delete(PROCESSES).where(PROCESSES.c.seen < time.time() - FORGOTTEN))


def _report(stored: str) -> Report:
    report: Report = convert_value(parse(stored), Report)
    return report


def _values(stored: Any, *, is_alive: bool) -> Snapshot:
    return [(family, tuple(labels), value) for family, labels, value in stored if is_alive or family not in GAUGES]


def _is_live(value: Any) -> bool:
    return value[0] in GAUGES and value[2] > 0
