"""Contents as a reader sees them: results with their calls, and texts that were taken apart to cite sources as one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import UNITS, SpanConverter, TextContent, joined_texts
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.request import HostedTool, Tool, ToolGroup

Place = tuple[int, int]
"""The number of a list of contents, and of a content in it."""


def pair(lists: Sequence[Sequence[AIContent]]) -> dict[Place, Place]:
    """Where the result of each call stands: the first one after it with its call_id that no other call has."""
    waiting: dict[str, deque[Place]] = {}
    results: dict[Place, Place] = {}
    for index, contents in enumerate(lists):
        for at, content in enumerate(contents):
            if isinstance(content, ToolCallContent) and content.call_id is not None:
                waiting.setdefault(content.call_id, deque()).append((index, at))
            elif isinstance(content, ToolResultContent) and waiting.get(content.call_id or ""):
                results[waiting[content.call_id or ""].popleft()] = (index, at)
    return results


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
