"""Citations for APIs that count characters of the answer: each has a span of its text."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import EncodeContext, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.message import ChatMessage


def whole_citations(content: Any, context: EncodeContext, *, unit: str = "codepoint", titled: bool = True) -> Any:
    """Return a text of another API with its citations' spans in a unit.

    A citation without a span cites the whole text.
    """
    if content.__class__ is not TextContent or not content.annotations:
        return content
    converter = SpanConverter(content.text)
    citations = [moved_citation(c, converter, 0, context, unit=unit, titled=titled) for c in content.annotations]
    return context.replace(content, annotations=citations)


def moved_citation(
    citation: Citation,
    converter: SpanConverter,
    before: int,
    context: EncodeContext,
    *,
    titled: bool = True,
    unit: str = "codepoint",
) -> Citation:
    """Return the citation as `placed` makes it; report a span whose numbers change."""
    positioned = placed(citation, converter, before, titled=titled, unit=unit)
    if citation.span is not None and positioned.span is not None and positioned.span != citation.span:
        context.report_loss(citation, "span", reasons.CITATION_UNITS)
    moved: Citation = context.replaced(citation, positioned)
    return moved


def placed(
    citation: Citation, converter: SpanConverter, before: int, *, titled: bool = True, unit: str = "codepoint"
) -> Citation:
    """Return the citation in a unit of a text in which the text of `converter` begins at `before`.

    `titled`: a missing title becomes an empty one.
    """
    span, title = citation.span, citation.title or "" if titled else citation.title
    points = converter.convert(span or Span(start=0, end=len(converter.text)), unit)
    start = (points.start or 0) + before
    end = start if points.end is None else points.end + before
    return msgspec.structs.replace(citation, span=Span(start=start, end=end, unit=unit), title=title)


def with_spans(messages: list[ChatMessage], context: EncodeContext, unit: str) -> list[ChatMessage]:
    """Return the messages with the spans of citations of texts converted to `unit`."""
    return [
        context.with_contents(message, [_with_spans(content, context, unit) for content in message.contents])
        for message in messages
    ]


def _with_spans(content: AIContent, context: EncodeContext, unit: str) -> AIContent:
    if not isinstance(content, TextContent) or not content.annotations:
        return content
    converter = SpanConverter(content.text)
    citations = []
    for citation in content.annotations:
        span = citation.span
        if span is not None and span.unit != unit:
            context.report_loss(citation, "span", reasons.CITATION_UNITS)
            citation = context.replace(citation, span=converter.convert(span, unit))
        citations.append(citation)
    made: AIContent = context.replace(content, annotations=citations)
    return made
