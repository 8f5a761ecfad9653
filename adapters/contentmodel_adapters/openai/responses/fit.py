"""The steps that adapt requests and answers of other APIs to the Responses API, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    NEEDS_OF_CALLS,
    EncodeContext,
    Kinds,
    Made,
    Turns,
    content_step,
    foreign,
    hints,
    is_native,
    media,
    payload_step,
    readable_reasoning,
    reasons,
    request_step,
    seconds_of,
    settings,
    transcript_step,
    turn_step,
    with_fitting_calls,
    with_known_tools,
    with_whole_guests,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.hosted import ToolSearchToolResultContent
from contentmodel.content.outcomes import ToolChangeContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    Caller,
    FunctionCallContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolCallContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, FunctionTool
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.pairs.openai_approvals import with_approvals_of_openai
from contentmodel_adapters.common.pairs.openai_texts import with_texts_of_openai
from contentmodel_adapters.common.pairs.provider_state import (
    reasoning_items,
    with_state_at_end,
    with_state_of_items,
    with_stored_reasoning,
)
from contentmodel_adapters.common.reasoning import sealer_of
from contentmodel_adapters.common.schema_adaptation import OPENAI, with_fitting_schemas
from contentmodel_adapters.openai.responses.items import API, ISSUER, TABLE, ItemIds
from contentmodel_adapters.openai.responses.rules import CALL_IDS, TOOL_NAMES
from contentmodel_adapters.openai.responses.table import ADDED, CURRENT
from contentmodel_adapters.openai.rules import MEDIA_TYPES
from contentmodel_adapters.openai.table import ERRORS, with_settings_of

READS = media.MediaSupport(
    MEDIA_TYPES, ("image/*", "application/*", "text/*"), ("http", "https", "data"), GOOGLE_FILES, named=True
)
NO_TEXTS = reasons.dropped(
    "openai-responses-reasoning-text", "OpenAI's models take no text of reasoning: only a summary and encrypted content"
)


def with_separate_added_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request without the copies of tools that its messages add."""
    return ADDED.leave_out(request)


def is_continued(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the server holds the conversation that a request continues. Ids of other APIs are not sent."""
    is_sent = context.native or context.has_no_origin
    previous = request.options.previous_response_id if is_sent else None
    return (previous or request.options.conversation_id) is not None


def with_a_turn(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with a placeholder user message if it has no contents and continues no conversation."""
    return request if is_continued(request, context) else foreign.with_a_turn(request, context)


def with_fitting_items(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with paired calls and results. One that continues a conversation may have results alone."""
    is_more = is_continued(request, context)
    return with_fitting_calls(request, context, ids=CALL_IDS, names=TOOL_NAMES, is_continued=is_more)


def is_sent_back(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether a message of this API goes back to its model: its reasoning is unchanged."""
    origin = message.origin
    return origin is not None and is_native(message, context) and origin.model == context.target.model


def without_unread_state(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return a message without the reasoning whose encrypted content the model cannot read.

    OpenAI refuses that of other makers, whose models other hosts of the API serve (openai/codex#8119, seen 2026-11-27).
    Such reasoning is lowered like that of another API.
    """
    if is_sent_back(message, context):
        return message
    contents: list[AIContent] = []
    for item in reasoning_items(message.contents):
        parts = [part for part in item if isinstance(part, ReasoningContent)]
        state = next((part.protected for part in parts if part.protected is not None), None)
        if state is None or not is_unread(state, message, context):
            contents += item
            continue
        for part in parts:
            # Without its state, reasoning is lowered even if the API reads the state of other models.
            bare = context.replace(part, protected=None)
            made = readable_reasoning(bare, context, is_last=part is message.contents[-1])
            if made and part.protected is not None:
                context.report_loss(part, "protected", reasons.OPAQUE_STATE, issuer=state.issuer)
            contents += made
    if contents == message.contents:
        return message
    return msgspec.structs.replace(message, contents=contents) if contents else []


def is_unread(state: Protected, message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether the target's model is known to be of another maker than the state."""
    issuer, maker = state.issuer, sealer_of(context.target.model)
    if message.origin is not None and is_native(message, context) and issuer in (ISSUER, API):
        # Older documents name OpenAI as the issuer of each state.
        issuer = sealer_of(message.origin.model) or issuer
    if maker is None:
        return issuer != ISSUER and is_for_openai(context)
    return issuer not in (maker, API)


def is_for_openai(context: EncodeContext) -> bool:
    """Return whether the target's model is known to be one of OpenAI's."""
    return context.known.status in ("listed", "newest")


def without_text(content: ReasoningContent, context: EncodeContext) -> Made:
    """Return reasoning without its text, for OpenAI's own models."""
    if content.kind != "text" or is_sent_back(context.message, context):
        return content
    context.report_loss(content, "text", NO_TEXTS)
    return () if content.protected is None else msgspec.structs.replace(content, text="", kind=None)


def left_out(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return no message for one without contents."""
    return ()


def with_programs(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request in which calls of guests that are programs, and their results, keep the program as caller."""
    contents = [content for message in request.messages for content in message.contents]
    programs = {
        content.call_id for content in contents if isinstance(content, ToolCallContent) and context.is_own(content)
    }
    callers = {
        call.call_id: context.with_fields(call.caller, hints.GUEST.entry("program"))
        for call in contents
        if isinstance(call, FunctionCallContent) and call.caller is not None and call.caller.call_id in programs
    }
    messages = [
        context.with_contents(message, [_of_program(content, callers, context) for content in message.contents])
        if callers and not is_native(message, context)
        else message
        for message in request.messages
    ]
    return context.with_messages(request, messages)


def _of_program(content: AIContent, callers: Mapping[str | None, Caller], context: EncodeContext) -> AIContent:
    is_known = isinstance(content, FunctionCallContent | FunctionResultContent) and content.call_id in callers
    if not is_known or (isinstance(content, FunctionResultContent) and content.caller is not None):
        return content
    return context.replace(content, caller=callers[content.call_id])  # type: ignore[attr-defined]


def with_definitions(content: ToolSearchToolResultContent, context: EncodeContext) -> ToolSearchToolResultContent:
    """Return found tools with their definitions, if the result is a guest of another format."""
    if not context.is_own(content):
        return content
    found = content.tools or []
    bare = [tool for tool in found if tool.keys() <= {"type", "name"}]
    known = {
        tool["name"]: own for tool in bare if isinstance(own := context.tool_named(tool.get("name")), FunctionTool)
    }
    if len(known) < len(bare):
        context.report_loss(content, "tools", reasons.STORED_WITH_ITEM)
    defined = {name: TABLE.unions["tool"].encode_list([tool], context)[0] for name, tool in known.items()}
    kept = [defined.get(tool.get("name"), tool) if tool in bare else tool for tool in found]
    kept = [tool for tool in kept if tool not in bare]
    return content if kept == found else msgspec.structs.replace(content, tools=kept)


REQUEST_STEPS = (
    request_step(with_settings_of, other="openai-chat", needs=(("extra", "openai-chat"),)),
    request_step(settings.with_fitting_settings, native=True, form=settings.RESPONSES),
    request_step(with_separate_added_tools, native=True, needs=(ToolChangeContent,)),
    request_step(with_known_tools, native=True, kinds=Kinds(custom=True, custom_results=True, namespaces=True)),
    request_step(with_sendable_tools, current=CURRENT),
    request_step(with_approvals_of_openai, needs=(ToolApprovalRequestContent,)),
    request_step(with_whole_guests),
    request_step(with_programs, needs=(FunctionCallContent,)),
    content_step(with_definitions, ToolSearchToolResultContent, needs=(ToolSearchToolResultContent,)),
    transcript_step(with_state_of_items, needs=(ReasoningContent,)),
    request_step(with_stored_reasoning, needs=(ReasoningContent,)),
    *foreign.NORMALIZE,
    turn_step(without_unread_state, ReasoningContent, native=True, needs=(ReasoningContent,)),
    content_step(
        without_text,
        ReasoningContent,
        native=True,
        needs=(ReasoningContent,),
        on=is_for_openai,
        emptied=left_out,
    ),
    transcript_step(with_state_at_end, needs=(ReasoningContent,)),
    request_step(with_texts_of_openai, needs=(TextContent,)),
    *media.with_readable_media(READS),
    request_step(with_a_turn),
    request_step(with_fitting_items, needs=NEEDS_OF_CALLS),
    request_step(with_fitting_schemas, dialects=OPENAI),
)


ANSWER_STEPS = (
    transcript_step(foreign.normalize_answer, cites=True),
    content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    defaults = {
        "object": "response",
        "id": "",
        "created_at": 0,
        "model": "",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    error = payload.get("error")
    if error is not None:
        if not response.choices:
            # A refused request has the error body of every endpoint.
            context.report_lost_attributes(response, ("id", "model", "created", "usage"))
            return {"error": error}
        payload = {**payload, "error": in_response(error)}
        _set_failure(payload, error, response, context)
    filled = {**defaults, **payload}
    if response.created is None:
        context.report_loss(response, "created", reasons.UNKNOWN_TIME)
    if not isinstance(filled["created_at"], int | float):
        seconds = seconds_of(filled["created_at"])
        lost = reasons.TIME_DROPPED if seconds is None else reasons.TIME_REWRITTEN
        context.report_loss(response, "created", lost, form="in seconds since 1970")
        filled["created_at"] = seconds or 0
    usage = filled.get("usage")
    if usage is not None:
        filled["usage"] = complete_usage(usage)
    ids = ItemIds(filled)
    filled["output"] = [ids.named(item) for item in filled["output"] or []]
    return filled


def _set_failure(
    payload: dict[str, Any], error: dict[str, Any], response: ChatResponse, context: EncodeContext
) -> None:
    """Set the status of a response with an error. Report the error code and the finish reason if they do not fit."""
    if response.error is not None and ERRORS.kind_of(payload["error"]) != ERRORS.kind_of(error):
        field = "kind" if response.error.code is None else "code"
        context.report_loss(response.error, field, reasons.NO_ERROR_TYPE)
    finish = response.choices[0].finish_reason
    if payload.get("status", "completed") == "completed":
        payload["status"] = "failed"
        if finish is not None and finish.reason != "error":
            reason = finish.raw or finish.reason
            context.report_loss(response.choices[0], "finish_reason.raw", reasons.NO_FINISH_REASON, value=reason)


def in_response(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error as the field of a failed response, which has few codes (types/responses/response_error.py)."""
    kind = ERRORS.kind_of(error)
    codes = {
        "rate_limit": "rate_limit_exceeded",
        "invalid_request": "invalid_prompt",
        "context_length": "invalid_prompt",
    }
    return {"code": codes.get(kind or "", "server_error"), "message": error.get("message", "")}


def complete_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counters that the API always has; a missing counter is zero."""
    inside = {"cached_tokens": 0, "cache_write_tokens": 0, **usage.get("input_tokens_details", {})}
    outside = {"reasoning_tokens": 0, **usage.get("output_tokens_details", {})}
    tokens = {"input_tokens": 0, "output_tokens": 0, **usage}
    total = {"total_tokens": tokens["input_tokens"] + tokens["output_tokens"], **tokens}
    return {**total, "input_tokens_details": inside, "output_tokens_details": outside}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
