"""Where an MCP session lives: an event loop on a thread of its own, reached from every other thread and loop.

A session belongs to the loop and the task that opened it. Tools are called from anywhere, so the session stays at home
and calls travel. Nobody waits for a home that is gone: what is under way when it ends, fails.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeVar

T = TypeVar("T")
Gone = Callable[[str], Exception]

CLOSE_TIMEOUT = 20.0
"""Seconds that closing waits for a server to end; the process is killed well before."""


class ProviderOnly:
    """Opens something on a loop of its own, and runs coroutines there until it is closed.

    `opening(stack)` is awaited first: what it enters into the stack is left again, by the same task, at the end.
    `gone(why)` makes the error that calls get when the home is closed or has ended by itself.
    """

    def __init__(self, opening: Callable[[AsyncExitStack], Awaitable[None]], timeout: float, gone: Gone) -> None:
        self._opening, self._timeout, self._gone = opening, timeout, gone
        self._lock = threading.Lock()
        self._under_way: set[Future[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._why = "it was closed"
        self._leaving = False
        self.opened: Future[None] = Future()
        self.ended: Future[None] = Future()
        # Those who wait may give up; the futures are still settled.
        self.opened.set_running_or_notify_cancel()
        self.ended.set_running_or_notify_cancel()
        self._thread = threading.Thread(target=self._run, name="contentmodel-mcp", daemon=True)

    def start(self) -> None:
        """Starts the thread; `opened` is done when what was to be opened is, or could not be."""
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs `work` at home. Cancelling the future cancels the work."""
        with self._lock:
            if self._loop is None or self._closing or self.ended.done():
                work.close()
                raise self._gone(self._why)
            future = asyncio.run_coroutine_threadsafe(self._carried(work), self._loop)
            self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    async def _carried(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except asyncio.CancelledError:
            if self._leaving:
                # The home ends, not the caller.
                raise self._gone(self._why) from None
            raise

    def close(self) -> None:
        """Asks the home to end, and returns at once: `ended` is done when it has."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    def wait(self, timeout: float) -> None:
        """Waits until the home has ended, for so many seconds; on the home's own thread, not at all."""
        if threading.current_thread() is not self._thread:
            wait([self.ended], timeout)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            # What breaks while the server is left stops nobody; what ended it is told to those who still call.
            if not self._closing:
                self._why = f"the connection ended: {reason(error)}"
        finally:
            self._end()

    async def _live(self) -> None:
        async with AsyncExitStack() as stack:
            with self._lock:
                self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
                if self._closing:
                    return
            try:
                async with asyncio.timeout(self._timeout):
                    await self._opening(stack)
            except Exception as error:
                self.opened.set_exception(error)
                return
            self.opened.set_result(None)
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                if not self._is_closing():
                    raise
                # Taken back, or what is left now would take itself for cancelled.
                if self._task is not None:
                    self._task.uncancel()
            finally:
                self._leaving = True

    def _is_closing(self) -> bool:
        return self._closing

    def _end(self) -> None:
        with self._lock:
            left = [*self._under_way, self.opened]
            self._loop = None
            self._closing = True
        for future in left:
            # Done or cancelled in the same moment: then nobody waits for it.
            with suppress(Exception):
                future.set_exception(self._gone(self._why))
        self.ended.set_result(None)


def reason(error: BaseException) -> str:
    """An error in words: of a group, its first member's."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error).partition("\n")[0] or type(error).__name__
