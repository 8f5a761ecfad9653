"""Run work on a thread with a time limit. Work that hangs cannot be stopped, so it is left to its thread."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class TimedOut(Exception):
    """The work was not done in time. It continues, but its result is ignored."""


class WorkerThread:
    """A thread that runs one piece of work at a time, in a copy of the context in which it was created.

    It is a daemon, so that hanging work does not keep the application alive.
    """

    def __init__(self, name: str) -> None:
        self._todo: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self.is_busy = False
        work = contextvars.copy_context().run
        threading.Thread(target=work, args=(self._work,), name=name, daemon=True).start()

    def call(self, work: Callable[[], T], seconds: float) -> T:
        """Return what `work` returns, or raise what it raises. Raise TimedOut if that takes longer than `seconds`."""
        if self.is_busy:
            raise TimedOut
        self.is_busy = True
        self._todo.put(work)
        try:
            value, error = self._done.get(timeout=min(max(0.0, seconds), threading.TIMEOUT_MAX))
        except Empty:
            raise TimedOut from None
        self.is_busy = False
        if error is not None:
            raise error
        result: T = value
        return result

    def end(self) -> None:
        """End the thread, once its work is done."""
        self._todo.put(None)

    def _work(self) -> None:
        while (work := self._todo.get()) is not None:
            try:
                outcome: tuple[Any, BaseException | None] = work(), None
            except BaseException as error:
                outcome = None, error
            self._done.put(outcome)


def run_within(work: Callable[[], T], seconds: float | None, name: str) -> T:
    """Return the result of `work`. Raise TimedOut if it takes longer than `seconds`; None means no limit."""
    if seconds is None:
        return work()
    thread = WorkerThread(name)
    try:
        return thread.call(work, seconds)
    finally:
        thread.end()


def run_in_background(work: Callable[[], Any], name: str) -> None:
    """Run `work` on a new thread, and do not wait for it. Exceptions are ignored."""

    def quietly() -> None:
        with suppress(Exception):
            work()

    threading.Thread(target=quietly, name=name, daemon=True).start()
