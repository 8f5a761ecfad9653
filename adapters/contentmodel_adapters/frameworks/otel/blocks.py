"""The table of OpenTelemetry's GenAI messages: their parts and the definitions of tools.

Source: gen-ai-input-messages.json, gen-ai-output-messages.json, gen-ai-system-instructions.json and
gen-ai-tool-definitions.json of open-telemetry/semantic-conventions-genai, and the types of opentelemetry-util-genai
1.3b0 (seen 2026-11-23). All objects are open: parts may have any type, and objects may have further fields. Contents
that the conventions do not define are written as parts with a type of this library, and attributes of the model as
fields with the attribute's name. `messages.py` has the messages and the attributes of spans around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal

from contentmodel.authoring import (
    ArgumentsObjectOrText,
    Blocks,
    DataUri,
    DecodeContext,
    EncodeContext,
    Field,
    Filled,
    Hint,
    Implied,
    Place,
    Required,
    Rest,
    Row,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    row,
    spread,
)
from contentmodel.content.media import DataContent, HostedFileContent, HostedVectorStoreContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
)
from contentmodel.request import FunctionTool, HostedTool
from contentmodel_adapters.frameworks.otel.hosted import (
    BUILTIN,
    SERVER_CALL,
    SERVER_RESPONSE,
    hosted_rows,
    row_of_hosted,
    usual_call,
)
from contentmodel_adapters.frameworks.otel.values import API, Anything, Modality, Response, modality

TABLE = Table(API)

# -- parts -------------------------------------------------------------------------------------------------------------

_FILE: dict[str, Spec] = {"name": "name", "detail": "detail"}
_LINK: dict[str, Spec] = {"mime_type": "media_type", **_FILE, "title": "title", "text": "text"}
_TOOL: dict[str, Spec] = {"id": "call_id", "name": "name", "is_error": "is_error"}


_DETAIL: dict[str, Spec] = {"image_url.detail": "detail"}


def _url(kind: str) -> Row:
    """Return the row of a link as Pydantic AI recorded it before version 4 of its format."""
    return row(f"{kind}-url", UriContent, {"url": ("uri", Required())}, Implied({"kind": kind}))


def _part(name: str, model: type[Any], fields: dict[str, Spec], *others: Field, **constants: str) -> Row:
    """Return the row of a part as a provider writes it. The name begins with its type."""
    return Row(name, model, fields, *others, constants={"type": name.partition(".")[0], **constants})


_IMAGE = Implied({"kind": "image"})
# Texts and images as MCP, Chat Completions and Messages write them. Instrumentations record them unchanged.
OF_PROVIDERS = [
    _part("text.text", TextContent, {"text": "text"}),
    # The parts of opentelemetry-instrumentation-google-genai.
    _part("blob.data", DataContent, {"mime_type": "media_type", "data": ("data", Required())}),
    _part("file_data", UriContent, {"mime_type": "media_type", "uri": "uri"}),
    _part("image_url.data", DataContent, {"image_url.url": (("media_type", "data"), DataUri()), **_DETAIL}),
    _part("image_url", UriContent, {"image_url.url": "uri", **_DETAIL}, _IMAGE),
    _part("image.data", DataContent, {"source.media_type": "media_type", "source.data": ("data", Required())}),
    _part("image", UriContent, {"source.url": "uri"}, _IMAGE),
]
_OUTPUT_ROWS = [
    row("text", TextContent, {"content": "text"}),
    row(
        "blob",
        DataContent,
        {"mime_type": "media_type", "content": ("data", Required()), **_FILE, "transcript": "transcript"},
        modality(),
    ),
    row("uri", UriContent, {"uri": "uri", **_LINK}, Modality(), modality()),
    row("file", HostedFileContent, {"file_id": "file_id", **_LINK}, Modality(), modality()),
    row("binary", DataContent, {"media_type": "media_type", "content": ("data", Required())}),
    *map(_url, ("image", "audio", "video", "document")),
    row("error", ErrorContent, {name: name for name in ("message", "code", "kind", "details")}),
    row("hosted_vector_store", HostedVectorStoreContent, {"vector_store_id": "vector_store_id"}),
    *OF_PROVIDERS,
]
_JSON = row("json", JsonContent, {"value": ("value", Anything())})
"""A JSON value among several outputs."""
_OUTPUT_TYPES = frozenset(one.name for one in (*_OUTPUT_ROWS, _JSON))


def _is_output(part: dict[str, Any]) -> bool:
    return _row_of(part) in _OUTPUT_TYPES


OUTPUTS = TABLE.union(
    "output", [*_OUTPUT_ROWS, _JSON], find=lambda part: _row_of(part), prefer=lambda content, rows: rows[0]
)
PARTS = TABLE.union(
    "part",
    [
        *_OUTPUT_ROWS,
        row("reasoning", ReasoningContent, {"content": "text"}, Filled({"content": ""})),
        _part("thinking.thinking", ReasoningContent, {"thinking": ("text", Required(str))}),
        row("thinking", ReasoningContent, {"content": "text"}),
        row("compaction", CompactionContent, {"content": "text"}),
        row(
            "tool_call",
            FunctionCallContent,
            {"id": "call_id", "name": "name", "arguments": ("arguments", ArgumentsObjectOrText())},
            Filled({"name": ""}),
            Silent("status"),
        ),
        row(
            "tool_call_response",
            FunctionResultContent,
            {**_TOOL, "response": ("outputs", Response(OUTPUTS, _is_output))},
            Filled({"response": None}),
        ),
        Row(
            "tool_call_response.result",
            FunctionResultContent,
            {**_TOOL, "result": ("outputs", Response(OUTPUTS, _is_output))},
            constants={"type": "tool_call_response"},
        ),
        # Calls and results of Messages.
        _part(
            "tool_use",
            FunctionCallContent,
            {"id": "call_id", "name": "name", "input": ("arguments", ArgumentsObjectOrText())},
        ),
        _part(
            "tool_result",
            FunctionResultContent,
            {"tool_use_id": "call_id", "content": ("outputs", TextOrBlocks(OUTPUTS, "string")), "is_error": "is_error"},
        ),
        *hosted_rows(OUTPUTS, _is_output),
        row(
            "tool_approval_request",
            ToolApprovalRequestContent,
            {name: name for name in ("request_id", "name", "server", "arguments")},
        ),
        row(
            "tool_approval_response",
            ToolApprovalResponseContent,
            {name: name for name in ("request_id", "approved", "reason")},
        ),
        row("input_request", InputRequestContent, {name: name for name in ("request_id", "message", "schema")}),
        row("input_response", InputResponseContent, {"request_id": "request_id", "value": "value"}),
    ],
    find=lambda part: _row_of(part),
    prefer=lambda content, rows: _usual_row(content, rows),
)
_BY_TYPE: dict[str, list[Row]] = {}
for _row in (*PARTS.rows, _JSON):
    if _row.constants.keys() == {"type"}:
        _BY_TYPE.setdefault(_row.constants["type"], []).append(_row)
TYPES = frozenset(one.constants["type"] for one in PARTS.rows)
"""The types of parts that have rows."""


def _usual_row(content: Any, rows: list[Row]) -> Row:
    return usual_call(content, rows) if isinstance(content, HostedToolCallContent) else rows[0]


def _row_of(part: dict[str, Any]) -> str | None:
    """Return the name of the row of a part; None if it has no row, or no content because recording it is off."""
    tag = part.get("type")
    if tag.__class__ is not str:
        return None
    if tag in (SERVER_CALL, SERVER_RESPONSE) or (
        tag in ("tool_call", "tool_call_response") and part.get(BUILTIN) is True
    ):
        return row_of_hosted(part)
    if tag == "tool_call_response" and part.get("result") is not None and part.get("response") is None:
        return "tool_call_response.result"
    return next((row.name for row in _BY_TYPE.get(tag, ()) if row.fits(part)), None)


# Contents of messages with the fields of Chat Completions: the same parts, but new texts are written as there.
CONTENTS = TABLE.union(
    "content part",
    PARTS.rows,
    find=_row_of,
    prefer=lambda content, rows: "text.text" if content.__class__ is TextContent else _usual_row(content, rows),
)


# -- tools -------------------------------------------------------------------------------------------------------------

_NAMED: dict[str, Spec] = {"name": "name", "description": "description"}
_FUNCTION: dict[str, Spec] = {**_NAMED, "parameters": "parameters", "strict": "strict"}
# Instrumentations record the definitions of some providers unchanged (reference/scenarios of
# open-telemetry/semantic-conventions-genai, seen 2026-11-26). Each form has a field with an object.
_OF_PROVIDERS = {
    "function": Row(
        "function.nested",
        FunctionTool,
        {f"function.{name}": spec for name, spec in _FUNCTION.items()},
        constants={"type": "function"},
    ),
    "parameters": Row("function.untyped", FunctionTool, _FUNCTION),
    "input_schema": Row("function.input_schema", FunctionTool, {**_NAMED, "input_schema": "parameters"}),
    "toolSpec": Row(
        "function.tool_spec",
        FunctionTool,
        {f"toolSpec.{name}": name for name in _NAMED} | {"toolSpec.inputSchema.json": "parameters"},
    ),
}


def _row_of_definition(definition: dict[str, Any]) -> str | None:
    """Return the name of the row of a definition; None if it is not that of a function."""
    kind = definition.get("type")
    if kind == "function" and definition.get("function").__class__ is not dict:
        return "function"
    rows = (candidate for field, candidate in _OF_PROVIDERS.items() if definition.get(field).__class__ is dict)
    row = next(
        (candidate for candidate in rows if candidate.constants.get("type") == kind and candidate.fits(definition)),
        None,
    )
    return None if row is None else row.name


def _with_kind_and_name(tool: HostedTool, wire: dict[str, Any]) -> None:
    """Write the required fields. A tool without a name has that of its kind."""
    wire.setdefault("type", tool.kind)
    wire.setdefault("name", tool.kind)


DEFINITIONS = TABLE.union(
    "tool definition",
    [row("function", FunctionTool, _FUNCTION), *_OF_PROVIDERS.values()],
    find=_row_of_definition,
    prefer=lambda tool, rows: rows[0],
    other=Row("other", HostedTool, {"type": "kind", "name": "name"}, Rest("settings"), Filled({}, _with_kind_and_name)),
)
DECLARATIONS = TABLE.union(
    "function declaration",
    [
        Row("declaration", FunctionTool, {**_NAMED, "parameters": "parameters"}),
        Row("declaration.schema", FunctionTool, {**_NAMED, "parameters_json_schema": "parameters"}),
    ],
    find=lambda wire: "declaration.schema" if wire.get("parameters_json_schema") is not None else "declaration",
    prefer=lambda tool, rows: rows[0],
)
_LIST = "function_declarations"
AROUND_DECLARATIONS = Hint[dict[str, Any]](
    API, "declarations", f"on the first function of `{_LIST}`: the other fields of their object", fields=True
)
DECLARED = Hint[Literal[True]](API, "declared", f"on a further function of `{_LIST}`: it follows one of them")


class Definitions(Blocks[Any]):
    """The definitions of tools. Each function of an object of Gemini with `function_declarations` is one tool."""

    def __init__(self) -> None:
        super().__init__(DEFINITIONS)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if not any(map(_declared, value)):
            return super().decode(value, context, container, key)
        return [tool for one in value for tool in self._decode_one(one, context)]

    def _decode_one(self, wire: Any, context: DecodeContext) -> list[Any]:
        functions = _declared(wire)
        if not functions:
            return self.union.decode_list([wire], context)
        first, *others = DECLARATIONS.decode_list(functions, context)
        around = {name: item for name, item in wire.items() if name != _LIST}
        return [AROUND_DECLARATIONS.on(first, API, around), *(DECLARED.on(other, API, True) for other in others)]

    def count(self, wire: Any) -> int:
        return sum(len(_declared(one)) or 1 for one in wire)

    def places(self, value: list[Any], wire: Any, path: str) -> Iterable[Place]:
        tools = iter(value)
        for index, definition in enumerate(wire):
            functions = _declared(definition)
            declared = list(islice(tools, len(functions) or 1))
            if functions:
                yield from spread(declared, functions, f"{path}[{index}].{_LIST}", DECLARATIONS)
            elif declared:
                yield declared[0], f"{path}[{index}]", definition, self.union

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        wires: list[Any] = []
        functions: list[Any] | None = None
        for tool in value:
            around = AROUND_DECLARATIONS.of(tool, API)
            if around is not None:
                functions = []
                wires.append({**around, _LIST: functions})
            elif functions is None or not DECLARED.of(tool, API):
                functions = None
                wires += self.union.encode_list([tool], context)
            if functions is not None:
                functions += DECLARATIONS.encode_list([tool], context)
        return wires or None


def _declared(wire: Any) -> list[Any]:
    """Return the functions of an object of Gemini without other tools; an empty list for any other definition."""
    functions = wire.get(_LIST) if wire.__class__ is dict else None
    if functions.__class__ is not list or any(wire[name] is not None for name in wire if name != _LIST):
        return []
    is_list = all(function.__class__ is dict and function.get("name").__class__ is str for function in functions)
    return functions if is_list else []
