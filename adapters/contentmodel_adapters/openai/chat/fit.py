"""The steps that adapt requests and answers to Chat Completions and its hosts, in their order.

What a host takes is in its row in hosts.py.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any

import msgspec

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    OTHER_KINDS,
    EncodeContext,
    Fact,
    Kinds,
    Made,
    content_step,
    foreign,
    hints,
    is_native,
    media,
    needs,
    payload_step,
    place_instructions,
    readable_reasoning,
    reasons,
    request_step,
    settings,
    transcript_step,
    turn_step,
    types_after_fitting,
    whole_seconds,
    with_fields_of,
    with_fitting_calls,
    with_known_tools,
    with_normalized_texts,
    without_settings_of_tools,
    without_user_messages,
)
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel.request import ChatRequest, CustomTool
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.reasoning import is_signed, with_signed_call
from contentmodel_adapters.common.schema_adaptation import OPENAI, with_fitting_schemas
from contentmodel_adapters.openai.chat.hosts import (
    API,
    Dialect,
    form_of,
    has_tool,
    is_of_another_maker,
    refuses_names,
    required_reasoning,
    requires_signed_calls,
    row_of,
)
from contentmodel_adapters.openai.chat.parts import with_listed
from contentmodel_adapters.openai.chat.rules import (
    ALTERNATIVES,
    AUDIO_FORMATS,
    AUTHORS,
    CALL_IDS,
    EXCLUDED,
    REFUSED_IN_AUTHORS,
    STREAMED_AUDIO,
    TOOL_NAMES,
)
from contentmodel_adapters.openai.chat.table import (
    ATTRIBUTES,
    ERROR_AT_TOP,
    ERROR_BESIDE,
    fields_to_write,
    with_aliases,
)
from contentmodel_adapters.openai.rules import MEDIA_TYPES
from contentmodel_adapters.openai.table import with_settings_of

# A file has data or an id, and no URL (types/chat/chat_completion_content_part_param.py of openai 3.52).
LINKS = ("image/*",)
READS = media.MediaSupport(MEDIA_TYPES, LINKS, ("http", "https", "data"), GOOGLE_FILES, named=True)
READS_AUDIO = msgspec.structs.replace(READS, media_types=(*MEDIA_TYPES, *AUDIO_FORMATS.values()))
NO_DEVELOPER = reasons.degraded(
    "openai-chat-no-developer", "the host has no developer role: the message is sent as system"
)
NO_TOOL_AT_HOST = reasons.dropped("openai-chat-host-tool", "the host has no tools of the type {type}")
EMPTY_REASONING = reasons.synthesized(
    "openai-chat-empty-reasoning", "the host requires {name} in a message with calls: an empty one is sent"
)


def reads(context: EncodeContext) -> media.MediaSupport:
    """Return the media that the model reads. Only some models read audio."""
    kinds = context.known.capabilities.media
    return READS_AUDIO if kinds is None or "audio" in kinds else READS


def with_settings_of_platform(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of the Responses API with the settings of OpenAI's platform that the host takes, too."""
    return with_settings_of(request, context, "openai-responses", row_of(context).takes)


def with_fields_of_mistral(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of Mistral with the fields that this API has, too: a prediction only if nothing excludes it."""
    is_excluded = any(attrgetter(*EXCLUDED.values())(request)) or (request.options.choices or 1) > 1
    names = ("prompt_cache_key", *(() if is_excluded else ("prediction",)))
    return with_fields_of(request, context, "mistral-chat", names)


def with_fitting_settings(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API whose settings the target's model and its host take."""
    if context.native:
        # The fields of this API say which of its hosts they are for: those that the model refuses are left out.
        return request
    return settings.with_fitting_settings(request, context, form_of(context))


@needs(*OTHER_KINDS, makes=types_after_fitting)
def with_tools_of_host(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose tools and calls the model and its host accept: custom tools may become functions.

    A request of this API keeps them, if its model and host are unchanged.
    """
    is_unchanged = context.native and not context.is_aimed
    is_of_host = has_tool(row_of(context), "custom")
    is_of_model = context.known.model is None or context.known.capabilities.custom_tools
    is_custom = is_unchanged or (is_of_host and is_of_model)
    for tool in request.tools if context.native and not is_custom else ():
        if not isinstance(tool, CustomTool) or hints.ROW.of(tool, API) == FREE_TEXT_ROW:
            continue
        if tool.format is not None and tool.format.get("type") == "grammar":
            context.report_loss(tool, "format$.type", reasons.GRAMMAR_AS_TEXT)
    return with_known_tools(request, context, Kinds(custom=is_custom))


def without_unread_state(content: AIContent, context: EncodeContext) -> Made:
    """Return a content without the opaque state that the model cannot read.

    That is the state of another maker, if the model is known to be of one, and of calls of other APIs, if the host does
    not read it. Reasoning of another maker is lowered like that of another API.
    """
    state, message = content.protected, context.message
    if state is None:
        return content
    if is_native(message, context):
        is_unread = is_of_another_maker(state.issuer, context)
    else:
        is_unread = content.__class__ is FunctionCallContent and state.issuer not in context.issuers
    if not is_unread:
        return content
    if isinstance(content, ReasoningContent):
        return readable_reasoning(content, context, is_last=content is message.contents[-1])
    context.report_loss(content, "protected", reasons.OPAQUE_STATE, issuer=state.issuer)
    return msgspec.structs.replace(content, protected=None)


def has_fields_of_state(context: EncodeContext) -> bool:
    """Return whether a conversation of another API goes to a host that has fields for opaque state."""
    return context.host.state_field is not None and context.host.dialect is not None and not context.native


def with_state_of_host(content: AIContent, context: EncodeContext) -> Made:
    """Return a call or a text with its signature in the field of the host.

    The signature of a text is a content before it. Without a field for it, the text keeps it.
    """
    dialect: Dialect = context.host.dialect
    state = content.protected
    if state is None or state.issuer not in context.issuers:
        return content
    if content.__class__ is FunctionCallContent and dialect.call_row is not None and is_signed(content):
        return hints.ROW.on(content, context.api, dialect.call_row)
    if content.__class__ is not TextContent:
        return content
    field = dialect.text_field if dialect.text_field and is_signed(content) else dialect.state_field
    signature = ReasoningContent(text="", protected=state, extra=hints.COLUMN.extra(context.api, field or ""))
    return [signature, msgspec.structs.replace(content, protected=None)]


def lacks_developers(context: EncodeContext) -> bool:
    """Return whether the host has no role developer."""
    return "developer" not in row_of(context).roles


def with_role_of_host(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a developer message as a system message, for hosts without the role developer."""
    if message.role != "developer":
        return message
    context.report_loss(message, "role", NO_DEVELOPER)
    return msgspec.structs.replace(message, role="system")


def without_citations(content: AIContent, context: EncodeContext) -> AIContent:
    """Return a text without citations. Only those of this API are sent back, in messages of the assistant."""
    if context.native and context.message.role == "assistant":
        return content
    context.report_lost_attributes(content, ("annotations",))
    return msgspec.structs.replace(content, annotations=None)


def with_accepted_author(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message with a name of its author that the API accepts: without one if the host refuses all names."""
    name = message.author_name
    accepts = not refuses_names(context)
    if name is None or message.role == "tool" or (accepts and AUTHORS.accepts(name)):
        return message
    accepted = _REFUSED.sub("_", name)[: AUTHORS.longest] if accepts and name else None
    if accepted is None:
        context.report_lost_attributes(message, ("author_name",))
    else:
        context.report_loss(message, "author_name", reasons.AUTHOR_NAME)
    return msgspec.structs.replace(message, author_name=accepted)


def with_reported_settings(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Report the reasoning settings for which the host has no field. Return the request unchanged."""
    for attribute in ATTRIBUTES:
        if not fields_to_write(attribute, request, context):
            context.report_lost_attributes(request, (f"options.reasoning.{attribute}",))
    return request


_REFUSED = re.compile(f"[{REFUSED_IN_AUTHORS}]+")
REQUEST_STEPS = (
    request_step(with_settings_of_platform, needs=(("extra", "openai-responses"),)),
    request_step(with_fields_of_mistral, needs=(("extra", "mistral-chat"),)),
    request_step(with_fitting_settings, native=True, needs=settings.NEEDS),
    request_step(with_tools_of_host, native=True),
    request_step(place_instructions, native=True),
    *foreign.NORMALIZE,
    content_step(without_unread_state, attribute="protected", native=True, needs=(Fact.STATE,)),
    content_step(with_state_of_host, attribute="protected", needs=(Fact.STATE,), on=has_fields_of_state),
    turn_step(with_signed_call, FunctionCallContent, own="aimed", on=requires_signed_calls),
    content_step(without_citations, TextContent, attribute="annotations", native=True, needs=(Citation,)),
    turn_step(with_role_of_host, aimed=True, own="always", needs=("developer",), on=lacks_developers),
    turn_step(with_accepted_author, attribute="author_name", aimed=True, own="always", needs=(Fact.AUTHOR,)),
    *media.with_readable_media(reads),
    request_step(foreign.with_a_turn),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES, detach_media="always"),
    request_step(with_fitting_schemas, dialects=OPENAI),
    request_step(with_reported_settings, native=True, needs=(("option", "reasoning"),)),
)


VOICE = "alloy"


def with_voice(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Add a voice and a format to a request for audio. If the model has no audio output, remove audio from the request.

    The API requires both (types/chat/chat_completion_audio_param.py of openai 3.52, seen 2026-11-22).
    """
    modalities = payload.get("modalities", ())
    if "audio" not in modalities or "audio" in payload:
        return payload
    kinds = context.known.capabilities.media
    if kinds is not None and "audio" in kinds:
        context.report_loss(request, "options.modalities", reasons.VOICE)
        return {**payload, "audio": {"voice": VOICE, "format": STREAMED_AUDIO if payload.get("stream") else "wav"}}
    context.report_loss(request, "options.modalities", reasons.NO_AUDIO_OUTPUT, model=payload["model"])
    other_modalities = [modality for modality in modalities if modality != "audio"]
    without = {key: value for key, value in payload.items() if key != "modalities"}
    return {**without, "modalities": other_modalities} if other_modalities else without


def with_rules_of_host(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the host's tools, field names and required fields."""
    row = row_of(context)
    others = [tool for tool in payload.get("tools") or () if tool.get("type") != "function"]
    refused = [tool for tool in others if not has_tool(row, tool.get("type"))] if others else None
    if refused:
        payload = _without_tools(payload, refused, request, context)
    if row.limit != "max_completion_tokens" and "max_completion_tokens" in payload:
        payload[row.limit] = payload.pop("max_completion_tokens")
    field = required_reasoning(payload, context.host)
    for message in payload.get("messages", ()):
        if message.get("role") == "assistant" and message.keys().isdisjoint(("content", *ALTERNATIVES)):
            # A message may have reasoning only, in a field of the host.
            message["content"] = ""
        if field is not None and message.get("tool_calls") and not isinstance(message.get(field), str):
            context.report_loss(request, "messages", EMPTY_REASONING, name=field)
            message[field] = ""
    return payload


def _without_tools(
    payload: dict[str, Any], refused: list[Any], request: ChatRequest, context: EncodeContext
) -> dict[str, Any]:
    """Return a payload without the hosted tools that the host does not have."""
    sent = [tool for entry in request.tools for tool in getattr(entry, "tools", (entry,))]
    for tool, wire in zip(sent, payload["tools"], strict=False):
        if wire in refused:
            context.report_loss(tool, None, NO_TOOL_AT_HOST, type=wire.get("type"))
    accepted = [wire for wire in payload["tools"] if wire not in refused]
    return without_settings_of_tools({**payload, "tools": accepted}, request, context)


REQUEST_PAYLOAD_STEPS = (
    payload_step(foreign.with_model),
    payload_step(without_settings_of_tools, aimed=True, keys=("tool_choice", "parallel_tool_calls")),
    payload_step(with_voice, keys=("modalities",)),
    payload_step(with_rules_of_host, aimed=True),
    payload_step(with_aliases, native=True),
)
ANSWER_STEPS = (
    transcript_step(without_user_messages),
    content_step(with_state_of_host, attribute="protected", own="always", on=has_fields_of_state),
    transcript_step(with_normalized_texts, native=True, cites=True),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    if "error" in payload and not response.choices:
        context.report_lost_attributes(response, ("id", "model", "created", "usage"))
        return {"error": payload["error"]}
    filled = {"id": "", "object": "chat.completion", "created": 0, "model": "", "choices": [], **payload}
    filled["created"] = whole_seconds(response, context)
    if "usage" in filled:
        filled["usage"] = complete_usage(filled["usage"])
    return filled


def complete_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counters that the API always has; a missing counter is zero."""
    tokens = {"prompt_tokens": 0, "completion_tokens": 0, **usage}
    return {"total_tokens": tokens["prompt_tokens"] + tokens["completion_tokens"], **tokens}


def with_error_of_host(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with its error in the place that the host gave it."""
    error = response.error
    if error is None or not context.native:
        return payload
    other_fields = {key: value for key, value in payload.items() if key != "error"}
    if hints.ROW.of(error, API) == ERROR_AT_TOP.name:
        return {**payload["error"], **other_fields}
    if hints.ROW.of(error, API) == ERROR_BESIDE.name:
        return {**other_fields, ERROR_BESIDE.name: payload["error"]}
    if hints.COLUMN.of(error, API) == "choices" and len(payload.get("choices", ())) == 1:
        return {**other_fields, "choices": [{**payload["choices"][0], "error": payload["error"]}]}
    return payload


def with_listed_sources(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the sources that its host lists beside the choices."""
    return with_listed(payload, contents_of(response.messages), context) if context.native else payload


RESPONSE_PAYLOAD_STEPS = (
    payload_step(completed),
    payload_step(with_error_of_host, native=True, keys=("error",)),
    payload_step(with_listed_sources, native=True),
)
