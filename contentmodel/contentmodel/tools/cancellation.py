"""A signal to stop a run or a tool call. It can be set from any thread, once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    """A request to stop a run. `cancel` may be called from any thread, and more than once.

    Nothing is stopped by force: the running code checks `is_cancelled`, waits with `wait`, or registers a callback with
    `watched`.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.RLock()
        self._watchers: dict[int, Callable[[], None]] = {}
        self._count = 0

    @property
    def is_cancelled(self) -> bool:
        """True if `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Request a stop, and call the watchers."""
        with self._lock:
            self._event.set()
            watchers, self._watchers = list(self._watchers.values()), {}
        for watcher in watchers:
            watcher()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until `cancel` is called, at most `seconds`. Return whether it was called."""
        return self._event.wait(seconds)

    @contextmanager
    def watched(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Call `watcher` on `cancel`, in the cancelling thread; immediately if it was already called."""
        with self._lock:
            is_late = self._event.is_set()
            self._count += 1
            number = self._count
            if not is_late:
                self._watchers[number] = watcher
        if is_late:
            watcher()
        try:
            yield
        finally:
            with self._lock:
                self._watchers.pop(number, None)
