"""The turn store over an async engine."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from contentmodel.history.common import Clock, utc_now
from contentmodel.history.engines import BUSY, leases_for, make_async_engine, url_of
from contentmodel.history.leases import Leases
from contentmodel.history.operations import StoreOperations
from contentmodel.history.steps import Asynchronous, Call, Change, Step, Uninterrupted, Work

PATIENCE = 1.0
"""The time in seconds that a cancelled call waits for its current step. Then the step ends in the background."""


class AsyncTurnStore(StoreOperations[AsyncEngine], Asynchronous):
    """The asynchronous TurnStore. Use it only in the event loop in which it was opened.

    A cancelled method leaves the store usable. A change that was not committed by then is rolled back.
    """

    def __init__(self, engine: AsyncEngine, leases: Leases, clock: Clock, mutex: asyncio.Lock) -> None:
        super().__init__(engine, leases, clock, mutex)
        self._tasks: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls, url_or_path: str | Path, *, busy_timeout: float = BUSY, clock: Clock = utc_now
    ) -> AsyncTurnStore:
        """Open a store. Arguments and errors are those of `TurnStore.open`."""
        url = url_of(url_or_path, is_async=True)
        store = cls(make_async_engine(url, busy_timeout), leases_for(url), clock, asyncio.Lock())
        await store._run(store._open())
        return store

    async def __aenter__(self) -> AsyncTurnStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _do(self, step: Step) -> Any:
        if isinstance(step, Call):
            return await step.function()
        # Each step is a task of its own, so that a cancellation of the caller never reaches the driver.
        task = self._start(self._run(step.steps) if isinstance(step, Uninterrupted) else self._perform(step))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            if isinstance(step, Work):
                step.is_cancelled = True
            await asyncio.wait({self._start(self._settled(task, step))}, timeout=PATIENCE)
            raise
        return task.result()

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _perform(self, step: Work) -> Any:
        if step.session is not None:
            return await step.session.run_sync(step.run)
        async with self._engine.connect() as connection:
            return await connection.run_sync(step.run)

    async def _settled(self, task: asyncio.Task[Any], step: Step) -> None:
        """Wait for the end of a step whose caller was cancelled. Undo its change if it was committed anyway."""
        with suppress(Exception):
            result = await task
            if isinstance(step, Change) and (undo := step.undo) is not None:
                await self._perform(Change(lambda connection: undo(connection, result)))

    async def _dispose(self) -> None:
        # Steps of cancelled callers still use a connection.
        steps = self._tasks - {asyncio.current_task()}
        if steps:
            await asyncio.wait(steps, timeout=PATIENCE)
        await self._engine.dispose()
