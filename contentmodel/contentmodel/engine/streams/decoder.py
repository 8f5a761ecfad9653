"""The common part of the stream decoders: frames in, events out, growing blocks, and the end of a stream.

A decoder merges deltas into the wire object of a non-streamed answer, and decodes it with the same table. One decoder
reads one stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.adapter import Payload, as_json
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.streams.merging import append_text, join_base64, owner_at
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import (
    ENDED,
    MALFORMED,
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Layout,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
    WireEvent,
    growing_field,
    without_contents,
)
from contentmodel.framing import DONE, Frame
from contentmodel.json import JsonObject, kind_of, parse, write
from contentmodel.message import Origin, contents_of
from contentmodel.response import ChatChoice, ChatResponse

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.engine.table.rows import Row
    from contentmodel.engine.table.unions import Union

_decode = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
# The exceptions that decoding may raise for values of unexpected types. They include DecodeError.
UNREADABLE = (TypeError, AttributeError, LookupError, ValueError, RecursionError)


Grown = tuple[int, list[str], str, Callable[..., StreamEvent]]
"""The effect of a delta event: the number of the block, its list of pieces, the new text, and the event type."""


class BlockState:
    """An incomplete block: its wire object, and the received pieces of its growing fields."""

    __slots__ = ("choice", "emitted", "index", "joined", "pieces", "wire")

    def __init__(self, index: int, wire: JsonObject, choice: int = 0) -> None:
        self.index = index
        self.wire = wire
        self.choice = choice
        self.pieces: dict[str, list[str]] = {}
        self.joined: str = ""
        """The joined text of the pieces."""
        self.emitted: Any = None
        """The content of the last event of the block that has one."""

    def grow(self, field: str, text: str) -> None:
        """Append `text` to `field`."""
        self.pieces.setdefault(field, []).append(text)

    def merge_pieces(self, base64: Collection[str] = ("data",)) -> JsonObject:
        """Merge all pieces into the wire object and return it. The field `a.b` is a nested one.

        `base64` names the fields whose pieces are base64, each encoded by itself.
        """
        for field, pieces in self.pieces.items():
            owner, name = owner_at(self.wire, field)
            existing = owner.get(name)
            join = join_base64 if field in base64 else "".join
            self.joined = owner[name] = join([existing if existing.__class__ is str else "", *pieces])
        self.pieces = {}
        return self.wire

    def text_so_far(self) -> str:
        """Return the text received so far, even if the wire object cannot be decoded."""
        return next(("".join(pieces) for pieces in self.pieces.values()), self.joined)


class DeltaTemplate:
    """A template made of the last delta event. If the next event differs only in its text, only the text is parsed.

    The template consists of the bytes before and after the text. This is valid because the text occurs exactly once in
    the event, and the JSON has no backslash. Padding at the end of an event is ignored.
    """

    __slots__ = (
        "begin",
        "end",
        "event",
        "head",
        "index",
        "is_padded",
        "is_unused",
        "min_length",
        "name",
        "pieces",
        "tail",
    )

    def __init__(self, name: str | None, data: bytes, grown: Grown) -> None:
        self.index, self.pieces, text, self.event = grown
        self.name = name
        self.is_unused = True
        core = unpadded(data)
        self.is_padded = core is not None
        self.head, _, self.tail = (data if core is None else core).partition(write(text))
        self.begin, self.end = len(self.head), -len(self.tail)
        self.min_length = len(self.head) + len(self.tail) + 3

    @staticmethod
    def can_be_made_of(data: bytes, grown: Grown) -> bool:
        """Return whether the event contains the text exactly once, without escapes."""
        text = grown[2]
        return text != "" and b"\\" not in data and data.count(write(text)) == 1

    def reads(self, name: str | None, data: bytes, events: list[StreamEvent] | None) -> bool:
        """Read the event if it matches the template. Return whether it did."""
        if not data.startswith(self.head) or name != self.name:
            return False
        if self.is_padded:
            data = unpadded(data) or b""
        if len(data) < self.min_length or not data.endswith(self.tail):
            return False
        try:
            text = _decode_text(data[self.begin : self.end])
        except (msgspec.MsgspecError, UnicodeError):
            return False
        self.is_unused = False
        self.pieces.append(text)
        if events is not None:
            events.append(self.event(index=self.index, text=text))
        return True


PADDING = b',"obfuscation":"'


def unpadded(data: bytes) -> bytes | None:
    """Return the JSON of an object without its last field (padding) and its last brace; None if it has no padding."""
    cut = data.rfind(PADDING)
    if cut < 0 or data.find(b'"', cut + len(PADDING)) != len(data) - 2:
        return None
    return data[:cut]


class StreamDecoder:
    """Decode the bytes of one answer to events.

    `feed` takes bytes, split anywhere; `feed_event` takes one parsed event. The last event is a TurnComplete or a
    TurnError. Invalid input raises no exception but ends in a TurnError. Input after the end is ignored.
    """

    max_event_bytes: int = 128 * 2**20
    """The maximum size of an event in bytes. A larger one ends the turn with an error.

    Set it on a decoder, or on this class for all decoders.
    """

    def __init__(self, adapter: TableAdapter, *, deltas: bool = True) -> None:
        self.adapter = adapter
        self.api = adapter.api
        self.deltas = deltas
        """True if delta events are emitted. Consumers that only fold can disable them."""
        self.counts = deltas
        """True if events with the token counts so far are emitted."""
        self.is_over = False
        self.is_broken = False
        self.answer: JsonObject = {}
        """The answer without its blocks, in its wire form."""
        self.events: list[StreamEvent] = []
        self._framing = adapter.stream_format.framing()
        self._pending_bytes = 0
        """An upper bound of the number of bytes since the last complete event."""
        self._envelope = ChatResponse(origin=adapter.answer_origin({}))
        self._unstopped: dict[int, BlockState] = {}
        self._has_begun = False
        self._blocks = 0
        self._read = 0
        self._template: DeltaTemplate | None = None
        self._grown: Grown | None = None
        self._template_misses = 0
        """The number of templates that never matched, minus those that matched."""

    def assume_model(self, model: str) -> None:
        """Take the model from the caller, if answers of the API do not name it. Call it before the first event."""

    # -- for callers -------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Return the events that these bytes complete."""
        self.events = []
        if not self.is_over:
            frames = self._framing.feed(data)
            if frames:
                self._pending_bytes = 0
                try:
                    self._read_frames(frames)
                except UNREADABLE as error:
                    self._fail_at(error)
            elif self._exceeds_limit(len(data)):
                limit = f"it has more than {self.max_event_bytes:,} bytes"
                self.fail(ErrorContent(code=MALFORMED, message=f"event {self._read + 1}: {limit}"))
            if self._framing.fault is not None and not self.is_over:
                self.fail(ErrorContent(code=MALFORMED, message=self._framing.fault))
        return self.events if self.deltas else self._emitted()

    def _exceeds_limit(self, size: int) -> bool:
        self._pending_bytes += size
        if self._pending_bytes <= self.max_event_bytes:
            return False
        pending_length = len(self._framing.close())
        if pending_length > size:
            return True
        # The earlier bytes were comments and blank lines, which are not kept.
        self._pending_bytes = pending_length
        return False

    def feed_event(self, event: Payload, name: str | None = None) -> list[StreamEvent]:
        """Return the events for one event of the API: a dict, or an object of its SDK."""
        self.events = []
        if not self.is_over:
            self._template = None
            self._read += 1
            self._run_guarded(self._read_event, event, name)
            self._grown = None
        return self._emitted()

    def close(self) -> list[StreamEvent]:
        """Return the events for the end of the input. Call it for every stream."""
        self.events = []
        if not self.is_over and (frames := self._framing.end()):
            self._run_guarded(self._read_frames, frames)
        if not self.is_over:
            self._run_guarded(self._end, self._framing.close())
        return self._emitted()

    def _emitted(self) -> list[StreamEvent]:
        return self.events if self.deltas else [event for event in self.events if not isinstance(event, BlockDelta)]

    # -- frames ------------------------------------------------------------------------------------------------

    def _run_guarded(self, work: Callable[..., None], *arguments: object) -> None:
        try:
            work(*arguments)
        except UNREADABLE as error:
            self._fail_at(error)

    def _fail_at(self, error: Exception) -> None:
        """End the turn, because the current event cannot be read."""
        message = str(error) if isinstance(error, DecodeError) else f"{self.api}: {error.__class__.__name__}: {error}"
        self.fail(ErrorContent(code=MALFORMED, message=f"event {self._read}: {message}"))

    def _read_event(self, event: Payload, name: str | None) -> None:
        self._read_wire(as_json(event, self.api), name)

    def _read_frames(self, frames: list[Frame]) -> None:
        read, reads_quickly = self.read, self.reads_quickly
        events = self.events if self.deltas else None
        for name, data in frames:
            self._read += 1
            if reads_quickly is not None and reads_quickly(name, data):
                continue
            template = self._template
            if template is not None:
                if template.reads(name, data, events):
                    continue
                self._template = None
                self._template_misses += 1 if template.is_unused else -1
            if data == DONE:
                self.read_rest()
                self.done()
            else:
                try:
                    wire = _decode(data)
                except (msgspec.MsgspecError, UnicodeError, RecursionError):
                    wire = parse(data, self.api)
                if wire.__class__ is dict:
                    read(name, wire)
                else:
                    self._read_wire(wire, name)
                if self._grown is not None:
                    self._keep_template(name, data)
            if self.is_over:
                return

    def more(self, block: BlockState, field: str, text: str, event: Callable[..., StreamEvent]) -> None:
        """Append `text` to a block's `field`, and emit a delta event if deltas are enabled."""
        block.pieces.setdefault(field, []).append(text)
        if self.deltas:
            self.events.append(event(index=block.index, text=text))

    def append(
        self, block: BlockState, owner: JsonObject, key: str, text: str, event: Callable[..., StreamEvent]
    ) -> None:
        """Append `text` to a string inside the wire object of a block, and emit a delta event if it is not empty."""
        append_text(owner, key, text)
        if text:
            self.emit(event(index=block.index, text=text))

    def grew(self, block: BlockState, pieces: list[str], text: str, event: Callable[..., StreamEvent]) -> None:
        """Record that the current wire event only appends `text` to `pieces`. Emit a delta event if enabled."""
        if self.deltas:
            self.events.append(event(index=block.index, text=text))
        self._grown = (block.index, pieces, text, event)

    def _keep_template(self, name: str | None, data: bytes) -> None:
        """Keep a template of the current delta event, because the next event probably differs only in its text."""
        grown, self._grown = self._grown, None
        # If templates failed too often, make no more.
        if grown is not None and self._template_misses < 8 and DeltaTemplate.can_be_made_of(data, grown):
            self._template = DeltaTemplate(name, data, grown)

    def _read_wire(self, wire: Any, name: str | None) -> None:
        """Read an event, or an array of events: Google puts an error into one."""
        for event in wire if wire.__class__ is list and wire else [wire]:
            if event.__class__ is not dict:
                raise DecodeError(self.api, [Fault("$", f"expected an object: an event, got {kind_of(event)}")])
            if not self.is_over:
                self.read(name, event)
        if wire.__class__ is list:
            self._grown = None

    def _end(self, incomplete: bytes) -> None:
        self.read_rest()
        if self.is_ready() and not self._framing.is_cut:
            self.finish()
            return
        position = "in the middle of an event" if incomplete else "before the answer was complete"
        self.fail(ErrorContent(code=ENDED, message=f"the stream ended {position}"))

    # -- implemented by the decoder of each API ----------------------------------------------------------------

    reads_quickly: Callable[[str | None, bytes], bool] | None = None
    """A fast path for the usual events. It returns False for any other event."""

    def read(self, name: str | None, wire: JsonObject) -> None:
        """Read one event of the API."""
        raise NotImplementedError

    def read_rest(self) -> None:
        """Read the events that were delayed: the input has ended."""

    def done(self) -> None:
        """Handle the marker [DONE]."""
        if self.is_ready():
            self.finish()

    def is_ready(self) -> bool:
        """Return whether the input may end here."""
        return False

    def merged(self) -> JsonObject:
        """Return the answer received so far in the form of an answer that is not streamed."""
        return self.answer

    def blocks_of(self, response: ChatResponse) -> Iterable[Sequence[BlockState]]:
        """Return the blocks of each choice of the decoded answer, in the order of the contents."""
        return [[] for _ in response.choices]

    def finish(self) -> None:
        """Complete the answer."""
        response = self.adapter.read_response(self.merged())
        self.complete(response, self.stop_all(response))

    def stop_open(self) -> None:
        """Stop every open block, because the stream broke off."""

    def broken(self) -> tuple[JsonObject, Layout]:
        """Return the answer received so far, and its layout."""
        wire = self.merged()
        return wire, self.stop_all(self.adapter.read_response(wire))

    # -- used by the decoder of each API -----------------------------------------------------------------------

    def emit(self, event: StreamEvent) -> None:
        self.events.append(event)

    def wire_event(self, name: str | None, wire: JsonObject) -> None:
        """Emit an event that does not change the content."""
        self.events.append(WireEvent(api=self.api, name=name if name.__class__ is str else None, data=wire))

    def context(self) -> DecodeContext:
        """Return a new context for one block, so that its faults are of that block only."""
        return DecodeContext(self.api, self.adapter.answer_origin(self.answer))

    def origin(self) -> Origin:
        return self.adapter.answer_origin(self.answer)

    def begin(self, wire: JsonObject) -> None:
        """Emit the start of the answer. `wire` is the first wire object, without its choices."""
        if not self._has_begun:
            self._has_begun = True
            response = self.adapter.read_response(wire)
            self._envelope = msgspec.structs.replace(response, choices=[], error=None)
            self.events.append(TurnStart(response=self._envelope))

    def start(self, wire: JsonObject, content: AIContent, choice: int = 0) -> BlockState:
        """Start a block."""
        block = BlockState(self._blocks, wire, choice)
        self._blocks += 1
        self._unstopped[block.index] = block
        block.emitted = content
        self.events.append(BlockStart(index=block.index, content=content, choice=choice))
        return block

    def stop(self, block: BlockState, content: AIContent, *, is_complete: bool = True) -> None:
        """Stop a block, complete or broken off."""
        if self._unstopped.pop(block.index, None) is None:
            self.catch_up(block, content)
            return
        if not is_complete and isinstance(content, ToolCallContent):
            content = msgspec.structs.replace(content, status="incomplete")
        block.emitted = content
        self.events.append(BlockStop(index=block.index, content=content, is_complete=is_complete))

    def whole(self, content: AIContent, choice: int = 0) -> BlockState:
        """Start and stop a block that came in one piece."""
        block = self.start({}, content, choice)
        self.stop(block, content)
        return block

    def catch_up(self, block: BlockState, content: AIContent) -> None:
        """Replace the content of a stopped block. If the block is still open, stop it with this content."""
        if block.index in self._unstopped:
            self.stop(block, content)
            return
        if content != block.emitted:
            block.emitted = content
            self.emit(BlockCatchUp(index=block.index, content=content, choice=block.choice))

    def stop_all(self, response: ChatResponse) -> Layout:
        """Stop every block with its content in the decoded answer, and return the layout of the blocks.

        If the stream broke off, the blocks of a choice without a finish reason are incomplete.
        """
        order = []
        for choice, blocks in zip(response.choices, self.blocks_of(response), strict=True):
            is_complete = not self.is_broken or _has_ended(choice)
            for block, content in zip(blocks, contents_of(choice.messages), strict=True):
                self.stop(block, content, is_complete=is_complete)
            order.append([block.index for block in blocks])
        return layout_of(response, order)

    def count(self, row: Row | Union, wire: object) -> None:
        """Emit the token counts so far."""
        if self.counts and wire.__class__ is dict:
            context = self.context()
            usage = row.decode(wire, context)
            context.finish(wire)
            self.events.append(UsageDelta(usage=usage))

    def complete(self, response: ChatResponse, layout: Layout) -> None:
        """Emit the last event: a TurnError if the response has an error, else a TurnComplete."""
        self.is_over = True
        if self._unstopped:
            self._stop_rest()
        response = without_contents(response)
        if response.error is not None:
            self.emit(TurnError(error=response.error, response=response, layout=layout))
        else:
            self.events.append(TurnComplete(response=response, layout=layout))

    def fail(self, error: ErrorContent) -> None:
        """End the turn with an error. Content that was received is kept."""
        self.is_over = self.is_broken = True
        response, layout = self._envelope, []
        try:
            self.read_rest()
            self.stop_open()
            wire, known_layout = self.broken()
            response, layout = without_contents(self.adapter.read_response(wire)), known_layout
        except UNREADABLE:
            # The answer cannot be decoded as a whole. `_stop_rest` stops each block with the content that is known.
            layout = []
        if self._stop_rest() - {index for choice in layout for message in choice for index in message}:
            layout = []
        choices = [
            choice if _has_ended(choice) else msgspec.structs.replace(choice, finish_reason=None)
            for choice in response.choices
        ]
        response = msgspec.structs.replace(response, error=error, choices=choices)
        self.emit(TurnError(error=error, response=response, layout=layout))

    def _stop_rest(self) -> set[int]:
        """Stop the blocks that are still open (never stopped, or failed to decode). Return their numbers."""
        unstopped = list(self._unstopped.values())
        for block in unstopped:
            self.stop(block, self.remains(block), is_complete=False)
        return {block.index for block in unstopped}

    def remains(self, block: BlockState) -> Any:
        """Return the best-effort content of a block that failed to decode."""
        field, text = growing_field(block.emitted), block.text_so_far()
        return msgspec.structs.replace(block.emitted, **{field: text}) if field is not None and text else block.emitted

    def fail_with(self, wire: JsonObject) -> None:
        """End the turn with an error object of the API."""
        response = self.adapter.read_response(wire)
        self.fail(response.error or ErrorContent(code=MALFORMED, message="the API sent an error without a description"))


def _has_ended(choice: ChatChoice) -> bool:
    """Return whether a choice has a finish reason. The status of an answer that is in progress is none."""
    return choice.finish_reason is not None and choice.finish_reason.reason != "running"


def layout_of(response: ChatResponse, blocks: Iterable[Iterable[int]]) -> Layout:
    """Return the layout. `blocks` are the indices of the blocks of each choice, in the order of the contents."""
    layout: Layout = []
    for choice, indices in zip(response.choices, blocks, strict=True):
        remaining = iter(indices)
        layout.append([list(islice(remaining, len(message.contents))) for message in choice.messages])
    return layout
