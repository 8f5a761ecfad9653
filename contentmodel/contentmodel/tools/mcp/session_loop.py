"""Run an MCP session in an event loop on its own thread, for calls from all other threads and loops.

A session belongs to the loop and the task that opened it, but tools are called from anywhere. So the calls are
submitted to the session's loop. When the loop ends, the calls under way fail.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeVar

T = TypeVar("T")
ErrorMaker = Callable[[str], Exception]

CLOSE_TIMEOUT = 20.0
"""Seconds that closing waits for a server to end; its process is killed well before."""


class SessionLoop:
    """Open a resource in a new event loop, and run coroutines there until it is closed.

    `opening(stack)` is awaited first; the same task exits the stack at the end. `make_error(reason)` makes the error
    for calls after the loop was closed or has ended by itself.
    """

    def __init__(
        self, opening: Callable[[AsyncExitStack], Awaitable[None]], timeout: float, make_error: ErrorMaker
    ) -> None:
        self._opening, self._timeout, self._make_error = opening, timeout, make_error
        self._lock = threading.Lock()
        self._under_way: set[Future[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._reason = "the connection was closed"
        self._leaving = False
        self.opened: Future[None] = Future()
        self.ended: Future[None] = Future()
        # Waiting callers may cancel their wait; these futures must still get a result.
        self.opened.set_running_or_notify_cancel()
        self.ended.set_running_or_notify_cancel()
        self._thread = threading.Thread(target=self._run, name="contentmodel-mcp", daemon=True)

    def start(self) -> None:
        """Start the thread. `opened` is done when opening has succeeded or failed."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True if the loop has ended or is ending, for whatever reason."""
        with self._lock:
            return self._leaving or (self._closing and self._loop is None)

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` in the session's loop. Cancelling the future cancels the work."""
        with self._lock:
            if self._loop is None or self._closing or self.ended.done():
                work.close()
                raise self._make_error(self._reason)
            future = asyncio.run_coroutine_threadsafe(self._carried(work), self._loop)
            self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    async def _carried(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except asyncio.CancelledError:
            if self._leaving:
                # The loop ends; the caller did not cancel.
                raise self._make_error(self._reason) from None
            raise

    def close(self) -> None:
        """Request the end, and return at once. `ended` is done afterwards."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    def wait(self, timeout: float) -> None:
        """Wait at most `timeout` seconds until the loop has ended. Return at once on the loop's own thread."""
        if threading.current_thread() is not self._thread:
            wait([self.ended], timeout)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            # An error during closing is ignored. Any other error is the reason in the errors of later calls.
            if not self._closing:
                self._reason = f"the connection ended: {reason(error)}"
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
                # Undo the cancellation, or the exits of the stack would be cancelled.
                if self._task is not None:
                    self._task.uncancel()
            finally:
                self._leaving = True

    def _is_closing(self) -> bool:
        return self._closing

    def _end(self) -> None:
        with self._lock:
            unfinished = [*self._under_way, self.opened]
            self._loop = None
            self._closing = True
        for future in unfinished:
            # The future may be done or cancelled at the same moment.
            with suppress(Exception):
                future.set_exception(self._make_error(self._reason))
        self.ended.set_result(None)


def reason(error: BaseException) -> str:
    """Return the first line of an error's text; for a group, of its first member."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error).partition("\n")[0] or type(error).__name__
