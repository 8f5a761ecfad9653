"""The events of a turn, for clients that connect late, are slow, or reconnect. Pure: no tasks, no sockets, no clocks.

A log keeps the last events of a turn up to a size limit, and the fold of all events. A reader is one client's position
in the log. It reads the next events while the log still has them, and gets whole blocks if they were dropped. So a slow
client costs the turn only a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel.errors import StreamError
from contentmodel.events import (
    BlockCatchUp,
    BlockStart,
    BlockStop,
    Fold,
    Notice,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
)
from contentmodel.json import write
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins

KEPT_BYTES = 256_000
"""Default number of bytes of events that a log keeps."""
CHUNK = 32_000
"""Bytes of events that a reader returns at once. A single longer event is returned alone."""


class EncodedEvent(msgspec.Struct, frozen=True):
    """An event with its JSON, `data`.

    `id` is the event's number in the turn, from 1. If it is None, the event has no number: it is part of a catch-up,
    and the client is up to date only after the last part. 0 means that earlier numbers are no longer valid.
    """

    id: int | None
    event: StreamEvent
    data: bytes


def encoded_event(event: StreamEvent, number: int | None = None) -> EncodedEvent:
    """Encode an event. Raise EncodeError if it cannot be written as JSON."""
    return EncodedEvent(number, event, write(to_builtins(event)))


class Log:
    """The events of one turn. `last` is the number of the latest event, 0 if there is none."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self.last = 0
        self._limit = kept_bytes
        self._kept: list[EncodedEvent] = []
        self._size = 0
        self._fold = Fold()
        self._choices: dict[int, int] = {}
        self._growing: set[int] = set()
        self._start = ChatResponse()
        self._notices: list[tuple[int, Notice]] = []
        self._end: TurnComplete | TurnError | None = None

    @property
    def is_over(self) -> bool:
        """True if the turn has ended."""
        return self._end is not None

    @property
    def size(self) -> int:
        """The bytes of the events that are kept."""
        return self._size

    @property
    def start(self) -> ChatResponse:
        """The response as known so far, without its blocks."""
        return self._start

    def add(self, event: StreamEvent) -> None:
        """Add an event. Raise StreamError if the turn is over, or if the event's block has not started."""
        if self.is_over:
            raise StreamError(f"{type(event).__name__} after the end of the turn")
        new = encoded_event(event, self.last + 1)
        self._fold.feed(event)
        self._remember(event)
        self.last += 1
        self._kept.append(new)
        self._size += len(new.data)
        self._trim()

    def _remember(self, event: StreamEvent) -> None:
        """Keep the parts of the event that a catch-up needs."""
        if isinstance(event, TurnStart):
            self._start = event.response
        elif isinstance(event, UsageDelta):
            self._start = msgspec.structs.replace(self._start, usage=event.usage)
        elif isinstance(event, BlockStart | BlockCatchUp):
            self._choices[event.index] = event.choice
            is_growing = isinstance(event, BlockStart) or not event.is_complete
            (self._growing.add if is_growing else self._growing.discard)(event.index)
        elif isinstance(event, BlockStop):
            self._growing.discard(event.index)
        elif isinstance(event, Notice):
            self._notices.append((self.last + 1, event))
        elif isinstance(event, TurnComplete | TurnError):
            self._end = event

    def _trim(self) -> None:
        dropped = 0
        while self._size > self._limit:
            self._size -= len(self._kept[dropped].data)
            dropped += 1
        del self._kept[:dropped]

    def since(self, number: int, size: int = CHUNK) -> list[EncodedEvent] | None:
        """Return the next events after `number`, about `size` bytes. None if they were dropped or never existed."""
        place = number - (self.last - len(self._kept))
        if place < 0 or number > self.last:
            return None
        end = place
        while end < len(self._kept) and (size > 0 or end == place):
            size -= len(self._kept[end].data)
            end += 1
        return self._kept[place:end]

    def state(self) -> dict[int, Any]:
        """Return the current content of each block, by block number."""
        return {index: self._fold.content(index) for index in sorted(self._choices)}

    def catch_up(self, number: int, known: dict[int, Any]) -> list[StreamEvent]:
        """Return the events that update a client which has the events up to `number`.

        `known` has the blocks that the client has already received whole. Unchanged blocks are left out.
        """
        state = self.state()
        events: list[StreamEvent] = [TurnStart(response=self._start)]
        for index, content in state.items():
            if known.get(index) is not content:
                is_complete = index not in self._growing
                catch_up = BlockCatchUp(
                    index=index, content=content, choice=self._choices[index], is_complete=is_complete
                )
                events.append(catch_up)
        events += [notice for place, notice in self._notices if place > number]
        return [*events, self._end] if self._end is not None else events


class Reader:
    """One client's position in a log; `after` is the number of the last event that it has.

    A client that joins after the end gets the final state. Other clients get every event, or whole blocks if events
    were dropped.
    """

    def __init__(self, log: Log, after: int = 0) -> None:
        self._log = log
        self._place = after
        self._is_lost = after > log.last or (after == 0 and log.is_over)
        self._rest: Iterator[StreamEvent] = iter(())
        self._next: StreamEvent | None = None
        self._known: dict[int, Any] = {}

    @property
    def is_over(self) -> bool:
        """True if the turn has ended and the client has all of its events."""
        return self._log.is_over and not self._is_lost and self._next is None and self._place == self._log.last

    def take(self, size: int = CHUNK) -> list[EncodedEvent]:
        """Return the next events, about `size` bytes. The list is empty if the client is up to date."""
        if self._next is None:
            events = None if self._is_lost else self._log.since(self._place, size)
            if events is not None:
                self._place += len(events)
                return events
            self._catch_up()
        return self._pieces(size)

    def _catch_up(self) -> None:
        # A snapshot of one moment: it may be sent slowly, and the events after `log.last` follow it.
        events = self._log.catch_up(0 if self._is_lost else self._place, self._known)
        self._known = self._log.state()
        self._place, self._is_lost = self._log.last, False
        self._rest = iter(events)
        self._next = next(self._rest, None)

    def _pieces(self, size: int) -> list[EncodedEvent]:
        pieces: list[EncodedEvent] = []
        while self._next is not None and (size > 0 or not pieces):
            event, self._next = self._next, next(self._rest, None)
            # Only the last piece has a number: a client that disconnects earlier must get the whole catch-up again.
            pieces.append(encoded_event(event, self._place if self._next is None else None))
            size -= len(pieces[-1].data)
        return pieces
