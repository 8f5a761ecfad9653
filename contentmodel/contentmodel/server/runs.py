"""A run of the tool loop as the events of a stored turn, each of them stored before it is told.

Blocks are stored in the turn, notices in the log of the conversation.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import msgspec

from contentmodel.client import InvalidRequestError, RateLimitError, ServerError, TimeoutExceeded
from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import ContentModelError
from contentmodel.events import Notice, StreamEvent, TurnComplete, TurnError, TurnStart
from contentmodel.history import AsyncTurnStore, Turn, arecord
from contentmodel.history.log_async import AsyncConversationLog, arecord_notices
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.runner import AsyncRunStream, AsyncToolRunner, RunInterrupted
from contentmodel.server.hub import FAILED, INTERRUPTED
from contentmodel.tools.cancellation import Cancellation

logger = logging.getLogger("contentmodel.server")

Prepare = Callable[[ChatRequest], ChatRequest]
"""Makes the request of a stored transcript."""
TELLING = (InvalidRequestError, RateLimitError, ServerError, TimeoutExceeded)
"""Errors whose messages are sent to clients."""
UNREMARKABLE = ("completed", "error", "cancelled")
"""Ends of a run of which nothing is to be said beside its last event."""


class TurnRun:
    """The run that makes a turn, which `store` has begun."""

    def __init__(self, store: AsyncTurnStore, turn: Turn, runner: AsyncToolRunner, prepare: Prepare) -> None:
        self._store, self._turn = store, turn
        self._runner, self._prepare = runner, prepare
        self._interruption: TurnError | None = None

    async def events(self, cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
        """The events of the turn. Whatever fails but the store itself is its last event, a TurnError."""
        async with aclosing(self._guarded(cancellation)) as run:
            recorded = arecord(run, self._store, self._turn)
            async for event in arecord_notices(recorded, AsyncConversationLog(self._store), self._turn):
                yield event
        # The store knows an interrupted turn by events that have no end. Clients are told one.
        if self._interruption is not None:
            yield self._interruption

    async def _guarded(self, cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
        last: StreamEvent | None = None
        try:
            async with aclosing(self._run(cancellation)) as run:
                async for event in run:
                    last = event
                    yield event
        except Exception as error:
            logger.warning("the run of the turn %s failed", self._turn.id, exc_info=error)
            if isinstance(last, TurnComplete | TurnError):
                return
            if last is None:
                yield TurnStart(response=ChatResponse())
            yield TurnError(error=error_of(error), response=ChatResponse())

    async def _run(self, cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
        request = await self._store.load(self._turn.conversation, upto=self._turn.previous)
        async with self._runner.stream(self._prepare(request), cancellation=cancellation) as run:
            async for event in run:
                if not isinstance(event, TurnComplete | TurnError):
                    yield event
                elif run.result.stop == "cancelled":
                    await self._interrupt(event)
                else:
                    for said in _ending(run, event):
                        yield said

    async def _interrupt(self, event: TurnComplete | TurnError) -> None:
        """The run was cancelled. What was complete until then is stored; what it cost is too."""
        response = event.response
        await self._store.end_turn(
            self._turn,
            status="interrupted",
            model=response.model,
            origin=response.origin,
            stop_reason="cancelled",
            usage=response.usage,
        )
        self._interruption = TurnError(error=INTERRUPTED, response=response, layout=event.layout)


def _ending(run: AsyncRunStream, event: StreamEvent) -> list[StreamEvent]:
    """The last event, and before it why the run is over, where that is worth a word."""
    result = run.result
    if result.stop in UNREMARKABLE:
        return [event]
    return [Notice(kind=result.stop, text=result.why), event]


def error_of(error: Exception) -> ErrorContent:
    """Return the message that a client gets about a failure.

    It is the provider's own message if the error is about the request, a limit or the provider's state. Other errors
    may name keys, addresses and databases of the application, so the client gets their code alone.
    """
    if not isinstance(error, ContentModelError):
        return FAILED
    code = getattr(error, "code", None)
    told = ErrorContent(code=code if isinstance(code, str) else type(error).__name__, message=FAILED.message)
    cause = error.__cause__ if isinstance(error, RunInterrupted) else error
    return msgspec.structs.replace(told, message=str(error)) if isinstance(cause, TELLING) else told
