"""Runs a batch of jobs on threads, and waits for them in this one."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue

from contentmodel.runner.jobs import Batch, Finished, Job, Outcome, Started
from contentmodel.tools.cancellation import Cancellation

Done = tuple[Job, Outcome] | None
Happening = Generator[Started | Finished, None, None]


def in_threads(batch: Batch, cancellation: Cancellation, clock: Callable[[], float]) -> Happening:
    """What happens to the jobs, as it happens."""
    done: SimpleQueue[Done] = SimpleQueue()
    try:
        with cancellation.watched(lambda: done.put(None)):
            while not batch.is_over:
                if cancellation.is_cancelled:
                    yield from batch.cancel(clock())
                for started in batch.start(clock()):
                    run_apart(started.job, done.put)
                    yield started
                yield from _settled(batch, done, clock)
    finally:
        batch.cancel(clock())


def run_apart(job: Job, put: Callable[[tuple[Job, Outcome]], None]) -> None:
    """Runs a job on a thread of its own, in a copy of this context.

    A thread cannot be stopped. It is a daemon, so that a tool that hangs does not keep the application from ending.
    """
    context = contextvars.copy_context()
    name = f"tool {job.tool.name}"
    threading.Thread(target=lambda: put((job, context.run(job.work))), name=name, daemon=True).start()


def _settled(batch: Batch, done: SimpleQueue[Done], clock: Callable[[], float]) -> list[Finished]:
    if batch.is_over:
        return []
    try:
        message = done.get(timeout=batch.patience(clock()))
    except Empty:
        message = None
    finished = batch.finish(*message, clock()) if message else []
    return finished + batch.expire(clock())
