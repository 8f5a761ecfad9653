"""The turn store over a sync engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

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
from contentmodel.history.engines import BUSY, IMMEDIATE, leases_for, make_engine, url_of
from contentmodel.history.leases import Leases, SessionLeases
from contentmodel.history.migrations import migrate
from contentmodel.history.turns import Block, Conversation, Status, StoredTurn, Turn
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

P = ParamSpec("P")
T = TypeVar("T")


class TurnStore(Base):
    """Conversations in SQLite or PostgreSQL: turns, and the blocks in them, each durable when it is complete.

    May be used from several threads. A process opens a store of its own: one that was forked has none.
    """

    def __init__(self, engine: Engine, leases: Leases, clock: Clock) -> None:
        super().__init__(engine.url.render_as_string(hide_password=True), leases, clock)
        self._engine = engine
        self._session: Connection | None = None

    @classmethod
    def open(cls, url_or_path: str | Path, *, busy_timeout: float = BUSY, clock: Clock = utc_now) -> TurnStore:
        """Opens a store, makes its tables or brings them up to date, and marks the turns of writers that have died.

        `url_or_path` is the path of a SQLite file, ":memory:", or an SQLAlchemy URL of SQLite or PostgreSQL.
        `busy_timeout` is how many seconds a SQLite transaction waits for another. `clock` gives the moment, aware of
        its time zone.

        Raises SchemaError (a newer version of the schema, or somebody else's tables), HistoryError (no such database).
        """
        url = url_of(url_or_path, is_async=False)
        store = cls(make_engine(url, busy_timeout), leases_for(url), clock)
        try:
            with told_plainly(store.name), store._transaction() as connection:
                migrate(connection)
            store.recover()
        except BaseException:
            store._engine.dispose()
            raise
        return store

    def close(self) -> None:
        """Marks the turns that this store leaves open as interrupted, and closes its connections."""
        try:
            if self.writer is not None:
                self._write(writing.interrupt_own)
        finally:
            if self._session is not None:
                self._session.close()
            self._session = None
            self._leases.release()
            self._engine.dispose()

    def __enter__(self) -> TurnStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- writing -------------------------------------------------------------------------------------------------------

    def begin_turn(
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
        self._hold()
        return self._write(writing.begin_turn, new_turn(conversation, role, previous, branch, model, origin))

    def put_block(self, turn: TurnOrId, sequence: int, content: AIContent, *, replace: bool = False) -> None:
        """Stores one complete block of an open turn; it is durable when this returns.

        The same block again changes nothing. Raises ConflictError where another one is stored under this `sequence`
        (unless it is to `replace` it), and where the turn has ended or somebody else writes it.
        """
        with told_plainly():
            block = rows.block_row(sequence, content)
        self._write(writing.put_block, _id(turn), block, replace=replace)

    def describe_turn(self, turn: TurnOrId, *, model: str | None = None, origin: Origin | None = None) -> Turn:
        """Says which model an open turn is of, and where it comes from, when that becomes known."""
        return self._write(writing.describe_turn, _id(turn), rows.answer_columns(model=model, origin=origin))

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
    ) -> Turn:
        """Ends an open turn: "complete", "failed" or "interrupted". Ending it so again changes nothing.

        `response` is the whole answer that the turn is, where it is one: what it says beside its blocks is kept. Of its
        choices the first is taken; `order` has the numbers of the blocks that its messages hold, by default all of them
        in their order. InvalidTurnError where it holds more or fewer.
        """
        check_status(status)
        known = turn if isinstance(turn, Turn) else self.turn(turn)
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
        return self._write(writing.end_turn, known.id, status, ending)

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
    ) -> Turn:
        """A whole turn at once, a user's for example. Places and errors are those of `begin_turn`."""
        new = new_turn(conversation, role, previous, branch, model, origin)
        return self._write(writing.add_turn, new, blocks_of(contents))

    def add_messages(
        self,
        conversation: str,
        messages: Sequence[ChatMessage],
        previous: TurnOrId | None = None,
        *,
        branch: bool = False,
    ) -> list[Turn]:
        """Whole messages, in one transaction, with all that they say. Results of tools join the turn of their calls."""
        new = new_turn(conversation, "user", previous, branch)
        return self._write(writing.add_turns, new, turns_of(messages))

    def save(self, conversation: str, request: ChatRequest) -> list[Turn]:
        """A whole transcript, as a conversation that is not there yet: `load` gives back an equal one.

        ConflictError where the conversation is there.
        """
        return self._write(writing.save, conversation, request, turns_of_request(request))

    def delete(self, conversation: str) -> None:
        """Deletes a conversation. ConflictError where a turn of it is being written, NotFoundError."""
        self._write(writing.delete, conversation)

    def delete_turn(self, turn: TurnOrId) -> int:
        """Deletes a turn and all that follow it, on every branch; how many there were. Errors as for `delete`."""
        return self._write(writing.delete_turn, _id(turn))

    def recover(self) -> int:
        """Marks the open turns whose writers have died as interrupted; how many there were. `open` has done so."""
        return self._write(writing.interrupt_dead)

    # -- reading -------------------------------------------------------------------------------------------------------

    def load(self, conversation: str, upto: TurnOrId | None = None) -> ChatRequest:
        """The transcript of a conversation up to a turn, by default to the one that began last.

        Turns that are open or interrupted are there with the blocks they have. NotFoundError where there is none.
        """
        way = self._read(reading.path, conversation, id_of(upto))
        parts = list(self._parts(way, reading.stored))
        with told_plainly(self.name):
            return reading.request(way, parts)

    def stream(self, conversation: str, upto: TurnOrId | None = None) -> Iterator[StoredTurn]:
        """The same, turn by turn, a few hundred in memory at a time."""
        return self._parts(self._read(reading.path, conversation, id_of(upto)), reading.stored)

    def export(self, conversation: str, upto: TurnOrId | None = None) -> dict[str, Any]:
        """The same as rows, which the adapter `turn-blocks` reads: ids, times and usage are there as well."""
        way = self._read(reading.path, conversation, id_of(upto))
        parts = list(self._parts(way, reading.wires))
        with told_plainly(self.name):
            return reading.export(way, parts)

    def turn(self, turn: TurnOrId) -> Turn:
        """A turn as it is now. NotFoundError."""
        return self._read(writing.turn, _id(turn))

    def blocks(self, turn: TurnOrId) -> list[Block]:
        """The stored blocks of a turn, in order."""
        return self._read(reading.blocks, _id(turn))

    def turns(self, conversation: str, limit: int = 100, after: Turn | None = None) -> list[Turn]:
        """The turns of a conversation on all its branches, in the order in which they began, those behind `after`."""
        return self._read(reading.turns_of, conversation, limit, 0 if after is None else after.number)

    def conversation(self, conversation: str) -> Conversation:
        """What is known of a conversation. NotFoundError."""
        return self._read(reading.conversation, conversation)

    def conversations(
        self, limit: int = 100, after: Conversation | None = None, *, newest_first: bool = False
    ) -> list[Conversation]:
        """Conversations in the order in which they were begun, those behind `after`."""
        return self._read(reading.conversations_of, limit, after, newest_first)

    def interrupted(self, limit: int = 100, after: Turn | None = None) -> list[Turn]:
        """Turns that were interrupted, in the order in which they began, those behind `after`."""
        return self._read(reading.interrupted, limit, after)

    # -- running -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A transaction that writes."""
        with self._engine.connect().execution_options(**{IMMEDIATE: True}) as connection, connection.begin():
            yield connection

    def _write(self, operation: Callable[Concatenate[Connection, Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        site = self._site()
        with told_plainly(self.name), self._transaction() as connection:
            return operation(connection, site, *args, **kwargs)

    def _read(self, operation: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._site()
        with told_plainly(self.name), self._engine.connect() as connection:
            return operation(connection, *args, **kwargs)

    def _parts(self, way: reading.Path, read: Callable[[Connection, Sequence[str]], list[T]]) -> Iterator[T]:
        for page in way.pages():
            yield from self._read(read, page)

    def _hold(self) -> None:
        """Takes this writer's lock, and takes it again where the connection that held it has broken."""
        if not isinstance(self._leases, SessionLeases):
            self._leases.hold(None)
            return
        with told_plainly(self.name):
            if self._session is not None and not _is_there(self._session):
                self._session = None
            if self._session is None:
                session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._leases.hold(session)
                self._session = session


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
