"""Run a gateway until it is stopped: signals, a new configuration while it runs, and several processes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess

from contentmodel.gateway.app import Gateway, create_app
from contentmodel.gateway.config import ConfigError, GatewayConfig, load_config
from contentmodel.gateway.report import logger

LOOK = 1.0
"""The seconds between two looks at a file that is watched."""
CLOSING = 2
"""The seconds that connections have to close when no request is running, or when `drain_seconds` are over."""
STARTING = 30
"""The seconds that a process has to start before it gets a signal."""
TICK = 0.05
"""The seconds between two looks at the number of running requests during a shutdown."""


@dataclass(frozen=True)
class Source:
    """The origin of a configuration: the file `path`, or `config` itself. `changes` replace fields of both.

    `record` is the folder that gets requests and answers.
    """

    config: GatewayConfig
    path: str | None = None
    changes: tuple[tuple[str, Any], ...] = ()
    record: str | None = None

    def load(self) -> GatewayConfig:
        """Return the configuration as it is now. Raise ConfigError or OSError."""
        config = self.config if self.path is None else load_config(self.path)
        return msgspec.structs.replace(config, **dict(self.changes))


def set_up_log(*, quiet: bool) -> None:
    """Write one line for each request to the standard error; with `quiet`, only errors."""
    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.ERROR if quiet else logging.INFO)
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def run(source: Source, sockets: list[socket.socket], *, workers: int = 1, watch: bool = False, quiet: bool) -> int:
    """Run a gateway until it is stopped. Return its exit code."""
    options: dict[str, Any] = {"log_level": "warning", "access_log": False, "timeout_graceful_shutdown": CLOSING}
    if workers > 1:
        make = partial(_app_of_worker, source, watch, quiet, uuid.uuid4().hex, os.urandom(32))
        supervisor = _Workers(uvicorn.Config(make, factory=True, workers=workers, **options), sockets)
        supervisor.run()
        failed = any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes)
        return STARTUP_FAILURE if failed else 0
    server: uvicorn.Server

    def end(force: bool) -> None:
        server.should_exit, server.force_exit = True, server.force_exit or force

    set_up_log(quiet=quiet)
    server = uvicorn.Server(uvicorn.Config(app_of(source, end, watch=watch), **options))
    server.run(sockets)
    return 0


def _app_of_worker(source: Source, watch: bool, quiet: bool, group: str, secret: bytes) -> Starlette:
    """Return the app of one of several processes. uvicorn's own handlers end its server."""
    set_up_log(quiet=quiet)
    ends = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}

    def end(force: bool) -> None:
        handler: Any = ends[signal.SIGINT]
        for _ in range(1 + force):
            handler(signal.SIGINT, None)

    return app_of(source, end, watch=watch, group=group, secret=secret)


class _Workers(Multiprocess):
    """uvicorn's processes. SIGHUP is passed on to them, so that no running request ends."""

    def handle_hup(self) -> None:
        for process in self.processes:
            if process.wait_until_ready(STARTING, self.should_exit) and process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)


def app_of(
    source: Source,
    end: Callable[[bool], None],
    *,
    watch: bool = False,
    group: str | None = None,
    secret: bytes | None = None,
) -> Starlette:
    """Return the app of a gateway that handles the signals of its process.

    `end(False)` ends the server after its requests, `end(True)` at once.
    """
    app = create_app(source.load(), group=group, secret=secret, record=source.record)
    within = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Starlette) -> AsyncIterator[Any]:
        async with within(running) as state:
            operator = _Operator(app.state.gateway, source, end)
            with operator.handling():
                watching = asyncio.create_task(operator.watch()) if watch and source.path is not None else None
                yield state
                if watching is not None:
                    watching.cancel()

    app.router.lifespan_context = lifespan
    return app


class _Operator:
    """Stops and configures the gateway of a process."""

    def __init__(self, gateway: Gateway, source: Source, end: Callable[[bool], None]) -> None:
        self._gateway, self._source, self._end = gateway, source, end
        self._stopping: asyncio.Task[None] | None = None

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Handle the signals of the process. Signals can be handled in its main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        handlers: dict[str, Callable[[int], None]] = {
            "SIGINT": self._stop,
            "SIGTERM": self._stop,
            "SIGHUP": self._reload,
        }
        before = {}
        for name, handler in handlers.items():
            number = getattr(signal, name, None)
            if number is not None:
                before[number] = signal.signal(number, partial(_soon, loop, handler))
        try:
            yield
        finally:
            for number, handler_before in before.items():
                signal.signal(number, handler_before)

    def _stop(self, number: int) -> None:
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._drain())
        elif number == signal.SIGINT:
            self._end(True)

    async def _drain(self) -> None:
        """Refuse new requests, wait for those that are running, and end the server."""
        gateway = self._gateway
        gateway.stop()
        seconds = gateway.config.drain_seconds
        if gateway.running:
            logger.info("stopping: %d running requests have %g seconds (drain_seconds)", gateway.running, seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while gateway.running:
                    await asyncio.sleep(TICK)
        if gateway.running:
            logger.warning("%d requests were still running after %g seconds (drain_seconds)", gateway.running, seconds)
        self._end(False)

    def _reload(self, number: int = 0) -> None:
        """Use the file as it is now. A file with faults changes nothing."""
        if self._source.path is None:
            logger.warning("there is no file to read again: the gateway was started with options")
            return
        try:
            changed = self._gateway.configure(self._source.load())
        except (ConfigError, OSError) as error:
            logger.error("the configuration stays as it is: %s", error)
            return
        restart = f"; a restart is needed for {', '.join(changed)}" if changed else ""
        logger.info("new requests use %s as it is now%s", self._source.path, restart)

    async def watch(self) -> None:
        """Use the file when it has changed."""
        assert self._source.path is not None
        path = Path(self._source.path)
        known = _content(path)
        while True:
            await asyncio.sleep(LOOK)
            now = _content(path)
            # An editor may replace the file in two steps.
            if now and now != known:
                known = now
                self._reload()


def _soon(
    loop: asyncio.AbstractEventLoop, handler: Callable[[int], None], number: int, frame: FrameType | None
) -> None:
    loop.call_soon_threadsafe(handler, number)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
