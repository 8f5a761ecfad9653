"""Recording: a turn's events pass through, and each block is stored when it is complete, before anybody sees its end.

Whoever reads the events may stop at any time: what was complete until then is stored, and the turn is interrupted.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import (
    CANCELLED,
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Fold,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
    with_contents,
)
from contentmodel.history.asynchronous import AsyncTurnStore
from contentmodel.history.errors import HistoryError
from contentmodel.history.rows import usual_messages
from contentmodel.history.store import TurnStore
from contentmodel.history.turns import Turn
from contentmodel.response import ChatChoice


def record(events: Iterable[StreamEvent], store: TurnStore, turn: Turn) -> Iterator[StreamEvent]:
    """The events of `turn`, which `store` has begun, as they come; the turn has ended when they have.

    TurnComplete ends it as complete, TurnError and an exception of the source as failed; a TurnError that says that
    somebody cancelled the turn, events that stop without either, and a reader who closes this iterator or drops it, as
    interrupted. Raises what the source and the store
    raise: an event that could not be stored is not passed on.
    """
    taking = Taking(turn)
    try:
        for event in events:
            for action in taking.take(event):
                getattr(store, action.method)(turn, *action.args, **action.said)
            taking.is_over |= isinstance(event, TurnComplete | TurnError)
            yield event
    except BaseException as error:
        # The error that ended the turn is the one to raise, also where its end cannot be stored.
        with suppress(HistoryError):
            if not taking.is_over:
                store.end_turn(turn, **taking.ending(error))
        raise
    if not taking.is_over:
        store.end_turn(turn, **taking.ending(None))


async def arecord(events: AsyncIterable[StreamEvent], store: AsyncTurnStore, turn: Turn) -> AsyncIterator[StreamEvent]:
    """`record` over an async iterator, into an async store."""
    taking = Taking(turn)
    try:
        async for event in events:
            for action in taking.take(event):
                await getattr(store, action.method)(turn, *action.args, **action.said)
            taking.is_over |= isinstance(event, TurnComplete | TurnError)
            yield event
    except BaseException as error:
        with suppress(HistoryError):
            if not taking.is_over:
                await store.end_turn(turn, **taking.ending(error))
        raise
    if not taking.is_over:
        await store.end_turn(turn, **taking.ending(None))


class Action(msgspec.Struct, frozen=True):
    """A call of a store's method: what it is to be told of the turn."""

    method: str
    args: tuple[Any, ...] = ()
    said: dict[str, Any] = {}


class Taking:
    """What is to be stored of each event. Knows which blocks are stored, and what they said then."""

    def __init__(self, turn: Turn) -> None:
        self.is_over = False
        self._role = turn.role
        self._fold = Fold()
        self._started: set[int] = set()
        self._stored: dict[int, Any] = {}

    def take(self, event: StreamEvent) -> list[Action]:
        """What to do before the event is passed on."""
        self._fold.feed(event)
        if isinstance(event, TurnStart):
            return self._describe(event)
        if isinstance(event, BlockStart | BlockCatchUp):
            self._started.add(event.index)
        if isinstance(event, BlockCatchUp) or (isinstance(event, BlockStop) and event.is_complete):
            return self._put(event.index)
        if isinstance(event, BlockDelta) and event.index in self._stored:
            # A citation may come after its block has stopped.
            return self._put(event.index)
        if isinstance(event, TurnComplete):
            # With the turn, the blocks that nobody stopped are complete.
            left = [action for index in sorted(self._started - self._stored.keys()) for action in self._put(index)]
            return [*left, Action("end_turn", (), {"status": "complete", **self._answer(event)})]
        if isinstance(event, TurnError):
            status = "interrupted" if event.error.code == CANCELLED else "failed"
            return [Action("end_turn", (), {"status": status, "error": event.error, **self._answer(event)})]
        return []

    def ending(self, error: BaseException | None) -> dict[str, Any]:
        """What is said of a turn that did not come to its end.

        It has failed where its source raised an error, and is interrupted where it was cancelled or nobody listened.
        """
        if not isinstance(error, Exception):
            return {"status": "interrupted"}
        said = ErrorContent(message=str(error) or type(error).__name__, code=type(error).__name__)
        return {"status": "failed", "error": said}

    def _describe(self, event: TurnStart) -> list[Action]:
        said = {"model": event.response.model, "origin": event.response.origin}
        return [Action("describe_turn", (), said)] if any(said.values()) else []

    def _put(self, index: int) -> list[Action]:
        content = self._fold.content(index)
        if index in self._stored and self._stored[index] == content:
            return []
        replace = index in self._stored
        self._stored[index] = content
        return [Action("put_block", (index, content), {"replace": replace})]

    def _answer(self, event: TurnComplete | TurnError) -> dict[str, Any]:
        """The answer as far as it is stored, of its first choice. Where nobody laid it out, the usual way."""
        choices = event.response.choices[:1]
        layout = [
            [index for index in message if index in self._stored] for choice in event.layout[:1] for message in choice
        ]
        order = [index for message in layout for index in message]
        if order:
            response = msgspec.structs.replace(event.response, choices=choices)
            return {"response": with_contents(response, self._stored, [layout]), "order": order}
        order = sorted(self._stored)
        if order or choices:
            contents = [self._stored[index] for index in order]
            messages = usual_messages(self._role, contents, event.response.origin)
            choices = [msgspec.structs.replace(choices[0] if choices else ChatChoice(), messages=messages)]
        return {"response": msgspec.structs.replace(event.response, choices=choices), "order": order}
