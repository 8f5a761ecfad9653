"""Run a batch of jobs on threads, and wait for them in the current thread."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue

from contentmodel.runner.jobs import Batch, Clock, Finished, Job, Outcome, Started
from contentmodel.tools.cancellation import Cancellation

Done = tuple[Job, Outcome, float] | None
"""A job, its outcome, and the time of its end; None wakes the waiting thread."""

Happening = Generator[Started | Finished, None, None]


def in_threads(batch: Batch, cancellation: Cancellation, clock: Clock) -> Happening:
    """Yield the start and the end of each job as they happen."""
    messages: SimpleQueue[Done] = SimpleQueue()
    try:
        with cancellation.watched(lambda: messages.put(None)):
            while not batch.is_over:
                if cancellation.is_cancelled:
                    yield from batch.cancel(clock())
                for started in batch.start(clock()):
                    run_on_thread(started.job, messages.put, clock)
                    yield started
                if not batch.is_over:
                    yield from batch.collect(_arrived(messages, batch.patience(clock())), clock())
    finally:
        batch.cancel(clock())


def run_on_thread(job: Job, put: Callable[[Done], None], clock: Clock) -> None:
    """Run a job on a new thread, in a copy of the current context.

    A thread cannot be stopped. It is a daemon, so that a hanging tool does not keep the application alive.
    """
    context = contextvars.copy_context()

    def work() -> None:
        outcome = context.run(job.work)
        put((job, outcome, clock()))

    threading.Thread(target=work, name=f"tool {job.tool.name}", daemon=True).start()


def _arrived(messages: SimpleQueue[Done], patience: float | None) -> list[Done]:
    """Wait for the next message at most `patience` seconds. Return all messages that have arrived."""
    arrived: list[Done] = []
    try:
        arrived.append(messages.get(timeout=patience))
        while True:
            arrived.append(messages.get_nowait())
    except Empty:
        return arrived
