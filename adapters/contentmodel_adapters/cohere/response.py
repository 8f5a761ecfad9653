"""The envelope of answers and errors of the Chat API v2 (cohere 7.3.1, types; November 2026)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from contentmodel.authoring import (
    EncodeContext,
    ErrorBody,
    ErrorFields,
    ErrorTypes,
    FinishReasons,
    Hint,
    Inlined,
    ProviderOnly,
    Record,
    Silent,
    reasons,
)
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.cohere.blocks import API, ERROR, TABLE, USAGE
from contentmodel_adapters.cohere.messages import ASSISTANT
from contentmodel_adapters.common.answer import SpelledAnswer, SpelledRole

FINISH = FinishReasons(
    {
        "COMPLETE": "stop",
        "STOP_SEQUENCE": "stop",
        "MAX_TOKENS": "length",
        "TOOL_CALL": "tool_calls",
        "ERROR": "error",
        "TIMEOUT": "error",
    },
    {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL", "error": "ERROR"},
    "COMPLETE",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
ROLE = Hint[SpelledRole](API, "role", "the role of the message of an answer, if it is not the usual one")
# The body of an error has a message and no type: the status of the response shows what it is.
ERRORS = ErrorTypes((), {"server": {}}, {})


ANSWER = SpelledAnswer(ASSISTANT, ROLE)
CHOICE = TABLE.record(
    "choice",
    ChatChoice,
    {
        "message": ("messages", ANSWER),
        "finish_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", ProviderOnly("logprobs", list)),
    },
    Silent("index"),
)


class OnlyChoice(Inlined):
    """The message, the finish reason and the log probabilities: the only choice of an answer."""

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        kinds = {"message": dict, "finish_reason": str, "logprobs": list}
        return [key for key in self.keys if wire.get(key).__class__ is kinds[key]]

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: ChatResponse) -> None:
        is_cut = owner.error is not None and any(choice.messages for choice in value)
        if is_cut:
            context.report_loss(owner.error, None, reasons.NO_FIELD)
        super().encode(value, wire, context, owner)
        if is_cut:
            # An answer must have a finish reason (V2ChatResponse of cohere 7.3.1). Only this one shows the failure.
            wire.setdefault("finish_reason", "ERROR")


class ErrorText(ErrorFields):
    """The message of an error, which is a string. The message of an answer is an object."""

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        return self.keys if isinstance(wire.get("message"), str) else ()


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {"id": "id", "usage": ("usage", Record(USAGE))},
    ErrorText(ErrorBody(ERROR, ERRORS), "message"),
    OnlyChoice("choices", CHOICE, one_of_list=True),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires, or the body of an error."""
    if response.error is not None and not response.choices:
        return payload
    has_calls = any(message.tool_calls for message in response.messages)
    finish = "TOOL_CALL" if has_calls else "COMPLETE"
    return {"id": "", "finish_reason": finish, "message": {"role": "assistant"}, **payload}
