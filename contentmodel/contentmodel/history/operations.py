"""The operations of a turn store, shared by the sync and the async store."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
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
    translated_errors,
    turns_of,
    turns_of_request,
)
from contentmodel.history.errors import HistoryError, NotFoundError
from contentmodel.history.leases import Leases
from contentmodel.history.migrations import migrate
from contentmodel.history.steps import Call, Change, Page, Pages, Steps, Uninterrupted, Work, operation, paged
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
    """The operations of a store over an engine, with the lock of its writer, its clock, and its process id."""

    def __init__(self, engine: E, leases: Leases, clock: Clock, mutex: threading.Lock | asyncio.Lock) -> None:
        self.name = engine.url.render_as_string(hide_password=True)
        """The URL of the database, without its password."""
        self._engine = engine
        self._leases, self._clock, self._mutex = leases, clock, mutex
        self._process = os.getpid()

    @property
    def writer(self) -> str | None:
        """The id of this store in the turns that it writes; None before the first `begin_turn`."""
        return self._leases.writer

    @operation
    def close(self) -> Steps[None]:
        """Mark the open turns of this store as interrupted, and close its connections."""
        try:
            if self.writer is not None:
                yield from self._write(writing.interrupt_own)
        finally:
            yield self._alone(self._end())

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
        """Begin a turn that this store writes. Create the conversation if it does not exist.

        The turn follows `previous` (a turn, its id, or START), by default the turn that was begun last. A turn has one
        successor; further successors must be begun with `branch=True`.

        Raise ConflictError if `previous` already has a successor or is still being written, NotFoundError if `previous`
        does not exist, and InvalidTurnError if the role or the name of the conversation is invalid.
        """
        self._site()
        yield self._alone(self._hold())
        new, site = new_turn(conversation, role, previous, branch, model, origin), self._site()
        with translated_errors(self.name):
            begun: Turn = yield Change(
                lambda connection: writing.begin_turn(connection, site, new),
                undo=lambda connection, turn: writing.withdraw(connection, site, turn),
            )
        return begun

    @operation
    def put_block(self, turn: TurnOrId, sequence: int, content: AIContent, *, replace: bool = False) -> Steps[None]:
        """Store one complete block of an open turn. The block is durable when this method returns.

        Storing the same block again changes nothing. Raise ConflictError if another block is stored under this
        `sequence` and `replace` is false, if the turn has ended, or if another store writes it.
        """
        with translated_errors():
            block = rows.block_row(sequence, content)
        yield from self._write(writing.put_block, _id(turn), block, replace=replace)

    @operation
    def describe_turn(self, turn: TurnOrId, *, model: str | None = None, origin: Origin | None = None) -> Steps[Turn]:
        """Set the model and the origin of an open turn, once they are known."""
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
        """End an open turn with the status "complete", "failed" or "interrupted". Ending it again changes nothing.

        `response` is the whole response, if the turn is one: its fields outside the blocks are stored, of the first
        choice only. `order` lists the sequence numbers of the blocks in its messages, by default all blocks in order.
        The other arguments override the values of the response.

        Raise InvalidTurnError if the status is invalid or the number of blocks differs from that of the response, and
        ConflictError if the turn has ended with another status or another store writes it.
        """
        check_status(status)
        open_turn = turn if isinstance(turn, Turn) else (yield from self._read(writing.turn, turn))
        with translated_errors():
            ending = ending_of(
                open_turn,
                model=model,
                origin=origin,
                stop_reason=stop_reason,
                usage=usage,
                error=error,
                response=response,
                order=order,
            )
        return (yield from self._write(writing.end_turn, open_turn.id, status, ending))

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
        """Add a complete turn, for example of the user. Positions and errors are those of `begin_turn`."""
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
        """Add complete messages in one transaction. Results of tools become part of the turn of their calls."""
        new = new_turn(conversation, "user", previous, branch)
        return self._write(writing.add_turns, new, turns_of(messages))

    @operation
    def save(self, conversation: str, request: ChatRequest) -> Steps[list[Turn]]:
        """Store a whole transcript as a new conversation. `load` returns an equal request.

        Raise ConflictError if the conversation exists.
        """
        return self._write(writing.save, conversation, request, turns_of_request(request))

    @operation
    def delete(self, conversation: str) -> Steps[None]:
        """Delete a conversation. Raise NotFoundError, and ConflictError if one of its turns is being written."""
        return self._write(writing.delete, conversation)

    @operation
    def delete_turn(self, turn: TurnOrId) -> Steps[int]:
        """Delete a turn and all turns that follow it, on all branches. Return their number. Errors as for `delete`."""
        return self._write(writing.delete_turn, _id(turn))

    @operation
    def recover(self) -> Steps[int]:
        """Mark the open turns of dead writers as interrupted. Return their number. `open` also does this."""
        return self._write(writing.interrupt_dead)

    # -- reading -------------------------------------------------------------------------------------------------------

    @operation
    def load(self, conversation: str, upto: TurnOrId | None = None) -> Steps[ChatRequest]:
        """Return the transcript of a conversation up to a turn, by default the turn that was begun last.

        Open and interrupted turns are included with the blocks stored so far. Raise NotFoundError if the conversation
        or the turn does not exist.
        """
        way = yield from self._read(reading.path, conversation, id_of(upto))
        parts = yield from self._parts(way, reading.stored)
        with translated_errors(self.name):
            return reading.request(way, parts)

    @paged
    def stream(self, conversation: str, upto: TurnOrId | None = None) -> Pages[StoredTurn]:
        """Yield the turns of the transcript that `load` returns. Keep at most a few hundred in memory."""
        way = yield from self._read(reading.path, conversation, id_of(upto))
        for ids in way.pages():
            yield Page((yield from self._read(reading.stored, ids)))

    @operation
    def export(self, conversation: str, upto: TurnOrId | None = None) -> Steps[dict[str, Any]]:
        """Return the transcript as rows for the adapter `turn-blocks`, with ids, times and usage. See `load`."""
        way = yield from self._read(reading.path, conversation, id_of(upto))
        parts = yield from self._parts(way, reading.wires)
        with translated_errors(self.name):
            return reading.export(way, parts)

    @operation
    def turn(self, turn: TurnOrId) -> Steps[Turn]:
        """Return the current state of a turn. Raise NotFoundError if it does not exist."""
        return self._read(writing.turn, _id(turn))

    @operation
    def blocks(self, turn: TurnOrId) -> Steps[list[Block]]:
        """Return the stored blocks of a turn, in order."""
        return self._read(reading.blocks, _id(turn))

    @operation
    def messages(self, turn: TurnOrId) -> Steps[list[ChatMessage]]:
        """Return the messages of one turn. Raise NotFoundError if it does not exist."""
        (part,) = (yield from self._read(reading.stored, [_id(turn)])) or (None,)
        if part is None:
            raise NotFoundError(f"there is no turn {_id(turn)!r}")
        return part.messages

    @operation
    def response(self, turn: TurnOrId) -> Steps[ChatResponse]:
        """Return the response that a turn was recorded from. Raise NotFoundError if the turn does not exist."""
        (row,) = (yield from self._read(reading.wires, [_id(turn)])) or (None,)
        if row is None:
            raise NotFoundError(f"there is no turn {_id(turn)!r}")
        with translated_errors(self.name):
            return rows.response_of(row)

    @operation
    def turns(self, conversation: str, limit: int = 100, after: Turn | None = None) -> Steps[list[Turn]]:
        """Return up to `limit` turns after `after`, on all branches of a conversation, in order of their beginning."""
        return self._read(reading.turns_of, conversation, limit, 0 if after is None else after.number)

    @operation
    def conversation(self, conversation: str) -> Steps[Conversation]:
        """Return the metadata of a conversation. Raise NotFoundError if it does not exist."""
        return self._read(reading.conversation, conversation)

    @operation
    def conversations(
        self, limit: int = 100, after: Conversation | None = None, *, newest_first: bool = False
    ) -> Steps[list[Conversation]]:
        """Return up to `limit` conversations after `after`, in order of their creation."""
        return self._read(reading.conversations_of, limit, after, newest_first)

    @operation
    def interrupted(self, limit: int = 100, after: Turn | None = None) -> Steps[list[Turn]]:
        """Return up to `limit` interrupted turns after `after`, in order of their beginning."""
        return self._read(reading.interrupted, limit, after)

    # -- running -------------------------------------------------------------------------------------------------------

    def _open(self) -> Steps[None]:
        """Create or migrate the tables, and mark the open turns of dead writers as interrupted."""
        try:
            with translated_errors(self.name):
                yield Change(migrate)
            yield from self._write(writing.interrupt_dead)
        except BaseException:
            yield Uninterrupted(self._end())
            raise

    def _write(
        self, change: Callable[Concatenate[Connection, Any, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Steps[T]:
        site = self._site()
        with translated_errors(self.name):
            changed: T = yield Change(lambda connection: change(connection, site, *args, **kwargs))
        return changed

    def _read(self, read: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        self._site()
        with translated_errors(self.name):
            result: T = yield Work(lambda connection: read(connection, *args, **kwargs))
        return result

    def _parts(self, way: reading.Path, read: Callable[[Connection, Sequence[str]], list[T]]) -> Steps[list[T]]:
        parts: list[T] = []
        for ids in way.pages():
            parts += yield from self._read(read, ids)
        return parts

    def _hold(self) -> Steps[None]:
        """Take the lock of this writer. Take another one if the connection that held it has broken."""
        with translated_errors(self.name):
            yield from self._leases.hold(self._engine)

    def _end(self) -> Steps[None]:
        yield from self._leases.release()
        yield Call(self._dispose)

    def _alone(self, steps: Steps[None]) -> Uninterrupted[None]:
        """Return a step that runs `steps` while no other thread or task of this store runs such a step."""
        return Uninterrupted(self._locked(steps))

    def _locked(self, steps: Steps[None]) -> Steps[None]:
        yield Call(self._mutex.acquire)
        try:
            yield from steps
        finally:
            self._mutex.release()

    def _dispose(self) -> Any:
        """Close the connections of the engine."""
        raise NotImplementedError

    def _site(self) -> Site:
        if os.getpid() != self._process:
            raise HistoryError("this store was opened in another process: open a new one in this process")
        now = self._clock()
        if now.tzinfo is None:
            raise HistoryError("the clock of this store returns times without a time zone: return aware datetimes")
        return Site(now=now.astimezone(UTC), leases=self._leases)


def _id(turn: TurnOrId) -> str:
    return turn.id if isinstance(turn, Turn) else turn
