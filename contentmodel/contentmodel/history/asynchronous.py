"""The turn store over an async engine: the same operations, run on its connections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.history import reading, rows, writing
from contentmodel.history.common import (
    Base,
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
    utc_now,
)
from contentmodel.history.engines import BUSY, IMMEDIATE, leases_for, make_async_engine, url_of
from contentmodel.history.leases import Leases, SessionLeases
from contentmodel.history.migrations import migrate
from contentmodel.history.turns import Block, Conversation, Status, StoredTurn, Turn
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

P = ParamSpec("P")
T = TypeVar("T")


class AsyncTurnStore(Base):
    """The same as TurnStore, asynchronously. It belongs to the event loop that it was opened in."""

    def __init__(self, engine: AsyncEngine, leases: Leases, clock: Clock) -> None:
        super().__init__(engine.url.render_as_string(hide_password=True), leases, clock)
        self._engine = engine
        self._session: AsyncConnection | None = None

    @classmethod
    async def open(
        cls, url_or_path: str | Path, *, busy_timeout: float = BUSY, clock: Clock = utc_now
    ) -> AsyncTurnStore:
        """Opens a store, makes its tables or brings them up to date, and marks the turns of writers that have died.

        `url_or_path` is the path of a SQLite file, ":memory:", or an SQLAlchemy URL of SQLite or PostgreSQL.
        `busy_timeout` is how many seconds a SQLite transaction waits for another. `clock` gives the moment, aware of
        its time zone.

        Raises SchemaError (a newer version of the schema, or somebody else's tables), HistoryError (no such database).
        """
        url = url_of(url_or_path, is_async=True)
        store = cls(make_async_engine(url, busy_timeout), leases_for(url), clock)
        try:
            with told_plainly(store.name):
                async with store._transaction() as connection:
                    await connection.run_sync(migrate)
            await store.recover()
        except BaseException:
            await store._engine.dispose()
            raise
        return store

    async def close(self) -> None:
        """Marks the turns that this store leaves open as interrupted, and closes its connections."""
        try:
            if self.writer is not None:
                await self._write(writing.interrupt_own)
        finally:
            if self._session is not None:
                await self._session.close()
            self._session = None
            self._leases.release()
            await self._engine.dispose()

    async def __aenter__(self) -> AsyncTurnStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # -- writing -------------------------------------------------------------------------------------------------------

    async def begin_turn(
        self,
        conversation: str,
        role: str,
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
        model: str | None = None,
        origin: Origin | None = None,
    ) -> Turn:
        """Begins a turn that this store writes; the conversation is made where it is not there.

        It follows `previous` (a turn, its id, or START), by default the turn that began last. A turn is followed by
        one turn; by more only where each of the others is begun with `branch`.

        Raises ConflictError (another turn follows already, or `previous` is still being written), NotFoundError,
        InvalidTurnError (no such role).
        """
        await self._hold()
        return await self._write(writing.begin_turn, new_turn(conversation, role, previous, branch, model, origin))

    async def put_block(self, turn: TurnOrId, sequence: int, content: AIContent, *, replace: bool = False) -> None:
        """Stores one complete block of an open turn; it is durable when this returns.

        The same block again changes nothing. Raises ConflictError where another one is stored under this `sequence`
        (unless it is to `replace` it), and where the turn has ended or somebody else writes it.
        """
        with told_plainly():
            block = rows.block_row(sequence, content)
        await self._write(writing.put_block, _id(turn), block, replace=replace)

    async def describe_turn(self, turn: TurnOrId, *, model: str | None = None, origin: Origin | None = None) -> Turn:
        """Says which model an open turn is of, and where it comes from, when that becomes known."""
        return await self._write(writing.describe_turn, _id(turn), rows.answer_columns(model=model, origin=origin))

    async def end_turn(
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
    ) -> Turn:
        """Ends an open turn: "complete", "failed" or "interrupted". Ending it so again changes nothing.

        `response` is the whole answer that the turn is, where it is one: what it says beside its blocks is kept. Of its
        choices the first is taken; `order` has the numbers of the blocks that its messages hold, by default all of them
        in their order. InvalidTurnError where it holds more or fewer.
        """
        check_status(status)
        known = turn if isinstance(turn, Turn) else await self.turn(turn)
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
        return await self._write(writing.end_turn, known.id, status, ending)

    async def add_turn(
        self,
        conversation: str,
        role: str,
        contents: Sequence[AIContent],
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
        model: str | None = None,
        origin: Origin | None = None,
    ) -> Turn:
        """A whole turn at once, a user's for example. Places and errors are those of `begin_turn`."""
        new = new_turn(conversation, role, previous, branch, model, origin)
        return await self._write(writing.add_turn, new, blocks_of(contents))

    async def add_messages(
        self,
        conversation: str,
        messages: Sequence[ChatMessage],
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
    ) -> list[Turn]:
        """Whole messages, in one transaction, with all that they say. Results of tools join the turn of their calls."""
        new = new_turn(conversation, "user", previous, branch)
        return await self._write(writing.add_turns, new, turns_of(messages))

    async def save(self, conversation: str, request: ChatRequest) -> list[Turn]:
        """A whole transcript, as a conversation that is not there yet: `load` gives back an equal one.

        ConflictError where the conversation is there.
        """
        return await self._write(writing.save, conversation, request, turns_of_request(request))

    async def delete(self, conversation: str) -> None:
        """Deletes a conversation. ConflictError where a turn of it is being written, NotFoundError."""
        await self._write(writing.delete, conversation)

    async def delete_turn(self, turn: TurnOrId) -> int:
        """Deletes a turn and all that follow it, on every branch; how many there were. Errors as for `delete`."""
        return await self._write(writing.delete_turn, _id(turn))

    async def recover(self) -> int:
        """Marks the open turns whose writers have died as interrupted; how many there were. `open` has done so."""
        return await self._write(writing.interrupt_dead)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def load(self, conversation: str, upto: TurnOrId | None = None) -> ChatRequest:
        """The transcript of a conversation up to a turn, by default to the one that began last.

        Turns that are open or interrupted are there with the blocks they have. NotFoundError where there is none.
        """
        way = await self._read(reading.path, conversation, id_of(upto))
        return reading.request(way, [part async for part in self._parts(way, reading.stored)])

    async def stream(self, conversation: str, upto: TurnOrId | None = None) -> AsyncIterator[StoredTurn]:
        """The same, turn by turn, a few hundred in memory at a time."""
        way = await self._read(reading.path, conversation, id_of(upto))
        async for part in self._parts(way, reading.stored):
            yield part

    async def export(self, conversation: str, upto: TurnOrId | None = None) -> dict[str, Any]:
        """The same as rows, which the adapter `turn-blocks` reads: ids, times and usage are there as well."""
        way = await self._read(reading.path, conversation, id_of(upto))
        return reading.export(way, [part async for part in self._parts(way, reading.wires)])

    async def turn(self, turn: TurnOrId) -> Turn:
        """A turn as it is now. NotFoundError."""
        return await self._read(writing.turn, _id(turn))

    async def blocks(self, turn: TurnOrId) -> list[Block]:
        """The stored blocks of a turn, in order."""
        return await self._read(reading.blocks, _id(turn))

    async def turns(self, conversation: str, limit: int = 100, after: Turn | None = None) -> list[Turn]:
        """The turns of a conversation on all its branches, in the order in which they began, those behind `after`."""
        return await self._read(reading.turns_of, conversation, limit, 0 if after is None else after.number)

    async def conversation(self, conversation: str) -> Conversation:
        """What is known of a conversation. NotFoundError."""
        return await self._read(reading.conversation, conversation)

    async def conversations(
        self, limit: int = 100, after: Conversation | None = None, *, newest_first: bool = False
    ) -> list[Conversation]:
        """Conversations in the order in which they were begun, those behind `after`."""
        return await self._read(reading.conversations_of, limit, after, newest_first)

    async def interrupted(self, limit: int = 100, after: Turn | None = None) -> list[Turn]:
        """Turns that were interrupted, in the order in which they began, those behind `after`."""
        return await self._read(reading.interrupted, limit, after)

    # -- running -------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that writes."""
        async with self._engine.connect() as connection:
            await connection.execution_options(**{IMMEDIATE: True})
            async with connection.begin():
                yield connection

    async def _write(
        self, operation: Callable[Concatenate[Connection, Any, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        site = self._site()
        with told_plainly(self.name):
            async with self._transaction() as connection:
                return await connection.run_sync(operation, site, *args, **kwargs)

    async def _read(self, operation: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._site()
        with told_plainly(self.name):
            async with self._engine.connect() as connection:
                return await connection.run_sync(operation, *args, **kwargs)

    async def _parts(self, way: reading.Path, read: Callable[[Connection, Sequence[str]], list[T]]) -> AsyncIterator[T]:
        for page in way.pages():
            for part in await self._read(read, page):
                yield part

    async def _hold(self) -> None:
        """Takes this writer's lock, and takes it again where the connection that held it has broken."""
        if not isinstance(self._leases, SessionLeases):
            self._leases.hold(None)
            return
        with told_plainly(self.name):
            if self._session is not None and not await _is_there(self._session):
                self._session = None
            if self._session is None:
                session = await self._engine.connect()
                await session.execution_options(isolation_level="AUTOCOMMIT")
                await session.run_sync(self._leases.hold)
                self._session = session


async def _is_there(session: AsyncConnection) -> bool:
    try:
        await session.execute(text("SELECT 1"))
    except DBAPIError:
        await session.invalidate()
        await session.close()
        return False
    return True


def _id(turn: TurnOrId) -> str:
    return turn.id if isinstance(turn, Turn) else turn
