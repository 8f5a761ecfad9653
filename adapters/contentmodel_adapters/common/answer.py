"""Answers: spelled roles, the single choice, finish reasons, errors, usage, and log probabilities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypedDict

import msgspec
from msgspec.structs import replace

from contentmodel.authoring import (
    AnswerMessage,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    FinishReasons,
    Group,
    Hint,
    Inlined,
    ProviderOnly,
    Record,
    Row,
    child_path,
    counted_usage,
    finished_by_calls,
    reasons,
)
from contentmodel.message import ChatMessage
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage


class SpelledRole(TypedDict, total=False):
    """The `role` field of a wire message; empty if the message has no role."""

    role: Any


def role_of(wire: dict[str, Any]) -> SpelledRole:
    """Return the role that a wire message has."""
    return {"role": wire["role"]} if "role" in wire else {}


def restore_role(wire: dict[str, Any], spelled: SpelledRole) -> None:
    """Give a wire message the role that it had: the inverse of `role_of`."""
    wire.pop("role", None)
    if "role" in spelled:
        wire["role"] = spelled["role"]


def misfits(wire: Mapping[str, Any], **kinds: type) -> dict[str, Any]:
    """Return the fields of a wire object whose values have another class than in `kinds`, for the residue.

    A hint restores such a field. In the residue it is reported if the target is another API.
    """
    return {
        name: wire[name]
        for name, kind in kinds.items()
        if wire.get(name) is not None and wire[name].__class__ is not kind
    }


class OnlyChoice(Group):
    """Decode and encode the one choice of an envelope that has no list of choices."""

    attribute = "choices"
    lost: tuple[str, ...] = ("logprobs",)
    """The attributes of the choice that the envelope has no field for."""

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        for choice in value[1:]:
            context.report_loss(choice, None, reasons.ONE_CHOICE)
        for choice in value[:1]:
            context.report_lost_attributes(choice, self.lost)
            context.leave_residue(choice)
            self.write_choice(choice, (choice.extra or {}).get(context.api, {}), wire, context)

    def write_choice(
        self, choice: ChatChoice, residue: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        """Write the choice into `wire`. `residue` is that of this API."""
        raise TypeError(f"{type(self).__name__} does not encode")


class SpelledAnswer(AnswerMessage):
    """The message of an answer. If its role is not the usual one, a hint keeps it."""

    def __init__(self, assistant: Row, role: Hint[SpelledRole]) -> None:
        super().__init__(assistant)
        self._role = role

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.get("role") == "assistant":
            return super().decode(value, context, container, key)
        copy = {**value, "role": "assistant"}
        context.copied(copy, value)
        (message,) = super().decode(copy, context, container, key)
        residue = {
            **(message.extra or {}).get(context.api, {}),
            **self._role.entry(role_of(value)),
            **misfits(value, role=str),
        }
        spelled = replace(message, extra={context.api: residue})
        context.replaced(message, spelled)
        return [spelled]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> dict[str, Any]:
        wire = super().encode(value, context, owner)
        spelled = self._role.of(value[0], context.api) if context.native else None
        if spelled is not None:
            restore_role(wire, spelled)
        return wire


class OnlyAnswer(Inlined):
    """The one choice of an envelope that has its fields. Some models end an answer with calls like any other one."""

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        return [_finished(choice, context) for choice in super().decode(wire, context)]


def _finished(choice: ChatChoice, context: DecodeContext) -> ChatChoice:
    finished = finished_by_calls(choice)
    if finished is not choice:
        context.replaced(choice, finished)
    return finished


# -- finish reasons ----------------------------------------------------------------------------------------------------


class PairedFinishReasons(FinishReasons):
    """Finish reasons of an API, of which some have the same meaning as values of other APIs (`paired`).

    A normalized reason may be coarser than both.
    """

    def __init__(self, *args: Any, paired: Mapping[Any, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._paired = paired

    def same_value(self, raw: str | int, reason: str) -> str | int | None:
        paired = self._paired.get(raw)
        return paired if paired is not None and self.reasons[paired] == reason else super().same_value(raw, reason)


MALFORMED = {"MALFORMED_FUNCTION_CALL": "malformed_tool_use", "MALFORMED_RESPONSE": "malformed_model_output"}
"""The values of Gemini and of Converse for a call, or an answer, that cannot be read.

Sources: google-genai 3.4 (FinishReason) and botocore 1.43.117 (StopReason), seen 2026-11-27.
"""

OF_GEMINI: dict[str | int, str] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
}
OF_PROVIDERS: dict[str | int, str] = {
    **OF_GEMINI,
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "COMPLETE"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "content_filtered"), "content_filter"),
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "compaction",
    "error": "error",
}
MORE_THAN_THEIR_REASON = frozenset({"stop_sequence", "model_length", "RECITATION", "function_call"})
"""The values of `OF_PROVIDERS` that say more than their normalized reason."""


# -- errors ------------------------------------------------------------------------------------------------------------


def decode_with_error(
    wire: dict[str, Any],
    context: DecodeContext,
    decode: Callable[[dict[str, Any]], Any],
    body: ErrorBody,
    fields: Collection[str],
) -> Any:
    """Return a decoded answer and its error, whose `fields` are at the top."""
    error_fields, other_fields = context.only(wire, fields), context.without(wire, fields)
    error = body.decode(error_fields, context, wire, next(iter(error_fields)))
    context.trace(body.row, [error], wire, None, spread=False)
    return msgspec.structs.replace(decode(other_fields), error=error)


# -- usage -------------------------------------------------------------------------------------------------------------


class ReasoningInside(Group):
    """Decides if the output tokens of OpenAI's formats include those of reasoning.

    They do, unless the total shows otherwise: xAI counts reasoning beside `completion_tokens` (26 of them, 255 of
    reasoning, 307 of input and 588 in total; answer of grok-3-mini, seen 2026-11-22). So does Perplexity, which has its
    counter beside the others and not in the total: there, more reasoning than output is not inside.
    """

    attribute = "reasoning_inside"

    def __init__(self, input_tokens: str, output_tokens: str) -> None:
        self._fields = input_tokens, output_tokens
        self._details = f"{output_tokens}_details"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> bool:
        details = wire.get(self._details)
        beside = wire.get("reasoning_tokens")
        reasoning = details.get("reasoning_tokens", beside) if details.__class__ is dict else beside
        counts: list[Any] = [*(wire.get(field) for field in self._fields), reasoning]
        if not reasoning or not all(count.__class__ is int for count in counts):
            return True
        is_more = reasoning is beside and reasoning > counts[1]
        return bool(not is_more and wire.get("total_tokens") != sum(counts))

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        """Write nothing: the counters show it."""


class UsageRecord(Record[Usage]):
    """The usage of a stored response, which counts cached tokens as input and reasoning as output."""

    def encode(self, value: Usage, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        if not value.cached_inside or not value.reasoning_inside or value.tool_input_tokens:
            value = counted_usage(value, context, cached_inside=True, reasoning_inside=True)
        return super().encode(value, context, owner)


# -- log probabilities -------------------------------------------------------------------------------------------------


TOKEN_FIELDS = ("token", "logprob", "bytes", "top_logprobs")


class TokenLogprobs(ProviderOnly):
    """The log probabilities of an answer. Those of an API with the same tokens are sent, any others are lost.

    Chat Completions and Mistral have the list of tokens in the field `content` of an object, Ollama has only the list
    (chat_completion_token_logprob.py of openai 3.54, chatcompletionresponsechoicelogprobs.py of mistralai 3.7.0, and
    `Logprob` in _types.py of ollama 0.6.3; seen 2026-11-27).
    """

    def __init__(self, *classes: type) -> None:
        """Create the codec. If the only class is `list`, the API has the list of tokens without an object."""
        super().__init__("logprobs", *classes)
        self._is_list = classes == (list,)

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        is_object = value.__class__ is dict
        tokens = value.get("content") if is_object else value
        if context.native or context.has_no_origin or not _are_tokens(tokens):
            return super().encode(value, context, owner)
        for key in (key for key in value if key != "content" and value[key] is not None) if is_object else ():
            context.report_loss(owner, child_path("logprobs$", key), reasons.NO_FIELD)
        at = "logprobs$.content" if is_object else "logprobs$"
        wires = [_encode_token(token, f"{at}[{index}]", context, owner) for index, token in enumerate(tokens)]
        return wires if self._is_list else {"content": wires, "refusal": None}


def _encode_token(token: dict[str, Any], at: str, context: EncodeContext, owner: object) -> dict[str, Any]:
    for key in token:
        if key not in TOKEN_FIELDS:
            context.report_loss(owner, child_path(at, key), reasons.NO_FIELD)
    wire = {"token": token["token"], "bytes": token.get("bytes"), "logprob": token["logprob"]}
    # The alternatives have no alternatives.
    if ".top_logprobs[" in at:
        return wire
    others = enumerate(token.get("top_logprobs") or ())
    return {**wire, "top_logprobs": [_encode_token(o, f"{at}.top_logprobs[{i}]", context, owner) for i, o in others]}


def _are_tokens(value: Any, *, depth: int = 2) -> bool:
    return value.__class__ is list and all(_is_token(item, depth) for item in value)


def _is_token(value: Any, depth: int) -> bool:
    if value.__class__ is not dict or value.get("token").__class__ is not str:
        return False
    if value.get("logprob").__class__ not in (int, float):
        return False
    code = value.get("bytes")
    others = value.get("top_logprobs")
    is_text = code is None or (code.__class__ is list and all(item.__class__ is int for item in code))
    return is_text and (others is None or (depth > 1 and _are_tokens(others, depth=depth - 1)))
