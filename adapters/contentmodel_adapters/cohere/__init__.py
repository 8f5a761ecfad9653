"""The adapter of Cohere's Chat API v2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import HttpApi, HttpMethod, StateField, TableAdapter, list_of, objects_of
from contentmodel_adapters.cohere.fit import (
    ANSWER_STEPS,
    REQUEST_PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
)
from contentmodel_adapters.cohere.rules import RULES
from contentmodel_adapters.cohere.stream import READERS, Decoder, Encoder
from contentmodel_adapters.cohere.table import ANSWER, API, ERRORS, FINISH, REQUEST, RESPONSE, TABLE, expanded
from contentmodel_adapters.common.objects import fields_of
from contentmodel_adapters.common.schema_adaptation import restored_arguments

HTTP = HttpApi(
    base_url="https://api.cohere.com",
    generate=HttpMethod(path="/v2/chat", routes=("/v2/chat",)),
    key_variables=("CO_API_KEY",),
    request_id="x-debug-trace-id",
    state=StateField(kind=None),
)
"""The HTTP interface (docs.cohere.com/v2/reference/chat, seen 2026-11-23)."""


class CohereChat(TableAdapter):
    """The adapter of the Chat API v2: requests, responses, streams and errors."""

    api = API
    issuer = "cohere"
    has_lane = True
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
    restores_custom_calls = True
    errors = ERRORS
    finish = FINISH
    http = HTTP
    # The text and the index of a citation are derived from its span and its content.
    meaningless = {"text": None, "content_index": None}
    request_steps = REQUEST_STEPS
    request_payload_steps = REQUEST_PAYLOAD_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

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
