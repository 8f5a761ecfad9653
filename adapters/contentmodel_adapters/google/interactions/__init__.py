"""The adapter of Gemini's Interactions API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    Blocks,
    EncodeContext,
    Kinds,
    ProviderOnly,
    SchemaMap,
    TableAdapter,
    TextField,
    enum_at,
    hoist_instructions,
    instructions_as_text,
    media,
    message_pass,
    objects_of,
    passes,
    payload_pass,
    reasons,
    request_pass,
    same_options,
    settings,
    text_of,
    with_custom_calls,
    with_fitting_calls,
    with_known_tools,
)
from contentmodel.content.base import Protected
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.google import (
    ISSUER,
    with_fields_of_kin,
    with_signed_thoughts,
    with_signed_turns,
    with_tools_of_kin,
)
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.input_fields import fields_of, may_be_request
from contentmodel_adapters.common.modalities import Modalities
from contentmodel_adapters.common.schema_adaptation import GOOGLE, restored_arguments, with_fitting_schemas
from contentmodel_adapters.google.interactions.blocks import API, CONTENT, TABLE
from contentmodel_adapters.google.interactions.http import HTTP
from contentmodel_adapters.google.interactions.messages import Steps, encode_steps
from contentmodel_adapters.google.interactions.response import ERRORS, FINISH, RESPONSE, completed
from contentmodel_adapters.google.interactions.rules import CALL_IDS, RULES, TOOL_NAMES
from contentmodel_adapters.google.interactions.stream import Decoder
from contentmodel_adapters.google.interactions.stream_encoder import Encoder
from contentmodel_adapters.google.interactions.tools import CURRENT, HOSTED_KINDS, TOOL_CHOICE, TOOLS, Format
from contentmodel_adapters.google.validated_calls import with_mode_of_strict_tools, with_strict_tools

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "system_instruction": ("instructions", TextField(TextContent, "text", between="\n\n")),
        "input": ("messages", Steps()),
        "tools": ("tools", Blocks(TOOLS)),
        **same_options("stream", "store"),
        "previous_interaction_id": ("options.previous_response_id", ProviderOnly("options.previous_response_id", str)),
        "service_tier": enum_at("options.service_tier", "flex", "standard", "priority", "deferred"),
        "response_format": ("options.response_format", Format()),
        "response_modalities": (
            "options.modalities",
            Modalities(str.lower, "text", "image", "audio", "video", "document"),
        ),
        **same_options("max_output_tokens", "temperature", "top_p", "seed", "stop_sequences", at="generation_config."),
        "generation_config.tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "generation_config.thinking_level": enum_at(
            "options.reasoning.effort", "minimal", "low", "medium", "high", "xhigh"
        ),
        "generation_config.thinking_summaries": enum_at("options.reasoning.summary", "auto", "none"),
    },
)
TABLE.keep(
    "request",
    *("agent", "agent_config", "background", "cached_content", "continuation_token", "environment", "labels"),
    *("response_mime_type", "safety_settings", "webhook_config"),
)
TABLE.keep("generation_config", "image_config", "speech_config", "transcription_config", "video_config")

# types.ImageMimeType, DocumentMimeType, AudioMimeType and VideoMimeType of google-genai 3.4 (_gaos/types/interactions).
_OFFICE = "application/vnd.openxmlformats-officedocument"
TYPES = (
    *(f"image/{name}" for name in ("png", "jpeg", "webp", "heic", "heif", "gif", "bmp", "tiff")),
    *("application/pdf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
    *(f"application/vnd.oasis.opendocument.{name}" for name in ("presentation", "text", "spreadsheet")),
    *(f"{_OFFICE}.presentationml.presentation", f"{_OFFICE}.spreadsheetml.sheet"),
    *(f"{_OFFICE}.wordprocessingml.document", f"{_OFFICE}.wordprocessingml.template"),
    *(f"audio/{name}" for name in ("wav", "mp3", "aiff", "aac", "ogg", "flac", "mpeg", "m4a", "l16", "opus", "webm")),
    *("audio/alaw", "audio/mulaw", "video/mp4", "video/mpeg", "video/mpg", "video/mov", "video/avi", "video/x-flv"),
    *("video/webm", "video/wmv", "video/3gpp"),
)
READS = media.MediaSupport(
    media_types=TYPES, links=(*TYPES, "text/csv"), schemes=("http", "https", "gs"), texts=True, in_answers=True
)
# The API has only levels of thinking. The lowest level depends on the model.
FORM = settings.Form(off=None, auto={}, shown=settings.Shown("summary", "auto", "none"))


def _is_continued(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the server holds the conversation that a request continues. Ids of other APIs are not sent."""
    is_sent = context.native or context.has_no_origin
    return is_sent and request.options.previous_response_id is not None


def _with_a_turn(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    return request if _is_continued(request, context) else passes.with_a_turn(request, context)


def _with_fitting_calls(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    is_continued = _is_continued(request, context)
    return with_fitting_calls(request, context, ids=CALL_IDS, names=TOOL_NAMES, is_continued=is_continued)


def _with_signed_turns(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    return with_signed_turns(messages, context) if context.known.capabilities.signed_calls else messages


def with_model(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of a request with a model or an agent. A missing model becomes "", with a loss."""
    if payload.keys() & {"model", "agent"}:
        return payload
    context.report_loss(request, "model", reasons.NO_MODEL)
    return {"model": "", **payload}


REQUEST_PASSES = (
    request_pass(settings.with_fitting_settings, native=True, form=FORM),
    request_pass(with_known_tools, native=True, kinds=Kinds()),
    request_pass(with_tools_of_kin),
    request_pass(with_fields_of_kin),
    request_pass(with_sendable_tools, current=CURRENT),
    request_pass(hoist_instructions),
    message_pass(with_signed_thoughts),
    *passes.NORMALIZE,
    *media.with_readable_media(READS),
    request_pass(_with_a_turn),
    request_pass(_with_fitting_calls),
    message_pass(_with_signed_turns, aimed=True),
    message_pass(instructions_as_text),
    request_pass(with_fitting_schemas, dialects=GOOGLE),
    request_pass(with_mode_of_strict_tools, native=True),
    message_pass(passes.with_names_of_results),
)


class GoogleInteractions(TableAdapter):
    """The adapter of Interactions: requests, answers, streams and errors."""

    api = API
    issuer = ISSUER
    table = TABLE
    rules = RULES
    request = REQUEST
    takes_json = True
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    conversation = "input"
    errors = ERRORS
    finish = FINISH
    has_failed_answers = True
    http = HTTP
    meaningless = {"object": "interaction", "updated": None}
    request_passes = REQUEST_PASSES
    request_payload_passes = (payload_pass(with_model),)
    answer_passes = (
        message_pass(with_signed_thoughts, needs=(Protected,)),
        message_pass(passes.normalize_answer, cites=True),
    )
    token_counts = {"cached_inside": True, "reasoning_inside": False, "tools_inside": False}
    response_payload_passes = (payload_pass(completed),)

    def _decode_row(self, row: Any, wire: dict[str, Any], context: Any) -> Any:
        value = super()._decode_row(row, wire, context)
        return (
            with_custom_calls(with_strict_tools(value, context), context) if isinstance(value, ChatRequest) else value
        )

    def restore_arguments(self, arguments: Any, adapted: SchemaMap) -> Any:
        return restored_arguments(arguments, adapted)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_steps(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the items are steps of this API."""
        tags = [item.get("type") if isinstance(item, dict) else None for item in items]
        return 0.95 if any(tag in ("user_input", "model_output", "thought", "function_result") for tag in tags) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds that a payload may have, each with a confidence."""
        event = payload.get("event_type")
        if isinstance(event, str) and event.startswith(("interaction.", "step.", "content.", "error")):
            return {"stream": 1.0}
        if payload.get("object") == "interaction" or (isinstance(payload.get("steps"), list) and "status" in payload):
            return {"response": 1.0}
        given = payload.get("input")
        if not isinstance(given, str | list | dict) or (isinstance(given, dict) and "type" not in given):
            return {}
        if (
            _has_own_fields(payload)
            or _are_contents(given)
            or (isinstance(given, list) and self.recognises_list(given))
        ):
            return {"request": 0.95}
        if not may_be_request(payload, _FIELDS):
            return {}
        if not str(payload.get("model")).startswith("gemini"):
            return {"request": 0.1}
        # Hosts of the Responses API have such models, too.
        return {"request": 0.95 if isinstance(given, str) and payload.keys() <= _FIELDS else 0.5}


OWN_FIELDS = (
    *("agent", "cached_content", "generation_config", "previous_interaction_id", "response_modalities"),
    *("safety_settings", "system_instruction"),
)
"""Fields that the Responses API, whose requests have an `input`, does not have."""
OWN_TOOLS = HOSTED_KINDS.keys() - {"file_search", "mcp_server", "tool_search"}


def _has_own_fields(payload: dict[str, Any]) -> bool:
    # The field `response_format` of the speech API is a string.
    has_format = isinstance(payload.get("response_format"), dict | list)
    tools = objects_of(payload, "tools")
    return (
        has_format or any(key in payload for key in OWN_FIELDS) or any(text_of(t, "type") in OWN_TOOLS for t in tools)
    )


def _are_contents(given: Any) -> bool:
    """Return whether an input is a content or a list of contents. Other APIs have messages there."""
    contents = given if isinstance(given, list) else [given]
    return bool(contents) and all(isinstance(content, dict) and CONTENT.knows(content) for content in contents)


_FIELDS = fields_of(REQUEST, TABLE)

adapter = GoogleInteractions()
