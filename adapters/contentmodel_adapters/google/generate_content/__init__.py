"""The adapter of Gemini's generateContent, on the Developer API and on Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    Aliases,
    Codec,
    DecodeContext,
    EncodeContext,
    Host,
    Kinds,
    ProtobufJson,
    Row,
    Silent,
    TableAdapter,
    enum_at,
    hoist_instructions,
    media,
    message_pass,
    number_of,
    objects_of,
    passes,
    payload_pass,
    reasons,
    request_pass,
    response_pass,
    settings,
    turn_step,
    with_custom_calls,
    with_date,
    with_fitting_calls,
    with_known_tools,
    with_normalized_texts,
    without_user_messages,
)
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest, ResponseFormat
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.first_turn import with_begun
from contentmodel_adapters.common.google import (
    ISSUER,
    SKIP,
    with_fields_of_kin,
    with_signed_call,
    with_signed_parts,
    with_tools_of_kin,
)
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.modalities import Modalities
from contentmodel_adapters.common.pairs.gemini_results import with_hosted_of_gemini
from contentmodel_adapters.common.pairs.kept_results import TYPES
from contentmodel_adapters.common.schema_adaptation import GOOGLE, restored_arguments, with_fitting_schemas
from contentmodel_adapters.google.generate_content.blocks import API, PARTS, TABLE, YOUTUBE
from contentmodel_adapters.google.generate_content.dialects import DIALECTS, INVOCATIONS, host_of, with_invocations
from contentmodel_adapters.google.generate_content.http import HTTP
from contentmodel_adapters.google.generate_content.messages import (
    Contents,
    Instructions,
    id_of_answer,
    with_failures,
)
from contentmodel_adapters.google.generate_content.response import (
    ERRORS,
    FINISH,
    RESPONSE,
    encode_answer,
    with_block_reason,
    without_blocked,
)
from contentmodel_adapters.google.generate_content.rules import (
    CALL_IDS,
    RULES,
    TOOL_NAMES,
)
from contentmodel_adapters.google.generate_content.stream import Decoder
from contentmodel_adapters.google.generate_content.stream_encoder import Encoder
from contentmodel_adapters.google.generate_content.tools import (
    CURRENT,
    TOOL_CHOICE,
    Level,
    Tools,
    tools_of_member,
    with_level,
    without_choice_of_no_functions,
)
from contentmodel_adapters.google.validated_calls import with_mode_of_strict_tools, with_strict_tools

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "contents": ("messages", Contents()),
        "systemInstruction": ("instructions", Instructions()),
        "tools": ("tools", Tools()),
        "toolConfig.functionCallingConfig": ("options.tool_choice", TOOL_CHOICE),
        "generationConfig.temperature": "options.temperature",
        "generationConfig.topP": "options.top_p",
        "generationConfig.topK": "options.top_k",
        "generationConfig.candidateCount": "options.choices",
        "generationConfig.maxOutputTokens": "options.max_output_tokens",
        "generationConfig.stopSequences": "options.stop_sequences",
        "generationConfig.presencePenalty": "options.presence_penalty",
        "generationConfig.frequencyPenalty": "options.frequency_penalty",
        "generationConfig.seed": "options.seed",
        "generationConfig.responseLogprobs": "options.logprobs",
        "generationConfig.logprobs": "options.top_logprobs",
        "generationConfig.responseModalities": (
            "options.modalities",
            Modalities(str.upper, "TEXT", "IMAGE", "AUDIO", "VIDEO"),
        ),
        "generationConfig.responseMimeType": "options.response_format.media_type",
        "generationConfig.responseJsonSchema": "options.response_format.schema",
        "generationConfig.thinkingConfig.includeThoughts": "options.reasoning.include",
        "serviceTier": enum_at("options.service_tier", "flex", "standard", "priority"),
        "generationConfig.thinkingConfig.thinkingBudget": "options.reasoning.budget_tokens",
        "generationConfig.thinkingConfig.thinkingLevel": ("options.reasoning.effort", Level()),
    },
    Silent("model", "options.stream", "options.response_format.kind"),
    ProtobufJson(),
    # Aliases: the older subset of OpenAPI, which schemas of other APIs are not written in, and the name of a JSON
    # Schema in the reference of the Developer API (ai.google.dev/api/generate-content, GenerationConfig, seen
    # 2026-11-23).
    Aliases(
        dict.fromkeys(("generationConfig.responseSchema", "generationConfig._responseJsonSchema"), "responseJsonSchema")
    ),
)
TABLE.keep(
    "generation_config",
    *("audioTimestamp", "audioTranscriptionConfig", "automaticContinuation", "continuationToken", "routingConfig"),
    *("enableEnhancedCivicAnswers", "generationOutputConfig", "imageConfig", "mediaResolution", "speechConfig"),
    *("modelSelectionConfig", "enableAffectiveDialog", "responseFormat", "translationConfig"),
)
TABLE.keep(
    "request",
    *("cachedContent", "labels", "modelArmorConfig", "safetySettings", "store", "model", "outputConfig"),
    *("automaticFunctionCalling", "httpOptions", "shouldReturnHttpResponse"),
)


# Only Vertex AI reads Cloud Storage.
READS = media.MediaSupport(schemes=("http", "https", "gs"), in_answers=True, typed_links=True, untyped=YOUTUBE)


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
        context.report_lost_attributes(instruction, ("annotations",))
    return request


def _with_fitting_calls(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    detach_media = "never" if context.known.capabilities.media_in_results else "always"
    return with_fitting_calls(request, context, ids=CALL_IDS, names=TOOL_NAMES, detach_media=detach_media)


def requires_signed_calls(context: EncodeContext) -> bool:
    """Return whether the model refuses calls without a signature."""
    return context.known.capabilities.signed_calls


def with_format_kind(request: ChatRequest) -> ChatRequest:
    """Set the kind of the response format, which its fields imply."""
    made = request.options.response_format
    if made is None:
        return request
    kind = "json_schema" if made.schema is not None else "json" if made.media_type == "application/json" else "other"
    options = msgspec.structs.replace(request.options, response_format=msgspec.structs.replace(made, kind=kind))
    return msgspec.structs.replace(request, options=options)


def with_media_type(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Request JSON by its media type. Report a format that the API does not have."""
    made = request.options.response_format
    if made is None:
        return request
    context.leave_residue(made)
    if made.kind not in ("json", "json_schema"):
        if made.kind != "text" and made.media_type is None:
            context.report_loss(made, "kind", reasons.NO_FIELD)
        return request
    typed: ResponseFormat = context.replace(made, media_type="application/json")
    options = context.replace(request.options, response_format=typed)
    changed: ChatRequest = context.replace(request, options=options)
    return changed


REQUEST_PASSES = (
    request_pass(report_url, native=True),
    request_pass(settings.with_fitting_settings, native=True, form=settings.GOOGLE),
    request_pass(with_known_tools, native=True, kinds=Kinds()),
    request_pass(with_tools_of_kin),
    request_pass(with_fields_of_kin),
    request_pass(with_sendable_tools, current=CURRENT),
    request_pass(hoist_instructions),
    request_pass(with_media_type),
    request_pass(without_cited_instructions),
    request_pass(with_hosted_of_gemini, needs=TYPES),
    *passes.NORMALIZE,
    message_pass(passes.join_results),
    message_pass(passes.join_assistant),
    passes.WITHOUT_CITATIONS,
    *media.with_readable_media(READS),
    request_pass(_with_fitting_calls),
    request_pass(with_fitting_schemas, dialects=GOOGLE),
    request_pass(with_mode_of_strict_tools, native=True),
    message_pass(passes.with_names_of_results),
    message_pass(with_failures),
    message_pass(with_begun),
    request_pass(passes.with_a_turn),
    message_pass(with_signed_parts),
    turn_step(with_signed_call, FunctionCallContent, aimed=True, on=requires_signed_calls),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    payload = with_date(payload, "createTime", response, context)
    if "usageMetadata" in payload:
        payload["usageMetadata"] = complete_usage(payload["usageMetadata"])
    return payload


def complete_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counters with the total, which the API always sends."""
    return {"totalTokenCount": sum(usage.get(name, 0) for name in COUNTED), **usage}


# GenerateContentResponseUsageMetadata.total_token_count of google-genai 3.4, types.py (seen 2026-11-22).
COUNTED = ("promptTokenCount", "candidatesTokenCount", "toolUsePromptTokenCount", "thoughtsTokenCount")


class GoogleGenerateContent(TableAdapter):
    """The adapter of generateContent, requests and answers."""

    api = API
    issuer = ISSUER
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"contents": list}
    dialects = tuple(DIALECTS)
    # Other APIs report the calls of hosted tools anyway.
    meaningless = {"thoughtSignature": SKIP, "toolConfig": {INVOCATIONS: True}}
    takes_only = True
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    takes_json = True
    conversation = "contents"
    errors = ERRORS
    finish = FINISH
    failure_message = "finishMessage"
    has_errors_in_lists = True
    http = HTTP
    request_passes = REQUEST_PASSES
    request_payload_passes = (payload_pass(without_choice_of_no_functions),)
    host_payload_passes = (payload_pass(with_invocations, aimed=True),)
    answer_passes = (
        message_pass(without_user_messages),
        message_pass(with_failures, needs=(FunctionResultContent,)),
        message_pass(with_normalized_texts, native=True, blocks=PARTS),
    )
    response_passes = (response_pass(without_blocked, native=True),)
    token_counts = {"cached_inside": True, "reasoning_inside": False, "tools_inside": False}
    response_payload_passes = (payload_pass(completed),)

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return host_of(policies)

    def accepts_value(self, name: str, value: Any, codec: Codec[Any]) -> bool:
        """Return whether a value is another spelling in the JSON form of protocol buffers, which the API reads.

        A number may be a string, an enum value its number, a list with one element that element
        (protobuf.dev/programming-guides/json, seen 2026-11-22). Roles have a separate rule; a schema is any JSON.
        """
        if name == "role" or name.endswith("JsonSchema"):
            return True
        if isinstance(value, str):
            names = codec.known_values or (codec.tagged[1] if codec.tagged is not None else ())
            return number_of(value, codec) is not None or value.lower() in {known.lower() for known in names}
        if isinstance(value, float):
            return number_of(value, codec) is not None
        return (value.__class__ is int and str in codec.classes) or (isinstance(value, dict) and list in codec.classes)

    def origin_of(self, payload: Mapping[str, Any]) -> Origin:
        model = payload.get("modelVersion", payload.get("model_version"))
        return Origin(api=API, issuer=self.issuer, model=model if isinstance(model, str) else None)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        context.answer_id = id_of_answer(wire) if row is RESPONSE else None
        value = super()._decode_row(row, wire, context)
        if isinstance(value, ChatResponse):
            return with_block_reason(value, wire, context)
        if not isinstance(value, ChatRequest):
            return value
        return with_custom_calls(with_strict_tools(with_level(with_format_kind(value), context), context), context)

    def tools_at(self, path: str, request: ChatRequest) -> list[tuple[Any, str | None]]:
        return [(tool, None) for tool in tools_of_member(path, request.tools)]

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
        return encode_answer(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the turns are of this API: its parts have no type."""
        if not items or not all(isinstance(item, dict) and "parts" in item for item in items):
            return 0.0
        return 0.1 if any("type" in part for item in items for part in objects_of(item, "parts")) else 0.9

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence.

        Only this API has `contents` and `candidates`.
        """
        if isinstance(payload.get("contents"), list | dict):
            return {"request": 1.0}
        if any(key in payload for key in ("candidates", "usageMetadata", "promptFeedback")):
            return {"response": 1.0, "stream": 0.9}
        error = payload.get("error")
        return (
            {"response": 0.9, "stream": 0.9} if isinstance(error, dict) and isinstance(error.get("status"), str) else {}
        )


adapter = GoogleGenerateContent()
