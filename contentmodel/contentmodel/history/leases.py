"""Who is alive: every store that writes holds a lock that its machine or the server frees when it dies.

No clock and no heartbeat: a lock is held as long as the process (SQLite) or its connection (PostgreSQL) lives, however
long a turn takes, and is free the moment it ends, by `kill -9` too. A turn whose writer's lock is free is interrupted.
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
    """The lock of this store's writer, and whether others are held. `writer` is its id, None until it is held."""

    writer: str | None

    def hold(self, connection: Connection | None) -> None:
        """Takes the lock of this writer, or finds it held."""
        ...

    def is_alive(self, connection: Connection, writer: str) -> bool:
        """Whether a writer's lock is held."""
        ...

    def release(self) -> None:
        """Frees the lock."""
        ...


class OwnLeases:
    """For a database in memory, which nobody else can see."""

    def __init__(self) -> None:
        self.writer: str | None = None

    def hold(self, connection: Connection | None) -> None:
        self.writer = self.writer or uuid.uuid4().hex

    def is_alive(self, connection: Connection, writer: str) -> bool:
        return writer == self.writer

    def release(self) -> None:
        """There is nothing to free."""


class FileLeases:
    """For a SQLite file: a small file beside it for each writer, locked by SQLite's own means, which every system has.

    A writer that leaves removes its file; that of a dead one is removed by whoever finds it.
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
                raise HistoryError(f"cannot lock {self._path(writer)}, to write beside others: {error}") from error
            self._lock, self.writer = lock, writer

    def is_alive(self, connection: Connection, writer: str) -> bool:
        if writer == self.writer:
            return True
        path = self._path(writer)
        try:
            found = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=0, isolation_level=None)
        except sqlite3.OperationalError:
            return path.exists()
        try:
            _lock(found)
        except sqlite3.OperationalError:
            return True
        finally:
            found.close()
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
    """For PostgreSQL: an advisory lock, held by a connection of its own, so that the server sees its end.

    A connection pooler that hands a session from one client to another (PgBouncer's transaction mode) breaks it.
    """

    def __init__(self) -> None:
        self.writer: str | None = None
        self._key = uuid.uuid4().int >> 65

    def hold(self, connection: Connection | None) -> None:
        assert connection is not None
        # A machine that falls silent is given up after a minute; sessions on a unix socket have no such setting.
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
        """The end of the connection frees it."""
        self.writer = None


def _lock(connection: sqlite3.Connection) -> None:
    """Locks the file as long as the connection is open. Nothing is written, so that no journal is needed."""
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("BEGIN EXCLUSIVE")


def _remove(path: Path) -> None:
    """Removes a lock's file. Another store may have been first; Windows keeps it while somebody has it open."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
