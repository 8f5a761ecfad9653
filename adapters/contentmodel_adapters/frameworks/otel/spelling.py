"""Attributes with several spellings: values as texts, other names, and finish reasons in messages or in a list."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Hint,
    dotted_key,
    list_of,
    objects_of,
    parse,
    write,
)
from contentmodel.errors import DecodeError
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.frameworks.otel.messages import (
    COUNTS,
    FINISH_REASONS,
    INPUT,
    INSTRUCTIONS,
    OUTPUT,
    SETTINGS,
    STOP,
    TOOLS,
)
from contentmodel_adapters.frameworks.otel.values import API, FINISH

ALL_MESSAGES = "pydantic_ai.all_messages"
NAMES = Hint[list[str]](API, "names", "the attributes that had another name with the same meaning")
TEXTS = Hint[dict[str, str]](API, "texts", "the attributes that were texts of other values, each with its text")
LISTED = Hint[Literal[True]](
    API, "listed", "on a response: it had the list of finish reasons; on a choice: only the list had its reason"
)
OTHER_NAMES = {
    "gen_ai.usage.cache_write.input_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.prompt_tokens": "gen_ai.usage.input_tokens",
    "gen_ai.usage.completion_tokens": "gen_ai.usage.output_tokens",
    ALL_MESSAGES: INPUT,
}
"""Names of attributes in newer and older versions of the conventions, and in spans of runs of Pydantic AI."""


class Spelling(msgspec.Struct, frozen=True):
    """The spelling of some attributes of a payload."""

    texts: dict[str, str]
    names: list[str]

    def on(self, value: Any) -> Any:
        """Return a request or a response with hints of the spelling."""
        value = TEXTS.on(value, API, self.texts) if self.texts else value
        return NAMES.on(value, API, self.names) if self.names else value


def with_usual_spelling(
    wire: dict[str, Any], read: Collection[str], context: DecodeContext
) -> tuple[dict[str, Any], Spelling]:
    """Return the attributes with the names of the rows and with the values of texts, and their original spelling.

    `read` are the attributes whose texts are read.
    """
    usual = {name: other for name, other in OTHER_NAMES.items() if name in wire and other not in wire}
    texts_read = {name: value for name, value in wire.items() if usual.get(name, name) in read}
    opened = _values(texts_read)
    texts = {usual.get(name, name): wire[name] for name in opened}
    if opened or usual:
        copy = {usual.get(name, name): opened.get(name, value) for name, value in wire.items()}
        for name in {**opened, **usual}:
            context.copied(copy, wire, (dotted_key(usual.get(name, name)), dotted_key(name)))
        wire = copy
    return wire, Spelling(texts, list(usual))


def expanded(payload: Any) -> Any:
    """Return attributes with the values of texts, under their own names. Their inner paths are those of losses."""
    if payload.__class__ is not dict:
        return payload
    return {**payload, **_values(payload)}


def _values(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the attributes that are texts, under their own names."""
    values = {name: _value_of(OTHER_NAMES.get(name, name), value) for name, value in attributes.items()}
    return {name: value for name, value in values.items() if value is not None}


def _value_of(name: str, text: Any) -> Any:
    """Return the value of an attribute that is a text; None for any other value.

    The text is JSON. A text in place of messages or instructions is also the only message or instruction.
    """
    if text.__class__ is not str or name not in TEXTS_READ:
        return None
    if name in LIST_ATTRIBUTES:
        items = _json_of(text, "[")
        if isinstance(items, list) or name not in _ALONE or text.lstrip()[:1] in ("", "[", "{"):
            return items
        return _ALONE[name](text)
    return _json_of(text, "-0123456789tf")


def _json_of(text: str, first: str) -> Any:
    """Return the JSON value of a text that begins with one of the characters `first`; None for any other text."""
    if text.lstrip()[:1] not in (*first,):
        return None
    try:
        return parse(text)
    except DecodeError:
        return None


def _message(role: str) -> Callable[[str], list[Any]]:
    return lambda text: [{"role": role, "parts": [_text(text)]}]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


LIST_ATTRIBUTES = frozenset({INPUT, INSTRUCTIONS, TOOLS, OUTPUT, FINISH_REASONS, STOP})
TEXTS_READ = LIST_ATTRIBUTES | SETTINGS | COUNTS
_ALONE: dict[str, Callable[[str], list[Any]]] = {
    INPUT: _message("user"),
    OUTPUT: _message("assistant"),
    INSTRUCTIONS: lambda text: [_text(text)],
}


def with_original_spelling(
    payload: dict[str, Any], source: ChatRequest | ChatResponse, context: EncodeContext
) -> dict[str, Any]:
    """Return the payload with its original texts and names: the inverse of `with_usual_spelling`."""
    for name, text in (TEXTS.of(source, API) or {}).items():
        value = payload.get(name)
        if value is not None and value.__class__ is not str:
            payload[name] = text if _value_of(name, text) == value else write(value).decode("utf-8", "surrogatepass")
    for name in NAMES.of(source, API) or ():
        if OTHER_NAMES.get(name) in payload:
            payload[name] = payload.pop(OTHER_NAMES[name])
    return payload


# -- finish reasons ----------------------------------------------------------------------------------------------------


def with_finish_reasons(response: ChatResponse, context: DecodeContext) -> ChatResponse:
    """Return a response whose choices have the finish reasons of the list, if their messages have none.

    A list that contradicts the messages stays in the residue.
    """
    residue = (response.extra or {}).get(API, {})
    listed = list_of(residue, FINISH_REASONS)
    if not listed or len(listed) != len(response.choices) or any(reason.__class__ is not str for reason in listed):
        return response
    choices = [_finished(choice, reason, context) for choice, reason in zip(response.choices, listed, strict=True)]
    if [choice.finish_reason and choice.finish_reason.raw for choice in choices] != listed:
        return response
    for old, new in zip(response.choices, choices, strict=True):
        context.replaced(old, new)
    other_fields = {key: value for key, value in residue.items() if key != FINISH_REASONS}
    finished = msgspec.structs.replace(response, choices=choices, extra={API: other_fields} if other_fields else None)
    return LISTED.on(finished, API, True)


def _finished(choice: ChatChoice, reason: str, context: DecodeContext) -> ChatChoice:
    if choice.finish_reason is not None:
        return choice
    finish = FINISH.decode(reason, context, None, "")
    return LISTED.on(msgspec.structs.replace(choice, finish_reason=finish), API, True)


def with_listed_reasons(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with its list of finish reasons: the inverse of `with_finish_reasons`."""
    messages = objects_of(payload, OUTPUT)
    reasons = [message.get("finish_reason") for message in messages]
    is_listed = context.completes or LISTED.of(response, API)
    if is_listed and reasons and all(isinstance(reason, str) for reason in reasons):
        payload.setdefault(FINISH_REASONS, reasons)
    for message, choice in zip(messages, response.choices, strict=False):
        if LISTED.of(choice, API):
            # The message had no finish reason, or null.
            residue = (choice.extra or {}).get(API, {})
            message.pop("finish_reason", None)
            message.update({key: value for key, value in residue.items() if key == "finish_reason"})
    return payload
