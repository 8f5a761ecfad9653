"""Helpers for tests of limits: a time bound that only a hang exceeds, and a server that sends slowly."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

LONG = 40.0
"""The time limit of a test in seconds. Bounded work takes far less; unbounded work takes minutes or never ends."""


@contextmanager
def no_hang() -> Iterator[None]:
    """Fail if the block takes longer than `LONG`."""
    begun = time.monotonic()
    yield
    taken = time.monotonic() - begun
    assert taken < LONG, f"{taken:.0f} s"


class Clock:
    """The clock of a run with `max_seconds=Clock.SECONDS`. A test sets it forward with `leave`.

    With a short real limit, a run would fail on a busy machine.
    """

    SECONDS = 3600.0

    def __init__(self) -> None:
        self._begun: float | None = None
        self._ahead = 0.0

    def __call__(self) -> float:
        now = time.monotonic() + self._ahead
        self._begun = now if self._begun is None else self._begun
        return now

    def leave(self, seconds: float) -> None:
        """Set the clock forward, so that the run has `seconds` left."""
        assert self._begun is not None
        self._ahead = self._begun + self.SECONDS - seconds - time.monotonic()

    def advance(self, seconds: float) -> None:
        """Set the clock forward by `seconds`."""
        self._ahead += seconds

    @classmethod
    def install(cls, monkeypatch: pytest.MonkeyPatch) -> Clock:
        """Return a new clock, which the runners read until the end of the test."""
        from contentmodel.runner import aio, base, sync

        clock = cls()
        for module in (aio, base, sync):
            monkeypatch.setattr(module, "clock", clock)
        return clock


@contextmanager
def dripping(head: bytes, drip: bytes, *, every: float = 0.02) -> Iterator[tuple[int, threading.Event]]:
    """Run a server on a loopback port that answers every request with `head`, and then repeats `drip`.

    Yields the port, and an event that is set when a client disconnects while the server sends.
    """
    gone, over = threading.Event(), threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(head)
            while not over.wait(every):
                try:
                    connection.sendall(drip)
                except OSError:
                    gone.set()
                    return

    def accept() -> None:
        with suppress(OSError):
            while True:
                _in_thread(serve, listening.accept()[0])

    _in_thread(accept)
    try:
        yield listening.getsockname()[1], gone
    finally:
        over.set()
        listening.close()


def _in_thread(work: Callable[..., None], *args: object) -> None:
    threading.Thread(target=work, args=args, daemon=True).start()
