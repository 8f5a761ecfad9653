"""Defects in the ends of answers: failures that look like a success."""

from __future__ import annotations

from typing import Any

from contentmodel import reasons
from contentmodel.engine import context
from contentmodel.engine.pipeline import answers as answer_steps
from contentmodel.engine.streams import outgoing
from contentmodel.engine.table import answers
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, GOOGLE
from contentmodel_conformance.mutants.engine.changes import BEDROCK, RESPONSES, change


@change(answers.FinishReasons, "encode", ANTHROPIC, "honest-endings/ended")
def ends_failures_as_usual(original: Any, self: Any, value: Any, context: Any, owner: Any) -> Any:
    """Write the usual end in place of a finish reason that the API does not have."""
    raw = value.raw if context.native else self.values.get(value.reason)
    return self.otherwise if raw is None else raw


@change(answer_steps, "has_failed", RESPONSES, "honest-endings/ended", other=CHAT)
def ends_streams_of_failures_without_an_error(original: Any, response: Any) -> bool:
    """Complete the stream of an answer that failed without an error."""
    return False


@change(answer_steps, "end_for", BEDROCK, "honest-endings/ended")
def leaves_a_missing_end(original: Any, finish: Any, *, has_calls: bool) -> Any:
    """Leave an answer without a finish reason as it is."""
    return finish


@change(outgoing, "without_ends", GOOGLE, "honest-endings/ended")
def announces_a_success_before_an_error(original: Any, response: Any, api: str, report: Any) -> Any:
    """Write the finish reason of an answer before its error."""
    return response


@change(context.EncodeContext, "report_loss", CHAT, "accounting/ended")
def reports_no_less_exact_end(original: Any, self: Any, owner: Any, attribute: str, loss: Any, **named: Any) -> None:
    """Report no loss for a finish reason that becomes a less exact one."""
    if loss is not reasons.NO_FINISH_REASON:
        original(self, owner, attribute, loss, **named)
