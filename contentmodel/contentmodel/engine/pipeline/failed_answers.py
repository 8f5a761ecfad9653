"""Failed answers, for APIs whose answers cannot be failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.passes import is_empty_text, leave_empty_text
from contentmodel.message import contents_of

if TYPE_CHECKING:
    from contentmodel.engine.context import EncodeContext
    from contentmodel.response import ChatChoice, ChatResponse


def as_error_body(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return a failed answer of another API as a response with only its error, if it has no content."""
    if context.native or response.error is None or not all(map(_has_only_failed, response.choices)):
        return response
    for choice in response.choices:
        context.report_loss(choice, "finish_reason", reasons.FAILED_ANSWER)
        context.report_lost_attributes(choice, ("index", "logprobs"))
        context.leave_residue(choice, own=True)
        for content in contents_of(choice.messages):
            leave_empty_text(content, context)
    context.is_error_body = True
    failed: ChatResponse = context.replace(response, choices=[])
    return failed


def _has_only_failed(choice: ChatChoice) -> bool:
    failed = choice.finish_reason is not None and choice.finish_reason.reason == "error"
    return failed and all(map(is_empty_text, contents_of(choice.messages)))
