"""Encoders of streams in which a complete block cannot change: text that follows it is a block of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent, moved_citations
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.encoded import EncodedContents
from contentmodel.engine.streams.encoder import StreamEncoder
from contentmodel.engine.streams.outgoing import OutgoingBlock, Written
from contentmodel.engine.streams.places import Place
from contentmodel.events import TextDelta

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.json import Json, JsonObject

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

    def encode_with(
        self, encode: Callable[[list[Any], EncodeContext], Json], contents: list[Any], places: list[Place]
    ) -> Json:
        """Return the wire value that `encode` makes of contents, and record the losses that it reports.

        `encode` may be called again for other contents.
        """
        encoded = self._encoded_with(encode, contents)
        self.record(places, encoded)
        return encoded.payload

    def _encoded_with(self, encode: Callable[[list[Any], EncodeContext], Json], contents: list[Any]) -> EncodedContents:
        context = self.new_context()
        return EncodedContents(encode(contents, context), contents, context, partial(self._encoded_with, encode))

    def _encode_rest(self, contents: list[Any], context: EncodeContext, *, start: int, cited: int) -> Json:
        rest = [_rest_of(content, start, cited, context) for content in contents]
        return self.adapter.encode_contents(rest, context)


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


class SequentialEncoder(AmendingEncoder):
    """A stream encoder for an API whose blocks have a start, deltas and a stop, one block after the other."""

    empty_text: ClassVar[JsonObject]
    """The wire value of a text that was started and became nothing, because blank texts are dropped."""

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self.count = 0
        """The number of blocks that were written. It is the index of the next one."""

    def is_deferred(self, block: OutgoingBlock) -> bool:
        """Postpone a blank text of another API, too: it is dropped if nothing follows."""
        is_from_this_api = self._origin is not None and self._origin.api == self.api
        if is_from_this_api or block.content.__class__ is not TextContent or not _is_blank(block.content.text):
            return super().is_deferred(block)
        known, block.state = block.state or 0, len(block.deltas)
        return all(delta.__class__ is not TextDelta or _is_blank(delta.text) for delta in block.deltas[known:])

    def break_off(self, block: OutgoingBlock) -> None:
        super().break_off(block)
        self.count += block.grow is not None

    def close_block(self, block: OutgoingBlock) -> None:
        wires = self.encode_block(block)
        own = None if block.grow is None else self.begun_wire(block, wires)
        if own is not None:
            self._end_of(block, own, sent=block.sent)
        for wire in wires:
            if wire is not own:
                self.begin_block(wire)
                self._end_of(block, wire)
        block.cited = len(block.content.annotations or ())

    def _end_of(self, block: OutgoingBlock, wire: JsonObject, *, sent: int = 0) -> None:
        block.place = self.count
        self.end_block(wire, sent=sent, is_complete=block.is_complete)

    def begun_wire(self, block: OutgoingBlock, wires: list[JsonObject]) -> JsonObject:
        """Return the wire value that a live block was started for, among those of the finished block."""
        return wires[0] if wires else self.empty_text

    def write_more(self, place: Place, wire: Any) -> None:
        for block in wire:
            self.begin_block(block)
            self.end_block(block)

    def begin_block(self, wire: JsonObject) -> None:
        """Write the start of a block, without what its deltas send."""
        raise NotImplementedError

    def end_block(self, wire: JsonObject, *, sent: int = 0, is_complete: bool = True) -> None:
        """Write what a block has beside the first `sent` characters of its text, and its stop if it is complete."""
        raise NotImplementedError


def _is_blank(text: str) -> bool:
    return not text or text.isspace()
