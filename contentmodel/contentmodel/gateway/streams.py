"""Convert a stream while it arrives: keep-alives while the upstream is silent, and an error if it breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress

import httpx2

from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import TurnError
from contentmodel.framing import StreamFormat
from contentmodel.gateway.conversations import Thread
from contentmodel.gateway.front import Front
from contentmodel.gateway.report import logger
from contentmodel.response import ChatResponse
from contentmodel.streams import StreamConverter

LAST_WAIT = 0.25
"""The seconds to wait for the end of a body after the last event of its stream.

A connection is used again only if its body was read to the end. Some hosts keep the connection open instead.
"""


class Conversion:
    """The conversion of one stream for a client.

    `failure` is the failure of the transport that ended the upstream's stream, if it broke.
    """

    def __init__(
        self, chunks: AsyncIterator[bytes], converter: StreamConverter, front: Front, thread: Thread | None = None
    ) -> None:
        """`thread` stores the answer: each block is stored before its end is yielded."""
        self.converter, self._thread = converter, thread
        self.failure: Exception | None = None
        self._chunks, self._front = chunks, front

    async def pieces(self, heartbeat: float) -> AsyncGenerator[bytes | None, None]:
        """Yield the client's stream, and None whenever it got nothing for `heartbeat` seconds.

        Chunks that convert to nothing, as comments, do not end a silence. If the upstream's stream broke, the last
        piece has the error.
        """
        arrived: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(1)
        silence = _Silence(arrived, heartbeat / 2)
        async with aclosing(_with_silences(self._chunks, arrived, silence)) as arriving:
            try:
                async for chunk in arriving:
                    piece = b"" if chunk is None else await self._fed(chunk)
                    yield piece if piece or not silence.is_due else None
                    silence.look_away(bool(piece))
                    if self.converter.end is not None:
                        break
                last = self.converter.close()
            except (httpx2.HTTPError, OSError) as error:
                self.failure = error
                last = self.converter.close()
            except Exception:
                logger.exception("the stream could not be converted to %s", self._front.api)
                last = self._defect()
            yield last
            if self.failure is None:
                with suppress(TimeoutError, httpx2.HTTPError, OSError):
                    async with asyncio.timeout(LAST_WAIT):
                        async for _ in arriving:
                            pass

    async def _fed(self, chunk: bytes) -> bytes:
        converted = self.converter.feed(chunk)
        if self._thread is not None:
            await self._thread.write()
        return converted

    def _defect(self) -> bytes:
        """End the stream after a failure of the conversion itself."""
        error = ErrorContent(message="the gateway could not convert the stream: its log has the cause", kind="server")
        self.converter.end = TurnError(error=error, response=ChatResponse())
        encoder = self._front.adapter.stream_encoder(self._front.policies)
        return encoder.feed(self.converter.end) + encoder.close()


async def sniffed(chunks: AsyncIterator[bytes], stream_format: StreamFormat) -> tuple[bool, AsyncIterator[bytes]]:
    """Return whether chunks are the start of a stream, and all chunks.

    Some servers send their events without a content type, or with that of JSON or plain text
    (nearai/private-ml-sdk#20, seen 2026-11-27).
    """
    begun, is_stream = b"", None
    while is_stream is None:
        chunk = await anext(chunks, None)
        begun += chunk or b""
        is_stream = False if chunk is None else stream_format.begins(begun)
    return is_stream, _joined(begun, chunks)


async def _joined(first: bytes, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    yield first
    async for chunk in chunks:
        yield chunk


async def _with_silences(
    chunks: AsyncIterator[bytes], arrived: asyncio.Queue[bytes | Exception | None], silence: _Silence
) -> AsyncGenerator[bytes | None, None]:
    """Yield the chunks, and None when a silence is due and no chunk has arrived.

    A task reads the chunks, one ahead. So a chunk needs no timer of its own, and no read is cancelled.
    """
    reading = asyncio.create_task(_read_into(arrived, chunks))
    try:
        while (item := await arrived.get()) != b"":
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        silence.end()
        # The connection can be closed only when the read has ended.
        reading.cancel()
        await asyncio.wait({reading})


async def _read_into(queue: asyncio.Queue[bytes | Exception | None], chunks: AsyncIterator[bytes]) -> None:
    """Put the chunks into a queue, and then their end: an empty chunk, or the exception that ended them."""
    try:
        async for chunk in chunks:
            if chunk:
                await queue.put(chunk)
    except Exception as error:
        await queue.put(error)
    else:
        await queue.put(b"")


class _Silence:
    """Becomes due if the client got nothing since the last look, `interval` seconds ago.

    It puts None into the queue then, if the queue is empty.
    """

    def __init__(self, queue: asyncio.Queue[bytes | Exception | None], interval: float) -> None:
        self.is_due = False
        self._has_sent = True
        self._queue, self._interval = queue, interval
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(interval, self._look)

    def look_away(self, has_sent: bool) -> None:
        """Note that the client got an event, or a keep-alive if one was due."""
        self.is_due = False
        self._has_sent = self._has_sent or has_sent

    def _look(self) -> None:
        if not self._has_sent:
            self.is_due = True
            if self._queue.empty():
                self._queue.put_nowait(None)
        self._has_sent = False
        self._timer = self._loop.call_later(self._interval, self._look)

    def end(self) -> None:
        """Stop looking."""
        self._timer.cancel()
