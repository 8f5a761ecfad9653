"""What a store changes, as plain functions on a connection, each to be run in one transaction of its own.

The sync and the async store run the same functions. A turn follows one turn and is followed by one, unless a branch was
asked for; whoever writes a turn is the only one to do so. Where PostgreSQL locks rows, a conversation is locked before
its turns, so that nobody waits in a circle, and without its key, so that what refers to it need not wait.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Connection, Row, Select, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from contentmodel.history import rows
from contentmodel.history.errors import ConflictError, DamagedError, InvalidTurnError, NotFoundError
from contentmodel.history.reading import turn_of
from contentmodel.history.stored import checked, reading_row
from contentmodel.history.tables import NOT_COMPLETE, conversations, followed, turn_blocks, turns
from contentmodel.history.turns import START, Turn
from contentmodel.request import ChatRequest

LONGEST_NAME = 500
Columns: TypeAlias = Mapping[str, Any]
"""The columns of a turn that say what it is; the store adds those that say where and when."""
Blocks: TypeAlias = Sequence[Mapping[str, Any]]
"""The columns of the blocks of one turn."""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """Where an operation runs: the moment, the writer that this store is, and who else is alive."""

    now: datetime
    writer: str | None
    is_alive: Callable[[Connection, str], bool]


class NewTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn to begin: after `previous`, an id or START; None is after the turn that began last."""

    conversation: str
    role: str
    previous: str | None = None
    branch: bool = False
    columns: dict[str, Any] = {}


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a turn at its end.

    `count` is how many blocks its answer holds (None: it is no answer), `order` their numbers (None: all, in order).
    """

    columns: dict[str, Any] = {}
    count: int | None = None
    order: Sequence[int] | None = None


# -- beginning ---------------------------------------------------------------------------------------------------------


def begin_turn(connection: Connection, site: Site, new: NewTurn) -> Turn:
    """A new turn that this store's writer writes."""
    if site.writer is None:
        raise InvalidTurnError("a turn is begun by a writer")
    rows.check_turn(new.role)
    (turn,) = _insert(connection, site, new, [({"role": new.role, **new.columns}, ())], status="open")
    return turn


def add_turn(connection: Connection, site: Site, new: NewTurn, blocks: Blocks) -> Turn:
    """A new turn that is complete, with its blocks."""
    rows.check_turn(new.role, blocks)
    (turn,) = _insert(connection, site, new, [({"role": new.role, **new.columns}, blocks)])
    return turn


def add_turns(connection: Connection, site: Site, new: NewTurn, made: Sequence[tuple[Columns, Blocks]]) -> list[Turn]:
    """Complete turns, one after the other. The first stands where `new` says; its role and columns are not used."""
    for columns, blocks in made:
        rows.check_turn(columns["role"], blocks)
    return _insert(connection, site, new, made)


def save(
    connection: Connection,
    site: Site,
    conversation: str,
    request: ChatRequest,
    made: Sequence[tuple[Columns, Blocks]],
) -> list[Turn]:
    """A whole transcript as a conversation that is not there yet. ConflictError where it has turns."""
    found = _locked_conversation(connection, site, conversation)
    if found.last_number or found.settings is not None:
        raise ConflictError(f"the conversation {conversation!r} is there already: add turns to it, or save another")
    added = add_turns(connection, site, NewTurn(conversation=conversation, role="user", previous=START), made)
    settings = rows.settings_of(request, added[-1].id if added else None)
    connection.execute(update(conversations).where(conversations.c.id == conversation).values(settings=settings))
    return added


def _insert(
    connection: Connection, site: Site, new: NewTurn, made: Sequence[tuple[Columns, Blocks]], status: str = "complete"
) -> list[Turn]:
    """Turns, each behind the one before it, and the first behind the one that `new` says."""
    conversation = _locked_conversation(connection, site, new.conversation)
    previous = _predecessor(connection, site, conversation, new.previous)
    if not new.branch:
        _refuse_second(connection, new.conversation, previous)
    if not made:
        return []
    number = conversation.last_number
    inserted: list[dict[str, Any]] = []
    inside: list[dict[str, Any]] = []
    for columns, blocks in made:
        number += 1
        row = {
            **dict.fromkeys(column.name for column in turns.columns),
            **columns,
            "id": uuid.uuid4().hex,
            "conversation": new.conversation,
            "previous": previous,
            "number": number,
            "is_branch": new.branch and not inserted,
            "status": status,
            "started_at": site.now,
            "ended_at": None if status == "open" else site.now,
            "writer": site.writer if status == "open" else None,
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


def _locked_conversation(connection: Connection, site: Site, name: str) -> Row[Any]:
    """The conversation's row, made where it is not there, and nobody else's until the transaction ends."""
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidTurnError(
            f"the conversation is {name!r}: expected a name of 1 to {LONGEST_NAME} printable characters"
        )
    wanted = select(conversations).where(conversations.c.id == name).with_for_update(key_share=True)
    found = connection.execute(wanted).one_or_none()
    if found is not None:
        checked(conversations, found._mapping)
        return found
    new = {"id": name, "turn_count": 0, "last_number": 0, "created_at": site.now, "updated_at": site.now}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(dialect.insert(conversations).values(new).on_conflict_do_nothing())
    return connection.execute(wanted).one()


def _predecessor(connection: Connection, site: Site, conversation: Row[Any], wanted: str | None) -> str | None:
    """The id of the turn that a new one follows; None at the start. ConflictError where it is still being written."""
    if wanted == START:
        return None
    name = conversation.head if wanted is None else wanted
    if name is None:
        return None
    found = connection.execute(select(turns).where(turns.c.id == name)).one_or_none()
    if found is None or found.conversation != conversation.id:
        raise NotFoundError(f"the conversation {conversation.id!r} has no turn {name!r}")
    checked(turns, found._mapping)
    if found.status == "open" and not _settle(connection, site, found):
        raise ConflictError(f"the turn {name} of {conversation.id!r} is still being written: end it first, or wait")
    return str(name)


def _refuse_second(connection: Connection, conversation: str, previous: str | None) -> None:
    is_first = turns.c.is_branch == text("0") if connection.dialect.name == "sqlite" else ~turns.c.is_branch
    other = connection.execute(
        select(turns.c.id).where(turns.c.conversation == conversation, followed == (previous or ""), is_first)
    ).scalar()
    if other is not None:
        where = f"the turn {previous}" if previous else "the start"
        raise ConflictError(
            f"{where} of {conversation!r} is followed by the turn {other} already: load the conversation again, "
            "or ask for a branch"
        )


# -- blocks ------------------------------------------------------------------------------------------------------------


def put_block(connection: Connection, site: Site, name: str, block: Columns, *, replace: bool) -> bool:
    """Stores a block of an open turn; whether anything changed. The same block again changes nothing."""
    found = _turn_row(connection, name)
    where = (turn_blocks.c.turn == name) & (turn_blocks.c.sequence == block["sequence"])
    stored = connection.execute(select(turn_blocks).where(where)).mappings().one_or_none()
    if stored is not None and _is_same(stored, block):
        return False
    if stored is not None and not replace:
        raise ConflictError(f"block {block['sequence']} of the turn {name} is stored already, and says something else")
    _refuse_foreign(site, found)
    rows.check_turn(found.role, [block])
    if stored is None:
        connection.execute(turn_blocks.insert().values(turn=name, **block))
    else:
        connection.execute(update(turn_blocks).where(where).values(**block))
    return True


def _is_same(stored: Mapping[Any, Any], block: Columns) -> bool:
    with reading_row(turn_blocks, checked(turn_blocks, stored)):
        return rows.same_block(stored, block)


def describe_turn(connection: Connection, site: Site, name: str, columns: Columns) -> Turn:
    """Says of an open turn what has become known of it."""
    _refuse_foreign(site, _turn_row(connection, name))
    if columns:
        connection.execute(update(turns).where(turns.c.id == name).values(**columns))
    return turn(connection, name)


def end_turn(connection: Connection, site: Site, name: str, status: str, ending: Ending) -> Turn:
    """Ends an open turn. Ending it the same way again changes nothing."""
    _lock_conversation_of(connection, name)
    found = _turn_row(connection, name)
    if found.status != status:
        _refuse_foreign(site, found)
        values = {"status": status, "ended_at": site.now, "writer": None, **ending.columns}
        if ending.count is not None:
            values["layout"] = _layout(connection, name, ending)
        connection.execute(update(turns).where(turns.c.id == name).values(**values))
        changed = update(conversations).where(conversations.c.id == found.conversation)
        connection.execute(changed.values(updated_at=site.now))
    return turn(connection, name)


def _layout(connection: Connection, name: str, ending: Ending) -> list[int] | None:
    """The numbers of the blocks that make the transcript; None where it is all of them, in order."""
    wanted = select(turn_blocks.c.sequence).where(turn_blocks.c.turn == name).order_by(turn_blocks.c.sequence)
    stored = list(connection.execute(wanted).scalars())
    strange = [number for number in stored if number.__class__ is not int]
    if strange:
        raise DamagedError(f"turn_blocks of the turn {name}: the column sequence holds {strange[0]!r}")
    order = stored if ending.order is None else list(ending.order)
    missing = sorted(set(order) - set(stored))
    if missing or len(set(order)) != len(order):
        raise InvalidTurnError(f"the order {order} names blocks that the turn {name} does not have, or one twice")
    if ending.count != len(order):
        raise InvalidTurnError(
            f"this answer holds {ending.count} blocks, and the turn {name} has {len(order)}: give it whole, "
            "or the order of the blocks that it holds"
        )
    return None if order == stored else order


def _refuse_foreign(site: Site, found: Row[Any]) -> None:
    if found.status != "open":
        raise ConflictError(f"the turn {found.id} is {found.status}: nothing can be added to it")
    if found.writer != site.writer:
        raise ConflictError(f"the turn {found.id} is written by another store")


# -- who has died ------------------------------------------------------------------------------------------------------


def interrupt_dead(connection: Connection, site: Site) -> int:
    """Marks the open turns of writers that are not there any more; how many there were."""
    writers = (
        connection.execute(select(turns.c.writer).where(NOT_COMPLETE, turns.c.status == "open").distinct())
        .scalars()
        .all()
    )
    dead = [writer for writer in writers if not _is_alive(connection, site, writer)]
    return sum(_interrupt(connection, site, writer) for writer in dead)


def _is_alive(connection: Connection, site: Site, writer: Any) -> bool:
    """Whether a writer is there. What is no name of a writer is the name of none."""
    try:
        return isinstance(writer, str) and site.is_alive(connection, writer)
    except ValueError:
        return False


def interrupt_own(connection: Connection, site: Site) -> int:
    """Marks the turns that this store's writer leaves open; how many there are."""
    return 0 if site.writer is None else _interrupt(connection, site, site.writer)


def _interrupt(connection: Connection, site: Site, writer: str) -> int:
    left = update(turns).where(NOT_COMPLETE, turns.c.status == "open", turns.c.writer == writer)
    return connection.execute(left.values(status="interrupted", ended_at=site.now, writer=None)).rowcount


def _settle(connection: Connection, site: Site, found: Row[Any]) -> bool:
    """Whether an open turn is not written any more: its writer has died since this store was opened."""
    if _is_alive(connection, site, found.writer):
        return False
    _interrupt(connection, site, found.writer)
    return True


# -- deleting ----------------------------------------------------------------------------------------------------------


def delete(connection: Connection, site: Site, conversation: str) -> None:
    """Deletes a conversation with all that is in it. ConflictError where a turn of it is being written."""
    connection.execute(select(conversations.c.id).where(conversations.c.id == conversation).with_for_update())
    _refuse_open(
        connection,
        site,
        select(turns).where(NOT_COMPLETE, turns.c.conversation == conversation, turns.c.status == "open"),
    )
    gone = connection.execute(conversations.delete().where(conversations.c.id == conversation)).rowcount
    if not gone:
        raise NotFoundError(f"there is no conversation {conversation!r}")


def delete_turn(connection: Connection, site: Site, name: str) -> int:
    """Deletes a turn and all that follow it, on every branch; how many there were."""
    _lock_conversation_of(connection, name)
    found = _turn_row(connection, name)
    follow = select(turns.c.id).where(turns.c.id == name).cte(recursive=True)
    # Not UNION ALL: turns of a damaged database may follow each other in a circle.
    follow = follow.union(select(turns.c.id).where(turns.c.previous == follow.c.id))
    ids = select(follow.c.id)
    _refuse_open(connection, site, select(turns).where(turns.c.id.in_(ids), turns.c.status == "open"))
    gone = connection.execute(select(func.count()).select_from(follow)).scalar_one()
    connection.execute(turns.delete().where(turns.c.id.in_(ids)))
    last = select(turns.c.id).where(turns.c.conversation == found.conversation).order_by(turns.c.number.desc()).limit(1)
    connection.execute(
        update(conversations)
        .where(conversations.c.id == found.conversation)
        .values(head=last.scalar_subquery(), turn_count=conversations.c.turn_count - gone, updated_at=site.now)
    )
    return gone


def _refuse_open(connection: Connection, site: Site, wanted: Select[Any]) -> None:
    for found in connection.execute(wanted).all():
        if not _settle(connection, site, found):
            raise ConflictError(f"the turn {found.id} is still being written: end it first, or wait")


# -- turns -------------------------------------------------------------------------------------------------------------


def turn(connection: Connection, name: str) -> Turn:
    """A turn by its id. NotFoundError where there is none."""
    found = connection.execute(select(turns).where(turns.c.id == name)).mappings().one_or_none()
    if found is None:
        raise NotFoundError(f"there is no turn {name!r}")
    return turn_of(found)


def _turn_row(connection: Connection, name: str) -> Row[Any]:
    """A turn's row, nobody else's to change until the transaction ends."""
    wanted = select(turns).where(turns.c.id == name).with_for_update(key_share=True)
    found = connection.execute(wanted).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no turn {name!r}")
    checked(turns, found._mapping)
    return found


def _lock_conversation_of(connection: Connection, name: str) -> None:
    whose = select(turns.c.conversation).where(turns.c.id == name).scalar_subquery()
    connection.execute(select(conversations.c.id).where(conversations.c.id == whose).with_for_update(key_share=True))
