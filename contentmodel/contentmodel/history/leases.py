"""Leases: every store that writes holds a lock, which the operating system or the server frees when the store dies.

There is no clock and no heartbeat. A lock is held as long as the process (SQLite) or its connection (PostgreSQL) lives,
and is freed as soon as it ends, even by `kill -9`. An open turn whose writer's lock is free is interrupted.
"""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from sqlalchemy import Connection, text

from contentmodel.history.errors import HistoryError


class Leases(Protocol):
    """The lock of this store's writer, and a test of other writers' locks. `writer` is None until the lock is held."""

    writer: str | None

    def hold(self, connection: Connection | None) -> None:
        """Take the lock of this writer if it is not held already."""
        ...

    def is_alive(self, connection: Connection, writer: str) -> bool:
        """Return whether the lock of a writer is held."""
        ...

    def release(self) -> None:
        """Free the lock."""
        ...


class OwnLeases:
    """Leases for a database in memory, which has no other writers."""

    def __init__(self) -> None:
        self.writer: str | None = None

    def hold(self, connection: Connection | None) -> None:
        self.writer = self.writer or uuid.uuid4().hex

    def is_alive(self, connection: Connection, writer: str) -> bool:
        return writer == self.writer

    def release(self) -> None:
        """Do nothing: there is no lock."""


class FileLeases:
    """Leases for a SQLite file: one small lock file per writer next to it, locked by SQLite, which works on any system.

    A writer removes its file when it closes. The file of a dead writer is removed by the next store that checks it.
    """

    def __init__(self, database: Path) -> None:
        self.writer: str | None = None
        self._database = database
        self._lock: sqlite3.Connection | None = None

    def hold(self, connection: Connection | None) -> None:
        if self._lock is None:
            writer = uuid.uuid4().hex
            try:
                lock = sqlite3.connect(self._path(writer), isolation_level=None, check_same_thread=False)
                _lock(lock)
            except sqlite3.Error as error:
                raise HistoryError(f"cannot lock {self._path(writer)}, which is needed to write: {error}") from error
            self._lock, self.writer = lock, writer

    def is_alive(self, connection: Connection, writer: str) -> bool:
        if writer == self.writer:
            return True
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

    def release(self) -> None:
        if self._lock is not None and self.writer is not None:
            self._lock.close()
            _remove(self._path(self.writer))
        self._lock = self.writer = None

    def _path(self, writer: str) -> Path:
        return self._database.with_name(f"{self._database.name}-writer-{writer}")


class SessionLeases:
    """Leases for PostgreSQL: an advisory lock held by a dedicated connection, so that the server detects its end.

    They do not work with a connection pooler that shares sessions between clients (PgBouncer's transaction mode).
    """

    def __init__(self) -> None:
        self.writer: str | None = None
        self._key = uuid.uuid4().int >> 65

    def hold(self, connection: Connection | None) -> None:
        assert connection is not None
        # Detect a dead client machine after one minute. Sessions on a Unix socket ignore these settings.
        connection.execute(text("SET tcp_keepalives_idle = 30"))
        connection.execute(text("SET tcp_keepalives_interval = 10"))
        connection.execute(text("SET tcp_keepalives_count = 3"))
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": self._key})
        self.writer = str(self._key)

    def is_alive(self, connection: Connection, writer: str) -> bool:
        if writer == self.writer:
            return True
        taken = connection.execute(text("SELECT pg_try_advisory_xact_lock_shared(:key)"), {"key": int(writer)})
        return not taken.scalar_one()

    def release(self) -> None:
        """Forget the writer. The end of the connection frees the lock."""
        self.writer = None


def _lock(connection: sqlite3.Connection) -> None:
    """Lock the file until the connection is closed. Nothing is written, so no journal file is needed."""
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("BEGIN EXCLUSIVE")


def _remove(path: Path) -> None:
    """Remove a lock file. Ignore errors: another store may have removed it, or still have it open (Windows)."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
