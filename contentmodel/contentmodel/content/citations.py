"""Citations: a part of a text, its source, and the part of the source. Every span has a unit."""

from __future__ import annotations

from typing import Any

from contentmodel.interop import Model
from contentmodel.literals import Open, SpanUnit


class Span(Model, frozen=True, kw_only=True):
    """A half-open range `[start, end)` counted in `unit`.

    Units of a text: "codepoint" (Python characters), "utf16" (JavaScript), "byte" (UTF-8). Units of a source:
    "char", "page", "block". If `end` is None, the span is a point (an insertion index). If `start` is None, the API
    omitted it; read it as 0 (Google omits zeros).
    """

    start: int | None = None
    end: int | None = None
    unit: Open[SpanUnit] = "codepoint"


class Citation(Model, frozen=True, kw_only=True):
    """A statement that part of a text comes from a source.

    `span` is the part of the text that the citation belongs to; None means all of it. `location` is the part of the
    source. The API identifies the source by one or more of `url`, `file_id`, `container_id`, `document_index`
    (index of the document in the request) and `source_indices` (indices into the list of results that accompanies
    the text). `cited_text` quotes the source.
    """

    span: Span | None = None
    location: Span | None = None
    url: str | None = None
    title: str | None = None
    file_id: str | None = None
    filename: str | None = None
    container_id: str | None = None
    document_index: int | None = None
    source_indices: list[int] | None = None
    cited_text: str | None = None
    extra: dict[str, dict[str, Any]] | None = None
