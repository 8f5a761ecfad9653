"""Answers and errors: choices, finish reasons, and the fields of an error, which are at the top of the body.

If Mistral ran tools, a choice has the list `messages` in place of `message`: the calls, their results, and the text
after them (ChatCompletionChoice of mistralai 3.7.0, docs.mistral.ai/cookbooks/mistral-connectors-05-connectors-in-
completions; seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatResponse,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.authoring import (
    AnswerMessage,
    Blocks,
    Codec,
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
from contentmodel_adapters.mistral.blocks import ERROR, TABLE, USAGES
from contentmodel_adapters.mistral.messages import (
    ASSISTANT,
    MESSAGES,
    OF_CALLS,
    OF_RESULTS,
    as_class,
    with_functions,
)

SAME = ("stop", "length", "tool_calls", "error")
FINISH = FinishReasons(
    {**{name: name for name in SAME}, "model_length": "length"},
    {**{name: name for name in SAME}, "pause": "stop"},
    "stop",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
TABLE.keep("response", "object")
TABLE.keep("usage", "prompt_audio_seconds", "service_tier")


class Answer(AnswerMessage):
    """The message of an answer. A stream has a message for each result of Mistral's tools."""

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> dict[str, Any]:
        messages = [with_functions(message, context) for message in value]
        if len(messages) == 1 and messages[0].role == "tool":
            return next(iter(MESSAGES.encode_message(messages[0], context)), {"role": "assistant", "content": ""})
        return super().encode(messages, context, owner)


class Messages(Codec[list[ChatMessage]]):
    """The messages of an answer. A call that has its result here was run by Mistral, any other is for the client."""

    classes = (list,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value) and all(map(_is_message, value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = MESSAGES.decode(value, context, container, key)
        answered = {wire.get("tool_call_id") for wire in value if wire["role"] == "tool"}
        for message in messages:
            message.contents[:] = [_as_hosted(content, answered, context) for content in message.contents]
        # In other APIs, results of the provider's tools are part of the model's turn.
        return [context.replace(message, role="assistant") for message in messages]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> list[dict[str, Any]]:
        return MESSAGES.encode(value, context, owner)


def _is_message(wire: object) -> bool:
    return isinstance(wire, dict) and wire.get("role") in ("assistant", "tool")


def _as_hosted(content: Any, answered: set[Any], context: DecodeContext) -> Any:
    if content.__class__ is FunctionResultContent:
        return context.replaced(content, as_class(content, HostedToolResultContent, OF_RESULTS))
    if content.__class__ is FunctionCallContent and content.call_id in answered:
        return context.replaced(content, as_class(content, HostedToolCallContent, OF_CALLS))
    return content


ANSWER, SEVERAL = Answer(ASSISTANT), Messages()
CHOICE: dict[str, Spec] = {
    "index": "index",
    "finish_reason": ("finish_reason", FINISH),
    "logprobs": ("logprobs", ProviderOnly("logprobs")),
}
DEFAULTS = Filled({"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"})
CHOICES = TABLE.union(
    "choice",
    [
        Row("choice.messages", ChatChoice, {**CHOICE, "messages": ("messages", SEVERAL)}),
        Row("choice", ChatChoice, {**CHOICE, "message": ("messages", ANSWER)}, DEFAULTS),
    ],
    tag=None,
    prefer=lambda choice, rows: rows[1],
)


class Choices(Blocks[ChatChoice]):
    """The choices. Some models finish an answer with calls with `stop`."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        return [finished_by_calls(choice) for choice in super().decode(value, context, container, key)]


class Types(ErrorTypes):
    """The types of errors. A list of faults of the request has none (HTTPValidationError of mistralai 3.7.0)."""

    def kind_of(self, wire: Mapping[str, object]) -> str | None:
        kind = super().kind_of(wire)
        return "invalid_request" if kind is None and wire.get("detail").__class__ is list else kind


# The types and codes of recorded errors, of docs.mistral.ai/api (seen 2026-11-23), and of raycast/extensions#31107.
ERRORS = Types(
    ("type", "code", "raw_status_code"),
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
    ErrorFields(ErrorBody(ERROR, ERRORS), "message", "type", "code", "raw_status_code"),
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
