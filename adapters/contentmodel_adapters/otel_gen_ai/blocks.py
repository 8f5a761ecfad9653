"""The table of OpenTelemetry's GenAI messages: their parts, and the attributes of spans around them.

Source: gen-ai-input-messages.json, gen-ai-output-messages.json, gen-ai-system-instructions.json and
gen-ai-tool-definitions.json of open-telemetry/semantic-conventions-genai, and the types of opentelemetry-util-genai
1.3b0 (seen 2026-11-23). All objects are open: parts may have any type, and objects may have further fields. Contents
that the conventions do not define are written as parts with a type of this library, and attributes of the model as
fields with the attribute's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    ArgumentsObjectOrText,
    Blocks,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Filled,
    Group,
    Implied,
    Required,
    Rest,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    dotted_key,
    passes,
    row,
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
from contentmodel.failures import STATUSES
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, FunctionTool, HostedTool
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.otel_gen_ai.hosted import (
    BUILTIN,
    SERVER_CALL,
    SERVER_RESPONSE,
    hosted_rows,
    row_of_hosted,
    usual_call,
)
from contentmodel_adapters.otel_gen_ai.values import (
    API,
    FINISH,
    Anything,
    Instructions,
    Messages,
    OutputType,
    Response,
    modality,
)

TABLE = Table(API)

# -- parts -------------------------------------------------------------------------------------------------------------

_FILE: dict[str, Spec] = {"name": "name", "detail": "detail"}
_LINK: dict[str, Spec] = {"mime_type": "media_type", "modality": "kind", **_FILE, "title": "title", "text": "text"}
_TOOL: dict[str, Spec] = {"id": "call_id", "name": "name", "is_error": "is_error"}


def _url(kind: str) -> Row:
    """Return the row of a link as Pydantic AI recorded it before version 4 of its format."""
    return row(f"{kind}-url", UriContent, {"url": ("uri", Required())}, Implied({"kind": kind}))


_OUTPUT_ROWS = [
    row("text", TextContent, {"content": "text"}),
    # The text of a tool's result as MCP and providers write it. Instrumentations record it unchanged.
    Row("text.text", TextContent, {"text": "text"}, constants={"type": "text"}),
    row(
        "blob",
        DataContent,
        {"mime_type": "media_type", "content": ("data", Required()), **_FILE, "transcript": "transcript"},
        modality(),
    ),
    row("uri", UriContent, {"uri": "uri", **_LINK}, modality()),
    row("file", HostedFileContent, {"file_id": "file_id", **_LINK}, modality()),
    row("binary", DataContent, {"media_type": "media_type", "content": ("data", Required())}),
    *map(_url, ("image", "audio", "video", "document")),
    row("error", ErrorContent, {name: name for name in ("message", "code", "kind", "details")}),
    row("hosted_vector_store", HostedVectorStoreContent, {"vector_store_id": "vector_store_id"}),
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
    prefer=lambda content, rows: usual_call(content, rows) if isinstance(content, HostedToolCallContent) else rows[0],
)
_BY_NAME = {one.name: one for one in (*PARTS.rows, _JSON)}
TYPES = frozenset(one.constants["type"] for one in PARTS.rows)
"""The types of parts that have rows."""


def _row_of(part: dict[str, Any]) -> str | None:
    """Return the name of the row of a part; None if it has no row, or no content because recording it is off."""
    tag = part.get("type")
    if tag.__class__ is not str:
        return None
    if tag in (SERVER_CALL, SERVER_RESPONSE) or (
        tag in ("tool_call", "tool_call_response") and part.get(BUILTIN) is True
    ):
        return row_of_hosted(part)
    if tag == "tool_call_response" and "result" in part and "response" not in part:
        return "tool_call_response.result"
    if tag == "text" and "content" not in part and part.get("text").__class__ is str:
        return "text.text"
    found = _BY_NAME.get(tag)
    return found.name if found is not None and found.fits(part) else None


# -- messages ----------------------------------------------------------------------------------------------------------

ROLES = ("system", "developer", "user", "assistant", "tool")
_ROLE = Roles(API, {role: role for role in ROLES})
_MESSAGE: dict[str, Spec] = {"name": "author_name", "parts": ("contents", Blocks(PARTS))}
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {
        "role": ("role", _ROLE),
        **_MESSAGE,
        "finish_reason": ("finish_reason", FINISH),
    },
    Filled({"parts": []}),
    Silent("message_id"),
)
ANSWER = TABLE.record(
    "output message",
    ChatMessage,
    {"role": ("role", _ROLE), **_MESSAGE},
    Filled({"parts": []}),
    Silent("message_id"),
)
TABLE.known_values("message.role", *ROLES)


class _Answer(Group):
    """The message of a choice. Its fields are beside those of the choice."""

    attribute = "messages"
    keys = ("role", "name", "parts")

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatMessage]:
        own = context.only(wire, self.keys)
        messages = [ANSWER.decode(own, context)]
        context.trace(ANSWER, messages, own, None, spread=False)
        return messages

    def encode(self, value: list[ChatMessage], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        messages = value or [ChatMessage(role="assistant")]
        made = ANSWER.encode(passes.joined_messages(messages, context) if len(messages) > 1 else messages[0], context)
        finish = wire.pop("finish_reason", None)
        wire.update(made if finish is None else {**made, "finish_reason": finish})


CHOICES = TABLE.union(
    "output message",
    [Row("choice", ChatChoice, {"finish_reason": ("finish_reason", FINISH)}, _Answer(), Silent("index"))],
    tag=None,
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
    found = (one for field, one in _OF_PROVIDERS.items() if definition.get(field).__class__ is dict)
    own = next((one for one in found if one.constants.get("type") == kind and one.fits(definition)), None)
    return None if own is None else own.name


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

# -- attributes --------------------------------------------------------------------------------------------------------

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS, TOOLS = "gen_ai.system_instructions", "gen_ai.tool.definitions"
FINISH_REASONS = "gen_ai.response.finish_reasons"


def _attributes(fields: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return `fields` with escaped keys: the dots in the name of an attribute do not separate steps of a path."""
    return {dotted_key(name): spec for name, spec in fields.items()}


ERRORS = ErrorTypes(("error.type",), {kind: {"error.type": kind} for kind in STATUSES}, {})


class _Error(Group):
    """The error of a span, in two attributes."""

    attribute = "error"
    keys = ("error.type", "error.message")
    row = TABLE.record(
        "error", ErrorContent, _attributes({"error.type": "code", "error.message": "message"}), Silent("kind")
    )
    body = ErrorBody(row, ERRORS)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ErrorContent | None:
        own = {key: wire[key] for key in self.keys if key in wire}
        if not own:
            return None
        context.copied(own, wire)
        error = self.body.decode(own, context, wire, "error.type")
        context.trace(self.row, [error], own, None, spread=False)
        return error

    def encode(self, value: ErrorContent | None, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value is not None:
            wire.update(self.body.encode(value, context, owner))


REQUEST = TABLE.record(
    "request",
    ChatRequest,
    _attributes(
        {
            "gen_ai.request.model": "model",
            INSTRUCTIONS: ("instructions", Instructions(PARTS)),
            INPUT: ("messages", Messages(MESSAGE)),
            TOOLS: ("tools", Blocks(DEFINITIONS)),
            "gen_ai.request.max_tokens": "options.max_output_tokens",
            "gen_ai.request.temperature": "options.temperature",
            "gen_ai.request.top_p": "options.top_p",
            "gen_ai.request.top_k": "options.top_k",
            "gen_ai.request.frequency_penalty": "options.frequency_penalty",
            "gen_ai.request.presence_penalty": "options.presence_penalty",
            "gen_ai.request.seed": "options.seed",
            "gen_ai.request.stop_sequences": "options.stop_sequences",
            "gen_ai.request.choice.count": "options.choices",
            "gen_ai.request.stream": "options.stream",
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
            "gen_ai.usage.input_tokens": "usage.input_tokens",
            "gen_ai.usage.output_tokens": "usage.output_tokens",
            "gen_ai.usage.cache_read.input_tokens": "usage.cache_read_tokens",
            "gen_ai.usage.cache_creation.input_tokens": "usage.cache_write_tokens",
            "gen_ai.usage.reasoning.output_tokens": "usage.reasoning_tokens",
            "gen_ai.usage.audio.input_tokens": "usage.input_audio_tokens",
            "gen_ai.usage.audio.output_tokens": "usage.output_audio_tokens",
        }
    ),
    _Error(),
    Silent("usage.cached_inside", "usage.reasoning_inside"),
)
