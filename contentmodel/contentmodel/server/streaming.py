"""A streaming response with the events of a turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from contentmodel.server.log import EncodedEvent
from contentmodel.server.sse import frames


class EventStream(StreamingResponse):
    """Batches of events as server-sent events; an empty batch is a heartbeat.

    The response ends after the last batch, or when the client disconnects.
    """

    def __init__(
        self,
        batches: AsyncGenerator[list[EncodedEvent], None],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        all_headers = {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})}
        super().__init__(_framed(batches), status, all_headers, "text/event-stream")
        self._batches = batches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        # Close the batches explicitly: if the client disconnects during a send, the generator is left half read.
        async with aclosing(self._batches):
            await super().stream_response(send)


async def _framed(batches: AsyncGenerator[list[EncodedEvent], None]) -> AsyncGenerator[bytes, None]:
    async for batch in batches:
        yield frames(batch)
