"""Events of a turn as server-sent events, both ways: their names, their numbers, their frames."""

from __future__ import annotations

from collections.abc import Iterable

from contentmodel.engine.streams.framing import SseParser, write_sse
from contentmodel.events import (
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Notice,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
    WireEvent,
)
from contentmodel.serialize import loads
from contentmodel.server.log import EncodedEvent

NAMES: dict[type[StreamEvent], str] = {
    TurnStart: "turn_start",
    BlockStart: "block_start",
    BlockDelta: "block_delta",
    BlockStop: "block_stop",
    BlockCatchUp: "block_catchup",
    UsageDelta: "usage",
    Notice: "notice",
    WireEvent: "wire",
    TurnComplete: "turn_complete",
    TurnError: "turn_error",
}
"""What an event is called; the deltas have one name, and tell themselves apart by the `type` of their data."""

HEARTBEAT = b": still here\n\n"


def name_of(event: StreamEvent) -> str:
    """The name of an event."""
    return next(name for kind, name in NAMES.items() if isinstance(event, kind))


def frame(told: EncodedEvent) -> bytes:
    """One event as it is sent."""
    number = b"" if told.id is None else b"id: %d\n" % told.id
    return number + write_sse(told.data, name_of(told.event))


def frames(batch: Iterable[EncodedEvent]) -> bytes:
    """Events as they are sent; a heartbeat where there are none."""
    return b"".join(map(frame, batch)) or HEARTBEAT


class EventReader:
    """Reads what `frames` wrote, wherever the bytes are cut.

    `last_event_id` is what to send as `Last-Event-ID` to go on: the number of the last event that was read whole.
    """

    def __init__(self) -> None:
        self._parser = SseParser()

    @property
    def last_event_id(self) -> str | None:
        return self._parser.last_event_id

    def feed(self, data: bytes) -> list[StreamEvent]:
        """The events that these bytes complete. DecodeError where one is none."""
        return [_event(said) for _, said in self._parser.feed(data)]


def _event(data: bytes) -> StreamEvent:
    return loads(b'{"contentmodel":1,"kind":"event","value":%b}' % data, StreamEvent)
