"""Limit the time for which a client may keep its connection waiting. Does not depend on routes or conversations.

ASGI has no way to close a connection. Returning or raising is not enough: the server closes the connection only after
it has sent its buffered bytes, and a client that reads nothing never takes them. So the transport itself is aborted if
it is accessible (it is with uvicorn, for h11 and httptools). Otherwise TimeoutError is raised.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger("contentmodel.server")

CHUNK = 64 * 1024
"""Bytes that a client must take, or send, within `patience`."""
LOOK = 0.1
"""Seconds between two checks of the bytes that a client has not taken yet."""


class Connections:
    """Run an ASGI app for clients that have `patience` seconds for each CHUNK, and `grace` seconds after `stop`."""

    def __init__(self, patience: float, grace: float) -> None:
        self._patience, self._grace = patience, grace
        self._open: set[asyncio.Timeout] = set()
        self._latest: dict[Any, asyncio.Timeout] = {}
        self._end: float | None = None

    def stop(self) -> None:
        """Limit every open connection to `grace` more seconds."""
        self._end = asyncio.get_running_loop().time() + self._grace
        for deadline in self._open:
            when = deadline.when()
            if not deadline.expired() and (when is None or when > self._end):
                deadline.reschedule(self._end)

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Run `app` for one request, and abort the connection if its client is too slow."""
        transport = _transport_of(receive, send)
        deadline = self._latest[transport] = asyncio.timeout(None)
        try:
            async with deadline:
                self._open.add(deadline)
                self._expect_nothing(deadline)
                try:
                    await app(scope, self._patient_receive(receive, deadline), self._patient_send(send, deadline))
                except Exception:
                    await self._drained(transport, deadline)
                    raise
                await self._drained(transport, deadline)
        except TimeoutError:
            if not deadline.expired() or transport is None:
                raise
        finally:
            self._open.discard(deadline)
            if self._latest.get(transport) is deadline:
                del self._latest[transport]
            if deadline.expired() and transport is not None:
                logger.info("a client was too slow and is disconnected")
                await _abort(transport, receive)

    def _patient_send(self, send: Send, deadline: asyncio.Timeout) -> Send:
        async def send_in_time(message: Message) -> None:
            for piece in _pieces(message):
                self._expect_progress(deadline)
                await send(piece)
            self._expect_nothing(deadline)

        return send_in_time

    def _patient_receive(self, receive: Receive, deadline: asyncio.Timeout) -> Receive:
        received, is_whole = CHUNK, False

        async def receive_in_time() -> Message:
            nonlocal received, is_whole
            if is_whole:
                return await receive()
            if received >= CHUNK:
                received = 0
                self._expect_progress(deadline)
            message = await receive()
            received += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if is_whole:
                self._expect_nothing(deadline)
            return message

        return receive_in_time

    async def _drained(self, transport: Any, deadline: asyncio.Timeout) -> None:
        """Wait until the client has taken the whole response, or sends another request on the connection."""
        if transport is None:
            return
        self._expect_progress(deadline)
        while transport.get_write_buffer_size() and self._latest.get(transport) is deadline:
            await asyncio.sleep(LOOK)

    def _expect_progress(self, deadline: asyncio.Timeout) -> None:
        self._set(deadline, asyncio.get_running_loop().time() + self._patience)

    def _expect_nothing(self, deadline: asyncio.Timeout) -> None:
        self._set(deadline, None)

    def _set(self, deadline: asyncio.Timeout, when: float | None) -> None:
        if self._end is not None:
            when = self._end if when is None else min(when, self._end)
        if not deadline.expired():
            deadline.reschedule(when)


def _pieces(message: Message) -> Iterator[Message]:
    """Split a body into chunks, so that the deadline is renewed after each chunk."""
    body = message.get("body", b"")
    if len(body) <= CHUNK:
        yield message
        return
    for begin in range(0, len(body), CHUNK):
        is_last = begin + CHUNK >= len(body)
        more = message.get("more_body", False) or not is_last
        yield {**message, "body": body[begin : begin + CHUNK], "more_body": more}


def _transport_of(receive: Receive, send: Send) -> Any:
    """Return the transport of the connection, an attribute of uvicorn's request cycle. None with other servers."""
    for call in (receive, send):
        transport = getattr(getattr(call, "__self__", None), "transport", None)
        if callable(getattr(transport, "abort", None)) and hasattr(transport, "get_write_buffer_size"):
            return transport
    return None


async def _abort(transport: Any, receive: Receive) -> None:
    """Drop the connection and its buffered bytes, and wait until the server reports the disconnect."""
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass
