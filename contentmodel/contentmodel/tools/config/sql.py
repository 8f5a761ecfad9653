"""Execute SQL statements. Arguments are bound parameters, never a part of the statement's text."""

from __future__ import annotations

import math
import sqlite3
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.display import count_of
from contentmodel.errors import Fault
from contentmodel.extras import needs_extra
from contentmodel.json import write
from contentmodel.tools.background import TimedOut, run_within
from contentmodel.tools.config.faults import ExecutorError, ExecutorTimeoutError
from contentmodel.tools.config.format import Operation
from contentmodel.tools.config.postgresql_times import all_times
from contentmodel.tools.config.statements import Statement, check_sql, placeholders_of, read_statement
from contentmodel.tools.outcome import ToolOutcome

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine
    from sqlalchemy.engine import URL

MAX_ROWS = 500
MAX_BYTES = 2**20
_STEPS = 10_000
"""The number of SQLite's machine steps between two checks of the time."""
_BUFFERED = 20
"""The number of rows that are fetched at once. Each row may be very large if the database has no size limit."""
_GRACE = 1.0
"""Seconds that a database has to stop by itself."""


class SqlExecutor:
    """Run the statements of a file in a database, each in a new transaction.

    `url_or_engine` is an SQLAlchemy engine, or a URL: "sqlite:///shop.db", "postgresql://user:password@host/shop". A
    given engine is not closed. `timeout` is in seconds, for a statement and its rows: SQLite and PostgreSQL stop the
    statement; with other databases the connection is abandoned. Rows beyond `max_rows`, or beyond `max_bytes` bytes in
    total, are left out, and a note reports it. A single value of more than `max_bytes` bytes is an error; SQLite
    refuses it before it is read.

    Rows are objects. Dates and times are ISO 8601 text, decimals and UUIDs are text, bytes are base64, and other types
    without a JSON form are text. Duplicate column names become name_2, name_3. A statement without rows returns the
    number of changed rows. Arrays and objects are bound as JSON text, and a missing argument as NULL.

    Raise ValueError if the URL is invalid, and MissingExtraError if SQLAlchemy or the driver of the database is not
    installed.
    """

    def __init__(
        self,
        url_or_engine: str | URL | Engine,
        *,
        timeout: float = 30,
        max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        with needs_extra("tools"):
            from sqlalchemy import Engine

        self._timeout, self._max_rows, self._max_bytes = timeout, max_rows, max_bytes
        self._owned = not isinstance(url_or_engine, Engine)
        self._engine = url_or_engine if isinstance(url_or_engine, Engine) else _engine_of(url_or_engine, timeout)
        # Threads share the one connection to a database in memory, one at a time.
        self._turns: Any = Lock() if _is_in_memory(self._engine.url) else nullcontext()

    def check(self, operation: Operation) -> Iterator[Fault]:
        """Yield the faults of a statement for this database."""
        if not operation.query:
            yield Fault("api.path", "a SQL executor cannot call a path: use a REST executor, or set query")
        else:
            yield from check_sql(operation, self._engine.dialect.name)

    def arguments_of(self, operation: Operation) -> frozenset[str]:
        """Return the placeholders of the statement."""
        return frozenset(placeholders_of(operation.query, self._engine.dialect.name))

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Return the rows as a list of objects, or the number of changed rows. Raise ExecutorError."""
        statement = read_statement(operation.query, self._engine.dialect.name)
        unknown = [name for name in arguments if name not in statement.placeholders]
        if unknown:
            raise ExecutorError(f"{operation.tool} has no argument {', '.join(unknown)}: remove it")
        bound = {name: _bindable(arguments.get(name)) for name in statement.placeholders}
        call = partial(self._run, statement, bound)
        if self._engine.dialect.name == "sqlite":
            # A connection may belong to this thread. SQLite can be stopped without another thread.
            return call()
        try:
            return run_within(call, self._timeout + _GRACE, "SQL")
        except TimedOut:
            raise self._late() from None

    def _run(self, statement: Statement, bound: dict[str, Any]) -> ToolOutcome:
        from sqlalchemy.exc import SQLAlchemyError

        deadline = time.monotonic() + self._timeout
        try:
            with self._turns, self._connect() as connection, connection.begin():
                return self._executed(connection, statement, bound, deadline)
        except (SQLAlchemyError, ArithmeticError, ValueError, TypeError) as error:
            # Without the cause: it shows the statement, and may show the database's address.
            raise self._refusal(error) from None

    def _executed(
        self, connection: Connection, statement: Statement, bound: dict[str, Any], deadline: float
    ) -> ToolOutcome:
        from sqlalchemy import text

        # A server-side cursor: rows that are not read stay in the database.
        options = {"stream_results": statement.reads, "sqlite_raw_colnames": True, "max_row_buffer": _BUFFERED}
        with self._limited(connection, deadline, statement.gives_rows):
            result = connection.execute(text(statement.text), bound, execution_options=options)
            return self._outcome(result, deadline)

    def close(self) -> None:
        """Close the connections, unless the engine was given."""
        if self._owned:
            self._engine.dispose()

    def __repr__(self) -> str:
        return f"SqlExecutor({self._engine.dialect.name!r})"

    def _connect(self) -> Connection:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return self._engine.connect()
        except (SQLAlchemyError, OSError) as error:
            raise ExecutorError(f"the database could not be reached: {type(error).__name__}") from None

    @contextmanager
    def _limited(self, connection: Connection, deadline: float, gives_rows: bool) -> Iterator[None]:
        """Limit the time of a statement and the size of its values, as far as the database can."""
        if connection.dialect.name == "sqlite":
            driver: Any = connection.connection.driver_connection
            length = driver.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
            driver.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            if gives_rows:
                driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(self._max_bytes, length))
            try:
                yield
            finally:
                driver.set_progress_handler(None, 0)
                driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        elif connection.dialect.name == "postgresql":
            # Only for this transaction: another caller may use the connection next.
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {math.ceil(self._timeout * 1000)}")
            with all_times(connection) if connection.dialect.driver == "psycopg" else nullcontext():
                yield
        else:
            yield

    def _outcome(self, result: CursorResult[Any], deadline: float) -> ToolOutcome:
        if not result.returns_rows:
            return ToolOutcome({"row_count": result.rowcount} if result.rowcount >= 0 else {"done": True})
        names = _column_names(list(result.keys()))
        rows: list[dict[str, Any]] = []
        remaining = self._max_bytes
        for values in result:
            if time.monotonic() > deadline:
                result.close()
                raise self._late()
            if any(_is_longer(value, self._max_bytes) for value in values):
                raise self._too_long()
            row = dict(zip(names, map(_json_value, values), strict=True))
            remaining -= len(write(row))
            if len(rows) == self._max_rows or remaining < 0:
                result.close()
                return ToolOutcome(
                    rows, note=f"Only the first {count_of(len(rows), 'row')} can be included; the result has more rows."
                )
            rows.append(row)
        return ToolOutcome(rows)

    def _refusal(self, error: Exception) -> ExecutorError:
        from sqlalchemy.exc import DBAPIError

        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return ExecutorError("the connection to the database was lost")
        message = str(getattr(error, "orig", None) or error).partition("\n")[0]
        if message == "interrupted" or "statement timeout" in message:
            return self._late()
        if message == "string or blob too big":
            return self._too_long()
        secret = self._engine.url.password
        return ExecutorError(
            f"the database refused the statement: {message.replace(secret, '***') if secret else message}"
        )

    def _late(self) -> ExecutorError:
        return ExecutorTimeoutError(f"the database did not answer within {self._timeout:g} seconds")

    def _too_long(self) -> ExecutorError:
        return ExecutorError(f"a value of the result has more than {self._max_bytes:,} bytes: select a part of it")


def _engine_of(url_or_text: str | URL, timeout: float) -> Engine:
    from sqlalchemy import StaticPool, create_engine, make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        url = make_url(url_or_text)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        options: dict[str, Any] = {"hide_parameters": True}
        if url.get_backend_name() == "postgresql":
            options.update(pool_pre_ping=True, connect_args={"connect_timeout": max(2, math.ceil(timeout))})
        elif url.get_backend_name() == "sqlite":
            options["connect_args"] = {"timeout": timeout, "check_same_thread": False}
            if _is_in_memory(url):
                # One connection for all threads: otherwise each thread would get a new, empty database.
                options["poolclass"] = StaticPool
        # No extra installs the drivers of other databases.
        with needs_extra("postgresql" if url.drivername == "postgresql+psycopg" else None):
            return create_engine(url, **options)
    except (SQLAlchemyError, ValueError, TypeError) as error:
        # Without the cause and its message: they show the URL.
        fix = "use a URL such as sqlite:///file.db or postgresql://user:password@host/database"
        raise ValueError(f"the database cannot be opened ({type(error).__name__}): {fix}") from None


def _is_in_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def _column_names(keys: list[str]) -> list[str]:
    """Return unique keys for a row: a duplicate name would replace the earlier column."""
    names: list[str] = []
    for key in keys:
        name, number = key, 1
        while name in names:
            number += 1
            name = f"{key}_{number}"
        names.append(name)
    return names


def _is_longer(value: Any, most: int) -> bool:
    return isinstance(value, str | bytes | bytearray | memoryview) and len(value) > most


def _bindable(value: Any) -> Any:
    return write(value).decode() if isinstance(value, dict | list) else value


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return b64encode(value).decode("ascii")
    if isinstance(value, datetime | date | time_of_day | timedelta):
        return msgspec.to_builtins(value)
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return str(value)
