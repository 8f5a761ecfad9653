"""The envelope of answers and errors of the Chat API v2 (cohere 7.3.1, types; November 2026)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Fields,
    FinishReasons,
    Hint,
    Record,
    reasons,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.cohere_chat.blocks import API, ERROR, TABLE, USAGE
from contentmodel_adapters.cohere_chat.messages import decode_assistant, encode_answer, row_of
from contentmodel_adapters.shared.answer import OnlyChoice, misfits
from contentmodel_adapters.shared.role import SpelledRole, restore_role, role_of

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
FLOATS = Hint[list[str]](API, "floats", "the counters that are floats in the payload, such as 12.0")
ENDING = Fields({"messages": "message", "finish_reason": "finish_reason", "logprobs": "logprobs"})
# The body of an error has a message and no type: the status of the response shows what it is.
ERRORS = ErrorTypes((), {"server": {}}, {})


class Answer(OnlyChoice):
    """The message, the finish reason and the log probabilities: the only choice of an answer."""

    keys = ("message", "finish_reason", "logprobs")
    parts = {"finish_reason": "choices.finish_reason", "logprobs": "choices.logprobs"}
    lost = ()

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        kinds = {"message": dict, "finish_reason": str, "logprobs": list}
        return [key for key in self.keys if wire.get(key).__class__ is kinds[key]]

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        keys = self.taken(wire)
        if not keys:
            return []
        finish = (
            FINISH.decode(wire["finish_reason"], context, wire, "finish_reason") if "finish_reason" in keys else None
        )
        messages = [self._decode_message(wire["message"], context)] if "message" in keys else []
        choice = ChatChoice(
            messages=messages, finish_reason=finish, logprobs=wire["logprobs"] if "logprobs" in keys else None
        )
        context.trace(row_of, messages, wire, "message", spread=False)
        context.trace(ENDING, [choice], wire, None, spread=False)
        return [choice]

    def _decode_message(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        if wire.get("role") == "assistant":
            return decode_assistant(wire, context)
        copy = {**wire, "role": "assistant"}
        context.copied(copy, wire)
        message = decode_assistant(copy, context)
        own = {**(message.extra or {}).get(API, {}), **ROLE.entry(role_of(wire)), **misfits(wire, role=str)}
        return msgspec.structs.replace(message, extra={API: own})

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        if any(choice.messages for choice in value) and owner.error is not None:
            context.report_loss(owner, "error", reasons.NO_FIELD)
        super().encode(value, wire, context, owner)

    def write_choice(
        self, choice: ChatChoice, own: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        if choice.messages:
            message = encode_answer(choice.messages, context)
            spelled = ROLE.of(choice.messages[0], API) if context.native else None
            if spelled is not None:
                restore_role(message, spelled)
            wire["message"] = message
        if choice.finish_reason is not None:
            wire["finish_reason"] = FINISH.encode(choice.finish_reason, context, choice)
        if choice.logprobs is not None and (context.native or context.has_no_origin):
            wire["logprobs"] = choice.logprobs
        elif choice.logprobs is not None:
            context.report_loss(choice, "logprobs", reasons.PROVIDER_FORM)


class ErrorText(Codec[ErrorContent]):
    """The message of an error, which is a string. The message of an answer is an object."""

    classes = (str,)
    identity = False
    body = ErrorBody(ERROR, ERRORS)

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> ErrorContent:
        copy = {"message": value}
        context.copied(copy, container)
        error = self.body.decode(copy, context, container, key)
        context.trace(ERROR, [error], copy, None, spread=False)
        return error

    def encode(self, value: ErrorContent, context: EncodeContext, owner: object) -> Any:
        return (self.body.encode(value, context, owner) or {}).get("message", "")

    def describe(self) -> str:
        return "str"


class Counts(Record[Usage]):
    """The token counts. They are floats in the SDK's types, and integers in traffic."""

    def decode(self, value: dict[str, Any], context: DecodeContext, container: Any, key: str) -> Usage:
        floats = [path for path, held, name in _counters(value) if held[name].__class__ is float]
        if not floats:
            return super().decode(value, context, container, key)
        copy = {name: dict(held) if isinstance(held, dict) else held for name, held in value.items()}
        for _, held, name in _counters(copy):
            held[name] = int(held[name])
        context.copied(copy, value)
        usage = FLOATS.on(super().decode(copy, context, container, key), API, floats)
        context.trace(USAGE, [usage], copy, None, spread=False)
        return usage

    def encode(self, value: Usage, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        wire = super().encode(value, context, owner)
        floats = (FLOATS.of(value, API) if context.native else None) or ()
        for path, held, name in _counters(wire or {}):
            if path in floats:
                held[name] = float(held[name])
        return wire


def _counters(usage: dict[str, Any]) -> list[tuple[str, dict[str, Any], str]]:
    """Return each counter of the table that is a whole number: its path, the object that has it, and its name."""
    tokens = usage.get("tokens")
    places = [("cached_tokens", usage, "cached_tokens")]
    if isinstance(tokens, dict):
        places += [(f"tokens.{name}", tokens, name) for name in ("input_tokens", "output_tokens")]
    return [place for place in places if _is_whole(place[1].get(place[2]))]


def _is_whole(value: Any) -> bool:
    return value.__class__ is int or (value.__class__ is float and value.is_integer())


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {"id": "id", "usage": ("usage", Counts(USAGE)), "message": ("error", ErrorText())},
    Answer(),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires, or the body of an error."""
    if response.error is not None and not response.choices:
        return payload
    has_calls = any(message.tool_calls for message in response.messages)
    finish = "TOOL_CALL" if has_calls else "COMPLETE"
    return {"id": "", "finish_reason": finish, "message": {"role": "assistant"}, **payload}
