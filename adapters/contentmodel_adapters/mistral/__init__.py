"""The adapter of Mistral's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import HttpApi, HttpMethod, StateField, TableAdapter, objects_of
from contentmodel_adapters.mistral.fit import (
    ANSWER_STEPS,
    REQUEST_PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
)
from contentmodel_adapters.mistral.rules import RULES
from contentmodel_adapters.mistral.stream import Decoder, Encoder
from contentmodel_adapters.mistral.table import ANSWER, API, ASSISTANT, ERRORS, FINISH, REQUEST, RESPONSE, TABLE

HTTP = HttpApi(
    base_url="https://api.mistral.ai",
    generate=HttpMethod(path="/v1/chat/completions", routes=("/mistral/v1/chat/completions",)),
    dates_answers=True,
    key_variables=("MISTRAL_API_KEY",),
    # OpenAI's API has the same path.
    mount="/mistral",
    state=StateField(kind="signature", joins=True),
)
"""The HTTP interface (docs.mistral.ai/api and mistralai 3.7.0, seen 2026-11-23)."""
OWN_MODELS = ("mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-", "voxtral-", "open-mi")
OWN_FIELDS = ("random_seed", "safe_prompt", "prompt_mode", "agent_id")


class MistralChat(TableAdapter):
    """The adapter of Mistral's chat completions: requests, answers, streams and errors."""

    api = API
    issuer = "mistral"
    has_lane = True
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
    restores_custom_calls = True
    request_steps = REQUEST_STEPS
    request_payload_steps = REQUEST_PAYLOAD_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

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
