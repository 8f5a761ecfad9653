"""The common part of the stream encoders: events in, bytes out, with blocks that are written as they grow.

If this API can send the content of a block in pieces, each piece is written at once: the block is "live". Any other
block is held until it is complete. Blocks are encoded by the adapter's `encode_contents`, one by one, with the steps
and the table of a non-streamed answer. The envelope is encoded by `encode_response`, without contents.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.encoded import Encoded, EncodedContents
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline.answers import failure_of, has_failed
from contentmodel.engine.pipeline.foreign import is_empty_text, leave_empty_text
from contentmodel.engine.pipeline.lowering import UNCHANGED, need_changes, with_known_types
from contentmodel.engine.pipeline.names import reason_of_new_id
from contentmodel.engine.streams.outgoing import OutgoingBlock, Written, is_incomplete_call, with_ends, without_ends
from contentmodel.errors import StreamError
from contentmodel.events import (
    ENDED,
    GROWING_FIELDS,
    ArgumentsDelta,
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Layout,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    UnknownDelta,
    WireEvent,
    check_choice,
)
from contentmodel.framing import stream_format_of
from contentmodel.json import write
from contentmodel.losses import Loss, PendingLoss, loss_of, pruned, what_of
from contentmodel.pairs import AnswerCallIds
from contentmodel.response import ChatResponse

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.events import Layout
    from contentmodel.json import Json, JsonObject
    from contentmodel.message import Origin
    from contentmodel.reasons import Reason


Place = tuple[int, int]
"""The key of a block: the number of its choice, and its own number."""
MOST_KEPT = 65_536
"""The maximum number of characters of blocks that are kept in memory until their losses are read."""


class StreamLosses:
    """The losses of the blocks and of the envelope of a stream."""

    def __init__(self, api: str) -> None:
        """Create an empty collection. `api` is the API of the stream."""
        self.api = api
        self._losses: dict[Place | None, dict[Loss, None]] = {}
        """The losses of each block, with paths relative to the block, and those of the envelope (key None)."""
        self._unread: list[tuple[list[Place], EncodedContents] | Encoded] = []
        """Encoded values that may have lost something."""
        self._kept = 0
        """The total size of their contents."""
        self._whole_losses: tuple[Loss, ...] | None = None
        """The losses with full paths, as last read; None if they are outdated."""
        self._layout: Layout = []
        self._of_caller: list[tuple[Place, Loss]] = []
        """The losses of what the caller left out. They do not hide others, and others do not hide them."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far. The message of a block is known only at the end of the turn."""
        if self._unread:
            self._read_losses()
        if self._whole_losses is None:
            paths = self._paths()
            self._whole_losses = pruned(
                [
                    loss if place is None else msgspec.structs.replace(loss, path=path_of(place, paths) + loss.path)
                    for place, losses in self._losses.items()
                    for loss in losses
                ]
            ) + tuple(
                msgspec.structs.replace(loss, path=path_of(place, paths) + loss.path) for place, loss in self._of_caller
            )
        return self._whole_losses

    def _paths(self) -> dict[Place, str]:
        """Return the path of each block that has a position in a message."""
        return {
            (number, index): f"$.choices[{number}].messages[{m}].contents[{at}]"
            for number, messages in enumerate(self._layout)
            for m, indices in enumerate(messages)
            for at, index in enumerate(indices)
        }

    def _read_losses(self) -> None:
        unread, self._unread, self._kept = self._unread, [], 0
        for entry in unread:
            if isinstance(entry, Encoded):
                self.add_losses(None, entry.losses)
            else:
                places, encoded = entry
                for place, losses in zip(places, encoded.losses(), strict=True):
                    self.add_losses(place, losses)

    def add_losses(self, place: Place | None, losses: Iterable[Loss]) -> None:
        """Add losses of a block, with paths relative to it, or of the envelope (None)."""
        self._losses.setdefault(place, {}).update(dict.fromkeys(losses))
        self._whole_losses = None

    def record(self, places: list[Place], encoded: EncodedContents) -> None:
        """Record the losses of blocks."""
        if encoded.may_lose:
            self._record(places, encoded)

    def _record(self, places: list[Place], encoded: EncodedContents) -> None:
        self._kept += sum(map(size_of, encoded.contents))
        self._unread.append((places, encoded))
        if self._kept > MOST_KEPT:
            self._read_losses()

    def note_envelope(self, encoded: Encoded) -> None:
        """Record the losses of an answer, or of its envelope."""
        if encoded.may_lose:
            self._unread.append(encoded)

    def lose_usage(self, reason: Reason) -> None:
        """Report the usage of the answer as lost."""
        self.add_losses(None, [loss_of(reason, "$.usage", "usage of ChatResponse", self.api, family="usage")])

    def report_loss(self, place: Place, content: AIContent, reason: Reason, *, field: str | None = None) -> None:
        """Report a block, or a field of it, as lost."""
        pending = PendingLoss(content, field, reason)
        self.add_losses(place, [pending.at(f".{field}" if field else "", self.api, what_of(pending))])

    def report_left_out(self, place: Place, content: AIContent, field: str, reason: Reason) -> None:
        """Report that the caller left out a field of a block."""
        pending = PendingLoss(content, field, reason)
        self._of_caller.append((place, pending.at(f".{field}", self.api, what_of(pending))))
        self._whole_losses = None

    def place_losses(self, layout: Layout) -> None:
        """Take the positions of the blocks: the turn has ended."""
        self._layout, self._whole_losses = layout, None


def size_of(content: AIContent) -> int:
    """Return the approximate size of a content in characters. If it is not plain text, return more than the limit."""
    text = getattr(content, GROWING_FIELDS.get(content.__class__) or "", None)
    return 1_000 + len(text) if isinstance(text, str) else MOST_KEPT + 1


def path_of(place: Place, paths: Mapping[Place, str]) -> str:
    """Return the path of a block. While its message is unknown, the path contains its number in the choice instead."""
    choice, index = place
    return paths.get(place) or f"$.choices[{choice}].blocks[{index}]"


Encode = Callable[[list[Any], EncodeContext], Any]
"""A function that encodes contents, and reports their losses to the context."""


class StreamEncoder(StreamLosses):
    """Encode the events of one answer to the bytes of the API's stream. One encoder writes one stream.

    `losses` has the losses so far. Their paths are in the folded response; while the turn goes on, they may be blocks
    of a choice (`$.choices[0].blocks[2]`).
    """

    concurrent = False
    """True if several blocks of one choice may be open at the same time."""
    choices = False
    """True if the API has answers with several choices."""
    has_usage_at_start = False
    """True if the first event has token counts."""
    argument_texts = False
    """True if the API has the arguments of functions as text: a stream has the text that the source typed."""

    def __init__(self, adapter: TableAdapter, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter.api)
        self.adapter = adapter
        self.is_over = False
        self.is_native = self.completes = True
        self._policies, self.stream_format = policies, stream_format_of(adapter, policies)
        self._origin: Origin | None = None
        self._context: EncodeContext | None = None
        """The context of all contents of the answer. If contents were lost, a new one like it replaces it."""
        self._answer_id: str | None = None
        self._has_begun = False
        self._queues: dict[int, OrderedDict[OutgoingBlock, None]] = {}
        """The unwritten blocks of each choice, in order."""
        self._blocks: dict[int, OutgoingBlock] = {}
        self._written: dict[int, Written] = {}
        self._amended: list[tuple[int, AIContent]] = []
        """The blocks that were changed after they were written, while another block was open."""
        self.empty: dict[int, OutgoingBlock] = {}
        """Empty texts of another API, by number. They are written if their choice has no other block."""
        self._call_ids: dict[int, AnswerCallIds] = {}
        """The ids of calls and results of each choice."""
        self._out: list[bytes] = []

    # -- for callers -------------------------------------------------------------------------------------------

    def feed(self, event: StreamEvent) -> bytes:
        """Return the bytes for this event, possibly none.

        Raise StreamError if the event is out of order: its block has not started or has started already, its choice
        does not exist, or the layout names a block that has not started.
        """
        kind = event.__class__
        if kind is TextDelta or kind is ReasoningDelta or (kind is ArgumentsDelta and event.path is None):  # type: ignore[attr-defined]
            # A fast path for nearly all events.
            block = self._blocks.get(event.index)  # type: ignore[attr-defined]
            text = event.text  # type: ignore[attr-defined]
            if block is not None and text and block.grow is not None:
                block.pieces.append(text)
                return block.grow(text)
            if block is not None and block.is_held:
                block.deltas.append(event)
                return b""
        if self.is_over:
            return b""
        if kind is TextDelta or kind is ArgumentsDelta or kind is ReasoningDelta or isinstance(event, BlockDelta):
            self._grow(event)  # type: ignore[arg-type]
        elif isinstance(event, BlockStart):
            self._start(event)
        elif isinstance(event, BlockStop):
            block = self._blocks.get(event.index)
            if block is not None and block.is_stopped:
                raise StreamError(f"BlockStop for block {event.index}, which has stopped already")
            self._stop(event)
        elif isinstance(event, BlockCatchUp):
            self._catch_up(event)
        elif isinstance(event, TurnStart):
            self._begin(event.response)
        elif isinstance(event, TurnComplete):
            self._finish(event)
        elif isinstance(event, TurnError):
            self._fail(event)
        elif isinstance(event, WireEvent) and event.api == self.api:
            self.wire_event(event)
        if not self._out:
            return b""
        data, self._out = b"".join(self._out), []
        return data

    def close(self) -> bytes:
        """Return the remaining bytes. If the turn has not ended, they contain an error."""
        if self.is_over:
            return b""
        error = ErrorContent(code=ENDED, message="the stream ended before the answer was complete")
        return self.feed(TurnError(error=error, response=ChatResponse(origin=self._origin)))

    # -- blocks ------------------------------------------------------------------------------------------------

    def _start(self, event: BlockStart | BlockCatchUp) -> None:
        if event.index in self._blocks or event.index in self._written:
            raise StreamError(f"BlockStart for block {event.index}, which has started already")
        if event.choice:
            check_choice(event)
        if not self._has_begun:
            self._begin(ChatResponse(origin=self._origin))
        content: AIContent = event.content
        if content.__class__ not in UNCHANGED:
            content = self._as_known((event.choice, event.index), content)
        block = OutgoingBlock(event.index, content, event.choice)
        self._blocks[block.index] = block
        if block.choice and not self.choices:
            return
        if not self.is_native and isinstance(content, ToolCallContent | ToolResultContent):
            block.content = self._with_id(block.index, block.choice, content)
        queue = self._queues.setdefault(block.choice, OrderedDict())
        queue[block] = None
        self.start(block)
        if self.concurrent or len(queue) == 1:
            self._open(block)

    def _with_id(self, index: int, choice: int, content: AIContent) -> AIContent:
        """Return a content of another API, with an id if it is a call or a result, because the target requires one."""
        if self.is_native or not isinstance(content, ToolCallContent | ToolResultContent):
            return content
        ids = self._call_ids.get(choice)
        if ids is None:
            ids = self._call_ids[choice] = AnswerCallIds(self._answer_id)
        identified = ids.give(index, content)
        if identified is not content:
            self.report_loss((choice, index), content, reason_of_new_id(content.call_id), field="call_id")
        return identified

    def _as_known(self, place: Place, content: AIContent) -> AIContent:
        """Return a content as its nearest type of the model. Fields that the type lacks are reported as lost."""
        if not need_changes([content]):
            return content
        encoded = self._known([content])
        self.record([place], encoded)
        plain: AIContent = encoded.payload[0]
        return plain

    def _known(self, contents: list[AIContent]) -> EncodedContents:
        context = self.new_context()
        return EncodedContents([with_known_types(c, context) for c in contents], contents, context, self._known)

    def _open(self, block: OutgoingBlock) -> None:
        """Start to write a block that need not wait for another one."""
        if block.is_stopped or self.is_deferred(block):
            return
        if not self._may_change(block.content):
            self.open_block(block)
        if block.grow is None:
            block.is_held = True
            return
        deltas, block.deltas = block.deltas, []
        for delta in deltas:
            self._write_delta(block, delta)

    def _may_change(self, content: AIContent) -> bool:
        """Return whether a content may change after its start: a result, or a hosted call of another API.

        No API sends the outputs of a result piece by piece.

        In Responses, the call id of a tool search may change between its start and its end (seen 2026-11-22).
        """
        if isinstance(content, ToolResultContent):
            return True
        if self.is_native or not isinstance(content, ToolCallContent):
            return False
        return not isinstance(content, FunctionCallContent | CustomToolCallContent)

    def _is_current(self, block: OutgoingBlock) -> bool:
        return next(iter(self._queues[block.choice])) is block

    def _grow(self, event: BlockDelta) -> None:
        block = self._blocks.get(event.index)
        if block is None:
            if event.index in self._written:
                # The block is already written. A BlockCatchUp has the whole content, and is handled then.
                return
            raise StreamError(f"{type(event).__name__} for block {event.index}, which has not started")
        if block.grow is not None:
            self._write_delta(block, event)
            return
        block.deltas.append(event)
        if block.is_held or (block.choice and not self.choices):
            return
        if self.concurrent or self._is_current(block):
            self._open(block)

    def _write_delta(self, block: OutgoingBlock, delta: BlockDelta) -> None:
        kind = delta.__class__
        if kind is TextDelta or kind is ReasoningDelta or (kind is ArgumentsDelta and delta.path is None):  # type: ignore[attr-defined]
            text = delta.text  # type: ignore[attr-defined]
            if text:
                self.write_text(block, text)
        else:
            self.hold_delta(block, delta)

    def write_text(self, block: OutgoingBlock, text: str) -> None:
        """Write more text of a live block, and record it."""
        assert block.grow is not None
        block.pieces.append(text)
        self._out.append(block.grow(text))

    def _stop(self, event: BlockStop) -> None:
        block = self._blocks.get(event.index)
        if block is None:
            when = "stopped already" if event.index in self._written else "not started"
            raise StreamError(f"BlockStop for block {event.index}, which has {when}")
        content: AIContent = event.content
        if content.__class__ not in UNCHANGED:
            content = self._as_known((block.choice, block.index), content)
        block.stop(content, is_complete=event.is_complete, as_text=self.argument_texts)
        if block.choice and not self.choices:
            del self._blocks[block.index]
            return
        if not self.is_native and isinstance(content, ToolCallContent | ToolResultContent):
            block.content = self._with_id(block.index, block.choice, block.content)
        if self.concurrent:
            self._close(block)
        elif self._is_current(block):
            self._close(block)
            self._advance(self._queues[block.choice])

    def _close(self, block: OutgoingBlock) -> None:
        """Write the remaining content of a stopped block."""
        del self._blocks[block.index]
        del self._queues[block.choice][block]
        block.deltas = []
        is_text = block.content.__class__ is TextContent
        if is_text and block.grow is None and not self.is_native and self.is_empty(block.content):
            self.empty[block.index] = block
        else:
            if block.pieces:
                self._compare(block)
            (self.close_block if block.is_complete or not is_incomplete_call(block) else self.break_off)(block)
        self._written[block.index] = Written(block)

    def _compare(self, block: OutgoingBlock) -> None:
        """Report a loss if the final text of a block does not start with the text that was written."""
        field = GROWING_FIELDS.get(block.content.__class__)
        if field is None:
            return
        text, content = block.typed or getattr(block.content, field), block.content
        if text.__class__ is not str or not text.startswith("".join(block.pieces)):
            self.report_loss((block.choice, block.index), content, reasons.CHANGED_AFTER_WRITE, field=field)

    def _advance(self, queue: OrderedDict[OutgoingBlock, None]) -> None:
        """Write the next blocks of the queue, if any."""
        while queue:
            block = next(iter(queue))
            self._open(block)
            if not block.is_stopped:
                return
            self._close(block)

    def _catch_up(self, event: BlockCatchUp) -> None:
        if self.empty.pop(event.index, None) is not None:
            del self._written[event.index]
        written = self._written.get(event.index)
        if written is not None:
            content = self._as_known((written.choice, event.index), event.content)
            self._amended.append((event.index, self._with_id(event.index, written.choice, content)))
            if self.concurrent or not self._queues.get(written.choice):
                self._amend()
        else:
            if event.index not in self._blocks:
                self._start(event)
            elif not event.is_complete:
                # What is written cannot be replaced. The end of the block has its content.
                return
            if event.is_complete:
                self._stop(BlockStop(index=event.index, content=event.content))

    def _amend(self) -> None:
        amended, self._amended = self._amended, []
        for index, content in amended:
            written = self._written[index]
            if written.call == content:
                continue
            if written.call is not None or written.is_continued_by(content):
                self.amend(index, content, written)
                written.add(content)
            else:
                self.report_loss((written.choice, index), content, reasons.CHANGED_AFTER_WRITE)

    def _write_rest_of_blocks(self) -> None:
        """Write the postponed blocks: changed blocks, and empty texts of choices that have no other block."""
        self._amend()
        choices_with_content = {written.choice for index, written in self._written.items() if index not in self.empty}
        for index, block in self.empty.items():
            if block.choice in choices_with_content:
                self.record([(block.choice, index)], self._without_empty([block.content]))
            else:
                self.close_block(block)

    # -- the turn ----------------------------------------------------------------------------------------------

    def _begin(self, response: ChatResponse) -> None:
        if self._has_begun:
            return
        self._has_begun = True
        self._origin, self._answer_id = response.origin, response.id
        if response.origin is not None and response.model is not None:
            # The model of the answer decides what its reader can read, as in a whole answer.
            self._origin = msgspec.structs.replace(response.origin, model=response.model)
        self.is_native = response.origin is None or response.origin.api == self.api
        # Same as `EncodeContext.completes`.
        self.completes = response.origin is None or not self.is_native
        if not self.has_usage_at_start and response.usage is not None:
            response = msgspec.structs.replace(response, usage=None)
        self.begin(self._encode_envelope(response).payload)

    def _finish(self, event: TurnComplete) -> None:
        if not self._has_begun:
            self._begin(event.response)
        if not self.is_native and has_failed(event.response):
            error = failure_of(event.response)
            response = msgspec.structs.replace(event.response, error=error)
            self._fail(TurnError(error=error, response=response, layout=event.layout))
            return
        for queue in self._queues.values():
            for block in list(queue):
                # A block that never stopped has the content received so far.
                block.merge_pieces()
                self._close(block)
        if self._amended or self.empty:
            self._write_rest_of_blocks()
        self.finish(event)
        self._end(event.layout)

    def _fail(self, event: TurnError) -> None:
        if self._has_begun:
            for block in [block for queue in self._queues.values() for block in queue]:
                block.is_complete = False
                block.merge_pieces()
                self._close(block)
            self._write_rest_of_blocks()
        failure = ChatResponse(error=event.error, origin=event.response.origin)
        encoded = self.adapter.encode_response(failure, self._policies)
        self.note_envelope(encoded)
        self.fail(event, encoded.payload)
        self._end(event.layout)

    def _end(self, layout: Layout) -> None:
        self.place_losses(layout)
        self.is_over = True

    # -- implemented by the encoder of each API ----------------------------------------------------------------

    def begin(self, payload: JsonObject) -> None:
        """Write the beginning of the stream. `payload` is the answer without its choices."""

    def start(self, block: OutgoingBlock) -> None:
        """Register a block. Blocks are registered in the order of their start, and opened when they can be written."""

    def is_deferred(self, block: OutgoingBlock) -> bool:
        """Return whether to postpone a block: a text that is still empty is opened with its first characters."""
        if not isinstance(block.content, TextContent | ReasoningContent) or block.content.text:
            return False
        return not block.deltas or block.deltas[-1].__class__ is UnknownDelta

    def is_empty(self, content: AIContent) -> bool:
        """Return whether a content of another API is not written if its choice has others: an empty text."""
        return is_empty_text(content)

    def open_block(self, block: OutgoingBlock) -> None:
        """Write the start of a block that can be live, and set its `grow`. If `grow` stays None, the block is held."""

    def hold_delta(self, block: OutgoingBlock, delta: BlockDelta) -> None:
        """Handle a citation, signature or other delta of a live block. The final content of the block includes it."""
        block.deltas.append(delta)

    def close_block(self, block: OutgoingBlock) -> None:
        """Write the remaining content of a block; all of it if it was held."""
        raise NotImplementedError

    def break_off(self, block: OutgoingBlock) -> None:
        """Handle a call that was interrupted. If it is live, it stays open, so that it does not look complete."""
        if block.grow is None:
            self.report_loss((block.choice, block.index), block.content, reasons.INTERRUPTED_CALL)

    def amend(self, index: int, content: AIContent, written: Written) -> None:
        """Handle a changed content of a block that was written already."""
        raise NotImplementedError

    def finish(self, event: TurnComplete) -> None:
        """Write the end of the stream."""
        raise NotImplementedError

    def fail(self, event: TurnError, payload: JsonObject) -> None:
        """Write an error. `payload` is the API's error body."""
        raise NotImplementedError

    def wire_event(self, event: WireEvent) -> None:
        """Write an event of the same API that has no content."""
        self.put(event.data, event.name)

    # -- used by the encoder of each API -----------------------------------------------------------------------

    def put(self, value: object, event: str | None = None) -> None:
        """Write one event in the stream format of the API."""
        self._out.append(self.stream_format.write(write(value), event))

    def put_raw(self, data: bytes) -> None:
        self._out.append(data)

    def encode(self, contents: list[AIContent], *, places: list[Place] | None = None, is_open: bool = False) -> Json:
        """Return the wire value of these contents (see `encode_contents` of the adapter).

        If `places`, the keys of their blocks, are given, losses are recorded. `is_open`: the contents have just started
        and will grow.
        """
        return self.encode_with(self.adapter.encode_more, contents, places, is_open=is_open)

    def encode_with(
        self,
        encode: Encode,
        contents: list[AIContent],
        places: list[Place] | None = None,
        *,
        is_open: bool = False,
    ) -> Json:
        """Return the wire value that `encode` makes of contents. If `places` are given, losses are recorded.

        `encode` may be called again for other contents.
        """
        context = self._context or self.context
        context.is_open = is_open
        payload = encode(contents, context)
        self._context = context.next()
        if places is not None and context.pending_losses:
            self._record(places, EncodedContents(payload, contents, context, partial(self._again, encode)))
        return payload

    def _again(self, encode: Encode, contents: list[AIContent]) -> EncodedContents:
        context = self.new_context()
        return EncodedContents(encode(contents, context), contents, context, partial(self._again, encode))

    @property
    def context(self) -> EncodeContext:
        """The context of the contents of the answer. It has recorded nothing."""
        if self._context is None:
            self._context = self.new_context()
        return self._context

    def new_context(self) -> EncodeContext:
        """Return a new context for contents of the answer."""
        context = EncodeContext(self.api, self.adapter.issuer, "response", self._policies, self._origin)
        self.adapter.aim(context, None if self._origin is None else self._origin.model)
        return context

    def _encode_envelope(self, response: ChatResponse, *, is_unfinished: bool = False) -> Encoded:
        """Encode an answer without contents, in their context if the answer has their origin and model."""
        origin, context = response.origin, None
        if origin is not None and origin == self._origin and origin.model == response.model is not None:
            context = self._context or self.context
        encoded = self.adapter.encode_answer(response, self._policies, context, is_unfinished=is_unfinished)
        if context is not None:
            self._context = context.next()
        return encoded

    def _without_empty(self, contents: list[AIContent]) -> EncodedContents:
        context = self.new_context()
        for content in contents:
            leave_empty_text(content, context)
        return EncodedContents(None, contents, context, self._without_empty)

    def write_begun(self, block: OutgoingBlock) -> None:
        """Write the text that a live block began with.

        An object is written when the block is complete, because it may change until then.
        """
        text = getattr(block.content, GROWING_FIELDS.get(block.content.__class__) or "", None)
        if text.__class__ is str and text:
            self.write_text(block, text)

    def write_rest(self, block: OutgoingBlock, text: object) -> None:
        """Write the part of the text of a live block that is not written yet."""
        if isinstance(text, str) and (unwritten := block.unwritten(text)):
            self.write_text(block, unwritten)

    def begun_text(self, block: OutgoingBlock) -> str:
        """Return the text that a block began with."""
        text = getattr(block.content, GROWING_FIELDS.get(block.content.__class__) or "", None)
        return text if isinstance(text, str) else ""

    def encode_block(self, block: OutgoingBlock) -> Json:
        """Return the wire value of one finished block."""
        return self.encode([block.content], places=[(block.choice, block.index)])

    def encode_start(self, content: AIContent) -> Json:
        """Return the wire value of a content that has just started. Empty arguments become an empty object."""
        if getattr(content, "arguments", None) == "":
            content = msgspec.structs.replace(content, arguments={})
        return self.encode([content], is_open=True)

    def encode_envelope(self, event: TurnComplete | TurnError) -> JsonObject:
        """Encode the answer without contents and without its error. Its losses are recorded."""
        if isinstance(event, TurnComplete):
            response = self.with_ends(event.response)
        else:
            response = msgspec.structs.replace(event.response, error=None)
            response = response if self.is_native else without_ends(response, self.api, partial(self.add_losses, None))
        encoded = self._encode_envelope(response, is_unfinished=isinstance(event, TurnError))
        self.note_envelope(encoded)
        payload: JsonObject = encoded.payload
        return payload

    def with_ends(self, response: ChatResponse) -> ChatResponse:
        """Return a complete answer. One of another API has a finish reason in each choice."""
        if self.is_native:
            return response
        report = partial(self.add_losses, None)
        shows_refusals = self.adapter.shows_refusals
        return with_ends(response, self._written.values(), self.api, report, shows_refusals=shows_refusals)
