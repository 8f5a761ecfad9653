"""The adapter of Mistral's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel import ChatRequest
from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Kinds,
    Row,
    TableAdapter,
    media,
    message_pass,
    object_of,
    objects_of,
    passes,
    payload_pass,
    place_instructions,
    request_pass,
    settings,
    text_of,
    with_custom_calls,
    with_fields_of,
    with_fitting_calls,
    with_json_schemas,
    with_known_tools,
    with_normalized_texts,
    without_settings_of_tools,
    without_user_messages,
)
from contentmodel_adapters.mistral.blocks import API, TABLE
from contentmodel_adapters.mistral.http import HTTP
from contentmodel_adapters.mistral.messages import ASSISTANT, REQUEST
from contentmodel_adapters.mistral.response import ANSWER, ERRORS, FINISH, RESPONSE, completed
from contentmodel_adapters.mistral.rules import (
    CALL_IDS,
    RULES,
    TOOL_NAMES,
    with_known_order,
    with_prefix,
    without_empty_answers,
)
from contentmodel_adapters.mistral.stream import Decoder
from contentmodel_adapters.mistral.stream_encoder import Encoder

TYPES = ("image/*", "application/*", "text/*")
READS = media.MediaSupport(media_types=TYPES, links=TYPES)
READS_WITH_AUDIO = media.MediaSupport(media_types=(*TYPES, "audio/*"), links=TYPES)
OWN_MODELS = ("mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-", "voxtral-", "open-mi")

OWN_FIELDS = ("random_seed", "safe_prompt", "prompt_mode", "agent_id")
OF_CHAT = ("prediction", "prompt_cache_key")
"""Fields of requests that Chat Completions has, too (ChatCompletionRequest of mistralai 3.7.0, seen 2026-11-27)."""


def with_text_of_prediction(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload whose prediction is one text. In Chat Completions, it may be a list of texts."""
    prediction = object_of(payload, "prediction")
    if prediction.get("content").__class__ is not list:
        return payload
    text = "".join(text_of(part, "text") or "" for part in objects_of(prediction, "content"))
    return {**payload, "prediction": {**prediction, "content": text}}


def _reads(context: EncodeContext) -> media.MediaSupport:
    """Return the media that the model reads. Only some models read audio."""
    return READS_WITH_AUDIO if "audio" in (context.known.capabilities.media or ()) else READS


class MistralChat(TableAdapter):
    """The adapter of Mistral's chat completions: requests, answers, streams and errors."""

    api = API
    issuer = "mistral"
    table = TABLE
    rules = RULES
    http = HTTP
    request = REQUEST
    response = RESPONSE
    answer = ANSWER
    decoder = Decoder
    encoder = Encoder
    errors = ERRORS
    finish = FINISH
    requires = {"messages": list}
    # The index of a message is its position in an answer of several messages.
    meaningless = {"object": ("chat.completion", "error"), "index": None, "prefix": False}
    also_takes = {"stop": (str,)}
    request_passes = (
        request_pass(with_fields_of, other="openai-chat", names=OF_CHAT),
        request_pass(settings.with_fitting_settings, native=True, form=settings.OPENAI),
        request_pass(with_known_tools, native=True, kinds=Kinds()),
        request_pass(place_instructions, native=True),
        *passes.NORMALIZE,
        *media.with_readable_media(_reads),
        message_pass(without_empty_answers),
        request_pass(passes.with_a_turn),
        request_pass(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
        message_pass(with_known_order),
        message_pass(with_prefix),
        request_pass(with_json_schemas),
    )
    request_payload_passes = (
        payload_pass(passes.with_model),
        payload_pass(without_settings_of_tools),
        payload_pass(with_text_of_prediction),
    )
    answer_passes = (message_pass(without_user_messages), message_pass(with_normalized_texts, native=True))
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_passes = (payload_pass(completed),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        value = super()._decode_row(row, wire, context)
        return with_custom_calls(value, context) if isinstance(value, ChatRequest) else value

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kind of a payload, with a low confidence if it may be of another host."""
        if payload.get("object") == "error" and "message" in payload:
            # The bodies of vLLM before 0.10.1 and of SGLang are similar (vllm-project/vllm#22099).
            is_own = payload.get("code").__class__ is not int and str(payload.get("type") or "").islower()
            return {"response": 1.0 if is_own or "raw_status_code" in payload else 0.1}
        kinds = {"chat.completion": "response", "chat.completion.chunk": "stream"}
        usual = "request" if isinstance(payload.get("messages"), list) else ""
        kind = kinds.get(str(payload.get("object")), usual)
        is_own = str(payload.get("model")).startswith(OWN_MODELS) and (kind != "request" or _may_be_request(payload))
        is_own = is_own or not payload.keys().isdisjoint(OWN_FIELDS)
        return {kind: 1.0 if is_own else 0.1} if kind else {}


_FIELDS = frozenset((*REQUEST.known_keys(), *TABLE.kept["request"]))
_OF_MESSAGES = frozenset((*ASSISTANT.known_keys(), *TABLE.kept["assistant message"], "tool_call_id", "name"))


def _may_be_request(payload: dict[str, Any]) -> bool:
    """Return whether a request has only fields of Mistral, which refuses any other (charmbracelet/crush#1590).

    Ollama, vLLM and gateways serve models with the same names.
    """
    messages = objects_of(payload, "messages")
    return payload.keys() <= _FIELDS and all(message.keys() <= _OF_MESSAGES for message in messages)


adapter = MistralChat()
