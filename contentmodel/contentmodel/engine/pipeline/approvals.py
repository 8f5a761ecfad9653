"""Approvals of calls that the application runs, for targets without such approvals. A denial becomes a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.reasons import Reason
from contentmodel.engine.pipeline.sentinels import DENIED
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import Place, TranscriptIndex, is_clients

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext

OwnApprovals = Mapping[Place, tuple[Reason, ToolResultContent | None]]
"""The places of approvals, each with the reason of its loss, and the result that replaces a denial."""
_APPROVALS: frozenset[type] = frozenset({ToolApprovalRequestContent, ToolApprovalResponseContent})


def own_approvals(messages: Sequence[ChatMessage], *, has_results: bool = True) -> OwnApprovals:
    """Return the approvals of calls that the application runs: no API asked for them.

    If `has_results`, the denial of a call without a result becomes its result.
    """
    if _APPROVALS.isdisjoint(map(type, contents_of(messages))):
        return {}
    return dict(_own_approvals(messages, has_results))


def _own_approvals(
    messages: Sequence[ChatMessage], has_results: bool
) -> Iterator[tuple[Place, tuple[Reason, ToolResultContent | None]]]:
    index = TranscriptIndex(messages)
    for call, places in index.approvals_of.items():
        if not is_clients(messages, call):
            continue
        result = index.result_of.get(call)
        sent = None if result is None else _at(messages, result)
        for place in places:
            approval = _at(messages, place)
            if isinstance(approval, ToolApprovalRequestContent):
                is_pending = sent is None and place not in index.response_of
                yield place, (reasons.PENDING_APPROVAL if is_pending else reasons.OWN_APPROVAL, None)
            elif has_results and sent is None and not approval.approved:
                sent = _denied(_at(messages, call), approval)
                yield place, (reasons.DENIAL_AS_RESULT, sent)
            else:
                yield place, (_reason_for(approval, sent), None)


def _at(messages: Sequence[ChatMessage], place: Place) -> Any:
    return messages[place[0]].contents[place[1]]


def _denied(call: ToolCallContent, answer: ToolApprovalResponseContent) -> ToolResultContent:
    model = CustomToolResultContent if isinstance(call, CustomToolCallContent) else FunctionResultContent
    outputs: list[AIContent] = [TextContent(text=answer.reason or DENIED)]
    return model(call_id=call.call_id, name=call.name, outputs=outputs, is_error=True, outcome="denied")


def _reason_for(answer: ToolApprovalResponseContent, sent: ToolResultContent | None) -> Reason:
    """Return the reason why an answer is lost. The result of a denied call shows the denial, maybe with its reason."""
    is_shown = answer.approved or sent is not None
    has_reason = not answer.reason or (sent is not None and answer.reason in sent.text)
    return reasons.OWN_APPROVAL if is_shown and has_reason else reasons.APPROVAL_ANSWER


def without_own_approvals(
    message: ChatMessage, number: int, found: OwnApprovals, context: EncodeContext
) -> ChatMessage:
    """Return message `number` without the approvals that were found. A denial is replaced by its result."""
    contents: list[Any] = []
    for at, content in enumerate(message.contents):
        reason, result = found.get((number, at), (None, None))
        if reason is None:
            contents.append(content)
        elif result is None:
            context.report_loss(content, None, reason)
        else:
            context.degrade(content, reason, "approved", "reason")
            contents.append(context.replaced(content, result))
    return message if contents == message.contents else context.with_contents(message, contents)
