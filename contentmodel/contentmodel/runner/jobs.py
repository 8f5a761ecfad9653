"""Tool runs (jobs), and batches of them with their order and time limits. Does no waiting itself."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import TIMEOUT_MAX
from typing import Any

import msgspec

from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.json import write
from contentmodel.tools.definition import Tool
from contentmodel.tools.outcome import ToolOutcome, contents_of
from contentmodel.tools.signature import ToolContext

Clock = Callable[[], float]
Outcome = ToolOutcome | BaseException
OnOutcome = Callable[[Outcome], None]


OUT_OF_TIME = "the run reached its time limit"
GIVEN_UP = "the run was cancelled before the tool had a result"


class Cancelled(Exception):
    """The run was cancelled before the tool returned a result."""


class OutOfTime(TimeoutError):
    """The time of the whole run was up before the tool returned a result."""


@dataclass(frozen=True, eq=False)
class Job:
    """A tool to be run: its arguments are valid, and no approval is needed.

    `timeout` is in seconds, None means no limit. `watched` is entered in the thread or task that runs the tool. If the
    job is given up, `given_up` contains the reason.
    """

    tool: Tool
    call: FunctionCallContent
    args: Any
    context: ToolContext
    timeout: float | None = None
    watched: Callable[[], AbstractContextManager[OnOutcome]] = field(default=lambda: nullcontext(lambda outcome: None))
    given_up: list[Exception] = field(default_factory=list)

    def work(self) -> Outcome:
        """Run the tool in this thread; an async tool runs in a new event loop. Errors are returned, never raised."""
        try:
            with self.watched() as report:
                outcome = self._worked()
                report(self.given_up[0] if self.given_up else outcome)
                return outcome
        except BaseException as error:
            return error

    async def perform(self) -> Outcome:
        """Run an async tool in this task. Errors are returned, never raised, even if the task is cancelled."""
        try:
            with self.watched() as report:
                outcome = await self._performed()
                report(self.given_up[0] if self.given_up else outcome)
                return outcome
        except BaseException as error:
            return error

    def _worked(self) -> Outcome:
        # Keep every exception with the call: a SystemExit of a tool must not end the application.
        try:
            value = self.tool.invoke_sync(self.args, self.context)
            if inspect.isawaitable(value):
                value = asyncio.run(self._awaited(value))
            return contents_of(value)
        except BaseException as error:
            return error

    async def _performed(self) -> Outcome:
        try:
            return contents_of(await self.tool.invoke(self.args, self.context))
        except BaseException as error:
            return error

    async def _awaited(self, value: Any) -> Any:
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(value)
        with self.context.cancellation.watched(lambda: on_loop(loop, task.cancel)):
            return await task


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *args: Any) -> None:
    """Call a function on an event loop from any thread. Do nothing if the loop is closed."""
    try:
        loop.call_soon_threadsafe(function, *args)
    except RuntimeError:
        if not loop.is_closed():
            raise


@dataclass(frozen=True)
class Started:
    """A job has started, `at` a time of the batch's clock."""

    job: Job
    at: float


@dataclass(frozen=True)
class Finished:
    """The outcome of a job, and its duration in seconds. `at` is None if the job was dropped before it started."""

    job: Job
    outcome: Outcome
    at: float | None
    seconds: float


class Batch:
    """The jobs of one turn. At most `bound` run at once; a job whose tool is not concurrent runs alone.

    Jobs start in order. A job that exceeds its timeout or `deadline` is cancelled and counts as finished; a later
    result is ignored. `ending` is the end of the message about a job that never starts.
    """

    def __init__(
        self, jobs: Iterable[Job], bound: int, deadline: float | None = None, ending: str = "the tool did not run"
    ) -> None:
        self._waiting = deque(jobs)
        self._running: dict[Job, float] = {}
        self._bound = bound
        self._deadline = deadline
        self._ending = ending

    @property
    def is_over(self) -> bool:
        """True if every job is finished."""
        return not self._waiting and not self._running

    def start(self, now: float) -> list[Started]:
        """Start the jobs that may start now, and return them."""
        started = []
        while self._waiting and self._may_start(self._waiting[0]):
            job = self._waiting.popleft()
            self._running[job] = now
            started.append(Started(job, now))
        return started

    def _may_start(self, job: Job) -> bool:
        is_exclusive = not job.tool.concurrent or any(not other.tool.concurrent for other in self._running)
        return len(self._running) < self._bound and not (is_exclusive and self._running)

    def patience(self, now: float) -> float | None:
        """Return how long to wait for a result, in seconds; None for no limit."""
        ends = [end for job, at in self._running.items() if (end := self._end(job, at)) is not None]
        return min(max(0.0, min(ends) - now), TIMEOUT_MAX) if ends else None

    def _end(self, job: Job, at: float) -> float | None:
        ends = [] if job.timeout is None else [at + job.timeout]
        ends += [] if self._deadline is None else [self._deadline]
        return min(ends, default=None)

    def collect(self, arrived: Iterable[tuple[Job, Outcome, float] | None], now: float) -> list[Finished]:
        """Process arrived outcomes, give up jobs whose time is up, and return all that finished."""
        finished = [job for message in arrived if message is not None for job in self.finish(*message)]
        return finished + self.expire(now)

    def finish(self, job: Job, outcome: Outcome, end: float) -> list[Finished]:
        """Record the outcome of a job. Ignore it if the job was given up before."""
        at = self._running.pop(job, None)
        return [] if at is None else [Finished(job, outcome, at, end - at)]

    def expire(self, now: float) -> list[Finished]:
        """Give up the jobs whose time is up."""
        over = [job for job, at in self._running.items() if (end := self._end(job, at)) is not None and end <= now]
        given_up = [self._give_up(job, self._late(job, now), now) for job in over]
        if self._deadline is not None and self._deadline <= now:
            given_up += self._drop_waiting(OutOfTime(f"{OUT_OF_TIME}: {self._ending}"))
        return given_up

    def _late(self, job: Job, now: float) -> Exception:
        if self._deadline is not None and self._deadline <= now:
            return OutOfTime(f"{OUT_OF_TIME} before the tool had a result")
        return TimeoutError(f"{job.tool.name} took longer than {job.timeout:g} s: its result is ignored")

    def cancel(self, now: float) -> list[Finished]:
        """Give up all jobs."""
        running = [self._give_up(job, Cancelled(GIVEN_UP), now) for job in list(self._running)]
        return running + self._drop_waiting(Cancelled(f"the run was cancelled: {self._ending}"))

    def _give_up(self, job: Job, why: Exception, now: float) -> Finished:
        job.given_up.append(why)
        job.context.cancellation.cancel()
        at = self._running.pop(job)
        return Finished(job, why, at, now - at)

    def _drop_waiting(self, why: Exception) -> list[Finished]:
        dropped = [Finished(job, why, None, 0.0) for job in self._waiting]
        self._waiting.clear()
        return dropped


def cut(outputs: list[Any], longest: int | None) -> tuple[list[Any], int]:
    """Shorten the contents of a result to `longest` characters. Return them and the number of characters left out.

    A text that is too long is cut, with a note at its end. Other contents that are too long are replaced by a note.
    """
    if longest is None or sum(map(_size, outputs)) <= longest:
        return outputs, 0
    shortened: list[Any] = []
    room, left_out = longest, 0
    for content in outputs:
        size = _size(content)
        shown = min(size, room) if size <= room or _is_text(content) else 0
        shortened.append(content if shown == size else _shorter(content, shown, size))
        room, left_out = room - shown, left_out + size - shown
    return shortened, left_out


def _is_text(content: Any) -> bool:
    return isinstance(content, TextContent | JsonContent) or (
        isinstance(content, ErrorContent) and content.details is None
    )


def _size(content: Any) -> int:
    """Return the number of characters of a content."""
    if isinstance(content, TextContent | JsonContent):
        return len(content.text)
    if _is_text(content):
        return len(content.message)
    return len(content.data) if isinstance(content, DataContent) and content.text is None else len(write(content))


def _shorter(content: Any, room: int, size: int) -> Any:
    tail = f"\n[{room} of {size} characters are shown: the result is longer than is allowed]"
    if isinstance(content, TextContent):
        return msgspec.structs.replace(content, text=f"{content.text[:room]}{tail}")
    if isinstance(content, JsonContent):
        return TextContent(text=f"{content.text[:room]}{tail}")
    if _is_text(content):
        return msgspec.structs.replace(content, message=f"{content.message[:room]}{tail}")
    kind = getattr(content, "media_type", None) or content.__struct_config__.tag
    return TextContent(text=f"[{kind} of {size} characters is left out: the result is longer than is allowed]")
