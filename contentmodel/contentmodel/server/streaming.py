"""A streaming response with the events of a turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class EventStream(StreamingResponse):
    """The bytes of server-sent events. The response ends after the last ones, or when the client disconnects."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        all_headers = {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})}
        super().__init__(pieces, status, all_headers, "text/event-stream")
        self._pieces = pieces

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
