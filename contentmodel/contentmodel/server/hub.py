"""Turns that run now, and who follows them. Knows nothing of the web, of stores and of models.

A turn runs in a task of its own, whoever listens. What it says goes into its log; followers are woken, and read from
the log at their own pace. Nobody waits for a follower.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import StreamEvent, TurnError, TurnStart
from contentmodel.server.log import KEPT, EncodedEvent, Log, Reader
from contentmodel.tools.cancellation import Cancellation

logger = logging.getLogger("contentmodel.server")

INTERRUPTED = ErrorContent(code="interrupted", message="the turn was interrupted: what was complete until then is kept")
FAILED = ErrorContent(code="internal_error", message="the turn failed; the server's log says why")

BREAK_OFF = 2.0
"""Seconds that a cancelled turn has to end."""

Events = Callable[[Cancellation], AsyncGenerator[StreamEvent, None]]
"""The events of a turn, which end soon after the cancellation says so."""


class Live:
    """A turn that runs, or has run a moment ago. `followers` counts who listens."""

    def __init__(self, turn: str, conversation: str, kept: int) -> None:
        self.turn, self.conversation = turn, conversation
        self.log = Log(kept)
        self.cancellation = Cancellation()
        self.followers = 0
        self._news = asyncio.Event()
        self._ended = asyncio.Event()

    def interrupt(self) -> None:
        """Asks the turn to end."""
        self.cancellation.cancel()

    async def ended(self) -> None:
        """Waits until the turn has ended, and nothing more is done about it."""
        await self._ended.wait()

    def has_told_all(self, after: int) -> bool:
        """Whether there is nothing to tell to who has the event of this number."""
        return Reader(self.log, after).is_over

    async def follow(self, after: int = 0, patience: float | None = None) -> AsyncGenerator[list[EncodedEvent], None]:
        """What was said after the event of this number, as it comes, to the end of the turn.

        Where nothing is said for `patience` seconds, it gives an empty list, and goes on.
        """
        reader = Reader(self.log, after)
        self.followers += 1
        try:
            while not reader.is_over:
                news, found = self._news, reader.take()
                if found or not await _happens(news, patience):
                    yield found
        finally:
            self.followers -= 1

    def publish(self, event: StreamEvent) -> None:
        """Tells an event to everybody who follows."""
        if not self.log.last and not isinstance(event, TurnStart):
            self.log.add(TurnStart(response=self.log.start))
        self.log.add(event)
        self._wake()

    def end(self, error: ErrorContent) -> None:
        """Ends a turn that has not ended by itself; everything is over now."""
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
    """The turns that run in this process. It belongs to one event loop.

    `kept` is how many bytes of a turn's latest events are kept for clients that lag or come back, `finished` how many
    turns are kept after their end.
    """

    def __init__(self, *, kept: int = KEPT, finished: int = 32) -> None:
        self._kept, self._finished = kept, finished
        self._running: dict[str, Live] = {}
        self._over: OrderedDict[str, Live] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped_at: float | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped_at is not None

    @property
    def running(self) -> int:
        """How many turns run."""
        return len(self._running)

    def begin(self, turn: str, conversation: str, events: Events) -> Live:
        """Runs a turn in the background. Where the hub is stopping, it is interrupted at once."""
        live = Live(turn, conversation, self._kept)
        if self.is_stopping:
            live.interrupt()
        self._running[turn] = live
        task = asyncio.get_running_loop().create_task(self._run(live, events), name=f"turn {turn}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return live

    def find(self, turn: str) -> Live | None:
        """A turn that runs, or has run a moment ago."""
        return self._running.get(turn) or self._over.get(turn)

    def forget(self, conversation: str) -> None:
        """Lets go of the turns of a conversation that have ended."""
        for turn in [live.turn for live in self._over.values() if live.conversation == conversation]:
            del self._over[turn]

    def when_stopped(self, call: Callable[[], None]) -> None:
        """Have `call` called once, as soon as `stop` is."""
        self._listeners.append(call)

    def stop(self) -> None:
        """Interrupt every turn that runs, and those that are still to begin. May be called more than once."""
        for live in self._running.values():
            live.interrupt()
        if self._stopped_at is None:
            self._stopped_at = asyncio.get_running_loop().time()
            for call in self._listeners:
                call()

    async def close(self, grace: float = 10.0) -> None:
        """Stop, and wait until every turn has ended. Turns that run `grace` seconds after `stop` are cancelled.

        A turn that ignores its cancellation for BREAK_OFF seconds is left behind, and logged.
        """
        self.stop()
        left = (self._stopped_at or 0.0) + grace - asyncio.get_running_loop().time()
        late = await self._wait(max(left, 0.0))
        for task in late:
            task.cancel()
        for task in await self._wait(BREAK_OFF):
            logger.error("%s ignores its cancellation, and is left behind", task.get_name())

    async def _wait(self, seconds: float) -> set[asyncio.Task[None]]:
        """Return the turns that still run after so many seconds."""
        if not self._tasks:
            return set()
        return (await asyncio.wait(set(self._tasks), timeout=seconds))[1]

    async def _run(self, live: Live, events: Events) -> None:
        error = INTERRUPTED
        try:
            async with aclosing(events(live.cancellation)) as said:
                async for event in said:
                    live.publish(event)
        except Exception:
            # Followers are told that it failed; why, is the server's own business.
            logger.exception("the turn %s failed", live.turn)
            error = FAILED
        finally:
            live.end(error)
            self._retire(live)

    def _retire(self, live: Live) -> None:
        del self._running[live.turn]
        self._over[live.turn] = live
        while len(self._over) > self._finished:
            self._over.popitem(last=False)
