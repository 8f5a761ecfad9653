"""A scripted model, for tests of code that calls models. It has no wire format."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Self

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FinishReason,
    FunctionCallContent,
    Origin,
    TextContent,
    Usage,
    fold,
    unfold,
)
from contentmodel.events import StreamEvent

ORIGIN = Origin(api="scripted", issuer="unknown")


def call(name: str, call_id: str, /, **arguments: Any) -> FunctionCallContent:
    """Return a call as a model makes it."""
    return FunctionCallContent(call_id=call_id, name=name, arguments=arguments)


def answer(*contents: Any, reason: str = "", **fields: Any) -> ChatResponse:
    """Return an answer of contents; strings become texts. If `reason` is empty, it follows from the calls."""
    made = [TextContent(text=content) if isinstance(content, str) else content for content in contents]
    calls = any(isinstance(content, FunctionCallContent) for content in made)
    finish = FinishReason(reason=reason or ("tool_calls" if calls else "stop"))
    message = ChatMessage(role="assistant", contents=made, origin=ORIGIN)
    choice = ChatChoice(messages=[message], finish_reason=finish)
    return ChatResponse(choices=[choice], **{"usage": Usage(input_tokens=10, output_tokens=1), **fields})


Line = ChatResponse | Exception | Callable[[ChatRequest], ChatResponse]
"""One step of a script: an answer, an error to raise, or a function of the request."""


class _Scripted:
    api = "scripted"
    model = None

    def __init__(self, script: Iterable[Line], *, keeps_conversations: bool = False) -> None:
        self._script = iter(script)
        self.keeps_conversations = keeps_conversations
        self.requests: list[ChatRequest] = []

    def _next(self, request: ChatRequest) -> ChatResponse:
        self.requests.append(request)
        line = next(self._script, None)
        if line is None:
            raise AssertionError("the script has no answer left")
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, ChatResponse) else line(request)


class Scripted(_Scripted):
    """A ChatClient. `open` counts the streams that were started and not closed."""

    open = 0

    def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        return self._next(request)

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> Stream:
        return Stream(self, request)

    def close(self) -> None:
        pass


class AsyncScripted(_Scripted):
    """An AsyncChatClient. Every answer yields to the event loop once."""

    open = 0

    async def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        await asyncio.sleep(0)
        return self._next(request)

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> AsyncStream:
        return AsyncStream(self, request)

    async def close(self) -> None:
        pass


class _Stream:
    failure = None
    losses = ()

    def __init__(self, client: Any, request: ChatRequest) -> None:
        self._client, self._request = client, request
        self._sent: list[StreamEvent] = []
        self._events: Iterator[StreamEvent] | None = None
        self._is_closed = False

    @property
    def response(self) -> ChatResponse:
        return fold(self._sent)

    def _next(self) -> StreamEvent | None:
        if self._events is None:
            self._client.open += 1
            self._events = unfold(self._client._next(self._request), size=5)
        event = next(self._events, None)
        if event is not None:
            self._sent.append(event)
        return event

    def _close(self) -> None:
        if self._events is not None and not self._is_closed:
            self._is_closed = True
            self._client.open -= 1


class Stream(_Stream):
    """A ChatStream."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        event = self._next()
        if event is None:
            raise StopIteration
        return event

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


class AsyncStream(_Stream):
    """An AsyncChatStream."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        await asyncio.sleep(0)
        event = self._next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def close(self) -> None:
        self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.close()


class Gate:
    """Synchronizes a test and its tools without a clock."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

    def pass_through(self) -> None:
        """Signal arrival, and wait until the gate is opened."""
        self.entered.release()
        self.opened.wait(30)


async def collected(events: AsyncIterator[StreamEvent]) -> list[StreamEvent]:
    """Return all events of a stream."""
    return [event async for event in events]
