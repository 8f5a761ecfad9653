"""Runs a batch of jobs on threads, and waits for them in this one."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue

from contentmodel.runner.jobs import Batch, Clock, Finished, Job, Outcome, Started
from contentmodel.tools.cancellation import Cancellation

Done = tuple[Job, Outcome, float] | None
"""A job, its outcome, and when it was there; None to look up."""

Happening = Generator[Started | Finished, None, None]


def in_threads(batch: Batch, cancellation: Cancellation, clock: Clock) -> Happening:
    """What happens to the jobs, as it happens."""
    done: SimpleQueue[Done] = SimpleQueue()
    try:
        with cancellation.watched(lambda: done.put(None)):
            while not batch.is_over:
                if cancellation.is_cancelled:
                    yield from batch.cancel(clock())
                for started in batch.start(clock()):
                    run_apart(started.job, done.put, clock)
                    yield started
                if not batch.is_over:
                    yield from batch.settle(_arrived(done, batch.patience(clock())), clock())
    finally:
        batch.cancel(clock())


def run_apart(job: Job, put: Callable[[Done], None], clock: Clock) -> None:
    """Runs a job on a thread of its own, in a copy of this context.

    A thread cannot be stopped. It is a daemon, so that a tool that hangs does not keep the application from ending.
    """
    context = contextvars.copy_context()

    def work() -> None:
        outcome = context.run(job.work)
        put((job, outcome, clock()))

    threading.Thread(target=work, name=f"tool {job.tool.name}", daemon=True).start()


def _arrived(done: SimpleQueue[Done], patience: float | None) -> list[Done]:
    """What has come: something, or nothing within the time, and all that came with it."""
    arrived: list[Done] = []
    try:
        arrived.append(done.get(timeout=patience))
        while True:
            arrived.append(done.get_nowait())
    except Empty:
        return arrived
