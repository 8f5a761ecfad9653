"""The common part of formats like Chat Completions: tables of tools, calls, results and messages, and rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.engine.free_text import free_text_row, is_free_text
from contentmodel.engine.pipeline.toolsets import FREE_TEXT_ROW
from contentmodel.engine.table.codecs import Codec, DataUri, EnumString, Required
from contentmodel.engine.table.roles import Roles
from contentmodel.engine.table.tables import (
    Column,
    Columns,
    Field,
    Filled,
    Implied,
    Row,
    Silent,
    Spec,
    Table,
    Union,
    row,
)
from contentmodel.message import ChatMessage
from contentmodel.request import CustomTool, FunctionTool, HostedTool, ResponseFormat
from contentmodel.rules import Broken, Rules, objects, objects_along

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
) -> Union:
    """Return the union of tools: functions, and tools that the provider runs. From other APIs, only functions are sent.

    `others` are further rows; `find` returns the row of a tool if its type does not. `default` is the name of the row
    of a tool without a type.
    """
    return table.union(
        "tool",
        [row("function", FunctionTool, function, Filled({"function.parameters": NO_PARAMETERS})), *others],
        default=default,
        other=Row("other", HostedTool, {"type": "kind"}),
        find=find,
        foreign_types=[FunctionTool, CustomTool],
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
        prefer=lambda made, rows: next((one for one in rows if one.implied.get("kind") == made.kind), None),
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


# -- rules -------------------------------------------------------------------------------------------------------------


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
