"""Decide about each call of a turn (run, refuse, ask for approval, hand back), and make its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import (
    FunctionCallContent,
    ToolApprovalRequestContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.errors import ToolArgumentsError
from contentmodel.runner.jobs import OUT_OF_TIME, Cancelled, Job, Outcome, OutOfTime, cut
from contentmodel.runner.observer import Observer
from contentmodel.runner.report import CallOutcome, CallRecord
from contentmodel.tools.definition import Tool
from contentmodel.tools.faults import InputFault, ToolInputError, shown
from contentmodel.tools.input import is_cut_short, is_slow, validate_input
from contentmodel.tools.outcome import ToolOutcome, error_of, result_of
from contentmodel.tools.sets import ToolSet
from contentmodel.tools.signature import ToolContext
from contentmodel.tools.validation import InputLimits

DID_NOT_RUN = "the tool did not run"
NOT_RECORDED = "no result was recorded"
"""The error text for a call of an earlier run. Its tool may have run before that run ended, by a crash for example."""
BROKEN_OFF = "the answer broke off"
CANCELLED = "the run was cancelled"
CUT_SHORT = f"the answer ended in the middle of this call: {DID_NOT_RUN}"
WENT_ON = "the conversation went on without this call"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a runner; see `ToolRunner`."""

    max_iterations: int = 5
    timeout: float | None = 30.0
    max_concurrency: int = 8
    max_failures: int | None = 3
    max_calls: int | None = None
    max_seconds: float | None = None
    max_result_characters: int | None = 1_000_000
    answer_on_limit: bool = False
    details: bool = False
    request_timeout: float | None = None
    state: Any = None
    input_limits: InputLimits = field(default_factory=InputLimits)

    def __post_init__(self) -> None:
        numbers = {name: value for name, value in vars(self).items() if name.startswith("max_") or "timeout" in name}
        wrong = [f"{name}={value}" for name, value in numbers.items() if value is not None and not value > 0]
        if wrong:
            raise ValueError(f"limits must be above 0: {', '.join(wrong)}")


class Checking:
    """The validation of the arguments of one turn's calls. `run` may be called in any thread.

    `deadline` is a time of `time.monotonic`. Calls that are not validated by then have no result.
    """

    def __init__(
        self, calls: list[tuple[Tool, FunctionCallContent]], settings: Settings, deadline: float | None
    ) -> None:
        self.deadline = deadline
        self._calls, self._settings = calls, settings
        self._done: dict[int, Any] = {}
        self._is_abandoned = False

    @cached_property
    def is_slow(self) -> bool:
        """True if the validation may take too long for an event loop."""
        return any(is_slow(tool, call) for tool, call in self._calls)

    def run(self) -> None:
        """Validate the calls, one after the other."""
        for tool, call in self._calls:
            if self._is_abandoned or (self.deadline is not None and time.monotonic() >= self.deadline):
                return
            try:
                self._done[id(call)] = validate_input(
                    tool, call, limits=self._limits(tool), deadline=self.deadline
                ).args
            except (Exception, SystemExit) as error:
                # Definitions and validators are the application's code. If they raise, the call does not run.
                self._done[id(call)] = error

    def give_up(self) -> None:
        """Start no further validation: the results are no longer needed."""
        self._is_abandoned = True

    def args(self, call: FunctionCallContent) -> Any:
        """Return the validated arguments of a call. Raise its fault, or OutOfTime if it was not validated."""
        if id(call) not in self._done:
            raise OutOfTime(OUT_OF_TIME)
        result = self._done[id(call)]
        if isinstance(result, BaseException):
            raise result
        return result

    def _limits(self, tool: Tool) -> InputLimits:
        limits = self._settings.input_limits
        seconds = self._settings.timeout if tool.timeout is None else tool.timeout
        ends = [end for end in (limits.seconds, seconds) if end is not None]
        return replace(limits, seconds=min(ends, default=None))


@dataclass(eq=False)
class Task:
    """A call with the decision about it: a `job` to run, a `request` for approval, or a finished `result`.

    A task with none of these is handed back: the application runs the call itself.
    """

    call: ToolCallContent
    job: Job | None = None
    request: ToolApprovalRequestContent | None = None
    result: ToolResultContent | None = None
    verdict: CallOutcome = "ok"
    use: str | None = None
    record: CallRecord | None = None

    @property
    def is_handed_back(self) -> bool:
        """True if the application has to run the call."""
        return self.job is None and self.request is None and self.result is None


class Triage:
    """Decide about the calls of one run, and make their results."""

    def __init__(self, tools: ToolSet, settings: Settings, observer: Observer, run: Any) -> None:
        self._tools = tools
        self._settings = settings
        self._observer = observer
        self._run = run
        self._allowed = 0
        self.ending = NOT_RECORDED
        """The end of the message about a refused call: DID_NOT_RUN once the calls come from this run's own answers."""

    @property
    def is_spent(self) -> bool:
        """True if more calls were made than `max_calls` allows."""
        limit = self._settings.max_calls
        return limit is not None and self._allowed > limit

    def checking(self, calls: Iterable[ToolCallContent], deadline: float | None) -> Checking:
        """Return the validation that must run before `task` is called for these calls."""
        pairs = [
            (tool, call)
            for call in calls
            if isinstance(call, FunctionCallContent) and (tool := self._tools.get(call.name)) is not None
        ]
        return Checking(pairs, self._settings, deadline)

    def task(self, call: ToolCallContent, *, is_cut: bool, answer: Any, checked: Checking) -> Task:
        """Return the decision about a call. `answer` is the user's answer to its approval request, or None."""
        tool = self._tools.get(call.name)
        if is_cut or is_cut_short(call):
            return self.refused(call, "cut_short", CUT_SHORT)
        if not isinstance(call, FunctionCallContent) or (tool is None and call.name in self._tools):
            return self._handed_back(call)
        if tool is None:
            names = ", ".join(self._tools.names) or "none"
            return self.refused(call, "unknown", f"there is no tool named {call.name}; the tools: {names}")
        try:
            args = checked.args(call)
            needs_approval = tool.needs_approval(args)
        except OutOfTime as error:
            return self.not_run(call, str(error))
        except (Exception, SystemExit) as error:
            # Definitions, validators and conditions are the application's code. If they raise, the call does not run.
            return self.recorded(
                Task(call, verdict="invalid" if isinstance(error, ToolInputError) else "failed"), error
            )
        if answer is not None and not answer.approved:
            reason = f": {answer.reason}" if answer.reason else ""
            return self.refused(call, "refused", f"the user did not allow this call{reason}")
        if needs_approval and answer is None:
            return Task(call, request=_question(self._tools.without_supplied(call)))
        # Format the use before the tool runs: the tool may change its arguments.
        use = _shown(lambda: tool.format_use(args), f"{call.name}({call.arguments_text})")
        return Task(call, job=self._job(tool, call, args), use=use)

    def _handed_back(self, call: ToolCallContent) -> Task:
        try:
            return Task(self._tools.handed_back(call))
        except ToolArgumentsError:
            fault = InputFault("$", "a JSON object", shown(call.arguments))
            return self.recorded(Task(call, verdict="invalid"), ToolInputError(call.name or "", [fault]))

    def refused(self, call: ToolCallContent, verdict: CallOutcome, why: str) -> Task:
        """Return a task for a call that does not run. Its result gives the model the reason."""
        outcome = ToolOutcome([ErrorContent(message=why, code=verdict)])
        return self.recorded(Task(call, verdict=verdict), outcome)

    def not_run(self, call: ToolCallContent, why: str) -> Task:
        """Return a task for a call that this run does not run. A call of an earlier run may have run there."""
        return self._refused(call, why, self.ending)

    def passed(self, call: ToolCallContent, *, is_certain: bool) -> Task:
        """Return a task for a call that later messages skipped. `is_certain`: it waited for approval and never ran."""
        return self._refused(call, WENT_ON, DID_NOT_RUN if is_certain else NOT_RECORDED)

    def _refused(self, call: ToolCallContent, why: str, ending: str) -> Task:
        return self.refused(call, "not_run" if ending == DID_NOT_RUN else "no_result", f"{why}: {ending}")

    def cancelled(self, call: ToolCallContent) -> Task:
        """Return a task for a call that does not run because the run was cancelled."""
        return self.refused(call, "cancelled", f"{CANCELLED}: {self.ending}")

    def allowed(self, task: Task) -> Task:
        """Return the task, or its refusal if `max_calls` is exceeded."""
        if task.job is None:
            return task
        self._allowed += 1
        if not self.is_spent:
            return task
        limit = self._settings.max_calls
        return self.not_run(task.call, f"no more than {limit} calls are allowed")

    def recorded(self, task: Task, outcome: Outcome) -> Task:
        """Set the task's result and its record from the outcome."""
        if isinstance(outcome, Cancelled):
            outcome = ToolOutcome([ErrorContent(message=str(outcome), code="cancelled")])
        elif isinstance(outcome, BaseException):
            outcome = ToolOutcome([error_of(outcome, details=self._settings.details)])
        result = result_of(task.call, outcome)
        outputs, left_out = cut(result.output_list, self._settings.max_result_characters)
        task.result = msgspec.structs.replace(result, outputs=outputs)
        error = task.result.error
        formatted = _result_text(task, outcome)
        task.record = msgspec.structs.replace(
            task.record or record_of(task),
            outcome=task.verdict,
            error=None if error is None else error.message,
            display=formatted if outcome.display is None else outcome.display,
            result=formatted,
            left_out=left_out,
        )
        return task

    def _job(self, tool: Tool, call: FunctionCallContent, args: Any) -> Job:
        settings = self._settings
        return Job(
            tool=tool,
            call=call,
            args=args,
            context=ToolContext(call_id=call.call_id, state=settings.state),
            timeout=settings.timeout if tool.timeout is None else tool.timeout,
            watched=partial(self._observer.calling, self._run, tool, call),
        )


def verdict_of(outcome: Outcome) -> CallOutcome:
    """Return the `CallOutcome` of a tool's outcome."""
    if isinstance(outcome, ToolOutcome):
        return "ok" if outcome.error is None else "failed"
    if isinstance(outcome, Cancelled):
        return "cancelled"
    return "timeout" if isinstance(outcome, TimeoutError) else "failed"


def record_of(task: Task) -> CallRecord:
    """Return the record of a call that has not started."""
    return CallRecord(call_id=task.call.call_id or "", name=task.call.name or "", iteration=0, outcome=task.verdict)


def _result_text(task: Task, outcome: ToolOutcome) -> str:
    """Return the text of `format_result`. If the tool only repeats what it displays, return the text of the results."""
    if task.job is None:
        return outcome.shown
    tool = task.job.tool
    text = _shown(lambda: tool.format_result(outcome), outcome.shown)
    return outcome.shown if text == outcome.display else text


def _question(call: FunctionCallContent) -> ToolApprovalRequestContent:
    return ToolApprovalRequestContent(request_id=call.call_id or "", name=call.name, arguments=call.arguments)


def _shown(make_text: Callable[[], str], otherwise: str) -> str:
    """Return a display text from the tool. If the tool's code raises, return `otherwise`: the run must not fail."""
    try:
        return str(make_text())
    except Exception:
        return otherwise
