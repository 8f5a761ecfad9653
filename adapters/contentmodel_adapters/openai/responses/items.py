"""The rows of parts, items, usage and errors of the Responses API, and the ids of items.

The item of a hosted tool is both call and result: a `PairRow` makes two contents of it. The rows are apart from
table.py, which would be twice as long as a file may be. Source: openai 3.52, types/responses; seen November 2026.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

from contentmodel.authoring import (
    LIST,
    ArgumentsObject,
    ArgumentsText,
    Blocks,
    CachePoints,
    Codec,
    Column,
    Columns,
    DataUri,
    DecodeContext,
    EncodeContext,
    EnumString,
    Failure,
    FailureField,
    Field,
    Fields,
    Filled,
    Gathered,
    Implied,
    MintedId,
    Named,
    One,
    Opaque,
    Place,
    Record,
    Row,
    Shape,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    derives,
    object_or_text,
    reasons,
    row,
    text_of,
    write,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.citations import Citation
from contentmodel.content.hosted import (
    ApplyPatchToolCallContent,
    ApplyPatchToolResultContent,
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    ComputerUseToolCallContent,
    ComputerUseToolResultContent,
    FileSearchToolCallContent,
    FileSearchToolResultContent,
    ImageGenerationToolCallContent,
    ImageGenerationToolResultContent,
    McpListToolsToolCallContent,
    McpListToolsToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
    ProgramToolCallContent,
    ProgramToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    ToolSearchToolCallContent,
    ToolSearchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    Caller,
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
)
from contentmodel.message import ChatMessage
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import ReasoningInside
from contentmodel_adapters.common.command_outputs import CommandOutputs
from contentmodel_adapters.common.hosted import output_columns
from contentmodel_adapters.common.media import AUDIO
from contentmodel_adapters.common.reasoning import sealer_of
from contentmodel_adapters.openai.table import cache_point_record, error_record, refusal_row

API, ISSUER = "openai-responses", "openai"
TABLE = Table(API)

DATA_URI = DataUri()
ENCRYPTED = Opaque("openai", "encrypted")


class Sealed(Opaque):
    """The encrypted content of reasoning: of the maker that its `format` names, or else of the maker of the model.

    Only OpenRouter sends a `format` (openrouter.ai/docs, "Responses API", seen 2026-11-27). The APIs of the makers in
    `SEALING` have this state, too. That of other makers is a host's, and is sent back to this API only. The steps of
    requests remove the states that the target cannot read.
    """

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        maker = FORMATS.get(text_of(container, "format")) or sealer_of(context.origin.model) or self.issuer
        return Protected(issuer=maker if maker in SEALING else API, kind=self.kind, data=value)

    def is_read(self, issuer: str, context: EncodeContext) -> bool:
        return issuer == API or issuer in SEALING


SEALING = ("openai", "xai")
"""The makers that have this API, with encrypted reasoning of their models."""
FORMATS = {
    "openai-responses-v1": "openai",
    "azure-openai-responses-v1": "openai",
    "bedrock-openai-responses-v1": "openai",
    "xai-responses-v1": "xai",
    "bedrock-xai-responses-v1": "xai",
    "anthropic-claude-v1": "anthropic",
    "google-gemini-v1": "google",
}
TABLE.known_values("reasoning format", *FORMATS)
SEALED = Sealed("openai", "encrypted")
TEXT_FIELD = TextField(TextContent, "text")


def named_row(name: str, tag: str, model: type[Any], fields: dict[str, Any], *others: Field, **options: Any) -> Row:
    """Return a row whose name differs from its tag, for several rows with the same tag."""
    return Row(name, model, fields, *others, constants={"type": tag}, **options)


# -- citations -----------------------------------------------------------------------------------------------------

CITATIONS = TABLE.union(
    "annotation",
    [
        row(
            "url_citation",
            Citation,
            {"url": "url", "title": "title", "start_index": "span.start", "end_index": "span.end"},
        ),
        # file_citation and file_path refer to one position in the text, the others to a span.
        row("file_citation", Citation, {"file_id": "file_id", "filename": "filename", "index": "span.start"}),
        row("file_path", Citation, {"file_id": "file_id", "index": "span.start"}),
        row(
            "container_file_citation",
            Citation,
            {
                "container_id": "container_id",
                "file_id": "file_id",
                "filename": "filename",
                "start_index": "span.start",
                "end_index": "span.end",
            },
        ),
    ],
    other=Row("other", Citation, {}),
    prefer=lambda citation, rows: rows[0] if citation.url is not None else None,
)

# -- content parts -------------------------------------------------------------------------------------------------


CACHE_POINT = cache_point_record(TABLE)
CACHED: dict[str, Spec] = {"prompt_cache_breakpoint": ("cache_point", CachePoints(CACHE_POINT))}
"""The field of input parts that end a prompt to cache."""

INPUT_TEXT = row("input_text", TextContent, {"text": "text", **CACHED})
OUTPUT_TEXT = row(
    "output_text",
    TextContent,
    {"text": "text", "annotations": ("annotations", Blocks(CITATIONS))},
    Filled({"annotations": []}),
)
REFUSAL = refusal_row()
# How closely a model looks at an image or a file (types/responses/image_detail.py and response_input_file_param.py of
# openai 3.54, seen 2026-11-22).
_IMAGE: dict[str, Spec] = {"detail": ("detail", EnumString("detail", "auto", "low", "high", "original")), **CACHED}
_FILE: dict[str, Spec] = {"detail": ("detail", EnumString("detail", "auto", "low", "high")), **CACHED}
_DATA: dict[str, Spec] = {"image_url": (("media_type", "data"), DATA_URI)}
_AN_IMAGE = Implied({"kind": "image"})


def _images(name: str, tag: str, fields: dict[str, Spec], *others: Field) -> list[Row]:
    """Return the rows of images: by their data, their address and the id of a file."""
    return [
        named_row(f"{name}.data", tag, DataContent, {**_DATA, **fields}, *others),
        named_row(f"{name}.url", tag, UriContent, {"image_url": "uri", **fields}, _AN_IMAGE, *others),
        named_row(f"{name}.file", tag, HostedFileContent, {"file_id": "file_id", **fields}, _AN_IMAGE, *others),
    ]


def _file(name: str, model: type[Any], fields: dict[str, Spec], *others: Field) -> Row:
    return named_row(f"file.{name}", "input_file", model, {**fields, "filename": "name", **_FILE}, *others)


MEDIA = [
    *_images("image", "input_image", _IMAGE, Filled({"detail": "auto"})),
    _file("data", DataContent, {"file_data": (("media_type", "data"), DATA_URI)}),
    _file("url", UriContent, {"file_url": "uri"}, Implied({"kind": "document"})),
    _file("id", HostedFileContent, {"file_id": "file_id"}, Implied({"kind": "document"})),
    row("input_audio", DataContent, {"input_audio.data": "data", "input_audio.format": ("media_type", AUDIO)}),
]


_MEDIA_FORMS: dict[type, str] = {UriContent: "url", DataContent: "data", HostedFileContent: "id"}
_BY_NAME = {row.name: row for row in MEDIA}


def _usual_part(content: Any, rows: list[Row]) -> Row | None:
    form = _MEDIA_FORMS.get(content.__class__)
    if form is None:
        return rows[0]
    if content.media_kind == "image":
        form = "file" if form == "id" else form
        return _BY_NAME[f"image.{form}"]
    return _BY_NAME[f"file.{form}"]


INPUT = TABLE.union("input part", [INPUT_TEXT, OUTPUT_TEXT, REFUSAL, *MEDIA], prefer=_usual_part)
OUTPUT = TABLE.union(
    "output part",
    [OUTPUT_TEXT, INPUT_TEXT, REFUSAL, *MEDIA],
    prefer=_usual_part,
    foreign_types=(TextContent, ErrorContent),
)
REASONING = TABLE.union(
    "reasoning part",
    [
        row("summary_text", ReasoningContent, {"text": "text"}, Implied({"kind": "summary"}), Silent("protected")),
        row("reasoning_text", ReasoningContent, {"text": "text"}, Implied({"kind": "text"}), Silent("protected")),
    ],
    prefer=lambda content, rows: rows[1] if content.kind == "text" else rows[0],
)
SCREENSHOT = TABLE.union("screenshot", _images("screenshot", "computer_screenshot", {}))
SOURCES = TABLE.union("web search source", [row("url", UriContent, {"url": "uri", "title": "title"})])


FOUND = TABLE.union(
    "file search result",
    [
        Row("file", HostedFileContent, {"file_id": "file_id", "filename": "name", "text": "text"}),
        Row("passage", TextContent, {"text": "text"}),
    ],
    tag=None,
)
CODE_OUTPUTS = TABLE.union(
    "code interpreter output",
    [row("logs", TextContent, {"logs": "text"}), row("image", UriContent, {"url": "uri"}, Implied({"kind": "image"}))],
)
# One entry for each command. Its stderr and its failure are separate contents that follow.
SHELL_OUTPUTS = TABLE.union(
    "shell output",
    [
        Row(
            "output",
            TextContent,
            {"stdout": "text"},
            Filled({"stderr": "", "outcome": {"type": "exit", "exit_code": 0}}),
        )
    ],
    find=lambda wire: "output",
)
SHELL_FAILURE = Failure(FailureField("outcome.exit_code"), FailureField("outcome.type", ("timeout",)))
COMMANDS = CommandOutputs(API, SHELL_FAILURE)


class ShellOutputs(Blocks[AIContent]):
    """The outputs of shell commands."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        return COMMANDS.split(super().decode(value, context, container, key), value)

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return COMMANDS.places(value, wire, path, self.union)

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        return super().encode(COMMANDS.join(value, context), context, owner)


# The readable outputs of an unknown tool. The type of such an object stays in its residue.
ANY_TYPE = ("",)
GIVEN_BACK = TABLE.union(
    "hosted tool output",
    [
        *INPUT.rows,
        *CODE_OUTPUTS.rows,
        Row("other_text", TextContent, {"text": "text"}, shape=Shape(ANY_TYPE, {"text": str})),
        Row("other_printed", TextContent, {"stdout": "text"}, shape=Shape(ANY_TYPE, {"stdout": str})),
        Row("other_page", UriContent, {"url": "uri", "title": "title"}, shape=Shape(ANY_TYPE, {"url": str})),
        Row("other_file", HostedFileContent, {"file_id": "file_id"}, shape=Shape(ANY_TYPE, {"file_id": str})),
    ],
    prefer=_usual_part,
    accepts_untyped=True,
)


class MadeImage(Codec[list[AIContent]]):
    """The base64 of a generated image. Another field of the item has its format."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        return [DataContent(data=value)]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, None)]

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        for content in value[1:]:
            context.report_loss(content, None, reasons.ONE_IMAGE)
        context.report_lost_attributes(value[0], ("media_type", "name"))
        context.leave_residue(value[0])
        return value[0].data

    def describe(self) -> str:
        return "base64"


class FailureObject(Codec[list[AIContent]]):
    """A failure as a string or an object, kept as received.

    One that was created by the application is a string, or the value of `write`. `field` is the key of the message in
    an object without "message".
    """

    classes = (str, dict)
    identity = False

    def __init__(self, write: Callable[[ErrorContent], Any] | None = None, field: str = "message") -> None:
        self._write, self._field = write, field

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is str:
            failure = ErrorContent(message=value)
        else:
            code = value.get(self._fields_of(value).get("code", ""))
            text = _text_of_failure(value.get(self._message_of(value)))
            failure = ErrorContent(message=text or "", code=None if code is None else str(code), details=value)
        return [failure]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        row = Fields(self._fields_of(wire), rest="details") if wire.__class__ is dict else None
        return [(value[0], path, wire, row)]

    def _fields_of(self, wire: dict[str, Any]) -> dict[str, str]:
        """Return the fields of an object that are the message and the code, by attribute."""
        message, code = self._message_of(wire), "code" if "code" in wire else "type"
        fields = {} if _text_of_failure(wire.get(message)) is None else {"message": message}
        return {**fields, "code": code} if wire.get(code).__class__ in (str, int) else fields

    def _message_of(self, wire: dict[str, Any]) -> str:
        return "message" if "message" in wire else self._field

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        failure = value[0]
        if failure.details is None:
            return self._write(failure) if self._write is not None and context.completes else failure.message
        field = self._message_of(failure.details)
        text = _text_of_failure(failure.details.get(field))
        # In documents of earlier versions, the message of a list of texts is empty.
        if text is None or failure.message in (text, "" if isinstance(failure.details[field], list) else text):
            return failure.details
        return {**failure.details, field: failure.message}


def _text_of_failure(value: Any) -> str | None:
    """Return the message of a failure: a text, or the texts of a result of MCP; None if it is anything else."""
    if value.__class__ is str:
        return value
    if value.__class__ is not list or not value or not all(map(_is_plain_text, value)):
        return None
    return "\n".join(block["text"] for block in value)


def _is_plain_text(block: Any) -> bool:
    if block.__class__ is not dict or block.get("type") != "text" or block.get("text").__class__ is not str:
        return False
    return all(value is None or key in ("type", "text") for key, value in block.items())


# The objects of openai 3.54, types/responses/response_output_item.py and mcp_tool_call_error.py, seen 2026-11-22.
IMAGE_ERROR = FailureObject(lambda e: {"type": e.code or "error", "code": e.code, "message": e.message or e.code or ""})
MCP_ERROR = FailureObject(
    lambda e: {"type": "mcp_tool_execution_error", "content": e.message or e.code or ""}, field="content"
)
LIST_ERROR = FailureObject()

# -- records -------------------------------------------------------------------------------------------------------

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "input_tokens_details.cached_tokens": "cache_read_tokens",
        "input_tokens_details.cache_write_tokens": "cache_write_tokens",
        "output_tokens_details.reasoning_tokens": "reasoning_tokens",
    },
    ReasoningInside("input_tokens", "output_tokens"),
    Silent("cached_inside"),
)
ERROR = error_record(TABLE)

# Nested strings and objects that stay inside `arguments`, or in the residue, as received.
TABLE.known_values("web_search.action", "search", "open_page", "find_in_page")
TABLE.known_values(
    "computer.actions",
    *("click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"),
)
TABLE.known_values("shell.outcome", "exit", "timeout")
TABLE.known_values("apply_patch.operation", "create_file", "delete_file", "update_file")
TABLE.keep(
    "request",
    *("access_programs", "background", "background_options", "context_management", "image", "include"),
    *("max_tool_calls", "moderation", "prompt", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
    *("safety_identifier", "stream_options", "truncation"),
)
TABLE.keep(
    "response",
    *("access_programs", "background", "completed_at", "conversation", "image", "input_transformations"),
    *("instructions", "max_output_tokens", "max_tool_calls", "metadata", "moderation", "object"),
    *("parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_diagnostics", "prompt_cache_key"),
    *("prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier"),
    *("temperature", "text", "tool_choice", "tool_usage", "tools", "top_logprobs", "top_p", "truncation", "user"),
)


# -- items -------------------------------------------------------------------------------------------------------------

CALLER = TABLE.record("caller", Caller, {"type": "kind", "caller_id": "call_id"})


class ProgramCaller(Record[Caller]):
    """The caller of a call. Of those that other formats keep, only a program that the API gets is sent."""

    def __init__(self, row: Row) -> None:
        super().__init__(row, provider_only=True)

    def encode(self, value: Caller, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        is_kept = context.is_own(value)
        return self.row.encode(value, context) if is_kept else super().encode(value, context, owner)


CALL: dict[str, Spec] = {
    "call_id": "call_id",
    "status": "status",
    "caller": ("caller", ProgramCaller(CALLER)),
}
SEARCH: dict[str, Spec] = {**CALL, "call_id": ("call_id", MintedId())}  # Null if the API runs the search.
HOSTED_FIELDS: dict[str, Spec] = {"id": "call_id", "status": "status"}
# The required fields of every item of an answer, with their defaults (openai 3.54, types/responses; seen 2026-11-22).
ENDED: dict[str, Any] = {"status": "completed"}
ITEM: dict[str, Any] = {"id": "", **ENDED}
RESULT_OF = ("call_id", "name", "caller", "status", "is_error")
TEXT_OR_PARTS = TextOrBlocks(INPUT, "string")
# The status of an item is that of the call; a failed call may have no other sign of its failure.
STATUS = FailureField("status", ("failed",), failed="failed")
FAILED, ONLY_STATUS = Failure(STATUS), Failure(STATUS, only_fields=True)
OUTPUTS = output_columns(GIVEN_BACK, "output")


def _call(tag: str, model: type[Any], fields: dict[str, Spec], *others: Field, fill: dict[str, Any]) -> Row:
    """Return the row of the call of a tool that the API runs."""
    silent = Silent(*(name for name in ("name", "caller") if name not in fields))
    return row(tag, model, {**HOSTED_FIELDS, **fields}, *others, silent, Filled(fill))


def _result(name: str, model: type[Any], fields: dict[str, Spec], *others: Field, silent: tuple[str, ...] = ()) -> Row:
    """Return the row of the result in the item of a call."""
    return Row(f"{name}_result", model, fields, *others, Silent(*RESULT_OF, *silent))


_OF_IMAGE = ("action", "background", "output_format", "prompt", "quality", "revised_prompt", "size")
PAIRS = [
    TABLE.pair(
        _call(
            "web_search_call",
            WebSearchToolCallContent,
            {"action": "arguments"},
            fill={**ENDED, "action": {"type": "search", "query": ""}},
        ),
        _result("web_search", WebSearchToolResultContent, {"sources": ("outputs", Blocks(SOURCES))}),
        ("sources",),
        ONLY_STATUS,
    ),
    TABLE.pair(
        _call(
            "file_search_call",
            FileSearchToolCallContent,
            {},
            Gathered("arguments", "queries"),
            fill={**ENDED, "queries": []},
        ),
        _result("file_search", FileSearchToolResultContent, {"results": ("outputs", Blocks(FOUND))}),
        ("results",),
        ONLY_STATUS,
    ),
    TABLE.pair(
        _call(
            "code_interpreter_call",
            CodeInterpreterToolCallContent,
            {},
            Gathered("arguments", "code"),
            fill={**ENDED, "container_id": ""},
        ),
        _result("code_interpreter", CodeInterpreterToolResultContent, {"outputs": ("outputs", Blocks(CODE_OUTPUTS))}),
        ("outputs",),
        ONLY_STATUS,
    ),
    TABLE.pair(
        _call(
            "image_generation_call",
            ImageGenerationToolCallContent,
            {},
            Gathered("arguments", *_OF_IMAGE),
            fill=ENDED,
        ),
        _result(
            "image_generation",
            ImageGenerationToolResultContent,
            {},
            Columns(
                "outputs", {"result": Column(MadeImage(), DataContent), "error": Column(IMAGE_ERROR, ErrorContent)}
            ),
        ),
        ("result", "error"),
        FAILED,
    ),
    TABLE.pair(
        _call(
            "mcp_call",
            McpServerToolCallContent,
            {"name": "name", "server_label": "server", "arguments": ("arguments", ArgumentsText())},
            fill={"name": "", "server_label": "", "arguments": "{}"},
        ),
        _result(
            "mcp",
            McpServerToolResultContent,
            {},
            Columns("outputs", {"output": Column(TEXT_FIELD, TextContent), "error": Column(MCP_ERROR, ErrorContent)}),
            silent=("server",),
        ),
        ("output", "error"),
        FAILED,
    ),
    TABLE.pair(
        _call(
            "mcp_list_tools",
            McpListToolsToolCallContent,
            {"server_label": "server"},
            fill={"server_label": "", "tools": []},
        ),
        _result(
            "mcp_list_tools",
            McpListToolsToolResultContent,
            {"tools": "tools"},
            Columns("outputs", {"error": Column(LIST_ERROR, ErrorContent)}),
            silent=("server",),
        ),
        ("tools", "error"),
        FAILED,
    ),
]


def _function_call(name: str, arguments: ArgumentsText, **options: Any) -> Row:
    fields: dict[str, Spec] = {**CALL, "name": "name", "namespace": "namespace", "arguments": ("arguments", arguments)}
    return named_row(name, "function_call", FunctionCallContent, fields, Filled({"arguments": "{}"}), **options)


def _has_object(wire: Mapping[str, Any]) -> bool:
    return wire.get("arguments").__class__ is dict


CLIENT_CALLS = [
    # OpenAI refuses an object, but clients of other hosts send one, as in Chat.
    _function_call("function_call.object", ArgumentsText(objects=True), accepts=_has_object),
    _function_call("function_call", ArgumentsText()),
    row(
        "custom_tool_call",
        CustomToolCallContent,
        {**CALL, "name": "name", "namespace": "namespace", "input": "arguments"},
        Filled({"input": ""}),
    ),
]


def _by_executor(
    tag: str, model: type[Any], fields: dict[str, Spec], *others: Field, fill: dict[str, Any], **options: Any
) -> list[Row]:
    """Return the rows of an item whose `execution` names the party that runs the tool.

    It is required (openai 3.54, types/responses/response_tool_search_call.py, seen 2026-11-22).
    """
    client = {"type": tag, "execution": "client"}
    by_client = Row(
        f"{tag}.client",
        model,
        fields,
        *others,
        Implied({"executor": "client"}),
        Filled(fill),
        constants=client,
        **options,
    )
    return [row(tag, model, fields, *others, Filled({**fill, "execution": "server"}), **options), by_client]


def _shell(name: str, tag: str, *others: Field, **options: Any) -> Row:
    fields: dict[str, Spec] = {**CALL, "action": ("arguments", ArgumentsObject())}
    return named_row(name, tag, ShellToolCallContent, fields, Silent("name"), *others, **options)


PROVIDER_CALLS = [
    row(
        "computer_call",
        ComputerUseToolCallContent,
        CALL,
        Gathered("arguments", "action", "actions", "pending_safety_checks"),
        Silent("name"),
        Filled({**ITEM, "pending_safety_checks": []}),
    ),
    # A shell in a container is run by the provider; without one the application runs the commands.
    _shell("shell_call", "shell_call", Implied({"executor": "client"}), Filled(ENDED)),
    _shell("shell_call.container", "shell_call", Filled(ENDED), select=("environment.type", ("container_reference",))),
    _shell("local_shell_call", "local_shell_call", Implied({"executor": "client"})),
    row(
        "apply_patch_call",
        ApplyPatchToolCallContent,
        {**CALL, "operation": ("arguments", ArgumentsObject())},
        Silent("name"),
        Filled(ENDED),
    ),
    *_by_executor(
        "tool_search_call", ToolSearchToolCallContent, {**SEARCH, "arguments": "arguments"}, Silent("name"), fill=ITEM
    ),
    row(
        "program",
        ProgramToolCallContent,
        {"call_id": "call_id", "fingerprint": ("protected", Opaque("openai", "signature"))},
        Gathered("arguments", "code"),
        Silent("name", "status", "caller"),
        Filled({"id": "", "code": "", "fingerprint": ""}),
    ),
]
RESULTS = [
    row(
        "function_call_output",
        FunctionResultContent,
        {**CALL, "name": "name", "output": ("outputs", TEXT_OR_PARTS)},
        Filled({"output": ""}),
    ),
    row(
        "custom_tool_call_output",
        CustomToolResultContent,
        {**CALL, "output": ("outputs", TEXT_OR_PARTS)},
        Filled({"output": ""}),
        Silent("name"),
    ),
    row(
        "computer_call_output",
        ComputerUseToolResultContent,
        {**CALL, "output": ("outputs", One(SCREENSHOT))},
        Silent("name"),
        failure=FAILED,
    ),
    row(
        "shell_call_output",
        ShellToolResultContent,
        {**CALL, "output": ("outputs", ShellOutputs(SHELL_OUTPUTS))},
        Silent("name"),
        Filled({**ENDED, "output": []}),
        failure=FAILED,
    ),
    row(
        "local_shell_call_output",
        ShellToolResultContent,
        {"id": "call_id", "status": "status", "output": ("outputs", TEXT_FIELD)},
        Silent("name", "caller"),
        failure=FAILED,
    ),
    row(
        "apply_patch_call_output",
        ApplyPatchToolResultContent,
        {**CALL, "output": ("outputs", TEXT_FIELD)},
        Silent("name"),
        failure=Failure(STATUS, texts_are_errors=True, only_fields=True),
    ),
    *_by_executor(
        "tool_search_output",
        ToolSearchToolResultContent,
        {**SEARCH, "tools": "tools"},
        Silent("name"),
        fill={**ITEM, "tools": []},
        failure=FAILED,
    ),
    row(
        "program_output",
        ProgramToolResultContent,
        {**CALL, "result": ("outputs", TEXT_FIELD)},
        Silent("name"),
        Filled({**ITEM, "result": ""}),
        # The status is the only sign of an incomplete program (types/responses, ProgramOutput.status).
        failure=Failure(FailureField("status", ("incomplete", "failed"), failed="incomplete"), only_fields=True),
    ),
]

# -- tools that no class names -------------------------------------------------------------------------------------

_INPUTS = ("action", "operation", "input", "query", "queries", "code", "prompt")
# In order of preference: the most informative field first.
_ANY_FAILURE = Failure(
    FailureField("error"), STATUS, FailureField("is_error"), SHELL_FAILURE.fields[0], FailureField("exit_code")
)


def _other_calls(name: str, fields: dict[str, Spec], shape: Shape) -> list[Row]:
    """Return the rows of calls of an unknown tool: with `arguments`, or with inputs of other names."""
    named: dict[str, Spec] = {**fields, "type": ("name", Named("_call"))}
    tag, ignores = ("type", ("hosted_call",)), ("caller",)
    less = Shape(shape.endings, shape.fields, (*shape.without, "arguments"))
    return [
        Row(
            f"{name}.inputs",
            HostedToolCallContent,
            named,
            Gathered("arguments", *_INPUTS),
            Silent(*ignores),
            shape=less,
            select=tag,
        ),
        Row(
            name, HostedToolCallContent, {**named, "arguments": "arguments"}, Silent(*ignores), shape=shape, select=tag
        ),
    ]


# xAI runs searches of X, and sends them in the form of a call of a custom tool. Only the id differs
# (docs.x.ai/developers/tools/x-search; lidge-jun/opencodex#2190; justrach/codegraff#632; seen 2026-11-27).
SEARCH_OF_X = named_row(
    "x_search",
    "custom_tool_call",
    HostedToolCallContent,
    {**CALL, "name": "name", "input": "arguments"},
    Filled({"input": ""}),
    accepts=lambda wire: wire.get("type") == "custom_tool_call" and text_of(wire, "call_id").startswith("xs_call"),
)
# An item without `call_id` is both call and result, like all tools that OpenAI runs; other tools have two items.
OTHER_PAIRS = [
    TABLE.pair(
        call,
        Row("other_result", HostedToolResultContent, {}, Columns("outputs", OUTPUTS), Silent(*RESULT_OF)),
        tuple(OUTPUTS),
        _ANY_FAILURE,
    )
    for call in (SEARCH_OF_X, *_other_calls("other_pair", HOSTED_FIELDS, Shape(("_call",), without=("call_id",))))
]


def _other_results(ending: str) -> list[Row]:
    """Return the rows of results of an unknown tool: with `call_id`, or else with the id of the call as its own."""
    name: dict[str, Spec] = {"type": ("name", Named(ending))}
    options: dict[str, Any] = {"select": ("type", (f"hosted{ending}",)), "failure": _ANY_FAILURE}
    return [
        Row(
            f"other{ending}",
            HostedToolResultContent,
            {**CALL, **name},
            Columns("outputs", OUTPUTS),
            shape=Shape((ending,), {"call_id": str}),
            **options,
        ),
        Row(
            f"other{ending}.id",
            HostedToolResultContent,
            {**HOSTED_FIELDS, **name},
            Columns("outputs", OUTPUTS),
            Silent("caller"),
            shape=Shape((ending,), without=("call_id",)),
            **options,
        ),
    ]


OTHER_TOOLS = [
    *_other_calls("other_call", CALL, Shape(("_call",), {"call_id": str})),
    *(result for ending in ("_call_output", "_output", "_result") for result in _other_results(ending)),
]
OTHERS = [
    row("compaction", CompactionContent, {"encrypted_content": ("protected", ENCRYPTED)}),
    row("compaction_trigger", ConfigurationContent, {}, Implied({"kind": "compaction_trigger"})),
    row(
        "configuration_update",
        ConfigurationContent,
        {},
        Gathered("settings", "reasoning", "text"),
        Implied({"kind": "configuration_update"}),
    ),
    row("item_reference", ReferenceContent, {"id": "item_id"}),
    row("additional_tools", ToolChangeContent, {"tools": ("tools", LIST)}, Implied({"action": "add"})),
    row(
        "mcp_approval_request",
        ToolApprovalRequestContent,
        {
            "id": "request_id",
            "name": "name",
            "server_label": "server",
            "arguments": ("arguments", ArgumentsText()),
        },
    ),
    row(
        "mcp_approval_response",
        ToolApprovalResponseContent,
        {"approval_request_id": "request_id", "approve": "approved", "reason": "reason"},
    ),
]


def _usual_item(content: Any, rows: list[Row]) -> Row:
    if content.__class__ is FunctionCallContent:
        return rows[-1]
    if content.__class__ in (ToolSearchToolCallContent, ToolSearchToolResultContent):
        return rows[content.executor == "client"]
    if content.__class__ is ShellToolCallContent and content.executor == "provider":
        return rows[1]
    if content.__class__ is ConfigurationContent:
        return next((r for r in rows if r.implied["kind"] == content.kind), rows[1])
    return rows[0]


ITEMS = TABLE.union(
    "item",
    [*CLIENT_CALLS, *PROVIDER_CALLS, *RESULTS, *OTHERS, *OTHER_TOOLS],
    prefer=_usual_item,
)
AGENT_MESSAGE = TABLE.record(
    "agent_message",
    ChatMessage,
    {"content": ("contents", Blocks(INPUT))},
    Implied({"role": "user"}),
    Silent("message_id"),
    constants={"type": "agent_message"},
)
"""A message of another agent. The model must act on it as on one of the user.

Source: types/beta/beta_response_input_item_param.py of openai 3.54; `ResponseItem` in codex-rs/protocol of
openai/codex. Seen 2026-11-27.
"""


def is_agent_message(item: dict[str, Any]) -> bool:
    """Return whether an item is a message of another agent, with a content that is a list of objects."""
    parts = item.get("content") if item.get("type") == AGENT_MESSAGE.name else None
    return parts.__class__ is list and bool(parts) and all(part.__class__ is dict for part in parts)


# -- ids ---------------------------------------------------------------------------------------------------------------

# The prefixes of item ids in recorded answers (seen 2026-11-22). The last four are not recorded.
PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fc",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctc",
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "local_shell_call": "lsh",
    "shell_call": "sh",
    "shell_call_output": "sho",
    "apply_patch_call": "apc",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "program": "cm",
    "program_output": "cmo",
    "compaction": "cmp",
    "computer_call": "cu",
    "computer_call_output": "cuo",
    "apply_patch_call_output": "apco",
    "local_shell_call_output": "lsho",
}

_STORED = re.compile(r"resp_([0-9a-f]{32})")


class ItemIds:
    """Generate ids for the items of one answer that have none.

    Clients refuse items without an id, and calls without a status (@ai-sdk/openai 3.0, seen 2026-11-22).

    An id is a hash of the answer's id, or of its time and model if it has none, of the id of the call, and of the
    number of the item among those of its kind. So the items of a conversation differ, and an answer has the same ids
    whether it is streamed or not.

    If the answer's id is `resp_` and 32 hexadecimal digits, the ids of its items begin with these digits, so that a
    server that stores answers finds the answer of an item. (OpenAI's ids begin with the same digits, too.)
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self._answer = answer.get("id") or [answer.get("created_at"), answer.get("model")]
        self._counts: Counter[bytes] = Counter()

    def named(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return an item with an id: its own, or a new one."""
        prefix = PREFIXES.get(text_of(item, "type"))
        if prefix is None or item.get("id"):
            return item
        call_id = item.get("call_id")
        key = write([prefix, call_id])
        self._counts[key] += 1
        return with_id(item, _item_id(prefix, self._answer, call_id, self._counts[key]))


@derives
def _item_id(prefix: str, answer: Any, call_id: Any, number: int) -> str:
    """Return the id of an item. `answer` is the answer's id, or its time and model."""
    stored = _STORED.fullmatch(answer) if answer.__class__ is str else None
    begin = "" if stored is None else stored[1]
    digits = sha256(b"%b%d" % (write([prefix, answer, call_id]), number)).hexdigest()
    return f"{prefix}_{begin}{digits[: 16 if begin else 32]}"


def with_id(item: dict[str, Any], item_id: str) -> dict[str, Any]:
    """Return an item of an answer with this id, its first field. A call gets a status if it has none."""
    status = _status_of(item) if item.get("type") in ("function_call", "custom_tool_call") else {}
    return {"id": item_id, **status, **{name: value for name, value in item.items() if name != "id"}}


def _status_of(call: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a call. One whose arguments are no object was cut off: it must not look complete.

    The status of a function call may be "incomplete" (openai 3.52, response_function_tool_call.py, seen 2026-11-29).
    """
    arguments = text_of(call, "arguments")
    is_cut_off = arguments != "" and object_or_text(arguments).__class__ is str
    return {"status": "incomplete"} if is_cut_off else ENDED
