"""Report the fields that stored conversations have and payloads of an API do not: times, outcomes, branches.

Decoders of API payloads never set these fields. The check of a request without them is a few loops in C.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from contentmodel import reasons
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel.request import ChatRequest

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.reasons import Reason

OF_MESSAGES = ("created", "response_id", "usage", "finish_reason")
OF_RESULTS = ("outcome", "artifact")
RECORDS: dict[type, tuple[str, ...]] = {
    ChatRequest: ("branches",),
    ChatMessage: OF_MESSAGES,
    **{kind: OF_RESULTS for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent)},
}
"""The fields of each type that this module reports, so that rows do not."""

_RESULTS = frozenset(RECORDS) - {ChatRequest, ChatMessage}
_id_of = attrgetter("message_id")
_of_message, _UNSET = attrgetter(*OF_MESSAGES), (None,) * len(OF_MESSAGES)


def report_request_records(request: ChatRequest, context: EncodeContext, held_fields: Collection[str]) -> ChatRequest:
    """Return a request, and report what only stored conversations have, except `held_fields` of the target."""
    if request.branches and "branches" not in held_fields:
        context.report_loss(request, "branches", reasons.NO_BRANCHES)
    report_records(request.messages, held_fields, context)
    return request


def report_records(messages: Sequence[ChatMessage], held_fields: Collection[str], context: EncodeContext) -> None:
    """Report the times, ids, counts and finish reasons of messages, and what their results have."""
    if "message_id" not in held_fields and any(map(_id_of, messages)):
        for message in messages:
            context.report_lost_attributes(message, ("message_id",))
    if any(map(_UNSET.__ne__, map(_of_message, messages))):
        for message in messages:
            context.report_records(message, held_fields)
    if not _RESULTS.isdisjoint(map(type, contents_of(messages))):
        report_result_records(contents_of(messages), held_fields, context)


def report_result_records(contents: Iterable[AIContent], held_fields: Collection[str], context: EncodeContext) -> None:
    """Report the outcomes and artifacts of results."""
    for result in contents:
        if result.__class__ not in _RESULTS:
            continue
        if result.artifact is not None and "artifact" not in held_fields:  # type: ignore[attr-defined]
            context.report_loss(result, "artifact", reasons.ARTIFACT)
        outcome = result.outcome  # type: ignore[attr-defined]
        if outcome is not None and "outcome" not in held_fields:
            reason = _reason_for(outcome, is_failed=result.error is not None)  # type: ignore[attr-defined]
            context.report_loss(result, "outcome", reason, value=outcome)


def _reason_for(outcome: str, *, is_failed: bool) -> Reason:
    """Return the reason for the loss of an outcome. It is insignificant if the outcome only repeats the error flag."""
    if outcome == ("failed" if is_failed else "succeeded"):
        return reasons.USUAL_OUTCOME
    return reasons.OUTCOME if is_failed else reasons.NO_FIELD
