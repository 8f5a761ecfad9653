"""Text, and edits of text that keep its citations right."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span


class TextContent(AIContent, frozen=True, kw_only=True):
    """Words. Empty text is content too: it may carry a signature."""

    text: str


_MEASURES: dict[str, Callable[[str], int]] = {
    "codepoint": len,
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "byte": lambda text: len(text.encode("utf-8", "surrogatepass")),
}


def measure(text: str, unit: str) -> int:
    """The length of `text` in "codepoint", "utf16" or "byte"; ValueError for another unit."""
    try:
        return _MEASURES[unit](text)
    except KeyError:
        raise ValueError(f"unknown text unit {unit!r}: expected one of {', '.join(_MEASURES)}") from None


def convert_span(text: str, span: Span, unit: str) -> Span:
    """`span` of `text`, counted in another unit. A cut inside a character moves to the character's start."""
    if span.unit == unit:
        return span
    start = _to_codepoint(text, span.start or 0, span.unit)
    end = None if span.end is None else _to_codepoint(text, span.end, span.unit)
    return Span(
        start=measure(text[:start], unit),
        end=None if end is None else measure(text[:end], unit),
        unit=unit,
    )


def splice_text(content: TextContent, start: int, end: int, replacement: str) -> TextContent:
    """`content` with the code points `[start, end)` replaced; citations behind them move, ones inside them go.

    A citation that only overlaps the replaced part is cut back to what is left of it. Citations of the whole
    text (no span) stay.
    """
    text = content.text
    edited = text[:start] + replacement + text[end:]
    kept = [
        moved
        for citation in content.annotations or ()
        if (moved := _moved(citation, text, edited, start, end, len(replacement))) is not None
    ]
    return msgspec.structs.replace(content, text=edited, annotations=kept or None)


def join_texts(first: TextContent, second: TextContent) -> TextContent:
    """One text of two: spans of the second move behind the first, and whole-text citations get a span.

    Opaque state cannot be joined: ValueError where either text carries a signature.
    """
    if first.protected is not None or second.protected is not None:
        raise ValueError("a signed text is sealed: it cannot be joined with another")
    annotations = [_shifted(c, first.text, 0, "") for c in first.annotations or ()]
    annotations += [_shifted(c, second.text, len(first.text), first.text) for c in second.annotations or ()]
    return msgspec.structs.replace(first, text=first.text + second.text, annotations=annotations or None)


def _to_codepoint(text: str, offset: int, unit: str) -> int:
    if unit == "codepoint":
        return offset
    encoding, width = ("utf-16-le", 2) if unit == "utf16" else ("utf-8", 1)
    measure("", unit)
    return len(text.encode(encoding, "surrogatepass")[: offset * width].decode(encoding, "ignore"))


def _shifted(citation: Citation, text: str, offset: int, before: str) -> Citation:
    span = citation.span
    if span is None:
        return msgspec.structs.replace(citation, span=Span(start=offset, end=offset + len(text)))
    by = measure(before, span.unit)
    end = None if span.end is None else span.end + by
    return msgspec.structs.replace(citation, span=Span(start=(span.start or 0) + by, end=end, unit=span.unit))


def _moved(citation: Citation, text: str, edited: str, start: int, end: int, size: int) -> Citation | None:
    span = citation.span
    if span is None:
        return citation
    points = convert_span(text, span, "codepoint")
    origin = points.start or 0
    first = _first_kept(origin, start, end, size)
    last = None if points.end is None else _last_kept(points.end, start, end, size)
    if last is not None and last <= first and points.end != origin:
        return None
    if last is None and start < origin < end:
        return None
    moved = convert_span(edited, Span(start=first, end=last), span.unit)
    return msgspec.structs.replace(citation, span=moved)


def _first_kept(point: int, start: int, end: int, size: int) -> int:
    """Where a span begins after the edit: behind what was put in, if it began inside or right before it."""
    if point >= end:
        return point + size - (end - start)
    return point if point < start else start + size


def _last_kept(point: int, start: int, end: int, size: int) -> int:
    """Where a span ends after the edit: before what was put in, if it ended inside or right before it."""
    if point <= start:
        return point
    return start if point < end else point + size - (end - start)
