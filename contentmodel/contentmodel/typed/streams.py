"""Streams of typed answers: values that grow, and the checked value at the end."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from contentmodel.client import AsyncChatStream, ChatStream
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.events import ArgumentsDelta, BlockStart, BlockStop, StreamEvent, TextDelta
from contentmodel.json import Json
from contentmodel.partial import PartialJsonReader
from contentmodel.response import ChatResponse
from contentmodel.typed.answers import Typed
from contentmodel.typed.asking import Asking
from contentmodel.typed.outputs import VALUE

T = TypeVar("T")


class _Growing:
    """The value that the events so far contain."""

    def __init__(self, asking: Asking[Any]) -> None:
        self._asking = asking
        self._reader = PartialJsonReader()
        self._blocks: set[int] = set()
        self._has_begun = False
        self._last: Json = None

    def feed(self, event: StreamEvent) -> bool:
        """Take an event. Return whether the value has changed."""
        if isinstance(event, BlockStart) and self._is_answer(event.content):
            self._blocks.add(event.index)
            return isinstance(event.content, TextContent) and self._add(event.content.text)
        if isinstance(event, BlockStop) and not self._has_begun and event.index in self._blocks:
            # Some APIs send the arguments of a call as a whole.
            arguments = getattr(event.content, "arguments", None)
            return isinstance(arguments, dict) and self._take(arguments)
        if isinstance(event, TextDelta | ArgumentsDelta) and event.index in self._blocks:
            return self._add(event.text)
        return False

    def _is_answer(self, content: Any) -> bool:
        if self._asking.tool:
            return isinstance(content, FunctionCallContent) and content.name == self._asking.tool
        return isinstance(content, TextContent)

    def _add(self, text: str) -> bool:
        if not self._has_begun:
            # A model may write a code fence around the value.
            start = min((place for mark in "{[" if (place := text.find(mark)) >= 0), default=-1)
            if start < 0:
                return False
            text, self._has_begun = text[start:], True
        self._reader.feed(text)
        return self._take(self._reader.value)

    def _take(self, value: Json) -> bool:
        if self._asking.is_wrapped:
            value = value.get(VALUE) if isinstance(value, dict) else None
        if value is None or value == self._last:
            return False
        self._last = copy.deepcopy(value)
        return True

    @property
    def value(self) -> Json:
        return self._last


class _Ended(Generic[T]):
    """The typed answer at the end of a stream."""

    def __init__(self, asking: Asking[T]) -> None:
        self._asking = asking
        self._typed: Typed[T] | None = None

    def of(self, response: ChatResponse) -> Typed[T]:
        if self._typed is None:
            # A stream is not repeated, so that `answered` returns a value or raises.
            self._typed = self._asking.answered(response)
        if self._typed is None:
            raise AssertionError("a stream has no retries")
        return self._typed


class TypedStream(Generic[T]):
    """A streamed answer with a value: `partial` yields the value as it grows, `output` is the checked value.

    Read only one of `events` and `partial`. It is a context manager that closes the connection.
    """

    def __init__(self, stream: ChatStream, asking: Asking[T]) -> None:
        self._stream, self._asking = stream, asking
        self._growing = _Growing(asking)
        self._ended = _Ended(asking)

    @property
    def partial(self) -> Iterator[Any]:
        """The value as it grows, unchecked: objects have only complete keys, and texts may go on."""
        for event in self._stream:
            if self._growing.feed(event):
                yield self._growing.value

    @property
    def events(self) -> Iterator[StreamEvent]:
        """The events that are not read yet."""
        return self._stream.events

    @property
    def response(self) -> ChatResponse:
        """The response so far; the complete response once all events are read."""
        return self._stream.response

    @property
    def typed(self) -> Typed[T]:
        """The typed answer. Read the stream to its end first, if it is not. Raise OutputError if it has no value."""
        return self._ended.of(self._stream.read())

    @property
    def output(self) -> T:
        """The checked value. Read the stream to its end first, if it is not. Raise OutputError if there is none."""
        return self.typed.output

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def __enter__(self) -> Self:
        self._stream.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.__exit__(kind, error, trace)


class AsyncTypedStream(Generic[T]):
    """The asynchronous TypedStream. `read` returns the typed answer."""

    def __init__(self, stream: AsyncChatStream, asking: Asking[T]) -> None:
        self._stream, self._asking = stream, asking
        self._growing = _Growing(asking)
        self._ended = _Ended(asking)

    @property
    async def partial(self) -> AsyncIterator[Any]:
        """The value as it grows, unchecked: objects have only complete keys, and texts may go on."""
        async for event in self._stream:
            if self._growing.feed(event):
                yield self._growing.value

    @property
    def events(self) -> AsyncIterator[StreamEvent]:
        """The events that are not read yet."""
        return self._stream.events

    @property
    def response(self) -> ChatResponse:
        """The response so far; the complete response once all events are read."""
        return self._stream.response

    async def read(self) -> Typed[T]:
        """Read the stream to its end, and return the typed answer. Raise OutputError if it has no value."""
        return self._ended.of(await self._stream.read())

    async def close(self) -> None:
        """Close the connection."""
        await self._stream.close()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.__aexit__(kind, error, trace)
