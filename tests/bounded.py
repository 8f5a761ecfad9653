"""What tests of limits share: a bound that only a hang exceeds, and servers that send a little at a time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LONG = 40.0
"""Seconds that no test here takes whose work is bounded; without the bounds each takes minutes, or never ends."""


@contextmanager
def no_hang() -> Iterator[None]:
    """Fail if the block takes as long as something that hangs."""
    begun = time.monotonic()
    yield
    taken = time.monotonic() - begun
    assert taken < LONG, f"{taken:.0f} s"


@contextmanager
def dripping(head: bytes, drip: bytes, *, every: float = 0.02) -> Iterator[tuple[int, threading.Event]]:
    """A server on a loopback port: it answers every request with `head`, and then `drip` again and again.

    Gives the port, and an event that is set when a client has gone while the server was sending.
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
