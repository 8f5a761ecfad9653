"""Operations of stores and logs as steps that the sync and the async classes run.

Sans-I/O: an operation is a generator that yields the next step and receives its result or its error. The decorators
`operation` and `paged` turn it into a method: sync in a Synchronous class, async in an Asynchronous class.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, overload

from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
A = TypeVar("A")


IMMEDIATE = "contentmodel_writes"
"""The execution option that marks a connection whose transaction will write."""


class CancelledStepError(Exception):
    """Raised inside a transaction to roll it back, because its caller was cancelled."""


@dataclass
class Work:
    """Run `work` on `session`, or on a connection of the pool. The reply is its result.

    A cancellation of the caller does not interrupt the step, because a driver that is interrupted leaves a connection
    in an unknown state. The async driver sets `is_cancelled` and lets the step end.
    """

    work: Callable[[Connection], Any]
    session: Any = None
    is_cancelled: bool = False

    def run(self, connection: Connection) -> Any:
        """Run the step on a connection."""
        return self.work(connection)


@dataclass
class Change(Work):
    """Run `work` in a transaction, which is rolled back if the caller is cancelled before its end.

    If the caller is cancelled later, the async driver runs `undo` with the result, in a transaction of its own.
    """

    undo: Callable[[Connection, Any], Any] | None = None

    def run(self, connection: Connection) -> Any:
        with connection.execution_options(**{IMMEDIATE: True}).begin():
            result = self.work(connection)
            if self.is_cancelled:
                raise CancelledStepError
            return result


@dataclass(frozen=True)
class Uninterrupted(Generic[T]):
    """Run `steps` to their end, also if the caller is cancelled. The reply is their result."""

    steps: Generator[Any, Any, T]


@dataclass(frozen=True)
class Call:
    """Call `function`. The reply is its result. An async driver awaits it, and a cancellation interrupts it."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class Page(Generic[T]):
    """Yield the next items of a paged operation to the caller. There is no reply."""

    items: Sequence[T]


Step: TypeAlias = Work | Call | Uninterrupted[Any]
Steps: TypeAlias = Generator[Step, Any, T]
"""The steps of an operation with a result."""
Pages: TypeAlias = Generator[Step | Page[T], Any, None]
"""The steps of an operation that yields its items page by page."""


class Progress(Generic[T]):
    """The progress of an operation. `step` is the next step; at the end it is None, and `result` is set."""

    def __init__(self, steps: Generator[Any, Any, T]) -> None:
        self._steps = steps
        self.step: Any = None
        self.result: Any = None
        self.go_on()

    def go_on(self, reply: Any = None) -> None:
        """Go to the next step, with the reply of this one."""
        self._resume(self._steps.send, reply)

    def fail(self, error: BaseException) -> None:
        """Pass the error of this step to the operation. Go to the next step if it handles the error, else raise it."""
        self._resume(self._steps.throw, error)

    def _resume(self, resume: Callable[[Any], Any], value: Any) -> None:
        try:
            self.step = resume(value)
        except StopIteration as end:
            self.step, self.result = None, end.value


class Synchronous:
    """A mixin that runs the steps of operations. Subclasses implement `_do`, which runs one step."""

    def _do(self, step: Step) -> Any:
        raise NotImplementedError

    def _run(self, steps: Steps[T]) -> T:
        progress = Progress(steps)
        while progress.step is not None:
            self._advance(progress)
        result: T = progress.result
        return result

    def _each(self, pages: Pages[T]) -> Iterator[T]:
        """Return an iterator of the items. Run the first step immediately, so that the call raises its errors."""
        progress = Progress(pages)
        self._advance(progress)
        return self._items(progress)

    def _items(self, progress: Progress[None]) -> Iterator[Any]:
        while progress.step is not None:
            if isinstance(progress.step, Page):
                yield from progress.step.items
                progress.go_on()
            else:
                self._advance(progress)

    def _advance(self, progress: Progress[Any]) -> None:
        try:
            reply = self._do(progress.step)
        except BaseException as error:
            progress.fail(error)
        else:
            progress.go_on(reply)


class Asynchronous:
    """A mixin that runs the steps of operations asynchronously. Subclasses implement `_do`, which runs one step."""

    async def _do(self, step: Step) -> Any:
        raise NotImplementedError

    async def _run(self, steps: Steps[T]) -> T:
        progress = Progress(steps)
        while progress.step is not None:
            await self._advance(progress)
        result: T = progress.result
        return result

    async def _each(self, pages: Pages[T]) -> AsyncIterator[T]:
        progress = Progress(pages)
        while progress.step is not None:
            if isinstance(progress.step, Page):
                for item in progress.step.items:
                    yield item
                progress.go_on()
            else:
                await self._advance(progress)

    async def _advance(self, progress: Progress[Any]) -> None:
        try:
            reply = await self._do(progress.step)
        except BaseException as error:
            progress.fail(error)
        else:
            progress.go_on(reply)


class Operation(Generic[P, S, A]):
    """A method that returns S in a Synchronous class, and A in an Asynchronous one."""

    def __init__(self, method: Callable[..., S], async_method: Callable[..., A]) -> None:
        self._method, self._async_method = method, async_method

    @overload
    def __get__(self, owner: Synchronous, kind: Any) -> Callable[P, S]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: Any) -> Callable[P, A]: ...
    @overload
    def __get__(self, owner: None, kind: type[Synchronous]) -> Callable[Concatenate[Any, P], S]: ...
    @overload
    def __get__(self, owner: None, kind: type[Asynchronous]) -> Callable[Concatenate[Any, P], A]: ...
    def __get__(self, owner: Any, kind: Any) -> Any:
        method: Any = self._async_method if issubclass(kind, Asynchronous) else self._method
        return method.__get__(owner, kind)


def operation(steps: Callable[Concatenate[Any, P], Steps[T]]) -> Operation[P, T, Coroutine[Any, Any, T]]:
    """Turn a function that returns steps into a method that runs them and returns their result."""

    def method(self: Synchronous, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(steps(self, *args, **kwargs))

    async def async_method(self: Asynchronous, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(steps(self, *args, **kwargs))

    return Operation(_like(steps, "{}", method), _like(steps, "{}", async_method))


def paged(steps: Callable[Concatenate[Any, P], Pages[T]]) -> Operation[P, Iterator[T], AsyncIterator[T]]:
    """Turn a function that returns steps with pages into a method that runs them as its items are read."""

    def method(self: Synchronous, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._each(steps(self, *args, **kwargs))

    def async_method(self: Asynchronous, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._each(steps(self, *args, **kwargs))

    return Operation(_like(steps, "Iterator[{}]", method), _like(steps, "AsyncIterator[{}]", async_method))


def _like(steps: Callable[..., Any], result: str, method: Callable[..., T]) -> Callable[..., T]:
    """Copy the name, docstring and parameters of `steps` to a method. Format its return annotation with `result`."""
    wrapped: Any = wraps(steps)(method)
    signature = inspect.signature(steps)
    item = str(signature.return_annotation).partition("[")[2].removesuffix("]")
    wrapped.__signature__ = signature.replace(return_annotation=result.format(item))
    return method
