"""The adapter of OpenAI's Chat Completions, and of the many hosts that speak it with fields of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.adapter import TableAdapter
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.wire import passes
from contentmodel.wire.codecs import Blocks, OneOf
from contentmodel.wire.context import EncodeContext
from contentmodel_adapters.openai_chat.blocks import API, TABLE
from contentmodel_adapters.openai_chat.messages import Messages
from contentmodel_adapters.openai_chat.response import RESPONSE
from contentmodel_adapters.openai_chat.tools import RESPONSE_FORMAT, TOOL_CHOICE, TOOLS

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", Messages()),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "parallel_tool_calls": "options.parallel_tool_calls",
        "response_format": ("options.response_format", OneOf(RESPONSE_FORMAT)),
        "max_completion_tokens": "options.max_output_tokens",
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "frequency_penalty": "options.frequency_penalty",
        "presence_penalty": "options.presence_penalty",
        "seed": "options.seed",
        "stop": "options.stop_sequences",
        "n": "options.choices",
        "logprobs": "options.logprobs",
        "top_logprobs": "options.top_logprobs",
        "stream": "options.stream",
        "store": "options.store",
        "user": "options.user",
        "metadata": "options.metadata",
        "service_tier": "options.service_tier",
        "verbosity": "options.verbosity",
        "modalities": "options.modalities",
        "reasoning_effort": "options.reasoning.effort",
    },
)


class OpenAIChat(TableAdapter):
    """Chat Completions, requests and responses."""

    api = API
    issuer = "openai"
    table = TABLE
    request = REQUEST
    response = RESPONSE

    def prepare_request(self, request: ChatRequest, context: EncodeContext) -> ChatRequest:
        request = passes.place_instructions(request, context)
        return msgspec.structs.replace(request, messages=passes.settle_foreign(request.messages, context))

    def prepare_response(self, response: ChatResponse, context: EncodeContext) -> ChatResponse:
        return passes.settle_response(response, context)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Chat's own keys; a bare list of messages with string contents is Chat's as well as anybody's."""
        if payload.get("object") in ("chat.completion", "chat.completion.chunk"):
            return {"response": 1.0}
        if isinstance(payload.get("choices"), list):
            return {"response": 0.9}
        if isinstance(payload.get("error"), dict) and "type" not in payload and "status" not in payload["error"]:
            return {"response": 0.5}
        return recognise_messages(payload)


def recognise_messages(payload: dict[str, Any]) -> Mapping[str, float]:
    """How sure a payload with `messages` is a Chat request."""
    messages = payload.get("messages")
    if not isinstance(messages, list):
        return {}
    score = 0.5
    for message in messages:
        if isinstance(message, dict) and (message.get("role") in ("tool", "developer") or "tool_calls" in message):
            score = 0.9
    tools = payload.get("tools")
    if isinstance(tools, list) and any(isinstance(t, dict) and "function" in t for t in tools):
        score = 0.9
    if "max_completion_tokens" in payload or "response_format" in payload or "reasoning_effort" in payload:
        score = 0.9
    if messages and isinstance(messages[0], dict) and messages[0].get("role") == "system":
        score = max(score, 0.7)
    return {"request": score}


adapter = OpenAIChat()
