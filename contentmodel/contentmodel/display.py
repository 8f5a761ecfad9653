"""Contents as a reader sees them: texts that were taken apart to cite sources are one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import UNITS, SpanConverter, TextContent, joined_texts
from contentmodel.request import HostedTool, Tool, ToolGroup


def flowing(contents: Sequence[AIContent]) -> list[AIContent]:
    """With the texts joined that are one text for a reader: only citations set them apart."""
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
    """Whether this is a text that is not signed, has no fields of its own, and counts in units that are known."""
    if not isinstance(content, TextContent) or content.protected or content.extra:
        return False
    return all(citation.span is None or citation.span.unit in UNITS for citation in content.annotations or ())


def tool_name(tool: Tool) -> str:
    """The name of a tool, and of those inside a group."""
    if isinstance(tool, ToolGroup):
        inner = ", ".join(map(tool_name, tool.tools))
        return f"{tool.name} ({inner})" if tool.name else inner
    if isinstance(tool, HostedTool):
        return f"{tool.name or tool.kind} (hosted)"
    return tool.name


def source_key(citation: Citation) -> bytes:
    """What two citations of one source have in common."""
    return repr(msgspec.structs.replace(citation, span=None, extra=None)).encode("utf-8", "surrogatepass")


def end_of_span(converter: SpanConverter, span: Span | None) -> int:
    """Where the part of a text ends that a citation is about; where nobody can tell, it is all of it."""
    size = len(converter.text)
    if span is None:
        return size
    try:
        points = converter.convert(span, "codepoint")
    except ValueError:
        return size
    end = points.start if points.end is None else points.end
    return min(max(end or 0, 0), size)
