"""The running turns of one process, and their followers. Does not depend on HTTP, stores or models.

Each turn runs in its own task, with or without followers. Its events are added to its log. Each follower reads the log
at its own speed, and never blocks the turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import StreamEvent, TurnError, TurnStart
from contentmodel.server.log import KEPT_BYTES, EncodedEvent, Log, Reader
from contentmodel.tools.cancellation import Cancellation

logger = logging.getLogger("contentmodel.server")

INTERRUPTED = ErrorContent(
    code="interrupted", message="the turn was interrupted; the blocks that were complete are kept"
)
FAILED = ErrorContent(code="internal_error", message="the turn failed; the server's log has the reason")

BREAK_OFF = 2.0
"""Seconds that a cancelled turn has to end."""

Events = Callable[[Cancellation], AsyncGenerator[StreamEvent, None]]
"""Return the events of a turn. The events must end soon after the cancellation is set."""


class Live:
    """A turn that runs, or that ended recently. `followers` is the number of its followers."""

    def __init__(self, turn: str, conversation: str, kept_bytes: int) -> None:
        self.turn, self.conversation = turn, conversation
        self.log = Log(kept_bytes)
        self.cancellation = Cancellation()
        self.followers = 0
        self._news = asyncio.Event()
        self._ended = asyncio.Event()

    def interrupt(self) -> None:
        """Ask the turn to end."""
        self.cancellation.cancel()

    async def ended(self) -> None:
        """Wait until the turn has ended and all of its work is done."""
        await self._ended.wait()

    def has_sent_all(self, after: int) -> bool:
        """Return whether a client that has the event `after` has all events."""
        return Reader(self.log, after).is_over

    async def follow(self, after: int = 0, patience: float | None = None) -> AsyncGenerator[list[EncodedEvent], None]:
        """Yield the events after number `after` in batches, until the turn ends.

        If there is no event for `patience` seconds, yield an empty list.
        """
        reader = Reader(self.log, after)
        self.followers += 1
        try:
            while not reader.is_over:
                news, events = self._news, reader.take()
                if events or not await _happens(news, patience):
                    yield events
        finally:
            self.followers -= 1

    def publish(self, event: StreamEvent) -> None:
        """Add an event to the log, and wake the followers."""
        if not self.log.last and not isinstance(event, TurnStart):
            self.log.add(TurnStart(response=self.log.start))
        self.log.add(event)
        self._wake()

    def end(self, error: ErrorContent) -> None:
        """Mark the turn as ended. If its log has no final event, publish a TurnError with `error`."""
        if not self.log.is_over:
            self.publish(TurnError(error=error, response=self.log.start))
        self._ended.set()
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


async def _happens(news: asyncio.Event, patience: float | None) -> bool:
    try:
        async with asyncio.timeout(patience):
            await news.wait()
    except TimeoutError:
        return False
    return True


class Hub:
    """The turns that run in this process. A hub belongs to one event loop.

    `kept_bytes` is the number of bytes of a turn's latest events that are kept for slow or reconnecting clients.
    `kept_turns` is the number of ended turns that are kept.
    """

    def __init__(self, *, kept_bytes: int = KEPT_BYTES, kept_turns: int = 32) -> None:
        self._kept_bytes, self._kept_turns = kept_bytes, kept_turns
        self._running: dict[str, Live] = {}
        self._over: OrderedDict[str, Live] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped_at: float | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_stopping(self) -> bool:
        """True if `stop` was called."""
        return self._stopped_at is not None

    @property
    def running(self) -> int:
        """The number of running turns."""
        return len(self._running)

    def begin(self, turn: str, conversation: str, events: Events) -> Live:
        """Run a turn in the background. If the hub is stopping, interrupt the turn at once."""
        live = Live(turn, conversation, self._kept_bytes)
        if self.is_stopping:
            live.interrupt()
        self._running[turn] = live
        task = asyncio.get_running_loop().create_task(self._run(live, events), name=f"turn {turn}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return live

    def find(self, turn: str) -> Live | None:
        """Return a turn that runs or ended recently, or None."""
        return self._running.get(turn) or self._over.get(turn)

    def forget(self, conversation: str) -> None:
        """Forget the ended turns of a conversation."""
        for turn in [live.turn for live in self._over.values() if live.conversation == conversation]:
            del self._over[turn]

    def when_stopped(self, call: Callable[[], None]) -> None:
        """Register `call`, to be called once by the first `stop`."""
        self._listeners.append(call)

    def stop(self) -> None:
        """Interrupt every running turn, and every turn that begins later. May be called more than once."""
        for live in self._running.values():
            live.interrupt()
        if self._stopped_at is None:
            self._stopped_at = asyncio.get_running_loop().time()
            for call in self._listeners:
                call()

    async def close(self, grace: float = 10.0) -> None:
        """Stop, and wait until every turn has ended. Cancel turns that still run `grace` seconds after `stop`.

        A turn that ignores its cancellation for BREAK_OFF seconds is abandoned, and logged.
        """
        self.stop()
        remaining = (self._stopped_at or 0.0) + grace - asyncio.get_running_loop().time()
        late = await self._wait(max(remaining, 0.0))
        for task in late:
            task.cancel()
        for task in await self._wait(BREAK_OFF):
            logger.error("%s ignores its cancellation and is abandoned", task.get_name())

    async def _wait(self, seconds: float) -> set[asyncio.Task[None]]:
        """Wait at most `seconds`, and return the turns that still run."""
        if not self._tasks:
            return set()
        return (await asyncio.wait(set(self._tasks), timeout=seconds))[1]

    async def _run(self, live: Live, events: Events) -> None:
        error = INTERRUPTED
        try:
            async with aclosing(events(live.cancellation)) as stream:
                async for event in stream:
                    live.publish(event)
        except Exception:
            # Followers get a generic error. The cause may contain private data, so it is only logged.
            logger.exception("the turn %s failed", live.turn)
            error = FAILED
        finally:
            live.end(error)
            self._retire(live)

    def _retire(self, live: Live) -> None:
        del self._running[live.turn]
        self._over[live.turn] = live
        while len(self._over) > self._kept_turns:
            self._over.popitem(last=False)
