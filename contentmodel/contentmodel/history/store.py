"""The turn store over a sync engine."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Engine

from contentmodel.history.common import Clock, utc_now
from contentmodel.history.engines import BUSY, leases_for, make_engine, url_of
from contentmodel.history.operations import StoreOperations
from contentmodel.history.steps import Call, Step, Synchronous, Uninterrupted


class TurnStore(StoreOperations[Engine], Synchronous):
    """A store of conversations in SQLite or PostgreSQL. Each turn and each block is durable when it is complete.

    A store may be used from several threads. Each process must open its own store, also after a fork.
    """

    @classmethod
    def open(cls, url_or_path: str | Path, *, busy_timeout: float = BUSY, clock: Clock = utc_now) -> TurnStore:
        """Open a store. Create or migrate its tables, and mark the open turns of dead writers as interrupted.

        `url_or_path` is the path of a SQLite file, ":memory:", or an SQLAlchemy URL of SQLite or PostgreSQL.
        `busy_timeout` is the time in seconds that a SQLite transaction waits for another one. `clock` returns the
        current time as a time zone aware datetime.

        Raise SchemaError if the schema is newer than this library or the tables belong to another program, and
        HistoryError if the database cannot be opened.
        """
        url = url_of(url_or_path, is_async=False)
        store = cls(make_engine(url, busy_timeout), leases_for(url), clock, threading.Lock())
        store._run(store._open())
        return store

    def __enter__(self) -> TurnStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, step: Step) -> Any:
        if isinstance(step, Call):
            return step.function()
        if isinstance(step, Uninterrupted):
            return self._run(step.steps)
        if step.session is not None:
            return step.run(step.session)
        with self._engine.connect() as connection:
            return step.run(connection)

    def _dispose(self) -> None:
        self._engine.dispose()
