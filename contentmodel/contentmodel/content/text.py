"""Text and JSON, and edits of text that update the spans of its citations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.derived import derived
from contentmodel.json import write


class TextContent(AIContent, frozen=True, kw_only=True):
    """A text. An empty text is valid: it may have a signature."""

    text: str
    """The text."""


class JsonContent(AIContent, frozen=True, kw_only=True):
    """A JSON value, as the output of a tool. An API without a place for JSON gets it as text."""

    value: Any
    """The value."""

    @property
    def text(self) -> str:
        """The value as compact JSON."""
        return write(self.value).decode("utf-8", "surrogatepass")


KNOWN_CONTENTS: set[type] = {TextContent}
"""A cache of content classes. A look-up here is faster than `isinstance`."""


def are_contents(value: Any) -> bool:
    """Return whether `value` is a list of contents. Every new message runs this check."""
    if value.__class__ is not list:
        return False
    for item in value:
        if item.__class__ not in KNOWN_CONTENTS:
            if not isinstance(item, AIContent):
                return False
            KNOWN_CONTENTS.add(item.__class__)
    return True


def as_contents(value: Any, field: str) -> list[AIContent]:
    """Convert a list or tuple of contents and texts, or one text, to a list of contents.

    Raise TypeError for any other value. The error message contains `field`.
    """
    if isinstance(value, str):
        return [TextContent(text=value)]
    if not isinstance(value, list | tuple):
        raise TypeError(f"{field}: expected a list of contents or a text, got {type(value).__name__}")
    return [as_content(item, f"{field}[{index}]") for index, item in enumerate(value)]


def as_content(value: Any, field: str) -> AIContent:
    """Return `value` if it is a content; wrap a text in a TextContent.

    Raise TypeError for any other value. The error message contains `field`.
    """
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
"""The units of spans of a text."""


def measure(text: str, unit: str) -> int:
    """Return the length of `text` in "codepoint", "utf16" or "byte". Raise ValueError for another unit."""
    try:
        return _MEASURES[unit](text)
    except KeyError:
        raise ValueError(f"unknown text unit {unit!r}: expected one of {', '.join(_MEASURES)}") from None


def convert_span(text: str, span: Span, unit: str) -> Span:
    """Convert `span` of `text` to another unit. An offset inside a character moves to the start of the character.

    Raise ValueError if a unit is unknown.
    """
    measure("", span.unit)
    return SpanConverter(text).convert(span, unit)


def convert_offset(text: str, offset: int, unit: str, target: str) -> int:
    """Convert an offset in `text` to another unit, as `convert_span` converts those of a span."""
    return convert_span(text, Span(start=offset, unit=unit), target).start or 0


_STEP = 256
_ENCODINGS = {"utf16": ("utf-16-le", 2), "byte": ("utf-8", 1)}


class SpanConverter:
    """Convert spans of one text. The text is measured once per unit, whatever the number of spans."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_ascii = text.isascii()
        self._marks: dict[str, list[int]] = {}

    def convert(self, span: Span | None, unit: str) -> Span:
        """Convert `span` to another unit; None is the whole text. Raise ValueError if `unit` is unknown.

        A span in an unknown unit, such as one of a newer version, becomes the whole text.
        """
        if span is not None and span.unit == unit:
            return span
        measure("", unit)
        if span is None or span.unit not in _MEASURES:
            size = derived(self._to_unit(len(self.text), unit), measure, self.text, unit)
            return Span(start=0, end=size, unit=unit)
        end = None if span.end is None else self._offset(span.end, span.unit, unit)
        return Span(start=self._offset(span.start or 0, span.unit, unit), end=end, unit=unit)

    def _offset(self, offset: int, unit: str, target: str) -> int:
        converted = self._to_unit(self._to_codepoint(offset, unit), target)
        return derived(converted, convert_offset, self.text, offset, unit, target)

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
        """Return the offsets, in `unit`, of every `_STEP`th code point and of the end."""
        if unit not in self._marks:
            sizes = (measure(self.text[at : at + _STEP], unit) for at in range(0, len(self.text), _STEP))
            self._marks[unit] = [0, *accumulate(sizes)]
        return self._marks[unit]


def _clipped(offset: int, size: int) -> int:
    """Clip an offset as a slice does: a negative offset counts from the end."""
    return max(0, size + offset) if offset < 0 else min(offset, size)


def splice_text(content: TextContent, start: int, end: int, replacement: str) -> TextContent:
    """Replace the code points `[start, end)` of a text and update its citations.

    Citations after the replaced part are moved, and citations inside it are dropped. A citation that overlaps the
    replaced part is cut back to the rest. Citations of the whole text (no span) stay.
    """
    edited = content.text[:start] + replacement + content.text[end:]
    moved = moved_citations(content.annotations or (), content.text, edited, start, end)
    citations = [citation for citation in moved if citation is not None]
    return msgspec.structs.replace(content, text=edited, annotations=citations or None)


def moved_citations(
    citations: Sequence[Citation], text: str, edited: str, start: int, end: int
) -> list[Citation | None]:
    """Return each citation of a text as `splice_text` changes it: None if it was inside the replaced part.

    `edited` is the text with `[start, end)` replaced.
    """
    old, new = SpanConverter(text), SpanConverter(edited)
    size = len(edited) - len(text) + end - start
    return [_moved(citation, old, new, start, end, size) for citation in citations]


def join_texts(first: TextContent, second: TextContent) -> TextContent:
    """Join two texts. Shift the spans of the second text, and give citations without a span the span of their text.

    Raise ValueError if either text has a signature: opaque state cannot be joined.
    """
    return joined_texts([first, second])


def joined_texts(texts: Sequence[TextContent]) -> TextContent:
    """Join texts as `join_texts` does. Raise ValueError if one of them has a signature."""
    if any(text.protected is not None for text in texts):
        raise ValueError("a text with a signature (`protected`) cannot be joined with another text")
    annotations: list[Citation] = []
    before = dict.fromkeys({c.span.unit for text in texts for c in text.annotations or () if c.span is not None}, 0)
    before = {"codepoint": 0, **{unit: 0 for unit in before if unit in _MEASURES}}
    for text in texts:
        annotations += [_shifted(citation, text.text, before) for citation in text.annotations or ()]
        for unit in before:
            before[unit] += measure(text.text, unit)
    joined = "".join(text.text for text in texts)
    return msgspec.structs.replace(texts[0], text=joined, annotations=annotations or None)


def _shifted(citation: Citation, text: str, before: Mapping[str, int]) -> Citation:
    """Shift a citation of `text` by the offsets in `before` (unit to offset)."""
    span = citation.span
    if span is None or span.unit not in before:
        offset = before["codepoint"]
        return msgspec.structs.replace(citation, span=Span(start=offset, end=offset + len(text)))
    by = before[span.unit]
    end = None if span.end is None else span.end + by
    return msgspec.structs.replace(citation, span=Span(start=(span.start or 0) + by, end=end, unit=span.unit))


def _moved(
    citation: Citation, text: SpanConverter, edited: SpanConverter, start: int, end: int, size: int
) -> Citation | None:
    span = citation.span
    if span is None or span.unit not in _MEASURES:
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
    """Return the start of a span after the edit: after the replacement, if the span started in the replaced part."""
    if point >= end:
        return point + size - (end - start)
    return point if point < start else start + size


def _last_kept(point: int, start: int, end: int, size: int) -> int:
    """Return the end of a span after the edit: before the replacement, if the span ended in the replaced part."""
    if point <= start:
        return point
    return start if point < end else point + size - (end - start)
