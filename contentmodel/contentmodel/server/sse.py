"""Encode and decode the events of a turn as server-sent events."""

from __future__ import annotations

from collections.abc import Iterable

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
from contentmodel.framing import SseParser, write_sse
from contentmodel.serialize import VERSION, loads
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
"""The SSE name of each event type. All deltas share one name; the `type` of their data tells them apart."""

HEARTBEAT = b": still here\n"
"""A comment is one line: some clients read an empty line as an empty event."""


def name_of(event: StreamEvent) -> str:
    """Return the SSE name of an event."""
    return next(name for kind, name in NAMES.items() if isinstance(event, kind))


def numbered(encoded: EncodedEvent) -> bytes:
    """Return the line with the number of an event, if it has one."""
    return b"" if encoded.id is None else b"id: %d\n" % encoded.id


def frame(encoded: EncodedEvent) -> bytes:
    """Encode one event."""
    return numbered(encoded) + write_sse(encoded.data, name_of(encoded.event))


def frames(batch: Iterable[EncodedEvent]) -> bytes:
    """Encode events. An empty batch becomes a heartbeat."""
    return b"".join(map(frame, batch)) or HEARTBEAT


class EventReader:
    """Decode the output of `frames`, fed in chunks of any size.

    `last_event_id` is the number of the last complete event. Send it as `Last-Event-ID` to resume.
    """

    def __init__(self) -> None:
        self._parser = SseParser()

    @property
    def last_event_id(self) -> str | None:
        return self._parser.last_event_id

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Return the events that `data` completes. Raise DecodeError if one is invalid."""
        return [_event(event_data) for _, event_data in self._parser.feed(data)]


def _event(data: bytes) -> StreamEvent:
    return loads(b'{"contentmodel":%d,"kind":"event","value":%b}' % (VERSION, data), StreamEvent)
