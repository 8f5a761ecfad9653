"""The ends of answers of other APIs: failures that must not look like a success, and missing finish reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.foreign import is_empty_text, leave_empty_text
from contentmodel.engine.table.finish_reasons import UNSUCCESSFUL, source_of
from contentmodel.message import FinishReason, contents_of

if TYPE_CHECKING:
    from contentmodel.engine.context import EncodeContext
    from contentmodel.response import ChatChoice, ChatResponse


def has_failed(response: ChatResponse) -> bool:
    """Return whether every choice of an answer without an error ended for a failure."""
    if response.error is not None or not response.choices:
        return False
    for choice in response.choices:
        if choice.finish_reason is None or choice.finish_reason.reason != "error":
            return False
    return True


def failure_of(response: ChatResponse) -> ErrorContent:
    """Return the error of an answer that only its finish reason shows as failed, with the explanation of its API."""
    choice = response.choices[0]
    finish, key = choice.finish_reason, _key_of_message(response)
    message = (
        None if key is None or response.origin is None else (choice.extra or {}).get(response.origin.api, {}).get(key)
    )
    why = "" if finish is None or finish.raw is None else f": {finish.raw}"
    return ErrorContent(message=message if isinstance(message, str) else f"the model failed{why}", kind="server")


def with_failure(response: ChatResponse, context: EncodeContext, *, keeps_content: bool) -> ChatResponse:
    """Return an answer of another API in which a failure has an error, and an error is a failure.

    If the API has no failed answers, an answer with content cannot have an error: its finish reason shows the failure.
    """
    if context.native or context.is_unfinished:
        return response
    if has_failed(response) and (keeps_content or all(map(_has_only_failed, response.choices))):
        key, api = _key_of_message(response), context.api if response.origin is None else response.origin.api
        error = failure_of(response)
        choices = [context.replaced(one, _without(one, api, key)) for one in response.choices]
        failed: ChatResponse = context.replace(response, choices=choices, error=error)
        return failed
    if response.error is None:
        return response
    choices = [_failed(choice, context) for choice in response.choices]
    if all(new is old for new, old in zip(choices, response.choices, strict=True)):
        return response
    changed: ChatResponse = context.replace(response, choices=choices)
    return changed


def _failed(choice: ChatChoice, context: EncodeContext) -> ChatChoice:
    """Return a choice of an answer with an error. A missing or usual finish reason becomes a failure."""
    finish = choice.finish_reason
    if finish is not None and finish.raw != "" and finish.reason in UNSUCCESSFUL:
        return choice
    if finish is not None and finish.raw != "":
        context.report_loss(choice, "finish_reason.raw", reasons.NO_FINISH_REASON, value=finish.raw or finish.reason)
    failed: ChatChoice = context.replace(choice, finish_reason=FinishReason(reason="error"))
    return failed


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


def with_end(choice: ChatChoice, context: EncodeContext) -> ChatChoice:
    """Return a choice of another API with a finish reason: "tool_calls" if it has none and has calls, or "stop"."""
    if choice.finish_reason is not None and choice.finish_reason.raw != "":
        return choice
    ended = end_for(choice.finish_reason, has_calls=any(message.tool_calls for message in choice.messages))
    context.report_loss(choice, "finish_reason", reasons.FINISH_REASON)
    changed: ChatChoice = context.replace(choice, finish_reason=ended)
    return changed


def end_for(finish: FinishReason | None, *, has_calls: bool) -> FinishReason | None:
    """Return the finish reason of a complete answer. One that is missing, or an empty text, is replaced."""
    if finish is not None and finish.raw != "":
        return finish
    return FinishReason(reason="tool_calls" if has_calls else "stop")


def _key_of_message(response: ChatResponse) -> str | None:
    source = source_of(response.origin)
    return None if source is None else getattr(source, "failure_message", None)


def _without(choice: ChatChoice, api: str, key: str | None) -> ChatChoice:
    own = (choice.extra or {}).get(api, {})
    if key is None or key not in own:
        return choice
    left = {name: value for name, value in own.items() if name != key}
    return msgspec.structs.replace(choice, extra={**(choice.extra or {}), api: left})


def _is_failed(choice: ChatChoice) -> bool:
    return choice.finish_reason is not None and choice.finish_reason.reason == "error"


def _has_only_failed(choice: ChatChoice) -> bool:
    return _is_failed(choice) and all(map(is_empty_text, contents_of(choice.messages)))
