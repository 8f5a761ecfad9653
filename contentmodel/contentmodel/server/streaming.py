"""A streaming response with the events of a turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from contentmodel.server.log import EncodedEvent
from contentmodel.server.sse import frames

Batches = AsyncGenerator[list[EncodedEvent], None]


class EventStream(StreamingResponse):
    """Events as server-sent events, written by `encode`, and `end` after the last ones.

    The response ends after them, or when the client disconnects.
    """

    def __init__(
        self,
        batches: Batches,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        encode: Callable[[list[EncodedEvent]], bytes] = frames,
        end: bytes = b"",
    ) -> None:
        all_headers = {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})}
        self._pieces = _pieces(batches, encode, end)
        super().__init__(self._pieces, status, all_headers, "text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        # Close the generator explicitly: if the client disconnects during a send, it is left half read.
        async with aclosing(self._pieces):
            await super().stream_response(send)


async def _pieces(
    batches: Batches, encode: Callable[[list[EncodedEvent]], bytes], end: bytes
) -> AsyncGenerator[bytes, None]:
    async with aclosing(batches):
        async for batch in batches:
            yield encode(batch)
        if end:
            yield end
