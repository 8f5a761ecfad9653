"""Drive the loop with an asynchronous client. Async tools run as tasks."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from contentmodel.client import AsyncChatClient
from contentmodel.events import StreamEvent
from contentmodel.request import ChatRequest
from contentmodel.runner.base import BaseRunner, BaseRunStream, Beginning, Run, TurnRequest, clock, request_of
from contentmodel.runner.jobs import on_loop
from contentmodel.runner.keeping import Keeping
from contentmodel.runner.loop import Ask, Check, Execute, Say
from contentmodel.runner.report import RunResult
from contentmodel.runner.tasks import in_tasks
from contentmodel.runner.typed import TypedRun
from contentmodel.tools.background import run_in_background
from contentmodel.tools.cancellation import Cancellation
from contentmodel.typed.answers import OutputMode

T = TypeVar("T")
CLOSING = 1.0
"""Seconds that a stream's connection may take to close after the time of the run is up."""


class AsyncToolRunner(BaseRunner):
    """An asynchronous `ToolRunner`: async tools run as tasks, other tools on threads."""

    client: AsyncChatClient

    async def run(
        self,
        request: TurnRequest,
        *,
        output: Any = None,
        mode: OutputMode | None = None,
        retries: int = 0,
        cancellation: Cancellation | None = None,
    ) -> RunResult:
        """Run to the end; see `ToolRunner.run`. `cancellation` also stops a request to the model.

        If the task is cancelled, an observer's `run_ended` still gets the result.
        """
        asked = request_of(request)
        if output is None:
            return await self._run(asked, cancellation)
        typed = TypedRun(self, asked, output, mode, retries)
        while (result := typed.ended(await self._run(typed.request, cancellation))) is None:
            pass
        return result

    async def _run(self, request: ChatRequest, cancellation: Cancellation | None) -> RunResult:
        keeping = Keeping(self.messages, request)
        await keeping.load()
        run = Run(self, keeping.request, cancellation)
        try:
            while run.step is not None:
                if isinstance(run.step, Ask):
                    await _ask(run, run.step)
                elif isinstance(run.step, Check):
                    await _check(run, run.step)
                elif isinstance(run.step, Execute):
                    await _execute(run, run.step)
                else:
                    run.go_on()
        except BaseException as error:
            run.abandon()
            await keeping.save_early_end_async(run.result, error)
            raise
        return await keeping.saved_async(run.end())

    def stream(self, request: TurnRequest, *, cancellation: Cancellation | None = None) -> AsyncRunStream:
        """Return the event stream of a run. The run begins when the stream is first read."""
        return AsyncRunStream(Beginning(self, request, cancellation))


class AsyncRunStream(BaseRunStream):
    """An asynchronous `RunStream`. If a task is cancelled while it reads, the run ends."""

    def __init__(self, beginning: Beginning) -> None:
        super().__init__(beginning)
        # The generator has no reference to this object, so that an unused stream is collected and ends at once.
        self._events = _all(beginning)

    async def read(self) -> RunResult:
        """Read the stream to its end, and return the result."""
        async for _ in self:
            pass
        return self.result

    async def close(self) -> None:
        """End the run: send no more requests, and do not wait for running tools.

        If another task is reading the stream, its iteration ends.
        """
        self._cancel()
        # `aclose` raises RuntimeError while another task is reading. The cancellation ends that task's iteration.
        with suppress(RuntimeError):
            await self._events.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        return await anext(self._events)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _all(beginning: Beginning) -> AsyncGenerator[StreamEvent, None]:
    keeping = beginning.keeping
    await keeping.load()
    run = beginning.begun()
    try:
        while run.step is not None:
            if isinstance(run.step, Check):
                await _check(run, run.step)
                continue
            async with aclosing(_events(run, run.step)) as events:
                async for event in events:
                    yield event
        run.result = await keeping.saved_async(run.end())
        for event in run.relay.end(run.result):
            yield event
    finally:
        run.abandon()
        await keeping.save_early_end_async(run.result, None)


class _Waiting:
    """Await in the current task, until the run is cancelled or out of time."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._is_hit = False
        self.is_late = False

    async def __call__(self, awaitable: Awaitable[T]) -> T | None:
        """Return the result of `awaitable`, or None if the run is cancelled or out of time first."""
        task = self._task = asyncio.current_task()
        self._is_hit = False
        seconds = self._run.seconds_left
        alarm = None if seconds is None else self._loop.call_later(seconds, self._expire)
        try:
            with self._run.cancellation.watched(lambda: on_loop(self._loop, self._interrupt)):
                return await awaitable
        except BaseException:
            # `uncancel` returns 0 if only `_interrupt` cancelled the task, and no other code did.
            if self._is_hit and task is not None and task.uncancel() == 0:
                self._is_hit = False
                return None
            raise
        finally:
            self._task = None
            if alarm is not None:
                alarm.cancel()
            if self._is_hit and task is not None:
                task.uncancel()

    def _expire(self) -> None:
        self.is_late = self.is_late or self._task is not None
        self._interrupt()

    def _interrupt(self) -> None:
        if self._task is not None and not self._is_hit:
            self._is_hit = True
            self._task.cancel()


async def _ask(run: Run, step: Ask) -> None:
    ask = run.ask(step)
    try:
        with run.observer.asking(ask):
            response = await _Waiting(run)(run.client.complete(step.request, timeout=run.timeout))
            answer = None if response is None else run.loop.ids.of_answer(response)
    except BaseException as error:
        failure = run.fail(ask, error)
        if failure is error:
            raise
        raise failure from error
    run.answered(ask, answer)


async def _check(run: Run, step: Check) -> None:
    """Validate arguments. Slow validation runs on a thread, so that the event loop is not blocked."""
    if step.work.is_slow:
        loop, validated = asyncio.get_running_loop(), asyncio.Event()
        context = contextvars.copy_context()

        def work() -> None:
            try:
                context.run(step.work.run)
            finally:
                on_loop(loop, validated.set)

        run_in_background(work, "validation")
        try:
            await _Waiting(run)(validated.wait())
        finally:
            step.work.give_up()
    else:
        step.work.run()
    run.go_on()


async def _execute(run: Run, step: Execute) -> None:
    async with aclosing(in_tasks(run.loop.batch(step), run.cancellation, clock)) as happening:
        async for progress in happening:
            run.note(step, progress)
    run.go_on()


def _events(run: Run, step: Ask | Execute | Say) -> AsyncGenerator[StreamEvent, None]:
    if isinstance(step, Ask):
        return _answer(run, step)
    return _results(run, step) if isinstance(step, Execute) else _message(run, step)


async def _message(run: Run, step: Say) -> AsyncGenerator[StreamEvent, None]:
    for event in run.relay.emit_message(step.message):
        yield event
    run.go_on()


async def _answer(run: Run, step: Ask) -> AsyncGenerator[StreamEvent, None]:
    ask, waiting = run.ask(step), _Waiting(run)
    try:
        # Do not enter the context manager: it sends the request, and could not be interrupted there.
        stream = run.client.stream(step.request, timeout=run.timeout)
        try:
            while (event := await waiting(anext(stream, None))) is not None:
                for relayed in run.relay.feed(event):
                    yield relayed
                # If events are always ready, the event loop never runs the timer. So check the time here too.
                waiting.is_late = waiting.is_late or run.is_late
                if run.cancellation.is_cancelled or waiting.is_late:
                    break
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING if waiting.is_late else None):
                    await stream.close()
    except Exception as error:
        if not run.relay.has_begun:
            run.fail(ask, error)
            raise
        run.fail_streaming(ask, error)
        return
    except BaseException as error:
        run.fail(ask, error)
        raise
    run.answered(ask, run.streamed_answer(is_late=waiting.is_late))


async def _results(run: Run, step: Execute) -> AsyncGenerator[StreamEvent, None]:
    for event in run.relay.open(step.tasks):
        yield event
    async with aclosing(in_tasks(run.loop.batch(step), run.cancellation, clock)) as happening:
        async for progress in happening:
            for event in run.progress_events(step, progress):
                yield event
    run.go_on()
