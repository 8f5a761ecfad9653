"""Run a batch of jobs on an event loop: async tools as tasks, other tools on threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from contentmodel.runner.jobs import Batch, Clock, Finished, Job, Started, on_loop
from contentmodel.runner.threads import Done, run_on_thread
from contentmodel.tools.cancellation import Cancellation

# Keep references: the event loop holds tasks weakly, and a task that was given up may still be running.
_tasks: set[asyncio.Task[None]] = set()


async def in_tasks(batch: Batch, cancellation: Cancellation, clock: Clock) -> AsyncGenerator[Started | Finished, None]:
    """Yield the start and the end of each job as they happen. If the waiting task is cancelled, cancel the jobs."""
    loop, messages = asyncio.get_running_loop(), asyncio.Queue[Done]()

    def put(message: Done) -> None:
        on_loop(loop, messages.put_nowait, message)

    try:
        with cancellation.watched(lambda: put(None)):
            while not batch.is_over:
                if cancellation.is_cancelled:
                    for finished in batch.cancel(clock()):
                        yield finished
                for started in batch.start(clock()):
                    _begin(started.job, put, clock)
                    yield started
                if not batch.is_over:
                    for finished in batch.collect(await _arrived(messages, batch.patience(clock())), clock()):
                        yield finished
    finally:
        batch.cancel(clock())


def _begin(job: Job, put: Callable[[Done], None], clock: Clock) -> None:
    """Start an async tool as a task, another tool on a thread."""
    if not job.tool.is_async:
        run_on_thread(job, put, clock)
        return
    task = asyncio.get_running_loop().create_task(_perform(job, put, clock), name=f"tool {job.tool.name}")
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _perform(job: Job, put: Callable[[Done], None], clock: Clock) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(job.perform())
    with job.context.cancellation.watched(lambda: on_loop(loop, task.cancel)):
        outcome = await task
    put((job, outcome, clock()))


async def _arrived(messages: asyncio.Queue[Done], patience: float | None) -> list[Done]:
    """Wait for the next message at most `patience` seconds. Return all messages that have arrived."""
    arrived: list[Done] = []
    if messages.empty():
        # wait_for of Python 3.11 swallows a cancellation that comes together with what it waits for.
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                arrived.append(await messages.get())
    while not messages.empty():
        arrived.append(messages.get_nowait())
    return arrived
