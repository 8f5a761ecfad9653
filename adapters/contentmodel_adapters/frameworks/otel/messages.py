"""The messages, and the attributes of spans around them.

The conventions define messages with `parts`. Many instrumentations record messages in the form of Chat Completions or
Messages instead, with `content` and `tool_calls` (Axiom's AI SDK, LangWatch and PostHog, seen 2026-11-27). Both forms
have rows, and a message is written in the form that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Literal

from contentmodel.authoring import (
    ArgumentsText,
    Blocks,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Filled,
    Group,
    Hint,
    MessageList,
    NonEmptyText,
    Pieces,
    Place,
    ResultMessage,
    Row,
    Silent,
    Spec,
    TextOrBlocks,
    chat,
    dotted_key,
    foreign,
    hints,
)
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.failures import STATUSES
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.chat_rows import calls_of
from contentmodel_adapters.frameworks.otel.blocks import CONTENTS, OUTPUTS, PARTS, TABLE, Definitions
from contentmodel_adapters.frameworks.otel.values import (
    API,
    FINISH,
    OTHER_ROLES,
    ROLE,
    ROLES,
    OutputType,
    RecordedRoles,
)

# -- messages ----------------------------------------------------------------------------------------------------------

_ROLE = RecordedRoles()
_NAMED: dict[str, Spec] = {"role": ("role", _ROLE), "name": "author_name"}
_PARTS: dict[str, Spec] = {**_NAMED, "parts": ("contents", Blocks(PARTS))}
_FINISH: dict[str, Spec] = {"finish_reason": ("finish_reason", FINISH)}
_TEXT_OR_PARTS = TextOrBlocks(CONTENTS, "string")
_IN_CONTENT = dict.fromkeys(one.model for one in CONTENTS.rows if one.model is not FunctionCallContent)
_COLUMNS = Columns(
    "contents",
    {
        "reasoning_content": Column(NonEmptyText(ReasoningContent, "text"), ReasoningContent, hinted=True),
        "content": Column(_TEXT_OR_PARTS, *_IN_CONTENT),
        "tool_calls": Column(Blocks(calls_of(TABLE, ArgumentsText(objects=True))), FunctionCallContent),
    },
)
_RESULTS = chat.result_messages(
    TABLE, {"tool_call_id": "call_id", "name": "name", "content": ("outputs", TextOrBlocks(OUTPUTS, "string"))}
)
TABLE.known_values("message.role", *ROLES, *OTHER_ROLES)


class Form:
    """The rows of messages: `usual`, with parts, and `columns`. If `results`, a message of a tool may be one result."""

    def __init__(self, usual: Row, columns: Row, results: ResultMessage | None = None) -> None:
        self._usual, self._columns, self._results = usual, columns, results

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
        """Return a message. It has the hints `ROW` and `ROLE` if its form or its role is not usual."""
        message = self._decode(wire, context)
        role = wire.get("role")
        return ROLE.on(message, API, role) if role.__class__ is str and role in OTHER_ROLES else message

    def _decode(self, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
        message: ChatMessage
        if wire.get("parts") is None and self._results is not None and _is_result(wire):
            return hints.ROW.on(self._results.decode(wire, context), API, RESULT)
        if wire.get("parts") is not None or (wire.get("content") is None and wire.get("tool_calls") is None):
            message = self._usual.decode(wire, context)
            return message
        message = self._columns.decode(wire, context)
        return hints.ROW.on(message, API, COLUMNS)

    def row_of(self, message: ChatMessage) -> Row | ResultMessage:
        """Return the row that decoded a message, if it can encode the contents."""
        name = hints.ROW.of(message, API)
        if name == RESULT and self._results is not None:
            is_result = all(content.__class__ is FunctionResultContent for content in message.contents)
            return self._results if is_result else self._usual
        return self._columns if name == COLUMNS else self._usual

    def encode(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        """Return the wire objects of a message: one, or one for each result."""
        row = self.row_of(message)
        return (
            row.encode_message(message, context) if isinstance(row, ResultMessage) else [row.encode(message, context)]
        )


COLUMNS, RESULT = "columns", "result"


def _is_result(wire: Mapping[str, Any]) -> bool:
    """Return whether a message is the result of one call. Others have results among their contents."""
    is_of_call = wire.get("tool_call_id") is not None or wire.get("content").__class__ is str
    return wire.get("role") == "tool" and is_of_call


def _form(name: str, more: Mapping[str, Spec], results: ResultMessage | None) -> Form:
    return Form(
        TABLE.record(name, ChatMessage, {**_PARTS, **more}, Filled({"parts": []}), Silent("message_id")),
        TABLE.record(f"{name} with content", ChatMessage, {**_NAMED, **more}, _COLUMNS, Silent("message_id")),
        results,
    )


MESSAGE = _form("message", _FINISH, ResultMessage(_RESULTS))
ANSWER = _form("output message", {}, None)


class Messages(MessageList):
    """The messages of a request. Each wire object is one message."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [MESSAGE.decode(wire, context) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, MESSAGE.row_of)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> Any:
        return [wire for message in value for wire in MESSAGE.encode(message, context)]

    def describe(self) -> str:
        return "list of message"


class _Answer(Group):
    """The message of a choice. Its fields are beside those of the choice."""

    attribute = "messages"
    keys = ("role", "name", "parts", *_COLUMNS.columns)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatMessage]:
        answer = context.only(wire, self.keys)
        messages = [ANSWER.decode(answer, context)]
        context.trace(ANSWER.row_of(messages[0]), messages, answer, None, spread=False)
        return messages

    def encode(self, value: list[ChatMessage], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        messages = value or [ChatMessage(role="assistant")]
        only = foreign.joined_messages(messages, context) if len(messages) > 1 else messages[0]
        (answer,) = ANSWER.encode(only, context)
        finish = wire.pop("finish_reason", None)
        wire.update(answer if finish is None else {**answer, "finish_reason": finish})


CHOICES = TABLE.union(
    "output message",
    [Row("choice", ChatChoice, _FINISH, _Answer(), Silent("index"))],
    tag=None,
)

# -- instructions ------------------------------------------------------------------------------------------------------

AROUND_PARTS = Hint[dict[str, Any]](
    API, "message", "on the first part of a message in the instructions: the other fields of the message", fields=True
)
CONTENT = Hint[Literal["string", "list"]](
    API,
    "content",
    "on the first part of a message in the instructions: the form of its `content`, if it has one",
)


class Instructions(Blocks[AIContent]):
    """The parts of the instructions. Some instrumentations record messages in their place.

    The first part of such a message has the hint `AROUND`, and `CONTENT` if the message has no `parts`.
    """

    def __init__(self) -> None:
        super().__init__(PARTS)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if not _are_messages(value):
            return super().decode(value, context, container, key)
        contents: list[AIContent] = []
        for message in value:
            field, codec = _field_of(message)
            first, *others = codec.decode(message[field], context, message, field)
            first = AROUND_PARTS.on(first, API, {name: item for name, item in message.items() if name != field})
            if field == "content":
                first = CONTENT.on(first, API, "string" if message[field].__class__ is str else "list")
            contents += [first, *others]
        return contents

    def count(self, wire: Any) -> int:
        return sum(map(_count_of, wire)) if _are_messages(wire) else super().count(wire)

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        if not _are_messages(wire):
            yield from super().places(value, wire, path)
            return
        contents = iter(value)
        for index, message in enumerate(wire):
            message_contents, (field, codec) = list(islice(contents, _count_of(message))), _field_of(message)
            yield from codec.places(message_contents, message[field], f"{path}[{index}].{field}")

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        if not value or AROUND_PARTS.of(value[0], API) is None:
            return super().encode(value, context, owner)
        messages: list[dict[str, Any]] = []
        forms: list[str | None] = []
        for content in value:
            around = AROUND_PARTS.of(content, API)
            if around is not None:
                forms.append(CONTENT.of(content, API))
                messages.append({**around, _name_of(forms[-1]): []})
            union = PARTS if forms[-1] is None else CONTENTS
            messages[-1][_name_of(forms[-1])] += union.encode_list([content], context)
        return [_in_form(message, form) for message, form in zip(messages, forms, strict=True)]


def _name_of(form: str | None) -> str:
    return "parts" if form is None else "content"


def _in_form(message: dict[str, Any], form: str | None) -> dict[str, Any]:
    """Return a message whose only text is a string, if it was one."""
    parts = message.get("content")
    if form == "string" and parts.__class__ is list and len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return {**message, "content": parts[0]["text"]}
    return message


def _field_of(message: Mapping[str, Any]) -> tuple[str, Blocks[AIContent]]:
    """Return the field of a message in the instructions that has its contents, with its codec."""
    return ("content", _TEXT_OR_PARTS) if message.get("parts") is None else ("parts", _BLOCKS)


def _count_of(message: Mapping[str, Any]) -> int:
    field, codec = _field_of(message)
    return codec.count(message[field])


_BLOCKS = Blocks[AIContent](PARTS)


def _are_messages(value: Any) -> bool:
    """Return whether a list has messages instead of parts."""
    return value.__class__ is list and all(one.__class__ is dict and _has_parts(one) for one in value)


def _has_parts(message: Mapping[str, Any]) -> bool:
    if message.get("type") is not None:
        return False
    field, _ = _field_of(message)
    parts = message.get(field)
    if parts.__class__ is str:
        return field == "content"
    return parts.__class__ is list and bool(parts) and all(part.__class__ is dict for part in parts)


# -- attributes --------------------------------------------------------------------------------------------------------

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS, TOOLS = "gen_ai.system_instructions", "gen_ai.tool.definitions"
FINISH_REASONS, STOP = "gen_ai.response.finish_reasons", "gen_ai.request.stop_sequences"


def _attributes(fields: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return `fields` with escaped keys: the dots in the name of an attribute do not separate steps of a path."""
    return {dotted_key(name): spec for name, spec in fields.items()}


ERRORS = ErrorTypes(("error.type",), {kind: {"error.type": kind} for kind in STATUSES}, {})

_ATTRIBUTES_OF_ERROR = Pieces({"code": dotted_key("error.type"), "message": dotted_key("error.message")})


class _Error(Group):
    """The error of a span, in two attributes."""

    attribute = "error"
    keys = ("error.type", "error.message")
    row = TABLE.record(
        "error", ErrorContent, _attributes({"error.type": "code", "error.message": "message"}), Silent("kind")
    )
    body = ErrorBody(row, ERRORS)

    def consumed(self, wire: Mapping[str, Any]) -> list[str]:
        return [key for key in self.keys if wire.get(key) is not None]

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ErrorContent | None:
        error_fields = {key: wire[key] for key in self.consumed(wire)}
        if not error_fields:
            return None
        context.copied(error_fields, wire)
        error = self.body.decode(error_fields, context, wire, "error.type")
        context.trace(_ATTRIBUTES_OF_ERROR, [error], error_fields, None, spread=False)
        return error

    def encode(self, value: ErrorContent | None, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value is not None:
            wire.update(self.body.encode(value, context, owner))


_SETTINGS: dict[str, Spec] = {
    "gen_ai.request.max_tokens": "options.max_output_tokens",
    "gen_ai.request.temperature": "options.temperature",
    "gen_ai.request.top_p": "options.top_p",
    "gen_ai.request.top_k": "options.top_k",
    "gen_ai.request.frequency_penalty": "options.frequency_penalty",
    "gen_ai.request.presence_penalty": "options.presence_penalty",
    "gen_ai.request.seed": "options.seed",
    "gen_ai.request.choice.count": "options.choices",
    "gen_ai.request.stream": "options.stream",
}
_COUNTS: dict[str, Spec] = {
    "gen_ai.usage.input_tokens": "usage.input_tokens",
    "gen_ai.usage.output_tokens": "usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "usage.cache_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "usage.cache_write_tokens",
    "gen_ai.usage.reasoning.output_tokens": "usage.reasoning_tokens",
    "gen_ai.usage.audio.input_tokens": "usage.input_audio_tokens",
    "gen_ai.usage.audio.output_tokens": "usage.output_audio_tokens",
}
SETTINGS, COUNTS = frozenset(_SETTINGS), frozenset(_COUNTS)
"""The attributes that are numbers or flags. Backends that store all attributes as texts have their texts."""
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    _attributes(
        {
            "gen_ai.request.model": "model",
            INSTRUCTIONS: ("instructions", Instructions()),
            INPUT: ("messages", Messages()),
            TOOLS: ("tools", Definitions()),
            **_SETTINGS,
            STOP: "options.stop_sequences",
            "gen_ai.request.reasoning.level": "options.reasoning.effort",
            "gen_ai.output.type": ("options.response_format", OutputType()),
        }
    ),
)
RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    _attributes(
        {
            "gen_ai.response.id": "id",
            "gen_ai.response.model": "model",
            OUTPUT: ("choices", Blocks(CHOICES)),
            **_COUNTS,
        }
    ),
    _Error(),
    Silent("usage.cached_inside", "usage.reasoning_inside"),
)
