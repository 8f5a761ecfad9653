"""Who watches a run: every answer and every call, as they begin and as they end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from contentmodel.content.tools import FunctionCallContent
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.runner.jobs import EncodedEvent
from contentmodel.runner.report import RunResult
from contentmodel.tools.definition import Tool


class Observer:
    """Watches runs; override what is of interest. One observer may watch several runs at once.

    What `run_started` gives is handed to all other methods as `run`, what `ask_started` gives to `ask_ended` as `ask`.
    What an observer raises goes to the caller of the run, or, from `calling`, becomes the outcome of the call.
    """

    def run_started(self, request: ChatRequest) -> Any:
        """A run begins."""

    def run_ended(self, run: Any, result: RunResult, error: Exception | None) -> None:
        """A run is over; `error` is what the client raised, if it did."""

    def ask_started(self, run: Any, request: ChatRequest, api: str, model: str | None) -> Any:
        """The model is about to be asked."""

    def ask_ended(self, ask: Any, response: ChatResponse | None, error: BaseException | None) -> None:
        """The model has answered, or the client raised, or the run was cancelled meanwhile (neither)."""

    def asking(self, ask: Any) -> AbstractContextManager[Any]:
        """Entered around the client's work for an answer that is not streamed."""
        return nullcontext()

    def calling(self, run: Any, tool: Tool, call: FunctionCallContent) -> AbstractContextManager[EncodedEvent]:
        """Entered around a run of a tool, in its own thread or task; it gives a function that is told the outcome.

        Of a call that was given up it is told why, whatever the tool still gave: a TimeoutError, Cancelled, OutOfTime.
        """
        return nullcontext(lambda outcome: None)
