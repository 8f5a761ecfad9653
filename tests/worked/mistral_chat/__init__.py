"""The adapter of Mistral's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel import ChatMessage
from contentmodel.authoring import (
    EncodeContext,
    Kinds,
    StreamDecoder,
    StreamEncoder,
    TableAdapter,
    media,
    message_pass,
    passes,
    payload_pass,
    place_instructions,
    request_pass,
    response_pass,
    with_fitting_calls,
    with_known_tools,
)
from mistral_chat.answers import ERRORS, RESPONSE, encode_answer
from mistral_chat.fitting import (
    READS,
    completed,
    with_counted_usage,
    with_json_schemas,
    with_known_order,
    with_model,
    with_separated_texts,
)
from mistral_chat.rules import CALL_IDS, RULES, TOOL_NAMES
from mistral_chat.stream import Decoder, Encoder
from mistral_chat.table import API, REQUEST, TABLE


class MistralChat(TableAdapter):
    """The adapter of Mistral's chat completions: requests, answers, streams and errors."""

    api = API
    issuer = "mistral"
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    errors = ERRORS
    requires = {"messages": list}
    meaningless = {"object": ("chat.completion", "error")}
    also_takes = {"stop": (str,)}
    request_passes = (
        request_pass(with_known_tools, native=True, kinds=Kinds()),
        request_pass(place_instructions, native=True),
        message_pass(passes.normalize_foreign),
        message_pass(media.with_readable_media, needs=media.TYPES, reads=READS),
        request_pass(passes.with_a_turn),
        request_pass(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
        message_pass(with_known_order),
        request_pass(with_json_schemas),
    )
    request_payload_passes = (payload_pass(with_model),)
    answer_passes = (message_pass(with_separated_texts), message_pass(passes.normalize_answer))
    response_passes = (response_pass(with_counted_usage),)
    response_payload_passes = (payload_pass(completed),)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence: the format is much like OpenAI's."""
        kinds = {"chat.completion": "response", "chat.completion.chunk": "stream", "error": "response"}
        kind = kinds.get(str(payload.get("object"))) or ("request" if "messages" in payload else None)
        if kind is None:
            return {}
        of_mistral = str(payload.get("model")).startswith(OWN_MODELS) or payload.get("object") == "error"
        return {kind: 1.0 if of_mistral else 0.4}

    def stream_decoder(self, *, deltas: bool = True) -> StreamDecoder:
        return Decoder(self, deltas=deltas)

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> StreamEncoder:
        return Encoder(self, policies)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
        return encode_answer(messages, context)


OWN_MODELS = ("mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-", "voxtral-", "open-mi")
adapter = MistralChat()
