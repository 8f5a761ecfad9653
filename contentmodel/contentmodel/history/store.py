"""The turn store over a sync engine."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Engine

from contentmodel.history.common import Clock, utc_now
from contentmodel.history.engines import BUSY, leases_for, make_engine, url_of
from contentmodel.history.operations import StoreOperations
from contentmodel.history.steps import Call, Synchronous, Work


class TurnStore(StoreOperations[Engine], Synchronous):
    """Conversations in SQLite or PostgreSQL: turns, and the blocks in them, each durable when it is complete.

    May be used from several threads. A process opens a store of its own: one that was forked has none.
    """

    @classmethod
    def open(cls, url_or_path: str | Path, *, busy_timeout: float = BUSY, clock: Clock = utc_now) -> TurnStore:
        """Opens a store, makes its tables or brings them up to date, and marks the turns of writers that have died.

        `url_or_path` is the path of a SQLite file, ":memory:", or an SQLAlchemy URL of SQLite or PostgreSQL.
        `busy_timeout` is how many seconds a SQLite transaction waits for another. `clock` gives the moment, aware of
        its time zone.

        Raises SchemaError (a newer version of the schema, or somebody else's tables), HistoryError (no such database).
        """
        url = url_of(url_or_path, is_async=False)
        store = cls(make_engine(url, busy_timeout), leases_for(url), clock)
        store._run(store._open())
        return store

    def __enter__(self) -> TurnStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, step: Work | Call) -> Any:
        if isinstance(step, Call):
            return step.function()
        if step.session is not None:
            return step.work(step.session)
        with self._engine.connect() as connection:
            return step.work(connection)
