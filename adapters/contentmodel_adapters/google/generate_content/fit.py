"""The steps that adapt requests and answers to generateContent, in their order."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    NEEDS_OF_CALLS,
    EncodeContext,
    Fact,
    Kinds,
    content_step,
    foreign,
    hoist_instructions,
    media,
    object_of,
    objects_of,
    payload_step,
    reasons,
    request_step,
    response_step,
    settings,
    transcript_step,
    turn_step,
    with_contents,
    with_date,
    with_fitting_calls,
    with_known_tools,
    with_normalized_texts,
    with_whole_guests,
    without_user_messages,
)
from contentmodel.content.base import AIContent
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import CodeInterpreterToolCallContent, CodeInterpreterToolResultContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, ResponseFormat
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.first_turn import with_begun
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.reasoning import KEEP_SIGNATURES, is_signed, with_signed_call
from contentmodel_adapters.common.schema_adaptation import GOOGLE, with_fitting_schemas
from contentmodel_adapters.google.generate_content.response import is_feedback
from contentmodel_adapters.google.generate_content.rules import DIALECTS, HOSTED, INVOCATIONS, Dialect
from contentmodel_adapters.google.generate_content.table import API, PARTS, YOUTUBE
from contentmodel_adapters.google.generate_content.tools import CURRENT, DECLARATIONS
from contentmodel_adapters.google.shared import (
    CALL_IDS,
    TOOL_NAMES,
    requires_signed_calls,
    with_mode_of_strict_tools,
    with_respelled_tools,
    with_shared_fields,
)

# -- settings and instructions -----------------------------------------------------------------------------------------


def report_url(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Report values that belong in the URL of a request, not in its body: the model, and the choice of a stream."""
    if request.model is not None:
        context.report_loss(request, "model", reasons.IN_URL)
    if request.options.stream is not None:
        context.report_loss(request, "options.stream", reasons.IN_URL)
    return request


def without_cited_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Report the citations of instructions as lost."""
    for instruction in request.instructions:
        if instruction.annotations:
            context.report_lost_attributes(instruction, ("annotations",))
    return request


def with_media_type(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Request JSON by its media type. Report a format that the API does not have."""
    response_format = request.options.response_format
    if response_format is None:
        return request
    context.leave_residue(response_format)
    if response_format.kind not in ("json", "json_schema"):
        if response_format.kind != "text" and response_format.media_type is None:
            context.report_loss(response_format, "kind", reasons.NO_FIELD)
        return request
    typed: ResponseFormat = replace(response_format, media_type="application/json")
    return replace(request, options=replace(request.options, response_format=typed))


# -- messages ----------------------------------------------------------------------------------------------------------

# Only Vertex AI reads Cloud Storage.
READS = media.MediaSupport(schemes=("http", "https", "gs"), in_answers=True, typed_links=True, untyped=YOUTUBE)


def with_fitting_parts(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with paired calls, whose results hold media only if the model reads them there."""
    detach_media = "never" if context.known.capabilities.media_in_results else "always"
    return with_fitting_calls(request, context, ids=CALL_IDS, names=TOOL_NAMES, detach_media=detach_media)


_SENT_AS_TEXT = (TextContent, JsonContent, DocumentContent, ErrorContent)


def _is_sent_as_text(output: Any) -> bool:
    """Return whether an output becomes a text. A document without parts has none."""
    return output.__class__ in _SENT_AS_TEXT and not (isinstance(output, DocumentContent) and not output.parts)


def with_text_of_failure(result: FunctionResultContent, context: EncodeContext) -> FunctionResultContent:
    """Return a failed result without text with an empty one: the key "error" needs a value."""
    if not result.is_error or any(map(_is_sent_as_text, result.output_list)):
        return result
    return replace(result, outputs=[TextContent(text=""), *result.output_list])


WITH_TEXTS_OF_FAILURES = content_step(with_text_of_failure, FunctionResultContent, needs=(FunctionResultContent,))


MOVED_SIGNATURE = reasons.moved(
    "google-moved-signature",
    "{target} has the signature of a thought on the text or call after it: the signature is moved there",
)


def with_signed_parts(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message whose signatures are on the text or call after a thought, as in generateContent."""
    joined: list[Any] = []
    pending: Any = None
    for content in message.contents:
        if pending is not None and content.protected is None and not isinstance(content, KEEP_SIGNATURES):
            signed = context.replace(content, protected=pending.protected)
            if pending.text:
                context.report_loss(pending, "protected", MOVED_SIGNATURE)
                joined[-1] = context.replace(pending, protected=None)
            else:
                context.report_lost_attributes(pending, ("annotations", "cache_point"))
                context.leave_residue(pending, own=True)
                joined[-1:] = []
            content = signed
        joined.append(content)
        pending = content if isinstance(content, ReasoningContent) and is_signed(content) else None
    return with_contents(message, joined)


def takes_guest(guest: AIContent, request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether a model takes a guest: those before Gemini 3 take only the execution of code."""
    is_code = isinstance(guest, CodeInterpreterToolCallContent | CodeInterpreterToolResultContent)
    return is_code or requires_signed_calls(context)


REQUEST_STEPS = (
    request_step(report_url, native=True),
    request_step(settings.with_fitting_settings, aimed=True, form=settings.GOOGLE),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(with_respelled_tools),
    request_step(with_shared_fields),
    request_step(with_sendable_tools, current=CURRENT),
    request_step(hoist_instructions),
    request_step(with_media_type, needs=(("option", "response_format"),)),
    request_step(without_cited_instructions, needs=(Fact.INSTRUCTIONS,)),
    request_step(with_whole_guests, accepts=takes_guest),
    *foreign.NORMALIZE,
    transcript_step(foreign.join_results),
    transcript_step(foreign.join_assistant),
    foreign.WITHOUT_CITATIONS,
    *media.with_readable_media(READS),
    request_step(with_fitting_parts, needs=NEEDS_OF_CALLS),
    request_step(with_fitting_schemas, dialects=GOOGLE),
    request_step(with_mode_of_strict_tools, native=True),
    transcript_step(foreign.with_names_of_results),
    transcript_step(with_begun),
    request_step(foreign.with_a_turn),
    WITH_TEXTS_OF_FAILURES,
    turn_step(with_signed_parts, ReasoningContent, needs=(Fact.STATE,)),
    turn_step(
        with_signed_call,
        FunctionCallContent,
        aimed=True,
        needs=(FunctionCallContent,),
        on=requires_signed_calls,
    ),
)

# -- payloads of requests ----------------------------------------------------------------------------------------------


def without_choice_of_no_functions(
    payload: dict[str, Any], request: ChatRequest, context: EncodeContext
) -> dict[str, Any]:
    """Return the payload of a request without a choice among functions, if it defines none.

    Models up to Gemini 2.5 refuse it (pydantic/pydantic-ai#5791, seen 2026-11-27).
    """
    settings = object_of(payload, "toolConfig")
    if "functionCallingConfig" not in settings or any(DECLARATIONS in tool for tool in objects_of(payload, "tools")):
        return payload
    context.report_loss(request, "options.tool_choice", reasons.CHOICE_WITHOUT_TOOLS)
    other_settings = {key: value for key, value in settings.items() if key != "functionCallingConfig"}
    other_fields = {key: value for key, value in payload.items() if key != "toolConfig"}
    return {**other_fields, "toolConfig": other_settings} if other_settings else other_fields


NO_INVOCATIONS = reasons.dropped("google-generate-content-invocations", "Vertex AI refuses the field")


def with_invocations(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload that asks for the calls of hosted tools if it has functions, too, in the form of its host.

    Without the policy `dialect`, the host is the Developer API. The mode AUTO is then VALIDATED
    (ai.google.dev/gemini-api/docs/tool-combination, seen 2026-11-27).
    """
    dialect: Dialect = context.host.dialect or DIALECTS["gemini"]
    if not dialect.invocations and INVOCATIONS in object_of(payload, "toolConfig"):
        context.report_loss(request, f"toolConfig${INVOCATIONS}", NO_INVOCATIONS, api=API)
        settings = {name: value for name, value in payload["toolConfig"].items() if name != INVOCATIONS}
        other_fields = {name: value for name, value in payload.items() if name != "toolConfig"}
        return {**other_fields, "toolConfig": settings} if settings else other_fields
    tools = objects_of(payload, "tools")
    is_mixed = any(DECLARATIONS in tool for tool in tools) and any(not tool.keys().isdisjoint(HOSTED) for tool in tools)
    if not is_mixed or not dialect.invocations or not context.known.capabilities.hosted_with_functions:
        return payload
    settings = object_of(payload, "toolConfig")
    calling = object_of(settings, "functionCallingConfig")
    if calling.get("mode") == "AUTO":
        settings = {**settings, "functionCallingConfig": {**calling, "mode": "VALIDATED"}}
    return {**payload, "toolConfig": {**settings, INVOCATIONS: True}}


PAYLOAD_STEPS = (payload_step(without_choice_of_no_functions, keys=("toolConfig",)),)
HOST_STEPS = (payload_step(with_invocations, aimed=True, keys=("tools", "toolConfig")),)

# -- answers -----------------------------------------------------------------------------------------------------------

ANSWER_STEPS = (
    transcript_step(without_user_messages),
    WITH_TEXTS_OF_FAILURES,
    transcript_step(with_normalized_texts, native=True, blocks=PARTS),
)


def without_blocked(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return an answer without the choice that stands for the feedback to the prompt, unless it was changed."""
    reason = object_of((response.extra or {}).get(API, {}), "promptFeedback").get("blockReason")
    choices = [choice for choice in response.choices if not is_feedback(choice, reason)]
    if not context.native or len(choices) == len(response.choices):
        return response
    return replace(response, choices=choices)


RESPONSE_STEPS = (response_step(without_blocked, native=True),)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    payload = with_date(payload, "createTime", response, context)
    if "usageMetadata" in payload:
        payload["usageMetadata"] = complete_usage(payload["usageMetadata"])
    return payload


def complete_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counters with the total, which the API always sends."""
    return {"totalTokenCount": sum(map(usage.get, COUNTED, repeat(0))), **usage}


# GenerateContentResponseUsageMetadata.total_token_count of google-genai 3.4, types.py (seen 2026-11-22).
COUNTED = ("promptTokenCount", "candidatesTokenCount", "toolUsePromptTokenCount", "thoughtsTokenCount")


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
