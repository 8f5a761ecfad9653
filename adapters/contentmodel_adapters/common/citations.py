"""Citations: spans in the units of an API, and lists of sources that cite an answer as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, Row, Table, object_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.objects import at, put, without


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
    points = converter.convert(span, unit)
    start = (points.start or 0) + before
    end = start if points.end is None else points.end + before
    return msgspec.structs.replace(citation, span=Span(start=start, end=end, unit=unit), title=title)


def with_spans(messages: list[ChatMessage], context: EncodeContext, unit: str) -> list[ChatMessage]:
    """Return the messages with the spans of citations of texts converted to `unit`."""
    return [
        context.with_contents(message, [in_unit(content, context, unit) for content in message.contents])
        for message in messages
    ]


def in_unit(content: Any, context: EncodeContext, unit: str) -> Any:
    """Return a text with the spans of its citations converted to `unit`, and any other content unchanged."""
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
    return context.replace(content, annotations=citations)


# -- lists of sources --------------------------------------------------------------------------------------------------


def source_union(table: Table, name: str, **fields: str) -> Any:
    """Return the union of the only form of a source."""
    return table.union(name, [Row(name, Citation, fields)], find=lambda wire: name)


class SourceLists:
    """The fields of an object that list sources.

    `hint` has the dotted path of the field of a citation. `unions` has the rows of the sources by the path, in the
    order of preference; None means a list of links.
    """

    def __init__(self, hint: Hint[Any], unions: Mapping[Any, Any]) -> None:
        self._hint, self._unions = hint, unions

    def cite(self, message: ChatMessage, residue: dict[str, Any], wire: Any, context: DecodeContext) -> dict[str, Any]:
        """Add the sources of the preferred list to the first text of a message, in place.

        `residue` is that of the object `wire`. Return the rest of it: `residue` itself if there is no list or no text.
        """
        path = next((path for path in self._unions if self._lists_sources(at(residue, path), path)), None)
        contents = enumerate(message.contents)
        place = next((at for at, content in contents if content.__class__ is TextContent), None)
        if path is None or place is None:
            return residue
        listed, union = at(residue, path), self._unions[path]
        decoded = [Citation(url=link) for link in listed] if union is None else union.decode_list(listed, context)
        citations = [self._hint.on(citation, context.api, path) for citation in decoded]
        outer, _, inner = path.rpartition(".")
        context.trace(union, citations, object_of(wire, outer) if outer else wire, inner, spread=True)
        text: Any = message.contents[place]
        message.contents[place] = msgspec.structs.replace(text, annotations=[*(text.annotations or ()), *citations])
        return without(residue, path)

    def _lists_sources(self, value: Any, path: str) -> bool:
        kind = str if self._unions[path] is None else dict
        return value.__class__ is list and bool(value) and all(item.__class__ is kind for item in value)

    def write(self, wire: dict[str, Any], contents: Iterable[AIContent], context: EncodeContext) -> dict[str, Any]:
        """Return an object with the sources of contents in its lists."""
        fields: dict[str, list[Any]] = {}
        for content in contents:
            for citation in content.annotations or ():
                path = self._hint.of(citation, context.api)
                if path is not None and path in self._unions:
                    union = self._unions[path]
                    source = citation.url if union is None else union.encode_one(citation, context)
                    fields.setdefault(path, []).append(source)
        for path, listed in fields.items():
            wire = put(wire, path, listed)
        return wire
