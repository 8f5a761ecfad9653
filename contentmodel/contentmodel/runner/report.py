"""The result of a run: its answer, the transcript to continue with, and a record of every call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from contentmodel.client import ClientError
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
)
from contentmodel.losses import Loss
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

StopReason: TypeAlias = Literal[
    "completed",
    "terminated",
    "approval",
    "handed_back",
    "max_iterations",
    "max_failures",
    "max_calls",
    "time_limit",
    "cancelled",
    "running",
    "unfinished",
    "error",
]
"""The reason why a run ended."""

STOPS: dict[StopReason, str] = {
    "completed": "the model answered without a call",
    "terminated": "a tool that ends the loop has run",
    "approval": "calls wait for approval",
    "handed_back": "the model called tools that the application runs itself",
    "max_iterations": "the limit of requests to the model was reached",
    "max_failures": "every call failed in too many consecutive turns",
    "max_calls": "the limit of calls was exceeded",
    "time_limit": "the time limit was reached",
    "cancelled": "the run was cancelled",
    "running": "the provider continues the answer in the background",
    "unfinished": "the run is not over",
    "error": "the request failed, or the answer broke off",
}
"""A description of each stop reason."""

CallOutcome: TypeAlias = Literal[
    "ok",
    "failed",
    "timeout",
    "invalid",
    "unknown",
    "cut_short",
    "refused",
    "cancelled",
    "not_run",
    "no_result",
]
OUTCOMES: tuple[CallOutcome, ...] = get_args(CallOutcome)
"""The outcomes of a call. "ok": it returned a result. "failed": it raised, or returned an error. "timeout": it took too
long. "invalid": its arguments were invalid. "unknown": there is no such tool. "cut_short": the answer broke off in it.
"refused": the user denied it. "cancelled": the run was cancelled. "not_run": it was not run, at a limit for example.
"no_result": it was made in an earlier run that recorded no result, so its tool may have run there.
In this run only calls with the first three have run, and those with "cancelled" that have a `started`."""


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record of one call.

    `iteration` is the number of the model's answer, from 1 (0: the call was in the transcript that the run began with).
    `outcome` is one of OUTCOMES. `started` is in seconds since the run began, None if the call never ran; `seconds` is
    its duration. `use` and `display` are the texts for users: of the use of the tool, and of what it displays. `result`
    is the text of the result, by the tool's `format_result`; a tool that displays nothing else displays this text.
    `error` is the error text for the model. `left_out` is the number of characters that were cut from a result that was
    too long.
    """

    call_id: str
    name: str
    iteration: int
    outcome: CallOutcome
    started: float | None = None
    seconds: float = 0.0
    use: str | None = None
    display: str | None = None
    result: str | None = None
    error: str | None = None
    left_out: int = 0


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report of a run: the number of answers, every call, the usage of all answers, and the seconds."""

    iterations: int = 0
    calls: list[CallRecord] = []
    usage: Usage | None = None
    seconds: float = 0.0

    @property
    def outcomes(self) -> dict[CallOutcome, int]:
        """The number of calls by outcome."""
        return dict(Counter(call.outcome for call in self.calls))

    @property
    def tools(self) -> dict[str, int]:
        """The number of calls by tool."""
        return dict(Counter(call.name for call in self.calls))


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run.

    `stop` is one of STOPS. `response` has all messages of the run as one answer: those of the model and, between them,
    those with results. It is also the fold of the events of a streamed run. `request` is the transcript to continue
    with: store it, add to it, pass it to a runner. `responses` are the model's answers. `approvals` are the calls that
    wait for approval (see `answer`). `handed_back` are the calls that the application runs itself: it adds a message of
    role "tool" with their results to `request`. `losses` are the values that the runner's `messages` could not save, by
    their path in each message. `output` is the value of the last answer, if the run was given its type.
    """

    stop: StopReason
    response: ChatResponse
    request: ChatRequest
    responses: list[ChatResponse] = []
    report: RunReport = RunReport()
    approvals: list[ToolApprovalRequestContent] = []
    handed_back: list[ToolCallContent] = []
    losses: list[Loss] = []
    output: Any = None

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return self.responses[-1].text if self.responses else ""

    @property
    def messages(self) -> list[ChatMessage]:
        """The messages of the run."""
        return self.response.messages

    @property
    def error(self) -> ErrorContent | None:
        """The error of the run if `stop` is "error"."""
        return self.response.error

    @property
    def why(self) -> str:
        """The description of `stop`."""
        return STOPS[self.stop]

    def answer(self, answers: Mapping[str, bool | str]) -> ChatRequest:
        """Return `request` with answers to approval requests, by request id: True, False, or the reason of a refusal.

        Raise ValueError for ids that were not asked about, TypeError for an invalid answer. Requests without an answer
        are asked again.
        """
        return answered(self.request, self.approvals, answers)


def answered(
    request: ChatRequest, approvals: list[ToolApprovalRequestContent], answers: Mapping[str, bool | str]
) -> ChatRequest:
    """Return a transcript with answers to approval requests in a user message."""
    pending = [approval.request_id for approval in approvals]
    unknown = [request_id for request_id in answers if request_id not in pending]
    if unknown:
        raise ValueError(f"no pending request {', '.join(unknown)}; pending requests: {', '.join(pending) or 'none'}")
    invalid = [request_id for request_id, answer in answers.items() if not isinstance(answer, bool | str)]
    if invalid:
        raise TypeError(f"an answer must be True, False, or a text with the reason: {', '.join(invalid)}")
    if not answers:
        return request
    contents: list[Any] = [
        ToolApprovalResponseContent(
            request_id=request_id, approved=answer is True, reason=answer if isinstance(answer, str) else None
        )
        for request_id, answer in answers.items()
    ]
    message = ChatMessage(role="user", contents=contents)
    return msgspec.structs.replace(request, messages=[*request.messages, message])


class RunInterrupted(ClientError):
    """A run failed after some work was done. The client's error is the cause; `result` has the work until then.

    To continue, pass `result.request` to a runner again. The fields of a ClientError (API, status, retries) are copied
    from the cause.
    """

    result: RunResult

    @classmethod
    def after(cls, result: RunResult, cause: Exception) -> RunInterrupted:
        """Return the error for a run that has the result `result`."""
        fields = cause.fields if isinstance(cause, ClientError) else {}
        interrupted = cls(f"after {result.report.iterations} answers: {cause}", **fields)
        interrupted.result = result
        return interrupted
