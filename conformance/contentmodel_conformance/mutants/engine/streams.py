"""Defects in framing, decoding and encoding of streams."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel import framing
from contentmodel.engine.pipeline import foreign
from contentmodel.engine.streams import (
    block_decoder,
    block_encoder,
    chunks,
    decoder,
    joined_texts,
    merging,
    outgoing,
)
from contentmodel.engine.streams.decoder import BlockState, StreamDecoder
from contentmodel.engine.streams.encoder import StreamEncoder
from contentmodel.engine.streams.event_stream import EventStreamParser
from contentmodel.events import BlockStop
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT
from contentmodel_conformance.mutants.engine.changes import BEDROCK, MISTRAL, RESPONSES, change

replace = msgspec.structs.replace

# -- framing -----------------------------------------------------------------------------------------------------------


@change(framing.AnyFraming, "feed", CHAT, "stream-spellings/written")
def judges_by_the_first_bytes(original: Any, self: Any, data: bytes) -> Any:
    """Choose the framing from the first bytes, before they are conclusive."""
    if self._framing is None and data:
        self._framing = framing.JsonParser() if data[:1] in b"{[ \n\r" else framing.SseParser()
    return original(self, data)


@change(EventStreamParser, "feed", BEDROCK, "stream-cuts/written")
def forgets_the_frame_that_a_chunk_cuts(original: Any, self: Any, data: bytes) -> Any:
    """Discard the bytes of an incomplete binary frame."""
    frames = original(self, data)
    self._bytes.clear()
    return frames


# -- decoding ----------------------------------------------------------------------------------------------------------


@change(StreamDecoder, "start", ANTHROPIC, "stream-order/written")
def numbers_blocks_by_open_count(original: Any, self: Any, wire: Any, content: Any, choice: int = 0) -> Any:
    """Use the count of open blocks as the number of a block, so that numbers repeat."""
    self._blocks = len(self._unstopped)
    return original(self, wire, content, choice)


@change(StreamDecoder, "stop", RESPONSES, "stream-deltas/written")
def stops_the_block_before(original: Any, self: Any, block: Any, content: Any, *, is_complete: bool = True) -> None:
    """Stop a block with the number of the one before it."""
    original(self, block, content, is_complete=is_complete)
    last = self.events[-1] if self.events else None
    if isinstance(last, BlockStop) and last.index:
        self.events[-1] = replace(last, index=last.index - 1)


@change(merging.ChoiceOrder, "take", CHAT, "stream-choices/written")
def numbers_choices_by_arrival(original: Any, self: Any, number: Any, wire: Any) -> Any:
    """Read each chunk at once, so that a choice has the position of its first chunk."""
    return [wire]


@change(merging, "merge_into", CHAT, "stream-encoding/written")
def merges_no_objects(original: Any, old: Any, new: Any, first: Any = ()) -> None:
    """Ignore the objects of an event, such as the counts of tokens."""
    original(old, {key: value for key, value in new.items() if value.__class__ is not dict}, first)


@change(StreamDecoder, "complete", CHAT, "stream-crossing/foreign")
def drops_the_last_usage(original: Any, self: Any, response: Any, layout: Any) -> None:
    """Drop the usage of the last event."""
    original(self, replace(response, usage=None), layout)


@change(StreamDecoder, "_emitted", CHAT, "stream-readings/written")
def emits_disabled_deltas(original: Any, self: Any) -> Any:
    """Emit deltas although they are disabled."""
    return self.events


@change(decoder, "layout_of", CHAT, "stream-section/written")
def reverses_the_layout(original: Any, response: Any, blocks: Any) -> Any:
    """Reverse the blocks of a message."""
    return [[list(reversed(message)) for message in choice] for choice in original(response, blocks)]


@change(chunks.ChunkDecoder, "grow_text", MISTRAL, "stream-crossing/foreign")
def strips_deltas_of_chunks(original: Any, self: Any, message: Any, block: Any, owner: Any, text: str) -> None:
    """Strip white space from each delta of a chunk."""
    original(self, message, block, owner, text.strip())


# -- encoding ----------------------------------------------------------------------------------------------------------


@change(StreamEncoder, "close", CHAT, "stream-unfinished/turn")
def ends_incomplete_turns_as_complete(original: Any, self: Any) -> bytes:
    """Write no error if a turn has no end."""
    return b""


@change(outgoing, "growing", CHAT, "stream-crossing/foreign")
def strips_pieces_of_text(original: Any, head: bytes, tail: bytes) -> Any:
    """Strip white space from each delta of a block."""
    grow = original(head, tail)
    return lambda text: grow(text.strip())


@change(StreamEncoder, "_with_id", ANTHROPIC, "stream-crossing/foreign")
def gives_all_streamed_calls_one_id(original: Any, self: Any, index: Any, choice: Any, content: Any) -> Any:
    """Give all calls of a stream the id of the first."""
    renamed = original(self, index, choice, content)
    if getattr(renamed, "call_id", None) is None:
        return renamed
    self._first = getattr(self, "_first", renamed.call_id)
    return replace(renamed, call_id=self._first)


@change(StreamEncoder, "_close", ANTHROPIC, "stream-crossing/foreign")
def closes_blocks_twice(original: Any, self: Any, block: Any) -> None:
    """Write the end of a block twice."""
    self.close_block(block)
    original(self, block)


@change(StreamEncoder, "write_text", CHAT, "stream-crossing/foreign")
def forgets_what_it_wrote(original: Any, self: Any, block: Any, text: str) -> None:
    """Discard the text that was written for an open block."""
    original(self, block, text)
    block.pieces.clear()


@change(block_encoder, "citations_of_piece", RESPONSES, "stream-late-texts/foreign")
def leaves_citations_of_late_text_in_place(original: Any, content: Any, *piece: Any) -> Any:
    """Do not move the citations of a text that goes on in another block."""
    return [(old, new and replace(new, span=old.span)) for old, new in original(content, *piece)]


@change(block_encoder.AmendingEncoder, "cite_late", ANTHROPIC, "stream-late-texts/foreign")
def drops_late_citations(original: Any, self: Any, place: Any, content: Any, written: Any) -> None:
    """Neither write nor report citations that follow the end of their block."""


@change(StreamDecoder, "stop", ANTHROPIC, "stream-prefix/written")
def stops_broken_blocks_as_complete(
    original: Any, self: Any, block: Any, content: Any, *, is_complete: bool = True
) -> None:
    """Stop incomplete blocks as complete ones."""
    original(self, block, content)


@change(BlockState, "merge_pieces", ANTHROPIC, "stream-deltas/written")
def keeps_the_last_piece(original: Any, self: Any) -> Any:
    """Keep only the last piece of a block."""
    self.pieces = {field: pieces[-1:] for field, pieces in self.pieces.items()}
    return original(self)


@change(block_decoder.BlockDecoder, "merge", ANTHROPIC, "stream-deltas/written")
def stops_blocks_without_their_deltas(original: Any, self: Any, block: Any) -> Any:
    """Stop each block with the content that it began with."""
    return block.wire


@change(block_encoder.BlockEncoder, "put_delta", ANTHROPIC, "stream-crossing/foreign")
def drops_the_deltas_after_a_text(original: Any, self: Any, delta: Any) -> None:
    """Do not write the citations and signatures of a block."""


# -- texts -------------------------------------------------------------------------------------------------------------


@change(joined_texts, "with_normalized_texts", CHAT, "texts-apart/foreign")
def joins_separate_texts(original: Any, messages: Any, context: Any, *, cites: bool = False, blocks: Any = None) -> Any:
    """Write separate texts of an answer without an empty line between them."""
    return foreign.normalize_answer(messages, context, cites=cites)
