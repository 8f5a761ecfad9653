"""The events of a turn in the vocabulary of `turn-blocks`: the rows that the store keeps, as they grow.

Each event is converted by itself, so a client may resume after any of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.events import (
    ArgumentsDelta,
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Notice,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
    without_contents,
)
from contentmodel.framing import write_sse
from contentmodel.history.rows import COLUMNS, rows
from contentmodel.json import JsonObject, write
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins
from contentmodel.server.log import EncodedEvent
from contentmodel.server.sse import HEARTBEAT, name_of, numbered

DELTAS: dict[type[BlockDelta], str] = {
    TextDelta: "text_delta",
    ReasoningDelta: "thinking_delta",
    ArgumentsDelta: "input_delta",
}
"""The deltas that have a text. The end of a block has what other deltas add: signatures, citations, media."""


def row_frames(batch: Iterable[EncodedEvent]) -> bytes:
    """Encode events as rows. An empty batch, or one whose events have no row, becomes a heartbeat."""
    rows_of_batch = ((encoded, row_event(encoded.event)) for encoded in batch)
    return b"".join(_frame(encoded, row) for encoded, row in rows_of_batch if row is not None) or HEARTBEAT


def _frame(encoded: EncodedEvent, row: JsonObject) -> bytes:
    return numbered(encoded) + write_sse(write({"type": name_of(encoded.event), **row}), name_of(encoded.event))


def row_event(event: StreamEvent) -> JsonObject | None:
    """Return the data of an event; None if the vocabulary has no such event."""
    if isinstance(event, BlockStart | BlockStop | BlockCatchUp):
        ended = {} if isinstance(event, BlockStart) or event.is_complete else {"is_complete": False}
        choice = {"choice": event.choice} if not isinstance(event, BlockStop) and event.choice else {}
        return {"block": rows().encode_block(event.content, event.index), **choice, **ended}
    if isinstance(event, BlockDelta):
        name = DELTAS.get(type(event))
        if name is None or (isinstance(event, ArgumentsDelta) and event.path is not None):
            return None
        text: Any = event
        return {"type": name, "sequence": event.index, "text": text.text}
    if isinstance(event, TurnStart | TurnComplete):
        return {"turn": _turn(event.response)}
    if isinstance(event, TurnError):
        return {"turn": _turn(msgspec.structs.replace(event.response, error=event.error))}
    if isinstance(event, UsageDelta | Notice):
        return {key: value for key, value in to_builtins(event).items() if key != "type"}
    return None


def _turn(response: ChatResponse) -> JsonObject:
    """Return the columns of a turn that are known."""
    row = rows().encode_response(without_contents(response)).payload
    return {key: row[key] for key in COLUMNS if key in row}
