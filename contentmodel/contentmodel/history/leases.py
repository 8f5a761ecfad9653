"""Leases: every store that writes holds a lock, which the operating system or the server frees when the store dies.

There is no clock and no heartbeat. A lock is held as long as the process (SQLite) or its connection (PostgreSQL) lives,
and is freed as soon as it ends, even by `kill -9`. An open turn whose writer's lock is free is interrupted.
"""

from __future__ import annotations

import re
import sqlite3
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from sqlalchemy import Connection, text, update
from sqlalchemy.exc import SQLAlchemyError

from contentmodel.history.errors import HistoryError
from contentmodel.history.steps import Call, Steps, Work
from contentmodel.history.tables import NOT_COMPLETE, turns

_HEX = re.compile("[0-9a-f]{32}")
_KEY = re.compile("[0-9]{1,19}")
_KEYS = 2**63
"""Keys of advisory locks are smaller."""


class Leases(Protocol):
    """The lock of this store's writer, and a test of other writers' locks. Only one thread or task may hold or release.

    `writer` is None until the lock is held. `own_writers` has this writer and the earlier writers of this store.
    """

    writer: str | None
    own_writers: set[str]

    def hold(self, engine: Any) -> Steps[None]:
        """Take the lock of this writer, if it is not held already."""
        ...

    def is_alive(self, connection: Connection, writer: str) -> bool:
        """Return whether the lock of a writer is held. Return False for an invalid id."""
        ...

    def release(self) -> Steps[None]:
        """Free the lock."""
        ...


class OwnLeases:
    """Leases for a database in memory, which has no other writers."""

    def __init__(self) -> None:
        self.writer: str | None = None
        self.own_writers: set[str] = set()

    def hold(self, engine: Any) -> Steps[None]:
        self.writer = self.writer or uuid.uuid4().hex
        self.own_writers.add(self.writer)
        yield from ()

    def is_alive(self, connection: Connection, writer: str) -> bool:
        return writer in self.own_writers

    def release(self) -> Steps[None]:
        yield from ()


class FileLeases:
    """Leases for a SQLite file: one small lock file per writer next to it, locked by SQLite, which works on any system.

    A writer removes its file when it closes. The file of a dead writer is removed by the next store that checks it.
    """

    def __init__(self, database: Path) -> None:
        self.writer: str | None = None
        self.own_writers: set[str] = set()
        self._database = database
        self._lock: sqlite3.Connection | None = None

    def hold(self, engine: Any) -> Steps[None]:
        if self._lock is None:
            writer = uuid.uuid4().hex
            try:
                self._lock = _locked(self._path(writer))
            except sqlite3.Error as error:
                raise HistoryError(f"cannot lock {self._path(writer)}, which is needed to write: {error}") from error
            self.own_writers.add(writer)
            self.writer = writer
        yield from ()

    def is_alive(self, connection: Connection, writer: str) -> bool:
        if writer in self.own_writers:
            return True
        if not _HEX.fullmatch(writer):
            return False
        path = self._path(writer)
        try:
            lock = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=0, isolation_level=None)
        except sqlite3.OperationalError:
            return path.exists()
        try:
            _lock(lock)
        except sqlite3.OperationalError:
            return True
        finally:
            lock.close()
        _remove(path)
        return False

    def release(self) -> Steps[None]:
        if self._lock is not None and self.writer is not None:
            self._lock.close()
            _remove(self._path(self.writer))
        self._lock = self.writer = None
        yield from ()

    def _path(self, writer: str) -> Path:
        return self._database.with_name(f"{self._database.name}-writer-{writer}")


class SessionLeases:
    """Leases for PostgreSQL: an advisory lock held by a dedicated connection, so that the server detects its end.

    Each connection takes a new key, which no other session can hold, so taking the lock never waits: the server may
    notice the end of an earlier connection late. The open turns of the earlier writer move to the new one.

    They do not work with a connection pooler that shares sessions between clients (PgBouncer's transaction mode).
    """

    def __init__(self) -> None:
        self.writer: str | None = None
        self.own_writers: set[str] = set()
        self._session: Any = None

    def hold(self, engine: Any) -> Steps[None]:
        if self._session is not None and (yield Work(_is_connected, self._session)):
            return
        self._session = None
        session = yield Call(engine.connect)
        try:
            yield Work(self._take, session)
        except BaseException:
            yield Work(_end, session)
            raise
        self._session = session

    def _take(self, session: Connection) -> None:
        session.execution_options(isolation_level="AUTOCOMMIT")
        # Detect a dead client machine after one minute. Sessions on a Unix socket ignore these settings.
        session.execute(text("SET tcp_keepalives_idle = 30"))
        session.execute(text("SET tcp_keepalives_interval = 10"))
        session.execute(text("SET tcp_keepalives_count = 3"))
        key = uuid.uuid4().int >> 65
        while not session.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar_one():
            key = uuid.uuid4().int >> 65
        earlier, writer = list(self.own_writers), str(key)
        # Before the turns move, so that other threads and tasks never find them in the hands of a foreign writer.
        self.own_writers.add(writer)
        mine = update(turns).where(NOT_COMPLETE, turns.c.status == "open", turns.c.writer.in_(earlier))
        if earlier:
            session.execute(mine.values(writer=writer))
        self.writer = writer

    def is_alive(self, connection: Connection, writer: str) -> bool:
        if writer in self.own_writers:
            return True
        if not _KEY.fullmatch(writer) or int(writer) >= _KEYS:
            return False
        acquired = connection.execute(text("SELECT pg_try_advisory_xact_lock_shared(:key)"), {"key": int(writer)})
        return not acquired.scalar_one()

    def release(self) -> Steps[None]:
        """Forget the writer. The end of the connection frees the lock."""
        session, self._session, self.writer = self._session, None, None
        if session is not None:
            yield Work(_end, session)


def _is_connected(session: Connection) -> bool:
    try:
        session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        _end(session)
        return False
    return True


def _end(session: Connection) -> None:
    """Close a session and its connection, which is not returned to the pool. Ignore errors: it may be broken."""
    with suppress(SQLAlchemyError):
        session.invalidate()
    with suppress(SQLAlchemyError):
        session.close()


def _locked(path: Path) -> sqlite3.Connection:
    """Create a lock file and lock it. Remove it if it cannot be locked."""
    lock = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _lock(lock)
    except BaseException:
        lock.close()
        _remove(path)
        raise
    return lock


def _lock(connection: sqlite3.Connection) -> None:
    """Lock the file until the connection is closed. Nothing is written, so no journal file is needed."""
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("BEGIN EXCLUSIVE")


def _remove(path: Path) -> None:
    """Remove a lock file. Ignore errors: another store may have removed it, or still have it open (Windows)."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
