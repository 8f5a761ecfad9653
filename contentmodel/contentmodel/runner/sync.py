"""Drive the loop with a synchronous client. Tools run on threads."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from contentmodel.client import ChatClient
from contentmodel.events import StreamEvent
from contentmodel.request import ChatRequest
from contentmodel.runner.base import BaseRunner, BaseRunStream, Beginning, Run, TurnRequest, clock, request_of
from contentmodel.runner.keeping import Keeping
from contentmodel.runner.loop import Ask, Check, Execute
from contentmodel.runner.report import RunResult
from contentmodel.runner.threads import in_threads
from contentmodel.runner.typed import TypedRun
from contentmodel.tools.background import TimedOut, WorkerThread, run_in_background, run_within
from contentmodel.tools.cancellation import Cancellation
from contentmodel.typed.answers import OutputMode

T = TypeVar("T")


class ToolRunner(BaseRunner):
    """Call a model, run the tools that it calls, send their results, and repeat until it calls none.

    | setting | what it limits | default |
    |---|---|---|
    | `max_iterations` | answers of the model | 5 |
    | `timeout` | seconds for one run of a tool that does not set its own; None: no limit | 30 |
    | `max_concurrency` | tools that run at once | 8 |
    | `max_failures` | turns in a row in which every call failed | 3 |
    | `max_calls` | runs of tools | None |
    | `max_seconds` | the whole run: answers, validation and tools; hanging work is left to its thread | None |
    | `max_result_characters` | characters of one result that are sent to the model | 1,000,000 |
    | `request_timeout` | seconds for an answer, as the client understands it | None |
    | `input_limits` | size, depth and work of the arguments of one call: an `InputLimits` | `InputLimits()` |

    `answer_on_limit` sends the last request with the tool choice "none", so that the run ends in text: the last request
    that `max_iterations` allows, or one more if `max_calls` or `max_failures` is reached before. `max_seconds` is not
    affected.

    `details` sends the type and traceback of an exception to the model. `state` is passed to tools that take a
    ToolContext. `observer` observes the run. A run offers the tools that the request declares, then `tools`. Calls of
    tools that only the request declares are handed back. A runner has no state: it may drive several runs at once if
    its client may.

    `messages` stores one conversation; it is a `MessageLog` of a tool configuration file, for example. A run begins
    with the loaded messages, followed by the request's. At its end the request's messages and the new ones are saved.
    So pass only new messages to such a runner; `result.request` has no saved message.

    Raise ValueError for a limit that is not above 0, and ToolDefinitionError if two tools have the same name.
    """

    client: ChatClient

    def run(
        self,
        request: TurnRequest,
        *,
        output: Any = None,
        mode: OutputMode | None = None,
        retries: int = 0,
        cancellation: Cancellation | None = None,
    ) -> RunResult:
        """Run to the end. If the request ends in calls without results, the run begins with these calls.

        If the client raises before any work was done, its error is raised unchanged. Later, RunInterrupted is raised,
        which has the result so far. `cancellation` stops the run from another thread: between answers, and while tools
        run.

        `output` is the type of the last answer: `result.output` is its value. `mode` and `retries` are those of
        `TypedChatClient.complete`. Raise OutputError if the last answer has no value of the type. A run that ends
        early, at a limit for example, has no `output`.
        """
        asked = request_of(request)
        if output is None:
            return self._run(asked, cancellation)
        typed = TypedRun(self, asked, output, mode, retries)
        while (result := typed.ended(self._run(typed.request, cancellation))) is None:
            pass
        return result

    def _run(self, request: ChatRequest, cancellation: Cancellation | None) -> RunResult:
        keeping = Keeping(self.messages, request)
        run = Run(self, keeping.request, cancellation)
        try:
            while run.step is not None:
                if isinstance(run.step, Ask):
                    _ask(run, run.step)
                elif isinstance(run.step, Check):
                    _check(run, run.step)
                elif isinstance(run.step, Execute):
                    _execute(run, run.step)
                else:
                    run.go_on()
        except BaseException as error:
            run.abandon()
            keeping.save_early_end(run.result, error)
            raise
        return keeping.saved(run.end())

    def stream(self, request: TurnRequest, *, cancellation: Cancellation | None = None) -> RunStream:
        """Return the event stream of a run. The run begins when the stream is first read."""
        return RunStream(Beginning(self, request, cancellation))


class RunStream(BaseRunStream):
    """The events of one run: an iterator, and a context manager that ends the run on exit.

    The events form one turn: the blocks of answers and results are numbered consecutively, and `contentmodel.fold`
    makes the response of the result of them. A client's error is raised if there was no event before. Later the stream
    ends in a TurnError, and `failure` is the error.
    """

    def __init__(self, beginning: Beginning) -> None:
        super().__init__(beginning)
        # The generator has no reference to this object, so that an unused stream is collected and ends at once.
        self._events = _all(beginning)

    def read(self) -> RunResult:
        """Read the stream to its end, and return the result."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """End the run: send no more requests, and do not wait for running tools.

        If another thread is reading the stream, its iteration ends.
        """
        self._cancel()
        # `close` raises ValueError while another thread is reading. The cancellation ends that thread's iteration.
        with suppress(ValueError):
            self._events.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        return next(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _all(beginning: Beginning) -> Generator[StreamEvent, None, None]:
    run, keeping = beginning.begun(), beginning.keeping
    try:
        while run.step is not None:
            if isinstance(run.step, Ask):
                yield from _answer(run, run.step)
            elif isinstance(run.step, Check):
                _check(run, run.step)
            elif isinstance(run.step, Execute):
                yield from _results(run, run.step)
            else:
                yield from run.relay.emit_message(run.step.message)
                run.go_on()
        run.result = keeping.saved(run.end())
        yield from run.relay.end(run.result)
    finally:
        run.abandon()
        keeping.save_early_end(run.result, None)


def _ask(run: Run, step: Ask) -> None:
    ask = run.ask(step)
    try:
        with run.observer.asking(ask):
            work = partial(run.client.complete, step.request, timeout=run.timeout)
            answer = run.loop.ids.of_answer(run_within(work, run.seconds_left, "answer"))
    except TimedOut:
        run.answered(ask, None)
        return
    except BaseException as error:
        failure = run.fail(ask, error)
        if failure is error:
            raise
        raise failure from error
    run.answered(ask, answer)


def _check(run: Run, step: Check) -> None:
    try:
        run_within(step.work.run, run.seconds_left if step.work.is_slow else None, "validation")
    except TimedOut:
        step.work.give_up()
    run.go_on()


def _execute(run: Run, step: Execute) -> None:
    with closing(in_threads(run.loop.batch(step), run.cancellation, clock)) as happening:
        for progress in happening:
            run.note(step, progress)
    run.go_on()


def _answer(run: Run, step: Ask) -> Generator[StreamEvent, None, None]:
    ask, is_late = run.ask(step), False
    try:
        with closing(_Reader(run, step)) as events:
            for event in events:
                yield from run.relay.feed(event)
                if run.cancellation.is_cancelled:
                    break
    except TimedOut:
        is_late = True
    except Exception as error:
        if not run.relay.has_begun:
            run.fail(ask, error)
            raise
        run.fail_streaming(ask, error)
        return
    except BaseException as error:
        run.fail(ask, error)
        raise
    run.answered(ask, run.streamed_answer(is_late=is_late))


class _Reader:
    """The events of one answer. Reading raises TimedOut when the time of the run is up."""

    def __init__(self, run: Run, step: Ask) -> None:
        self._run = run
        self._stream = run.client.stream(step.request, timeout=run.timeout)
        self._thread = None if run.seconds_left is None else WorkerThread("answer")
        self._is_entered = False

    def __iter__(self) -> Iterator[StreamEvent]:
        while (event := self._within(self._next)) is not None:
            yield event

    def _next(self) -> StreamEvent | None:
        if not self._is_entered:
            self._is_entered = True
            self._stream.__enter__()
        return next(self._stream, None)

    def _within(self, work: Callable[[], T]) -> T:
        if self._thread is None:
            return work()
        if self._run.is_late:
            raise TimedOut
        return self._thread.call(work, self._run.seconds_left or 0.0)

    def close(self) -> None:
        """Close the connection. If it hangs, close it on another thread."""
        if self._thread is None:
            self._stream.close()
            return
        self._thread.end()
        if self._thread.is_busy:
            run_in_background(self._stream.close, "closing")
        else:
            self._stream.close()


def _results(run: Run, step: Execute) -> Generator[StreamEvent, None, None]:
    yield from run.relay.open(step.tasks)
    with closing(in_threads(run.loop.batch(step), run.cancellation, clock)) as happening:
        for progress in happening:
            yield from run.progress_events(step, progress)
    run.go_on()
