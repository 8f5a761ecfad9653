"""Drives the loop with an asynchronous client, and tools as tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from types import TracebackType
from typing import Self, TypeVar

from contentmodel.client import AsyncChatClient
from contentmodel.events import StreamEvent
from contentmodel.response import ChatResponse
from contentmodel.runner.base import Asked, BaseRunner, Run, clock
from contentmodel.runner.jobs import on_loop
from contentmodel.runner.loop import Ask, Execute
from contentmodel.runner.report import RunResult
from contentmodel.runner.tasks import in_tasks
from contentmodel.tools.cancellation import Cancellation

T = TypeVar("T")


class AsyncToolRunner(BaseRunner):
    """The same as ToolRunner, asynchronously: async tools run as tasks, the others on threads."""

    client: AsyncChatClient

    async def run(self, request: Asked, *, cancellation: Cancellation | None = None) -> RunResult:
        """The run to its end; see `ToolRunner.run`. `cancellation` also stops it while the model is being asked.

        Where the task is cancelled, an observer's `run_ended` still gets the result.
        """
        run = Run(self, request, cancellation)
        try:
            while run.step is not None:
                if isinstance(run.step, Ask):
                    await _ask(run, run.step)
                elif isinstance(run.step, Execute):
                    async with aclosing(in_tasks(run.loop.batch(run.step), run.cancellation, clock)) as happening:
                        async for progress in happening:
                            run.note(run.step, progress)
                    run.go_on()
                else:
                    run.go_on()
        except BaseException:
            run.abandon()
            raise
        return run.end()

    def stream(self, request: Asked, *, cancellation: Cancellation | None = None) -> AsyncRunStream:
        """The events of a run, as they happen. Nothing happens before the stream is read."""
        return AsyncRunStream(Run(self, request, cancellation))


class AsyncRunStream:
    """The same as RunStream, asynchronously. A task that is cancelled while it reads ends the run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._events = _events(run)

    @property
    def result(self) -> RunResult:
        """What the run has come to; until it is over, what it has come to so far."""
        return self._run.result or self._run.loop.result()

    @property
    def failure(self) -> Exception | None:
        """Why the model could not be asked, where it could not."""
        return self._run.failure

    async def read(self) -> RunResult:
        """Reads the stream to its end."""
        async for _ in self:
            pass
        return self.result

    async def close(self) -> None:
        """Ends the run: nothing more is asked, and what runs is not waited for."""
        self._run.cancellation.cancel()
        await self._events.aclose()
        if self._run.result is None:
            self._run.abandon()

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


async def _ask(run: Run, step: Ask) -> None:
    answer: ChatResponse | None = None
    try:
        with run.asking(step, is_streamed=False) as answers:
            said = await _unless_cancelled(run.cancellation, run.client.complete(step.request, timeout=run.timeout))
            if said is not None:
                answer = run.loop.ids.of_answer(said)
                answers.append(answer)
    except Exception as error:
        failure = run.fail(error)
        if failure is error:
            raise
        raise failure from error
    run.go_on(answer)


async def _unless_cancelled(cancellation: Cancellation, awaitable: Awaitable[T]) -> T | None:
    """What is awaited, or None where the run is cancelled before it is there."""
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(awaitable)
    try:
        with cancellation.watched(lambda: on_loop(loop, task.cancel)):
            await asyncio.wait([task])
    finally:
        if task.cancel():
            # Whoever waits is cancelled itself: what it reads from is closed next, and must not be read any more.
            await asyncio.wait([task], timeout=1)
    if task.cancelled() and cancellation.is_cancelled:
        return None
    return task.result()


async def _events(run: Run) -> AsyncGenerator[StreamEvent, None]:
    try:
        while run.step is not None:
            if isinstance(run.step, Ask):
                async with aclosing(_answer(run, run.step)) as events:
                    async for event in events:
                        yield event
            elif isinstance(run.step, Execute):
                async with aclosing(_results(run, run.step)) as events:
                    async for event in events:
                        yield event
            else:
                for event in run.relay.say(run.step.message):
                    yield event
                run.go_on()
    except BaseException:
        run.abandon()
        raise
    for event in run.relay.end(run.end()):
        yield event


async def _answer(run: Run, step: Ask) -> AsyncGenerator[StreamEvent, None]:
    answer: ChatResponse | None = None
    try:
        with run.asking(step, is_streamed=True) as answers:
            async with run.client.stream(step.request, timeout=run.timeout) as stream:
                while (event := await _unless_cancelled(run.cancellation, anext(stream, None))) is not None:
                    for relayed in run.relay.feed(event):
                        yield relayed
                    if run.cancellation.is_cancelled:
                        break
            answer = run.streamed_answer()
            answers.extend([] if answer is None else [answer])
    except Exception as error:
        if not run.relay.has_begun:
            run.fail(error)
            raise
        run.fail_streaming(error)
        return
    run.go_on(answer)


async def _results(run: Run, step: Execute) -> AsyncGenerator[StreamEvent, None]:
    for event in run.relay.open(step.tasks):
        yield event
    async with aclosing(in_tasks(run.loop.batch(step), run.cancellation, clock)) as happening:
        async for progress in happening:
            for event in run.told(step, progress):
                yield event
    run.go_on()
