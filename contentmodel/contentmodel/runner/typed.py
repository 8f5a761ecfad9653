"""Runs that end with a typed answer."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contentmodel.adapter import adapter
from contentmodel.message import tool_result
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice
from contentmodel.runner.report import RunReport, RunResult
from contentmodel.typed.answers import OutputMode
from contentmodel.typed.asking import Asking
from contentmodel.usage import total_of

_ENDS = ("completed", "handed_back")
"""The ends of a run whose last answer may have the value."""


class TypedRun:
    """A run, and further ones after an answer without a value. `request` is what the next one begins with."""

    def __init__(self, runner: Any, request: ChatRequest, output: Any, mode: OutputMode | None, retries: int) -> None:
        client = runner.client
        self._asking: Asking[Any] = Asking(
            request,
            output,
            adapter=adapter(client.api),
            model=client.model or request.model,
            policies=getattr(client, "policies", None),
            mode=mode,
            retries=retries,
            tools=runner.tools.definitions,
        )
        self._has_store = runner.messages is not None
        self._before: RunResult | None = None
        self.request = self._asking.request

    def ended(self, result: RunResult) -> RunResult | None:
        """Return the result of all runs, or None if one more must begin with `request`. Raise OutputError.

        The result has no `output` if the run ended early: at a limit, or because calls wait.
        """
        whole = result if self._before is None else _joined(self._before, result)
        if result.stop not in _ENDS or not result.responses:
            return whole
        answer = result.responses[-1]
        call = self._asking.call_in(answer)
        if result.stop == "handed_back" and (call is None or len(result.handed_back) > 1):
            return whole
        # The runner's store has the messages of the run already.
        transcript = replace(result.request, messages=[]) if self._has_store else result.request
        typed = self._asking.answered(answer, transcript)
        if typed is None:
            self._before, self.request = whole, self._asking.request
            return None
        if call is None:
            return replace(whole, output=typed.output)
        received = tool_result(call, "The answer was received.")
        request = replace(whole.request, messages=[*whole.request.messages, received])
        return replace(whole, output=typed.output, stop="completed", handed_back=[], request=request)


def _joined(first: RunResult, second: RunResult) -> RunResult:
    """Return the result of two runs, one after the other."""
    choice = ChatChoice(messages=[*first.messages, *second.messages], finish_reason=second.response.finish_reason)
    return replace(
        second,
        response=replace(
            second.response, choices=[choice], usage=total_of((first.response.usage, second.response.usage))
        ),
        responses=[*first.responses, *second.responses],
        report=RunReport(
            iterations=first.report.iterations + second.report.iterations,
            calls=[*first.report.calls, *second.report.calls],
            usage=total_of((first.report.usage, second.report.usage)),
            seconds=first.report.seconds + second.report.seconds,
        ),
        losses=[*first.losses, *second.losses],
    )
