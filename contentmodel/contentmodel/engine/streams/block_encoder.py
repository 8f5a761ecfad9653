"""Encoders of streams whose blocks follow each other: each has a start, deltas and a stop.

An adapter says in which parts a whole block is sent (`parts_of`), and what the events are. From this, the encoder
writes a block as it grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from contentmodel import reasons
from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent, moved_citations
from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.streams.encoder import Place, StreamEncoder
from contentmodel.engine.streams.outgoing import OutgoingBlock, Written, growing_event, spelled
from contentmodel.events import TextDelta

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.json import Json, JsonObject


TEXTS = (TextContent, ReasoningContent)
"""Contents whose text grows."""


class AmendingEncoder(StreamEncoder):
    """A stream encoder that writes the rest of a text that grew after its block was written, with its citations."""

    def amend(self, index: int, content: AIContent, written: Written) -> None:
        place = (written.choice, index)
        if written.call is not None:
            self.report_loss(place, content, reasons.CHANGED_AFTER_WRITE)
        elif isinstance(content, TEXTS) and len(content.text) > written.sent:
            encode_rest = partial(self._encode_rest, start=written.sent, cited=written.cited)
            written.sent, written.cited = len(content.text), len(content.annotations or ())
            self.write_more(place, self.encode_with(encode_rest, [content], [place]))
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
        pieces = [_rest_of(content, start, cited, context) for content in contents]
        return self.adapter.encode_more(pieces, context)


def _rest_of(content: Any, start: int, cited: int, context: EncodeContext) -> Any:
    """Return a text from the code point `start` on, with those of its citations from number `cited` on that it has.

    Report the other citations as lost: the block of their text is complete.
    """
    converter, citations = SpanConverter(content.text), []
    for citation, moved in citations_of_piece(content, cited, start):
        if moved is None:
            context.report_loss(citation, None, reasons.AFTER_BLOCK)
            continue
        if citation.span is not None and (converter.convert(citation.span, "codepoint").start or 0) < start:
            context.report_loss(citation, "span", reasons.AFTER_BLOCK)
        citations.append(moved if moved is citation else context.replaced(citation, moved))
    return context.replace(content, text=content.text[start:], annotations=citations or None)


def citations_of_piece(
    content: Any, first: int = 0, start: int = 0, end: int | None = None
) -> list[tuple[Citation, Citation | None]]:
    """Return the citations of a text from number `first` on, each with itself as it is in `text[start:end]`.

    Instead of a citation of other text, it has None.
    """
    listed, whole, cut = (content.annotations or ())[first:], content.text, content.text[:end]
    ended = moved_citations(listed, whole, cut, len(cut), len(whole))
    remaining = [citation for citation in ended if citation is not None]
    begun = iter(moved_citations(remaining, cut, cut[start:], 0, start))
    return [(old, None if new is None else next(begun)) for old, new in zip(listed, ended, strict=True)]


NamedEvent = tuple["JsonObject", str | None]
"""An event of an API, and its name."""


class BlockParts(msgspec.Struct, frozen=True):
    """The parts of a whole block in a stream."""

    start: JsonObject | None
    """The block as it starts; None if its first delta starts it."""
    growth: JsonObject | None = None
    """The delta that appends text, with `TEXT_HERE` in place of the text; None if the block has no text that grows."""
    text: str = ""
    """The whole text."""
    rest: tuple[JsonObject, ...] = ()
    """The deltas after the text: citations, a signature."""
    needs_text: bool = False
    """True if an empty text has a delta, too, because nothing else shows that the block has a text."""


class BlockEncoder(AmendingEncoder):
    """A stream encoder for an API whose blocks have a start, deltas and a stop, one block after the other.

    A block is live if its parts have a text that grows, and this text is the text of the content unchanged.
    """

    empty_text: ClassVar[JsonObject]
    """The wire value of a text that was started and became nothing, because blank texts are dropped."""

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self.count = 0
        """The number of blocks that were written. It is the index of the next one."""

    # -- implemented by the encoder of each API ----------------------------------------------------------------

    def parts_of(self, wire: JsonObject) -> BlockParts:
        """Return the parts in which a whole block is sent."""
        raise NotImplementedError

    def start_event(self, start: JsonObject) -> NamedEvent:
        """Return the event that starts the block with the number `count`."""
        raise NotImplementedError

    def delta_event(self, delta: JsonObject) -> NamedEvent:
        """Return the event for a delta of the block with the number `count`."""
        raise NotImplementedError

    def stop_event(self) -> NamedEvent:
        """Return the event that stops the block with the number `count`."""
        raise NotImplementedError

    def new_context(self) -> EncodeContext:
        context = super().new_context()
        context.sends_argument_text = True
        return context

    def begun_wire(self, block: OutgoingBlock, wires: list[JsonObject]) -> JsonObject:
        """Return the wire value that a live block was started for, among those of the finished block."""
        return wires[0] if wires else self.empty_text

    # -- blocks ------------------------------------------------------------------------------------------------

    def is_deferred(self, block: OutgoingBlock) -> bool:
        """Postpone a blank text of another API, too: it is dropped if nothing follows."""
        is_from_this_api = self._origin is not None and self._origin.api == self.api
        if is_from_this_api or block.content.__class__ is not TextContent or not _is_blank(block.content.text):
            return super().is_deferred(block)
        seen, block.state = block.state or 0, len(block.deltas)
        return all(delta.__class__ is not TextDelta or _is_blank(delta.text) for delta in block.deltas[seen:])

    def open_block(self, block: OutgoingBlock) -> None:
        wires = self.encode_start(block.content)
        if len(wires) != 1:
            return
        parts = self.parts_of(wires[0])
        if parts.growth is None or not self._is_begun_with(block, parts.text):
            return
        self.begin_block(wires[0], parts, block)
        block.grow = growing_event(self.stream_format, *self.delta_event(parts.growth))
        block.state = parts
        self.write_begun(block)

    def _is_begun_with(self, block: OutgoingBlock, text: str) -> bool:
        """Return whether the text of a block that has just started is the text of its content."""
        begun = self.begun_text(block)
        # Where arguments are text, those of a call that has just started are an empty object.
        return text == begun or (text == "{}" and not begun and isinstance(block.content, ToolCallContent))

    def close_block(self, block: OutgoingBlock) -> None:
        wires = self.encode_block(block)
        begun = None if block.grow is None else self.begun_wire(block, wires)
        if begun is not None:
            self._end_block(begun, self.parts_of(begun), block, is_live=True)
        for wire in wires:
            if wire is not begun:
                self._write_block(wire, block)
        block.cited = len(block.content.annotations or ())

    def write_more(self, place: Place, wire: Any) -> None:
        for block in wire:
            self._write_block(block)

    def _write_block(self, wire: JsonObject, block: OutgoingBlock | None = None) -> None:
        parts = self.parts_of(wire)
        self.begin_block(wire, parts, block)
        self._end_block(wire, parts, block)

    def begin_block(self, wire: JsonObject, parts: BlockParts, block: OutgoingBlock | None = None) -> None:
        """Write the start of a block. `block` has its content; None if it is more of an earlier one."""
        if parts.start is not None:
            self.put(*self.start_event(parts.start))

    def _end_block(
        self, wire: JsonObject, parts: BlockParts, block: OutgoingBlock | None, *, is_live: bool = False
    ) -> None:
        """Write what is left of a block: the text that is not written yet, the other deltas, and the stop."""
        text, growth, sent = parts.text, parts.growth, 0
        if block is not None and block.typed:
            text = spelled(text, block.typed)
        if block is not None and is_live:
            text, growth, sent = block.unwritten(text), block.state.growth, block.sent
        if parts.growth is not None and (text or parts.growth != growth or (parts.needs_text and not sent)):
            self.put_growth(parts.growth, text)
        for delta in parts.rest:
            self.put_delta(delta)
        self.stop_block(wire, is_complete=block is None or block.is_complete)
        if block is not None:
            block.place = self.count
        self.count += 1

    def put_growth(self, growth: JsonObject, text: str) -> None:
        """Write a delta that appends text to the block with the number `count`."""
        self.put_raw(growing_event(self.stream_format, *self.delta_event(growth))(text))

    def put_delta(self, delta: JsonObject) -> None:
        """Write a delta of the block with the number `count`."""
        self.put(*self.delta_event(delta))

    def stop_block(self, wire: JsonObject, *, is_complete: bool) -> None:
        """Write the stop of a block. One that broke off stays open."""
        if is_complete:
            self.put(*self.stop_event())

    def break_off(self, block: OutgoingBlock) -> None:
        super().break_off(block)
        self.count += block.grow is not None


def _is_blank(text: str) -> bool:
    return not text or text.isspace()
