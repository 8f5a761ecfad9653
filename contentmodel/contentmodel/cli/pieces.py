"""Contents as lines of a transcript: one small function per family of content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from itertools import islice, pairwise
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.styled import Styled
from rich.text import Text

from contentmodel.cli.citations import Notes, note_lines, with_markers
from contentmodel.cli.console import safe_text
from contentmodel.content.base import AIContent
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import McpListToolsToolResultContent, ToolSearchToolResultContent
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
from contentmodel.errors import ToolArgumentsError
from contentmodel.json import write
from contentmodel.usage import Usage

Parts = Iterator[RenderableType]

_TEXT = 2_000
_BRIEF = 600
_LINE = 200
_LINES = 40


@dataclass
class Page:
    """The state of a transcript while it is drawn: whether texts are cut, and the numbers of the citations."""

    full: bool = False
    notes: Notes = field(default_factory=Notes)

    def cut(self, text: str, limit: int) -> tuple[str, str]:
        """Return the start of a text, and a note with the number of characters that were cut."""
        lines = text[: limit + 1].splitlines(keepends=True)
        size = min(limit, sum(map(len, lines[:_LINES])))
        if self.full or len(text) <= size:
            return text, ""
        return text[:size], f"… +{len(text) - size:,} characters"

    def text(self, text: str, style: str = "", limit: int = _TEXT) -> Text:
        """Return a text, cut if it is long."""
        start, cut_note = self.cut(text.rstrip("\n"), limit)
        return safe_text(start, style).append(cut_note and f" {cut_note}", style="dim italic")

    def json(self, value: Any, style: str = "") -> Text:
        """Return a value as compact JSON, cut if it is long."""
        return self.text(write(value).decode("utf-8"), style, _BRIEF)


@dataclass
class Indent:
    """An indented part. Unlike rich's padding, it adds no trailing spaces."""

    part: RenderableType
    by: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width - self.by, 1)
        if isinstance(self.part, Text):
            yield from self._lines_of(self.part, console, width)
            return
        narrow = options.update(width=width, height=None)
        for line in console.render_lines(self.part, narrow, pad=False):
            yield Segment(" " * self.by)
            yield from line
            yield Segment.line()

    def _lines_of(self, text: Text, console: Console, width: int) -> Iterable[Segment]:
        """Yield the lines of a text. ASCII text of one style, the usual case, has a faster path."""
        before = " " * self.by
        if text.spans or "\t" in text.plain or not text.plain.isascii():
            for line in text.wrap(console, width, tab_size=console.tab_size):
                yield Segment(before)
                yield from line.render(console, end="\n")
            return
        style = console.get_style(text.style, default="")
        for plain in text.plain.split("\n"):
            for piece in wrapped(plain, width):
                yield Segment(before)
                yield Segment(piece, style)
                yield Segment.line()


_WORD = re.compile(r"\s*\S+\s*")


def wrapped(line: str, width: int) -> Iterator[str]:
    """Yield a line of ASCII in pieces of at most `width` characters, cut between words where they fit, as rich does."""
    if len(line) <= width:
        yield line
        return
    starts = [0]
    used = 0
    for match in _WORD.finditer(line):
        token, start = match.group(), match.start()
        size = len(token.rstrip())
        if size <= width - used:
            used += len(token)
        elif size > width:
            starts += range(start, match.end(), width)
            used = match.end() - starts[-1]
        else:
            starts.append(start)
            used = len(token)
    starts = [*dict.fromkeys(starts), len(line)]
    for start, end in pairwise(starts):
        piece = line[start:end]
        yield piece[: max(width, len(piece.rstrip()))]


def indented(parts: Iterable[RenderableType], by: int = 2) -> Parts:
    """Indent parts. A part that is already indented is indented further."""
    for part in parts:
        yield Indent(part.part, part.by + by) if isinstance(part, Indent) else Indent(part, by)


def print_parts(console: Console, parts: Iterable[RenderableType], at_once: int = 200) -> None:
    """Print parts in batches: each call of rich reads the size of the terminal and fills a buffer."""
    remaining = iter(parts)
    while batch := list(islice(remaining, at_once)):
        console.print(Group(*(Indent(part, 0) if isinstance(part, Text) else part for part in batch)))


def label(name: str, style: str = "bold") -> Text:
    """Return the heading of a content; callers append to it."""
    return safe_text(name, style)


def joined(*parts: Text | str | None) -> Text:
    """Join parts with spaces. Empty parts are left out."""
    texts = [safe_text(part) if isinstance(part, str) else part for part in parts if part]
    return Text(" ").join(texts)


@singledispatch
def draw(content: AIContent, page: Page) -> Parts:
    """Draw a content of any other type: its name and its JSON."""
    yield joined(label(f"[{content.__struct_config__.tag}]", "magenta"), page.json(content))


@draw.register
def draw_text(content: TextContent, page: Page) -> Parts:
    plain = content.text.rstrip("\n")
    start, cut_note = page.cut(plain, _TEXT)
    citations = content.annotations or []
    numbers, fresh = page.notes.number(citations)
    text = with_markers(plain, len(start), citations, numbers)
    yield (
        text.append(cut_note and f" {cut_note}", style="dim italic")
        if text or cut_note
        else Text("(empty text)", style="dim")
    )
    yield from indented(note_lines(fresh))


@draw.register
def draw_json(content: JsonContent, page: Page) -> Parts:
    yield page.json(content.value)


@draw.register
def draw_reasoning(content: ReasoningContent, page: Page) -> Parts:
    name = "thinking (summary)" if content.kind == "summary" else "thinking"
    if content.text:
        yield Text(f"∴ {name}", style="dim bold")
        yield from indented([page.text(content.text, "dim italic")])
        return
    protected = content.protected
    state = (
        f"{protected.kind} by {protected.issuer}, {count_of(len(protected.data), 'character')}"
        if protected
        else "empty"
    )
    yield safe_text(f"∴ {name}: {state}", "dim")


@draw.register
def draw_error(content: ErrorContent, page: Page) -> Parts:
    yield joined(label(f"✗ {content.code or 'error'}:", "bold red"), page.text(content.message, "red"))
    if content.details:
        yield from indented([page.json(content.details, "red")])


@draw.register
def draw_call(content: ToolCallContent, page: Page) -> Parts:
    server = getattr(content, "server", None)
    name = f"{server}/{content.name}" if server and content.name else content.name or server or _tool_kind(content)
    kind = None if content.executor == "client" else Text("hosted", style="dim")
    yield joined(
        label(f"→ {name}", "bold cyan"), kind, safe_text(content.call_id or "", "dim"), _status(content.status)
    )
    yield from indented(_arguments(content, page), 4)


def _tool_kind(content: AIContent) -> str:
    tag = str(content.__struct_config__.tag)
    return tag.removesuffix("_call").removesuffix("_result").removesuffix("_tool") or tag


def _status(status: str | None) -> Text | None:
    if status is None or status == "completed":
        return None
    return safe_text(status, "red" if status in ("failed", "incomplete", "error") else "dim")


def _arguments(content: ToolCallContent, page: Page) -> Parts:
    if not content.arguments:
        return
    if isinstance(content, CustomToolCallContent):
        yield page.text(content.arguments_text)
        return
    try:
        yield from fields(content.arguments_object, page)
    except ToolArgumentsError:
        yield page.text(content.arguments_text, limit=_BRIEF)
        yield Text("(not a JSON object)", style="red")


def fields(value: dict[str, Any], page: Page) -> Parts:
    """Draw an object, one field per line."""
    for key, item in value.items():
        text = page.text(item, limit=_BRIEF) if isinstance(item, str) else page.json(item)
        yield joined(safe_text(f"{key}:", "cyan"), text) if "\n" not in text.plain else safe_text(f"{key}:", "cyan")
        if "\n" in text.plain:
            yield from indented([text])


@draw.register
def draw_result(content: ToolResultContent, page: Page) -> Parts:
    yield from draw_outcome(content, page, f"result of {content.name or content.call_id or 'a call'}")


def draw_outcome(content: ToolResultContent, page: Page, name: str) -> Parts:
    """Draw a result with the heading `name`, for a result with or without its call."""
    failed = content.error is not None
    head = label(f"✗ {name}" if failed else f"← {name}", "bold red" if failed else "bold green")
    yield joined(head, _status(content.status))
    parts = indented(_outputs(content, page), 4)
    yield from (Styled(part, "red") for part in parts) if failed else parts


def _outputs(content: ToolResultContent, page: Page) -> Parts:
    for output in content.output_list:
        yield from draw(output, page)
    if isinstance(content, McpListToolsToolResultContent | ToolSearchToolResultContent) and content.tools:
        yield joined("tools:", page.text(", ".join(map(tool_label, content.tools)), limit=_BRIEF))
    elif not content.outputs:
        yield Text("(no output)", style="dim")


def tool_label(tool: Any) -> str:
    """Return the name of a provider-specific tool definition."""
    if isinstance(tool, dict):
        tool = tool.get("name") or tool.get("tool_name") or tool.get("type")
    return tool if isinstance(tool, str) else "?"


def _media(labels: Sequence[str | None], page: Page, *texts: str | None) -> Text:
    line = joined(label("◆", "yellow"), safe_text(", ".join(text for text in labels if text), "yellow"))
    for text in filter(None, texts):
        line = joined(line, page.text(" ".join(text.split()), limit=_LINE))
    return line


@draw.register
def draw_data(content: DataContent, page: Page) -> Parts:
    quote = f"“{content.transcript}”" if content.transcript else None
    yield _media((content.media_type or "data", content.name, _size(content)), page, quote)


def _size(content: DataContent) -> str:
    if content.text is not None:
        return count_of(len(content.text), "character")
    count = len(content.data.rstrip("=")) * 3 // 4
    return (
        count_of(count, "byte")
        if count < 10_000
        else f"{count / 1000:,.0f} kB"
        if count < 10**7
        else f"{count // 10**6:,} MB"
    )


@draw.register
def draw_uri(content: UriContent, page: Page) -> Parts:
    yield _media((content.media_type, content.name, content.title), page, content.uri)
    if content.text:
        yield from indented([page.text(content.text, "dim", _LINE)])


@draw.register
def draw_file(content: HostedFileContent, page: Page) -> Parts:
    yield _media(("file", content.media_type, content.name, content.title), page, content.file_id)
    if content.text:
        yield from indented([page.text(content.text, "dim", _BRIEF)])


@draw.register
def draw_vector_store(content: HostedVectorStoreContent, page: Page) -> Parts:
    yield _media(("vector store",), page, content.vector_store_id)


@draw.register
def draw_document(content: DocumentContent, page: Page) -> Parts:
    yield _media(("document", content.title), page, content.uri)
    for part in content.parts:
        yield from indented(draw(part, page))


@draw.register
def draw_compaction(content: CompactionContent, page: Page) -> Parts:
    protected = content.protected
    state = f"{protected.kind} by {protected.issuer}" if protected else None
    yield joined(label("[summary of earlier turns]", "magenta"), state)
    if content.text:
        yield from indented([page.text(content.text)])


@draw.register
def draw_tool_change(content: ToolChangeContent, page: Page) -> Parts:
    names = ", ".join(map(tool_label, content.tools))
    yield joined(label(f"[tools: {content.action}]", "magenta"), page.text(names, limit=_BRIEF))


@draw.register
def draw_configuration(content: ConfigurationContent, page: Page) -> Parts:
    yield joined(label(f"[{content.kind}]", "magenta"), page.json(content.settings))


@draw.register
def draw_reference(content: ReferenceContent, page: Page) -> Parts:
    yield joined(label("[item stored by the provider]", "magenta"), content.item_id)


@draw.register
def draw_unknown(content: UnknownContent, page: Page) -> Parts:
    kind = content.block.get("type") if isinstance(content.block, dict) else None
    yield joined(label(f"[unknown to {content.api}: {kind or 'a block'}]", "magenta"), page.json(content.block))


@draw.register
def draw_approval_request(content: ToolApprovalRequestContent, page: Page) -> Parts:
    name = "/".join(part for part in (content.server, content.name) if part)
    arguments = content.arguments if isinstance(content.arguments, str) else write(content.arguments or {}).decode()
    yield joined(label(f"? approve {name}", "bold yellow"), safe_text(content.request_id, "dim"))
    yield from indented([page.text(arguments, limit=_BRIEF)], 4)


@draw.register
def draw_approval_response(content: ToolApprovalResponseContent, page: Page) -> Parts:
    answer = label("approved", "bold green") if content.approved else label("refused", "bold red")
    yield joined(answer, safe_text(content.request_id, "dim"), content.reason and page.text(content.reason))


@draw.register
def draw_input_request(content: InputRequestContent, page: Page) -> Parts:
    yield joined(label("? input requested:", "bold yellow"), page.text(content.message or "", limit=_BRIEF))


@draw.register
def draw_input_response(content: InputResponseContent, page: Page) -> Parts:
    yield joined(label("input:", "bold green"), page.json(content.value))


@draw.register
def draw_usage_content(content: UsageContent, page: Page) -> Parts:
    yield usage_line(content.usage)


def usage_line(usage: Usage) -> Text:
    """Return the input and output tokens, with the cached tokens and the reasoning tokens."""
    inside = _counts(("read from cache", usage.cache_read_tokens), ("written to cache", usage.cache_write_tokens))
    outside = _counts(("reasoning", usage.reasoning_tokens))
    return Text(f"tokens: {usage.all_input_tokens:,} in{inside}, {usage.all_output_tokens:,} out{outside}", style="dim")


def _counts(*counts: tuple[str, int | None]) -> str:
    text = ", ".join(f"{count:,} {name}" for name, count in counts if count)
    return f" ({text})" if text else ""
