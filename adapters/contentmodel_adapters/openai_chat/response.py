"""The envelope of Chat answers and errors: choices, finish reasons, usage (openai 3.52; November 2026)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    Filled,
    FinishReasons,
    OneOf,
    Place,
    ProviderOnly,
    finished_by_calls,
    spread,
)
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.openai_chat.blocks import ERROR, TABLE, USAGE
from contentmodel_adapters.openai_chat.messages import Message
from contentmodel_adapters.shared.openai_errors import ERRORS

FINISH = FinishReasons(
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "content_filter": "content_filter",
        "error": "error",
    },
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "content_filter": "content_filter",
        "refusal": "content_filter",
        "pause": "stop",
    },
    "stop",
)

TABLE.known_values("finish_reason", *FINISH.reasons)
TABLE.known_values("error.code", *ERRORS.types)
TABLE.keep("response", "object", "metadata", "moderation", "service_tier", "system_fingerprint")

CHOICE = TABLE.record(
    "choice",
    ChatChoice,
    {
        "index": "index",
        "message": ("messages", Message()),
        "finish_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", ProviderOnly("logprobs")),
    },
    Filled({"message": {"role": "assistant", "content": None, "refusal": None}}),
)


class Choices(Codec[list[ChatChoice]]):
    """The list of choices."""

    classes = (list,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value) and all(item.__class__ is dict for item in value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        return [finished_by_calls(CHOICE.decode(wire, context)) for wire in value]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return spread(value, wire, path, CHOICE)

    def encode(self, value: list[ChatChoice], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires = [CHOICE.encode(choice, context) for choice in value]
        if context.completes:
            for index, wire in enumerate(wires):
                wire.setdefault("index", index)
                has_calls = bool(wire.get("message", {}).get("tool_calls"))
                wire.setdefault("finish_reason", "tool_calls" if has_calls else "stop")
                wire.setdefault("logprobs", None)
        return wires


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "choices": ("choices", Choices()),
        "usage": ("usage", OneOf(USAGE)),
        "error": ("error", ErrorBody(ERROR, ERRORS, or_text=True)),
    },
)
