"""What a turn store does, written once for the sync and the async store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.history import reading, rows, writing
from contentmodel.history.common import (
    Clock,
    TurnOrId,
    blocks_of,
    check_status,
    ending_of,
    id_of,
    new_turn,
    told_plainly,
    turns_of,
    turns_of_request,
)
from contentmodel.history.engines import IMMEDIATE
from contentmodel.history.errors import HistoryError
from contentmodel.history.leases import Leases, SessionLeases
from contentmodel.history.migrations import migrate
from contentmodel.history.steps import Call, Page, Pages, Steps, Work, operation, paged
from contentmodel.history.turns import Block, Conversation, Status, StoredTurn, Turn
from contentmodel.history.writing import Site
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Engine | AsyncEngine)


class StoreOperations(Generic[E]):
    """The operations of a store over an engine. It knows its writer's lock, its clock, and the process it is of."""

    def __init__(self, engine: E, leases: Leases, clock: Clock) -> None:
        self.name = engine.url.render_as_string(hide_password=True)
        """The URL of the database, without its password."""
        self._engine = engine
        self._leases, self._clock = leases, clock
        self._session: Any = None
        self._process = os.getpid()

    @property
    def writer(self) -> str | None:
        """The id of this store in the turns that it writes; None before it has written one."""
        return self._leases.writer

    @operation
    def close(self) -> Steps[None]:
        """Marks the turns that this store leaves open as interrupted, and closes its connections."""
        try:
            if self.writer is not None:
                yield from self._write(writing.interrupt_own)
        finally:
            if self._session is not None:
                yield Call(self._session.close)
            self._session = None
            self._leases.release()
            yield Call(self._engine.dispose)

    # -- writing -------------------------------------------------------------------------------------------------------

    @operation
    def begin_turn(
        self,
        conversation: str,
        role: str,
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
        model: str | None = None,
        origin: Origin | None = None,
    ) -> Steps[Turn]:
        """Begins a turn that this store writes; the conversation is made where it is not there.

        It follows `previous` (a turn, its id, or START), by default the turn that began last. A turn is followed by
        one turn; by more only where each of the others is begun with `branch`.

        Raises ConflictError (another turn follows already, or `previous` is still being written), NotFoundError,
        InvalidTurnError (no such role).
        """
        yield from self._hold()
        new = new_turn(conversation, role, previous, branch, model, origin)
        return (yield from self._write(writing.begin_turn, new))

    @operation
    def put_block(self, turn: TurnOrId, sequence: int, content: AIContent, *, replace: bool = False) -> Steps[None]:
        """Stores one complete block of an open turn; it is durable when this returns.

        The same block again changes nothing. Raises ConflictError where another one is stored under this `sequence`
        (unless it is to `replace` it), and where the turn has ended or somebody else writes it.
        """
        with told_plainly():
            block = rows.block_row(sequence, content)
        yield from self._write(writing.put_block, _id(turn), block, replace=replace)

    @operation
    def describe_turn(self, turn: TurnOrId, *, model: str | None = None, origin: Origin | None = None) -> Steps[Turn]:
        """Says which model an open turn is of, and where it comes from, when that becomes known."""
        return self._write(writing.describe_turn, _id(turn), rows.answer_columns(model=model, origin=origin))

    @operation
    def end_turn(
        self,
        turn: TurnOrId,
        *,
        status: Status = "complete",
        model: str | None = None,
        origin: Origin | None = None,
        stop_reason: str | None = None,
        usage: Usage | None = None,
        error: ErrorContent | None = None,
        response: ChatResponse | None = None,
        order: Sequence[int] | None = None,
    ) -> Steps[Turn]:
        """Ends an open turn: "complete", "failed" or "interrupted". Ending it so again changes nothing.

        `response` is the whole answer that the turn is, where it is one: what it says beside its blocks is kept. Of its
        choices the first is taken; `order` has the numbers of the blocks that its messages hold, by default all of them
        in their order. InvalidTurnError where it holds more or fewer.
        """
        check_status(status)
        known = turn if isinstance(turn, Turn) else (yield from self._read(writing.turn, turn))
        with told_plainly():
            ending = ending_of(
                known,
                model=model,
                origin=origin,
                stop_reason=stop_reason,
                usage=usage,
                error=error,
                response=response,
                order=order,
            )
        return (yield from self._write(writing.end_turn, known.id, status, ending))

    @operation
    def add_turn(
        self,
        conversation: str,
        role: str,
        contents: Sequence[AIContent],
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
        model: str | None = None,
        origin: Origin | None = None,
    ) -> Steps[Turn]:
        """A whole turn at once, a user's for example. Places and errors are those of `begin_turn`."""
        new = new_turn(conversation, role, previous, branch, model, origin)
        return self._write(writing.add_turn, new, blocks_of(contents))

    @operation
    def add_messages(
        self,
        conversation: str,
        messages: Sequence[ChatMessage],
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
    ) -> Steps[list[Turn]]:
        """Whole messages, in one transaction, with all that they say. Results of tools join the turn of their calls."""
        new = new_turn(conversation, "user", previous, branch)
        return self._write(writing.add_turns, new, turns_of(messages))

    @operation
    def save(self, conversation: str, request: ChatRequest) -> Steps[list[Turn]]:
        """A whole transcript, as a conversation that is not there yet: `load` gives back an equal one.

        ConflictError where the conversation is there.
        """
        return self._write(writing.save, conversation, request, turns_of_request(request))

    @operation
    def delete(self, conversation: str) -> Steps[None]:
        """Deletes a conversation. ConflictError where a turn of it is being written, NotFoundError."""
        return self._write(writing.delete, conversation)

    @operation
    def delete_turn(self, turn: TurnOrId) -> Steps[int]:
        """Deletes a turn and all that follow it, on every branch; how many there were. Errors as for `delete`."""
        return self._write(writing.delete_turn, _id(turn))

    @operation
    def recover(self) -> Steps[int]:
        """Marks the open turns whose writers have died as interrupted; how many there were. `open` has done so."""
        return self._write(writing.interrupt_dead)

    # -- reading -------------------------------------------------------------------------------------------------------

    @operation
    def load(self, conversation: str, upto: TurnOrId | None = None) -> Steps[ChatRequest]:
        """The transcript of a conversation up to a turn, by default to the one that began last.

        Turns that are open or interrupted are there with the blocks they have. NotFoundError where there is none.
        """
        way = yield from self._read(reading.path, conversation, id_of(upto))
        parts = yield from self._parts(way, reading.stored)
        with told_plainly(self.name):
            return reading.request(way, parts)

    @paged
    def stream(self, conversation: str, upto: TurnOrId | None = None) -> Pages[StoredTurn]:
        """The same, turn by turn, a few hundred in memory at a time."""
        way = yield from self._read(reading.path, conversation, id_of(upto))
        for ids in way.pages():
            yield Page((yield from self._read(reading.stored, ids)))

    @operation
    def export(self, conversation: str, upto: TurnOrId | None = None) -> Steps[dict[str, Any]]:
        """The same as rows, which the adapter `turn-blocks` reads: ids, times and usage are there as well."""
        way = yield from self._read(reading.path, conversation, id_of(upto))
        parts = yield from self._parts(way, reading.wires)
        with told_plainly(self.name):
            return reading.export(way, parts)

    @operation
    def turn(self, turn: TurnOrId) -> Steps[Turn]:
        """A turn as it is now. NotFoundError."""
        return self._read(writing.turn, _id(turn))

    @operation
    def blocks(self, turn: TurnOrId) -> Steps[list[Block]]:
        """The stored blocks of a turn, in order."""
        return self._read(reading.blocks, _id(turn))

    @operation
    def turns(self, conversation: str, limit: int = 100, after: Turn | None = None) -> Steps[list[Turn]]:
        """The turns of a conversation on all its branches, in the order in which they began, those behind `after`."""
        return self._read(reading.turns_of, conversation, limit, 0 if after is None else after.number)

    @operation
    def conversation(self, conversation: str) -> Steps[Conversation]:
        """What is known of a conversation. NotFoundError."""
        return self._read(reading.conversation, conversation)

    @operation
    def conversations(
        self, limit: int = 100, after: Conversation | None = None, *, newest_first: bool = False
    ) -> Steps[list[Conversation]]:
        """Conversations in the order in which they were begun, those behind `after`."""
        return self._read(reading.conversations_of, limit, after, newest_first)

    @operation
    def interrupted(self, limit: int = 100, after: Turn | None = None) -> Steps[list[Turn]]:
        """Turns that were interrupted, in the order in which they began, those behind `after`."""
        return self._read(reading.interrupted, limit, after)

    # -- running -------------------------------------------------------------------------------------------------------

    def _open(self) -> Steps[None]:
        """Makes the tables or brings them up to date, and marks the turns of writers that have died."""
        try:
            with told_plainly(self.name):
                yield Work(partial(_in_transaction, migrate))
            yield from self._write(writing.interrupt_dead)
        except BaseException:
            yield Call(self._engine.dispose)
            raise

    def _write(
        self, change: Callable[Concatenate[Connection, Any, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Steps[T]:
        site = self._site()
        with told_plainly(self.name):
            changed: T = yield Work(
                partial(_in_transaction, lambda connection: change(connection, site, *args, **kwargs))
            )
        return changed

    def _read(self, read: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        self._site()
        with told_plainly(self.name):
            found: T = yield Work(lambda connection: read(connection, *args, **kwargs))
        return found

    def _parts(self, way: reading.Path, read: Callable[[Connection, Sequence[str]], list[T]]) -> Steps[list[T]]:
        parts: list[T] = []
        for ids in way.pages():
            parts += yield from self._read(read, ids)
        return parts

    def _hold(self) -> Steps[None]:
        """Takes this writer's lock, and takes it again where the connection that held it has broken."""
        if not isinstance(self._leases, SessionLeases):
            self._leases.hold(None)
            return
        with told_plainly(self.name):
            if self._session is not None and not (yield Work(_is_there, self._session)):
                self._session = None
            if self._session is None:
                session = yield Call(self._engine.connect)
                yield Work(partial(_begin_session, self._leases), session)
                self._session = session

    def _site(self) -> Site:
        if os.getpid() != self._process:
            raise HistoryError("this store was opened in another process: open one in this process")
        now = self._clock()
        if now.tzinfo is None:
            raise HistoryError("the clock of this store tells no time zone: give it aware moments")
        return Site(now=now.astimezone(UTC), writer=self._leases.writer, is_alive=self._leases.is_alive)


def _in_transaction(change: Callable[[Connection], T], connection: Connection) -> T:
    """Run a change in a transaction that writes."""
    with connection.execution_options(**{IMMEDIATE: True}).begin():
        return change(connection)


def _begin_session(leases: Leases, session: Connection) -> None:
    leases.hold(session.execution_options(isolation_level="AUTOCOMMIT"))


def _is_there(session: Connection) -> bool:
    try:
        session.execute(text("SELECT 1"))
    except DBAPIError:
        session.invalidate()
        session.close()
        return False
    return True


def _id(turn: TurnOrId) -> str:
    return turn.id if isinstance(turn, Turn) else turn
