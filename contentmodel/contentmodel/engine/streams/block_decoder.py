"""Decoders of streams whose blocks are numbered: each has a start, deltas and a stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.streams.decoder import BlockState, StreamDecoder
from contentmodel.engine.streams.merging import owner_at
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import CitationDelta, Layout, SignatureDelta
from contentmodel.json import JsonObject, list_of, object_or_text

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.engine.context import DecodeContext
    from contentmodel.engine.table.unions import Union


def decode_call(wire: JsonObject, path: str, typed: str, decode: Callable[[JsonObject], AIContent]) -> AIContent:
    """Return the content of a call whose arguments arrived as text. They are put at `path` in its wire object.

    Text that is no object is usually truncated (the limit of tokens). An answer that is not streamed cannot have it, so
    only the content has it, and the wire object has no arguments.
    """
    owner, name = owner_at(wire, path)
    arguments = object_or_text(typed)
    owner[name] = {} if arguments is typed else arguments
    content = decode(wire)
    if arguments is not typed:
        # The text is the model's own: an object in it is no mark for arguments that are no object.
        is_mark = isinstance(content, ToolCallContent) and content.arguments.__class__ is str
        return msgspec.structs.replace(content, arguments=arguments) if is_mark else content
    if isinstance(content, ToolCallContent):
        return msgspec.structs.replace(content, arguments=typed)
    owner[name] = typed
    return decode(wire)


class BlockDecoder(StreamDecoder):
    """A decoder of a stream whose blocks are numbered. Finished blocks are not kept.

    An adapter implements `read`, with `begin_block`, `cite`, `sign` and `end_block`, and `answer_with`.
    """

    blocks: ClassVar[Union]
    citations: ClassVar[Union]
    arguments: ClassVar[str]
    """The dotted path of a call's arguments in its block."""

    def __init__(self, adapter: TableAdapter, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self.open: dict[int, BlockState] = {}
        """The blocks that are not stopped, by their numbers."""

    def answer_with(self, is_begun: bool) -> JsonObject:
        """Return the answer. If blocks have begun, it has a placeholder for them."""
        raise NotImplementedError

    def merge(self, block: BlockState) -> JsonObject:
        """Return the wire object of a finished block, with everything that was appended to it."""
        return block.merge_pieces()

    def begin_block(self, place: int, wire: JsonObject) -> BlockState:
        """Start the block with a number."""
        content = self.decode_block(wire)
        if getattr(content, "arguments", None) == {}:
            content = msgspec.structs.replace(content, arguments="")
        # A copy grows, because an unknown content has the wire object itself.
        growing = dict(wire)
        for key, value in wire.items():
            if value.__class__ is dict:
                growing[key] = {**value}
        block = self.open[place] = self.start(growing, content)
        return block

    def cite(self, block: BlockState, wire: JsonObject) -> None:
        """Append a citation to a block."""
        block.wire["citations"] = [*list_of(block.wire, "citations"), wire]
        for citation in self.citations.decode_list([wire], self.context()):
            self.emit(CitationDelta(index=block.index, citation=citation))

    def sign(self, block: BlockState) -> None:
        """Emit the state of a block, which its wire object has now."""
        protected = self.decode_block(block.wire).protected
        if protected is not None:
            self.emit(SignatureDelta(index=block.index, protected=protected))

    def end_block(self, place: int, *, is_complete: bool = True) -> BlockState | None:
        """Stop the block with a number. Return it; None if it is not open."""
        block = self.open.pop(place, None)
        if block is not None:
            self.stop(block, self._finished(block), is_complete=is_complete)
        return block

    def _finished(self, block: BlockState) -> Any:
        typed = "".join(block.pieces.pop(self.arguments, ()))
        wire, context = self.merge(block), self.context()
        block.joined = typed or block.joined
        if typed:
            content = decode_call(wire, self.arguments, typed, lambda call: self.decode_block(call, context))
        else:
            content = self.decode_block(wire, context)
        context.finish(wire)
        return content

    def decode_block(self, wire: JsonObject, context: DecodeContext | None = None) -> Any:
        return self.blocks.decode_list([wire], context or self.context())[0]

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self) -> None:
        if not self._has_begun:
            raise DecodeError(self.api, [Fault("$", "the message ends and has not started")])
        for place in list(self.open):
            self.end_block(place)
        wire, layout = self.broken()
        self.complete(self.adapter.read_response(wire), layout)

    def stop_open(self) -> None:
        for place in list(self.open):
            self.end_block(place, is_complete=False)

    def broken(self) -> tuple[JsonObject, Layout]:
        if not self._has_begun:
            return {}, []
        return self.answer_with(is_begun=self._blocks > 0), [[list(range(self._blocks))]]
