"""The table of the Messages API: content blocks, hosted tools and their results, citations, tools, messages, requests.

Read off anthropic 2.11 (types, types/beta), seen November 2026. A hosted tool's call and result are two blocks. The
content of a result is one block, a list of blocks, or an error object instead. Answers and errors are in response.py:
the whole would be longer than 1,000 lines.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    AddedTools,
    ArgumentsObject,
    Blocks,
    CachePoints,
    Choice,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    EnumString,
    Failure,
    FailureField,
    Filled,
    Gathered,
    Implied,
    MessageList,
    Named,
    One,
    OneOf,
    Opaque,
    Outputs,
    Record,
    Rest,
    Roles,
    Row,
    Shape,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    enum_at,
    free_text_row,
    has_explicit_error,
    is_free_text,
    reasons,
    row,
    with_detached_media,
    with_media_back,
)
from contentmodel.content import hosted
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
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
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel_adapters.anthropic.models import DISPLAYS, EFFORTS, MODES
from contentmodel_adapters.anthropic.shared import NO_PARAMETERS, ONE_TOOL, without_parameters_row
from contentmodel_adapters.common.hosted import Current, Hosted, Lines, declaration, output_columns
from contentmodel_adapters.common.replay import Change, Replay, is_own_answer

API = "anthropic-messages"
TABLE = Table(API)

SIGNATURE = Opaque("anthropic", "signature")
ENCRYPTED = Opaque("anthropic", "encrypted")
REDACTED = Opaque("anthropic", "redacted")
ARGUMENTS = ArgumentsObject()

CACHE_POINT = TABLE.record(
    "cache_control",
    CachePoint,
    {"ttl": ("ttl", EnumString("ttl", "5m", "1h", reason=reasons.CACHE_LIFETIME))},
    constants={"type": "ephemeral"},
)
CACHED: dict[str, Spec] = {"cache_control": ("cache_point", CachePoints(CACHE_POINT))}
"""The field of blocks and tools that end a prompt to cache."""


def _named_media(name: str, model: type[Any], fields: dict[str, Any], **constants: Any) -> Row:
    """Return one of several rows with the same tag, which differ in a nested constant.

    The kind of a link or a file is its tag.
    """
    implied = {"kind": constants["type"]} if "kind" in model.__struct_fields__ else {}
    fields = {**fields, **CACHED}
    return Row(name, model, fields, Implied(implied), constants={k.replace("__", "."): v for k, v in constants.items()})


# -- citations -----------------------------------------------------------------------------------------------------


def _located(tag: str, unit: str, names: tuple[str, str], **fields: str) -> Row:
    located = {names[0]: "location.start", names[1]: "location.end", "cited_text": "cited_text", **fields}
    filled = Filled({"cited_text": "", "title" if "title" in fields else "document_title": None})
    return row(tag, Citation, located, Implied({"location.unit": unit}), filled)


_DOCUMENT = {"document_index": "document_index", "document_title": "title", "file_id": "file_id"}
CITATIONS = TABLE.union(
    "citation",
    [
        row("web_search_result_location", Citation, {"url": "url", "title": "title", "cited_text": "cited_text"}),
        _located("char_location", "char", ("start_char_index", "end_char_index"), **_DOCUMENT),
        _located("page_location", "page", ("start_page_number", "end_page_number"), **_DOCUMENT),
        _located("content_block_location", "block", ("start_block_index", "end_block_index"), **_DOCUMENT),
        _located(
            "search_result_location",
            "block",
            ("start_block_index", "end_block_index"),
            search_result_index="document_index",
            source="url",
            title="title",
        ),
    ],
    other=Row("other", Citation, {}),
    # Citations of other APIs have no place in a document. Those of Converse have the name of a row.
    prefer=lambda citation, rows: None,
)

# -- text and media ------------------------------------------------------------------------------------------------

TEXT = row("text", TextContent, {"text": "text", "citations": ("annotations", Blocks(CITATIONS)), **CACHED})
TEXT_PARTS = TABLE.union("text part", [TEXT])

_INLINE = {"source.data": "data", "source.media_type": "media_type"}
MEDIA = [
    _named_media("image.base64", DataContent, _INLINE, type="image", source__type="base64"),
    _named_media("image.url", UriContent, {"source.url": "uri"}, type="image", source__type="url"),
    _named_media("image.file", HostedFileContent, {"source.file_id": "file_id"}, type="image", source__type="file"),
    _named_media("document.base64", DataContent, {**_INLINE, "title": "name"}, type="document", source__type="base64"),
    _named_media(
        "document.text",
        DataContent,
        {"source.data": "text", "source.media_type": "media_type", "title": "name"},
        type="document",
        source__type="text",
    ),
    _named_media(
        "document.url", UriContent, {"source.url": "uri", "title": "title"}, type="document", source__type="url"
    ),
    _named_media(
        "document.file",
        HostedFileContent,
        {"source.file_id": "file_id", "title": "title"},
        type="document",
        source__type="file",
    ),
    row("container_upload", HostedFileContent, {"file_id": "file_id", **CACHED}),
]


def _usual_media(content: Any, rows: list[Row]) -> Row | str:
    if content.__class__ is not DataContent:
        return f"{content.media_kind}.{'url' if content.__class__ is UriContent else 'file'}"
    if content.text is not None:
        return "document.text"
    if content.media_kind == "image":
        return rows[0]
    return "document.base64" if content.is_media_type("application/pdf") else ""


# Documents made of blocks: citations refer to a block by its number. The content of a document may have images
# (types/beta/beta_content_block_source_content_param.py of anthropic 2.12, seen 2026-11-27).
DOCUMENT_PARTS = TABLE.union(
    "document part",
    [TEXT, *(r for r in MEDIA if r.constants.get("type") == "image")],
    prefer=lambda part, rows: _usual_media(part, rows) if getattr(part, "media_kind", None) == "image" else None,
)
NESTED = [
    row(
        "search_result",
        DocumentContent,
        {"content": ("parts", Blocks(TEXT_PARTS)), "source": "uri", "title": "title", **CACHED},
    ),
    Row(
        "document.content",
        DocumentContent,
        {"source.content": ("parts", TextOrBlocks(DOCUMENT_PARTS, "list")), "title": "title", **CACHED},
        constants={"type": "document", "source.type": "content"},
    ),
]


def _usual(content: Any, rows: list[Row]) -> Row | str | None:
    if content.__class__ is ReasoningContent:
        redacted = content.protected is not None and content.protected.kind == "redacted"
        return rows[1] if redacted else rows[0]
    if content.__class__ in (DataContent, UriContent, HostedFileContent):
        return _usual_media(content, rows)
    if content.__class__ is DocumentContent:
        return rows[0] if content.uri is not None and content.title is not None else rows[1]
    if content.__class__ is ToolChangeContent:
        return rows[0] if content.action == "add" else rows[1]
    return rows[0]


# -- what tools give back ------------------------------------------------------------------------------------------


class _Caller(Record[Caller]):
    """The caller of a call. Of those that other formats keep, only a program of Claude is sent.

    langchain-anthropic 1.7.10 and @ai-sdk/anthropic 4.0 send it too (seen 2026-11-27).
    """

    def __init__(self, row: Row) -> None:
        super().__init__(row, provider_only=True)

    def encode(self, value: Caller, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        is_own = value.kind.startswith("code_execution_")
        return self.row.encode(value, context) if is_own else super().encode(value, context, owner)


CALLER = TABLE.record("caller", Caller, {"type": "kind", "tool_id": "call_id"})
RESULT_PARTS = TABLE.union(
    "tool result part",
    [
        TEXT,
        *MEDIA,
        *NESTED,
        row("tool_reference", ReferenceContent, {"tool_name": "item_id", **CACHED}),
        row(
            "browser_state",
            ConfigurationContent,
            CACHED,
            Gathered("settings", "tabs", "state_changes"),
            Implied({"kind": "browser_state"}),
        ),
    ],
    prefer=_usual,
)
FETCHED = TABLE.union("fetched document", [*MEDIA, *NESTED], prefer=_usual)
FILES = TABLE.union(
    "output file",
    [
        row("code_execution_output", HostedFileContent, {"file_id": "file_id"}),
        row("bash_code_execution_output", HostedFileContent, {"file_id": "file_id"}),
    ],
)
FOUND_TOOLS = TABLE.union("found tool", [row("tool_reference", ReferenceContent, {"tool_name": "item_id", **CACHED})])
ANY_TYPE = ("",)
OTHER_ERROR = Row(
    "other_error",
    ErrorContent,
    {"error_code": "code", "error_message": "message"},
    shape=Shape(("_error",), {"error_code": str}),
)
FOUND_PAGES = TABLE.union(
    "web search result",
    [
        row(
            "web_search_result",
            UriContent,
            {"url": "uri", "title": "title"},
            Filled({"title": "", "encrypted_content": ""}),
        ),
        row("web_search_tool_result_error", ErrorContent, {"error_code": "code"}),
        OTHER_ERROR,
    ],
)
# The readable outputs of an unknown tool. The type of such a block stays in its residue.
GIVEN_BACK = TABLE.union(
    "hosted tool output",
    [
        *RESULT_PARTS.rows,
        *FILES.rows,
        FOUND_PAGES.rows[0],
        OTHER_ERROR,
        Row("other_text", TextContent, {"text": "text"}, shape=Shape(ANY_TYPE, {"text": str})),
        Row("other_printed", TextContent, {"stdout": "text"}, shape=Shape(ANY_TYPE, {"stdout": str})),
        Row("other_page", UriContent, {"url": "uri", "title": "title"}, shape=Shape(ANY_TYPE, {"url": str})),
        Row("other_file", HostedFileContent, {"file_id": "file_id"}, shape=Shape(ANY_TYPE, {"file_id": str})),
    ],
    prefer=_usual,
    accepts_untyped=True,
)
RESULT: dict[str, Spec] = {
    "tool_use_id": "call_id",
    "caller": ("caller", _Caller(CALLER)),
    **CACHED,
}
UNSAID = ("name", "status", "is_error")
# Programs report a failure by their exit code (docs.claude.com, "Code execution tool", seen 2026-11-22).
EXIT_CODE = Failure(FailureField("content.return_code", failed=1))
IS_ERROR = FailureField("is_error", failed=True)
STATUS = FailureField("status", ("failed", "error"), failed="failed")
TEXT_FIELD = TextField(TextContent, "text")


_PRINTED = {"content.content": [], "content.return_code": 0, "content.stderr": "", "content.stdout": ""}
_NO_DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": ""}}
_REQUIRED: dict[str, dict[str, Any]] = {
    "web_fetch_result": {"content.content": _NO_DOCUMENT, "content.url": ""},
    "code_execution_result": _PRINTED,
    "bash_code_execution_result": _PRINTED,
    "text_editor_code_execution_view_result": {"content.content": "", "content.file_type": "text"},
    "tool_search_tool_search_result": {"content.tool_references": []},
    "advisor_result": {"content.text": ""},
}
"""The required fields of each kind of result (anthropic 2.12, types/beta; seen 2026-11-22), with their defaults."""
Kind = tuple[dict[str, Spec], dict[str, Column] | None]


def _result_rows(tag: str, model: type[Any], **kinds: Kind) -> list[Row]:
    """Return the rows of a hosted tool's result block: one for each kind of content, and one for its error."""
    rows = [
        Row(
            f"{tag}.{kind}",
            model,
            {**RESULT, **fields},
            *([Columns("outputs", columns)] if columns else []),
            Silent(*UNSAID),
            Filled(_REQUIRED.get(kind, {})),
            constants={"type": tag, "content.type": kind},
            failure=EXIT_CODE if columns else None,
        )
        for kind, (fields, columns) in kinds.items()
    ]
    error = f"{tag}_error"
    return [*rows, _failed_row(tag, error, model)]


def _failed_row(tag: str, error: str, model: type[Any]) -> Row:
    union = TABLE.union(error, [row(error, ErrorContent, {"error_code": "code", "error_message": "message"})])
    return Row(
        error,
        model,
        {**RESULT, "content": ("outputs", One(union))},
        Silent(*UNSAID),
        constants={"type": tag},
        select=("content.type", (error,)),
        preferred_for=has_explicit_error,
    )


def _printed(stdout: str) -> dict[str, Column]:
    """Return the columns of a program's output: stdout, stderr and files."""
    columns = {
        stdout: Column(TEXT_FIELD, TextContent),
        "content.stderr": Column(TEXT_FIELD, TextContent, hinted=True),
        "content.content": Column(Blocks(FILES), HostedFileContent),
    }
    return {key: column for key, column in columns.items() if key}


_TEXT_COLUMN = Column(TEXT_FIELD, TextContent)
HOSTED_RESULTS = [
    row(
        "web_search_tool_result",
        hosted.WebSearchToolResultContent,
        {**RESULT, "content": ("outputs", Outputs(FOUND_PAGES, ErrorContent))},
        Silent(*UNSAID),
        Filled({"content": []}),
    ),
    *_result_rows(
        "web_fetch_tool_result",
        hosted.WebFetchToolResultContent,
        web_fetch_result=({"content.content": ("outputs", One(FETCHED))}, None),
    ),
    *_result_rows(
        "code_execution_tool_result",
        hosted.CodeInterpreterToolResultContent,
        code_execution_result=({}, _printed("content.stdout")),
        encrypted_code_execution_result=(
            {"content.encrypted_stdout": ("protected", ENCRYPTED)},
            _printed(""),
        ),
    ),
    *_result_rows(
        "bash_code_execution_tool_result",
        hosted.ShellToolResultContent,
        bash_code_execution_result=({}, _printed("content.stdout")),
    ),
    *_result_rows(
        "text_editor_code_execution_tool_result",
        hosted.TextEditorToolResultContent,
        text_editor_code_execution_view_result=({}, {"content.content": _TEXT_COLUMN}),
        text_editor_code_execution_create_result=({}, None),
        text_editor_code_execution_str_replace_result=({}, {"content.lines": Column(Lines(), TextContent)}),
    ),
    *_result_rows(
        "tool_search_tool_result",
        hosted.ToolSearchToolResultContent,
        tool_search_tool_search_result=({"content.tool_references": ("outputs", Blocks(FOUND_TOOLS))}, None),
    ),
    *_result_rows(
        "advisor_tool_result",
        hosted.AdvisorToolResultContent,
        advisor_result=({}, {"content.text": _TEXT_COLUMN}),
        advisor_redacted_result=({"content.encrypted_content": ("protected", ENCRYPTED)}, None),
    ),
    row(
        "mcp_tool_result",
        hosted.McpServerToolResultContent,
        {
            "tool_use_id": "call_id",
            "is_error": "is_error",
            "content": ("outputs", TextOrBlocks(TEXT_PARTS, "list")),
            **CACHED,
        },
        Silent("name", "status", "caller", "server"),
        Filled({"is_error": False, "content": []}),
        failure=Failure(IS_ERROR, texts_are_errors=True, only_fields=True),
    ),
    row(
        "mcp_tool_listing",
        hosted.McpListToolsToolResultContent,
        {"mcp_server_name": "server", "tools": "tools"},
        Silent(*UNSAID, "call_id", "caller"),
        Filled({"mcp_server_name": "", "tools": []}),
    ),
    # Matches results of every hosted tool, also those with an object of an unknown type.
    Row(
        "other_tool_result",
        HostedToolResultContent,
        {
            **RESULT,
            "type": ("name", Named("_tool_result")),
            "is_error": "is_error",
        },
        Columns("outputs", output_columns(GIVEN_BACK, "content")),
        Silent("status"),
        shape=Shape(("_tool_result",)),
        select=("type", ("hosted_tool_result",)),
        failure=Failure(
            FailureField("error"),
            FailureField("content.error"),
            IS_ERROR,
            *EXIT_CODE.fields,
            STATUS,
            texts_are_errors=True,
        ),
    ),
]

# -- calls ---------------------------------------------------------------------------------------------------------

CALL: dict[str, Spec] = {
    "id": "call_id",
    "name": "name",
    "input": ("arguments", ARGUMENTS),
    "caller": ("caller", _Caller(CALLER)),
    **CACHED,
}
# `input` is required (anthropic 2.12, types/tool_use_block_param.py): a call without arguments has an empty object.
NO_INPUT: dict[str, Any] = {"input": {}}
SERVER_TOOLS: list[tuple[str, type[Any], type[Any], tuple[str, ...]]] = [
    ("web_search", hosted.WebSearchToolCallContent, hosted.WebSearchToolResultContent, ("web_search",)),
    ("web_fetch", hosted.WebFetchToolCallContent, hosted.WebFetchToolResultContent, ("web_fetch",)),
    (
        "code_interpreter",
        hosted.CodeInterpreterToolCallContent,
        hosted.CodeInterpreterToolResultContent,
        ("code_execution",),
    ),
    ("code_interpreter", hosted.ShellToolCallContent, hosted.ShellToolResultContent, ("bash_code_execution",)),
    (
        "code_interpreter",
        hosted.TextEditorToolCallContent,
        hosted.TextEditorToolResultContent,
        ("text_editor_code_execution",),
    ),
    (
        "tool_search",
        hosted.ToolSearchToolCallContent,
        hosted.ToolSearchToolResultContent,
        ("tool_search_tool_bm25", "tool_search_tool_regex"),
    ),
    ("advisor", hosted.AdvisorToolCallContent, hosted.AdvisorToolResultContent, ("advisor",)),
]
"""The tools that the provider runs: their kind, their call and result, and the names that their calls have."""
TOOLSETS: dict[str, tuple[type[Any], type[Any]]] = {
    "computer": (hosted.ComputerUseToolCallContent, hosted.ComputerUseToolResultContent),
    "browser": (hosted.BrowserToolCallContent, hosted.BrowserToolResultContent),
}
"""The calls and results of toolsets, whose members are hosted tools that the application runs, by `toolset_name`."""
CALLS = [
    row("tool_use", FunctionCallContent, CALL, Silent("status"), Filled(NO_INPUT)),
    *(
        row("tool_use", call, CALL, Silent("status"), Filled(NO_INPUT), constants={"toolset_name": name})
        for name, (call, _) in TOOLSETS.items()
    ),
    *(
        Row(
            f"server_tool_use.{names[0]}",
            call,
            CALL,
            Silent("status"),
            Filled(NO_INPUT),
            constants={"type": "server_tool_use"},
            select=("name", names),
        )
        for _, call, _, names in SERVER_TOOLS
    ),
    row("server_tool_use", HostedToolCallContent, CALL, Silent("status"), Filled(NO_INPUT)),
    Row("other_tool_use", HostedToolCallContent, CALL, Silent("status"), shape=Shape(("_tool_use",))),
    row(
        "mcp_tool_use",
        hosted.McpServerToolCallContent,
        {"id": "call_id", "name": "name", "server_name": "server", "input": ("arguments", ARGUMENTS), **CACHED},
        Silent("status", "caller"),
        Filled(NO_INPUT),
    ),
]
CLIENT_RESULT: dict[str, Spec] = {
    "tool_use_id": "call_id",
    "is_error": "is_error",
    "content": ("outputs", TextOrBlocks(RESULT_PARTS, "string")),
    **CACHED,
}
CLIENT_UNSAID = ("name", "status")
CLIENT_RESULTS = [
    row("tool_result", FunctionResultContent, CLIENT_RESULT, Silent(*CLIENT_UNSAID)),
    *(
        row("tool_result", result, CLIENT_RESULT, Silent(*CLIENT_UNSAID), constants={"toolset_name": name})
        for name, (_, result) in TOOLSETS.items()
    ),
]

# -- the rest ------------------------------------------------------------------------------------------------------

OTHERS = [
    row(
        "thinking",
        ReasoningContent,
        {"thinking": "text", "signature": ("protected", SIGNATURE)},
        Silent("kind"),
        # Required, also if the model's thinking is omitted (anthropic 2.12, types/thinking_block_param.py).
        Filled({"thinking": ""}),
        certain=True,
    ),
    row("redacted_thinking", ReasoningContent, {"data": ("protected", REDACTED)}, Silent("kind")),
    row("compaction", CompactionContent, {"content": "text", "encrypted_content": ("protected", ENCRYPTED), **CACHED}),
    row("tool_addition", ToolChangeContent, {"tool": ("tools", ONE_TOOL), **CACHED}, Implied({"action": "add"})),
    row("tool_removal", ToolChangeContent, {"tool": ("tools", ONE_TOOL), **CACHED}, Implied({"action": "remove"})),
    row(
        "fallback",
        ConfigurationContent,
        {},
        Gathered("settings", "from", "to", "trigger"),
        Implied({"kind": "fallback"}),
    ),
]

SYSTEM = TABLE.union("system block", [TEXT])
CONTENT = TABLE.union(
    "content block",
    [TEXT, *MEDIA, *NESTED, *CALLS, *CLIENT_RESULTS, *HOSTED_RESULTS, *OTHERS],
    prefer=_usual,
)


# -- definitions of tools ----------------------------------------------------------------------------------------------

# Definitions, the choice of tools and the output format (types/beta).

# The types of hosted tools have dates. The exact type stays in the definition; the kind is the tool's function.
HOSTED_KINDS = {
    "web_search_20250305": "web_search",
    "web_search_20260209": "web_search",
    "web_search_20260318": "web_search",
    "web_fetch_20250910": "web_fetch",
    "web_fetch_20260209": "web_fetch",
    "web_fetch_20260309": "web_fetch",
    "web_fetch_20260318": "web_fetch",
    "code_execution_20250522": "code_interpreter",
    "code_execution_20250825": "code_interpreter",
    "code_execution_20260120": "code_interpreter",
    "code_execution_20260521": "code_interpreter",
    "bash_20241022": "shell",
    "bash_20250124": "shell",
    "text_editor_20241022": "text_editor",
    "text_editor_20250124": "text_editor",
    "text_editor_20250429": "text_editor",
    "text_editor_20250728": "text_editor",
    "computer_20241022": "computer",
    "computer_20250124": "computer",
    "computer_20251124": "computer",
    "computer_toolset_20260801": "computer",
    "browser_toolset_20260801": "browser",
    "memory_20250818": "memory",
    "advisor_20260301": "advisor",
    "tool_search_tool_bm25": "tool_search",
    "tool_search_tool_bm25_20251119": "tool_search",
    "tool_search_tool_regex": "tool_search",
    "tool_search_tool_regex_20251119": "tool_search",
    "mcp_toolset": "mcp",
}
_SEARCHES = {name: name for name in ("allowed_domains", "blocked_domains", "user_location")}
_SCREEN = ("display_width_px", "display_height_px")
# The definitions of hosted tools that were created by the application or come from another API: the newest that need
# neither another tool nor a beta. For models that do not take it (rules.py), an older or newer one (anthropic
# 2.12, types/*_param.py; platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference; seen 2026-11-22).
# web_search_20260209 and later filter results by code, which the older models cannot do: every model that searches
# takes web_search_20250305 (tool-use/web-search-tool, seen 2026-11-22).
CURRENT: Current = {
    "web_search": (Hosted("web_search_20250305", "web_search", crosses=True, searches=_SEARCHES),),
    "web_fetch": (Hosted("web_fetch_20250910", "web_fetch", crosses=True),),
    "code_interpreter": (Hosted("code_execution_20250825", "code_execution"),),
    "shell": (Hosted("bash_20250124", "bash"), Hosted("bash_20241022", "bash")),
    "text_editor": (
        Hosted("text_editor_20250728", "str_replace_based_edit_tool"),
        Hosted("text_editor_20250124", "str_replace_editor"),
        Hosted("text_editor_20241022", "str_replace_editor"),
    ),
    "computer": (
        Hosted("computer_20251124", "computer", needs=_SCREEN),
        Hosted("computer_20250124", "computer", needs=_SCREEN),
        Hosted("computer_20241022", "computer", needs=_SCREEN),
        Hosted("computer_toolset_20260801", only_settings=("configs",)),
    ),
    "browser": (Hosted("browser_toolset_20260801"),),
    "memory": (Hosted("memory_20250818", "memory"),),
    "advisor": (Hosted("advisor_20260301", "advisor", needs=("model",)),),
    "tool_search": (Hosted("tool_search_tool_bm25_20251119", "tool_search_tool_bm25"),),
    "mcp": (Hosted("mcp_toolset", needs=("mcp_server_name",)),),
}
_NAMES = {one.tag: one.name for known in CURRENT.values() for one in known}


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is FunctionTool:
        return rows[1] if tool.parameters is None else rows[0]
    if tool.__class__ is not HostedTool:
        return rows[0]
    declared = declaration(tool, CURRENT)
    return next((r for r in rows if declared is not None and r.name == declared.tag), None)


FUNCTION = Row(
    "custom",
    FunctionTool,
    {"name": "name", "description": "description", "input_schema": "parameters", "strict": "strict", **CACHED},
)


def _row_of_tool(wire: dict[str, Any]) -> Any:
    # A tool of the application may have the type "custom", but rarely does.
    tag, schema = wire.get("type"), wire.get("input_schema")
    tag = "custom" if tag is None else tag
    if tag != "custom" or schema.__class__ is not dict:
        return tag
    if schema == NO_PARAMETERS:
        return "without parameters"
    return "free text" if is_free_text(schema) else tag


TOOLS = TABLE.union(
    "tool",
    [
        FUNCTION,
        without_parameters_row("without parameters", "input_schema", CACHED),
        free_text_row("free text", "input_schema", CACHED),
        *(
            Row(
                tag,
                HostedTool,
                {"name": "name", **CACHED},
                Implied({"kind": kind}),
                Rest("settings"),
                Filled({"name": _NAMES[tag]} if _NAMES.get(tag) else {}),
                constants={"type": tag},
            )
            for tag, kind in HOSTED_KINDS.items()
        ),
    ],
    find=_row_of_tool,
    other=Row("other", HostedTool, {"type": "kind", "name": "name", **CACHED}, Rest("settings")),
    prefer=_usual_tool,
)


ADDED = AddedTools(TOOLS, lambda tool: tool.get("definition"))
"""The tools of blocks of type `tool_addition` that define one (others refer to a tool of the request)."""


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Return the choice that an object means; None if it is not understood."""
    kind, name = value.get("type"), value.get("name")
    if kind == "tool" and name.__class__ is str:
        return ToolChoice(mode="required", tools=[name])
    if kind in ("auto", "any", "none"):
        return ToolChoice(mode="required" if kind == "any" else kind)
    return None


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Return the object of a choice; None if the API cannot express it."""
    names = choice.tools or []
    if choice.hosted is not None:
        names = [
            tool.name or tool.kind for tool in tools if isinstance(tool, HostedTool) and tool.kind == choice.hosted
        ]
    if len(names) > 1 or (choice.hosted is not None and not names) or (names and choice.mode != "required"):
        return None
    if names:
        return {"type": "tool", "name": names[0]}
    mode = {"auto": "auto", "none": "none", "required": "any"}.get(choice.mode)
    return None if mode is None else {"type": mode}


_FORMS = ("auto", "any", "tool", "none")
TABLE.known_values("tool_choice", *_FORMS)


class ChoiceAndParallel(Codec[tuple[ToolChoice | None, bool | None]]):
    """Tool choice, with the flag in it that forbids parallel calls."""

    classes = (dict,)
    identity = False

    def __init__(self) -> None:
        self._choice = Choice(
            read_choice, write_choice, strings=False, tagged=("type", _FORMS), fallback={"type": "auto"}
        )
        self.tagged = self._choice.tagged

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        flag = value.get("disable_parallel_tool_use")
        if flag.__class__ is not bool:
            return self._choice.decode(value, context, container, key), None
        other_fields = {k: v for k, v in value.items() if k != "disable_parallel_tool_use"}
        return self._choice.decode(other_fields, context, container, key), not flag

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        choice, parallel = value
        if choice is None and not (parallel is not None and owner.tools):
            if parallel is not None:
                context.report_loss(owner, "options.parallel_tool_calls", reasons.PARALLEL_WITHOUT_TOOLS)
            return None
        wire = {"type": "auto"} if choice is None else self._choice.encode(choice, context, owner)
        if parallel is None:
            return wire
        if wire.get("type") == "none":
            context.report_loss(owner, "options.parallel_tool_calls", reasons.PARALLEL_WITHOUT_CALLS)
            return wire
        return {**wire, "disable_parallel_tool_use": not parallel}

    def describe(self) -> str:
        return "tool choice"


OUTPUT_FORMAT = TABLE.union(
    "output_config.format",
    [row("json_schema", ResponseFormat, {"schema": "schema"}, Implied({"kind": "json_schema"}), Silent("media_type"))],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda response_format, rows: (
        rows[0] if response_format.kind == "json_schema" and response_format.schema is not None else None
    ),
)


# -- messages ----------------------------------------------------------------------------------------------------------

_OWN_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
ROLES = Roles(API, _OWN_ROLES, {**_OWN_ROLES, "developer": "system", "tool": "user"})

MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", TextOrBlocks(CONTENT, "list"))},
    Silent("message_id"),
    Filled({"content": []}),
)


# Requests name the cited source and have no file id. A title may be null, but is required.
_CITED = Change(drops=("file_id",), fills={"document_title": None})
_FOUND = Change(fills={"title": None})
REPLAY = Replay(
    blocks={
        "char_location": _CITED,
        "page_location": _CITED,
        "content_block_location": _CITED,
        "search_result_location": _FOUND,
        "web_search_result_location": _FOUND,
    },
    verbatim=("input", "tool_changes"),
)
"""The differences of requests from answers (anthropic 2.12, types/beta; November 2026)."""


class Messages(MessageList):
    """The list of messages of a request."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        decode = MESSAGE.functions[0]
        for _, wire in self.objects(value, context):
            message = decode(wire, context)
            if message.__class__ is ChatMessage:
                messages.append(_as_tool_message(message) if message.role == "user" else message)
        context.trace_messages(messages, value, lambda message: MESSAGE)
        return with_media_back(messages, context)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        encode = MESSAGE.functions[1]
        wires = []
        for message in with_detached_media(value, API):
            wire = encode(message, context)
            if message.origin is not None and message.origin.is_answer:
                wire = REPLAY.request_form(wire, message, context)
            # Skip foreign messages with nothing to send, and replayed empty answers.
            if wire.get("content") or (context.native and not is_own_answer(message, context)):
                wires.append(wire)
        return wires


def _as_tool_message(message: ChatMessage) -> ChatMessage:
    """Return a user's message with the role "tool" if it has only results of the application's tools."""
    contents = message.contents
    for content in contents:
        if content.__class__ not in _CLIENT_RESULTS:
            return message
    if not contents:
        return message
    return ChatMessage(role="tool", contents=contents, origin=message.origin, extra=message.extra)


_CLIENT_RESULTS = frozenset(
    {FunctionResultContent, hosted.ComputerUseToolResultContent, hosted.BrowserToolResultContent}
)


# -- requests ----------------------------------------------------------------------------------------------------------

VERSION, BETAS = "anthropic_version", "anthropic_beta"
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "system": ("instructions", TextOrBlocks(SYSTEM, "string")),
        "messages": ("messages", Messages()),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": (("options.tool_choice", "options.parallel_tool_calls"), ChoiceAndParallel()),
        "max_tokens": "options.max_output_tokens",
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "top_k": "options.top_k",
        "stop_sequences": "options.stop_sequences",
        "stream": "options.stream",
        "service_tier": enum_at("options.service_tier", "auto", "standard_only"),
        "metadata.user_id": "options.user",
        "cache_control": ("options.cache_point", CachePoints(CACHE_POINT)),
        "thinking.type": enum_at("options.reasoning.mode", *MODES),
        "thinking.budget_tokens": "options.reasoning.budget_tokens",
        "thinking.display": enum_at("options.reasoning.summary", *DISPLAYS),
        "output_config.effort": enum_at("options.reasoning.effort", *EFFORTS),
        "output_config.format": ("options.response_format", OneOf(OUTPUT_FORMAT)),
    },
)
TABLE.known_values("thinking", *MODES)
TABLE.keep(
    "request",
    *("billing_policy", "compaction", "container", "context_management", "diagnostics", "fallbacks"),
    *("fallback_credit_token", "inference_geo", "mcp_servers", "speed", "thread"),
    *(VERSION, BETAS),
)
