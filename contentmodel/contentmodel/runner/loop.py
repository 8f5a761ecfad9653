"""The loop itself, as steps: what to ask the model and what to run, until there is nothing left to do.

Sans-I/O: it asks nobody and runs nothing. Whoever drives it does what a step says and tells it what came of it.

What always holds, however tools and models behave: every call of a turn has exactly one result before the model is
asked again, in the order of the calls; nothing runs on arguments that are not valid as a whole, or on a call that was
cut short; the tools are declared in every request; nothing of the caller's is changed; every end has a reason, and a
transcript that can be continued.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property

import msgspec

from contentmodel.client import ClientError
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolApprovalRequestContent, ToolCallContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, ToolChoice
from contentmodel.response import ChatResponse
from contentmodel.runner.calls import (
    BROKEN_OFF,
    CANCELLED,
    WENT_ON,
    Settings,
    Task,
    Triage,
    record_of,
    use_of,
    verdict_of,
)
from contentmodel.runner.jobs import Batch, Cancelled, Finished, Job, Started
from contentmodel.runner.observer import Observer
from contentmodel.runner.report import CallRecord, RunReport, RunResult
from contentmodel.runner.turns import (
    Ids,
    OpenTurn,
    after_first,
    calls_cut_short,
    offered,
    open_requests,
    open_turn,
    unsent,
    whole_response,
    with_distinct_calls,
)
from contentmodel.tools.cancellation import Cancellation
from contentmodel.tools.sets import ToolSet
from contentmodel.usage import Usage


@dataclass(frozen=True)
class Ask:
    """Ask the model. The reply is its answer, or None where the run was cancelled before there was any."""

    request: ChatRequest


@dataclass(frozen=True)
class Execute:
    """Run the jobs of these tasks. The others of them have their results already."""

    tasks: list[Task]

    @cached_property
    def of_job(self) -> dict[Job, Task]:
        """The task that a job belongs to."""
        return {task.job: task for task in self.tasks if task.job is not None}


@dataclass(frozen=True)
class Say:
    """Show a message that the loop has made."""

    message: ChatMessage


Step = Ask | Execute | Say
Steps = Generator[Step, ChatResponse | None, None]


def following(steps: Steps, reply: ChatResponse | None = None) -> Step | None:
    """The next step; None where there is none."""
    try:
        return steps.send(reply)
    except StopIteration:
        return None


class Loop:
    """One run: `steps` says what is to be done; `started`, `finished` and the reply to `Ask` what came of it."""

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
        self._history = with_distinct_calls(request.messages)
        self.ids = Ids(self._history)
        self._answers: list[ChatResponse] = []
        self._said: list[ChatMessage] = []
        self._records: list[CallRecord] = []
        self._approvals: list[ToolApprovalRequestContent] = []
        self._handed_back: list[ToolCallContent] = []
        self._failures = 0
        self._stop: str | None = None
        self._error: ErrorContent | None = None

    # -- what is to be done ------------------------------------------------------------------------------------

    def steps(self) -> Steps:
        """What is to be done, one thing after the other."""
        yield from self._settle(self._history, [])
        while self._stop is None and (limit := self._limit()) is None:
            answer = yield Ask(self._next_request())
            if answer is None:
                self._stop = "cancelled"
                return
            self._take(answer)
            yield from self._settle(self._said if self._is_broken else self._history, calls_cut_short(answer))
            self._stop = self._stop or self._why_over(answer)
        self._stop = self._stop or limit

    def _limit(self) -> str | None:
        """Why the model may not be asked again."""
        settings = self._settings
        if self.cancellation.is_cancelled:
            return "cancelled"
        if self._deadline is not None and self._clock() >= self._deadline:
            return "time_limit"
        if settings.max_failures is not None and self._failures >= settings.max_failures:
            return "max_failures"
        if self._triage.is_spent:
            return "max_calls"
        return "max_iterations" if len(self._answers) >= settings.max_iterations else None

    def _next_request(self) -> ChatRequest:
        request = self._request
        options = request.options
        is_last = len(self._answers) + 1 >= self._settings.max_iterations
        if is_last and self._settings.answer_on_limit and request.tools:
            options = msgspec.structs.replace(options, tool_choice=ToolChoice(mode="none"))
        messages = unsent(self._history) if self._server_keeps else list(self._history)
        return msgspec.structs.replace(request, messages=messages, options=options)

    def _take(self, answer: ChatResponse) -> None:
        """An answer has come. It is the next part of the transcript, unless it broke off."""
        self._answers.append(answer)
        self._said += answer.messages
        options = after_first(self._request.options)
        if self._is_broken:
            self._stop = "cancelled" if self.cancellation.is_cancelled else "error"
            return
        if self._server_keeps and options.previous_response_id is not None and answer.id is not None:
            options = msgspec.structs.replace(options, previous_response_id=answer.id)
        self._history += answer.messages
        self._request = msgspec.structs.replace(self._request, options=options)

    @property
    def _is_broken(self) -> bool:
        return bool(self._answers) and self._answers[-1].error is not None

    def _why_over(self, answer: ChatResponse) -> str | None:
        """Why the run is over after an answer whose calls have their results, whatever the limits."""
        finish = answer.finish_reason
        if finish is not None and finish.reason == "running":
            return "running"
        self._approvals = open_requests(answer.messages)
        if self._approvals:
            return "approval"
        is_open = self._said[-1:] and self._said[-1].role == "tool"
        return None if is_open or (finish is not None and finish.resumable) else "completed"

    # -- calls -------------------------------------------------------------------------------------------------

    def _settle(self, messages: list[ChatMessage], cut: list[ToolCallContent]) -> Steps:
        """Gives the calls of the last turn in `messages` their results, as far as that is possible now."""
        turn = open_turn(messages)
        if turn is None or self._is_running:
            return
        tasks = [self._task(call, turn, any(call is other for other in cut)) for call in turn.unanswered]
        self._approvals = [task.request for task in tasks if task.request is not None]
        self._handed_back = [task.call for task in tasks if task.is_handed_back]
        if self._approvals:
            # The whole turn waits: nobody is asked about half of what has happened already. What is refused is refused.
            message = ChatMessage(role="assistant", contents=list(self._approvals))
            self._said.append(message)
            yield Say(message)
            turn, tasks = turn.followed_by(message), [task for task in tasks if task.result is not None]
            self._stop = "approval"
        decided = [self._triage.allowed(task) for task in tasks if not task.is_handed_back]
        if decided:
            yield Execute(decided)
        self._close(turn, decided)
        if self._stop is None:
            self._stop = self._why_over_now(decided)

    @property
    def _is_running(self) -> bool:
        finish = self._answers[-1].finish_reason if self._answers else None
        return finish is not None and finish.reason == "running"

    def _task(self, call: ToolCallContent, turn: OpenTurn, is_cut: bool) -> Task:
        if self.cancellation.is_cancelled:
            return self._triage.refused(call, "cancelled", CANCELLED)
        if self._is_broken or turn.rest:
            return self._triage.refused(call, "not_run", BROKEN_OFF if self._is_broken else WENT_ON)
        return self._triage.task(call, is_cut=is_cut, answer=turn.answers.get(call.call_id))

    def _close(self, turn: OpenTurn, tasks: list[Task]) -> None:
        results = [task.result for task in tasks if task.result is not None]
        if results:
            self._said.append(ChatMessage(role="tool", contents=list(results)))
        if not self._is_broken:
            self._history = turn.closed(results)
        self._records += [
            msgspec.structs.replace(task.record or record_of(task), iteration=len(self._answers)) for task in tasks
        ]

    def _why_over_now(self, tasks: list[Task]) -> str | None:
        if self.cancellation.is_cancelled:
            return "cancelled"
        if self._handed_back:
            return "handed_back"
        if any(task.verdict == "ok" and task.job is not None and task.job.tool.terminates for task in tasks):
            return "terminated"
        has_failed = bool(tasks) and all(task.verdict != "ok" for task in tasks)
        self._failures = self._failures + 1 if has_failed else 0
        return None

    # -- what came of it ---------------------------------------------------------------------------------------

    @property
    def _deadline(self) -> float | None:
        seconds = self._settings.max_seconds
        return None if seconds is None else self._begun + seconds

    def batch(self, step: Execute) -> Batch:
        """The jobs of a step, to be run."""
        return Batch(step.of_job, self._settings.max_concurrency, self._deadline)

    def started(self, step: Execute, started: Started) -> Task:
        """A job has begun."""
        task = step.of_job[started.job]
        task.record = msgspec.structs.replace(record_of(task), started=started.at - self._begun, use=use_of(task))
        return task

    def finished(self, step: Execute, finished: Finished) -> Task:
        """A job is over."""
        task = step.of_job[finished.job]
        task.verdict = verdict_of(finished.outcome)
        task.record = msgspec.structs.replace(task.record or record_of(task), seconds=finished.seconds)
        return self._triage.settled(task, finished.outcome)

    def failed(self, error: Exception) -> None:
        """The model could not be asked."""
        code = error.code if isinstance(error, ClientError) else None
        self._error = ErrorContent(code=code or type(error).__name__, message=str(error))
        self._stop = "error"

    def wind_up(self, steps: Steps, step: Step | None, answer: ChatResponse | None) -> None:
        """Goes to the end at once, from `step` on, which is not done: what has not happened never will.

        `answer` is what there is of the answer that `step` asks for.
        """
        self.cancellation.cancel()
        while step is not None:
            if isinstance(step, Execute):
                for job in [job for job, task in step.of_job.items() if task.result is None]:
                    why = Cancelled("the run was cancelled before the tool had a result")
                    self.finished(step, Finished(job, why, None, 0.0))
            reply, answer = answer if isinstance(step, Ask) else None, None
            step = following(steps, reply)

    def result(self) -> RunResult:
        """What the run has come to."""
        usage: Usage | None = None
        for answer in self._answers:
            usage = answer.usage if usage is None else usage if answer.usage is None else usage + answer.usage
        is_waiting = self._stop in ("approval", "handed_back")
        messages = unsent(self._history) if self._server_keeps and not is_waiting else list(self._history)
        return RunResult(
            stop=self._stop or "cancelled",
            response=whole_response(self._answers, self._said, usage, self._error),
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
