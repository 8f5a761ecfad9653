"""The rows of formats whose contents have the classes and fields of Microsoft.Extensions.AI.

This module names types and fields as Microsoft.Extensions.AI does, in snake case. `Names` converts the names to those
of a format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Codec,
    DecodeContext,
    EachBlock,
    EncodeContext,
    Field,
    Filled,
    Group,
    MessageList,
    Opaque,
    Record,
    Row,
    Silent,
    Spec,
    Table,
    Union,
    foreign,
    hints,
    media,
    objects_of,
    reasons,
    spread,
)
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.hosted import (
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    ImageGenerationToolCallContent,
    ImageGenerationToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
)
from contentmodel.content.media import HostedFileContent, HostedVectorStoreContent, UriContent
from contentmodel.content.outcomes import ErrorContent, UsageContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolApprovalRequestContent, ToolApprovalResponseContent
from contentmodel.message import ChatMessage
from contentmodel.usage import Usage
from contentmodel_adapters.common import approvals, documents

ROLES = ("system", "developer", "user", "assistant", "tool")


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """The names of one format.

    - `tag`: the field with the type of a content.
    - `spell`: returns a name in the case of the format.
    - `others`: the names of the format that differ in more than their case.
    - `unit`: the unit of the spans of texts.
    - `defaults`: the fields that each content of the format has, with their values.
    """

    tag: str
    spell: Callable[[str], str]
    others: Mapping[str, str] = {}
    unit: str = "codepoint"
    defaults: Mapping[str, Any] = {}

    def of(self, name: str) -> str:
        """Return the format's name of a type, or the dotted path of a field."""
        return ".".join(self.spell(self.others.get(part, part)) for part in name.split("."))

    def all(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields with the format's names."""
        return {self.of(path): value for path, value in fields.items()}


class Repeating(Filled):
    """Fields that contents of other APIs get, and a field that repeats a part of another field.

    A decoded content has the repeating field in its residue. The encoder computes it again from the other field.
    """

    def __init__(self, values: Mapping[str, Any], repeat: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(values)
        self._repeat = repeat

    def finish(self, value: object, wire: dict[str, Any], context: EncodeContext) -> None:
        super().finish(value, wire, context)
        self._repeat(wire)


class Region(Codec[Span]):
    """The regions of an annotation: one span of the text. Other lists stay in the residue."""

    classes = (list,)
    identity = False

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._tag, self._span, self._unit = names.tag, names.of("text_span"), names.unit
        self._start, self._end = names.of("start"), names.of("end")

    def holds(self, value: Any) -> bool:
        if value.__class__ is not list or len(value) != 1 or value[0].__class__ is not dict:
            return False
        ends = {key: end for key, end in value[0].items() if key != self._tag}
        is_span = value[0].get(self._tag) == self._span and ends.keys() <= {self._start, self._end}
        return is_span and all(end.__class__ is int for end in ends.values())

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Span:
        return Span(start=value[0].get(self._start), end=value[0].get(self._end), unit=self._unit)

    def encode(self, value: Span, context: EncodeContext, owner: Any) -> Any:
        if value.unit != self._unit:
            context.report_loss(owner, "span", reasons.NO_FIELD)
            return None
        ends = {self._start: value.start, self._end: value.end}
        return [{self._tag: self._span, **{key: end for key, end in ends.items() if end is not None}}]

    def describe(self) -> str:
        return "list of text span"


class Annotations(Blocks[Citation]):
    """A list of citations. Any other annotation stays in the residue, at its place."""

    holds_by_elements = True

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and any(map(self._is_known, value))

    def _is_known(self, item: Any) -> bool:
        return item.__class__ is dict and self.union.knows(item)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Citation]:
        return self.union.decode_list([*filter(self._is_known, value)], context)

    def unread(self, wire: Any) -> list[Any] | None:
        return None if all(map(self._is_known, wire)) else [{} if self._is_known(item) else item for item in wire]

    def places(self, value: list[Citation], wire: Any, path: str) -> Any:
        places = [(f"{path}[{index}]", item) for index, item in enumerate(wire) if self._is_known(item)]
        return [(one, place, item, self.union) for one, (place, item) in zip(value, places, strict=False)]


class Value(EachBlock):
    """The value of a result: a text, contents, or any other JSON value.

    If `is_list`, a single text of another API is written as a list of contents.
    """

    classes = (str, list, dict, int, float, bool)

    def __init__(self, union: Union, *, is_list: bool = False) -> None:
        super().__init__(union)
        self._usual = "list" if is_list else "string"

    def holds(self, value: Any) -> bool:
        return value is not None and value != []

    def _form(self, value: Any) -> str:
        """Return the form of a wire value: `list`, `one`, `string` or `json`."""
        if value.__class__ is list:
            # Contents of a newer version may be among them.
            return "list" if any(item.__class__ is dict and self.union.knows(item) for item in value) else "json"
        if value.__class__ is dict:
            return "one" if self.union.knows(value) else "json"
        return "string" if value.__class__ is str else "json"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        form = self._form(value)
        if form == "list" and len(value) > 1:
            return super().decode(value, context, container, key)
        if form == "json":
            return [JsonContent(value=value)]
        if form == "string":
            content: AIContent = TextContent(text=value)
        else:
            content = self.union.decode(value if form == "one" else value[0], context)
        return [content if form == self._usual_of(content) else hints.FORM.on(content, context.api, form)]  # type: ignore[arg-type]

    def _usual_of(self, content: AIContent) -> str:
        return self._usual if content.__class__ is TextContent else "list"

    def count(self, wire: Any) -> int:
        return len(wire) if self._form(wire) == "list" else 1

    def places(self, value: list[AIContent], wire: Any, path: str) -> Any:
        form = self._form(wire)
        if form == "list":
            return spread(value, wire, path, self.union)
        return [(value[0], path, wire, self.union if form == "one" else None)] if value else []

    def encode(self, value: list[AIContent], context: EncodeContext, owner: Any) -> Any:
        if len(value) != 1:
            return self.union.encode_list([as_text(content, context) for content in value], context) or None
        only = value[0]
        if only.__class__ is JsonContent and self._form(only.value) == "json" and self.holds(only.value):
            context.report_lost_attributes(only, ("annotations", "protected", "cache_point"))
            context.leave_residue(only)
            return only.value
        only = as_text(only, context)
        form: str = hints.FORM.of(only, context.api) or self._usual_of(only)
        if form == "string" and only.__class__ is TextContent and not self._has_more(only, context):
            context.report_lost_attributes(only, ("protected", "cache_point"))
            context.leave_residue(only)
            return only.text
        blocks = self.union.encode_list([only], context)
        return blocks[0] if form == "one" and blocks else blocks or None

    def _has_more(self, text: AIContent, context: EncodeContext) -> bool:
        """Return whether a text has annotations, or fields of this format."""
        residue = (text.extra or {}).get(context.api) or {}
        return bool(text.annotations) or any(key != hints.FORM.key for key in residue)

    def describe(self) -> str:
        return f"str, list of {self.union.name} or JSON"


def as_text(content: AIContent, context: EncodeContext) -> AIContent:
    """Return a JSON value as its text, and any other content unchanged."""
    if not isinstance(content, JsonContent):
        return content
    attributes = {name: getattr(content, name) for name in content.__struct_fields__ if name != "value"}
    text_content: AIContent = context.replaced(content, TextContent(text=content.text, **attributes))
    return text_content


class InformationalOnly(Codec[str]):
    """The flag of a call that the provider has already run."""

    classes = (bool,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value is True

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        return "provider"

    def encode(self, value: str, context: EncodeContext, owner: Any) -> bool | None:
        return True if value == "provider" else None


class Code(Group):
    """The inputs of a call of the code interpreter. One input with code is the argument `code`, as in other APIs.

    `write` returns the content with a code, and `read` the code of such a content; None for other contents. Any other
    inputs are the argument `inputs`.
    """

    attribute = "arguments"
    keys = ("inputs",)

    def __init__(self, write: Callable[[str], dict[str, Any]], read: Callable[[Any], str | None]) -> None:
        self._write, self._read = write, read
        self._as_object = ArgumentsObject("inputs").encode

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        inputs = wire.get("inputs")
        if inputs.__class__ is list and len(inputs) == 1 and inputs[0].__class__ is dict:
            code = self._read(inputs[0])
            if code is not None and self._write(code) == inputs[0]:
                return {"code": code}
        return {"inputs": inputs} if "inputs" in wire else None

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        fields = dict((self._as_object(value, context, owner) if value.__class__ is str else value) or {})
        if fields.get("code").__class__ is str and "inputs" not in fields:
            fields["inputs"] = [self._write(fields.pop("code"))]
        wire.update(fields)


class Rows:
    """The rows of one format, made from the names that the formats share."""

    def __init__(self, table: Table, names: Names, counters: Mapping[str, str]) -> None:
        """Create the rows. `counters` are further counters of tokens."""
        self.table, self.names = table, names
        citation = {
            "title": "title",
            "url": "url",
            "file_id": "file_id",
            "snippet": "cited_text",
            "annotated_regions": ("span", Region(names)),
        }
        tag = {names.tag: names.of("citation")}
        union = table.union(
            "annotation", [Row("citation", Citation, names.all(citation), constants=tag)], tag=names.tag
        )
        self._citations = Annotations(union)
        counts = {
            "input_token_count": "input_tokens",
            "output_token_count": "output_tokens",
            "total_token_count": "total_tokens",
            "cached_input_token_count": "cache_read_tokens",
            "reasoning_token_count": "reasoning_tokens",
        }
        self.usage: Record[Any] = Record(table.record("usage", Usage, {**names.all(counts), **counters}))

    def row(
        self,
        name: str,
        model: type[Any],
        fields: Mapping[str, Spec],
        *others: Field,
        label: str = "",
        constants: Mapping[str, str] | None = None,
        filled: Mapping[str, Any] | None = None,
        repeat: Callable[[dict[str, Any]], None] | None = None,
        **options: Any,
    ) -> Row:
        """Return a row of contents of the type `name`, with the fields that all contents have.

        - `label`: the end of the row's name, for rows of the same type.
        - `filled`: the fields that contents of other APIs get.
        - `repeat`: writes the field that repeats a part of another one.
        """
        names = self.names
        tags = {names.tag: names.of(name), **names.all(constants or {})}
        row_fields = names.all({**fields, "annotations": ("annotations", self._citations)})
        values = {**names.all(filled or {}), **names.defaults}
        defaults = Filled(values) if repeat is None else Repeating(values, repeat)
        return Row(f"{names.of(name)}{label}", model, row_fields, *others, defaults, constants=tags, **options)

    def outputs(self, *more_rows: Row) -> Union:
        """Return the union of the outputs of results: all contents but calls, results and requests."""
        detail = {"additional_properties.detail": "detail"}
        protected = Opaque(self.table.api, "encrypted")
        rows = [
            self.row("text", TextContent, {"text": "text"}),
            self.row("reasoning", ReasoningContent, {"text": "text", "protected_data": ("protected", protected)}),
            self.row("uri", UriContent, {"uri": "uri", "media_type": "media_type", **detail}, Silent("kind")),
            self.row("error", ErrorContent, {"message": "message", "error_code": "code"}),
            self.row(
                "hosted_file",
                HostedFileContent,
                {"file_id": "file_id", "media_type": "media_type", "name": "name"},
                Silent("kind"),
            ),
            self.row("hosted_vector_store", HostedVectorStoreContent, {"vector_store_id": "vector_store_id"}),
            self.row("usage", UsageContent, {"details": ("usage", self.usage)}),
            *more_rows,
        ]
        return self.table.union("output", rows, tag=self.names.tag, accepts_untyped=True)

    def hosted(self, outputs: Codec[Any], *, code: Code, id: str, mcp_name: str, mcp_output: str) -> list[Row]:
        """Return the rows of hosted tools.

        `code` reads the inputs of a code interpreter. `id` is the field with the id of an image, `mcp_name` and
        `mcp_output` those of the calls of MCP servers.
        """
        named, server = {"call_id": "call_id"}, {"call_id": "call_id", "server_name": "server"}
        result_fields: dict[str, Spec] = {"outputs": ("outputs", outputs)}
        return [
            self.row("code_interpreter_tool_call", CodeInterpreterToolCallContent, named, code),
            self.row("code_interpreter_tool_result", CodeInterpreterToolResultContent, {**named, **result_fields}),
            self.row("image_generation_tool_call", ImageGenerationToolCallContent, {id: "call_id"}),
            self.row(
                "image_generation_tool_result", ImageGenerationToolResultContent, {id: "call_id", **result_fields}
            ),
            self.row(
                "mcp_server_tool_call", McpServerToolCallContent, {**server, mcp_name: "name", "arguments": "arguments"}
            ),
            self.row("mcp_server_tool_result", McpServerToolResultContent, {**named, mcp_output: ("outputs", outputs)}),
        ]

    def approvals(self, mcp_name: str, *, reason: str | None = None, **filled: Any) -> list[Row]:
        """Return the rows of requests for approval, one for each kind of call, and of their responses.

        `reason` is the field with the reason of a response; None if the format has no such field.
        """
        names, kind = self.names, ToolApprovalRequestContent
        tag, arguments = f"tool_call.{names.tag}", {"tool_call.arguments": "arguments"}
        function, mcp = {tag: names.of("function_call")}, {tag: names.of("mcp_server_tool_call")}
        # In the model, the request for approval of a client call has the id of the call. Its own id is in the residue.
        of_call, asked = {"tool_call.call_id": "request_id"}, {"request_id": "request_id"}
        of_server = {f"tool_call.{mcp_name}": "name", "tool_call.server_name": "server"}
        answer = {"approved": "approved", **({} if reason is None else {reason: "reason"})}
        return [
            self.row(
                "tool_approval_request",
                kind,
                {**of_call, "tool_call.name": "name", **arguments},
                label=".function",
                constants=function,
                filled=filled,
            ),
            self.row(
                "tool_approval_request",
                kind,
                {**asked, **of_server, **arguments},
                label=".mcp",
                constants=mcp,
                filled=filled,
                preferred_for=lambda request: request.server is not None,
            ),
            # Calls of other tools stay in the residue.
            self.row("tool_approval_request", kind, asked, filled=filled),
            self.row(
                "tool_approval_response",
                ToolApprovalResponseContent,
                {**of_call, **answer},
                label=".function",
                constants=function,
            ),
            self.row("tool_approval_response", ToolApprovalResponseContent, {**asked, **answer}),
        ]


class Messages(MessageList):
    """The messages of a conversation. Each wire object is one message.

    - `defaults`: the fields that each message has, with their values.
    - `read`: changes a content after it was decoded.
    - `older`: the records of messages of older versions, whose role is an object. The last one takes any such role.
    """

    def __init__(
        self,
        row: Row,
        names: Names,
        *,
        defaults: Mapping[str, Any] | None = None,
        read: Callable[[AIContent], AIContent] | None = None,
        older: tuple[Row, ...] = (),
    ) -> None:
        super().__init__()
        self._row, self._names, self._defaults, self._read = row, names, defaults or {}, read
        self._older = {one.name: one for one in older}

    def holds(self, value: Any) -> bool:
        return value.__class__ is list

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        for _, wire in self.objects(value, context):
            older = self._older_of(wire.get("role"))
            message: ChatMessage = (older or self._row).decode(wire, context)
            if older is not None:
                message = hints.ROW.on(message, older.api, older.name)
            if self._read is not None:
                message.contents[:] = map(self._read, message.contents)
            messages.append(message)
        context.trace_messages(messages, value, self._row_of)
        return messages

    def _older_of(self, role: object) -> Row | None:
        """Return the record of the older version that a role belongs to; None if the role is no object."""
        if not isinstance(role, dict):
            return None
        kinds = (None, role.get("type"))
        return next((one for one in self._older.values() if one.constants.get("role.type") in kinds), None)

    def _row_of(self, message: ChatMessage) -> Row:
        return self._older.get(hints.ROW.of(message, self._row.api) or "", self._row)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires = [wire for message in value for wire in self._encode_message(message, context)]
        if context.completes:
            self._complete_approvals(wires)
        return wires

    def _encode_message(self, message: ChatMessage, context: EncodeContext) -> Iterator[dict[str, Any]]:
        if not context.native and not message.contents:
            # An empty message of another API is not written.
            foreign.leave_empty(message, context)
            return
        wire = self._row_of(message).encode(message, context)
        yield {**self._defaults, **wire} if context.completes else wire

    def _complete_approvals(self, wires: list[dict[str, Any]]) -> None:
        """Add the missing parts to each approval of another API: its own id, or the call."""
        names = self._names
        request, response = names.of("tool_approval_request"), names.of("tool_approval_response")
        key, call, call_id = names.of("request_id"), names.of("tool_call"), names.of("call_id")
        asked: dict[Any, Any] = {}
        for wire in wires:
            for content in objects_of(wire, names.of("contents")):
                if content.get(names.tag) not in (request, response):
                    continue
                inner = content.setdefault(call, {})
                if content[names.tag] == request:
                    request_id = content.setdefault(key, inner.get(call_id))
                    asked[inner.setdefault(call_id, request_id)] = content
                    for name, value in names.defaults.items():
                        inner.setdefault(name, value)
                else:
                    asks = inner.get(call_id) or content.get(key)
                    asking = asked.get(asks, {key: asks, call: {"name": ""}})
                    content.setdefault(key, asking[key])
                    content[call] = {**inner, **names.defaults, **asking[call]}


READS = media.MediaSupport(schemes=("http", "https", "file", "gs", "s3"), in_answers=True, typed_links=True)
"""Media of any type. A link has a media type."""


STEPS = (
    documents.INSTRUCTIONS,
    *documents.NORMALIZED,
    *media.with_readable_media(READS),
    documents.FITTING_CALLS,
    approvals.WITH_OWN_IDS,
)
"""The steps of these formats. Each also converts the spans of citations to its own unit."""


def recognised(items: list[Any], tag: str, types: tuple[str, ...] = ()) -> float:
    """Return the confidence that a list has messages of a format in which each content has the field `tag`.

    `types` are the values of the field `type` of the format's messages; () if they have no such field. Such messages
    may have the older form of a role, an object.
    """
    messages = [item for item in items if item.__class__ is dict and item.get("contents").__class__ is list]
    classes = (str, dict) if types else (str,)
    if (
        not items
        or len(messages) != len(items)
        or not all(isinstance(message.get("role"), classes) for message in messages)
    ):
        return 0.0
    if types and all(message.get("type") in types for message in messages):
        return 0.99
    contents = [content for message in messages for content in message["contents"]]
    typed = sum(content.__class__ is dict and tag in content for content in contents)
    return 0.4 if not contents else 0.97 if typed == len(contents) else 0.6 if typed else 0.0
