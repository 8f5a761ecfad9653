"""The adapter of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Host,
    HttpApi,
    HttpMethod,
    Row,
    StateField,
    TableAdapter,
    TokenCounting,
)
from contentmodel.content.base import AIContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.objects import fields_of, may_be_request
from contentmodel_adapters.common.reasoning import sealer_of
from contentmodel_adapters.common.schema_adaptation import restored_arguments
from contentmodel_adapters.openai.responses.fit import ANSWER_STEPS, REQUEST_STEPS, RESPONSE_PAYLOAD_STEPS
from contentmodel_adapters.openai.responses.items import API, ISSUER, SEALING, TABLE
from contentmodel_adapters.openai.responses.rules import RULES
from contentmodel_adapters.openai.responses.stream import Decoder, Encoder
from contentmodel_adapters.openai.responses.table import (
    ADDED,
    FINISH,
    REQUEST,
    RESPONSE,
    ItemRows,
    decode_items,
    encode_items,
    is_known_item,
    item_groups,
)
from contentmodel_adapters.openai.table import ERRORS, LIMIT_HEADERS

HOSTS = {maker: Host(issuers=frozenset({maker})) for maker in SEALING if maker != ISSUER}
"""The hosts of other makers that read encrypted content of other APIs: formats of frameworks have xAI's, too."""


# Fields of the answer that repeat the request's (openai 2.x, types/responses/response.py, seen 2026-11-22).
# `service_tier` is not one of them: the answer names the tier that was used.
REPEATED_SETTINGS = (
    *("background", "frequency_penalty", "include", "instructions", "max_output_tokens", "max_tool_calls", "metadata"),
    *("parallel_tool_calls", "presence_penalty", "previous_response_id", "prompt", "prompt_cache_key"),
    *("prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "store", "temperature"),
    *("text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
)


HTTP = HttpApi(
    base_url="https://api.openai.com/v1",
    generate=HttpMethod(path="/responses", routes=("/v1/responses",)),
    count=TokenCounting(
        method=HttpMethod(path="/responses/input_tokens", routes=("/v1/responses/input_tokens",)),
        # The parameters of types/responses/input_token_count_params.py of openai 3.54.
        fields=(
            *("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text"),
            *("truncation", "previous_response_id", "conversation", "personality"),
        ),
        result="input_tokens",
        answer={"object": "response.input_tokens"},
    ),
    dates_answers=True,
    key_variables=("OPENAI_API_KEY",),
    forwarded=("openai-organization", "openai-project", "openai-beta"),
    # The other APIs store no answers.
    foreign={"store": False},
    keeps_conversations=True,
    state=StateField(kind="encrypted"),
    # Else an answer has only the id of its reasoning (types/responses/response_includable.py of openai 3.54).
    asks_state={"include": ["reasoning.encrypted_content"]},
    # Its answer is encrypted: only OpenAI can make one, and read it (resources/responses/responses.py of openai 3.54).
    passed=(HttpMethod(path="/responses/compact", routes=("/v1/responses/compact",)),),
)
"""The HTTP interface (platform.openai.com/docs/api-reference/responses, seen 2026-11-23)."""


class OpenAIResponses(TableAdapter):
    """The adapter of Responses, requests and answers."""

    api = API
    issuer = ISSUER
    has_lane = True
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
    repeated = frozenset(REPEATED_SETTINGS)
    has_failed_answers = True
    request_steps = REQUEST_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        value = super()._decode_row(row, wire, context)
        return ADDED.read(value, context) if isinstance(value, ChatRequest) else value

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return HOSTS.get(sealer_of(model) or "") or super().host(model, policies)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_items(messages, context)

    block_rows = ItemRows()

    def decode_blocks(self, blocks: list[Any], context: DecodeContext) -> list[AIContent]:
        return [content for message in decode_items(blocks, context) for content in message.contents]

    def encode_blocks(self, contents: list[AIContent], context: EncodeContext) -> list[Any]:
        return encode_items([ChatMessage(role="assistant", contents=contents, origin=context.origin)], context)

    def block_groups(self, contents: list[AIContent]) -> list[list[AIContent]]:
        return item_groups(contents)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the items are of this API: messages without a type may be of any API."""
        if not all(isinstance(item, dict) and ("type" in item or "role" in item) for item in items):
            return 0.0
        typed = [item for item in items if "type" in item]
        known_count = sum(map(is_known_item, typed))
        # Newer versions may have some more types. A list of other messages or events has mostly other types.
        if known_count < len(typed) - known_count:
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


adapter = OpenAIResponses()
