"""The changes of a store, as plain functions on a connection. Run each one in its own transaction.

The sync and the async store run the same functions. A turn has one predecessor, and one successor unless a branch is
requested. Only one store writes an open turn. In PostgreSQL, a conversation is locked before its turns, to avoid
deadlocks, and without its key (FOR NO KEY UPDATE), so that rows with a foreign key to it need not wait.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Connection, Row, Select, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from contentmodel.display import count_of
from contentmodel.history import rows
from contentmodel.history.errors import ConflictError, DamagedError, InvalidTurnError, NotFoundError
from contentmodel.history.leases import Leases
from contentmodel.history.reading import turn_of
from contentmodel.history.stored import checked, reading_row
from contentmodel.history.tables import NOT_COMPLETE, conversations, followed, turn_blocks, turns
from contentmodel.history.turns import START, Turn
from contentmodel.request import ChatRequest

LONGEST_NAME = 500
Columns: TypeAlias = Mapping[str, Any]
"""The columns of a turn that describe its content. The store adds its position and its times."""
Blocks: TypeAlias = Sequence[Mapping[str, Any]]
"""The columns of the blocks of one turn."""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """The context of an operation: the current time, and the locks of this store's writer and of other writers."""

    now: datetime
    leases: Leases


class NewTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn to begin after `previous`: an id, START, or None for the turn that was begun last."""

    conversation: str
    role: str
    previous: str | None = None
    branch: bool = False
    columns: dict[str, Any] = {}


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The final values of a turn.

    `count` is the number of blocks of the response; None if there is no response. `order` lists their sequence numbers;
    None means all blocks in order.
    """

    columns: dict[str, Any] = {}
    count: int | None = None
    order: Sequence[int] | None = None


# -- beginning ---------------------------------------------------------------------------------------------------------


def begin_turn(connection: Connection, site: Site, new: NewTurn) -> Turn:
    """Begin a turn that this store's writer writes."""
    if site.leases.writer is None:
        raise InvalidTurnError("this store cannot begin a turn: it has no writer")
    rows.check_turn(new.role)
    (turn,) = _insert(connection, site, new, [({"role": new.role, **new.columns}, ())], status="open")
    return turn


def withdraw(connection: Connection, site: Site, begun: Turn) -> None:
    """Delete a turn whose beginning was not reported to the caller. Keep it if another store has interrupted it."""
    mine = update(turns).where(turns.c.id == begun.id, turns.c.status == "open")
    if connection.execute(mine.values(status="interrupted", writer=None)).rowcount:
        delete_turn(connection, site, begun.id)


def add_turn(connection: Connection, site: Site, new: NewTurn, blocks: Blocks) -> Turn:
    """Add a complete turn with its blocks."""
    rows.check_turn(new.role, blocks)
    (turn,) = _insert(connection, site, new, [({"role": new.role, **new.columns}, blocks)])
    return turn


def add_turns(
    connection: Connection, site: Site, new: NewTurn, new_turns: Sequence[tuple[Columns, Blocks]]
) -> list[Turn]:
    """Add complete turns in sequence. `new` has the position of the first one; its role and columns are unused."""
    for columns, blocks in new_turns:
        rows.check_turn(columns["role"], blocks)
    return _insert(connection, site, new, new_turns)


def save(
    connection: Connection,
    site: Site,
    conversation: str,
    request: ChatRequest,
    new_turns: Sequence[tuple[Columns, Blocks]],
) -> list[Turn]:
    """Store a whole transcript as a new conversation. Raise ConflictError if it has turns or settings."""
    row = locked_conversation(connection, site, conversation)
    if row.last_number or row.settings is not None:
        raise ConflictError(f"the conversation {conversation!r} already exists: add turns to it, or use another id")
    added = add_turns(connection, site, NewTurn(conversation=conversation, role="user", previous=START), new_turns)
    settings = rows.settings_of(request, added[-1].id if added else None)
    connection.execute(update(conversations).where(conversations.c.id == conversation).values(settings=settings))
    return added


def _insert(
    connection: Connection,
    site: Site,
    new: NewTurn,
    new_turns: Sequence[tuple[Columns, Blocks]],
    status: str = "complete",
) -> list[Turn]:
    """Insert turns, each after the one before it, and the first one at the position of `new`."""
    conversation = locked_conversation(connection, site, new.conversation)
    previous = _predecessor(connection, site, conversation, new.previous)
    if not new.branch:
        _refuse_second(connection, new.conversation, previous)
    if not new_turns:
        return []
    number = conversation.last_number
    inserted: list[dict[str, Any]] = []
    inside: list[dict[str, Any]] = []
    for columns, blocks in new_turns:
        number += 1
        values = {key: value for key, value in columns.items() if value is not None}
        row = {
            **dict.fromkeys(column.name for column in turns.columns),
            "started_at": site.now,
            "ended_at": None if status == "open" else site.now,
            **values,
            "id": uuid.uuid4().hex,
            "conversation": new.conversation,
            "previous": previous,
            "number": number,
            "is_branch": new.branch and not inserted,
            "status": status,
            "writer": site.leases.writer if status == "open" else None,
        }
        inserted.append(row)
        inside += [{"turn": row["id"], **block} for block in blocks]
        previous = row["id"]
    connection.execute(turns.insert(), inserted)
    if inside:
        connection.execute(turn_blocks.insert(), inside)
    count = conversation.turn_count + len(inserted)
    changed = {"head": previous, "last_number": number, "turn_count": count, "updated_at": site.now}
    connection.execute(update(conversations).where(conversations.c.id == new.conversation).values(**changed))
    return [rows.turn_of(row) for row in inserted]


def locked_conversation(connection: Connection, site: Site, name: str) -> Row[Any]:
    """Return the row of a conversation, locked until the transaction ends. Create it if it does not exist."""
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidTurnError(
            f"the id {name!r} of a conversation is not valid: expected 1 to {LONGEST_NAME} printable characters"
        )
    query = select(conversations).where(conversations.c.id == name).with_for_update(key_share=True)
    row = connection.execute(query).one_or_none()
    if row is not None:
        checked(conversations, row._mapping)
        return row
    new = {"id": name, "turn_count": 0, "last_number": 0, "created_at": site.now, "updated_at": site.now}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(dialect.insert(conversations).values(new).on_conflict_do_nothing())
    return connection.execute(query).one()


def _predecessor(connection: Connection, site: Site, conversation: Row[Any], requested: str | None) -> str | None:
    """Return the id of the turn before a new one; None at the start. Raise ConflictError if it is being written."""
    if requested == START:
        return None
    name = conversation.head if requested is None else requested
    if name is None:
        return None
    row = connection.execute(select(turns).where(turns.c.id == name)).one_or_none()
    if row is None or row.conversation != conversation.id:
        raise NotFoundError(f"the conversation {conversation.id!r} has no turn {name!r}")
    checked(turns, row._mapping)
    if row.status == "open" and not _interrupt_if_dead(connection, site, row):
        raise ConflictError(f"the turn {name} of {conversation.id!r} is still being written: end it first, or wait")
    return str(name)


def _refuse_second(connection: Connection, conversation: str, previous: str | None) -> None:
    is_first = turns.c.is_branch == text("0") if connection.dialect.name == "sqlite" else ~turns.c.is_branch
    other = connection.execute(
        select(turns.c.id).where(turns.c.conversation == conversation, followed == (previous or ""), is_first)
    ).scalar()
    if other is not None:
        position = f"the turn {previous}" if previous else "the start"
        raise ConflictError(
            f"{position} of {conversation!r} is already followed by the turn {other}: load the conversation again, "
            "or set branch=True"
        )


# -- blocks ------------------------------------------------------------------------------------------------------------


def put_block(connection: Connection, site: Site, name: str, block: Columns, *, replace: bool) -> bool:
    """Store a block of an open turn. Return False if the same block is already stored, else True."""
    row = _turn_row(connection, name)
    is_block = (turn_blocks.c.turn == name) & (turn_blocks.c.sequence == block["sequence"])
    stored = connection.execute(select(turn_blocks).where(is_block)).mappings().one_or_none()
    if stored is not None and _is_same(stored, block):
        return False
    if stored is not None and not replace:
        raise ConflictError(
            f"block {block['sequence']} of the turn {name} is already stored with other content: set replace=True"
        )
    _refuse_foreign(site, row)
    rows.check_turn(row.role, [block])
    if stored is None:
        connection.execute(turn_blocks.insert().values(turn=name, **block))
    else:
        connection.execute(update(turn_blocks).where(is_block).values(**block))
    return True


def _is_same(stored: Mapping[Any, Any], block: Columns) -> bool:
    with reading_row(turn_blocks, checked(turn_blocks, stored)):
        return rows.same_block(stored, block)


def describe_turn(connection: Connection, site: Site, name: str, columns: Columns) -> Turn:
    """Set columns of an open turn."""
    _refuse_foreign(site, _turn_row(connection, name))
    if columns:
        connection.execute(update(turns).where(turns.c.id == name).values(**columns))
    return turn(connection, name)


def end_turn(connection: Connection, site: Site, name: str, status: str, ending: Ending) -> Turn:
    """End an open turn. Ending it again with the same status changes nothing."""
    _lock_conversation_of(connection, name)
    row = _turn_row(connection, name)
    if row.status != status:
        _refuse_foreign(site, row)
        values = {"status": status, "ended_at": site.now, "writer": None, **ending.columns}
        if ending.count is not None:
            values["layout"] = _layout(connection, name, ending)
        connection.execute(update(turns).where(turns.c.id == name).values(**values))
        changed = update(conversations).where(conversations.c.id == row.conversation)
        connection.execute(changed.values(updated_at=site.now))
    return turn(connection, name)


def _layout(connection: Connection, name: str, ending: Ending) -> list[int] | None:
    """Return the sequence numbers of the blocks of the transcript; None if it is all blocks in order."""
    query = select(turn_blocks.c.sequence).where(turn_blocks.c.turn == name).order_by(turn_blocks.c.sequence)
    stored = list(connection.execute(query).scalars())
    strange = [number for number in stored if number.__class__ is not int]
    if strange:
        raise DamagedError(f"turn_blocks of the turn {name}: the column sequence has the value {strange[0]!r}")
    order = stored if ending.order is None else list(ending.order)
    missing = sorted(set(order) - set(stored))
    if missing or len(set(order)) != len(order):
        raise InvalidTurnError(f"the order {order} has blocks that the turn {name} does not have, or duplicates")
    if ending.count != len(order):
        raise InvalidTurnError(
            f"this answer has {count_of(ending.count or 0, 'block')}, but the turn {name} has {len(order)}: "
            "pass the complete answer, or the order of its blocks"
        )
    return None if order == stored else order


def _refuse_foreign(site: Site, row: Row[Any]) -> None:
    if row.status != "open":
        raise ConflictError(f"the turn {row.id} is {row.status}: it cannot be changed")
    if row.writer not in site.leases.own_writers:
        raise ConflictError(f"the turn {row.id} is being written by another store")


# -- dead writers ------------------------------------------------------------------------------------------------------


def interrupt_dead(connection: Connection, site: Site) -> int:
    """Mark the open turns of dead writers as interrupted. Return their number."""
    writers = (
        connection.execute(select(turns.c.writer).where(NOT_COMPLETE, turns.c.status == "open").distinct())
        .scalars()
        .all()
    )
    dead = [writer for writer in writers if not _is_alive(connection, site, writer)]
    return _interrupt(connection, site, dead)


def _is_alive(connection: Connection, site: Site, writer: Any) -> bool:
    """Return whether a writer is alive. Return False for an invalid id."""
    return isinstance(writer, str) and site.leases.is_alive(connection, writer)


def interrupt_own(connection: Connection, site: Site) -> int:
    """Mark the open turns of this store's writer as interrupted. Return their number."""
    return _interrupt(connection, site, list(site.leases.own_writers))


def _interrupt(connection: Connection, site: Site, writers: Sequence[Any]) -> int:
    if not writers:
        return 0
    unfinished = update(turns).where(NOT_COMPLETE, turns.c.status == "open", turns.c.writer.in_(writers))
    return connection.execute(unfinished.values(status="interrupted", ended_at=site.now, writer=None)).rowcount


def _interrupt_if_dead(connection: Connection, site: Site, row: Row[Any]) -> bool:
    """If the writer of an open turn is dead, mark its turns as interrupted. Return whether it is dead."""
    if _is_alive(connection, site, row.writer):
        return False
    _interrupt(connection, site, [row.writer])
    return True


# -- deleting ----------------------------------------------------------------------------------------------------------


def delete(connection: Connection, site: Site, conversation: str) -> None:
    """Delete a conversation with its turns and its log. Raise ConflictError if one of its turns is being written."""
    connection.execute(select(conversations.c.id).where(conversations.c.id == conversation).with_for_update())
    _refuse_open(
        connection,
        site,
        select(turns).where(NOT_COMPLETE, turns.c.conversation == conversation, turns.c.status == "open"),
    )
    count = connection.execute(conversations.delete().where(conversations.c.id == conversation)).rowcount
    if not count:
        raise NotFoundError(f"there is no conversation {conversation!r}")


def delete_turn(connection: Connection, site: Site, name: str) -> int:
    """Delete a turn and all turns that follow it, on all branches. Return their number."""
    _lock_conversation_of(connection, name)
    row = _turn_row(connection, name)
    follow = select(turns.c.id).where(turns.c.id == name).cte(recursive=True)
    # Not UNION ALL: the turns of a damaged database may form a cycle.
    follow = follow.union(select(turns.c.id).where(turns.c.previous == follow.c.id))
    ids = select(follow.c.id)
    _refuse_open(connection, site, select(turns).where(turns.c.id.in_(ids), turns.c.status == "open"))
    count = connection.execute(select(func.count()).select_from(follow)).scalar_one()
    connection.execute(turns.delete().where(turns.c.id.in_(ids)))
    last = select(turns.c.id).where(turns.c.conversation == row.conversation).order_by(turns.c.number.desc()).limit(1)
    connection.execute(
        update(conversations)
        .where(conversations.c.id == row.conversation)
        .values(head=last.scalar_subquery(), turn_count=conversations.c.turn_count - count, updated_at=site.now)
    )
    return count


def _refuse_open(connection: Connection, site: Site, query: Select[Any]) -> None:
    for row in connection.execute(query).all():
        if not _interrupt_if_dead(connection, site, row):
            raise ConflictError(f"the turn {row.id} is still being written: end it first, or wait")


# -- turns -------------------------------------------------------------------------------------------------------------


def turn(connection: Connection, name: str) -> Turn:
    """Return a turn by its id. Raise NotFoundError if it does not exist."""
    row = connection.execute(select(turns).where(turns.c.id == name)).mappings().one_or_none()
    if row is None:
        raise NotFoundError(f"there is no turn {name!r}")
    return turn_of(row)


def _turn_row(connection: Connection, name: str) -> Row[Any]:
    """Return the row of a turn, locked until the transaction ends."""
    query = select(turns).where(turns.c.id == name).with_for_update(key_share=True)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no turn {name!r}")
    checked(turns, row._mapping)
    return row


def _lock_conversation_of(connection: Connection, name: str) -> None:
    conversation_id = select(turns.c.conversation).where(turns.c.id == name).scalar_subquery()
    connection.execute(
        select(conversations.c.id).where(conversations.c.id == conversation_id).with_for_update(key_share=True)
    )
