"""One call of an API: the request that is sent, and the answer as it is received.

Imports no SDK and does no I/O: the streams are given the function that sends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import Any, Self

import msgspec

from contentmodel.authoring import Encoded, Loss, Renames
from contentmodel.client import ClientError
from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import ENDED, Fold, StreamEvent, TurnError
from contentmodel.response import ChatResponse


class Call:
    """One request that is sent, with all that is needed to decode its answer."""

    def __init__(self, adapter: Any, encoded: Encoded, payload: dict[str, Any], model: str) -> None:
        self.adapter = adapter
        self.payload = payload
        self.model = model
        self.maps: Renames = encoded.maps
        self._encoded = encoded

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of the request. A loss of the model is left out: the client sets the model."""
        return tuple(loss for loss in self._encoded.losses if loss.path != "$.model")

    def restored(self, response: ChatResponse) -> ChatResponse:
        """Return an answer with the ids, names and arguments of the request."""
        if self.maps == Renames():
            return response
        return self.maps.restored_names(response, self.adapter.restore_arguments)

    def restoring(self) -> Callable[[StreamEvent], list[StreamEvent]]:
        """Return a function that restores the same in the events of one stream."""
        return self.maps.restoring(self.adapter.restore_arguments)


class Reading:
    """Decode an answer as its bytes are received: sans-I/O, the state of one stream."""

    def __init__(self, call: Call) -> None:
        self.failure: ClientError | None = None
        self._call = call
        self._decoder = call.adapter.stream_decoder()
        self._decoder.assume_model(call.model)
        self._restore = call.restoring()
        self._fold = Fold()
        self._ready: deque[StreamEvent] = deque()
        self._has_begun = False
        self._is_closed = False

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of the request."""
        return self._call.losses

    @property
    def maps(self) -> Renames:
        """The replaced ids and tool names. The events already have the original ones."""
        return self._call.maps

    @property
    def response(self) -> ChatResponse:
        """The response that the events so far make up."""
        return self._fold.response

    @property
    def _is_over(self) -> bool:
        return self._is_closed or self._decoder.is_over

    def _feed(self, data: bytes | None) -> None:
        """Decode more bytes; None is their end."""
        self._has_begun = True
        self._take(self._decoder.close() if data is None else self._decoder.feed(data))

    def _break(self, failure: ClientError, cause: Exception) -> None:
        """End the stream after a failure, and keep what was received. If nothing was, raise the failure."""
        failure.__cause__ = cause
        if not self._has_begun:
            raise failure
        error = ErrorContent(code=ENDED, message=str(failure), details={"kind": type(failure).__name__})
        events = [with_error(event, error) for event in self._decoder.close()]
        if any(isinstance(event, TurnError) for event in events):
            self.failure = failure
        self._take(events)

    def _take(self, events: list[StreamEvent]) -> None:
        self._ready.extend(restored for event in events for restored in self._restore(event))

    def _give(self) -> StreamEvent:
        event = self._ready.popleft()
        self._fold.feed(event)
        return event


def with_error(event: StreamEvent, error: ErrorContent) -> StreamEvent:
    """Return a TurnError with another error; return any other event as it is."""
    if not isinstance(event, TurnError):
        return event
    response = msgspec.structs.replace(event.response, error=error)
    changed: StreamEvent = msgspec.structs.replace(event, error=error, response=response)
    return changed


Chunks = tuple[Iterator[bytes], Callable[[], None]]
"""The bytes of an answer, and the function that closes its connection."""

AsyncChunks = tuple[AsyncIterator[bytes], Callable[[], Awaitable[None]]]


class SyncStream(Reading):
    """A ChatStream."""

    def __init__(self, call: Call, send: Callable[[], Chunks], broken: Callable[[Exception], ClientError]) -> None:
        super().__init__(call)
        self._send = send
        self._broken = broken
        self._chunks: Chunks | None = None

    @property
    def events(self) -> Iterator[StreamEvent]:
        return self

    def read(self) -> ChatResponse:
        for _ in self:
            pass
        return self.response

    def close(self) -> None:
        self._is_closed = True
        if self._chunks is not None:
            self._chunks[1]()

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        while not self._ready:
            if self._is_over:
                raise StopIteration
            self._advance(self._open())
        return self._give()

    def _open(self) -> Iterator[bytes]:
        if self._chunks is None and not self._is_closed:
            # If sending failed, further reads do not send the request again.
            self._is_closed = True
            self._chunks = self._send()
            self._is_closed = False
        return self._chunks[0] if self._chunks is not None else iter(())

    def _advance(self, chunks: Iterator[bytes]) -> None:
        try:
            data = next(chunks, None)
        except Exception as error:
            self.close()
            self._break(self._broken(error), error)
            return
        except BaseException:
            self.close()
            raise
        self._feed(data)
        if self._decoder.is_over:
            # Some hosts keep the connection open after the last event: do not wait for its end.
            self.close()


class AsyncStream(Reading):
    """An AsyncChatStream."""

    def __init__(
        self,
        call: Call,
        send: Callable[[], Awaitable[AsyncChunks]],
        broken: Callable[[Exception], ClientError],
    ) -> None:
        super().__init__(call)
        self._send = send
        self._broken = broken
        self._chunks: AsyncChunks | None = None

    @property
    def events(self) -> AsyncIterator[StreamEvent]:
        return self

    async def read(self) -> ChatResponse:
        async for _ in self:
            pass
        return self.response

    async def close(self) -> None:
        self._is_closed = True
        if self._chunks is not None:
            await self._chunks[1]()

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        while not self._ready:
            if self._is_over:
                raise StopAsyncIteration
            await self._advance(await self._open())
        return self._give()

    async def _open(self) -> AsyncIterator[bytes] | None:
        if self._chunks is None and not self._is_closed:
            self._is_closed = True
            self._chunks = await self._send()
            self._is_closed = False
        return self._chunks[0] if self._chunks is not None else None

    async def _advance(self, chunks: AsyncIterator[bytes] | None) -> None:
        try:
            data = None if chunks is None else await anext(chunks, None)
        except Exception as error:
            await self.close()
            self._break(self._broken(error), error)
            return
        except BaseException:
            # A cancelled task closes the connection, too.
            await self.close()
            raise
        self._feed(data)
        if self._decoder.is_over:
            await self.close()
