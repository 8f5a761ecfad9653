"""Hears when a server is told to stop, while there is still time to tell clients."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def heard(stop: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` when the process is told to end, beside whatever the server itself does about it.

    A server waits for open connections before it tells the application that it shuts down, and followers of a turn stay
    as long as it runs: without this they would wait for each other. Where no server has asked for the signals, and
    outside of the main thread, nothing is heard.
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
        for told, (before, ours) in replaced.items():
            if signal.getsignal(told) is ours:
                signal.signal(told, before)


def _handler(loop: asyncio.AbstractEventLoop, stop: Callable[[], None], before: Any) -> Any:
    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop)
        before(number, frame)

    return handle
