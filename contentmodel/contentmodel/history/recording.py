"""Recording: pass the events of a turn through, and store each complete block before its last event is passed on.

The reader of the events may stop at any time. The blocks that were complete by then are stored, and the turn is
interrupted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
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
    """Yield the events of `turn` as they arrive, and store its blocks. `turn` must have been begun by `store`.

    TurnComplete ends the turn as complete. TurnError, or an exception of the source, ends it as failed. A TurnError
    with the code "cancelled", events that stop early, and a reader that closes or drops this iterator end it as
    interrupted. Raise the errors of the source and of the store: an event that cannot be stored is not passed on.
    """
    taking = Taking(turn)
    try:
        for event in events:
            for action in taking.take(event):
                getattr(store, action.method)(turn, *action.args, **action.kwargs)
            taking.is_over |= isinstance(event, TurnComplete | TurnError)
            yield event
    except BaseException as error:
        # Raise the error that ended the turn, even if the end cannot be stored.
        with suppress(HistoryError):
            if not taking.is_over:
                store.end_turn(turn, **taking.ending(error))
        raise
    if not taking.is_over:
        store.end_turn(turn, **taking.ending(None))


async def arecord(
    events: AsyncIterable[StreamEvent], store: AsyncTurnStore, turn: Turn
) -> AsyncGenerator[StreamEvent, None]:
    """Do the same as `record`, for an async iterator and an async store."""
    taking = Taking(turn)
    try:
        async for event in events:
            for action in taking.take(event):
                await getattr(store, action.method)(turn, *action.args, **action.kwargs)
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
    """A call of a method of the store for the turn."""

    method: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}


class Taking:
    """Return the store actions for each event. Track the stored blocks and their contents."""

    def __init__(self, turn: Turn) -> None:
        self.is_over = False
        self._role = turn.role
        self._fold = Fold()
        self._unstored: set[int] = set()
        self._stored: dict[int, Any] = {}
        self._held: set[int] = set()
        """The complete results whose calls are not complete. They are stored after their calls, or never."""

    def take(self, event: StreamEvent) -> list[Action]:
        """Return the actions to run before the event is passed on."""
        self._fold.feed(event)
        if isinstance(event, TurnStart):
            return self._describe(event)
        if isinstance(event, BlockStart | BlockCatchUp) and event.index not in self._stored:
            self._unstored.add(event.index)
        if isinstance(event, BlockCatchUp | BlockStop) and event.is_complete:
            return self._put(event.index)
        if isinstance(event, BlockDelta) and event.index in self._stored:
            # A citation may follow the BlockStop of its block.
            return self._put(event.index)
        if isinstance(event, TurnComplete):
            # The end of the turn also completes blocks without a BlockStop.
            unstored = [action for index in sorted(self._unstored) for action in self._put(index)]
            return [*unstored, Action("end_turn", (), {"status": "complete", **self._answer(event)})]
        if isinstance(event, TurnError):
            status = "interrupted" if event.error.code == CANCELLED else "failed"
            return [Action("end_turn", (), {"status": status, "error": event.error, **self._answer(event)})]
        return []

    def ending(self, error: BaseException | None) -> dict[str, Any]:
        """Return the arguments of `end_turn` for a turn without a last event.

        The status is "failed" if the source raised an Exception, and "interrupted" if the turn was cancelled or
        abandoned.
        """
        if not isinstance(error, Exception):
            return {"status": "interrupted"}
        failure = ErrorContent(message=str(error) or type(error).__name__, code=type(error).__name__)
        return {"status": "failed", "error": failure}

    def _describe(self, event: TurnStart) -> list[Action]:
        fields = {"model": event.response.model, "origin": event.response.origin}
        return [Action("describe_turn", (), fields)] if any(fields.values()) else []

    def _put(self, index: int) -> list[Action]:
        content = self._fold.content(index)
        if index in self._stored and self._stored[index] == content:
            return []
        if isinstance(content, ToolResultContent) and self._is_call_unstored(content):
            self._held.add(index)
            return []
        replace = index in self._stored
        self._stored[index] = content
        self._held.discard(index)
        self._unstored.discard(index)
        actions = [Action("put_block", (index, content), {"replace": replace})]
        if isinstance(content, ToolCallContent):
            actions += [action for result_index in sorted(self._held) for action in self._put(result_index)]
        return actions

    def _is_call_unstored(self, result: ToolResultContent) -> bool:
        """Return whether the call of a result began in this turn and is not complete: its result is of no use alone."""
        contents = map(self._fold.content, self._unstored)
        return any(isinstance(call, ToolCallContent) and call.call_id == result.call_id for call in contents)

    def _answer(self, event: TurnComplete | TurnError) -> dict[str, Any]:
        """Return the stored part of the first choice of the response. If there is no layout, use the usual messages."""
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
