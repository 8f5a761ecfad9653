"""What the stream decoders of all APIs share: frames in, events out, blocks that grow, and how a stream ends.

A decoder merges deltas into the wire object that an answer without streaming would hold, and has the same table decode
it. Its state belongs to one stream.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.adapter import Payload, as_json
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.json import Json, JsonArray, JsonObject, kind_of, parse, write
from contentmodel.engine.streams.framing import AnyFraming, Frame
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
from contentmodel.message import Origin
from contentmodel.response import ChatResponse

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.engine.table.rows import Row

DONE = b"[DONE]"
_decode = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
# What plain code raises where a value is of another kind than the API ever sends. DecodeError is one of them.
UNREADABLE = (TypeError, AttributeError, LookupError, ValueError, RecursionError)


Grown = tuple[int, list[str], str, Callable[..., StreamEvent]]
"""What made a block longer: the block's number, the pieces it was added to, the text, and the kind of event."""


class BlockState:
    """A block that is not complete: its wire object, and the pieces that its growing fields have got."""

    __slots__ = ("choice", "index", "joined", "pieces", "said", "wire")

    def __init__(self, index: int, wire: JsonObject, choice: int = 0) -> None:
        self.index = index
        self.wire = wire
        self.choice = choice
        self.pieces: dict[str, list[str]] = {}
        self.joined: str = ""
        """What pieces were joined to."""
        self.said: Any = None
        """The content that was last given out for it."""

    def grow(self, field: str, text: str) -> None:
        """`text` is more of `field`."""
        pieces = self.pieces.get(field)
        if pieces is None:
            self.pieces[field] = [text]
        else:
            pieces.append(text)

    def settle(self) -> JsonObject:
        """The wire object with everything that it has grown by."""
        for field, pieces in self.pieces.items():
            said = self.wire.get(field)
            self.joined = self.wire[field] = "".join([said if said.__class__ is str else "", *pieces])
        self.pieces = {}
        return self.wire

    def words(self) -> str:
        """What it has grown by, also where its wire object cannot be read."""
        return next(("".join(pieces) for pieces in self.pieces.values()), self.joined)


class DeltaTemplate:
    """An event that only made a block longer. What is the same but for one string says the same of another text.

    The string stood once in JSON without a backslash, so it was the text; a next event that has the same bytes before
    and after one JSON string differs in nothing else. Padding at the end of an event says nothing.
    """

    __slots__ = ("begin", "end", "event", "head", "index", "is_fresh", "is_padded", "least", "name", "pieces", "tail")

    def __init__(self, name: str | None, data: bytes, grown: Grown) -> None:
        self.index, self.pieces, text, self.event = grown
        self.name = name
        self.is_fresh = True
        core = unpadded(data)
        self.is_padded = core is not None
        self.head, _, self.tail = (data if core is None else core).partition(write(text))
        self.begin, self.end = len(self.head), -len(self.tail)
        self.least = len(self.head) + len(self.tail) + 3

    @staticmethod
    def teaches(data: bytes, grown: Grown) -> bool:
        """Whether the text stands in the event in one place, to the letter."""
        text = grown[2]
        return text != "" and b"\\" not in data and data.count(write(text)) == 1

    def reads(self, name: str | None, data: bytes, events: list[StreamEvent] | None) -> bool:
        """Whether this is such an event: then it has been read."""
        if not data.startswith(self.head) or name != self.name:
            return False
        if self.is_padded:
            data = unpadded(data) or b""
        if len(data) < self.least or not data.endswith(self.tail):
            return False
        try:
            text = _decode_text(data[self.begin : self.end])
        except (msgspec.MsgspecError, UnicodeError):
            return False
        self.is_fresh = False
        self.pieces.append(text)
        if events is not None:
            events.append(self.event(index=self.index, text=text))
        return True


PADDING = b',"obfuscation":"'


def unpadded(data: bytes) -> bytes | None:
    """An object without the padding that is its last field, and without its last brace; None where it has none."""
    cut = data.rfind(PADDING)
    if cut < 0 or data.find(b'"', cut + len(PADDING)) != len(data) - 2:
        return None
    return data[:cut]


class StreamDecoder:
    """Bytes of one answer in, events out.

    `feed` takes bytes, cut anywhere; `feed_event` one parsed event. The last event is a TurnComplete or a TurnError:
    nothing is raised for what an API sends, and what comes after the end is not read.
    """

    max_event_bytes: int = 128 * 2**20
    """The longest event, in bytes. A longer one ends the turn with an error before it is complete. Set it on a decoder,
    or on this class for all of them."""

    def __init__(self, adapter: TableAdapter, *, deltas: bool = True) -> None:
        self.adapter = adapter
        self.api = adapter.api
        self.deltas = deltas
        """Whether events are made of what only makes a block longer; who folds them has no use for it."""
        self.counts = deltas
        """Whether events are made of the tokens so far."""
        self.is_over = False
        self.is_broken = False
        self.answer: JsonObject = {}
        """The answer without its blocks, as the wire has it."""
        self.events: list[StreamEvent] = []
        self._framing = AnyFraming()
        self._held = 0
        """The bytes since the last complete event, at most."""
        self._envelope = ChatResponse(origin=adapter.answer_origin({}))
        self._unstopped: dict[int, BlockState] = {}
        self._has_begun = False
        self._blocks = 0
        self._read = 0
        self._repeat: DeltaTemplate | None = None
        self._grown: Grown | None = None
        self._wasted = 0

    # -- what the caller uses ----------------------------------------------------------------------------------

    def feed(self, data: bytes) -> list[StreamEvent]:
        """The events that these bytes complete."""
        self.events = []
        if not self.is_over:
            frames = self._framing.feed(data)
            if frames:
                self._held = 0
                self._guarded(self._read_frames, frames)
            elif self._holds_too_much(len(data)):
                limit = f"an event of more than {self.max_event_bytes:,} bytes"
                self.fail(ErrorContent(code=MALFORMED, message=f"event {self._read + 1}: {limit}"))
        return self._told()

    def _holds_too_much(self, size: int) -> bool:
        self._held += size
        if self._held <= self.max_event_bytes:
            return False
        left = len(self._framing.close())
        if left > size:
            return True
        # What came before these bytes were comments and blank lines, which are not held.
        self._held = left
        return False

    def feed_event(self, event: Payload, name: str | None = None) -> list[StreamEvent]:
        """Return the events of one event of the API: a dict, or an object of its SDK."""
        self.events = []
        if not self.is_over:
            self._repeat = None
            self._read += 1
            self._guarded(self._read_wire, as_json(event, self.api), name)
            self._grown = None
        return self._told()

    def close(self) -> list[StreamEvent]:
        """The events that the end of the bytes makes. Every stream is to be closed."""
        self.events = []
        if not self.is_over:
            self._guarded(self._end, self._framing.close())
        return self._told()

    def _told(self) -> list[StreamEvent]:
        return self.events if self.deltas else [event for event in self.events if not isinstance(event, BlockDelta)]

    # -- frames ------------------------------------------------------------------------------------------------

    def _guarded(self, work: Callable[..., None], *arguments: object) -> None:
        try:
            work(*arguments)
        except UNREADABLE as error:
            said = str(error) if isinstance(error, DecodeError) else f"{self.api}: {error.__class__.__name__}: {error}"
            self.fail(ErrorContent(code=MALFORMED, message=f"event {self._read}: {said}"))

    def _read_frames(self, frames: list[Frame]) -> None:
        read, quickly = self.read, self.reads_quickly
        events = self.events if self.deltas else None
        for name, data in frames:
            self._read += 1
            if quickly is not None and quickly(name, data):
                continue
            repeat = self._repeat
            if repeat is not None:
                if repeat.reads(name, data, events):
                    continue
                self._repeat = None
                self._wasted += 1 if repeat.is_fresh else -1
            if data == DONE:
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
                    self._learn(name, data)
            if self.is_over:
                return

    def more(self, block: BlockState, field: str, text: str, event: Callable[..., StreamEvent]) -> None:
        """`text` is more of a block's `field`; it is told where somebody wants to know."""
        block.grow(field, text)
        if self.deltas:
            self.events.append(event(index=block.index, text=text))

    def grew(self, block: BlockState, pieces: list[str], text: str, event: Callable[..., StreamEvent]) -> None:
        """`text` was added to `pieces`, and that is all that the last event did."""
        if self.deltas:
            self.events.append(event(index=block.index, text=text))
        self._grown = (block.index, pieces, text, event)

    def _learn(self, name: str | None, data: bytes) -> None:
        """Remembers an event that only made a block longer: the next one is likely to be the same but for its text."""
        grown, self._grown = self._grown, None
        # Where events always differ in more than that, it is not worth the trying.
        if grown is not None and self._wasted < 8 and DeltaTemplate.teaches(data, grown):
            self._repeat = DeltaTemplate(name, data, grown)

    def _read_wire(self, wire: object, name: str | None) -> None:
        if wire.__class__ is not dict:
            raise DecodeError(self.api, [Fault("$", f"expected an object: an event, got {kind_of(wire)}")])
        self.read(name, wire)

    def _end(self, rest: bytes) -> None:
        if self.is_ready():
            self.finish()
            return
        where = "in the middle of an event" if rest else "before the answer was complete"
        self.fail(ErrorContent(code=ENDED, message=f"the stream ended {where}"))

    # -- what an API's decoder says ----------------------------------------------------------------------------

    reads_quickly: Callable[[str | None, bytes], bool] | None = None
    """A quicker way to read what most events are; False where this one is something else."""

    def read(self, name: str | None, wire: JsonObject) -> None:
        """One event of the API."""
        raise NotImplementedError

    def done(self) -> None:
        """The marker [DONE] was read."""
        if self.is_ready():
            self.finish()

    def is_ready(self) -> bool:
        """Whether the bytes may end here."""
        return False

    def finish(self) -> None:
        """The answer is complete."""
        raise NotImplementedError

    def stop_open(self) -> None:
        """Ends every open block where it is: the stream broke off."""

    def broken(self) -> tuple[JsonObject, Layout]:
        """The answer as far as it came, and where its blocks stand."""
        return self.answer, []

    # -- what it does with it ----------------------------------------------------------------------------------

    def emit(self, event: StreamEvent) -> None:
        self.events.append(event)

    def wire_event(self, name: str | None, wire: JsonObject) -> None:
        """An event that changes nothing of the content."""
        self.events.append(WireEvent(api=self.api, name=name if name.__class__ is str else None, data=wire))

    def context(self) -> DecodeContext:
        """What decodes a block: faults are of that block alone."""
        return DecodeContext(self.api, self.origin())

    def origin(self) -> Origin:
        return self.adapter.answer_origin(self.answer)

    def begin(self, wire: JsonObject) -> None:
        """The first thing that is known of the answer, without its choices."""
        if not self._has_begun:
            self._has_begun = True
            response = self.adapter.read_response(wire)
            self._envelope = msgspec.structs.replace(response, choices=[], error=None)
            self.emit(TurnStart(response=self._envelope))

    def start(self, wire: JsonObject, content: AIContent, choice: int = 0) -> BlockState:
        """A block begins."""
        block = BlockState(self._blocks, wire, choice)
        self._blocks += 1
        self._unstopped[block.index] = block
        block.said = content
        self.events.append(BlockStart(index=block.index, content=content, choice=choice))
        return block

    def stop(self, block: BlockState, content: AIContent, *, is_complete: bool = True) -> None:
        """A block is complete, or broke off."""
        if self._unstopped.pop(block.index, None) is None:
            self.catch_up(block, content)
            return
        if not is_complete and isinstance(content, ToolCallContent):
            content = msgspec.structs.replace(content, status="incomplete")
        block.said = content
        self.events.append(BlockStop(index=block.index, content=content, is_complete=is_complete))

    def whole(self, content: AIContent, choice: int = 0) -> BlockState:
        """A block that came whole."""
        block = self.start({}, content, choice)
        self.stop(block, content)
        return block

    def catch_up(self, block: BlockState, content: AIContent) -> None:
        """A stopped block turns out to be something else; one that is still open stops."""
        if block.index in self._unstopped:
            self.stop(block, content)
            return
        if content != block.said:
            block.said = content
            self.emit(BlockCatchUp(index=block.index, content=content, choice=block.choice))

    def count(self, row: Row, wire: object) -> None:
        """The tokens so far."""
        if self.counts and wire.__class__ is dict:
            context = self.context()
            usage = row.decode(wire, context)
            context.finish(wire)
            self.events.append(UsageDelta(usage=usage))

    def complete(self, response: ChatResponse, layout: Layout) -> None:
        """The last event. A response that says an error failed."""
        self.is_over = True
        self._stop_rest()
        response = without_contents(response)
        if response.error is not None:
            self.emit(TurnError(error=response.error, response=response, layout=layout))
        else:
            self.emit(TurnComplete(response=response, layout=layout))

    def fail(self, error: ErrorContent) -> None:
        """The stream broke off, or said that it failed: what was received counts."""
        self.is_over = self.is_broken = True
        response, layout = self._envelope, []
        try:
            self.stop_open()
            wire, said = self.broken()
            response, layout = without_contents(self.adapter.read_response(wire)), said
        except UNREADABLE:
            # Something that cannot be read stands in the way: each block for itself, then.
            layout = []
        if self._stop_rest() - {index for choice in layout for message in choice for index in message}:
            layout = []
        response = msgspec.structs.replace(response, error=error)
        self.emit(TurnError(error=error, response=response, layout=layout))

    def _stop_rest(self) -> set[int]:
        """Stops the blocks that the API forgot, or that cannot be read; their numbers."""
        rest = list(self._unstopped.values())
        for block in rest:
            self.stop(block, self.remains(block), is_complete=False)
        return {block.index for block in rest}

    def remains(self, block: BlockState) -> Any:
        """What has come of a block whose wire object cannot be read."""
        field, words = growing_field(block.said), block.words()
        return msgspec.structs.replace(block.said, **{field: words}) if field is not None and words else block.said

    def fail_with(self, wire: JsonObject) -> None:
        """An error of the API's own in the middle of a stream."""
        response = self.adapter.read_response(wire)
        self.fail(response.error or ErrorContent(code=MALFORMED, message="an error that does not say what it is"))


def laid_out(response: ChatResponse, blocks: Iterable[Iterable[int]]) -> Layout:
    """Which blocks stand in which message, where `blocks` has those of each choice in their order."""
    layout: Layout = []
    for choice, indices in zip(response.choices, blocks, strict=True):
        left = iter(indices)
        layout.append([list(islice(left, len(message.contents))) for message in choice.messages])
    return layout


def merge_into(old: JsonObject, new: Mapping[str, object], first: Iterable[str] = ()) -> None:
    """Writes what a later event says over what earlier ones said. Null says nothing; `first` keep their first word."""
    for key, value in new.items():
        said = old.get(key)
        if said is None or said == "":
            if value is not None or key not in old:
                old[key] = value
        elif value is not None and key not in first:
            old[key] = _both(said, value) if said.__class__ is dict and value.__class__ is dict else value


def _both(old: JsonObject, new: JsonObject) -> JsonObject:
    return {**old, **{key: value for key, value in new.items() if value is not None or key not in old}}


def longer(old: object, new: Mapping[str, object]) -> JsonObject:
    """Lists by their names, each with what comes after it; other values as they were said last. Null says nothing."""
    made = dict(old) if old.__class__ is dict else {}
    for key, value in new.items():
        said = made.get(key)
        if said.__class__ is list and value.__class__ is list:
            said.extend(value)
        elif value is not None or said is None:
            made[key] = value
    return made


def longer_list(old: object, new: JsonArray, by_index: dict[bytes, Json]) -> JsonArray:
    """Return a list with more in it. What has an index that is there already is laid over the entry in `by_index`."""
    if old.__class__ is not list:
        by_index.clear()
    made = old if old.__class__ is list else []
    for entry in new:
        index = entry.get("index") if entry.__class__ is dict else None
        known = None if index is None else by_index.setdefault(write(index), entry)
        if known is None or known is entry:
            made.append(entry)
        else:
            merge_into(known, entry)
    return made


def lengthen(owner: JsonObject, key: str, more: str) -> None:
    """Append to the string at `key`. A string with a single reference grows in place, so take it out of its owner."""
    text, owner[key] = owner[key], None
    text += more
    owner[key] = text


def settle_entry(block: BlockState) -> None:
    """Puts the pieces of a call, a detail or audio where they belong: `a.b` is inside of an object."""
    for field, pieces in block.pieces.items():
        outer, _, inner = field.rpartition(".")
        owner, name = (block.wire.setdefault(outer, {}), inner) if outer else (block.wire, field)
        said = owner.get(name)
        join = join_base64 if field == "data" else "".join
        block.joined = owner[name] = join([said if said.__class__ is str else "", *pieces])
    block.pieces = {}


def join_base64(pieces: list[str]) -> str:
    """Base64 of the bytes one after the other: pieces that are padded are joined as bytes."""
    if not any(piece.endswith("=") for piece in pieces[:-1]):
        return "".join(pieces)
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece) for piece in pieces)).decode("ascii")
    except ValueError:
        return "".join(pieces)
