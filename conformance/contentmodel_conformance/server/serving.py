"""Run an ASGI app with uvicorn in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


class Server(uvicorn.Server):
    """Signals when it has started, and stops on an event, without polling."""

    def __init__(self, config: uvicorn.Config, *, stopping: asyncio.Event | None = None) -> None:
        super().__init__(config)
        self.has_begun = threading.Event()
        self.stopping = stopping or asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._loop = asyncio.get_running_loop()
        self.has_begun.set()

    async def main_loop(self) -> None:
        await self.stopping.wait()

    def stop(self) -> None:
        """Stop the server. Can be called from any thread and from a signal handler."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.stopping.set)


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[str]:
    """Run an ASGI app on a free port of this machine in a thread, and yield its URL.

    `options` are those of `uvicorn.Config`. Raises RuntimeError if the server does not start in 30 seconds.
    """
    # asyncio turns off the delay of small packets only for sockets with this protocol number. With the delay, every
    # answer waits 40 ms for an acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    server = Server(uvicorn.Config(app, **{"log_level": "critical", "timeout_graceful_shutdown": 1, **options}))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        if not server.has_begun.wait(30):
            raise RuntimeError("the server did not start in 30 seconds")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.stop()
        thread.join(30)
        listening.close()
