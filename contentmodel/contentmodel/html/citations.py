"""Citations as numbered notes. Equal citations of a source have the same number on the whole page."""

from __future__ import annotations

from collections.abc import Sequence

from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import SpanConverter
from contentmodel.display import end_of_span, source_key
from contentmodel.html.images import link_to
from contentmodel.html.nodes import Line, Marker, pieces

_QUOTE = 300


class Notes:
    """The numbers of the citations of a page so far."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def of(self, text: str, citations: Sequence[Citation]) -> tuple[list[Marker], list[Line]]:
        """Return the positions of the numbers in a text, and a line for each new note."""
        markers, fresh = set(), []
        converter = SpanConverter(text)
        for citation in citations:
            key = source_key(citation)
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers) + 1
                fresh.append(_line(self._numbers[key], citation))
            markers.add((end_of_span(converter, citation.span), f"[{self._numbers[key]}]"))
        return sorted(markers), fresh


def _line(number: int, citation: Citation) -> Line:
    results = f"results {', '.join(map(str, citation.source_indices))}" if citation.source_indices else None
    index = None if citation.document_index is None else f"document {citation.document_index}"
    call = None if citation.call_id is None else f"result of {citation.call_id}"
    names = (citation.title, citation.filename, citation.file_id or call or index or results, citation.container_id)
    bits = [("", pieces(name), "") for name in names if name]
    if citation.url:
        bits.append(("address", pieces(citation.url), link_to(citation.url)))
    if not bits:
        bits.append(("", pieces("(unnamed source)"), ""))
    if place := _location(citation.location):
        bits.append(("muted", pieces(place), ""))
    if citation.cited_text:
        quote = citation.cited_text
        shown = quote if len(quote) <= _QUOTE else f"{quote[:_QUOTE]}… +{len(quote) - _QUOTE:,} characters"
        bits.append(("quote", pieces(f"“{shown}”"), ""))
    return Line(label=[("note", f"[{number}]")], bits=bits, style="note")


def _location(span: Span | None) -> str | None:
    if span is None:
        return None
    start = span.start or 0
    last = None if span.end is None else span.end - 1
    return f"{span.unit} {start}" if last is None or last <= start else f"{span.unit}s {start}-{last}"
