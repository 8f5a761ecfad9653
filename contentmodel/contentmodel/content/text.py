"""Text, and edits of text that keep its citations right."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span


class TextContent(AIContent, frozen=True, kw_only=True):
    """Words. Empty text is content too: it may carry a signature."""

    text: str


_CONTENTS: set[type] = {TextContent}
"""Classes that were found to be contents. A look-up here is faster than `isinstance`."""


def are_contents(value: Any) -> bool:
    """Return whether `value` is a list of contents. Every message that is made is checked by this."""
    if type(value) is not list:
        return False
    for item in value:
        if type(item) not in _CONTENTS:
            if not isinstance(item, AIContent):
                return False
            _CONTENTS.add(type(item))
    return True


def as_contents(value: Any, field: str) -> list[AIContent]:
    """Return the contents that a field is given: a list or tuple of contents and texts, or one text.

    Raise TypeError, which names `field`, for anything else.
    """
    if isinstance(value, str):
        return [TextContent(text=value)]
    if not isinstance(value, list | tuple):
        raise TypeError(f"{field}: expected a list of contents or a text, got {type(value).__name__}")
    return [as_content(item, f"{field}[{index}]") for index, item in enumerate(value)]


def as_content(value: Any, field: str) -> AIContent:
    """Return a content that is given, or the content of a text. Raise TypeError, which names `field`, for the rest."""
    if isinstance(value, str):
        return TextContent(text=value)
    if not isinstance(value, AIContent):
        raise TypeError(f"{field}: expected a content or a text, got {type(value).__name__}")
    return value


_MEASURES: dict[str, Callable[[str], int]] = {
    "codepoint": len,
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "byte": lambda text: len(text.encode("utf-8", "surrogatepass")),
}


UNITS = tuple(_MEASURES)
"""The units of a text that spans are counted in."""


def measure(text: str, unit: str) -> int:
    """The length of `text` in "codepoint", "utf16" or "byte"; ValueError for another unit."""
    try:
        return _MEASURES[unit](text)
    except KeyError:
        raise ValueError(f"unknown text unit {unit!r}: expected one of {', '.join(_MEASURES)}") from None


def convert_span(text: str, span: Span, unit: str) -> Span:
    """`span` of `text`, counted in another unit. A cut inside a character moves to the character's start."""
    return SpanConverter(text).convert(span, unit)


_STEP = 256
_ENCODINGS = {"utf16": ("utf-16-le", 2), "byte": ("utf-8", 1)}


class SpanConverter:
    """Converts spans of one text: many of them cost no more than reading the text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_ascii = text.isascii()
        self._marks: dict[str, list[int]] = {}

    def convert(self, span: Span, unit: str) -> Span:
        """Return `span`, counted in another unit. ValueError if a unit is unknown."""
        if span.unit == unit:
            return span
        measure("", span.unit)
        measure("", unit)
        start = self._to_unit(self._to_codepoint(span.start or 0, span.unit), unit)
        end = None if span.end is None else self._to_unit(self._to_codepoint(span.end, span.unit), unit)
        return Span(start=start, end=end, unit=unit)

    def _to_codepoint(self, offset: int, unit: str) -> int:
        if unit == "codepoint":
            return offset
        if self._is_ascii:
            return _clipped(offset, len(self.text))
        marks = self._marks_in(unit)
        offset = _clipped(offset, marks[-1])
        step = bisect_right(marks, offset) - 1
        first = min(step * _STEP, len(self.text))
        encoding, width = _ENCODINGS[unit]
        inside = self.text[first : first + _STEP].encode(encoding, "surrogatepass")
        return first + len(inside[: (offset - marks[step]) * width].decode(encoding, "ignore"))

    def _to_unit(self, point: int, unit: str) -> int:
        point = _clipped(point, len(self.text))
        if unit == "codepoint" or self._is_ascii:
            return point
        step = point // _STEP
        return self._marks_in(unit)[step] + measure(self.text[step * _STEP : point], unit)

    def _marks_in(self, unit: str) -> list[int]:
        """Return the offset in a unit of every `_STEP`th code point, and of the end."""
        if unit not in self._marks:
            sizes = (measure(self.text[at : at + _STEP], unit) for at in range(0, len(self.text), _STEP))
            self._marks[unit] = [0, *accumulate(sizes)]
        return self._marks[unit]


def _clipped(offset: int, size: int) -> int:
    """Return an offset as a slice takes it: a negative one counts from the end."""
    return max(0, size + offset) if offset < 0 else min(offset, size)


def splice_text(content: TextContent, start: int, end: int, replacement: str) -> TextContent:
    """`content` with the code points `[start, end)` replaced; citations behind them move, ones inside them go.

    A citation that only overlaps the replaced part is cut back to what is left of it. Citations of the whole
    text (no span) stay.
    """
    text = content.text
    edited = text[:start] + replacement + text[end:]
    old, new = SpanConverter(text), SpanConverter(edited)
    kept = [
        moved
        for citation in content.annotations or ()
        if (moved := _moved(citation, old, new, start, end, len(replacement))) is not None
    ]
    return msgspec.structs.replace(content, text=edited, annotations=kept or None)


def join_texts(first: TextContent, second: TextContent) -> TextContent:
    """One text of two: spans of the second move behind the first, and whole-text citations get a span.

    Opaque state cannot be joined: ValueError where either text carries a signature.
    """
    return joined_texts([first, second])


def joined_texts(texts: Sequence[TextContent]) -> TextContent:
    """Return several texts as one. ValueError where one of them carries a signature."""
    if any(text.protected is not None for text in texts):
        raise ValueError("a signed text is sealed: it cannot be joined with another")
    annotations: list[Citation] = []
    before = dict.fromkeys({c.span.unit for text in texts for c in text.annotations or () if c.span is not None}, 0)
    before["codepoint"] = 0
    for text in texts:
        annotations += [_shifted(citation, text.text, before) for citation in text.annotations or ()]
        for unit in before:
            before[unit] += measure(text.text, unit)
    words = "".join(text.text for text in texts)
    return msgspec.structs.replace(texts[0], text=words, annotations=annotations or None)


def _shifted(citation: Citation, text: str, before: Mapping[str, int]) -> Citation:
    """The citation of a text that begins at the offsets `before`, by their units."""
    span = citation.span
    if span is None:
        offset = before["codepoint"]
        return msgspec.structs.replace(citation, span=Span(start=offset, end=offset + len(text)))
    by = before[span.unit]
    end = None if span.end is None else span.end + by
    return msgspec.structs.replace(citation, span=Span(start=(span.start or 0) + by, end=end, unit=span.unit))


def _moved(
    citation: Citation, text: SpanConverter, edited: SpanConverter, start: int, end: int, size: int
) -> Citation | None:
    span = citation.span
    if span is None:
        return citation
    points = text.convert(span, "codepoint")
    origin = points.start or 0
    first = _first_kept(origin, start, end, size)
    last = None if points.end is None else _last_kept(points.end, start, end, size)
    if last is not None and last <= first and points.end != origin:
        return None
    if last is None and start < origin < end:
        return None
    moved = edited.convert(Span(start=first, end=last), span.unit)
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
