"""Entries of a conversation's log as values and as rows, and the operations on them as plain functions on a connection.

The sync and the async log run the same functions. Entries are numbered in the order in which they are added. This
module never writes turns, blocks or conversations.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Connection, Table, func, select, text

from contentmodel.errors import ContentModelError, DecodeError
from contentmodel.events import Notice
from contentmodel.history.columns import is_kept_as_text
from contentmodel.history.errors import DamagedError, HistoryError, NotFoundError
from contentmodel.history.stored import checked, reading_row
from contentmodel.history.tables import conversations, log_entries, turns
from contentmodel.history.turns import Turn
from contentmodel.json import parse, plain, write
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import dumps, loads

NOTICE = "notice"
"""The kind of an entry for a notice without a kind."""
QUESTION, ERROR, TASK = "question", "error", "task"
"""The kinds of entries that a log creates itself, besides those of notices. The application defines others."""
LONGEST_KIND = 100
PAGE = 200
"""The number of entries that are read at a time."""
_LOCK = 0x6C6F6700
"""Half of the key of a PostgreSQL advisory lock: "log" in ASCII. The other half is a hash of the conversation's id."""
_DOCUMENT = "contentmodel"
_JSON = "json"
"""The kind of a document that wraps plain JSON which would be read as a document, or by SQLite as a number."""


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A record of something that the user was shown, or that happened outside the turns of the conversation.

    `kind` is any text ("tool_use", "display", "title", ...). `text` is the displayed text. `content` is a JSON
    value or a value of the model. `turn` is the id of the turn that the entry belongs to. `parent` is the id of the
    enclosing entry. `number` counts the entries of the conversation in the order in which they are added. Times are in
    UTC.
    """

    id: str
    conversation: str
    number: int
    kind: str
    text: str | None = None
    content: Any = None
    turn: str | None = None
    parent: str | None = None
    created_at: datetime


class InvalidEntryError(HistoryError, ValueError):
    """The kind, text or content of a log entry is invalid."""


EntryOrId: TypeAlias = LogEntry | str


class NewEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry to add. `content` is the value of the column."""

    conversation: str
    kind: str
    text: str | None
    content: Any
    turn: str | None
    parent: str | None


# -- values ------------------------------------------------------------------------------------------------------------


def new_entry(
    conversation: str, kind: str, text: str | None, content: Any, turn: Turn | str | None, parent: EntryOrId | None
) -> NewEntry:
    """Create a NewEntry from the arguments of a log's method. Raise InvalidEntryError, NotFoundError."""
    if not isinstance(kind, str) or not kind or len(kind) > LONGEST_KIND or not kind.isprintable():
        raise InvalidEntryError(f"the kind {kind!r} is not valid: expected 1 to {LONGEST_KIND} printable characters")
    if text is not None and not isinstance(text, str):
        raise InvalidEntryError(f"the text of the entry {kind!r} must be str or None, not {type(text).__name__}")
    turn_id = turn.id if isinstance(turn, Turn) else turn
    parent_id = parent.id if isinstance(parent, LogEntry) else parent
    for name in (conversation, turn_id or "", parent_id or ""):
        check_name(name)
    return NewEntry(
        conversation=conversation,
        kind=kind,
        text=text,
        content=column_of(content, kind),
        turn=turn_id,
        parent=parent_id,
    )


def check_name(name: Any) -> None:
    """Raise NotFoundError if `name` cannot be an id. Databases refuse queries for such texts."""
    if not isinstance(name, str) or not is_kept_as_text(name):
        raise NotFoundError(f"there is no conversation, turn or entry {name!r}")


def column_of(content: Any, kind: str) -> Any:
    """Return a content as JSON, and a value of the model as a document of `dumps`. Raise InvalidEntryError."""
    try:
        if _is_of_model(content):
            return parse(dumps(content))
        value = plain(content, "log")
    except (ContentModelError, RecursionError) as error:
        raise InvalidEntryError(f"the content of the entry {kind!r} cannot be stored: {error}") from None
    is_plain = value is None or isinstance(value, list) or (isinstance(value, dict) and _DOCUMENT not in value)
    return value if is_plain else {_DOCUMENT: 1, "kind": _JSON, "value": value}


def _is_of_model(content: Any) -> bool:
    items = content if isinstance(content, list) else [content]
    return bool(items) and all(isinstance(item, msgspec.Struct) for item in items)


def content_of(column: Any) -> Any:
    """Return the content of a column, the reverse of `column_of`. Return an unreadable document as plain JSON."""
    if not isinstance(column, dict) or _DOCUMENT not in column:
        return column
    if column.get("kind") == _JSON:
        return column.get("value")
    try:
        return loads(write(column))
    except DecodeError:
        return column


def entry_of(row: Mapping[Any, Any]) -> LogEntry:
    """Return the entry of a row. Raise DamagedError if it cannot be read."""
    with reading_row(log_entries, checked(log_entries, row)):
        fields = {name: row[name] for name in LogEntry.__struct_fields__ if name != "content"}
        return LogEntry(**fields, content=content_of(row["content"]))


def notice_entry(notice: Notice) -> dict[str, Any]:
    """Return the arguments of `add` for a notice: its kind, its text, and its call id.

    A log refuses a kind that is too long or not printable. A notice of a provider must not end the turn with an error,
    so its kind is cleaned and shortened instead.
    """
    content = None if notice.call_id is None else {"call_id": notice.call_id}
    kind = "".join(filter(str.isprintable, notice.kind))[:LONGEST_KIND]
    return {"kind": kind or NOTICE, "text": notice.text, "content": content}


def question_entry(request: ChatRequest) -> dict[str, Any]:
    """Return the arguments of `add` for a side request."""
    return {
        "kind": QUESTION,
        "text": request.messages[-1].text or None if request.messages else None,
        "content": request,
    }


def answered(kind: str, response: ChatResponse) -> dict[str, Any]:
    """Return the arguments of `add` for a response. If the response has an error, the kind is "error"."""
    if response.error is not None:
        return {"kind": ERROR, "text": response.error.message or response.error.code, "content": response}
    return {"kind": kind, "text": response.text or None, "content": response}


def failed(error: Exception) -> dict[str, Any]:
    """Return the arguments of `add` for an exception of the client."""
    return {"kind": ERROR, "text": str(error) or type(error).__name__, "content": {"error": type(error).__name__}}


def task(text: str, work: str | Sequence[ChatMessage]) -> dict[str, Any]:
    """Return the arguments of `add` for a delegated task: the id of its conversation, or its messages."""
    if isinstance(work, str):
        return {"kind": TASK, "text": text, "content": {"conversation": work}}
    messages = list(work)
    if not messages or not all(isinstance(message, ChatMessage) for message in messages):
        raise InvalidEntryError("work must be the id of a conversation, or the messages of a run")
    return {"kind": TASK, "text": text, "content": messages}


# -- writing -----------------------------------------------------------------------------------------------------------


def add(connection: Connection, site: Any, new: NewEntry) -> LogEntry:
    """Append an entry. Raise NotFoundError if the conversation, the turn or the parent does not exist."""
    wait_for_writers(connection, new.conversation)
    # Lock the conversation before the turn, in the same order as `begin_turn`, to avoid deadlocks.
    _require(connection, new.conversation)
    if new.turn is not None:
        _require_inside(connection, turns, new, new.turn, "turn")
    if new.parent is not None:
        _require_inside(connection, log_entries, new, new.parent, "log entry")
    row = {
        **msgspec.structs.asdict(new),
        "id": uuid.uuid4().hex,
        "number": last_number(connection, new.conversation) + 1,
        "created_at": site.now,
    }
    connection.execute(log_entries.insert().values(row))
    return entry_of(row)


def wait_for_writers(connection: Connection, conversation: str) -> None:
    """Wait for other writers to the same log, so that entries become visible in the order of their numbers.

    Transactions of SQLite that write wait for each other already.
    """
    if connection.dialect.name == "postgresql":
        wait = text("SELECT pg_advisory_xact_lock(:log, hashtext(:name))")
        connection.execute(wait, {"log": _LOCK, "name": conversation})


def last_number(connection: Connection, conversation: str) -> int:
    """Return the number of the last entry; 0 if there is none. Raise DamagedError if it is not an integer."""
    last = select(func.max(log_entries.c.number)).where(log_entries.c.conversation == conversation)
    number = connection.execute(last).scalar() or 0
    if number.__class__ is not int:
        raise DamagedError(
            f"log_entries of the conversation {conversation!r}: the column number has the value {number!r}"
        )
    return int(number)


def _require(connection: Connection, conversation: str) -> None:
    query = select(conversations.c.id).where(conversations.c.id == conversation)
    if connection.execute(query.with_for_update(read=True, key_share=True)).scalar() is None:
        raise NotFoundError(f"there is no conversation {conversation!r}: add a turn before log entries")


def _require_inside(connection: Connection, table: Table, new: NewEntry, name: str, kind: str) -> None:
    query = select(table.c.conversation).where(table.c.id == name).with_for_update(read=True, key_share=True)
    if connection.execute(query).scalar() != new.conversation:
        raise NotFoundError(f"the conversation {new.conversation!r} has no {kind} {name!r}")


# -- reading -----------------------------------------------------------------------------------------------------------


def entries(
    connection: Connection,
    conversation: str,
    limit: int,
    after: LogEntry | int | None,
    kinds: Sequence[str] | None,
    turn: str | None,
) -> list[LogEntry]:
    """Return the entries after `after`, in the order in which they were added."""
    check_name(conversation)
    if connection.execute(select(conversations.c.id).where(conversations.c.id == conversation)).scalar() is None:
        raise NotFoundError(f"there is no conversation {conversation!r}")
    query = select(log_entries).where(log_entries.c.conversation == conversation)
    if after is not None:
        query = query.where(log_entries.c.number > (after if isinstance(after, int) else after.number))
    if kinds is not None:
        query = query.where(log_entries.c.kind.in_([kinds] if isinstance(kinds, str) else list(kinds)))
    if turn is not None:
        query = query.where(log_entries.c.turn == turn)
    rows_of_log = connection.execute(query.order_by(log_entries.c.number).limit(limit)).mappings()
    return [entry_of(row) for row in rows_of_log]


def entry(connection: Connection, name: str) -> LogEntry:
    """Return an entry by its id. Raise NotFoundError if it does not exist."""
    check_name(name)
    row = connection.execute(select(log_entries).where(log_entries.c.id == name)).mappings().one_or_none()
    if row is None:
        raise NotFoundError(f"there is no log entry {name!r}")
    return entry_of(row)
