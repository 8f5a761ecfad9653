"""Citations: a part of a text, its source, and the part of the source. Every span has a unit."""

from __future__ import annotations

from typing import Any

from contentmodel.interop import Model
from contentmodel.literals import Open, SpanUnit


class Span(Model, frozen=True, kw_only=True):
    """A half-open range `[start, end)` counted in `unit`."""

    start: int | None = None
    """The first position. None means that the API omitted it: read it as 0 (Google omits zeros)."""
    end: int | None = None
    """The position after the last one. None means that the span is a point, an insertion index."""
    unit: Open[SpanUnit] = "codepoint"
    """Of a text: `codepoint` (Python characters), `utf16` (JavaScript), `byte` (UTF-8).

    Of a source: `char`, `page`, `block`.
    """


class Citation(Model, frozen=True, kw_only=True):
    """A statement that part of a text comes from a source.

    The API identifies the source by one or more of `url`, `file_id`, `container_id`, `call_id`, `document_index` and
    `source_indices`.
    """

    span: Span | None = None
    """The part of the text that the citation belongs to; None means all of it, a source without a span."""
    location: Span | None = None
    """The part of the source that is cited."""
    url: str | None = None
    """The address of the source."""
    title: str | None = None
    """The title of the source."""
    file_id: str | None = None
    """The provider's id of the source, if it is a file."""
    filename: str | None = None
    """The name of the source, if it is a file."""
    container_id: str | None = None
    """The provider's id of the container that holds the file."""
    call_id: str | None = None
    """The id of the call whose result is the source."""
    document_index: int | None = None
    """The index of the source among the documents of the request."""
    source_indices: list[int] | None = None
    """Indices of the sources in the list of results that accompanies the text."""
    cited_text: str | None = None
    """The quotation of the source."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""
