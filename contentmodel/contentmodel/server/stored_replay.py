"""Turns that do not run here, told from the store: what they came to, or what another process has stored so far."""

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
from contentmodel.response import ChatChoice, ChatResponse, FinishReason
from contentmodel.server.hub import INTERRUPTED
from contentmodel.server.log import EncodedEvent, told

UNSAID = ErrorContent(code="failed", message="the turn failed, and nothing is stored of why")


async def follow_stored(
    store: AsyncTurnStore, turn: Turn, *, poll: float, patience: float
) -> AsyncGenerator[list[EncodedEvent], None]:
    """The stored blocks of a turn, and its end; a turn that another process writes is looked at every `poll` seconds.

    Where nothing is new for `patience` seconds, it gives an empty list. The events have no numbers of their turn: who
    comes back is told everything again.
    """
    known: dict[int, Any] | None = None
    waited = 0.0
    while True:
        blocks = await _shielded(store.blocks(turn.id))
        events = events_of(turn, blocks, known)
        if events:
            waited = 0.0
            yield [told(event, 0) for event in events]
        known = {block.sequence: block.content for block in blocks}
        if not turn.is_open:
            return
        if waited >= patience:
            # Whoever wrote it may have died meanwhile.
            await _shielded(store.recover())
            waited = 0.0
            yield []
        await asyncio.sleep(poll)
        waited += poll
        # The turn first, then its blocks: when it has ended, all of them are there.
        turn = await _shielded(store.turn(turn.id))


async def _shielded(reading: Any) -> Any:
    """What a store tells; a client that leaves meanwhile breaks off nothing inside the database."""
    return await asyncio.shield(asyncio.ensure_future(reading))


def events_of(turn: Turn, blocks: Sequence[Block], known: dict[int, Any] | None = None) -> list[StreamEvent]:
    """What a client is told of a stored turn. `known` are the blocks that it was told before."""
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
    error = INTERRUPTED if turn.status == "interrupted" else turn.error or UNSAID
    return TurnError(error=error, response=response, layout=layout)


def _finish(turn: Turn) -> FinishReason | None:
    if turn.stop_reason is None:
        return None
    row = {"role": turn.role, "stop_reason": turn.stop_reason, "blocks": []}
    response: ChatResponse = adapter("turn-blocks").decode_response(row)
    return response.finish_reason


def _laid_out(turn: Turn, blocks: Sequence[Block]) -> tuple[list[Any], Layout]:
    """The messages without contents, and which blocks stand in each. A client may have blocks that were not stored."""
    if not blocks:
        return [], [[]]
    messages = usual_messages(turn.role, [block.content for block in blocks], turn.origin)
    numbers = iter(block.sequence for block in blocks)
    layout = [[[next(numbers) for _ in message.contents] for message in messages]]
    # Only what the turn's own side has said comes from where the turn does: results are the application's.
    origins = [message.origin if message.role == turn.role else None for message in messages]
    shells = [
        msgspec.structs.replace(message, contents=[], origin=origin)
        for message, origin in zip(messages, origins, strict=True)
    ]
    return shells, layout
