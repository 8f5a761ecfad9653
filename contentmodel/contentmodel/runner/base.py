"""What the two runners have in common: everything but the waiting."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.events import ENDED, StreamEvent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.runner.calls import Settings
from contentmodel.runner.jobs import Finished, Started
from contentmodel.runner.loop import Ask, Execute, Loop, Step, following
from contentmodel.runner.observer import Observer
from contentmodel.runner.relay import Relay
from contentmodel.runner.report import RunInterrupted, RunResult
from contentmodel.tools.cancellation import Cancellation
from contentmodel.tools.definition import Tool
from contentmodel.tools.sets import Definition, ToolSet

Asked = ChatRequest | Sequence[ChatMessage] | str
"""What a run begins with: a request, messages, or the words of a user."""

clock = time.monotonic


class BaseRunner:
    """A client, tools and settings; `ToolRunner` says what each is. It has no state of its own."""

    client: Any

    def __init__(
        self,
        client: Any,
        tools: ToolSet | Iterable[Tool | Definition] = (),
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
    ) -> None:
        limits = {"max_iterations": max_iterations, "max_concurrency": max_concurrency}
        wrong = [f"{name}={value}" for name, value in limits.items() if value < 1]
        if wrong:
            raise ValueError(f"less than 1 allows nothing: {', '.join(wrong)}")
        self.client = client
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
        )


class Run:
    """One run, as it is driven: the loop, its steps, and what is told of it."""

    def __init__(self, runner: BaseRunner, asked: Asked, cancellation: Cancellation | None) -> None:
        self.client = runner.client
        self.timeout = runner.settings.request_timeout
        self.cancellation = cancellation or Cancellation()
        self.result: RunResult | None = None
        self.failure: Exception | None = None
        self._observer = runner.observer
        self.loop = Loop(
            request_of(asked),
            runner.tools,
            runner.settings,
            server_keeps=self.client.keeps_conversations,
            cancellation=self.cancellation,
            observer=self._observer,
            clock=clock,
        )
        self.relay = Relay(self.loop.ids)
        self._steps = self.loop.steps()
        self.step: Step | None = following(self._steps)

    def go_on(self, answer: ChatResponse | None = None) -> None:
        """The step is done; an `Ask` was answered with `answer`."""
        self.step = following(self._steps, answer)

    def end(self) -> RunResult:
        """The run is over."""
        if self.result is None:
            self.result = self.loop.result()
            self._observer.run_ended(self.loop.run, self.result, self.failure)
        return self.result

    def abandon(self) -> None:
        """Whoever waits for the run waits no more. What it came to is its result all the same."""
        self.loop.wind_up(self._steps, self.step, self.partial_answer(CANCELLED))
        self.step = None
        self.end()

    @contextmanager
    def asking(self, step: Ask, *, is_streamed: bool) -> Iterator[list[ChatResponse]]:
        """The observer watches the model being asked; what is put into the list is the answer."""
        answers: list[ChatResponse] = []
        request = step.request
        ask = self._observer.ask_started(self.loop.run, request, self.client.api, self.client.model or request.model)
        try:
            if is_streamed:
                # A stream is read in whatever context its reader has by then: there is none to enter.
                yield answers
            else:
                with self._observer.asking(ask):
                    yield answers
        except BaseException as error:
            self._observer.ask_ended(ask, None, error)
            raise
        self._observer.ask_ended(ask, answers[0] if answers else None, None)

    def fail(self, error: Exception) -> Exception:
        """The model could not be asked: what to raise. It is the error itself, where nothing was done before."""
        self.failure = error
        self.loop.failed(error)
        self.step = None
        result = self.end()
        return RunInterrupted(result, error) if result.messages else error

    def fail_streaming(self, error: Exception) -> None:
        """The same in the middle of a stream, which ends in a TurnError."""
        self.failure = error
        partial = self.partial_answer(ErrorContent(code=ENDED, message=str(error)))
        if partial is not None:
            self.go_on(partial)
        else:
            self.loop.failed(error)
            self.step = None

    def partial_answer(self, why: ErrorContent) -> ChatResponse | None:
        """What there is of an answer that broke off; None where there is nothing."""
        if not self.relay.is_answering:
            return None
        answer = self.relay.answer()
        return answer if answer.error is not None else msgspec.structs.replace(answer, error=why)

    def streamed_answer(self) -> ChatResponse | None:
        """The answer whose stream is over, or was left when the run was cancelled."""
        if self.relay.is_complete:
            return self.relay.answer()
        return self.partial_answer(CANCELLED if self.cancellation.is_cancelled else STOPPED)

    def told(self, step: Execute, progress: Started | Finished) -> Iterator[StreamEvent]:
        """Something has happened to a job: what the stream tells of it."""
        if isinstance(progress, Started):
            yield from self.relay.use(self.loop.started(step, progress))
        else:
            yield from self.relay.close(self.loop.finished(step, progress))

    def note(self, step: Execute, progress: Started | Finished) -> None:
        """Something has happened to a job."""
        if isinstance(progress, Started):
            self.loop.started(step, progress)
        else:
            self.loop.finished(step, progress)


CANCELLED = ErrorContent(code="cancelled", message="the run was cancelled in the middle of the answer")
STOPPED = ErrorContent(code=ENDED, message="the stream stopped in the middle of the answer")


def request_of(asked: Asked) -> ChatRequest:
    """What a run begins with, as a request. ValueError where it asks for more than one answer at a time."""
    if isinstance(asked, str):
        return ChatRequest(messages=[ChatMessage(role="user", contents=[TextContent(text=asked)])])
    if not isinstance(asked, ChatRequest):
        return ChatRequest(messages=list(asked))
    if asked.options.choices not in (None, 1):
        raise ValueError(f"a run goes on with one answer: the request asks for {asked.options.choices} choices")
    return asked
