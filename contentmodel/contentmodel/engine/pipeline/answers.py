"""The ends and the counts of answers of other APIs: failures, finish reasons, and counts of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from contentmodel import reasons
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline.foreign import is_empty_text, leave_empty, leave_empty_text
from contentmodel.engine.pipeline.steps import compared
from contentmodel.engine.table.answers import UNSUCCESSFUL, source_of
from contentmodel.message import FinishReason, contents_of
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

if TYPE_CHECKING:
    from contentmodel.response import ChatChoice


# -- failures ----------------------------------------------------------------------------------------------------------


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
        # The source has no error whose fields could be lost.
        error = context.placeholder(failure_of(response))
        choices = [_without_field(choice, api, key) for choice in response.choices]
        return compared(response, msgspec.structs.replace(response, choices=choices, error=error), context)
    if response.error is None:
        return response
    choices = [_failed(choice, context) for choice in response.choices]
    if all(new is old for new, old in zip(choices, response.choices, strict=True)):
        return response
    return compared(response, msgspec.structs.replace(response, choices=choices), context)


def _failed(choice: ChatChoice, context: EncodeContext) -> ChatChoice:
    """Return a choice of an answer with an error. A missing or usual finish reason becomes a failure."""
    finish = choice.finish_reason
    if finish is not None and finish.raw != "" and finish.reason in UNSUCCESSFUL:
        return choice
    if finish is not None and finish.raw != "":
        context.report_loss(choice, "finish_reason.raw", reasons.NO_FINISH_REASON, value=finish.raw or finish.reason)
    return msgspec.structs.replace(choice, finish_reason=FinishReason(reason="error"))


def as_error_body(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return a failed answer of another API as a response with only its error, if it has no content."""
    if context.native or response.error is None or not all(map(_has_only_failed, response.choices)):
        return response
    for choice in response.choices:
        context.report_loss(choice, "finish_reason", reasons.FAILED_ANSWER)
        context.report_lost_attributes(choice, ("index", "logprobs"))
        context.leave_residue(choice, own=True)
        for message in choice.messages:
            leave_empty(message, context)
            for content in message.contents:
                leave_empty_text(content, context)
    context.is_error_body = True
    return compared(response, msgspec.structs.replace(response, choices=[]), context)


def with_end(choice: ChatChoice, context: EncodeContext) -> ChatChoice:
    """Return a choice of another API with a finish reason: "tool_calls" if it has none and has calls, or "stop"."""
    if choice.finish_reason is not None and choice.finish_reason.raw != "":
        return choice
    ended = end_for(choice.finish_reason, has_calls=any(message.tool_calls for message in choice.messages))
    context.report_loss(choice, "finish_reason", reasons.FINISH_REASON)
    return compared(choice, msgspec.structs.replace(choice, finish_reason=ended), context)


def end_for(finish: FinishReason | None, *, has_calls: bool) -> FinishReason | None:
    """Return the finish reason of a complete answer. One that is missing, or an empty text, is replaced."""
    if finish is not None and finish.raw != "":
        return finish
    return FinishReason(reason="tool_calls" if has_calls else "stop")


def _key_of_message(response: ChatResponse) -> str | None:
    source = source_of(response.origin)
    return None if source is None else getattr(source, "failure_message", None)


def _without_field(choice: ChatChoice, api: str, key: str | None) -> ChatChoice:
    residue = (choice.extra or {}).get(api, {})
    if key is None or key not in residue:
        return choice
    remaining = {name: value for name, value in residue.items() if name != key}
    return msgspec.structs.replace(choice, extra={**(choice.extra or {}), api: remaining})


def _is_failed(choice: ChatChoice) -> bool:
    return choice.finish_reason is not None and choice.finish_reason.reason == "error"


def _has_only_failed(choice: ChatChoice) -> bool:
    return _is_failed(choice) and all(map(is_empty_text, contents_of(choice.messages)))


# -- finish reasons of calls and refusals ------------------------------------------------------------------------------


def finish_for_calls(finish: FinishReason | None, calls: list[ToolCallContent]) -> FinishReason | None:
    """Replace a finish reason that only its own API defines by "tool_calls", if the answer has complete calls.

    With any other finish reason, clients do not run the calls.
    """
    if finish is None or finish.reason != "other" or not calls or any(call.status == "incomplete" for call in calls):
        return finish
    return msgspec.structs.replace(finish, reason="tool_calls")


def finish_for_refusal(finish: FinishReason | None, *, is_refused: bool) -> FinishReason | None:
    """Replace a usual finish reason of an answer that refuses by "refusal", for APIs that have this reason.

    OpenAI's answers end with "stop", and their content shows the refusal, which is a text elsewhere.
    """
    if finish is None or finish.reason != "stop" or not is_refused:
        return finish
    return msgspec.structs.replace(finish, reason="refusal")


def is_refusal(content: object) -> bool:
    """Return whether a content is a refusal of the model."""
    return isinstance(content, ErrorContent) and content.code == "refusal"


def with_fitting_finish(choice: ChatChoice, context: EncodeContext, *, shows_refusals: bool) -> ChatChoice:
    """Return a choice. If it is of another API, clients run its calls, and take no refusal for a usual answer.

    `shows_refusals`: whether the target has a finish reason for refusals.
    """
    finish = choice.finish_reason
    if context.native or finish is None or finish.reason not in ("other", "stop"):
        return choice
    normalized = finish_for_calls(finish, [call for message in choice.messages for call in message.tool_calls])
    if shows_refusals:
        normalized = finish_for_refusal(normalized, is_refused=any(map(is_refusal, contents_of(choice.messages))))
    if normalized is finish:
        return choice
    context.report_loss(choice, "finish_reason.raw", reasons.NO_FINISH_REASON, value=finish.raw or finish.reason)
    return compared(choice, msgspec.structs.replace(choice, finish_reason=normalized), context)


# -- counts of tokens --------------------------------------------------------------------------------------------------


def counted(
    response: ChatResponse,
    context: EncodeContext,
    *,
    cached_inside: bool,
    reasoning_inside: bool,
    tools_inside: bool = True,
) -> ChatResponse:
    """Return the response with its usage counted as the target counts; report every number that changes.

    `tools_inside`: the target counts the output of hosted tools as input, and has no separate counter for it.
    """
    usage = response.usage
    if usage is None or context.native:
        return response
    recounted = counted_usage(
        usage, context, cached_inside=cached_inside, reasoning_inside=reasoning_inside, tools_inside=tools_inside
    )
    return compared(response, msgspec.structs.replace(response, usage=recounted), context)


def counted_usage(
    usage: Usage, context: EncodeContext, *, cached_inside: bool, reasoning_inside: bool, tools_inside: bool = True
) -> Usage:
    """Return the usage of another API, counted as the target counts; report every number that changes."""
    changed: dict[str, int | bool | None] = {"cached_inside": cached_inside, "reasoning_inside": reasoning_inside}
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    reasoning = usage.reasoning_tokens or 0
    of_tools = (usage.tool_input_tokens or 0) if tools_inside else 0
    more_input = of_tools + (_moved(cached, usage.cached_inside, cached_inside) if cached else 0)
    more_output = _moved(reasoning, usage.reasoning_inside, reasoning_inside) if reasoning else 0
    # A missing counter is zero if others are added to it (generateContent omits zeros).
    if more_input and (usage.input_tokens is not None or cached_inside or of_tools):
        changed["input_tokens"] = (usage.input_tokens or 0) + more_input
    if more_output and (usage.output_tokens is not None or reasoning_inside):
        changed["output_tokens"] = (usage.output_tokens or 0) + more_output
    if of_tools:
        changed["tool_input_tokens"] = None
    for name in ("input_tokens", "output_tokens", "tool_input_tokens"):
        if name in changed and getattr(usage, name) is not None:
            context.report_loss(usage, name, reasons.TOKEN_COUNTER_DIFFERS)
    recounted: Usage = msgspec.structs.replace(usage, **changed)
    return context.replaced(usage, recounted)


def _moved(tokens: int, were_inside: bool, are_inside: bool) -> int:
    """Return the change of a counter if some tokens are newly included in it, or no longer."""
    return 0 if were_inside == are_inside else tokens if are_inside else -tokens
