"""Encoders of streams in which a complete block cannot change: text that follows it is a block of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent, moved_citations
from contentmodel.engine.losses import reasons
from contentmodel.engine.streams.encoder import StreamEncoder
from contentmodel.engine.streams.outgoing import Written
from contentmodel.engine.streams.stream_losses import Place

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.json import Json

TEXTS = (TextContent, ReasoningContent)
"""Contents whose text grows."""


class AmendingEncoder(StreamEncoder):
    """A stream encoder that writes the rest of a text that grew after its block was written, with its citations."""

    def amend(self, index: int, content: AIContent, written: Written) -> None:
        place = (written.choice, index)
        if written.call is not None:
            self.report_loss(place, content, reasons.CHANGED_AFTER_WRITE)
        elif isinstance(content, TEXTS) and len(content.text) > written.sent:
            rest = partial(self._encode_rest, start=written.sent, cited=written.cited)
            written.sent, written.cited = len(content.text), len(content.annotations or ())
            self.write_more(place, self.encode_with(rest, [content], [place]))
        elif len(content.annotations or ()) > written.cited:
            self.cite_late(place, content, written)

    def write_more(self, place: Place, wire: Any) -> None:
        """Write the wire value of the rest of a text."""
        raise NotImplementedError

    def cite_late(self, place: Place, content: AIContent, written: Written) -> None:
        """Handle new citations of a text that is written already. They are reported as lost."""
        for number in range(written.cited, len(content.annotations or ())):
            self.report_loss(place, content, reasons.AFTER_BLOCK, field=f"annotations[{number}]")
        written.cited = len(content.annotations or ())

    def _encode_rest(self, contents: list[Any], context: EncodeContext, *, start: int, cited: int) -> Json:
        rest = [_rest_of(content, start, cited, context) for content in contents]
        return self.adapter.encode_more(rest, context)


def _rest_of(content: Any, start: int, cited: int, context: EncodeContext) -> Any:
    """Return a text from the code point `start` on, with those of its citations from number `cited` on that it has.

    Report the other citations as lost: the block of their text is complete.
    """
    converter, kept = SpanConverter(content.text), []
    for citation, moved in citations_of_piece(content, cited, start):
        if moved is None:
            context.report_loss(citation, None, reasons.AFTER_BLOCK)
            continue
        if citation.span is not None and (converter.convert(citation.span, "codepoint").start or 0) < start:
            context.report_loss(citation, "span", reasons.AFTER_BLOCK)
        kept.append(moved if moved is citation else context.replaced(citation, moved))
    return context.replace(content, text=content.text[start:], annotations=kept or None)


def citations_of_piece(
    content: Any, first: int = 0, start: int = 0, end: int | None = None
) -> list[tuple[Citation, Citation | None]]:
    """Return the citations of a text from number `first` on, each with itself as it is in `text[start:end]`.

    Instead of a citation of other text, it has None.
    """
    listed, whole, cut = (content.annotations or ())[first:], content.text, content.text[:end]
    ended = moved_citations(listed, whole, cut, len(cut), len(whole))
    kept = [citation for citation in ended if citation is not None]
    begun = iter(moved_citations(kept, cut, cut[start:], 0, start))
    return [(old, None if new is None else next(begun)) for old, new in zip(listed, ended, strict=True)]
