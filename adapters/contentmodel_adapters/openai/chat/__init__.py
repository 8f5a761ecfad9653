"""The adapter of OpenAI's Chat Completions and of compatible hosts, many of which have fields of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    DecodeContext,
    EncodeContext,
    Host,
    HttpApi,
    HttpMethod,
    Row,
    TableAdapter,
    objects_of,
    with_custom_calls,
    with_custom_results,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.reasoning import SKIP
from contentmodel_adapters.common.schema_adaptation import restored_arguments
from contentmodel_adapters.openai.chat.fit import (
    ANSWER_STEPS,
    REQUEST_PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
)
from contentmodel_adapters.openai.chat.hosts import API, DIALECTS, host_of
from contentmodel_adapters.openai.chat.messages import FLAG, REASONING_FIELDS, encode_answer, expanded
from contentmodel_adapters.openai.chat.parts import TABLE, with_sources
from contentmodel_adapters.openai.chat.rules import RULES
from contentmodel_adapters.openai.chat.stream import Decoder, Encoder
from contentmodel_adapters.openai.chat.table import (
    FINISH,
    REQUEST,
    RESPONSE,
    is_error_beside,
    read_aliases,
    with_error_at_top,
    with_setting_fields,
)
from contentmodel_adapters.openai.table import ERRORS, LIMIT_HEADERS

HTTP = HttpApi(
    base_url="https://api.openai.com/v1",
    generate=HttpMethod(path="/chat/completions", routes=("/v1/chat/completions",)),
    dates_answers=True,
    key_variables=("OPENAI_API_KEY",),
    forwarded=("openai-organization", "openai-project"),
    # Without it, a stream has no usage.
    usage_fields={"stream_options": {"include_usage": True}},
)
"""The HTTP interface (platform.openai.com/docs/api-reference/chat, seen 2026-11-23)."""


class OpenAIChat(TableAdapter):
    """The adapter of Chat Completions, requests and responses."""

    api = API
    issuer = "openai"
    has_lane = True
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    also_takes = {"stop": (str,)}
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    errors = ERRORS
    finish = FINISH
    has_errors_in_lists = True
    http = HTTP
    limit_headers = LIMIT_HEADERS
    meaningless = {"object": "chat.completion", "extra_content": ({"google": {"thought_signature": SKIP}}, FLAG)}
    reasoning_fields = REASONING_FIELDS
    dialects = tuple(DIALECTS)
    request_steps = REQUEST_STEPS
    request_payload_steps = REQUEST_PAYLOAD_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        decode = partial(super()._decode_row, row, context=context)
        value = with_error_at_top(wire, context, decode) if row is RESPONSE else decode(wire)
        if not isinstance(value, ChatRequest):
            has_fields = isinstance(value, ChatResponse) and value.extra is not None
            return with_sources(value, wire, context) if has_fields else value
        request = with_setting_fields(value if value.extra is None else read_aliases(value), wire)
        return with_custom_results(with_custom_calls(request, context, FREE_TEXT_ROW), context)

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return host_of(model, policies)

    expanded = staticmethod(expanded)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
        return encode_answer(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of Chat. Messages with a role may be of any API."""
        return recognise_messages({"messages": items}).get("request", 0.0) if self.have_roles(items) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload of this API that it may be, each with a confidence.

        Keys that only Chat has give a high confidence. Messages without them may be of any API. Providers with a format
        of their own also send these values of `object`.
        """
        if payload.get("object") == "chat.completion":
            return {"response": 0.95}
        if payload.get("object") == "chat.completion.chunk":
            return {"stream": 0.95}
        choices = payload.get("choices")
        if isinstance(choices, list):
            grows = any(isinstance(choice, dict) and "delta" in choice for choice in choices)
            return {"stream": 0.9} if grows else {"response": 0.9}
        error = payload.get("error")
        # The status of Google's errors is a name, that of Azure's a number.
        if isinstance(error, dict) and "type" not in payload and not isinstance(error.get("status"), str):
            return {"response": 0.5, "stream": 0.5}
        if payload.get("object") == "error" and "message" in payload:
            # Such a body may also be Mistral's.
            return {"response": 0.5, "stream": 0.5}
        # The errors of xAI are texts beside a code (nocmt/LLMSearchPlus#2, seen 2026-11-27).
        if is_error_beside(payload) or (isinstance(error, str) and isinstance(payload.get("code"), str)):
            return {"response": 0.5, "stream": 0.5}
        return recognise_messages(payload)


ONLY_FIELDS = frozenset(
    (
        *("audio", "function_call", "functions", "logit_bias", "max_completion_tokens", "modalities"),
        *("reasoning_effort", "stream_options", "verbosity", "web_search_options"),
    )
)
"""Fields of requests that only Chat and formats like it have."""
REQUEST_FIELDS = frozenset(
    (
        *("frequency_penalty", "logprobs", "n", "parallel_tool_calls", "plugins", "presence_penalty", "provider"),
        *("reasoning", "response_format", "seed", "stop", "top_logprobs"),
    )
)
"""Fields of requests to OpenAI or another host that Anthropic Messages does not have; Cohere's API has some."""
PARTS = frozenset(("file", "image_url", "input_audio", "refusal", "video_url"))
"""The types of the parts that Anthropic Messages does not have."""


def _is_own(message: Any) -> bool:
    """Return whether a message has a role, calls, images or parts that Anthropic Messages does not have."""
    if not isinstance(message, dict):
        return False
    if message.get("role") in ("tool", "developer") or "tool_calls" in message or objects_of(message, "images"):
        return True
    return any(
        part.get("type") in PARTS for part in objects_of(message, "content") if isinstance(part.get("type"), str)
    )


def recognise_messages(payload: dict[str, Any]) -> Mapping[str, float]:
    """Return the confidence that a payload with `messages` is a Chat request."""
    messages = payload.get("messages")
    if not isinstance(messages, list):
        return {}
    if not ONLY_FIELDS.isdisjoint(payload):
        return {"request": 0.94}
    tools = payload.get("tools")
    has_functions = isinstance(tools, list) and any(isinstance(tool, dict) and "function" in tool for tool in tools)
    if has_functions or not REQUEST_FIELDS.isdisjoint(payload) or any(map(_is_own, messages)):
        return {"request": 0.9}
    first = messages[0] if messages else None
    score = 0.7 if isinstance(first, dict) and first.get("role") == "system" else 0.5
    return {"request": score}


adapter = OpenAIChat()
