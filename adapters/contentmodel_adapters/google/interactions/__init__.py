"""The adapter of Gemini's Interactions API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    EncodeContext,
    HttpApi,
    HttpMethod,
    SchemaMap,
    StateField,
    TableAdapter,
    objects_of,
    text_of,
    with_custom_calls,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.objects import fields_of, may_be_request
from contentmodel_adapters.common.reasoning import ISSUER
from contentmodel_adapters.common.schema_adaptation import restored_arguments
from contentmodel_adapters.google.interactions.fit import (
    ANSWER_STEPS,
    PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
)
from contentmodel_adapters.google.interactions.rules import RULES
from contentmodel_adapters.google.interactions.stream import Decoder, Encoder
from contentmodel_adapters.google.interactions.table import (
    API,
    CONTENT,
    ERRORS,
    FINISH,
    HOSTED_KINDS,
    REQUEST,
    RESPONSE,
    TABLE,
    encode_steps,
)
from contentmodel_adapters.google.shared import with_strict_tools

# The HTTP interface of Interactions (google-genai 3.4, _gaos/interactions.py; seen 2026-11-26).
HTTP = HttpApi(
    base_url="https://generativelanguage.googleapis.com",
    generate=HttpMethod(
        path="/v1beta/interactions",
        routes=("/{version}/interactions", "/{version}/{parent:path}/interactions"),
    ),
    # The version of the types. Without it, a server may answer in an older form (_hooks/google_genai_auth.py).
    headers={"Api-Revision": "2026-05-20"},
    key_header="x-goog-api-key",
    key_prefix="",
    key_query="key",
    # google-genai prefers the first one (google/genai/_api_client.py of 3.4, get_env_api_key).
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    state=StateField(kind="signature", in_bytes=True),
)


class GoogleInteractions(TableAdapter):
    """The adapter of Interactions: requests, answers, streams and errors."""

    api = API
    issuer = ISSUER
    has_lane = True
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
    request_steps = REQUEST_STEPS
    request_payload_steps = PAYLOAD_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": False, "tools_inside": False}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

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
        input_value = payload.get("input")
        if not isinstance(input_value, str | list | dict) or (
            isinstance(input_value, dict) and "type" not in input_value
        ):
            return {}
        if (
            _has_own_fields(payload)
            or _are_contents(input_value)
            or (isinstance(input_value, list) and self.recognises_list(input_value))
        ):
            return {"request": 0.95}
        if not may_be_request(payload, _FIELDS):
            return {}
        if not str(payload.get("model")).startswith("gemini"):
            return {"request": 0.1}
        # Hosts of the Responses API have such models, too.
        return {"request": 0.95 if isinstance(input_value, str) and payload.keys() <= _FIELDS else 0.5}


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


def _are_contents(value: Any) -> bool:
    """Return whether an input is a content or a list of contents. Other APIs have messages there."""
    contents = value if isinstance(value, list) else [value]
    return bool(contents) and all(isinstance(content, dict) and CONTENT.knows(content) for content in contents)


_FIELDS = fields_of(REQUEST, TABLE)

adapter = GoogleInteractions()
