"""The common part of formats like Chat Completions: tables of tools, calls, results and messages, and rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from contentmodel import reasons
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.pipeline import foreign
from contentmodel.engine.pipeline.sentinels import (
    with_detached_media,
    with_error_mark,
    with_error_read,
    with_media_back,
)
from contentmodel.engine.pipeline.tools import FREE_TEXT_ROW
from contentmodel.engine.table.answers import FinishReasons, finished_by_calls
from contentmodel.engine.table.codecs import ArgumentsText, Codec, DataUri, EnumString, Place, Required
from contentmodel.engine.table.fields import Columns, Field, Filled, Implied, Silent
from contentmodel.engine.table.nested import Blocks, MessageList, Record, TextField
from contentmodel.engine.table.rows import Fields, Row, Spec
from contentmodel.engine.table.spellings import Roles
from contentmodel.engine.table.tables import Table, row
from contentmodel.engine.table.tree import Column
from contentmodel.engine.table.unions import Union
from contentmodel.json import wire_at
from contentmodel.message import ChatMessage
from contentmodel.request import CustomTool, FunctionTool, HostedTool, ResponseFormat
from contentmodel.response import ChatChoice
from contentmodel.rules import Broken, Rules, objects, objects_along
from contentmodel.usage import Usage

# -- tables ------------------------------------------------------------------------------------------------------------


FUNCTION: dict[str, Spec] = {
    "function.name": "name",
    "function.description": "description",
    "function.parameters": "parameters",
    "function.strict": "strict",
}
DATA: Spec = (("media_type", "data"), DataUri())
"""Inline data with its media type, as a data URI."""
NO_PARAMETERS = {"type": "object", "properties": {}}


def function_tools(
    table: Table,
    function: Mapping[str, Spec] = FUNCTION,
    others: Iterable[Row] = (),
    default: str | None = None,
    find: Callable[[dict[str, Any]], str | None] | None = None,
    kinds: Collection[str] = (),
) -> Union:
    """Return the union of tools: functions, and tools that the provider runs.

    `others` are further rows; `find` returns the row of a tool if its type does not. `default` is the name of the row
    of a tool without a type. From other APIs, functions are sent, and hosted tools of these `kinds`, each by the first
    row of its kind: those that need no settings.
    """

    def usual_row(tool: Any, rows: list[Row]) -> Row | None:
        if tool.__class__ is not HostedTool:
            return rows[0]
        return next((one for one in rows if one.implied.get("kind") == tool.kind and tool.kind in kinds), None)

    return table.union(
        "tool",
        [row("function", FunctionTool, function, Filled({"function.parameters": NO_PARAMETERS})), *others],
        default=default,
        other=Row("other", HostedTool, {"type": "kind"}),
        find=find,
        foreign_types=[FunctionTool, CustomTool, *([HostedTool] if kinds else ())],
        prefer=usual_row if kinds else None,
    )


def free_text_function() -> Row:
    """Return the row of a tool that takes free text in the form of Chat Completions."""
    return free_text_row(FREE_TEXT_ROW, "function.parameters", at="function.", tag="function")


def row_of_function(wire: dict[str, Any]) -> Any:
    """Return the name of the row of a tool in the form of Chat Completions: its type, or the row of free text."""
    tag, function = wire.get("type"), wire.get("function")
    is_function = tag == "function" and function.__class__ is dict
    return FREE_TEXT_ROW if is_function and is_free_text(function.get("parameters")) else tag  # type: ignore[union-attr]


def format_row(
    kind: str, name: str, fields: Mapping[str, Spec], *others: Field, tag: str | None = None, **options: Any
) -> Row:
    """Return the row of a response format. `tag` is its `type`, if that differs from the name of the row."""
    fixed = (Implied({"kind": kind}), Silent("media_type"), *others)
    return Row(name, ResponseFormat, fields, *fixed, constants={"type": tag or name}, **options)


def schema_row(tag: str, field: str, form: str) -> Row:
    """Return the row of a JSON Schema without a name, in a field beside the type `tag`."""
    return format_row("json_schema", f"{tag}.{form}", {field: ("schema", Required(dict))}, tag=tag)


def named_schema_row(**options: Any) -> Row:
    """Return the row of a JSON Schema with a name."""
    fields = {f"json_schema.{key}": key for key in ("schema", "name", "description", "strict")}
    return format_row("json_schema", "json_schema", fields, Filled({"json_schema.name": "response"}), **options)


def response_formats(table: Table, name: str, *schemas: Row) -> Union:
    """Return the union of response formats: a JSON Schema, JSON, and text. The first of `schemas` is the usual row."""
    return table.union(
        name,
        [*schemas, format_row("json", "json_object", {}), format_row("text", "text", {})],
        other=Row("other", ResponseFormat, {"type": "kind"}),
        prefer=lambda value, rows: next((row for row in rows if row.implied.get("kind") == value.kind), None),
    )


def image_rows() -> list[Row]:
    """Return the rows of parts of the type `image_url`: inline data, and links."""
    detail: dict[str, Spec] = {"image_url.detail": ("detail", EnumString("detail", "auto", "low", "high"))}
    data: dict[str, Spec] = {"image_url.url": DATA, **detail}
    link: dict[str, Spec] = {"image_url.url": "uri", **detail}
    constants = {"type": "image_url"}
    return [
        Row("image_url.data", DataContent, data, constants=constants),
        Row("image_url", UriContent, link, Implied({"kind": "image"}), constants=constants),
    ]


def function_calls(table: Table, arguments: Codec[Any], name: Spec = "name") -> Union:
    """Return the union of calls. All of them are function calls, so the type may be missing."""
    fields: dict[str, Spec] = {
        "id": "call_id",
        "function.name": name,
        "function.arguments": ("arguments", arguments),
    }
    empty = Filled({"function.arguments": "{}"})
    return table.union("tool call", [row("function", FunctionCallContent, fields, empty)], default="function")


def result_messages(
    table: Table, fields: Mapping[str, Spec], *others: Field, roles: Iterable[str] = ("tool",), **options: Any
) -> Union:
    """Return the union of messages that are the result of one call, with one row for each role."""
    empty = Filled({"content": ""})
    rows = [Row(role, FunctionResultContent, fields, *others, empty, constants={"role": role}) for role in roles]
    return table.union("result message", rows, tag="role", **options)


def assistant_messages(
    table: Table,
    columns: Mapping[str, Column],
    *others: Field,
    fields: Mapping[str, Spec] = MappingProxyType({}),
    kind: type[Row] = Row,
) -> Row:
    """Return the record of messages of the assistant, whose contents are in columns. `kind` is the class of the row."""
    role = {"role": "assistant"}
    fixed = (Columns("contents", columns), Implied(role), Silent("message_id"))
    return table.record("assistant message", ChatMessage, fields, *fixed, *others, constants=role, kind=kind)


def plain_messages(table: Table, roles: Roles, fields: Mapping[str, Spec], *others: Field) -> Row:
    """Return the record of messages that have neither calls nor results."""
    mapped: dict[str, Spec] = {"role": ("role", roles), **fields}
    return table.record("message", ChatMessage, mapped, Silent("message_id"), Filled({"content": ""}), *others)


def functions_of(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the functions of the tools, and those of the calls, each with its path."""
    yield from objects_along(request, "tools", "function")
    yield from objects_along(request, "messages", "tool_calls", "function")


def declare_model(
    rules: Rules, source: str, *, fix: str = "name the model", missing: Collection[str | None] = (None,)
) -> None:
    """Declare that a request names its model. The values in `missing` count as a missing model."""

    @rules.rule("refused", fix=fix, source=source)
    def model_required(request: dict[str, Any]) -> Iterator[Broken]:
        """A request must name its model."""
        if request.get("model") in missing:
            yield "$", "no model"


def declare_results(rules: Rules, source: str) -> None:
    """Declare that a result follows its call."""

    @rules.rule("harmful", fix="put the call before its result", source=source)
    def results_follow_their_calls(document: dict[str, Any]) -> Iterator[Broken]:
        """A result with an id must follow the call with that id."""
        called: set[Any] = set()
        for path, message in objects(document, "messages"):
            called.update(str(call.get("id")) for _, call in objects(message, "tool_calls"))
            call_id = message.get("tool_call_id")
            if message.get("role") == "tool" and isinstance(call_id, str) and call_id not in called:
                yield f"{path}.tool_call_id", f"no call {call_id!r:.60} before it"


# -- free text as a function with one parameter ------------------------------------------------------------------------


FREE_TEXT = {
    "type": "object",
    "properties.input.type": "string",
    "required": ["input"],
    "additionalProperties": False,
    "description": "The input is free text.",
}
"""The schema of a tool that takes free text, by dotted path."""

_GRAMMAR = re.compile(r"The input matches this (lark|regex) grammar:\n(.*)", re.DOTALL)


class Grammar(Codec[dict[str, Any]]):
    """The format of a free-text tool as a sentence in the description of its parameter `input`."""

    classes = (str,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is str and _GRAMMAR.fullmatch(value) is not None

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        syntax, definition = _GRAMMAR.fullmatch(value).groups()  # type: ignore[union-attr]
        return {"type": "grammar", "syntax": syntax, "definition": definition}

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> str | None:
        if value == {"type": "text"}:
            return None
        syntax, definition = value.get("syntax"), value.get("definition")
        text = f"The input matches this {syntax} grammar:\n{definition}"
        if value.keys() == {"type", "syntax", "definition"} and definition.__class__ is str and self.holds(text):
            if not context.native:
                context.report_loss(owner, "format$.type", reasons.GRAMMAR_AS_TEXT)
            return text
        context.report_loss(owner, "format", reasons.NO_TEXT_FORMAT)
        return None


def free_text_row(
    name: str,
    schema: str,
    others: Mapping[str, Spec] = MappingProxyType({}),
    *,
    at: str = "",
    silent: tuple[str, ...] = (),
    tag: str | None = None,
) -> Row:
    """Return the row of a tool that takes free text.

    `schema` is the field that holds the function's parameters; `others` are further fields of the tool, and `at` is the
    path before the name and the description. `silent` are attributes that other code writes. `tag` is the type of a
    function.
    """
    fields: dict[str, Spec] = {
        f"{at}name": "name",
        f"{at}description": "description",
        f"{schema}.properties.input.description": ("format", Grammar()),
        **others,
    }
    constants = {f"{schema}.{path}": value for path, value in FREE_TEXT.items()}
    constants |= {} if tag is None else {"type": tag}
    return Row(name, CustomTool, fields, Silent(*silent), constants=constants)


def is_free_text(schema: Any) -> bool:
    """Return whether a schema is that of a tool that takes free text."""
    if schema.__class__ is not dict or schema.get("description") != FREE_TEXT["description"]:
        return False
    properties = schema.get("properties")
    parameter = properties.get("input") if properties.__class__ is dict and len(properties) == 1 else None
    if parameter.__class__ is not dict or parameter.keys() - {"type", "description"}:
        return False
    flattened = {**schema, "properties.input.type": parameter.get("type")}
    del flattened["properties"]
    return flattened == FREE_TEXT and Grammar().holds(
        parameter.get("description", "The input matches this lark grammar:\n")
    )


# -- messages ----------------------------------------------------------------------------------------------------------


class ResultMessage(Fields):
    """The fields of a message that is one content, such as a result. The content has the path of the message.

    `results` decodes the content. `paths` are the fields of the message by attribute, such as its id.
    """

    def __init__(self, results: Union | Row, paths: Mapping[str, str] | None = None) -> None:
        super().__init__(paths or {})
        self._results, self._paths = results, dict(paths or {})

    def decode(
        self, wire: dict[str, Any], context: DecodeContext, *, role: str = "tool", left_out: Collection[str] = ()
    ) -> ChatMessage:
        """Return a message with the content of a wire object. Other code decodes the fields `left_out`."""
        texts = {attribute: wire[key] for attribute, key in self._paths.items() if wire.get(key).__class__ is str}
        keys = {*left_out, *(self._paths[attribute] for attribute in texts)}
        remaining = context.without(wire, keys) if keys else wire
        return ChatMessage(
            role=role, contents=[self._results.decode(remaining, context)], origin=context.origin, **texts
        )

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        """Return a wire object for each content of a message, by a union. The first has the fields of the message."""
        lost = tuple(name for name in ("author_name", "message_id") if name not in self._paths)
        context.report_lost_attributes(message, lost)
        context.leave_residue(message)
        results: Any = self._results
        wires: list[dict[str, Any]] = results.encode_list(message.contents, context)
        for attribute, key in self._paths.items() if wires else ():
            if getattr(message, attribute) is not None:
                wires[0] = {**wires[0], key: getattr(message, attribute)}
        return wires

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        yield value.contents[0], path, wire, self._results


class ChatMessages(MessageList):
    """The messages of a request. A message of the role `tool` is one result.

    `assistant` is the row of messages of the role `assistant`, `plain` that of all other roles, and `results` decodes a
    result. The format has no field for failed results: their texts begin with a mark. If `detached`, results have only
    texts, and their media follow in a user message.
    """

    tag = "role"

    def __init__(self, assistant: Row, plain: Row, results: Union, *, detached: bool = False) -> None:
        super().__init__()
        self.assistant, self.plain, self.results, self.detached = assistant, plain, results, detached
        self._result_message = ResultMessage(results)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = []
        for _, wire in self.objects(value, context):
            if wire["role"] == "tool":
                result = with_error_read(self.results.decode(wire, context))
                messages.append(ChatMessage(role="tool", contents=[result], origin=context.origin))
            else:
                messages.append((self.assistant if wire["role"] == "assistant" else self.plain).decode(wire, context))
        context.trace_messages(messages, value, self._row_of)
        return with_media_back(messages, context) if self.detached else messages

    def _row_of(self, message: ChatMessage) -> Row | Fields:
        if message.role == "tool":
            return self._result_message
        return self.assistant if message.role == "assistant" else self.plain

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> list[dict[str, Any]]:
        messages = with_detached_media(value, context.api) if self.detached else value
        return [wire for message in messages for wire in self.encode_message(message, context)]

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        """Return the wire messages of one message: none, one, or one for each result."""
        if not context.native and not message.contents:
            # An empty message of another API is not written.
            foreign.leave_empty(message, context)
            return []
        if message.role != "tool":
            return [(self.assistant if message.role == "assistant" else self.plain).encode(message, context)]
        if message.message_id or message.author_name or message.extra:
            foreign.leave_empty(message, context)
        return self.results.encode_list([with_error_mark(content, context) for content in message.contents], context)


class AnswerMessage(Codec[list[ChatMessage]]):
    """The one message of an answer. An answer of several messages becomes one."""

    classes = (dict,)
    identity = False

    def __init__(self, assistant: Row) -> None:
        super().__init__()
        self.assistant = assistant

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        for name, constant in self.assistant.constants.items():
            if wire_at(value, name) != constant:
                # Another role would become that of the model. A row with a field for the role checks it itself.
                problem = f"got {value[name]!r:.60}" if name in value else "it is missing"
                context.fault(value, name, f"expected {constant!r}, {problem}")
        messages = [self.assistant.decode(value, context)]
        context.trace(self.assistant, messages, container, key, spread=False)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> dict[str, Any]:
        return self.assistant.encode(foreign.joined_messages(value, context), context)


# -- a usual table -----------------------------------------------------------------------------------------------------


def messages(
    table: Table, content: Codec[Any], *, arguments: Codec[Any] | None = None, reasoning: str | None = None
) -> tuple[ChatMessages, AnswerMessage]:
    """Return the codecs of the messages of a request, and of the message of an answer.

    `content` is the codec of the field `content`, `arguments` that of the arguments of calls (JSON text by default).
    `reasoning` is the field with the text of the model's reasoning, if the API has one.
    """
    thoughts = {reasoning: Column(TextField(ReasoningContent, "text", between="\n\n"))} if reasoning else {}
    calls: Blocks[Any] = Blocks(function_calls(table, arguments or ArgumentsText()))
    assistant = assistant_messages(table, {**thoughts, "content": Column(content), "tool_calls": Column(calls)})
    roles = Roles(table.api, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))
    plain = plain_messages(table, roles, {"content": ("contents", content)})
    # The call has the name, too.
    results = result_messages(table, {"tool_call_id": "call_id", "content": ("outputs", content)}, Silent("name"))
    return ChatMessages(assistant, plain, results), AnswerMessage(assistant)


def tools(table: Table) -> Blocks[Any]:
    """Return the codec of the tools of a request, which are functions."""
    return Blocks(function_tools(table))


class Choices(Blocks[ChatChoice]):
    """The choices of an answer. One that has calls is finished by them, also if its API says "stop"."""

    def decode(self, value: Any, context: Any, container: Any, key: str) -> list[ChatChoice]:
        return [finished_by_calls(choice) for choice in super().decode(value, context, container, key)]


def finish_reasons(*names: str) -> FinishReasons:
    """Return the codec of finish reasons that have the names of the model's, such as "stop" and "length"."""
    return FinishReasons({name: name for name in names}, {name: name for name in names}, "stop")


def choices(table: Table, answer: AnswerMessage, finish: FinishReasons) -> Choices:
    """Return the codec of the choices of an answer."""
    fields: Any = {"index": "index", "finish_reason": ("finish_reason", finish), "message": ("messages", answer)}
    required = Filled({"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"})
    return Choices(table.union("choice", [Row("choice", ChatChoice, fields, required)], tag=None))


def usage(table: Table, **more: str) -> Record[Usage]:
    """Return the codec of the token counts of an answer. `more` are further attributes and their fields."""
    fields = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
    counted = {field: attribute for attribute, field in more.items()}
    inside = Silent("cached_inside", "reasoning_inside")
    return Record(table.record("usage", Usage, {**fields, **counted}, inside))
