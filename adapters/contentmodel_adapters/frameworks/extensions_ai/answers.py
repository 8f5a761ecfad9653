"""Answers of Microsoft.Extensions.AI and of Microsoft Agent Framework. Their messages are the one choice.

Sources: ChatCompletion/ChatResponse.cs, ChatFinishReason.cs and UsageDetails.cs in dotnet/extensions (seen 2026-11-23),
ChatResponse and AgentResponse in agent_framework/_types.py of agent-framework-core 1.23.0 (seen 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Field,
    FinishReasons,
    Hint,
    Inlined,
    Row,
    Silent,
    Spec,
    foreign,
    response_step,
    transcript_step,
)
from contentmodel.authoring import media as media_steps
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.failures import STATUSES, error_kind
from contentmodel.message import ChatMessage
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common import documents
from contentmodel_adapters.common.documents import DateText
from contentmodel_adapters.frameworks.extensions_ai import contents as extensions_ai

KNOWN = ("stop", "length", "tool_calls", "content_filter")
_REASONS = (*KNOWN, "refusal", "error", "pause", "compaction", "cancelled", "running")


class Finish(FinishReasons):
    """The finish reasons. They may be any text: normalized reasons without a value, and unknown ones, are written."""

    def same_value(self, raw: str | int, reason: str) -> str | int | None:
        is_unknown = reason == "other" and raw.__class__ is str and raw not in self.reasons
        return raw if is_unknown else super().same_value(raw, reason)


FINISH = Finish({name: name for name in _REASONS}, {name: name for name in _REASONS}, None)
BROKEN_OFF = frozenset({"error", "cancelled", "content_filter", "length", "other"})
"""The finish reasons that an answer with an error may have. A refusal is an error of a usual answer."""


class Answer(Inlined):
    """The one choice: the messages and the finish reason. The list of messages may be empty."""

    def __init__(self, choice: Row, api: str) -> None:
        super().__init__("choices", choice, one_of_list=True)
        self._empty = Hint[Literal[True]](api, "empty", "on a choice: its list of messages was empty")

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        choices: list[ChatChoice] = super().decode(wire, context)
        if wire.get("messages") != []:
            return choices
        return [context.replaced(choice, self._empty.on(choice, context.api, True)) for choice in choices]

    def encode(self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        super().encode(value, wire, context, owner)
        if context.completes or any(self._empty.of(choice, context.api) for choice in value[:1]):
            wire.setdefault("messages", [])


def answer_row(
    rows: extensions_ai.Rows, messages: extensions_ai.Messages, names: Mapping[str, str], *others: Field
) -> Row:
    """Return the row of answers. `names` has the names of their fields: of id, model, created, usage and finish."""
    table = rows.table
    table.known_values(names["finish"], *KNOWN)
    choice = table.record(
        "answer",
        ChatChoice,
        {"messages": ("messages", messages), names["finish"]: ("finish_reason", FINISH)},
        Silent("index"),
    )
    fields: dict[str, Spec] = {
        names["id"]: "id",
        names["model"]: "model",
        names["created"]: ("created", DateText()),
        names["usage"]: ("usage", rows.usage),
    }
    return table.record("response", ChatResponse, fields, Answer(choice, table.api), *others)


def with_error_in_message(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return an answer whose error is the last content of its last message: the formats have no field for it."""
    error = response.error
    if error is None:
        return response
    context.status = STATUSES.get(error_kind(error) or "server", 500)
    choice = response.choices[0] if response.choices else ChatChoice()
    last = choice.messages[-1] if choice.messages else ChatMessage(role="assistant", origin=response.origin)
    messages = [*choice.messages[:-1], context.with_contents(last, [*last.contents, error])]
    failed_choice = context.replace(choice, messages=messages)
    changed: ChatResponse = context.replace(response, choices=[failed_choice, *response.choices[1:]], error=None)
    return changed


def without_error_in_message(response: ChatResponse, context: DecodeContext) -> ChatResponse:
    """Return an answer with its error, if that is the last content of its last message: the inverse.

    A refusal stays in the message.
    """
    choice = response.choices[0] if response.choices else ChatChoice()
    last = choice.messages[-1] if choice.messages else ChatMessage(role="assistant")
    error = last.contents[-1] if last.contents else None
    is_usual = choice.finish_reason is not None and choice.finish_reason.reason not in BROKEN_OFF
    if not isinstance(error, ErrorContent) or is_usual or str(error.code).lower() == "refusal":
        return response
    context.moved_parts(last, [error])
    messages = [*choice.messages[:-1], context.replace(last, contents=last.contents[:-1])]
    return context.replace(response, choices=[context.replace(choice, messages=messages)], error=error)


MESSAGE_STEPS = (
    transcript_step(foreign.normalize_answer, cites=True),
    transcript_step(foreign.without_names_of_results, needs=(FunctionResultContent,)),
    *media_steps.with_readable_media(extensions_ai.READS),
)
"""The steps of the messages of answers. Each format also converts the spans of citations to its own unit."""


class WithAnswers(documents.Lists):
    """A base class of adapters of lists of messages that also have answers."""

    finish = FINISH
    has_failed_answers = True
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_steps = (response_step(with_error_in_message, native=True),)
    of_answers: frozenset[str] = frozenset()
    """The fields that an answer has and a conversation has not."""
    types_of_answers: tuple[str, ...] = ()
    """The values of the field `type` of answers."""

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        value = super()._decode_row(row, wire, context)
        return without_error_in_message(value, context) if isinstance(value, ChatResponse) else value

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds that an object may be. One with fields of an answer is an answer."""
        kinds = super().recognises(payload)
        is_answer = not self.of_answers.isdisjoint(payload) or payload.get("type") in self.types_of_answers
        return {"response": kinds["request"]} if kinds and is_answer else kinds
