"""Run the tool loop for a stored turn, and store each event before it is published.

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
"""Build the request from a stored transcript."""
TELLING = (InvalidRequestError, RateLimitError, ServerError, TimeoutExceeded)
"""Errors whose messages are sent to clients."""
UNREMARKABLE = ("completed", "error", "cancelled")
"""Stop reasons of a run that need no notice."""


class TurnRun:
    """A run that writes the turn `turn`, which was begun in `store`."""

    def __init__(self, store: AsyncTurnStore, turn: Turn, runner: AsyncToolRunner, prepare: Prepare) -> None:
        self._store, self._turn = store, turn
        self._runner, self._prepare = runner, prepare
        self._interruption: TurnError | None = None

    async def events(self, cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the turn. If anything but the store fails, the last event is a TurnError."""
        log = AsyncConversationLog(self._store)
        async with (
            aclosing(self._guarded(cancellation)) as run,
            aclosing(arecord(run, self._store, self._turn)) as recorded,
            aclosing(arecord_notices(recorded, log, self._turn)) as noticed,
        ):
            async for event in noticed:
                yield event
        # The store marks the turn as interrupted, and has no final event. Clients get a TurnError.
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
                    for last_event in _ending(run, event):
                        yield last_event

    async def _interrupt(self, event: TurnComplete | TurnError) -> None:
        """End the stored turn as interrupted, with its usage. Blocks that were complete are already stored."""
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
    """Return the last event. If the stop reason is unusual, put a notice about it first."""
    result = run.result
    if result.stop in UNREMARKABLE:
        return [event]
    return [Notice(kind=result.stop, text=result.why), event]


def error_of(error: Exception) -> ErrorContent:
    """Return the error that is sent to a client.

    It has the provider's message if the error is about the request, a limit or the provider's state. Other messages
    may contain keys, addresses or database names of the application, so only their code is sent.
    """
    if not isinstance(error, ContentModelError):
        return FAILED
    code = getattr(error, "code", None)
    client_error = ErrorContent(code=code if isinstance(code, str) else type(error).__name__, message=FAILED.message)
    cause = error.__cause__ if isinstance(error, RunInterrupted) else error
    return msgspec.structs.replace(client_error, message=str(error)) if isinstance(cause, TELLING) else client_error
