"""The interface for observing runs: requests to the model and tool calls, at their start and end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from contentmodel.content.tools import FunctionCallContent
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.runner.jobs import OnOutcome
from contentmodel.runner.report import RunResult
from contentmodel.tools.definition import Tool


class Observer:
    """Observe runs; override the methods of interest. One observer may observe several runs at once.

    The return value of `run_started` is passed to the other methods as `run`, that of `ask_started` to `ask_ended` and
    `asking` as `ask`. An exception is raised to the caller of the run; in `calling` it becomes the outcome of the call.
    """

    def run_started(self, request: ChatRequest) -> Any:
        """Handle the start of a run."""

    def run_ended(self, run: Any, result: RunResult, error: Exception | None) -> None:
        """Handle the end of a run; `error` is the client's exception, or None."""

    def ask_started(self, run: Any, request: ChatRequest, api: str, model: str | None) -> Any:
        """Handle the start of a request to the model."""

    def ask_ended(self, ask: Any, response: ChatResponse | None, error: BaseException | None) -> None:
        """Handle the end of a request. `response` and `error` are both None if the run was cancelled first."""

    def asking(self, ask: Any) -> AbstractContextManager[Any]:
        """Return a context manager that is entered around a request that is not streamed."""
        return nullcontext()

    def calling(self, run: Any, tool: Tool, call: FunctionCallContent) -> AbstractContextManager[OnOutcome]:
        """Return a context manager that is entered around a run of a tool, in the tool's thread or task.

        It yields a function that is called with the outcome. If the call was given up, the outcome is the reason (a
        TimeoutError, Cancelled or OutOfTime), even if the tool returned a value.
        """
        return nullcontext(lambda outcome: None)
