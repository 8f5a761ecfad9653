"""The common part of the two runners: all but the waiting."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from contextvars import copy_context
from functools import partial
from typing import Any

import msgspec

from contentmodel import inputs
from contentmodel.content.outcomes import ErrorContent
from contentmodel.events import CANCELLED, ENDED, StreamEvent
from contentmodel.inputs import Input
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.runner.calls import Settings, Task
from contentmodel.runner.jobs import Finished, Started
from contentmodel.runner.keeping import Keeping, MessageStore, check_store
from contentmodel.runner.loop import TIME_LIMIT, Ask, Execute, Loop, Step, following
from contentmodel.runner.observer import Observer
from contentmodel.runner.relay import Relay
from contentmodel.runner.report import RunInterrupted, RunResult
from contentmodel.tools.cancellation import Cancellation
from contentmodel.tools.definition import Tool
from contentmodel.tools.foreign import ForeignTool
from contentmodel.tools.sets import Definition, ToolSet
from contentmodel.tools.validation import InputLimits

TurnRequest = Input
"""The input of a run: a request, messages, or the text of a user."""

clock = time.monotonic
GRACE = 1.0
"""Seconds that are added to the remaining time of the run for the client's timeout."""


class BaseRunner:
    """A client, tools and settings; see `ToolRunner`. Has no state."""

    client: Any

    def __init__(
        self,
        client: Any,
        tools: ToolSet | Iterable[Tool | Definition | ForeignTool] = (),
        *,
        max_iterations: int = 5,
        timeout: float | None = 30.0,
        max_concurrency: int = 8,
        max_failures: int | None = 3,
        max_calls: int | None = None,
        max_seconds: float | None = None,
        max_result_characters: int | None = 1_000_000,
        answer_on_limit: bool = False,
        details: bool = False,
        request_timeout: float | None = None,
        state: Any = None,
        observer: Observer | None = None,
        input_limits: InputLimits | None = None,
        messages: MessageStore | None = None,
    ) -> None:
        if messages is not None:
            check_store(messages)
        self.client = client
        self.messages = messages
        self.tools = tools if isinstance(tools, ToolSet) else ToolSet(tools)
        self.observer = observer or Observer()
        self.settings = Settings(
            max_iterations=max_iterations,
            timeout=timeout,
            max_concurrency=max_concurrency,
            max_failures=max_failures,
            max_calls=max_calls,
            max_seconds=max_seconds,
            max_result_characters=max_result_characters,
            answer_on_limit=answer_on_limit,
            details=details,
            request_timeout=request_timeout,
            state=state,
            input_limits=input_limits or InputLimits(),
        )


class Run:
    """A run in progress: the loop, its current step, and the events of its stream."""

    def __init__(self, runner: BaseRunner, request: ChatRequest, cancellation: Cancellation | None) -> None:
        self.client = runner.client
        self._timeout = runner.settings.request_timeout
        # Do not use the caller's Cancellation directly: other runs may share it.
        self.cancellation = Cancellation()
        self._watching = ExitStack()
        if cancellation is not None:
            self._watching.enter_context(cancellation.watched(self.cancellation.cancel))
        self.result: RunResult | None = None
        self.failure: Exception | None = None
        self.observer = runner.observer
        self.loop = Loop(
            request,
            runner.tools,
            runner.settings,
            server_keeps=self.client.keeps_conversations,
            cancellation=self.cancellation,
            observer=self.observer,
            clock=clock,
        )
        self.relay = Relay(self.loop.ids)
        self._steps = self.loop.steps()
        self.step: Step | None = None
        self.go_on()

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the time of the run is up, at least 0; None without a limit."""
        return None if self.loop.deadline is None else max(0.0, self.loop.deadline - clock())

    @property
    def is_late(self) -> bool:
        """True if the time of the run is up."""
        return self.seconds_left == 0.0

    @property
    def timeout(self) -> float | None:
        """The timeout of the client's next request, in seconds; None without a limit.

        It is GRACE longer than the remaining time of the run: the run ends first, and an abandoned request ends soon
        after.
        """
        ends = [] if self.seconds_left is None else [self.seconds_left + GRACE]
        return min([*ends, *([] if self._timeout is None else [self._timeout])], default=None)

    def go_on(self, answer: ChatResponse | None = None) -> None:
        """Go to the next step. `answer` is the response to an `Ask`."""
        self.step = following(self._steps, answer)

    def end(self) -> RunResult:
        """End the run, notify the observer, and return the result."""
        if self.result is None:
            self._watching.close()
            self.result = self.loop.result()
            self.observer.run_ended(self.loop.run, self.result, self.failure)
        return self.result

    def abandon(self) -> None:
        """End the run early. Partial answers and finished results are kept in its result."""
        if self.result is None:
            self.loop.wind_up(self._steps, self.step, self._partial_answer(LEFT))
            self.step = None
            self.end()

    # -- answers -----------------------------------------------------------------------------------------------

    def ask(self, step: Ask) -> Any:
        """Notify the observer of a request to the model, and return the observer's handle for it."""
        request = step.request
        return self.observer.ask_started(self.loop.run, request, self.client.api, self.client.model or request.model)

    def answered(self, ask: Any, answer: ChatResponse | None) -> None:
        """Record the model's answer. It is None if the run was cancelled or out of time before there was one."""
        self.observer.ask_ended(ask, answer, None)
        self.go_on(answer)

    def fail(self, ask: Any, error: BaseException) -> BaseException:
        """End the run after a failed request. Return the error to raise: a RunInterrupted if any work was done."""
        self.observer.ask_ended(ask, None, error)
        if not isinstance(error, Exception):
            return error
        self.failure = error
        self.loop.failed(error)
        self.step = None
        result = self.end()
        return RunInterrupted.after(result, error) if result.responses or result.messages else error

    def fail_streaming(self, ask: Any, error: Exception) -> None:
        """End a stream after a failed request. The stream ends in a TurnError."""
        self.observer.ask_ended(ask, None, error)
        self.failure = error
        partial = self._partial_answer(ErrorContent(code=ENDED, message=str(error)))
        if partial is not None:
            self.go_on(partial)
        else:
            self.loop.failed(error)
            self.step = None

    def streamed_answer(self, *, is_late: bool = False) -> ChatResponse | None:
        """Return the answer of a stream that ended, was cancelled, or exceeded the time limit (`is_late`)."""
        if self.relay.is_complete:
            return self.relay.answer()
        if self.cancellation.is_cancelled:
            return self._partial_answer(LEFT)
        if is_late:
            return self._partial_answer(LATE)
        return self._partial_answer(STOPPED) or ChatResponse(error=STOPPED)

    def _partial_answer(self, why: ErrorContent) -> ChatResponse | None:
        """Return the unfinished answer with the error `why`; None if there is no answer."""
        if not self.relay.is_answering:
            return None
        answer = self.relay.answer()
        return answer if answer.error is not None else msgspec.structs.replace(answer, error=why)

    # -- calls -------------------------------------------------------------------------------------------------

    def note(self, step: Execute, progress: Started | Finished) -> Task:
        """Record that a job has started or finished, and return its task."""
        if isinstance(progress, Started):
            return self.loop.started(step, progress)
        return self.loop.finished(step, progress)

    def progress_events(self, step: Execute, progress: Started | Finished) -> Iterator[StreamEvent]:
        """Record that a job has started or finished, and yield the events of the stream."""
        task = self.note(step, progress)
        yield from self.relay.use(task) if isinstance(progress, Started) else self.relay.close(task)


class Beginning:
    """A run that begins when it is first read, in the context of the caller that created it."""

    def __init__(self, runner: BaseRunner, request: TurnRequest, cancellation: Cancellation | None) -> None:
        self.request = request_of(request)
        self.keeping = Keeping(runner.messages, self.request)
        self.run: Run | None = None
        self._context = copy_context()
        self._begin = partial(Run, runner, cancellation=cancellation)

    def begun(self) -> Run:
        """Return the run. The first call begins it."""
        if self.run is None:
            self.run = self._context.run(self._begin, request=self.keeping.request)
        return self.run


class BaseRunStream:
    """A streamed run. It begins when it is first read."""

    def __init__(self, beginning: Beginning) -> None:
        self._beginning = beginning

    @property
    def result(self) -> RunResult:
        """The result of the run. Until the run is over, it is partial, and `stop` is "unfinished"."""
        run = self._beginning.run
        if run is None:
            return RunResult(stop="unfinished", response=ChatResponse(), request=self._beginning.request)
        return run.result or run.loop.result()

    @property
    def failure(self) -> Exception | None:
        """The error of a failed request to the model, or None."""
        return None if self._beginning.run is None else self._beginning.run.failure

    def _cancel(self) -> None:
        run = self._beginning.run
        if run is not None and run.result is None:
            run.cancellation.cancel()


LEFT = ErrorContent(code=CANCELLED, message="the run was cancelled in the middle of the answer")
LATE = ErrorContent(code=TIME_LIMIT, message="the run reached its time limit in the middle of the answer")
STOPPED = ErrorContent(code=ENDED, message="the stream stopped in the middle of the answer")


def request_of(run_input: TurnRequest) -> ChatRequest:
    """Convert the input of a run to a request. Raise ValueError if it asks for more than one choice."""
    request = inputs.request_of(run_input)
    if request.options.choices not in (None, 1):
        raise ValueError(
            f"a run needs one choice, but the request asks for {request.options.choices}: set choices to 1"
        )
    return request
