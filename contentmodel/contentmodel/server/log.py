"""What a turn has said so far, for clients that come, go, lag and come again. Pure: no tasks, no sockets, no clocks.

A log keeps the last events of a turn, as many as fit, and the fold of all of them. A reader is one client's place in
it: it reads on where it stopped as long as the events are there, and is caught up with whole blocks where they are
gone. So a client costs the turn nothing but a number, however slow it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel.engine.json import write
from contentmodel.errors import StreamError
from contentmodel.events import (
    BlockCatchUp,
    BlockStart,
    Fold,
    Notice,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
)
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins

KEPT = 256_000
"""Bytes of events that a log keeps, unless told otherwise."""
CHUNK = 32_000
"""Bytes of events that a reader is given at once, or one event where it is longer."""


class EncodedEvent(msgspec.Struct, frozen=True):
    """An event as a client is told it: `data` is its JSON.

    `id` is its number in the turn, from 1. None is one that has no number: the client has what the last number says
    only when all of what follows has come. 0 says that no number counts any more.
    """

    id: int | None
    event: StreamEvent
    data: bytes


def told(event: StreamEvent, number: int | None = None) -> EncodedEvent:
    """An event, to be told. EncodeError where JSON cannot say it."""
    return EncodedEvent(number, event, write(to_builtins(event)))


class Log:
    """The events of one turn. `last` is the number of the latest one, 0 where there is none."""

    def __init__(self, kept: int = KEPT) -> None:
        self.last = 0
        self._limit = kept
        self._kept: list[EncodedEvent] = []
        self._size = 0
        self._fold = Fold()
        self._choices: dict[int, int] = {}
        self._start = ChatResponse()
        self._notices: list[tuple[int, Notice]] = []
        self._end: TurnComplete | TurnError | None = None

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended."""
        return self._end is not None

    @property
    def size(self) -> int:
        """The bytes of the events that are kept."""
        return self._size

    @property
    def start(self) -> ChatResponse:
        """What is known of the answer beside its blocks."""
        return self._start

    def add(self, event: StreamEvent) -> None:
        """The turn goes on. StreamError where the event is about a block that has not started, or the turn is over."""
        if self.is_over:
            raise StreamError(f"{type(event).__name__} after the end of the turn")
        new = told(event, self.last + 1)
        self._fold.feed(event)
        self._remember(event)
        self.last += 1
        self._kept.append(new)
        self._size += len(new.data)
        self._trim()

    def _remember(self, event: StreamEvent) -> None:
        """What whoever is caught up is told of the event."""
        if isinstance(event, TurnStart):
            self._start = event.response
        elif isinstance(event, UsageDelta):
            self._start = msgspec.structs.replace(self._start, usage=event.usage)
        elif isinstance(event, BlockStart | BlockCatchUp):
            self._choices[event.index] = event.choice
        elif isinstance(event, Notice):
            self._notices.append((self.last + 1, event))
        elif isinstance(event, TurnComplete | TurnError):
            self._end = event

    def _trim(self) -> None:
        gone = 0
        while self._size > self._limit:
            self._size -= len(self._kept[gone].data)
            gone += 1
        del self._kept[:gone]

    def since(self, number: int, size: int = CHUNK) -> list[EncodedEvent] | None:
        """The next events after the one of this number; None where they are gone, or never were."""
        place = number - (self.last - len(self._kept))
        if place < 0 or number > self.last:
            return None
        end = place
        while end < len(self._kept) and (size > 0 or end == place):
            size -= len(self._kept[end].data)
            end += 1
        return self._kept[place:end]

    def state(self) -> dict[int, Any]:
        """The blocks as far as they are known, by their numbers."""
        return {index: self._fold.content(index) for index in sorted(self._choices)}

    def catch_up(self, number: int, known: dict[int, Any]) -> list[StreamEvent]:
        """What brings a client up to date that has seen the events up to `number`.

        `known` are the blocks that it was told whole, as they were then: those that have not changed are left out.
        """
        state = self.state()
        events: list[StreamEvent] = [TurnStart(response=self._start)]
        for index, content in state.items():
            if known.get(index) is not content:
                events.append(BlockCatchUp(index=index, content=content, choice=self._choices[index]))
        events += [notice for place, notice in self._notices if place > number]
        return [*events, self._end] if self._end is not None else events


class Reader:
    """One client's place in a log; `after` is the number of the last event that it has.

    A client that begins when the turn is over is told what it came to; every other one all that was said.
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
        """Whether the client has been told everything, and nothing more will come."""
        return self._log.is_over and not self._is_lost and self._next is None and self._place == self._log.last

    def take(self, size: int = CHUNK) -> list[EncodedEvent]:
        """What the client is told next, some `size` bytes of it; nothing where it has all there is."""
        if self._next is None:
            found = None if self._is_lost else self._log.since(self._place, size)
            if found is not None:
                self._place += len(found)
                return found
            self._catch_up()
        return self._pieces(size)

    def _catch_up(self) -> None:
        # All of one moment, however long it takes to be sent: what comes after it goes on from there.
        events = self._log.catch_up(0 if self._is_lost else self._place, self._known)
        self._known = self._log.state()
        self._place, self._is_lost = self._log.last, False
        self._rest = iter(events)
        self._next = next(self._rest, None)

    def _pieces(self, size: int) -> list[EncodedEvent]:
        pieces: list[EncodedEvent] = []
        while self._next is not None and (size > 0 or not pieces):
            event, self._next = self._next, next(self._rest, None)
            # Only who has all of it is up to date: the last piece alone has the number.
            pieces.append(told(event, self._place if self._next is None else None))
            size -= len(pieces[-1].data)
        return pieces
