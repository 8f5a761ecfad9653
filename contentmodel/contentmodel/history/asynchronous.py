"""The turn store over an async engine."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from contentmodel.history.common import Clock, utc_now
from contentmodel.history.engines import BUSY, leases_for, make_async_engine, url_of
from contentmodel.history.operations import StoreOperations
from contentmodel.history.steps import Asynchronous, Call, Work


class AsyncTurnStore(StoreOperations[AsyncEngine], Asynchronous):
    """The asynchronous TurnStore. Use it only in the event loop in which it was opened."""

    @classmethod
    async def open(
        cls, url_or_path: str | Path, *, busy_timeout: float = BUSY, clock: Clock = utc_now
    ) -> AsyncTurnStore:
        """Open a store. Arguments and errors are those of `TurnStore.open`."""
        url = url_of(url_or_path, is_async=True)
        store = cls(make_async_engine(url, busy_timeout), leases_for(url), clock)
        await store._run(store._open())
        return store

    async def __aenter__(self) -> AsyncTurnStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _do(self, step: Work | Call) -> Any:
        if isinstance(step, Call):
            return await step.function()
        if step.session is not None:
            return await step.session.run_sync(step.work)
        async with self._engine.connect() as connection:
            return await connection.run_sync(step.work)
