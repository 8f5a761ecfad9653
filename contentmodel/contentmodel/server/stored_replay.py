"""Replay turns that do not run in this process from the store: ended turns, and turns that another process writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import (
    BlockCatchUp,
    Layout,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
)
from contentmodel.history import AsyncTurnStore, Block, Turn
from contentmodel.history.rows import usual_messages
from contentmodel.message import FinishReason
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.server.hub import INTERRUPTED
from contentmodel.server.log import EncodedEvent, encoded_event

NO_REASON = ErrorContent(code="failed", message="the turn failed; no reason is stored")


async def follow_stored(
    store: AsyncTurnStore, turn: Turn, *, poll: float, patience: float
) -> AsyncGenerator[list[EncodedEvent], None]:
    """Yield the stored blocks of a turn, and its final event. An open turn is read again every `poll` seconds.

    If nothing is new for `patience` seconds, yield an empty list. The events have the number 0: a client that
    reconnects gets everything again.
    """
    known: dict[int, Any] | None = None
    waited = 0.0
    while True:
        blocks = await _shielded(store.blocks(turn.id))
        events = events_of(turn, blocks, known)
        if events:
            waited = 0.0
            yield [encoded_event(event, 0) for event in events]
        known = {block.sequence: block.content for block in blocks}
        if not turn.is_open:
            return
        if waited >= patience:
            # The process that writes the turn may have died.
            await _shielded(store.recover())
            waited = 0.0
            yield []
        await asyncio.sleep(poll)
        waited += poll
        # Read the turn before its blocks: if it has ended, all of its blocks are stored.
        turn = await _shielded(store.turn(turn.id))


async def _shielded(reading: Any) -> Any:
    """Return the result of a store read. If the client disconnects, the read still completes."""
    return await asyncio.shield(asyncio.ensure_future(reading))


def events_of(turn: Turn, blocks: Sequence[Block], known: dict[int, Any] | None = None) -> list[StreamEvent]:
    """Return the events of a stored turn. `known` are the blocks that the client already has; None for a new client."""
    envelope = ChatResponse(model=turn.model, origin=turn.origin, usage=turn.usage)
    events: list[StreamEvent] = [TurnStart(response=envelope)] if known is None else []
    for block in blocks:
        if known is None or known.get(block.sequence) != block.content:
            events.append(BlockCatchUp(index=block.sequence, content=block.content))
    if not turn.is_open:
        events.append(_end(turn, blocks, envelope))
    return events


def _end(turn: Turn, blocks: Sequence[Block], envelope: ChatResponse) -> TurnComplete | TurnError:
    shells, layout = _laid_out(turn, blocks)
    choice = ChatChoice(messages=shells, finish_reason=_finish(turn))
    response = msgspec.structs.replace(envelope, choices=[choice])
    if turn.status == "complete":
        return TurnComplete(response=response, layout=layout)
    error = INTERRUPTED if turn.status == "interrupted" else turn.error or NO_REASON
    return TurnError(error=error, response=response, layout=layout)


def _finish(turn: Turn) -> FinishReason | None:
    if turn.stop_reason is None:
        return None
    row = {"role": turn.role, "stop_reason": turn.stop_reason, "blocks": []}
    response: ChatResponse = adapter("turn-blocks").decode_response(row)
    return response.finish_reason


def _laid_out(turn: Turn, blocks: Sequence[Block]) -> tuple[list[Any], Layout]:
    """Return the messages without contents, and the block numbers of each. Clients may also have unstored blocks."""
    if not blocks:
        return [], [[]]
    messages = usual_messages(turn.role, [block.content for block in blocks], turn.origin)
    numbers = iter(block.sequence for block in blocks)
    layout = [[[next(numbers) for _ in message.contents] for message in messages]]
    return [msgspec.structs.replace(message, contents=[]) for message in messages], layout
