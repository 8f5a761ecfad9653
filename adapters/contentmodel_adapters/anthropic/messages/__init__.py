"""The adapter of Anthropic's Messages API, stable and beta types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

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
    objects_of,
    with_custom_calls,
)
from contentmodel.capabilities import Known
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.anthropic.aws_errors import OF_HOLDERS
from contentmodel_adapters.anthropic.messages.fit import (
    ANSWER_STEPS,
    HOST_STEPS,
    PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
    RESPONSE_STEPS,
    budget_of,
)
from contentmodel_adapters.anthropic.messages.response import (
    ERRORS,
    FINISH,
    LIMIT_HEADERS,
    RESPONSE,
    encode_blocks,
    with_error,
)
from contentmodel_adapters.anthropic.messages.rules import DIALECTS, RULES, host_of, limited
from contentmodel_adapters.anthropic.messages.stream import METRICS, Decoder, Encoder
from contentmodel_adapters.anthropic.messages.table import ADDED, API, REQUEST, TABLE
from contentmodel_adapters.common.schema_adaptation import restored_arguments

# The HTTP interface of Messages (platform.claude.com/docs/en/api/overview and .../versioning, seen 2026-11-23).
_COUNTED = (
    # The parameters of types/beta/message_count_tokens_params.py of anthropic 2.12.
    *("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"),
    *("context_management", "compaction", "mcp_servers", "billing_policy", "speed"),
)
HTTP = HttpApi(
    base_url="https://api.anthropic.com",
    generate=HttpMethod(path="/v1/messages", routes=("/v1/messages",)),
    count=TokenCounting(
        method=HttpMethod(path="/v1/messages/count_tokens", routes=("/v1/messages/count_tokens",)),
        fields=_COUNTED,
        result="input_tokens",
    ),
    key_header="x-api-key",
    key_prefix="",
    key_variables=("ANTHROPIC_API_KEY",),
    headers={"anthropic-version": "2023-06-01"},
    forwarded=("anthropic-version", "anthropic-beta"),
    request_id="request-id",
    keep_alive=b'event: ping\ndata: {"type": "ping"}\n\n',
    state=StateField(kind="signature"),
)


def _invoke(verb: str) -> HttpMethod:
    """Return a method of Bedrock (docs.aws.amazon.com/bedrock/latest/APIReference, API_runtime_InvokeModel)."""
    return HttpMethod(path=f"/model/{{model}}/{verb}", routes=(f"/model/{{model:path}}/{verb}",))


def _predict(model: str, verb: str) -> HttpMethod:
    """Return a method of Vertex AI. The base URL of an upstream ends in the publisher, that of the SDK in `/v1`."""
    path = f"/models/{model}:{verb}"
    return HttpMethod(
        path=path, routes=(f"/v1/projects/{{project}}/locations/{{location}}/publishers/anthropic{path}",)
    )


HOSTS = {
    "bedrock": HttpApi(
        base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
        generate=_invoke("invoke"),
        stream=_invoke("invoke-with-response-stream"),
        # An API key of Bedrock. Signatures of requests (SigV4) are made by the SDKs only.
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        request_id="x-amzn-requestid",
        path_field="model",
        keep_alive=b"",
        comments=False,
        state=HTTP.state,
    ),
    "vertex": HttpApi(
        base_url="https://aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/anthropic",
        generate=_predict("{model}", "rawPredict"),
        stream=_predict("{model}", "streamRawPredict"),
        count=TokenCounting(method=_predict("count-tokens", "rawPredict"), fields=_COUNTED, result="input_tokens"),
        # An access token, in the variable of gcloud. The SDK asks Google for one.
        key_variables=("CLOUDSDK_AUTH_ACCESS_TOKEN",),
        forwarded=("anthropic-beta",),
        path_field="model",
        keep_alive=HTTP.keep_alive,
        state=HTTP.state,
    ),
}
"""The HTTP interfaces of the hosts that have the model in the path."""


class AnthropicMessages(TableAdapter):
    """The adapter of the Messages API: messages, requests and answers."""

    api = API
    issuer = "anthropic"
    has_lane = True
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    errors = ERRORS
    finish = FINISH
    http = HTTP
    hosts = HOSTS
    dialects = tuple(DIALECTS)
    limit_headers = LIMIT_HEADERS
    meaningless = {"type": ("message", "error"), "anthropic_version": None, METRICS: None, **OF_HOLDERS}
    request_steps = REQUEST_STEPS
    request_payload_steps = PAYLOAD_STEPS
    host_payload_steps = HOST_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": False, "reasoning_inside": True}
    response_steps = RESPONSE_STEPS
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        if row is self.response:
            return with_error(wire, context, partial(row.decode, context=context))
        value = super()._decode_row(row, wire, context)
        if not isinstance(value, ChatRequest):
            return value
        return with_custom_calls(ADDED.read(value, context), context)

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return host_of(policies)

    def look_up_model(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        known = super().look_up_model(model, policies)
        return replace(known, capabilities=limited(known.capabilities, policies, model))

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_blocks(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the messages are of this API: high only for typed blocks."""
        return 0.95 if any(map(_has_typed_blocks, items)) else 0.3 if self.have_roles(items) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence.

        Answers have a type. Requests have a system prompt beside the messages, or typed blocks. Fields that other APIs
        have, too, such as the limit, are evidence only for a model of Anthropic.
        """
        if payload.get("type") in ("message_start", "content_block_start", "content_block_delta", "message_delta"):
            return {"stream": 1.0}
        if payload.get("type") == "message" and "content" in payload:
            return {"response": 1.0}
        if payload.get("type") == "error" and isinstance(payload.get("error"), dict):
            return {"response": 0.8, "stream": 0.8}
        messages = payload.get("messages")
        if not isinstance(messages, list):
            return {}
        tools = objects_of(payload, "tools")
        if any("function" in tool for tool in tools):
            # Hosts of Chat take blocks of Claude, but no tool of this API has its definition in an object.
            return {}
        is_own = not OWN_FIELDS.isdisjoint(payload) or budget_of(payload) > 0
        is_own = is_own or any("input_schema" in tool for tool in tools)
        if is_own or any(map(_has_typed_blocks, messages)):
            return {"request": 0.95}
        model = payload.get("model")
        is_claude = not isinstance(model, str) or ("claude" in model and "/" not in model)
        if not SHARED_FIELDS.isdisjoint(payload):
            return {"request": 0.95 if is_claude else 0.4}
        return {"request": 0.6 if is_claude else 0.4} if "max_tokens" in payload else {}


OWN_FIELDS = frozenset(("system", "anthropic_version"))
"""Fields of requests that only this API has."""
SHARED_FIELDS = frozenset(("thinking", "stop_sequences", "top_k"))
"""Fields that Cohere's API or hosts of Chat have, too. They are evidence for a model of Anthropic."""


BLOCK_TYPES = (
    "tool_use",
    "tool_result",
    "redacted_thinking",
    "server_tool_use",
)
NEEDED = {"document": "source", "image": "source", "thinking": "signature"}
"""The field by which the blocks of this API differ from those of others with the same type."""


def _has_typed_blocks(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return False
    return any(isinstance(block, dict) and _is_typed(block) for block in content)


def _is_typed(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and (kind in BLOCK_TYPES or NEEDED.get(kind) in block)


adapter = AnthropicMessages()
