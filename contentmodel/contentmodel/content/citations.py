"""Citations: where in a text, from which source, and where in that source; every span names its unit."""

from __future__ import annotations

from typing import Any

from contentmodel.interop import Model
from contentmodel.literals import Open, SpanUnit


class Span(Model, frozen=True, kw_only=True):
    """A half-open range `[start, end)` counted in `unit`.

    Units of a text: "codepoint" (Python characters), "utf16" (JavaScript), "byte" (UTF-8). Units of a source:
    "char", "page", "block". `end` is None for a point (an insertion index), `start` where the API leaves it out
    (Google leaves out zeros: then it is the beginning).
    """

    start: int | None = None
    end: int | None = None
    unit: Open[SpanUnit] = "codepoint"


class Citation(Model, frozen=True, kw_only=True):
    """A statement that part of a text comes from a source.

    `span` is the part of the text that this citation is attached to; None means all of it. `location` is the
    place inside the source. The source is named by whichever of `url`, `file_id`, `container_id`,
    `document_index` (position of the document in the request), `source_indices` (positions in the list of
    results that stands beside the text) the API gave. `cited_text` quotes the source.
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
