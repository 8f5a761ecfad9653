"""Detect the shutdown of the server early enough to notify clients."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` when the process receives SIGINT or SIGTERM, in addition to the server's own signal handler.

    A server waits for open connections before it shuts down the application, and followers of a turn stay connected
    while it runs. Without this, both would wait for each other. Does nothing if no handler of a server is installed,
    or outside of the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    replaced: dict[int, tuple[Any, Any]] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)
        if callable(before) and before is not signal.default_int_handler:
            replaced[number] = before, _handler(loop, stop, before)
            signal.signal(number, replaced[number][1])
    try:
        yield
    finally:
        for signal_number, (before, ours) in replaced.items():
            if signal.getsignal(signal_number) is ours:
                signal.signal(signal_number, before)


def _handler(loop: asyncio.AbstractEventLoop, stop: Callable[[], None], before: Any) -> Any:
    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop)
        before(number, frame)

    return handle
