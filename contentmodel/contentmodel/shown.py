"""Contents as a reader sees them: results with their calls, and texts that were taken apart to cite sources as one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import TextContent, convert_span, join_texts
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.request import HostedTool, Tool, ToolGroup

Place = tuple[int, int]
"""The number of a list of contents, and of a content in it."""


def pair(lists: Sequence[Sequence[AIContent]]) -> dict[Place, Place]:
    """Where the result of each call stands: the first one after it with its call_id that no other call has."""
    waiting: dict[str, list[Place]] = {}
    results: dict[Place, Place] = {}
    for index, contents in enumerate(lists):
        for at, content in enumerate(contents):
            if isinstance(content, ToolCallContent) and content.call_id is not None:
                waiting.setdefault(content.call_id, []).append((index, at))
            elif isinstance(content, ToolResultContent) and waiting.get(content.call_id or ""):
                results[waiting[content.call_id or ""].pop(0)] = (index, at)
    return results


def flowing(contents: Sequence[AIContent]) -> list[AIContent]:
    """With the texts joined that are one text for a reader."""
    joined: list[AIContent] = []
    for content in contents:
        both = _one_text(joined[-1], content) if joined else None
        if both is None:
            joined.append(content)
        else:
            joined[-1] = both
    return joined


def _one_text(first: AIContent, second: AIContent) -> TextContent | None:
    """Both as one, where only citations set them apart: neither is signed, nor has fields of its own."""
    if not isinstance(first, TextContent) or not isinstance(second, TextContent):
        return None
    if first.protected or second.protected or first.extra or second.extra:
        return None
    if not first.annotations and not second.annotations:
        return None
    try:
        return join_texts(first, second)
    except ValueError:  # A citation counts in a unit that nobody knows.
        return None


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


def end_of_span(text: str, span: Span | None) -> int:
    """Where the part of a text ends that a citation is about; where nobody can tell, it is all of it."""
    if span is None:
        return len(text)
    try:
        points = convert_span(text, span, "codepoint")
    except ValueError:
        return len(text)
    end = points.start if points.end is None else points.end
    return min(max(end or 0, 0), len(text))
