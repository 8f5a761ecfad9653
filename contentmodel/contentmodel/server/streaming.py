"""The events of a turn on their way to one client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from contentmodel.server.log import Told
from contentmodel.server.sse import frames

logger = logging.getLogger("contentmodel.server")


class EventStream(StreamingResponse):
    """Batches of events as server-sent events; an empty batch is a heartbeat.

    It ends with the batches, when the client leaves, or when it takes nothing for `patience` seconds.
    """

    def __init__(
        self,
        batches: AsyncGenerator[list[Told], None],
        patience: float,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        said = {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})}
        super().__init__(_framed(batches), status, said, "text/event-stream")
        self._batches, self._patience = batches, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        async def send_soon(message: Message) -> None:
            async with asyncio.timeout(self._patience):
                await send(message)

        # Closed here and now: a client that leaves while it is sent something leaves the events half read.
        try:
            async with aclosing(self._batches):
                await super().stream_response(send_soon)
        except TimeoutError:
            logger.info("a client has taken nothing for %s seconds, and is left", self._patience)


async def _framed(batches: AsyncGenerator[list[Told], None]) -> AsyncGenerator[bytes, None]:
    async for batch in batches:
        yield frames(batch)
