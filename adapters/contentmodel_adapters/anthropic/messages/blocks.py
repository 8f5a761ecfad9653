"""The table of the Messages API: content blocks, hosted tools and their results, citations, usage.

Read off anthropic 2.11 (types, types/beta), seen November 2026. A hosted tool's call and result are two blocks. The
content of a result is one block, a list of blocks, or an error object instead.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    CachePoints,
    Column,
    Columns,
    EnumString,
    Failure,
    Filled,
    Gathered,
    Implied,
    Named,
    One,
    Opaque,
    Outputs,
    Pair,
    Row,
    Shape,
    Sign,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    has_explicit_error,
    reasons,
    row,
)
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import (
    AdvisorToolCallContent,
    AdvisorToolResultContent,
    BrowserToolCallContent,
    BrowserToolResultContent,
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    ComputerUseToolCallContent,
    ComputerUseToolResultContent,
    McpListToolsToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    TextEditorToolCallContent,
    TextEditorToolResultContent,
    ToolSearchToolCallContent,
    ToolSearchToolResultContent,
    WebFetchToolCallContent,
    WebFetchToolResultContent,
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
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel_adapters.common.hosted import Lines, output_columns
from contentmodel_adapters.common.pairs.claude_results import ClaudeCaller

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


def _usual_media(content: Any, rows: list[Row]) -> Row | None:
    names = {r.name: r for r in rows}
    if content.__class__ is DataContent:
        if content.text is not None:
            return names["document.text"]
        if content.media_kind == "image":
            return names["image.base64"]
        return names["document.base64"] if content.is_media_type("application/pdf") else None
    form = "url" if content.__class__ is UriContent else "file"
    return names.get(f"{content.media_kind}.{form}")


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


def _usual(content: Any, rows: list[Row]) -> Row | None:
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
    "caller": ("caller", ClaudeCaller(CALLER)),
    **CACHED,
}
UNSAID = ("name", "status", "is_error")
# Programs report a failure by their exit code (docs.claude.com, "Code execution tool", seen 2026-11-22).
EXIT_CODE = Failure(Sign("content.return_code", failed=1))
IS_ERROR = Sign("is_error", failed=True)
STATUS = Sign("status", ("failed", "error"), failed="failed")
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
        WebSearchToolResultContent,
        {**RESULT, "content": ("outputs", Outputs(FOUND_PAGES, ErrorContent))},
        Silent(*UNSAID),
        Filled({"content": []}),
    ),
    *_result_rows(
        "web_fetch_tool_result",
        WebFetchToolResultContent,
        web_fetch_result=({"content.content": ("outputs", One(FETCHED))}, None),
    ),
    *_result_rows(
        "code_execution_tool_result",
        CodeInterpreterToolResultContent,
        code_execution_result=({}, _printed("content.stdout")),
        encrypted_code_execution_result=(
            {"content.encrypted_stdout": ("protected", ENCRYPTED)},
            _printed(""),
        ),
    ),
    *_result_rows(
        "bash_code_execution_tool_result",
        ShellToolResultContent,
        bash_code_execution_result=({}, _printed("content.stdout")),
    ),
    *_result_rows(
        "text_editor_code_execution_tool_result",
        TextEditorToolResultContent,
        text_editor_code_execution_view_result=({}, {"content.content": _TEXT_COLUMN}),
        text_editor_code_execution_create_result=({}, None),
        text_editor_code_execution_str_replace_result=({}, {"content.lines": Column(Lines(), TextContent)}),
    ),
    *_result_rows(
        "tool_search_tool_result",
        ToolSearchToolResultContent,
        tool_search_tool_search_result=({"content.tool_references": ("outputs", Blocks(FOUND_TOOLS))}, None),
    ),
    *_result_rows(
        "advisor_tool_result",
        AdvisorToolResultContent,
        advisor_result=({}, {"content.text": _TEXT_COLUMN}),
        advisor_redacted_result=({"content.encrypted_content": ("protected", ENCRYPTED)}, None),
    ),
    row(
        "mcp_tool_result",
        McpServerToolResultContent,
        {
            "tool_use_id": "call_id",
            "is_error": "is_error",
            "content": ("outputs", TextOrBlocks(TEXT_PARTS, "list")),
            **CACHED,
        },
        Silent("name", "status", "caller", "server"),
        Filled({"is_error": False, "content": []}),
        failure=Failure(IS_ERROR, texts_are_errors=True, only_signs=True),
    ),
    row(
        "mcp_tool_listing",
        McpListToolsToolResultContent,
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
            Sign("error"), Sign("content.error"), IS_ERROR, *EXIT_CODE.signs, STATUS, texts_are_errors=True
        ),
    ),
]

# -- calls ---------------------------------------------------------------------------------------------------------

CALL: dict[str, Spec] = {
    "id": "call_id",
    "name": "name",
    "input": ("arguments", ARGUMENTS),
    "caller": ("caller", ClaudeCaller(CALLER)),
    **CACHED,
}
# `input` is required (anthropic 2.12, types/tool_use_block_param.py): a call without arguments has an empty object.
NO_INPUT: dict[str, Any] = {"input": {}}
SERVER_TOOLS: list[tuple[type[Any], tuple[str, ...]]] = [
    (WebSearchToolCallContent, ("web_search",)),
    (WebFetchToolCallContent, ("web_fetch",)),
    (CodeInterpreterToolCallContent, ("code_execution",)),
    (ShellToolCallContent, ("bash_code_execution",)),
    (TextEditorToolCallContent, ("text_editor_code_execution",)),
    (ToolSearchToolCallContent, ("tool_search_tool_bm25", "tool_search_tool_regex")),
    (AdvisorToolCallContent, ("advisor",)),
]
CALLS = [
    row("tool_use", FunctionCallContent, CALL, Silent("status"), Filled(NO_INPUT)),
    # A call of a toolset's member has the toolset's name. The members of computer and browser toolsets are hosted tools
    # that the application runs.
    row(
        "tool_use",
        ComputerUseToolCallContent,
        CALL,
        Silent("status"),
        Filled(NO_INPUT),
        constants={"toolset_name": "computer"},
    ),
    row(
        "tool_use",
        BrowserToolCallContent,
        CALL,
        Silent("status"),
        Filled(NO_INPUT),
        constants={"toolset_name": "browser"},
    ),
    *(
        Row(
            f"server_tool_use.{names[0]}",
            model,
            CALL,
            Silent("status"),
            Filled(NO_INPUT),
            constants={"type": "server_tool_use"},
            select=("name", names),
        )
        for model, names in SERVER_TOOLS
    ),
    row("server_tool_use", HostedToolCallContent, CALL, Silent("status"), Filled(NO_INPUT)),
    Row("other_tool_use", HostedToolCallContent, CALL, Silent("status"), shape=Shape(("_tool_use",))),
    row(
        "mcp_tool_use",
        McpServerToolCallContent,
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
    row(
        "tool_result",
        ComputerUseToolResultContent,
        CLIENT_RESULT,
        Silent(*CLIENT_UNSAID),
        constants={"toolset_name": "computer"},
    ),
    row(
        "tool_result",
        BrowserToolResultContent,
        CLIENT_RESULT,
        Silent(*CLIENT_UNSAID),
        constants={"toolset_name": "browser"},
    ),
]

# -- the rest ------------------------------------------------------------------------------------------------------

_ONE = Pair((dict,), lambda tool: [tool], lambda tools: tools[0] if tools else None, "dict")
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
    row("tool_addition", ToolChangeContent, {"tool": ("tools", _ONE), **CACHED}, Implied({"action": "add"})),
    row("tool_removal", ToolChangeContent, {"tool": ("tools", _ONE), **CACHED}, Implied({"action": "remove"})),
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
