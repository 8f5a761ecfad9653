"""Convert contents to nodes of a page, with one function for each family of content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, HostedFileContent, HostedVectorStoreContent, UriContent
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
    UnknownContent,
    UsageContent,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.display import count_of
from contentmodel.errors import EncodeError, ToolArgumentsError
from contentmodel.hints import wire_fields
from contentmodel.html.citations import Notes
from contentmodel.html.images import image_source, link_to, size_of
from contentmodel.html.markup import MOST, markup
from contentmodel.html.nodes import (
    Box,
    Fold,
    Image,
    Line,
    Marker,
    Markup,
    Node,
    Nodes,
    Piece,
    Rows,
    TextNode,
    fold,
    line,
    pieces,
    text_node,
    visible,
)
from contentmodel.json import write
from contentmodel.usage import Usage

DEEPEST = 12
"""The maximum depth of nested contents. Deeper contents are shown as JSON."""


class Page:
    """The state of a page while it is rendered: the numbers of the citations, and the depth of nested contents.

    `reads_markup` is whether the texts are a model's, which are rendered as Markdown.
    """

    def __init__(self) -> None:
        self.notes = Notes()
        self.reads_markup = False
        self._markup_left = MOST
        self._depth = 0

    def markup(self, text: str, markers: Sequence[Marker]) -> Markup | None:
        """Render a text as Markdown. Return None if it is not a model's, or exceeds the limit of the page."""
        if not self.reads_markup or self._depth > 1 or len(text) > self._markup_left:
            return None
        self._markup_left -= len(text)
        return markup(text, markers)

    def draw(self, content: Any) -> list[Node]:
        """Return the nodes of a content, followed by its citations, signature and provider-specific fields."""
        if self._depth >= DEEPEST:
            return [line(str(content.__struct_config__.tag), style="odd"), json_node(content)]
        self._depth += 1
        try:
            return [*draw(content, self), *_trailing_nodes(content, self)]
        finally:
            self._depth -= 1


def json_text(value: Any) -> str:
    """Return a value as formatted JSON, or an error message if it cannot be serialized."""
    try:
        body = write(value)
        try:
            return msgspec.json.format(body, indent=2).decode("utf-8")
        except msgspec.DecodeError:  # Lone surrogates.
            return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except EncodeError as error:
        return f"({error})"
    except RecursionError:
        return body.decode("utf-8")


def formatted(text: str) -> str:
    """Indent a JSON text and keep its tokens unchanged. Return a text that is not JSON unchanged."""
    try:
        return msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def json_node(value: Any) -> TextNode:
    """Return a node that shows a value as JSON."""
    return text_node(json_text(value), "code")


@singledispatch
def draw(content: AIContent, page: Page) -> Nodes:
    """Return the nodes of a content. By default, show the name of its type and its JSON."""
    yield line(str(content.__struct_config__.tag), style="odd")
    yield json_node(content)


def _trailing_nodes(content: AIContent, page: Page) -> Nodes:
    """Yield the citations of a content that is not a text, its signature, and its provider-specific fields."""
    if not isinstance(content, TextContent):
        yield from page.notes.of("", content.annotations or ())[1]
    if content.protected is not None and not isinstance(content, ReasoningContent | CompactionContent):
        yield line("", ("muted", _protected(content)))
    yield from more_fields(content.extra)


def _protected(content: AIContent) -> str:
    state = content.protected
    return "" if state is None else f"{state.kind} by {state.issuer}, {count_of(len(state.data), 'character')}"


@draw.register
def draw_text(content: TextContent, page: Page) -> Nodes:
    markers, fresh = page.notes.of(content.text, content.annotations or ())
    shown = page.markup(content.text, markers)
    if shown is not None:
        yield shown
        yield fold("as written", [text_node(content.text)])
    elif content.text or markers:
        yield text_node(content.text, markers=markers)
    else:
        yield line("", ("muted", "(empty text)"))
    yield from fresh


@draw.register
def draw_json(content: JsonContent, page: Page) -> Nodes:
    yield json_node(content.value)


@draw.register
def draw_reasoning(content: ReasoningContent, page: Page) -> Nodes:
    name = "thinking (summary)" if content.kind == "summary" else "thinking"
    size = count_of(len(content.text), "character") if content.text else ""
    state = _protected(content) or ("" if content.text else "empty")
    if content.text:
        yield fold(name, [text_node(content.text, "thought")], ("muted", size), ("muted", state))
    else:
        yield line(name, ("muted", state), style="thought")


@draw.register
def draw_error(content: ErrorContent, page: Page) -> Nodes:
    parts: list[Node] = [text_node(content.message)] if content.message else []
    if content.details:
        parts.append(json_node(content.details))
    yield Box(head=line(content.code or "error"), parts=parts, style="error")


# -- calls and results -------------------------------------------------------------------------------------------------


@draw.register
def draw_call(content: ToolCallContent, page: Page) -> Nodes:
    server = getattr(content, "server", None)
    name = " / ".join(part for part in (server, content.name) if part) or tool_kind(content)
    head = line(
        f"→ {name}",
        None if content.executor == "client" else ("muted", "hosted"),
        ("muted", "by a program" if content.caller and content.caller.kind != "direct" else ""),
        ("muted", content.call_id or ""),
        status(content.status),
    )
    yield Box(head=head, parts=list(_arguments(content)), style="call")


def tool_kind(content: AIContent) -> str:
    """Return the kind of a tool, derived from the type of its call or result."""
    tag = str(content.__struct_config__.tag)
    return tag.removesuffix("_call").removesuffix("_result").removesuffix("_tool") or tag


def status(name: str | None) -> Piece | None:
    """Return a piece for a provider's status; None if it is unset or "completed"."""
    if name is None or name in ("completed", "complete"):
        return None
    return ("bad" if name in ("failed", "incomplete", "error", "interrupted") else "muted", name)


def _arguments(content: ToolCallContent) -> Nodes:
    if not content.arguments:
        return
    if isinstance(content, CustomToolCallContent):
        yield text_node(content.arguments_text, "code")
        return
    try:
        value = content.arguments_object
        if isinstance(content.arguments, str) and formatted(content.arguments) != json_text(value):
            # Show the text: an object would hide duplicate keys and change long numbers.
            yield text_node(formatted(content.arguments), "code")
        else:
            yield fields(value)
    except ToolArgumentsError:
        yield text_node(content.arguments_text, "code")
        yield line("", ("bad", "not a JSON object"))


def fields(value: dict[str, Any]) -> Rows:
    """Return a row for each field of an object. Show texts unchanged and other values as JSON."""
    rows: list[tuple[list[Piece], list[Node]]] = []
    for key, item in value.items():
        shown = text_node(item, "code string") if isinstance(item, str) and item else json_node(item)
        rows.append((pieces(key), [shown]))
    return Rows(rows=rows)


@draw.register
def draw_result(content: ToolResultContent, page: Page) -> Nodes:
    yield outcome(content, page, f"result of {content.name or content.call_id or 'a call'}")


def outcome(content: ToolResultContent, page: Page, name: str) -> Box:
    """Return a box for a result with the heading `name`."""
    failed = content.error is not None
    parts = [part for output in content.output_list for part in page.draw(output)]
    tools = getattr(content, "tools", None)
    if tools:
        parts.append(fold(count_of(len(tools), "tool"), [json_node(tools)]))
    elif not content.outputs:
        parts.append(line("", ("muted", "(no output)")))
    head = line(f"{'✗' if failed else '←'} {name}", status(content.status))
    return Box(head=head, parts=parts, style="error" if failed else "result")


# -- media -------------------------------------------------------------------------------------------------------------


def _media(names: Sequence[str | None], uri: str | None = None) -> Line:
    bits = [("", pieces(name), "") for name in names if name]
    if uri:
        bits.append(("address", pieces(uri), link_to(uri)))
    return Line(label=pieces("◆"), bits=bits, style="media")


@draw.register
def draw_data(content: DataContent, page: Page) -> Nodes:
    source = image_source(content)
    if source is not None:
        yield Image(source=source, name=visible(content.name or "image"))
    yield _media((content.media_type or "data", content.name, size_of(content)))
    if content.transcript:
        yield text_node(f"“{content.transcript}”", "quote")
    if content.text:
        yield text_node(content.text, "code")


@draw.register
def draw_uri(content: UriContent, page: Page) -> Nodes:
    inline = content.uri[:5].lower() == "data:"
    # A data URI is as long as its data.
    yield _media((content.media_type, content.name, content.title), None if inline else content.uri)
    if inline:
        yield text_node(content.uri, "code")
    if content.text:
        yield text_node(content.text, "quote")


@draw.register
def draw_file(content: HostedFileContent, page: Page) -> Nodes:
    yield _media(("file", content.media_type, content.name, content.title, content.file_id))
    if content.text:
        yield text_node(content.text, "quote")


@draw.register
def draw_vector_store(content: HostedVectorStoreContent, page: Page) -> Nodes:
    yield _media(("vector store", content.vector_store_id))


@draw.register
def draw_document(content: DocumentContent, page: Page) -> Nodes:
    parts = [part for inner in content.parts for part in page.draw(inner)]
    yield Box(head=_media(("document", content.title), content.uri), parts=parts, style="document")


# -- everything else ---------------------------------------------------------------------------------------------------


@draw.register
def draw_compaction(content: CompactionContent, page: Page) -> Nodes:
    yield line("summary of earlier turns", ("muted", _protected(content)), style="odd")
    if content.text:
        yield text_node(content.text)


@draw.register
def draw_tool_change(content: ToolChangeContent, page: Page) -> Nodes:
    yield line(f"tools: {content.action}", style="odd")
    yield json_node(content.tools)


@draw.register
def draw_configuration(content: ConfigurationContent, page: Page) -> Nodes:
    yield line(content.kind, style="odd")
    yield json_node(content.settings)


@draw.register
def draw_reference(content: ReferenceContent, page: Page) -> Nodes:
    yield line("item stored by the provider", ("", content.item_id), style="odd")


@draw.register
def draw_unknown(content: UnknownContent, page: Page) -> Nodes:
    kind = content.block.get("type") if isinstance(content.block, dict) else None
    name = kind if isinstance(kind, str) else "a block"
    yield line(name, ("muted", f"unknown to {content.api}"), style="odd")
    yield json_node(content.block)


@draw.register
def draw_approval_request(content: ToolApprovalRequestContent, page: Page) -> Nodes:
    name = " / ".join(part for part in (content.server, content.name) if part)
    parts: list[Node] = []
    if isinstance(content.arguments, str):
        parts.append(text_node(content.arguments, "code"))
    elif content.arguments:
        parts.append(fields(content.arguments))
    yield Box(head=line(f"? approve {name}", ("muted", content.request_id)), parts=parts, style="ask")


@draw.register
def draw_approval_response(content: ToolApprovalResponseContent, page: Page) -> Nodes:
    answer = ("good", "approved") if content.approved else ("bad", "refused")
    yield line("", answer, ("muted", content.request_id))
    if content.reason:
        yield text_node(content.reason)


@draw.register
def draw_input_request(content: InputRequestContent, page: Page) -> Nodes:
    parts: list[Node] = [text_node(content.message)] if content.message else []
    if content.schema:
        parts.append(fold("schema", [json_node(content.schema)]))
    yield Box(head=line("? input requested", ("muted", content.request_id)), parts=parts, style="ask")


@draw.register
def draw_input_response(content: InputResponseContent, page: Page) -> Nodes:
    yield line("input", ("muted", content.request_id))
    yield json_node(content.value)


@draw.register
def draw_usage_content(content: UsageContent, page: Page) -> Nodes:
    yield usage_line(content.usage)


def usage_line(usage: Usage) -> Line:
    """Return a line with the input and output tokens, and the numbers of cached and reasoning tokens."""
    counts = (
        f"{usage.all_input_tokens:,} in",
        f"{usage.cache_read_tokens:,} read from cache" if usage.cache_read_tokens else "",
        f"{usage.cache_write_tokens:,} written to cache" if usage.cache_write_tokens else "",
        f"{usage.all_output_tokens:,} out",
        f"{usage.reasoning_tokens:,} reasoning" if usage.reasoning_tokens else "",
    )
    return line("tokens", *(("muted", text) for text in counts), style="usage")


def more_fields(extra: dict[str, dict[str, Any]] | None) -> list[Fold]:
    """Return a fold with the provider-specific fields of a value, without the codecs' hints."""
    fields_of_api = {api: wire_fields(fields) for api, fields in (extra or {}).items()}
    fields_of_api = {api: fields for api, fields in fields_of_api.items() if fields}
    return (
        [fold("more fields", [json_node(fields_of_api)], ("muted", ", ".join(fields_of_api)))] if fields_of_api else []
    )
