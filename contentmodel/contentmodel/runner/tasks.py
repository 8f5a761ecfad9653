"""Runs a batch of jobs beside each other on an event loop: async tools as tasks, the others on threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from contentmodel.runner.jobs import Batch, Finished, Job, Started, on_loop
from contentmodel.runner.threads import Done, run_apart
from contentmodel.tools.cancellation import Cancellation

# The event loop itself holds tasks weakly; one that was given up may still be winding up.
_tasks: set[asyncio.Task[None]] = set()


async def in_tasks(
    batch: Batch, cancellation: Cancellation, clock: Callable[[], float]
) -> AsyncGenerator[Started | Finished, None]:
    """What happens to the jobs, as it happens. Where the task that waits is cancelled, the jobs are too."""
    loop, done = asyncio.get_running_loop(), asyncio.Queue[Done]()

    def put(message: Done) -> None:
        on_loop(loop, done.put_nowait, message)

    try:
        with cancellation.watched(lambda: put(None)):
            while not batch.is_over:
                if cancellation.is_cancelled:
                    for finished in batch.cancel(clock()):
                        yield finished
                for started in batch.start(clock()):
                    begin(started.job, put)
                    yield started
                for finished in await _settled(batch, done, clock):
                    yield finished
    finally:
        batch.cancel(clock())


def begin(job: Job, put: Callable[[Done], None]) -> None:
    """Starts a job where it belongs."""
    if not job.tool.is_async:
        run_apart(job, put)
        return
    task = asyncio.get_running_loop().create_task(_perform(job, put), name=f"tool {job.tool.name}")
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _perform(job: Job, put: Callable[[Done], None]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(job.perform())
    with job.context.cancellation.watched(lambda: on_loop(loop, task.cancel)):
        outcome = await task
    put((job, outcome))


async def _settled(batch: Batch, done: asyncio.Queue[Done], clock: Callable[[], float]) -> list[Finished]:
    if batch.is_over:
        return []
    try:
        message = await asyncio.wait_for(done.get(), batch.patience(clock()))
    except TimeoutError:
        message = None
    finished = batch.finish(*message, clock()) if message else []
    return finished + batch.expire(clock())
