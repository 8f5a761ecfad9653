"""The table of answers: choices, finish reasons, usage, and errors (mistralai 3.7.0)."""

from __future__ import annotations

from typing import Any

from contentmodel import ChatChoice, ChatMessage, ChatResponse, ErrorContent, FinishReason, Usage
from contentmodel.authoring import (
    Blocks,
    Codec,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Filled,
    Group,
    ProviderOnly,
    Record,
    Row,
    Silent,
    Spec,
    passes,
    reasons,
)
from mistral_chat.table import ASSISTANT, TABLE

FINISHES = {
    "stop": "stop",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "error": "error",
}


class Finish(Codec[FinishReason]):
    """The reason why an answer ended. The API's own value is kept in `raw` and written again."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        return FinishReason(reason=FINISHES.get(value, "other"), raw=value)

    def encode(self, value: FinishReason, context: EncodeContext, owner: object) -> str:
        context.report_lost_attributes(value, ("stop_sequence",))
        if isinstance(value.raw, str) and (context.native or FINISHES.get(value.raw) == value.reason):
            return value.raw
        if value.reason in FINISHES:
            return value.reason
        context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.reason)
        return "stop"


class Answer(Codec[list[ChatMessage]]):
    """The message of a choice."""

    classes = (dict,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [ASSISTANT.decode(value, context)]
        context.trace(ASSISTANT, messages, container, key, spread=False)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> Any:
        return encode_answer(value, context)


def encode_answer(messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
    """Return the message of a choice. An answer of several messages becomes one."""
    return ASSISTANT.encode(passes.joined_messages(messages, context), context)


CHOICE: dict[str, Spec] = {
    "index": "index",
    "message": ("messages", Answer()),
    "finish_reason": ("finish_reason", Finish()),
    "logprobs": ("logprobs", ProviderOnly("logprobs")),
}
DEFAULTS = Filled({"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"})
CHOICES = TABLE.union("choice", [Row("choice", ChatChoice, CHOICE, DEFAULTS)], tag=None)
USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "prompt_tokens": "input_tokens",
        "completion_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "prompt_tokens_details.cached_tokens": "cache_read_tokens",
    },
    Silent("cached_inside", "reasoning_inside"),
)

ERRORS = ErrorTypes(
    ("type", "code"),
    {
        "invalid_request": {"type": "invalid_request_error", "param": None, "code": None},
        "rate_limit": {"type": "rate_limited", "param": None, "code": "1300"},
        "overloaded": {"type": "service_tier_capacity_exceeded", "param": None, "code": "3505"},
        "not_found": {"type": "invalid_model", "param": None, "code": "1500"},
        "server": {"type": "internal_server_error", "param": None, "code": "1000"},
    },
    {"invalid_request_message_order": "invalid_request", "invalid_function_call": "invalid_request"},
)
ERROR = TABLE.record("error", ErrorContent, {"message": "message", "type": "code"}, Silent("kind"))


class ErrorFields(Group):
    """The error of an answer. Its fields are at the top of the body, not in an object."""

    attribute = "error"
    keys = ("message",)
    body = ErrorBody(ERROR, ERRORS)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ErrorContent | None:
        if "message" not in wire:
            return None
        error: dict[str, Any] = {key: wire[key] for key in ("message", "type") if key in wire}
        context.copied(error, wire)
        return self.body.decode(error, context, wire, "message")

    def encode(self, value: ErrorContent | None, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value is not None:
            wire.update(self.body.encode(value, context, owner))


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "choices": ("choices", Blocks(CHOICES)),
        "usage": ("usage", Record(USAGE)),
    },
    ErrorFields(),
)
