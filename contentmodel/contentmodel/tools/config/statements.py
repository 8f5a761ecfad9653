"""Parse SQL statements: their placeholders, whether they only read, and their faults."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from contentmodel.errors import Fault
from contentmodel.extras import needs_extra
from contentmodel.tools.config.format import Operation
from contentmodel.tools.config.matching import argument_faults

_DIALECTS = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "oracle": "oracle",
    "mssql": "tsql",
}
"""sqlglot's dialect names, by SQLAlchemy's database names."""
_NAMED = re.compile(r"(?<![:\w\\]):(\w+)")
# The placeholders that SQLAlchemy's text() finds, and the backslashes that it removes. It does not detect literals.
_BOUND = re.compile(_NAMED.pattern + r"(?![:\w])")
_ESCAPED = re.compile(r"\\(?=:\w*(?![:\w]))")


@dataclass(frozen=True)
class Statement:
    """One statement. `text` is for SQLAlchemy's `text`.

    `reads` is true if it changes nothing, `gives_rows` if it returns rows.
    """

    text: str
    placeholders: tuple[str, ...] = ()
    reads: bool = False
    gives_rows: bool = False
    faults: tuple[str, ...] = ()


def check_sql(operation: Operation, dialect: str | None = None) -> Iterator[Fault]:
    """Yield the faults of a statement: its syntax, placeholders without a value, and parameters that it does not use.

    `dialect` is SQLAlchemy's name of the database. None accepts the syntax of SQLite or PostgreSQL.
    """
    statement = read_statement(operation.query, dialect)
    yield from (Fault("api.query", fault) for fault in statement.faults)
    if statement.faults:
        return
    placeholders = ", ".join(f":{name}" for name in statement.placeholders) or "none"
    yield from argument_faults(
        operation,
        "api.query",
        statement.placeholders,
        statement.placeholders,
        lambda name: f":{name}",
        lambda name: f"the statement has no placeholder :{name} for this parameter; its placeholders: {placeholders}",
    )


def placeholders_of(text: str, dialect: str | None = None) -> tuple[str, ...]:
    """Return the names of the statement's arguments."""
    return read_statement(text, dialect).placeholders


@lru_cache(maxsize=512)
def read_statement(text: str, dialect: str | None = None) -> Statement:
    """Parse a text as one SQL statement. Its faults are the reasons why it is not valid."""
    if dialect is not None:
        return _read(text, _DIALECTS.get(dialect))
    tries = [_read(text, tried) for tried in ("sqlite", "postgres")]
    return next((statement for statement in tries if not statement.faults), tries[0])


def _read(text: str, dialect: str | None) -> Statement:
    with needs_extra("tools"):
        import sqlglot
        from sqlglot import errors, exp

    try:
        with _quiet():
            roots: list[Any] = [root for root in sqlglot.parse(text, dialect=dialect) if root is not None]
    except (errors.SqlglotError, RecursionError) as error:
        return Statement(text, faults=(f"the query is not valid SQL: {_reason(error)}",))
    if len(roots) != 1:
        return Statement(text, faults=(f"the query must be exactly one statement, but it has {len(roots)}",))
    faults = tuple(_faults(roots[0]))
    if isinstance(roots[0], exp.Command):
        # The parser reads only the first word of such a statement, so find its placeholders as SQLAlchemy does.
        return Statement(text, tuple(dict.fromkeys(_BOUND.findall(text))), faults=faults)
    colons = {token.start for token in sqlglot.tokenize(text, read=dialect) if token.text == ":"}
    names = tuple(dict.fromkeys(match[1] for match in _NAMED.finditer(text) if match.start() in colons))
    changing = (exp.DML, exp.DDL, exp.Into, exp.Lock)
    reads = isinstance(roots[0], exp.Query) and not any(
        isinstance(node, changing) and not isinstance(node, exp.Query) for node in roots[0].walk()
    )
    gives_rows = isinstance(roots[0], exp.Query) or roots[0].args.get("returning") is not None
    return Statement(_literal(text, colons), names, reads, gives_rows, faults)


def _literal(text: str, colons: set[int]) -> str:
    """Return `text` for SQLAlchemy, with escapes for apparent placeholders in literals and comments.

    Insert a space into :name::integer (a placeholder with a cast), or SQLAlchemy does not find the placeholder.
    """
    marks = {match.start(): "\\" for match in _ESCAPED.finditer(text)}
    marks |= {match.start(): "\\" for match in _BOUND.finditer(text) if match.start() not in colons}
    named = (match for match in _NAMED.finditer(text) if match.start() in colons)
    marks |= {match.end(): " " for match in named if text.startswith(":", match.end())}
    for position, mark in sorted(marks.items(), reverse=True):
        text = f"{text[:position]}{mark}{text[position:]}"
    return text


def _faults(root: Any) -> Iterator[str]:
    from sqlglot import exp

    statements = (exp.Query, exp.Values, exp.DML, exp.DDL, exp.Command, exp.Drop, exp.Alter, exp.TruncateTable)
    is_command = isinstance(root, exp.Command)
    if isinstance(root, exp.Copy) or (is_command and str(root.this).upper() == "COPY"):
        yield "COPY transfers data outside of a result: use SELECT or INSERT"
    elif isinstance(root, exp.Transaction | exp.Commit | exp.Rollback):
        yield "each statement runs in its own transaction: remove BEGIN, COMMIT and ROLLBACK"
    elif not isinstance(root, (*statements, exp.Analyze, exp.Describe, exp.Pragma, exp.Show)):
        yield "not a SQL statement: it must begin with SELECT, INSERT, UPDATE, DELETE, WITH or another SQL verb"
    unnamed = any(node.this is None or not isinstance(node.this, str) for node in root.find_all(exp.Placeholder))
    if unnamed or root.find(exp.Parameter):
        yield "write placeholders as :name, not as ?, $1, @name or %(name)s"


def _reason(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
    first = details[0]
    description = (
        str(first.get("description", "")).partition(" but got <Token")[0].partition(" for <class")[0].rstrip(".")
    )
    near = f" at {first['highlight']!r}" if first.get("highlight") else ""
    return f"{description}{near} (line {first.get('line')}, column {first.get('col')})"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the parser from logging in this thread: its errors are reported as faults."""
    logger, thread = logging.getLogger("sqlglot"), threading.get_ident()

    def others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)
