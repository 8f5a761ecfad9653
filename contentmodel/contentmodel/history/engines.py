"""Engines for SQLite and PostgreSQL, sync and async, set up the same way.

SQLite uses a write-ahead log, foreign keys, transactions that wait for each other, and a sync to disk at every commit,
so committed data survives a power failure. PostgreSQL does the same unless its server is configured otherwise.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from contentmodel.extras import needs_extra
from contentmodel.history.errors import HistoryError
from contentmodel.history.leases import FileLeases, Leases, OwnLeases, SessionLeases
from contentmodel.history.steps import IMMEDIATE
from contentmodel.json import parse, write

BUSY = 30.0
"""The default time in seconds that a SQLite transaction waits for another one."""
DRIVERS = {"sqlite": ("pysqlite", "aiosqlite"), "postgresql": ("psycopg", "psycopg")}
_JSON: dict[str, Any] = {"json_serializer": lambda value: write(value).decode(), "json_deserializer": parse}


def url_of(url_or_path: str | Path, *, is_async: bool) -> URL:
    """Return the URL of a database, given a URL, the path of a SQLite file, or ":memory:".

    Raise HistoryError if the URL is invalid or the database is not supported.
    """
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        url = URL.create("sqlite", database=str(url_or_path))
    else:
        try:
            url = make_url(url_or_path)
        except (ArgumentError, ValueError) as error:
            raise HistoryError(f"not the URL of a database: {error}") from None
    name = url.get_backend_name()
    if name not in DRIVERS:
        raise HistoryError(f"a store needs SQLite or PostgreSQL, not {name}")
    url = url.set(drivername=f"{name}+{DRIVERS[name][is_async]}")
    if name == "postgresql" or is_in_memory(url):
        return url
    if str(url.database).startswith("file:"):
        raise HistoryError("give the path of the SQLite file, not a SQLite URI (file:...)")
    # Use the absolute path: writers identify each other by it, and the working directory may change.
    return url.set(database=str(Path(str(url.database)).resolve()))


def is_in_memory(url: URL) -> bool:
    """Return whether this is a SQLite database in memory, which only exists as long as its connection."""
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def make_engine(url: URL, busy_timeout: float) -> Engine:
    """Create a sync engine."""
    with needs_extra(_extra_of(url)):
        engine = create_engine(url, **_options(url, busy_timeout))
    _set_up(engine, busy_timeout)
    return engine


def make_async_engine(url: URL, busy_timeout: float) -> AsyncEngine:
    """Create an async engine."""
    with needs_extra(_extra_of(url)):
        engine = create_async_engine(url, **_options(url, busy_timeout))
    _set_up(engine.sync_engine, busy_timeout)
    return engine


def _extra_of(url: URL) -> str:
    """Return the extra that installs the driver."""
    return "postgresql" if url.get_backend_name() == "postgresql" else "history"


def leases_for(url: URL) -> Leases:
    """Return the leases for a database, by which writers detect dead writers."""
    if url.get_backend_name() == "postgresql":
        return SessionLeases()
    return OwnLeases() if is_in_memory(url) else FileLeases(Path(str(url.database)))


def _options(url: URL, busy_timeout: float) -> Mapping[str, Any]:
    if url.get_backend_name() == "postgresql":
        return {**_JSON, "pool_pre_ping": True}
    options: dict[str, Any] = {**_JSON, "connect_args": {"timeout": busy_timeout, "check_same_thread": False}}
    if is_in_memory(url):
        # A database in memory has one connection, which all callers share in turn.
        from sqlalchemy.pool import AsyncAdaptedQueuePool, QueuePool

        pool = AsyncAdaptedQueuePool if url.get_driver_name() == "aiosqlite" else QueuePool
        return {**options, "poolclass": pool, "pool_size": 1, "max_overflow": 0}
    return options


def _set_up(engine: Engine, busy_timeout: float) -> None:
    if engine.dialect.name != "sqlite":
        return

    @event.listens_for(engine, "do_connect")
    def create(dialect: Any, record: Any, arguments: Any, options: Any) -> None:
        # SQLite would create the file with the permissions of the umask. Conversations are private.
        if not is_in_memory(engine.url):
            with suppress(OSError):
                os.close(os.open(str(engine.url.database), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        # The driver must not begin transactions itself: it cannot begin them with BEGIN IMMEDIATE.
        connection.isolation_level = None
        cursor = connection.cursor()
        _use_log(cursor, busy_timeout)
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A transaction that first reads and then writes cannot wait for another writer: it would fail immediately.
        writes = connection.get_execution_options().get(IMMEDIATE)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_log(cursor: Any, busy_timeout: float) -> None:
    """Switch to the write-ahead log. Retry until the timeout, because SQLite does not wait for locks here."""
    until = time.monotonic() + busy_timeout
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.01)
