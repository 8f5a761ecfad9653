"""Citations as numbered notes. Equal citations share one number in the whole transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.text import Text

from contentmodel.cli.console import safe_text
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import SpanConverter
from contentmodel.display import end_of_span, source_key

_QUOTE = 160


@dataclass
class Notes:
    """The notes of a transcript so far."""

    numbers: dict[bytes, int] = field(default_factory=dict)

    def number(self, citations: Iterable[Citation]) -> tuple[list[int], list[tuple[int, Citation]]]:
        """Return the number of each citation, and the new citations with their numbers."""
        numbers, fresh = [], []
        for citation in citations:
            key = source_key(citation)
            if key not in self.numbers:
                self.numbers[key] = len(self.numbers) + 1
                fresh.append((self.numbers[key], citation))
            numbers.append(self.numbers[key])
        return numbers, fresh


def with_markers(text: str, size: int, citations: Sequence[Citation], numbers: Sequence[int]) -> Text:
    """Return the first `size` characters of a text, with the number of each citation at the end of its span."""
    converter = SpanConverter(text)
    ends = [end_of_span(converter, citation.span) for citation in citations]
    markers = sorted({(end, number) for end, number in zip(ends, numbers, strict=True) if end <= size})
    result, position = Text(), 0
    for end, number in markers:
        result.append_text(safe_text(text[position:end]))
        result.append(f"[{number}]", style="cyan")
        position = end
    return result.append_text(safe_text(text[position:size]))


def note_lines(notes: Iterable[tuple[int, Citation]]) -> Iterator[Text]:
    """Yield one line per note: the number, the source, the location in it, and the quoted text."""
    for number, citation in notes:
        line = Text(f"[{number}] ", style="cyan").append_text(safe_text(_source(citation), "dim"))
        if citation.cited_text:
            quote = " ".join(citation.cited_text.split())
            quote = quote if len(quote) <= _QUOTE else quote[:_QUOTE] + "…"
            line.append_text(safe_text(f" “{quote}”", "dim italic"))
        yield line


def _source(citation: Citation) -> str:
    index = None if citation.document_index is None else f"document {citation.document_index}"
    results = f"results {', '.join(map(str, citation.source_indices))}" if citation.source_indices else None
    call = None if citation.call_id is None else f"result of {citation.call_id}"
    names = (citation.title, citation.filename, citation.url, citation.file_id or call or index or results)
    return " · ".join(name for name in (*names, _location(citation.location)) if name) or "(unnamed source)"


def _location(span: Span | None) -> str | None:
    if span is None:
        return None
    last = None if span.end is None else span.end - 1
    if last is None or last <= (span.start or 0):
        return f"{span.unit} {span.start or 0}"
    return f"{span.unit}s {span.start or 0}-{last}"
