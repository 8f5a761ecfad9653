"""The tool loop as steps: what to send to the model and which tools to run, until nothing is left to do.

Sans-I/O: it sends nothing and runs nothing. The driver does what a step requires, and reports the result.

Invariants, whatever tools and models do: Every call of a turn has exactly one result before the next request, in the
order of the calls. No tool runs with invalid arguments, or for a call that was cut short. Every request declares the
tools. The caller's objects are not changed. Every run ends with a stop reason, and with a transcript that can be
continued.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from contentmodel.client import ClientError
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolApprovalRequestContent, ToolCallContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, ToolChoice
from contentmodel.response import ChatResponse
from contentmodel.runner.calls import (
    BROKEN_OFF,
    DID_NOT_RUN,
    Checking,
    Settings,
    Task,
    Triage,
    record_of,
    verdict_of,
)
from contentmodel.runner.jobs import GIVEN_UP, Batch, Cancelled, Finished, Job, Started
from contentmodel.runner.observer import Observer
from contentmodel.runner.report import CallRecord, RunReport, RunResult, StopReason
from contentmodel.runner.turns import (
    Ids,
    Turn,
    after_first,
    calls_cut_short,
    last_turn,
    offered,
    unsent,
    whole_response,
    with_distinct_calls,
    with_every_id,
    without_resolved_approvals,
)
from contentmodel.tools.cancellation import Cancellation
from contentmodel.tools.sets import ToolSet
from contentmodel.usage import total_of

TIME_LIMIT = "time_limit"
"""The error code of an answer that was left because the time of the run was up."""


@dataclass(frozen=True)
class Ask:
    """Send a request to the model. The reply is the answer, or None if the run was cancelled or out of time first."""

    request: ChatRequest


@dataclass(frozen=True)
class Check:
    """Validate the arguments of calls with `work.run()`. Calls that are not validated are refused."""

    work: Checking


@dataclass(frozen=True)
class Execute:
    """Run the jobs of these tasks. Tasks without a job have their results already."""

    tasks: list[Task]

    @cached_property
    def of_job(self) -> dict[Job, Task]:
        """The task of each job."""
        return {task.job: task for task in self.tasks if task.job is not None}


@dataclass(frozen=True)
class Say:
    """Emit a message that the loop has made."""

    message: ChatMessage


Step = Ask | Check | Execute | Say
Steps = Generator[Step, ChatResponse | None, None]


def following(steps: Steps, reply: ChatResponse | None = None) -> Step | None:
    """Return the next step, or None at the end."""
    try:
        return steps.send(reply)
    except StopIteration:
        return None


class Loop:
    """One run. `steps` yields the steps; `started`, `finished` and the reply to `Ask` report their results."""

    def __init__(
        self,
        request: ChatRequest,
        tools: ToolSet,
        settings: Settings,
        *,
        server_keeps: bool,
        cancellation: Cancellation,
        observer: Observer,
        clock: Callable[[], float],
    ) -> None:
        declared = offered(request, tools)
        options = request.options
        self.cancellation = cancellation
        self.run = observer.run_started(request)
        self._begun, self._clock = clock(), clock
        self._settings = settings
        self._triage = Triage(declared, settings, observer, self.run)
        self._request = msgspec.structs.replace(request, tools=list(declared.definitions))
        self._server_keeps = server_keeps and (options.conversation_id or options.previous_response_id) is not None
        self._history = with_distinct_calls(without_resolved_approvals(with_every_id(request.messages)))
        self.ids = Ids(self._history, server_keeps=self._server_keeps, tools=declared)
        self._answers: list[ChatResponse] = []
        self._messages: list[ChatMessage] = []
        self._records: list[CallRecord] = []
        self._approvals: list[ToolApprovalRequestContent] = []
        self._handed_back: list[ToolCallContent] = []
        self._failures = 0
        self._answered_limit: StopReason | None = None
        """The limit of calls after which `answer_on_limit` has sent the last request."""
        self._stop: StopReason | None = None
        self._error: ErrorContent | None = None

    # -- steps -------------------------------------------------------------------------------------------------

    def steps(self) -> Steps:
        """Yield the steps of the run in order."""
        yield from self._answer_calls(last_turn(self._history), [])
        while self._stop is None and (limit := self._limit()) is None:
            answer = yield Ask(self._next_request())
            if answer is None:
                self._stop = "cancelled" if self.cancellation.is_cancelled else "time_limit"
                return
            yield from self._take(answer)
        self._stop = self._stop or limit

    def _limit(self) -> StopReason | None:
        """Return the reason why no further request may be sent, or None."""
        settings = self._settings
        if self.cancellation.is_cancelled:
            return "cancelled"
        if self.deadline is not None and self._clock() >= self.deadline:
            return "time_limit"
        was_last = len(self._answers) >= settings.max_iterations
        limit = self._answered_limit or self._limit_of_calls()
        if limit is not None and (was_last or self._answered_limit or not self._can_forbid_calls):
            return limit
        return "max_iterations" if was_last else None

    def _limit_of_calls(self) -> StopReason | None:
        """Return the reason why the model may make no further calls, or None."""
        most = self._settings.max_failures
        if most is not None and self._failures >= most:
            return "max_failures"
        return "max_calls" if self._triage.is_spent else None

    @property
    def _can_forbid_calls(self) -> bool:
        return self._settings.answer_on_limit and bool(self._request.tools)

    def _next_request(self) -> ChatRequest:
        request = self._request
        options = request.options
        self._answered_limit = self._limit_of_calls()
        is_last = len(self._answers) + 1 >= self._settings.max_iterations or self._answered_limit is not None
        if is_last and self._can_forbid_calls:
            options = msgspec.structs.replace(options, tool_choice=ToolChoice(mode="none"))
        messages = unsent(self._history) if self._server_keeps else list(self._history)
        return msgspec.structs.replace(request, messages=messages, options=options)

    def _take(self, answer: ChatResponse) -> Steps:
        """Process an answer. It is added to the transcript unless it broke off or is still running."""
        self._answers.append(answer)
        self._triage.ending = DID_NOT_RUN
        self._messages += answer.messages
        finish = answer.finish_reason
        if answer.error is not None:
            self._stop = self._why_broken_off(answer.error)
            yield from self._refuse(last_turn(answer.messages).unanswered)
            return
        if finish is not None and finish.reason == "running":
            self._stop = "running"
            return
        options = after_first(self._request.options)
        if self._server_keeps and options.previous_response_id is not None and answer.id is not None:
            options = msgspec.structs.replace(options, previous_response_id=answer.id)
        self._request = msgspec.structs.replace(self._request, options=options)
        messages = [message for message in answer.messages if message.contents or message.extra]
        self._history += messages
        turn = last_turn(self._history)
        has_calls = bool(messages and turn.unanswered)
        yield from self._answer_calls(turn, calls_cut_short(answer))
        if self._stop is None and not has_calls and not (finish is not None and finish.resumable):
            self._stop = "completed"

    def _why_broken_off(self, error: ErrorContent) -> StopReason:
        if self.cancellation.is_cancelled:
            return "cancelled"
        is_late = self.deadline is not None and self._clock() >= self.deadline
        return "time_limit" if is_late and error.code == TIME_LIMIT else "error"

    # -- calls -------------------------------------------------------------------------------------------------

    def _answer_calls(self, turn: Turn, cut: list[ToolCallContent]) -> Steps:
        """Give results to the calls of the last turn, as far as that is possible now."""
        calls = list(turn.unanswered)
        checked = self._triage.checking([call for call in calls if not _is_in(call, cut)], self.deadline)
        if calls and not self.cancellation.is_cancelled:
            yield Check(checked)
        tasks = [self._task(call, turn, _is_in(call, cut), checked) for call in calls]
        waiting = [task.request for task in tasks if task.request is not None]
        handed_back = [task.call for task in tasks if task.is_handed_back]
        self._approvals = waiting + ([] if turn.has_later_contents else turn.open_requests)
        if waiting:
            # If a call needs approval, no call of the turn runs yet: the user decides before any of them has an effect.
            message = ChatMessage(role="assistant", contents=list(waiting))
            self._messages.append(message)
            yield Say(message)
            tasks = [task for task in tasks if task.result is not None]
        decided = [self._triage.allowed(task) for task in tasks if not task.is_handed_back]
        results = yield from self._execute(decided)
        if handed_back and self.cancellation.is_cancelled:
            results += yield from self._refuse(handed_back)
            handed_back = []
        self._handed_back = handed_back
        if results or waiting or not turn.is_tidy:
            self._history = turn.closed(results, waiting)
        has_failed = bool(decided) and all(task.verdict != "ok" for task in decided)
        self._failures = self._failures + 1 if has_failed else 0
        self._stop = self._why_over(decided)

    def _task(self, call: ToolCallContent, turn: Turn, is_cut: bool, checked: Checking) -> Task:
        if self.cancellation.is_cancelled:
            return self._triage.cancelled(call)
        if turn.has_later_contents and not turn.answers:
            return self._triage.passed(call, is_certain=turn.has_asked)
        task = self._triage.task(call, is_cut=is_cut, answer=turn.answers.get(call.call_id), checked=checked)
        return (
            self._triage.passed(call, is_certain=True) if task.request is not None and turn.has_later_contents else task
        )

    def _refuse(self, calls: list[ToolCallContent]) -> Generator[Step, Any, list[Any]]:
        """Refuse calls that can no longer run: the run was cancelled, or the answer broke off."""
        is_cancelled, triage = self.cancellation.is_cancelled, self._triage
        tasks = [triage.cancelled(call) if is_cancelled else triage.not_run(call, BROKEN_OFF) for call in calls]
        results = yield from self._execute(tasks)
        return results

    def _execute(self, tasks: list[Task]) -> Generator[Step, Any, list[Any]]:
        """Run the jobs, and return all results. They are put into one message."""
        if not tasks:
            return []
        yield Execute(tasks)
        results = [task.result for task in tasks if task.result is not None]
        self._messages.append(ChatMessage(role="tool", contents=list(results)))
        self._records += [
            msgspec.structs.replace(task.record or record_of(task), iteration=len(self._answers)) for task in tasks
        ]
        return results

    def _why_over(self, tasks: list[Task]) -> StopReason | None:
        """Return the stop reason after these calls, limits aside, or None."""
        if self._approvals:
            return "approval"
        if self.cancellation.is_cancelled:
            return "cancelled"
        if self._handed_back:
            return "handed_back"
        if any(task.verdict == "ok" and task.job is not None and task.job.tool.terminates for task in tasks):
            return "terminated"
        return None

    # -- results of steps --------------------------------------------------------------------------------------

    @property
    def deadline(self) -> float | None:
        """The time at which the run must end, by its clock; None without a limit."""
        seconds = self._settings.max_seconds
        return None if seconds is None else self._begun + seconds

    def batch(self, step: Execute) -> Batch:
        """Return the batch of a step's jobs."""
        return Batch(step.of_job, self._settings.max_concurrency, self.deadline, self._triage.ending)

    def started(self, step: Execute, started: Started) -> Task:
        """Record that a job has started, and return its task."""
        task = step.of_job[started.job]
        task.record = msgspec.structs.replace(record_of(task), started=started.at - self._begun, use=task.use)
        return task

    def finished(self, step: Execute, finished: Finished) -> Task:
        """Record the outcome of a job, and return its task."""
        task = step.of_job[finished.job]
        task.verdict = verdict_of(finished.outcome)
        task.record = msgspec.structs.replace(task.record or record_of(task), seconds=finished.seconds)
        return self._triage.recorded(task, finished.outcome)

    def failed(self, error: Exception) -> None:
        """Record that a request to the model failed."""
        code = error.code if isinstance(error, ClientError) else None
        self._error = ErrorContent(code=code or type(error).__name__, message=str(error))
        self._stop = "error"

    def wind_up(self, steps: Steps, step: Step | None, answer: ChatResponse | None) -> None:
        """End the run at once. `step` is the current step, which is not done, and no later step is done either.

        `answer` is the partial answer if `step` is an `Ask`.
        """
        self.cancellation.cancel()
        while step is not None:
            self._drop(step)
            reply, answer = answer if isinstance(step, Ask) else None, None
            step = following(steps, reply)
        if self._stop is None:
            # The generator was interrupted while it computed a step.
            for last in self._answer_calls(last_turn(self._history), []):
                self._drop(last)
            self._stop = "cancelled"

    def _drop(self, step: Step) -> None:
        """Finish the running jobs of a step as cancelled."""
        if isinstance(step, Execute):
            for job in [job for job, task in step.of_job.items() if task.result is None]:
                self.finished(step, Finished(job, Cancelled(GIVEN_UP), None, 0.0))

    def result(self) -> RunResult:
        """Return the result of the run so far."""
        usage = total_of(answer.usage for answer in self._answers)
        is_waiting = bool(self._approvals or self._handed_back)
        messages = unsent(self._history) if self._server_keeps and not is_waiting else list(self._history)
        return RunResult(
            stop=self._stop or "unfinished",
            response=whole_response(self._answers, self._messages, usage, self._error),
            request=msgspec.structs.replace(self._request, messages=messages),
            responses=list(self._answers),
            report=RunReport(
                iterations=len(self._answers),
                calls=list(self._records),
                usage=usage,
                seconds=self._clock() - self._begun,
            ),
            approvals=list(self._approvals),
            handed_back=list(self._handed_back),
        )


def _is_in(call: ToolCallContent, calls: list[ToolCallContent]) -> bool:
    return any(call is other for other in calls)
