"""Answers: ChatResponse, whose messages are the one choice.

Source: ChatCompletion/ChatResponse.cs, ChatFinishReason.cs and UsageDetails.cs in dotnet/extensions (seen 2026-11-23).
"""

from __future__ import annotations

from typing import Any, Literal

from contentmodel.authoring import DecodeContext, EncodeContext, FinishReasons, Hint, Inlined, Silent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.failures import STATUSES, error_kind
from contentmodel.message import ChatMessage, FinishReason
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.meai.blocks import API, MESSAGES, ROWS, TABLE
from contentmodel_adapters.shared.times import DateText

EMPTY = Hint[Literal[True]](API, "empty", "on a choice: its list of messages was empty")
KNOWN = ("stop", "length", "tool_calls", "content_filter")
_REASONS = (*KNOWN, "refusal", "error", "pause", "compaction", "cancelled", "running", "other")
FINISH = FinishReasons({name: name for name in _REASONS}, {name: name for name in _REASONS}, None)
"""The values of ChatFinishReason. It may have any other text: the normalized reasons without a value are written."""
TABLE.known_values("finishReason", *KNOWN)


FAILED = FinishReason(reason="error")


class Answer(Inlined):
    """The one choice: the messages and the finish reason. The list of messages may be empty."""

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        choices: list[ChatChoice] = super().decode(wire, context)
        if wire.get("messages") != []:
            return choices
        return [context.replaced(choice, EMPTY.on(choice, API, True)) for choice in choices]

    def encode(self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        super().encode(value, wire, context, owner)
        if context.completes or any(EMPTY.of(choice, API) for choice in value[:1]):
            wire.setdefault("messages", [])


CHOICE = TABLE.record(
    "answer",
    ChatChoice,
    {"messages": ("messages", MESSAGES), "finishReason": ("finish_reason", FINISH)},
    Silent("index"),
)
RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {"responseId": "id", "modelId": "model", "createdAt": ("created", DateText()), "usage": ("usage", ROWS.usage)},
    Answer("choices", CHOICE, one_of_list=True),
)
TABLE.keep("response", "conversationId", "continuationToken", "additionalProperties")


def with_error_in_message(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return an answer whose error is the last content of its last message: a ChatResponse has no field for it."""
    error = response.error
    if error is None:
        return response
    context.status = STATUSES.get(error_kind(error) or "server", 500)
    choice = response.choices[0] if response.choices else ChatChoice()
    last = choice.messages[-1] if choice.messages else ChatMessage(role="assistant", origin=response.origin)
    messages = [*choice.messages[:-1], context.with_contents(last, [*last.contents, error])]
    made = context.replace(choice, messages=messages)
    changed: ChatResponse = context.replace(response, choices=[made, *response.choices[1:]], error=None)
    return changed


def without_error_in_message(response: ChatResponse, context: DecodeContext) -> ChatResponse:
    """Return an answer with its error, if that is the last content of its last message: the inverse."""
    choice = response.choices[0] if response.choices else ChatChoice()
    last = choice.messages[-1] if choice.messages else ChatMessage(role="assistant")
    error = last.contents[-1] if last.contents else None
    if not isinstance(error, ErrorContent) or (choice.finish_reason or FAILED).reason != FAILED.reason:
        return response
    messages = [*choice.messages[:-1], context.replace(last, contents=last.contents[:-1])]
    return context.replace(response, choices=[context.replace(choice, messages=messages)], error=error)
