"""How a run, or one call of a tool, is told to stop: from any thread, once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    """Asks a run to stop; `cancel` may be called from any thread, and more than once.

    Nothing is stopped by force: who runs looks at `is_cancelled`, waits with `wait`, or is called back.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.RLock()
        self._watchers: dict[int, Callable[[], None]] = {}
        self._count = 0

    @property
    def is_cancelled(self) -> bool:
        """Whether it is time to stop."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Asks to stop."""
        with self._lock:
            self._event.set()
            watchers, self._watchers = list(self._watchers.values()), {}
        for watcher in watchers:
            watcher()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until it is time to stop, `seconds` at most; whether it is."""
        return self._event.wait(seconds)

    @contextmanager
    def watched(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Calls `watcher` as soon as it is time to stop, in the thread that says so; at once where it is already."""
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
