"""What a run of the loop comes to: its answer, the transcript to go on with, and an account of every call."""

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
from contentmodel.engine.losses.loss import Loss
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
"""Why a run ends."""

STOPS: dict[StopReason, str] = {
    "completed": "the model answered without a call",
    "terminated": "a tool that ends the loop has run",
    "approval": "calls wait for somebody's approval",
    "handed_back": "the model called what the application has to run itself",
    "max_iterations": "the model was asked as often as is allowed",
    "max_failures": "too many turns in a row in which every call failed",
    "max_calls": "more calls were made than are allowed",
    "time_limit": "the time was up",
    "cancelled": "the run was cancelled",
    "running": "the provider goes on with the answer in the background",
    "unfinished": "the run is not over",
    "error": "the answer is a failure, or broke off",
}
"""Why a run ends, by the word that `RunResult.stop` has."""

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
"""What became of a call: it gave a result; it raised, or gave an error; it took too long; its arguments were not
valid; there is no such tool; the answer broke off in it; somebody said no; the run was cancelled; a limit was reached;
it was made in an earlier run, which recorded no result: its tool may have run there.
In this run only the first three have run at all, and those of "cancelled" that have a `started`."""


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one call.

    `iteration` counts the answers of the model from 1 (0: the call was in the transcript that the run began with);
    `outcome` is one of OUTCOMES; `started` is in seconds since the run began, None where the call never ran, and
    `seconds` how long it took. `use` and `display` are what a user is shown, `error` what the model is told; `left_out`
    counts the characters of a result that was longer than is allowed.
    """

    call_id: str
    name: str
    iteration: int
    outcome: CallOutcome
    started: float | None = None
    seconds: float = 0.0
    use: str | None = None
    display: str | None = None
    error: str | None = None
    left_out: int = 0


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """The account of a run: how often the model was asked, every call, the tokens of all answers, the seconds."""

    iterations: int = 0
    calls: list[CallRecord] = []
    usage: Usage | None = None
    seconds: float = 0.0

    @property
    def outcomes(self) -> dict[CallOutcome, int]:
        """How many calls came to what."""
        return dict(Counter(call.outcome for call in self.calls))

    @property
    def tools(self) -> dict[str, int]:
        """How often each tool was called."""
        return dict(Counter(call.name for call in self.calls))


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to.

    `stop` is one of STOPS. `response` is everything that was said in the run as one answer: its messages are those of
    the model and, between them, those with the results; it is also what the events of a streamed run fold to. `request`
    is the transcript to go on with: store it, add to it, give it to a runner. `responses` are the model's answers one
    by one. `approvals` are the calls that wait for somebody (`answer` says yes or no), `handed_back` those that the
    application runs itself: it adds a message of role "tool" with their results to `request`. `losses` are what the
    runner's `messages` could not save, by the path in each message.
    """

    stop: StopReason
    response: ChatResponse
    request: ChatRequest
    responses: list[ChatResponse] = []
    report: RunReport = RunReport()
    approvals: list[ToolApprovalRequestContent] = []
    handed_back: list[ToolCallContent] = []
    losses: list[Loss] = []

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return self.responses[-1].text if self.responses else ""

    @property
    def messages(self) -> list[ChatMessage]:
        """What was said in the run."""
        return self.response.messages

    @property
    def error(self) -> ErrorContent | None:
        """Why the run failed, where `stop` is "error"."""
        return self.response.error

    @property
    def why(self) -> str:
        """`stop` in words."""
        return STOPS[self.stop]

    def answer(self, answers: Mapping[str, bool | str]) -> ChatRequest:
        """`request` with answers to approval requests, by request id: True, False, or why not.

        ValueError names ids that nobody asked about, TypeError what is no answer. What is not answered is asked again.
        """
        return answered(self.request, self.approvals, answers)


def answered(
    request: ChatRequest, approvals: list[ToolApprovalRequestContent], answers: Mapping[str, bool | str]
) -> ChatRequest:
    """A transcript with answers to approval requests in a message of the user."""
    asked = [approval.request_id for approval in approvals]
    strange = [request_id for request_id in answers if request_id not in asked]
    if strange:
        raise ValueError(f"nobody asked about {', '.join(strange)}: there are {', '.join(asked) or 'no requests'}")
    odd = [request_id for request_id, said in answers.items() if not isinstance(said, bool | str)]
    if odd:
        raise TypeError(f"an answer is True, False, or why not: that to {', '.join(odd)} is none of these")
    if not answers:
        return request
    contents: list[Any] = [
        ToolApprovalResponseContent(
            request_id=request_id, approved=said is True, reason=said if isinstance(said, str) else None
        )
        for request_id, said in answers.items()
    ]
    message = ChatMessage(role="user", contents=contents)
    return msgspec.structs.replace(request, messages=[*request.messages, message])


class RunInterrupted(ClientError):
    """A run could not go on: the client's error is the cause, and `result` has all that was done until then.

    Nothing of it is lost: give `result.request` to a runner again. What a ClientError says of its API, status and
    retries is said here too.
    """

    result: RunResult

    @classmethod
    def after(cls, result: RunResult, cause: Exception) -> RunInterrupted:
        """The error of a run that has come to `result`."""
        fields = cause.fields if isinstance(cause, ClientError) else {}
        made = cls(f"after {result.report.iterations} answers: {cause}", **fields)
        made.result = result
        return made
