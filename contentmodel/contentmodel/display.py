"""Helpers for display: join texts that were split for citations, name tools and sources, and count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import UNITS, SpanConverter, TextContent, joined_texts
from contentmodel.request import HostedTool, Tool, ToolGroup


def flowing(contents: Sequence[AIContent]) -> list[AIContent]:
    """Join adjacent texts that are only split because one of them has citations."""
    runs: list[list[Any]] = []
    is_cited = False
    for content in contents:
        cites = bool(content.annotations)
        if runs and _can_join(runs[-1][-1]) and _can_join(content) and (is_cited or cites):
            runs[-1].append(content)
            is_cited = True
        else:
            runs.append([content])
            is_cited = cites
    return [joined_texts(run) if len(run) > 1 else run[0] for run in runs]


def _can_join(content: AIContent) -> bool:
    """Return whether `content` is an unsigned text without `extra`, whose spans have known units."""
    if not isinstance(content, TextContent) or content.protected or content.extra:
        return False
    return all(citation.span is None or citation.span.unit in UNITS for citation in content.annotations or ())


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: "1 loss", "1,200 losses"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def tool_name(tool: Tool) -> str:
    """Return the display name of a tool. For a group, include the names of its tools."""
    if isinstance(tool, ToolGroup):
        inner = ", ".join(map(tool_name, tool.tools))
        return f"{tool.name} ({inner})" if tool.name else inner
    if isinstance(tool, HostedTool):
        return f"{tool.name or tool.kind} (hosted)"
    return tool.name


def source_key(citation: Citation) -> bytes:
    """Return a key that is equal for citations of the same source."""
    return repr(msgspec.structs.replace(citation, span=None, extra=None)).encode("utf-8", "surrogatepass")


def end_of_span(converter: SpanConverter, span: Span | None) -> int:
    """Return the end of a span in code points; the length of the text if there is no span or its unit is unknown."""
    size = len(converter.text)
    if span is None:
        return size
    try:
        points = converter.convert(span, "codepoint")
    except ValueError:
        return size
    end = points.start if points.end is None else points.end
    return min(max(end or 0, 0), size)
