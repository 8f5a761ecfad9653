"""Read the sessions that the OpenAI Agents SDK stores in a SQLite file (`SQLiteSession`).

    for session_id in sessions("chats.db"):
        request = contentmodel.adapter("openai-responses").decode_request(items("chats.db", session_id))

The items of a session are those of the Responses API. The SDK itself is not needed, and the file is not changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from contentmodel.errors import DecodeError, Fault
from contentmodel.json import kind_of, parse

_API = "openai-responses"
_OF_SESSION = "SELECT id, message_data FROM agent_messages WHERE session_id = ? ORDER BY id"
_OF_BRANCH = (
    "SELECT m.id, m.message_data FROM agent_messages m JOIN message_structure s ON m.id = s.message_id"
    " WHERE m.session_id = ? AND s.branch_id = ? ORDER BY s.sequence_number"
)
"""As in `AdvancedSQLiteSession.get_items`, which copies the items before a branch to it."""


def sessions(path: str | PathLike[str]) -> list[str]:
    """Return the ids of the sessions in a file, the oldest first.

    Raise DecodeError if the file is not a database of `SQLiteSession`, and FileNotFoundError if it is missing.
    """
    return [session_id for (session_id,) in _rows(path, "SELECT session_id FROM agent_sessions ORDER BY rowid")]


def items(path: str | PathLike[str], session_id: str, branch_id: str = "main") -> list[dict[str, Any]]:
    """Return the items of a session, in order; of one of its branches if it is an `AdvancedSQLiteSession`.

    Such a session opens with the branch "main". Raise DecodeError if the file is not a database of `SQLiteSession`, if
    it has no session with this id or no such branch, or if an item is not a JSON object. Raise FileNotFoundError if
    the file is missing.
    """
    branches = _branches(path, session_id)
    if branches and branch_id not in branches:
        raise _fault(path, f"the session has no branch {branch_id!r:.60}, but {', '.join(branches)}")
    if not branches and branch_id != "main":
        raise _fault(path, "the session has no branches")
    numbered = _rows(path, _OF_BRANCH, session_id, branch_id) if branches else _rows(path, _OF_SESSION, session_id)
    if not numbered and not _rows(path, "SELECT 1 FROM agent_sessions WHERE session_id = ?", session_id):
        raise _fault(path, f"it has no session {session_id!r:.60}")
    return [_item(path, number, data) for number, data in numbered]


def _branches(path: str | PathLike[str], session_id: str) -> list[str]:
    """Return the branches of a session, the oldest first; [] if the file has no table of branches."""
    if not _rows(path, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'message_structure'"):
        return []
    query = "SELECT branch_id FROM message_structure WHERE session_id = ? GROUP BY branch_id ORDER BY MIN(id)"
    return [branch_id for (branch_id,) in _rows(path, query, session_id)]


def _item(path: str | PathLike[str], number: int, data: str | bytes) -> dict[str, Any]:
    where = f"the row {number} of agent_messages"
    try:
        item = parse(data)
    except DecodeError as error:
        raise _fault(path, f"{where}: {error.faults[0].message}") from None
    if not isinstance(item, dict):
        raise _fault(path, f"{where}: expected an object, got {kind_of(item)}")
    return item


def _rows(path: str | PathLike[str], query: str, *values: str) -> Sequence[tuple[Any, ...]]:
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"{fspath(path)}: no such file")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return database.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise _fault(path, f"it is not a database of SQLiteSession: {error}") from None


def _fault(path: str | PathLike[str], message: str) -> DecodeError:
    return DecodeError(_API, [Fault("$", f"{fspath(path)}: {message}")])
