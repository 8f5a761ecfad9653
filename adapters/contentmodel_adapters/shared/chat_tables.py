"""Tables that formats like Chat Completions have in common: tools, response formats, calls, results and messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from contentmodel.authoring import (
    Codec,
    Column,
    Columns,
    DataUri,
    EnumString,
    Field,
    Filled,
    Implied,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    Union,
    row,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import FunctionTool, HostedTool, ResponseFormat

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
    table: Table, function: Mapping[str, Spec] = FUNCTION, hosted: Iterable[Row] = (), default: str | None = None
) -> Union:
    """Return the union of tools: functions, and tools that the provider runs. Those of other APIs are functions.

    `default` is the name of the row of a tool without a type.
    """
    return table.union(
        "tool",
        [row("function", FunctionTool, function, Filled({"function.parameters": NO_PARAMETERS})), *hosted],
        default=default,
        other=Row("other", HostedTool, {"type": "kind"}),
        foreign_types=[FunctionTool],
    )


def format_row(kind: str, name: str, fields: Mapping[str, Spec], *others: Field, tag: str | None = None) -> Row:
    """Return the row of a response format. `tag` is its `type`, if that differs from the name of the row."""
    constants = {"type": tag or name}
    return Row(
        name, ResponseFormat, fields, Implied({"kind": kind}), Silent("media_type"), *others, constants=constants
    )


def named_schema_row() -> Row:
    """Return the row of a JSON Schema with a name."""
    fields = {f"json_schema.{key}": key for key in ("schema", "name", "description", "strict")}
    return format_row("json_schema", "json_schema", fields, Filled({"json_schema.name": "response"}))


def response_formats(table: Table, name: str, schema: Row) -> Union:
    """Return the union of response formats: a JSON Schema, JSON, and text."""
    return table.union(
        name,
        [schema, format_row("json", "json_object", {}), format_row("text", "text", {})],
        other=Row("other", ResponseFormat, {"type": "kind"}),
        prefer=lambda made, rows: next((one for one in rows if one.implied.get("kind") == made.kind), rows[0]),
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
    """Return the union of calls, which are functions. A call may lack the type."""
    fields: dict[str, Spec] = {
        "id": "call_id",
        "function.name": name,
        "function.arguments": ("arguments", arguments),
    }
    empty = Filled({"function.arguments": "{}"})
    return table.union("tool call", [row("function", FunctionCallContent, fields, empty)], default="function")


def result_messages(table: Table, fields: Mapping[str, Spec], *others: Field) -> Union:
    """Return the union of messages that are the result of one call."""
    result = Row("tool", FunctionResultContent, fields, *others, Filled({"content": ""}), constants={"role": "tool"})
    return table.union("result message", [result], tag="role")


def assistant_messages(
    table: Table, columns: Mapping[str, Column], *others: Field, fields: Mapping[str, Spec] = MappingProxyType({})
) -> Row:
    """Return the record of messages of the assistant, whose contents are in columns."""
    role = {"role": "assistant"}
    fixed = (Columns("contents", columns), Implied(role), Silent("message_id"))
    return table.record("assistant message", ChatMessage, fields, *fixed, *others, constants=role)


def plain_messages(table: Table, roles: Roles, fields: Mapping[str, Spec], *others: Field) -> Row:
    """Return the record of messages that have neither calls nor results."""
    mapped: dict[str, Spec] = {"role": ("role", roles), **fields}
    return table.record("message", ChatMessage, mapped, Silent("message_id"), Filled({"content": ""}), *others)
