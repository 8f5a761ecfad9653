"""The adapter of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    Blocks,
    DecodeContext,
    EncodeContext,
    Host,
    Kinds,
    OneOf,
    ProviderOnly,
    Row,
    TableAdapter,
    TextField,
    content_step,
    enum_at,
    is_native,
    media,
    message_pass,
    passes,
    payload_pass,
    readable_reasoning,
    reasons,
    request_pass,
    seconds_of,
    settings,
    with_fitting_calls,
    with_known_tools,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, ToolApprovalRequestContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.input_fields import fields_of, may_be_request
from contentmodel_adapters.common.makers import sealer_of
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.pairs.kept_results import TYPES
from contentmodel_adapters.common.pairs.openai_approvals import with_approvals_of_openai
from contentmodel_adapters.common.pairs.openai_results import with_hosted_of_openai
from contentmodel_adapters.common.pairs.openai_runs import with_runs_of_openai
from contentmodel_adapters.common.pairs.openai_texts import with_texts_of_openai
from contentmodel_adapters.common.pairs.provider_state import (
    reasoning_items,
    with_state_at_end,
    with_state_of_items,
    with_stored_reasoning,
)
from contentmodel_adapters.common.schema_adaptation import OPENAI, restored_arguments, with_fitting_schemas
from contentmodel_adapters.openai.errors import ERRORS, LIMIT_HEADERS
from contentmodel_adapters.openai.responses.blocks import API, TABLE
from contentmodel_adapters.openai.responses.http import HTTP
from contentmodel_adapters.openai.responses.ids import ItemIds
from contentmodel_adapters.openai.responses.messages import Items, encode_items, is_known_item
from contentmodel_adapters.openai.responses.reasoning import without_texts
from contentmodel_adapters.openai.responses.response import FINISH, RESPONSE
from contentmodel_adapters.openai.responses.rules import CALL_IDS, RULES, TOOL_NAMES
from contentmodel_adapters.openai.responses.stream import Decoder
from contentmodel_adapters.openai.responses.stream_encoder import Encoder
from contentmodel_adapters.openai.responses.tools import ADDED, CURRENT, TEXT_FORMAT, TOOL_CHOICE, TOOLS
from contentmodel_adapters.openai.settings import with_settings_of

API_ISSUER = "openai"
HOSTS = {"xai": Host(issuers=frozenset({"xai"}))}
"""The hosts of other makers that read encrypted content of other APIs: formats of frameworks have xAI's, too."""

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "instructions": ("instructions", TextField(TextContent, "text", between="\n\n")),
        "input": ("messages", Items()),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "parallel_tool_calls": "options.parallel_tool_calls",
        "text.format": ("options.response_format", OneOf(TEXT_FORMAT)),
        "text.verbosity": "options.verbosity",
        "max_output_tokens": "options.max_output_tokens",
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "top_logprobs": "options.top_logprobs",
        "stream": "options.stream",
        "store": "options.store",
        "user": "options.user",
        "metadata": "options.metadata",
        "service_tier": enum_at(
            "options.service_tier", "auto", "default", "flex", "scale", "priority", "fast", "ultrafast"
        ),
        "previous_response_id": ("options.previous_response_id", ProviderOnly("options.previous_response_id", str)),
        "conversation": "options.conversation_id",
        "reasoning.effort": enum_at(
            "options.reasoning.effort", "none", "minimal", "low", "medium", "high", "xhigh", "max"
        ),
        "reasoning.summary": enum_at("options.reasoning.summary", "auto", "concise", "detailed"),
    },
)


# The media types that input_image and input_file take inline (rules.py, media_types_supported).
READ = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/*", "text/*")
READS = media.MediaSupport(
    READ, ("image/*", "application/*", "text/*"), ("http", "https", "data"), GOOGLE_FILES, named=True
)


def _with_separate_added_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    return ADDED.leave_out(request)


def _is_continued(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the server holds the conversation that a request continues. Ids of other APIs are not sent."""
    is_sent = context.native or context.has_no_origin
    previous = request.options.previous_response_id if is_sent else None
    return (previous or request.options.conversation_id) is not None


def _with_a_turn(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    return request if _is_continued(request, context) else passes.with_a_turn(request, context)


def _with_fitting_calls(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    is_continued = _is_continued(request, context)
    return with_fitting_calls(request, context, ids=CALL_IDS, names=TOOL_NAMES, is_continued=is_continued)


def without_unread_state(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request without the reasoning that the model cannot read: encrypted content, and texts at OpenAI.

    OpenAI refuses that of other makers, whose models other hosts of the API serve (openai/codex#8119, seen 2026-11-27).
    Such reasoning is lowered like that of another API.
    """
    messages = [_without_unread_state(message, request, context) for message in request.messages]
    kept = [new for new, old in zip(messages, request.messages, strict=True) if new.contents or new is old]
    return context.with_messages(request, kept)


def _without_unread_state(message: ChatMessage, request: ChatRequest, context: EncodeContext) -> ChatMessage:
    contents: list[AIContent] = []
    for item in reasoning_items(message.contents):
        parts = [part for part in item if isinstance(part, ReasoningContent)]
        state = next((part.protected for part in parts if part.protected is not None), None)
        if state is None or not _is_unread(state, message, request, context):
            contents += item
            continue
        for part in parts:
            # Without its state, reasoning is lowered even if the API reads the state of other models.
            bare = context.replace(part, protected=None)
            made = readable_reasoning(bare, context, is_last=part is message.contents[-1])
            if made and part.protected is not None:
                context.report_loss(part, "protected", reasons.OPAQUE_STATE, issuer=part.protected.issuer)
            contents += made
    if context.known.status in ("listed", "newest") and not _is_unchanged(message, request, context):
        contents = without_texts(contents, context)
    return context.with_contents(message, contents)


def _is_unchanged(message: ChatMessage, request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether a message of this API is sent back to its model."""
    return message.origin is not None and is_native(message, context) and message.origin.model == request.model


def _is_unread(state: Protected, message: ChatMessage, request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the model of a request is known to be of another maker than the state.

    False for a message of this API whose model is unchanged: all of it is sent back.
    """
    issuer, maker = state.issuer, sealer_of(request.model)
    if _is_unchanged(message, request, context):
        return False
    if message.origin is not None and is_native(message, context) and issuer in (API_ISSUER, API):
        # Older documents name OpenAI as the issuer of each state.
        issuer = sealer_of(message.origin.model) or issuer
    if maker is None:
        return issuer != API_ISSUER and context.known.status in ("listed", "newest")
    return issuer not in (maker, API)


REQUEST_PASSES = (
    request_pass(with_settings_of, other="openai-chat"),
    request_pass(settings.with_fitting_settings, native=True, form=settings.RESPONSES),
    request_pass(_with_separate_added_tools, native=True),
    request_pass(with_known_tools, native=True, kinds=Kinds(custom=True, custom_results=True, namespaces=True)),
    request_pass(with_sendable_tools, current=CURRENT),
    request_pass(with_approvals_of_openai, needs=(ToolApprovalRequestContent,)),
    request_pass(with_runs_of_openai, needs=(FunctionCallContent,)),
    request_pass(with_hosted_of_openai, needs=TYPES),
    message_pass(with_state_of_items, needs=(ReasoningContent,)),
    request_pass(with_stored_reasoning, needs=(ReasoningContent,)),
    *passes.NORMALIZE,
    request_pass(without_unread_state, native=True, needs=(ReasoningContent,)),
    message_pass(with_state_at_end, needs=(ReasoningContent,)),
    request_pass(with_texts_of_openai, needs=(TextContent,)),
    *media.with_readable_media(READS),
    request_pass(_with_a_turn),
    request_pass(_with_fitting_calls),
    request_pass(with_fitting_schemas, dialects=OPENAI),
)


# Fields of the answer that repeat the request's (openai 2.x, types/responses/response.py, seen 2026-11-22).
# `service_tier` is not one of them: the answer names the tier that was used.
REPEATED = (
    *("background", "frequency_penalty", "include", "instructions", "max_output_tokens", "max_tool_calls", "metadata"),
    *("parallel_tool_calls", "presence_penalty", "previous_response_id", "prompt", "prompt_cache_key"),
    *("prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "store", "temperature"),
    *("text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
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


class OpenAIResponses(TableAdapter):
    """The adapter of Responses, requests and answers."""

    api = API
    issuer = API_ISSUER
    table = TABLE
    rules = RULES
    request = REQUEST
    # The arguments of a tool search are any JSON (tool_search_call of openai 3.54.0, response_input_item_param.py).
    also_takes = {"conversation": (dict,), "arguments": (list,)}
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "input"
    errors = ERRORS
    finish = FINISH
    http = HTTP
    limit_headers = LIMIT_HEADERS
    # The role of added tools is always "developer" (additional_tools of openai 3.54, seen 2026-11-22).
    meaningless = {"id": None, "object": None, "status": "completed", "role": "developer", "encrypted_content": ""}
    repeated = frozenset(REPEATED)
    has_failed_answers = True
    request_passes = REQUEST_PASSES
    answer_passes = (
        message_pass(passes.normalize_answer, cites=True),
        content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
    )
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_passes = (payload_pass(completed),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        value = super()._decode_row(row, wire, context)
        return ADDED.read(value, context) if isinstance(value, ChatRequest) else value

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return HOSTS.get(sealer_of(model) or "") or super().host(model, policies)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_items(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the items are of this API: messages without a type may be of any API."""
        if not all(isinstance(item, dict) and ("type" in item or "role" in item) for item in items):
            return 0.0
        typed = [item for item in items if "type" in item]
        known = sum(map(is_known_item, typed))
        # Newer versions may have some more types. A list of other messages or events has mostly other types.
        if known < len(typed) - known:
            return 0.0
        return 0.9 if typed else 0.2 if items else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence.

        Only this API has `input` and `output`.
        """
        if isinstance(payload.get("type"), str) and payload["type"].startswith("response."):
            # The events of the Realtime API have an id, and no number.
            return {"stream": 1.0} if "event_id" not in payload or "sequence_number" in payload else {}
        if payload.get("type") == "error" and ("message" in payload or "sequence_number" in payload):
            return {"stream": 0.9}
        if payload.get("object") in ("response", "response.compaction"):
            return {"response": 1.0}
        if isinstance(payload.get("output"), list) and "choices" not in payload:
            return {"response": 0.8}
        if isinstance(payload.get("input"), str | list) and "messages" not in payload:
            return {"request": 0.9} if may_be_request(payload, _FIELDS) else {}
        return {}


_FIELDS = fields_of(REQUEST, TABLE)


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


adapter = OpenAIResponses()
