"""The queries of a store, as plain functions on a connection. The sync and the async store run the same functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import Connection, select, tuple_

from contentmodel.history import rows
from contentmodel.history.errors import NotFoundError
from contentmodel.history.stored import checked, reading_row
from contentmodel.history.tables import NOT_COMPLETE, conversations, turn_blocks, turns
from contentmodel.history.turns import Block, Conversation, StoredTurn, Turn
from contentmodel.request import ChatRequest

T = TypeVar("T")
PAGE = 200
"""The number of turns that are read at a time."""


class Path:
    """The ids of the turns of a transcript, in order, and the settings of the conversation."""

    def __init__(self, conversation: str, ids: Sequence[str], settings: dict[str, Any] | None) -> None:
        self.conversation, self.ids, self.settings = conversation, ids, settings

    @property
    def last(self) -> str | None:
        return self.ids[-1] if self.ids else None

    def pages(self) -> list[Sequence[str]]:
        """Return the ids in pages of `PAGE`."""
        return [self.ids[at : at + PAGE] for at in range(0, len(self.ids), PAGE)]


def path(connection: Connection, conversation: str, upto: str | None) -> Path:
    """Return the path from the start of a conversation to a turn, by default the turn that was begun last."""
    row = connection.execute(select(conversations).where(conversations.c.id == conversation)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no conversation {conversation!r}")
    end = row.head if upto is None else upto
    way = select(turns.c.id, turns.c.previous, turns.c.number).where(
        turns.c.id == end, turns.c.conversation == conversation
    )
    walk = way.cte(recursive=True)
    before = select(turns.c.id, turns.c.previous, turns.c.number).where(turns.c.id == walk.c.previous)
    # Not UNION ALL: the turns of a damaged database may form a cycle.
    walk = walk.union(before)
    ids = connection.execute(select(walk.c.id).order_by(walk.c.number)).scalars().all()
    if upto is not None and not ids:
        raise NotFoundError(f"the conversation {conversation!r} has no turn {upto!r}")
    return Path(conversation, ids, checked(conversations, row._mapping)["settings"])


def wires(connection: Connection, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of turns in the wire format, in the order of `ids`."""
    return [_read(rows.turn_wire, row, blocks) for row, blocks in _with_blocks(connection, ids)]


def stored(connection: Connection, ids: Sequence[str]) -> list[StoredTurn]:
    """Return turns with their messages, in the order of `ids`."""
    return [_read(rows.stored_turn, row, blocks) for row, blocks in _with_blocks(connection, ids)]


def _read(read: Callable[[Any, Any], T], row: Mapping[Any, Any], blocks: Sequence[Mapping[Any, Any]]) -> T:
    """Apply `read` to the row of a turn and the rows of its blocks. Raise DamagedError if they cannot be read."""
    with reading_row(turns, row):
        return read(row, blocks)


Mappings = list[Mapping[Any, Any]]


def _with_blocks(connection: Connection, ids: Sequence[str]) -> list[tuple[Mapping[Any, Any], Mappings]]:
    turn_rows = connection.execute(select(turns).where(turns.c.id.in_(ids))).mappings()
    by_id = {row["id"]: checked(turns, row) for row in turn_rows}
    query = select(turn_blocks).where(turn_blocks.c.turn.in_(ids))
    ordered = connection.execute(query.order_by(turn_blocks.c.turn, turn_blocks.c.sequence)).mappings()
    checked_blocks = (checked(turn_blocks, row) for row in ordered)
    blocks = {name: list(group) for name, group in groupby(checked_blocks, key=lambda row: row["turn"])}
    # A turn may have been deleted since the path was read.
    return [(by_id[name], blocks.get(name, [])) for name in ids if name in by_id]


def request(way: Path, parts: Sequence[StoredTurn]) -> ChatRequest:
    """Return the transcript with the messages of all turns."""
    with reading_row(conversations, {"id": way.conversation}):
        return rows.request_of(way.settings, way.last, [message for part in parts for message in part.messages])


def export(way: Path, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the transcript in the wire format."""
    with reading_row(conversations, {"id": way.conversation}):
        return {"conversation": way.conversation, **rows.settings_wire(way.settings, way.last), "turns": list(parts)}


def blocks(connection: Connection, turn: str) -> list[Block]:
    """Return the stored blocks of a turn, in order."""
    query = select(turn_blocks).where(turn_blocks.c.turn == turn).order_by(turn_blocks.c.sequence)
    return [_block(row) for row in connection.execute(query).mappings()]


def _block(row: Mapping[Any, Any]) -> Block:
    with reading_row(turn_blocks, checked(turn_blocks, row)):
        return rows.block_of(row)


def turns_of(connection: Connection, conversation: str, limit: int, after: int) -> list[Turn]:
    """Return the turns of a conversation on all branches, with numbers above `after`, in order."""
    query = select(turns).where(turns.c.conversation == conversation, turns.c.number > after)
    rows_of_turns = connection.execute(query.order_by(turns.c.number).limit(limit)).mappings()
    return [turn_of(row) for row in rows_of_turns]


def turn_of(row: Mapping[Any, Any]) -> Turn:
    """Return the turn of a row. Raise DamagedError if it cannot be read."""
    with reading_row(turns, checked(turns, row)):
        return rows.turn_of(row)


def interrupted(connection: Connection, limit: int, after: Turn | None) -> list[Turn]:
    """Return interrupted turns, the earliest first."""
    query = select(turns).where(NOT_COMPLETE, turns.c.status == "interrupted")
    if after is not None:
        query = query.where(tuple_(turns.c.started_at, turns.c.id) > tuple_(after.started_at, after.id))
    rows_of_turns = connection.execute(query.order_by(turns.c.started_at, turns.c.id).limit(limit)).mappings()
    return [turn_of(row) for row in rows_of_turns]


def conversations_of(
    connection: Connection, limit: int, after: Conversation | None, newest_first: bool
) -> list[Conversation]:
    """Return conversations in order of their creation."""
    key = tuple_(conversations.c.created_at, conversations.c.id)
    query = select(conversations)
    if after is not None:
        place = tuple_(after.created_at, after.id)
        query = query.where(key < place if newest_first else key > place)
    columns = (conversations.c.created_at, conversations.c.id)
    query = query.order_by(*(column.desc() if newest_first else column.asc() for column in columns))
    return [_conversation(row) for row in connection.execute(query.limit(limit)).mappings()]


def conversation(connection: Connection, name: str) -> Conversation:
    """Return a conversation by its id. Raise NotFoundError if it does not exist."""
    row = connection.execute(select(conversations).where(conversations.c.id == name)).mappings().one_or_none()
    if row is None:
        raise NotFoundError(f"there is no conversation {name!r}")
    return _conversation(row)


def _conversation(row: Mapping[Any, Any]) -> Conversation:
    checked(conversations, row)
    return Conversation(
        id=row["id"],
        turns=row["turn_count"],
        head=row["head"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
