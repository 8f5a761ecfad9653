"""Store sessions of the Claude Agent SDK in SQLite or PostgreSQL: its protocol `SessionStore` over an AsyncTurnStore.

The protocol is `claude_agent_sdk.types.SessionStore` of version 0.2.187, seen on 2026-11-23. This module does not
import the SDK. Each key of the SDK is a conversation of the store, and each entry of the session is an entry of the
conversation's log. The id of a log entry is derived from the `uuid` of the SDK's entry, if it has one, so that
repeating an append has no effect.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from sqlalchemy import ColumnElement, Connection, func, select, update

from contentmodel.adapter import adapter
from contentmodel.history import writing
from contentmodel.history.asynchronous import AsyncTurnStore
from contentmodel.history.errors import NotFoundError
from contentmodel.history.log_entries import (
    InvalidEntryError,
    LogEntry,
    column_of,
    content_of,
    entry_of,
    last_number,
    wait_for_writers,
)
from contentmodel.history.stored import checked
from contentmodel.history.tables import conversations, log_entries
from contentmodel.history.writing import Site
from contentmodel.request import ChatRequest

API = "claude-code-session"
"""The adapter that reads the entries. Also the kind of the log entries, and the prefix of the conversation ids."""
SUMMARY = f"{API}:summary"
"""The kind of the log entry with the summary of a session. The summary includes all entries before it."""
Key: TypeAlias = Mapping[str, Any]
"""A key of the SDK: `project_key`, `session_id`, and for a sub-agent `subpath`."""
Fold: TypeAlias = Callable[[Any, Any, list[Any]], Any]
"""`claude_agent_sdk.fold_session_summary`."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_IDS_OF_QUERY = 500
"""The largest number of ids in one query. SQLite limits the number of parameters."""


class ClaudeSessionStore:
    """A `SessionStore` for the option `session_store` of the Claude Agent SDK.

    `fold` is `claude_agent_sdk.fold_session_summary`. With it, the store keeps a summary of each session, so that the
    SDK lists sessions without loading them. Use the store only in the event loop in which `store` was opened.
    """

    def __init__(self, store: AsyncTurnStore, fold: Fold | None = None) -> None:
        self.store = store
        self._fold = fold

    async def append(self, key: Key, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries in one transaction. Ignore an entry whose `uuid` is already stored under this key.

        Raise InvalidEntryError if an entry is not JSON.
        """
        name = _name_of(key)
        new = [_row_of(name, entry) for entry in entries]
        if new:
            await self.store._run(self.store._write(_append, name, key, new, self._fold))

    async def load(self, key: Key) -> list[Any] | None:
        """Return all entries in the order in which they were stored; None if there are none."""
        return await self.store._run(self.store._read(_contents, _name_of(key))) or None

    async def request(self, key: Key) -> ChatRequest:
        """Return the conversation of a session or a sub-agent, decoded by the adapter `claude-code-session`.

        Raise NotFoundError if the key has no entries.
        """
        entries = await self.load(key)
        if entries is None:
            raise NotFoundError(f"there is no session {_name_of(key)!r}")
        return adapter(API).decode_request(entries)

    async def list_sessions(self, project_key: str) -> list[Any]:
        """Return `session_id` and `mtime` (milliseconds since 1970) of each session of a project."""
        sessions = await self.store._run(self.store._read(_sessions, project_key))
        return [{"session_id": session, "mtime": _milliseconds(time)} for _, session, time in sessions]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """Return the summaries of a project's sessions. A session stored without `fold` has none.

        Raise NotImplementedError if this store has no `fold`. The SDK then loads each session to list it.
        """
        if self._fold is None:
            raise NotImplementedError("pass fold=claude_agent_sdk.fold_session_summary to ClaudeSessionStore")
        return await self.store._run(self.store._read(_summaries, project_key))

    async def list_subkeys(self, key: Key) -> list[str]:
        """Return the subpaths of the sub-agents of a session."""
        folder = _name_of({**key, "subpath": None}) + "/"
        names = await self.store._run(self.store._read(_names, folder))
        return [_unquoted(name.removeprefix(folder)) for name, _ in names]

    async def delete(self, key: Key) -> None:
        """Delete a session and its sub-agents, or only a sub-agent if the key has a subpath. Ignore an unknown key."""
        await self.store._run(self.store._write(_delete, _name_of(key), key.get("subpath") is None))


# -- names and rows ----------------------------------------------------------------------------------------------------


def _name_of(key: Key) -> str:
    """Return the id of the conversation of a key. Slashes are escaped except in the subpath, so ids are unambiguous."""
    subpath = key.get("subpath")
    if subpath == "":
        raise InvalidEntryError("the subpath of the key is empty: omit it for the session itself")
    name = f"{_folder_of(key['project_key'])}{_quoted(key['session_id'])}"
    return name if subpath is None else f"{name}/{_quoted(subpath, '/')}"


def _folder_of(project_key: str) -> str:
    return f"{API}/{_quoted(project_key)}/"


def _quoted(text: str, safe: str = "") -> str:
    return quote(text, safe=safe, errors="surrogatepass")


def _unquoted(text: str) -> str:
    return unquote(text, errors="surrogatepass")


def _row_of(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of the log entry for an entry, without its number and its time."""
    kind, entry_id = entry.get("type"), entry.get("uuid")
    return {
        "id": _id_of(name, API, entry_id) if isinstance(entry_id, str) else uuid.uuid4().hex,
        "conversation": name,
        "kind": API,
        "text": kind if isinstance(kind, str) else None,
        "content": column_of(entry, API),
    }


def _id_of(*parts: str) -> str:
    """Return an id derived from texts. All but the last one must be without line breaks, so ids are unambiguous."""
    return hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def _milliseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(milliseconds=1)


# -- writing -----------------------------------------------------------------------------------------------------------


def _append(
    connection: Connection, site: Site, name: str, key: Key, rows: Sequence[dict[str, Any]], fold: Fold | None
) -> None:
    wait_for_writers(connection, name)
    writing.locked_conversation(connection, site, name)
    by_id = {row["id"]: row for row in reversed(rows)}
    stored = {entry.id for entry in _entries(connection, list(by_id))}
    new = [row for row in rows if row["id"] not in stored and by_id[row["id"]] is row]
    if not new:
        return
    number = last_number(connection, name)
    if fold is not None and key.get("subpath") is None:
        new.append(_summarized(connection, name, key, new, fold))
    numbered = [{**row, "number": number + at, "created_at": site.now} for at, row in enumerate(new, 1)]
    connection.execute(log_entries.insert(), numbered)
    connection.execute(update(conversations).where(conversations.c.id == name).values(updated_at=site.now))


def _summarized(
    connection: Connection, name: str, key: Key, new: Sequence[dict[str, Any]], fold: Fold
) -> dict[str, Any]:
    """Return the row of a summary that includes new entries, and delete the row of the previous summary.

    If entries were stored after the previous summary, fold all entries of the session.
    """
    summary_id = _id_of(name, SUMMARY)
    last = func.max(log_entries.c.number)
    newest = select(last).where(log_entries.c.conversation == name, log_entries.c.kind == API)
    newest_number = connection.execute(newest).scalar() or 0
    previous = next((entry for entry in _entries(connection, [summary_id]) if entry.number > newest_number), None)
    entries = [content_of(row["content"]) for row in new]
    if previous is None:
        entries = _contents(connection, name) + entries
    folded = fold(None if previous is None else _summary_of(previous, key["session_id"]), key, entries)
    connection.execute(log_entries.delete().where(log_entries.c.id == summary_id))
    content = column_of(folded["data"], SUMMARY)
    return {"id": summary_id, "conversation": name, "kind": SUMMARY, "text": None, "content": content}


def _delete(connection: Connection, site: Site, name: str, is_session: bool) -> None:
    names = [name, *(below for below, _ in _names(connection, f"{name}/"))] if is_session else [name]
    for each in names:
        with suppress(NotFoundError):
            writing.delete(connection, site, each)


# -- reading -----------------------------------------------------------------------------------------------------------


def _contents(connection: Connection, name: str) -> list[Any]:
    """Return the entries of a session."""
    query = select(log_entries).where(log_entries.c.conversation == name, log_entries.c.kind == API)
    rows = connection.execute(query.order_by(log_entries.c.number)).mappings()
    return [entry_of(row).content for row in rows]


def _entries(connection: Connection, ids: Sequence[str]) -> Iterator[LogEntry]:
    """Yield the log entries with these ids. Skip ids that do not exist."""
    for start in range(0, len(ids), _IDS_OF_QUERY):
        query = select(log_entries).where(log_entries.c.id.in_(ids[start : start + _IDS_OF_QUERY]))
        rows = connection.execute(query).mappings()
        yield from map(entry_of, rows)


def _summaries(connection: Connection, project_key: str) -> list[Any]:
    sessions = {_id_of(name, SUMMARY): session for name, session, _ in _sessions(connection, project_key)}
    return [_summary_of(entry, sessions[entry.id]) for entry in _entries(connection, list(sessions))]


def _summary_of(entry: LogEntry, session_id: str) -> dict[str, Any]:
    return {"session_id": session_id, "mtime": _milliseconds(entry.created_at), "data": entry.content}


def _sessions(connection: Connection, project_key: str) -> list[tuple[str, str, datetime]]:
    """Return the name, the id and the last change of each session of a project."""
    folder = _folder_of(project_key)
    names = _names(connection, folder)
    rests = [(name, name.removeprefix(folder), time) for name, time in names]
    return [(name, _unquoted(tail), time) for name, tail, time in rests if "/" not in tail]


def _names(connection: Connection, folder: str) -> list[tuple[str, datetime]]:
    """Return the names and the last change of the conversations whose names begin with a folder."""
    rows = connection.execute(select(conversations).where(_is_in(connection, folder))).mappings()
    return sorted((row["id"], row["updated_at"]) for row in (checked(conversations, row) for row in rows))


def _is_in(connection: Connection, folder: str) -> ColumnElement[bool]:
    """Return the condition for names that begin with a folder.

    By the order of bytes, these are the names from `folder/` up to `folder0`: "0" follows "/".
    """
    name = conversations.c.id if connection.dialect.name == "sqlite" else conversations.c.id.collate("C")
    return (name >= folder) & (name < f"{folder[:-1]}0")
