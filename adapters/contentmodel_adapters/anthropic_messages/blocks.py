"""The table of the Messages API: content blocks, hosted tools and their results, citations, usage.

Read off anthropic 2.11 (types, types/beta), seen November 2026. A hosted tool's call and result are two blocks; what the
result holds is one block, a list of blocks, or an error object in their place.
"""

from __future__ import annotations

from typing import Any

from contentmodel.content.citations import Citation
from contentmodel.content.hosted import (
    AdvisorToolCallContent,
    AdvisorToolResultContent,
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
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
)
from contentmodel.usage import Usage
from contentmodel.wire.codecs import ArgumentsObject, Blocks, BlocksOrOne, One, Record, Sealed, TextOrBlocks, WordsOf
from contentmodel.wire.table import Column, Row, Table, row

API = "anthropic-messages"
TABLE = Table(API)

SIGNATURE = Sealed("anthropic", "signature")
ENCRYPTED = Sealed("anthropic", "encrypted")
REDACTED = Sealed("anthropic", "redacted")
ARGUMENTS = ArgumentsObject()


def _named(name: str, model: type[Any], fields: dict[str, Any], **constants: Any) -> Row:
    """A row whose tag several rows share: they differ in a constant inside."""
    return Row(name, model, fields, constants={k.replace("__", "."): v for k, v in constants.items()})


# -- citations -----------------------------------------------------------------------------------------------------


def _located(tag: str, unit: str, names: tuple[str, str], **fields: str) -> Row:
    start, end = names
    located = {start: "location.start", end: "location.end", "cited_text": "cited_text", **fields}
    return row(tag, Citation, located, sets={"location.unit": unit})


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
    # A citation of another API has no encrypted index and no place in a document of this request.
    prefer=lambda citation, rows: None,
)

# -- text and media ------------------------------------------------------------------------------------------------

TEXT = row("text", TextContent, {"text": "text", "citations": ("annotations", Blocks(CITATIONS))})
PLAIN_TEXT = row("text", TextContent, {"text": "text", "citations": ("annotations", Blocks(CITATIONS))})
SEARCH_RESULT_TEXT = TABLE.union("search result part", [PLAIN_TEXT])

MEDIA = [
    _named(
        "image.base64",
        DataContent,
        {"source.data": "data", "source.media_type": "media_type"},
        type="image",
        source__type="base64",
    ),
    _named("image.url", UriContent, {"source.url": "uri"}, type="image", source__type="url"),
    _named("image.file", HostedFileContent, {"source.file_id": "file_id"}, type="image", source__type="file"),
    _named(
        "document.base64",
        DataContent,
        {"source.data": "data", "source.media_type": "media_type", "title": "name"},
        type="document",
        source__type="base64",
    ),
    _named(
        "document.text",
        DataContent,
        {"source.data": "text", "source.media_type": "media_type", "title": "name"},
        type="document",
        source__type="text",
    ),
    _named("document.url", UriContent, {"source.url": "uri", "title": "title"}, type="document", source__type="url"),
    _named(
        "document.file",
        HostedFileContent,
        {"source.file_id": "file_id", "title": "title"},
        type="document",
        source__type="file",
    ),
    row("container_upload", HostedFileContent, {"file_id": "file_id"}),
]


def _usual_media(content: Any, rows: list[Row]) -> Row | None:
    names = {r.name: r for r in rows}
    if content.__class__ is DataContent:
        if content.text is not None:
            return names["document.text"]
        if content.is_media_type("image/*"):
            return names["image.base64"]
        return names["document.base64"] if content.is_media_type("application/pdf") else None
    if content.__class__ is UriContent:
        is_image = content.is_media_type("image/*") or (content.media_type is None and content.title is None)
        return names["image.url"] if is_image else names["document.url"]
    return None if content.__class__ is HostedFileContent else rows[0]


# A document or a search result made of blocks is a result of its own: text parts with a title and a source.
NESTED: list[Row] = [
    row(
        "search_result",
        WebSearchToolResultContent,
        {"content": ("outputs", Blocks(SEARCH_RESULT_TEXT)), "source": "call_id", "title": "name"},
    ),
]

DOCUMENT = TABLE.union("document", [*MEDIA, *NESTED], prefer=_usual_media)

# -- what tools give back ------------------------------------------------------------------------------------------

RESULT_PARTS = TABLE.union(
    "tool result part",
    [
        TEXT,
        *MEDIA,
        *NESTED,
        row("tool_reference", ReferenceContent, {"tool_name": "item_id"}),
        row("browser_state", ConfigurationContent, {}, gather=("settings", ("tabs", "state_changes")), sets={"kind": "browser_state"}),
    ],
    prefer=_usual_media,
)


def _error(name: str) -> Row:
    return row(name, ErrorContent, {"error_code": "code", "error_message": "message"})


OUTPUT_FILE = [
    row("code_execution_output", HostedFileContent, {"file_id": "file_id"}),
    row("bash_code_execution_output", HostedFileContent, {"file_id": "file_id"}),
]
FILES = TABLE.union("output file", OUTPUT_FILE)


def _run(name: str, stdout: str = "stdout") -> Row:
    """What a program printed and made, as outputs of their own: text of stdout, text of stderr, files."""
    return row(
        name,
        CodeInterpreterToolResultContent,
        {},
        columns=(
            "outputs",
            {
                stdout: Column(WordsOf(TextContent, "text"), TextContent),
                "stderr": Column(WordsOf(TextContent, "text"), TextContent, noted=True),
                "content": Column(Blocks(FILES), HostedFileContent),
            },
        ),
    )
