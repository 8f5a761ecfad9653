"""Answers and errors: choices, finish reasons, and the fields of an error, which are at the top of the body."""

from __future__ import annotations

from typing import Any

from contentmodel import ChatChoice, ChatResponse
from contentmodel.authoring import (
    AnswerMessage,
    Blocks,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorFields,
    ErrorTypes,
    Filled,
    FinishReasons,
    OneOf,
    ProviderOnly,
    Row,
    Spec,
    finished_by_calls,
    whole_seconds,
)
from contentmodel_adapters.mistral_chat.blocks import ERROR, TABLE, USAGES
from contentmodel_adapters.mistral_chat.messages import ASSISTANT

SAME = ("stop", "length", "tool_calls", "error")
FINISH = FinishReasons(
    {**{name: name for name in SAME}, "model_length": "length"},
    {**{name: name for name in SAME}, "pause": "stop"},
    "stop",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
TABLE.keep("response", "object")
TABLE.keep("usage", "prompt_audio_seconds", "service_tier")

ANSWER = AnswerMessage(ASSISTANT)
CHOICE: dict[str, Spec] = {
    "index": "index",
    "message": ("messages", ANSWER),
    "finish_reason": ("finish_reason", FINISH),
    "logprobs": ("logprobs", ProviderOnly("logprobs")),
}
DEFAULTS = Filled({"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"})
CHOICES = TABLE.union("choice", [Row("choice", ChatChoice, CHOICE, DEFAULTS)], tag=None)


class Choices(Blocks[ChatChoice]):
    """The choices. Some models finish an answer with calls with `stop`."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        return [finished_by_calls(choice) for choice in super().decode(value, context, container, key)]


# The types and codes of recorded errors, and of docs.mistral.ai/api, seen 2026-11-23.
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
RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "choices": ("choices", Choices(CHOICES)),
        "usage": ("usage", OneOf(USAGES)),
    },
    ErrorFields(ErrorBody(ERROR, ERRORS), "message", "type"),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return an answer with the required fields, or the body of an error."""
    if response.error is not None and not response.choices:
        return {"object": "error", **payload}
    payload["created"] = whole_seconds(response, context)
    for index, choice in enumerate(payload.get("choices", ())):
        choice.setdefault("index", index)
    usage = {"prompt_tokens": 0, "completion_tokens": 0, **payload.pop("usage", {})}
    usage.setdefault("total_tokens", usage["prompt_tokens"] + usage["completion_tokens"])
    return {"id": "", "object": "chat.completion", "model": "", "choices": [], "usage": usage, **payload}
