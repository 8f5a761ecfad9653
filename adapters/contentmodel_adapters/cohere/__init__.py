"""The adapter of Cohere's Chat API v2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Kinds,
    OneOf,
    Row,
    TableAdapter,
    WholeNumber,
    content_step,
    enum_at,
    list_of,
    media,
    message_pass,
    objects_of,
    passes,
    payload_pass,
    place_instructions,
    request_pass,
    same_options,
    settings,
    with_custom_calls,
    with_fitting_calls,
    with_known_tools,
    without_user_messages,
)
from contentmodel.content.tools import FunctionResultContent
from contentmodel.request import ChatRequest
from contentmodel_adapters.cohere.blocks import API, TABLE
from contentmodel_adapters.cohere.http import HTTP
from contentmodel_adapters.cohere.messages import Conversation, expanded
from contentmodel_adapters.cohere.response import ANSWER, ERRORS, FINISH, RESPONSE, completed
from contentmodel_adapters.cohere.rules import CALL_IDS, RULES, TOOL_NAMES
from contentmodel_adapters.cohere.stream import READERS, Decoder
from contentmodel_adapters.cohere.stream_encoder import Encoder
from contentmodel_adapters.cohere.tools import RESPONSE_FORMAT, TOOL_CHOICE, Tools
from contentmodel_adapters.common.input_fields import fields_of
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.schema_adaptation import OPENAI, restored_arguments, with_fitting_schemas

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "response_format": ("options.response_format", OneOf(RESPONSE_FORMAT)),
        "max_tokens": "options.max_output_tokens",
        **same_options("stop_sequences", "temperature", "seed", "frequency_penalty", "presence_penalty", "logprobs"),
        **same_options("stream"),
        "k": ("options.top_k", WholeNumber("options.top_k")),
        "p": "options.top_p",
        "thinking.type": enum_at("options.reasoning.mode", "enabled", "disabled"),
        "thinking.token_budget": "options.reasoning.budget_tokens",
    },
    Conversation(),
    Tools(),
)
TABLE.keep("request", "citation_options", "priority", "safety_mode")
SETTINGS = settings.Form(
    off={"mode": "disabled"}, auto={"mode": "enabled"}, within={"mode": "enabled"}, efforts_as_budgets=True
)
READS = media.MediaSupport(("image/*",), ("image/*",), ("http", "https", "data"), GOOGLE_FILES, texts=True)
READS_NOTHING = media.MediaSupport((), (), texts=True)


def _reads(context: EncodeContext) -> media.MediaSupport:
    kinds = context.known.capabilities.media
    return READS if kinds is None or "image" in kinds else READS_NOTHING


class CohereChat(TableAdapter):
    """The adapter of the Chat API v2: requests, responses, streams and errors."""

    api = API
    issuer = "cohere"
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    response = RESPONSE
    answer = ANSWER
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    errors = ERRORS
    finish = FINISH
    http = HTTP
    # The text and the index of a citation are derived from its span and its content.
    meaningless = {"text": None, "content_index": None}
    request_passes = (
        request_pass(settings.with_fitting_settings, native=True, form=SETTINGS),
        request_pass(with_known_tools, native=True, kinds=Kinds()),
        request_pass(place_instructions, native=True),
        *passes.NORMALIZE,
        passes.WITHOUT_CITATIONS,
        *media.with_readable_media(_reads),
        request_pass(passes.with_a_turn),
        request_pass(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES, detach_media="always"),
        request_pass(with_fitting_schemas, dialects=OPENAI),
    )
    request_payload_passes = (payload_pass(passes.with_model),)
    answer_passes = (
        message_pass(without_user_messages),
        message_pass(passes.normalize_answer, cites=True),
        message_pass(passes.without_names_of_results, needs=(FunctionResultContent,)),
        content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
    )
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_passes = (payload_pass(completed),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        value = super()._decode_row(row, wire, context)
        return with_custom_calls(value, context) if isinstance(value, ChatRequest) else value

    def expanded(self, payload: Any) -> Any:
        """Return a payload with each id of a cited result as call id and number, for audits: see `Vocabulary`."""
        return expanded(payload)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload of this API that it may be, each with a confidence."""
        if isinstance(payload.get("type"), str) and payload["type"] in READERS and "message" not in payload:
            return {"stream": 1.0}
        message = payload.get("message")
        if isinstance(message, dict):
            return {"response": 1.0} if "finish_reason" in payload and message.get("role") == "assistant" else {}
        if isinstance(message, str) and payload.keys() <= {"id", "message"}:
            return {"response": 0.6}
        messages = payload.get("messages")
        if not isinstance(messages, list):
            return {}
        if any(key in payload for key in OWN) or has_documents(payload) or any(map(_is_own, messages)):
            return {"request": 0.97}
        # vLLM and gateways serve models with the same names. Cohere refuses unknown fields (BerriAI/litellm#34171).
        is_likely = str(payload.get("model")).startswith("command") and payload.keys() <= _FIELDS
        return {"request": 0.92 if is_likely else 0.2}


_FIELDS = fields_of(REQUEST, TABLE)
OWN = ("strict_tools", "safety_mode", "p", "k")
"""Fields of requests that other APIs with messages do not have."""


def has_documents(payload: dict[str, Any]) -> bool:
    """Return whether a request has documents, or settings of citations, in the form of Cohere.

    Those of Groq and vLLM differ: `source` or other fields in place of `data`, and a text as the setting (groq 1.7,
    types/chat/completion_create_params.py; entrypoints/openai/chat_completion/protocol.py of vLLM; seen 2026-11-27).
    """
    if isinstance(payload.get("citation_options"), dict):
        return True
    documents = list_of(payload, "documents")
    return any(isinstance(one, str) or (isinstance(one, dict) and "data" in one) for one in documents)


def _is_own(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    return "tool_plan" in message or bool(objects_of(message, "citations"))


adapter = CohereChat()
