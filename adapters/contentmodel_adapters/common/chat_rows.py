"""The rows of formats of files whose messages have the roles and columns of Chat Completions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contentmodel.authoring import (
    Blocks,
    ChatMessages,
    Codec,
    Column,
    EncodeContext,
    Filled,
    NonEmptyText,
    ProviderOnly,
    Roles,
    Row,
    Spec,
    Table,
    TextOrBlocks,
    Union,
    chat,
    row,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.message import ChatMessage
from contentmodel.request import FunctionTool, HostedTool

_IN_CONTENT = (TextContent, DataContent, UriContent, HostedFileContent, ErrorContent)


REASONING = NonEmptyText(ReasoningContent, "text", between="\n\n")


class ChatRows(ChatMessages):
    """The messages of one format: a codec with its own table.

    - `parts`: the rows of content parts, and `prefer`, the usual row of a content.
    - `arguments`: the codec of the arguments of calls.
    - `reasoning`: the columns of reasoning. Reasoning of other APIs is written to the first.
    - `columns`: further columns of assistant messages.
    - `roles`: the roles of messages without calls and results.
    - `function`: the fields of a tool. `bare_tools`: whether a tool may lack its type, or be the function itself.
    - `results`: the roles of results. Those of other APIs get the first.
    - `names`: whether results have the name of their call.
    - `detached`: whether results have only texts, and their media follow in a user message.
    """

    def __init__(
        self,
        api: str,
        parts: Iterable[Row],
        *,
        arguments: Codec[Any],
        prefer: Callable[[Any, list[Row]], Row | None],
        reasoning: tuple[str, ...] = (),
        columns: Mapping[str, Column] | None = None,
        roles: tuple[str, ...] = ("system", "developer", "user"),
        names: bool = True,
        detached: bool = False,
        function: Mapping[str, Spec] = chat.FUNCTION,
        bare_tools: bool = False,
        results: tuple[str, ...] = ("tool",),
    ) -> None:
        self.table = table = Table(api)
        text = row("text", TextContent, {"text": "text"})
        union = table.union("content part", [text, *parts], prefer=prefer)
        # A result of another API may have only texts, if its media follow in a user message.
        foreign = (TextContent,) if detached else None
        outputs = table.union("tool result part", union.rows, prefer=prefer, foreign_types=foreign)
        calls = calls_of(table, arguments)
        result: dict[str, Spec] = {
            "tool_call_id": "call_id",
            "name": ("name", Codec(str) if names else ProviderOnly("name", str, silent=True)),
            "content": ("outputs", TextOrBlocks(outputs, "string")),
        }
        several = {"prefer": lambda content, rows: rows[0]} if len(results) > 1 else {}
        answers = chat.result_messages(table, result, roles=results, **several)
        apart = {kind for column in (columns or {}).values() for kind in column.models}
        every_column = {
            **{name: Column(REASONING, ReasoningContent, hinted=True) for name in reasoning},
            "content": Column(TextOrBlocks(union, "string"), *(kind for kind in _IN_CONTENT if kind not in apart)),
            **(columns or {}),
            "tool_calls": Column(Blocks(calls), FunctionCallContent),
        }
        assistant = chat.assistant_messages(table, every_column, fields={"name": "author_name"})
        known_roles = Roles(api, {name: name for name in roles}, elsewhere=("assistant", *results))
        self.content = TextOrBlocks(union, "string")
        plain = chat.plain_messages(table, known_roles, {"content": ("contents", self.content), "name": "author_name"})
        super().__init__(assistant, plain, answers, detached=detached)
        self.tools = tools_of(table, function) if bare_tools else chat.function_tools(table, function)
        table.known_values("message.roles", *roles, "assistant", *results)

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        if message.role != "tool":
            report_citations(message.contents, context)
        else:
            for result in message.contents:
                report_citations(getattr(result, "output_list", ()), context)
        return super().encode_message(message, context)


def calls_of(table: Table, arguments: Codec[Any]) -> Union:
    """Return the union of calls. Some data has neither types nor ids, or the fields of the function without it."""
    call: dict[str, Spec] = {"id": "call_id", "function.name": "name", "function.arguments": ("arguments", arguments)}
    empty = Filled({"function.arguments": "{}" if dict not in arguments.classes else {}})
    return table.union(
        "tool call",
        _forms(FunctionCallContent, call, empty),
        find=_form_of,
        prefer=lambda content, rows: rows[0],
    )


def _forms(model: type[Any], fields: Mapping[str, Spec], filled: Filled) -> list[Row]:
    """Return the rows of an object with a type and a function, without the type, and of the function alone."""
    bare = {path.removeprefix("function."): attribute for path, attribute in fields.items()}
    return [row("function", model, fields, filled), Row("untyped", model, fields, filled), Row("bare", model, bare)]


def tools_of(table: Table, function: Mapping[str, Spec] = chat.FUNCTION) -> Union:
    """Return the union of tools. Some data has neither types, or the fields of the function without it."""
    filled = Filled({"function.parameters": chat.NO_PARAMETERS})
    return table.union(
        "tool",
        _forms(FunctionTool, function, filled),
        find=_form_of,
        prefer=lambda tool, rows: rows[0],
        other=Row("other", HostedTool, {"type": "kind"}),
        foreign_types=[FunctionTool],
    )


def _form_of(wire: dict[str, Any]) -> str | None:
    if wire.get("type") is not None:
        return "function" if wire["type"] == "function" else None
    return "untyped" if wire.get("function").__class__ is dict else "bare"


def report_citations(contents: Iterable[AIContent], context: EncodeContext) -> None:
    """Report the annotations of texts: these formats have none."""
    for content in contents:
        if content.__class__ is TextContent and content.annotations is not None:
            context.report_lost_attributes(content, ("annotations",))


def usual_row(image: str, document: str | None = None) -> Callable[[Any, list[Row]], Row | None]:
    """Return the function that selects the usual row of a medium, for rows whose names begin with the tag."""

    def prefer(content: Any, rows: list[Row]) -> Row | None:
        kind = content.media_kind if content.__class__ is UriContent else (content.media_type or "").partition("/")[0]
        wanted = kind if kind in ("audio", "video") else image if kind == "image" else document
        return (
            None
            if wanted is None
            else next((candidate for candidate in rows if candidate.name.startswith(wanted)), None)
        )

    return prefer
