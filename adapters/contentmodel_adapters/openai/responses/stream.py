"""Streams of the Responses API: items that grow by parts, and the whole answer at the end.

Source: openai 3.54, types/responses/*_event.py; seen November 2026. Every event has an `output_index`; the ids of some
hosts change during a stream. The last event repeats the whole answer, and takes precedence.

llama.cpp sends ids only (tools/server/server-task.cpp at 00efb3e). Some versions of vLLM send a new `content_index`
with each delta, and start an item with the number of the one before (vllm-project/vllm#35184; both seen 2026-11-27).

The encoder groups contents that make one item (the parts of a message, a call and its result); a deferred content waits
until its group is complete. At the end, an answer of another API has the items that were done, and one of this API has
the original ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    AmendingEncoder,
    BlockPlace,
    BlockState,
    OutgoingBlock,
    StreamDecoder,
    Written,
    kind_of,
    layout_of,
    list_of,
    merge_into,
    object_at,
    object_of,
    reasons,
    text_of,
    write,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import (
    ENDED,
    ArgumentsDelta,
    CitationDelta,
    Layout,
    MediaDelta,
    OutputDelta,
    ReasoningDelta,
    TextDelta,
    TurnComplete,
    TurnError,
    UnknownDelta,
    WireEvent,
    with_contents,
)
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.reasoning import ITEM
from contentmodel_adapters.openai.responses.items import API, CITATIONS, TABLE, ItemIds, with_id
from contentmodel_adapters.openai.responses.table import decode_item, decode_items

# -- reading -----------------------------------------------------------------------------------------------------------

ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
FIRST = ("response.created", "response.in_progress", "response.queued")
_PARTS = (
    # Its type, its list, the key of its number, its field, the events of the field and of the part, and the model's.
    ("output_text", "content", "content_index", "text", "output_text", "content_part", TextDelta),
    ("refusal", "content", "content_index", "refusal", "refusal", "content_part", TextDelta),
    ("reasoning_text", "content", "content_index", "text", "reasoning_text", "content_part", ReasoningDelta),
    (
        *("summary_text", "summary", "summary_index", "text"),
        *("reasoning_summary_text", "reasoning_summary_part", ReasoningDelta),
    ),
)
_CALLS = (
    # The type of the item, its field that grows, the events of the field, and the argument's path if it is only one.
    ("function_call", "arguments", "function_call_arguments", None),
    ("custom_tool_call", "input", "custom_tool_call_input", None),
    ("mcp_call", "arguments", "mcp_call_arguments", None),
    ("code_interpreter_call", "code", "code_interpreter_call_code", "$.code"),
)
GROWING_PARTS = {
    kind: (field, number, grown, f"response.{growth}", f"response.{around}")
    for kind, field, number, grown, growth, around, _ in _PARTS
}
PART_EVENTS: dict[str, tuple[str, str, str, str, Any]] = {
    f"response.{growth}.delta": (field, number, kind, grown, event)
    for kind, field, number, grown, growth, _, event in _PARTS
}
PART_ADDED = {f"response.{around}.added": (field, number) for _, field, number, _, _, around, _ in _PARTS}
GROWING_ITEMS = {kind: (field, f"response.{growth}") for kind, field, growth, _ in _CALLS}
CALLS = {f"response.{growth}.delta": (kind, field, path) for kind, field, growth, path in _CALLS}
# Events that repeat a part or an item at its end; output_item.done has the same data.
PART_DONE = {f"{name}.done" for field, _, _, *names in GROWING_PARTS.values() for name in names if field == "content"}
REPEATED_EVENTS = (
    *sorted({f"{name}.done" for _, _, _, *names in GROWING_PARTS.values() for name in names}),
    *(f"{growth}.done" for _, growth in GROWING_ITEMS.values()),
    *("response.shell_call_command.done", "response.shell_call_output_content.done"),
)
TABLE.known_values("stream event", *FIRST, *ENDS, *PART_EVENTS, *CALLS, *PART_ADDED, *REPEATED_EVENTS)

Key = tuple[str, int]


class Item:
    """The state of one item, and its blocks."""

    __slots__ = ("blocks", "decoded", "done", "growing", "wire")

    def __init__(self, wire: dict[str, Any]) -> None:
        self.wire = wire
        self.blocks: dict[Key, BlockState] = {}
        self.growing: BlockState | None = None
        """The last part of the content, until it ends."""
        self.done: dict[str, Any] | None = None
        self.decoded: tuple[str, list[Any]] | None = None
        """The role and the contents that were decoded when it was done; None if it has faults."""

    def ordered(self) -> Iterator[BlockState]:
        """Yield the blocks in the order in which the table reads them: summaries before contents."""
        for key in sorted(self.blocks, key=lambda key: (key[0] != "summary", key[1])):
            yield self.blocks[key]

    def merge_pieces(self) -> dict[str, Any]:
        """Return the wire item with everything that was appended to it."""
        for (field, place), block in sorted(self.blocks.items()):
            part = block.merge_pieces()
            if field:
                parts = self.wire.get(field)
                parts = self.wire[field] = parts if parts.__class__ is list else []
                parts[place : place + 1] = [part]
        return self.wire


class _Growth(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An event that appends to a part or a call, with every documented field."""

    type: str
    delta: str
    output_index: int
    content_index: int = 0
    summary_index: int = 0
    item_id: str | None = None
    sequence_number: int | None = None
    logprobs: list[Any] | None = None
    obfuscation: str | None = None


_decode_growth = msgspec.json.Decoder(_Growth).decode
_BEGINNING = b'{"type":"response.'


class Decoder(StreamDecoder):
    """Decode one answer event by event."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._items: dict[int, Item] = {}
        self._places: dict[str, int] = {}
        """The numbers of items by their id, and by the id of their call."""
        self._error: dict[str, Any] | None = None

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        kind = text_of(wire, "type") or None
        if kind in PART_EVENTS:
            self._grow_part(PART_EVENTS[kind], wire)
        elif kind in CALLS:
            self._grow_call(CALLS[kind], wire)
        elif kind in REPEATED_EVENTS:
            self._end_part(kind, wire)
        elif kind == "response.output_item.added":
            self._add(wire)
        elif kind == "response.output_item.done":
            self._done(wire)
        elif kind in PART_ADDED:
            self._add_part(PART_ADDED[kind], wire)
        elif kind in ENDS:
            self._last(object_at(wire, "response", API))
        elif kind in FIRST:
            self._first(object_at(wire, "response", API))
        elif kind is None and wire.get("object") == "response":
            self._last(wire)
        elif kind == "error" or (kind is None and "error" in wire):
            # The failed answer may follow (some hosts nest the error, and then repeat it).
            self._error = wire
        else:
            self._read_other(kind, name, wire)

    def reads_quickly(self, name: str | None, data: bytes) -> bool:
        if name is None and data.startswith(_BEGINNING):
            # Some hosts do not name their events.
            name = data[9 : data.find(b'"', 9)].decode("ascii", "replace")
        growth = PART_EVENTS.get(name)  # type: ignore[arg-type]
        if growth is None:
            return False
        try:
            event = _decode_growth(data)
        except (msgspec.MsgspecError, UnicodeError):
            return False
        item = self._items.get(event.output_index)
        if item is None or item.done is not None or event.type != name:
            return False
        field, _, _, grown, kind = growth
        block = item.blocks.get((field, event.content_index if field == "content" else event.summary_index))
        if block is None:
            return False
        self.more(block, grown, event.delta, kind)
        return True

    def _first(self, response: dict[str, Any]) -> None:
        merge_into(self.answer, {key: value for key, value in response.items() if key != "output"})
        self.begin({**self.answer, "output": []})

    # -- items and parts ---------------------------------------------------------------------------------------

    def _find(self, wire: dict[str, Any]) -> Any:
        """Return the number of an event's item: that of its id if the event has none, or one of a finished item.

        None if the event has no number, and its id is unknown.
        """
        place = wire.get("output_index")
        numbered = self._items.get(place) if place.__class__ is int else None
        if place is not None and (numbered is None or numbered.done is None):
            return place
        item = object_of(wire, "item")
        ids = (text_of(wire, "item_id"), text_of(item, "id"), text_of(item, "call_id"))
        return next((self._places[name] for name in ids if name in self._places), place)

    def _known(self, wire: dict[str, Any]) -> Item | None:
        """Return the item of an event, if it has started."""
        place = self._find(wire)
        return self._items.get(place) if place.__class__ is int else None

    def _place(self, wire: dict[str, Any]) -> int:
        place = self._find(wire)
        if place.__class__ is not int:
            raise DecodeError(API, [Fault("$.output_index", f"expected an integer, got {kind_of(place)}")])
        number: int = place
        return number

    def _item(self, wire: dict[str, Any], kind: str = "message") -> Item:
        """Return the item of an event. An item without an `added` event starts here."""
        place = self._place(wire)
        item = self._items.get(place)
        if item is None:
            stub = {"type": kind, "id": wire.get("item_id")}
            item = self._items[place] = Item({**stub, "role": "assistant"} if kind == "message" else stub)
        return item

    def _add(self, wire: dict[str, Any]) -> Item:
        item = Item(object_at(wire, "item", API))
        place = None if wire.get("output_index") is None else self._place(wire)
        existing = None if place is None else self._items.get(place)
        if place is None or (existing is not None and existing.done is not None):
            place = max(self._items, default=-1) + 1
        self._items[place] = item
        ids = (text_of(item.wire, "id"), text_of(item.wire, "call_id"))
        self._places.update(dict.fromkeys(filter(None, ids), place))
        kind = item.wire.get("type")
        if kind not in ("message", "reasoning"):
            self._open_item(item)
            return item
        for field in ("summary", "content"):
            for number, part in enumerate(list_of(item.wire, field)):
                if part.__class__ is dict:
                    self._part(item, field, number, part)
        return item

    def _add_part(self, place: tuple[str, str], wire: dict[str, Any]) -> None:
        field, index = place
        item, number = self._item(wire), _number(wire, index)
        if item.done is not None or (field, number) in item.blocks or ("", 0) in item.blocks:
            self.wire_event(wire.get("type"), wire)
        else:
            self._part(item, field, number, object_at(wire, "part", API))

    def _open_item(self, item: Item) -> BlockState:
        """Start the block of an item that is not a list of parts."""
        growing = next((field for kind, field, _ in CALLS.values() if kind == item.wire.get("type")), None)
        contents = self._contents({**item.wire} if growing is None else {growing: "", **item.wire})
        block = item.blocks["", 0] = self.start(item.wire, contents[0])
        return block

    def _contents(self, wire: dict[str, Any]) -> list[Any]:
        """Return the contents of one item."""
        return [content for message in decode_items([wire], self.context()) for content in message.contents]

    def _part(self, item: Item, field: str, number: int, part: dict[str, Any]) -> BlockState:
        """Start a part."""
        note = {**item.wire, "content": [], "summary": []} if item.wire.get("type") == "reasoning" else dict(item.wire)
        contents = self._contents({**note, field: [{**part}]})
        block = item.blocks[field, number] = self.start(part, contents[0])
        item.growing = block if field == "content" else None
        return block

    def _end_part(self, kind: str, wire: dict[str, Any]) -> None:
        item = self._known(wire) if kind in PART_DONE else None
        if item is not None:
            item.growing = None

    def _grow_part(self, growth: tuple[str, str, str, str, Any], wire: dict[str, Any]) -> None:
        field, index, kind, grown, event = growth
        text = wire.get("delta")
        item = self._item(wire, "reasoning" if event is ReasoningDelta else "message")
        block = item.blocks.get((field, _number(wire, index)))
        if block is None and item.growing is not None and item.growing.wire.get("type") == kind:
            # No event started a part of this number, and the last part has not ended.
            block = item.growing
        if item.done is not None or (block is None and item.wire.get("type") not in ("message", "reasoning")):
            # The item is done, or has no parts.
            self.wire_event(wire.get("type"), wire)
            return
        if block is None:
            block = self._part(item, field, _number(wire, index), {"type": kind, grown: ""})
        if text.__class__ is not str:
            self.emit(UnknownDelta(index=block.index, api=API, delta=wire))
            return
        self.more(block, grown, text, event)

    def _grow_call(self, growth: tuple[str, str, str | None], wire: dict[str, Any]) -> None:
        kind, field, path = growth
        item = self._item(wire, kind)
        if item.done is not None or item.wire.get("type") != kind:
            self.wire_event(wire.get("type"), wire)
            return
        block = item.blocks.get(("", 0)) or self._open_item(item)
        text = wire.get("delta")
        if text.__class__ is not str:
            self.emit(UnknownDelta(index=block.index, api=API, delta=wire))
            return
        block.grow(field, text)
        self.emit(ArgumentsDelta(index=block.index, text=text, path=path))

    def _read_other(self, kind: Any, name: str | None, wire: dict[str, Any]) -> None:
        """Handle deltas of tools, progress, and unknown events."""
        item = self._known(wire)
        blocks = list(item.ordered()) if item is not None else []
        if not blocks or item is None or item.done is not None:
            self.wire_event(name or kind, wire)
            return
        index, delta = blocks[-1].index, wire.get("delta")
        if kind == "response.output_text.annotation.added" and wire.get("annotation").__class__ is dict:
            part = item.blocks.get(("content", wire.get("content_index", 0)))
            for citation in CITATIONS.decode_list([wire["annotation"]], self.context()):
                self.emit(CitationDelta(index=part.index if part else index, citation=citation))
            if part is not None:
                part.wire["annotations"] = [*list_of(part.wire, "annotations"), wire["annotation"]]
        elif kind == "response.image_generation_call.partial_image" and wire.get("partial_image_b64").__class__ is str:
            number = wire.get("partial_image_index")
            preview = number if number.__class__ is int else 0
            self.emit(MediaDelta(index=index, data=wire["partial_image_b64"], preview=preview))
        elif kind in ("response.shell_call_command.added", "response.shell_call_command.delta"):
            text = delta if kind.endswith("delta") else wire.get("command")
            path = f"$.commands[{wire.get('command_index', 0)}]"
            self.emit(ArgumentsDelta(index=index, text=text if text.__class__ is str else "", path=path))
        elif kind == "response.shell_call_output_content.delta" and delta.__class__ is dict:
            for stream, text in delta.items():
                if text.__class__ is str and text:
                    self.emit(OutputDelta(index=index, text=text, name=stream))
        else:
            self.wire_event(name or kind, wire)

    # -- the end of an item and of all -------------------------------------------------------------------------

    def _done(self, wire: dict[str, Any]) -> None:
        item = self._known(wire) or self._add(wire)
        self._stop_item(item, object_at(wire, "item", API))

    def _stop_item(self, item: Item, wire: dict[str, Any], *, is_complete: bool = True) -> None:
        """Stop the blocks of an item with its final content."""
        changed = item.done is not None
        item.done = wire
        context, item.decoded = self.context(), None
        role, direct = decode_item(wire, [wire], 0, context)
        contents = (
            [c for message in decode_items([wire], context) for c in message.contents] if direct is None else direct
        )
        context.finish(wire)
        if direct is not None:
            item.decoded = role, direct
        blocks = list(item.ordered())
        for number, content in enumerate(contents):
            if number < len(blocks) and changed:
                self.catch_up(blocks[number], content)
            elif number < len(blocks):
                self.stop(blocks[number], content, is_complete=is_complete)
            else:
                block = item.blocks["~", number] = self.start({}, content)
                self.stop(block, content, is_complete=is_complete)
        gone = blocks[len(contents) :]
        for block in gone if not changed else ():
            self.stop(block, block.emitted, is_complete=False)
        if gone:
            numbers = {block.index for block in gone}
            item.blocks = {key: remaining for key, remaining in item.blocks.items() if remaining.index not in numbers}

    def _last(self, response: dict[str, Any]) -> None:
        """Read the whole answer. Amend the items that differ from it or are missing."""
        self.answer = dict(response)
        self.begin({**self.answer, "output": []})
        wires = response.get("output")
        if wires.__class__ is not list or not wires:
            # Some hosts do not repeat the items.
            for item in self._items.values():
                if item.done is None and response.get("status", "completed") == "completed":
                    self._stop_item(item, item.merge_pieces())
                elif item.done is None:
                    self._break_off(item)
            wires = [item.done for item in self._in_order()]
            if wires:
                self.answer["output"] = wires
        output = []
        for place, wire in enumerate(wires):
            if wire.__class__ is dict:
                streamed = self._items.get(place)
                if streamed is None:
                    streamed = self._items[place] = Item({})
                if streamed.done != wire:
                    self._stop_item(streamed, wire)
                wire = streamed.done
            output.append(wire)
        if output:
            self.answer["output"] = output
        self._complete(range(len(wires)))

    def _read_answer(self) -> ChatResponse:
        """Return the answer; its items were decoded when they were done."""
        return self.adapter.read_response(
            self.answer, {id(i.done): i.decoded for i in self._items.values() if i.decoded}
        )

    def _complete(self, places: Iterable[int]) -> None:
        response = self._read_answer()
        if self._error is not None and response.error is None:
            response = msgspec.structs.replace(response, error=self._error_of(self._error))
        self.complete(response, self._layout(response, places))

    def _layout(self, response: Any, places: Iterable[int]) -> Layout:
        blocks = [b.index for place in places if place in self._items for b in self._items[place].ordered()]
        return layout_of(response, [blocks] * len(response.choices))

    def _in_order(self) -> list[Item]:
        return [self._items[place] for place in sorted(self._items)]

    def is_ready(self) -> bool:
        return self._error is not None

    def done(self) -> None:
        """Ignore the end marker of Chat, which some hosts send."""

    def finish(self) -> None:
        self.fail(self._error_of(self._error or {}))

    def _error_of(self, wire: dict[str, Any]) -> ErrorContent:
        inner = wire.get("error")
        if inner.__class__ is not dict:
            inner = {key: value for key, value in wire.items() if key not in ("type", "sequence_number")}
        error = self.adapter.read_response({"error": inner}).error
        return error or ErrorContent(message="an error that does not say what it is")

    def stop_open(self) -> None:
        for item in self._in_order():
            if item.done is None:
                self._break_off(item)

    def _break_off(self, item: Item) -> None:
        wire = item.merge_pieces()
        if "status" in wire:
            wire["status"] = "incomplete"
        self._stop_item(item, wire, is_complete=False)

    def broken(self) -> tuple[dict[str, Any], Layout]:
        if not self._has_begun:
            return {}, []
        wires = [item.done for item in self._in_order()]
        self.answer = {**self.answer, "output": wires}
        # Number blocks by their item's position in the output, whatever the host's numbers are.
        self._items = dict(enumerate(self._in_order()))
        return self.answer, self._layout(self._read_answer(), range(len(wires)))


def _number(wire: dict[str, Any], key: str) -> int:
    value = wire.get(key, 0)
    return value if value.__class__ is int else 0


# -- writing -----------------------------------------------------------------------------------------------------------

LAST = ("completed", "incomplete", "failed")


class Encoder(AmendingEncoder):
    """Encode one answer as the events of the Responses API."""

    argument_texts = True

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._sequence = 0
        self._items = 0
        self._contents: dict[int, Any] = {}
        self._calls: dict[str | None, dict[type, Any]] = {}
        """The last written call of each class, by id."""
        self._halves: set[str | None] = set()
        """The ids of incomplete calls."""
        self._parts: Counter[str] = Counter()
        """The number of parts in each list of the open item."""
        self._group: list[OutgoingBlock] = []
        self._item: dict[str, Any] | None = None
        self._ids = ItemIds({})
        self._done: list[dict[str, Any]] = []
        """The items that are done."""
        self._places: dict[int, tuple[int, dict[str, Any], dict[int, Any]]] = {}
        """For each block in a message: the number of its item in `_done`, the item's id and index, and the contents of
        its group as they are in the item, by index."""

    def begin(self, payload: dict[str, Any]) -> None:
        self._ids = ItemIds(payload)
        head = {**payload, "status": "in_progress", "output": []}
        head.pop("usage", None)
        self._event("response.created", response=head)
        self._event("response.in_progress", response=head)

    def _event(self, kind: str, **fields: Any) -> None:
        self.put({"type": kind, "sequence_number": self._sequence, **fields}, kind)
        self._sequence += 1

    # -- live blocks -------------------------------------------------------------------------------------------

    def open_block(self, block: OutgoingBlock) -> None:
        content = block.content
        if content.__class__ is ReasoningContent and content.kind is None:
            return
        items = self.encode_start(content)
        item = items[0] if len(items) == 1 else {}
        part = _only_part(item)
        if part is not None:
            self._open_part(block, item, part)
        elif item.get("type") in ("function_call", "custom_tool_call"):
            self._open_call(block, item)

    def _open_part(self, block: OutgoingBlock, item: dict[str, Any], part: dict[str, Any]) -> None:
        field = GROWING_PARTS[part["type"]][0]
        if not self._continues(block.content, is_open=True):
            self._close_group()
            self._add(self._with_item_id(item, block.content), {field: []})
        elif self._item is None:
            # A deferred group that this part continues.
            group, self._group = self._group, []
            self._add(self._with_item_id(item, group[0].content), {field: []})
            for deferred in group:
                self._put_complete_part(deferred)
        self._group.append(block)
        self._begin_part(block, part)
        self.write_begun(block)

    def _begin_part(self, block: OutgoingBlock, part: dict[str, Any]) -> None:
        """Add an empty part to the open item."""
        field, number, grown, growth, added = GROWING_PARTS[part["type"]]
        place = {**self._place(), number: self._parts[field]}
        self._parts[field] += 1
        self._event(f"{added}.added", **place, part={**part, grown: "", **_no_annotations(part)})
        logprobs: dict[str, Any] = {"logprobs": []} if part["type"] == "output_text" else {}
        block.state = place, field
        block.grow = self._growing(f"{growth}.delta", {**place, **logprobs})

    def _open_call(self, block: OutgoingBlock, item: dict[str, Any]) -> None:
        self._close_group()
        field, growth = GROWING_ITEMS[item["type"]]
        self._add(self._with_item_id(item, block.content), {field: ""})
        self._group = [block]
        block.state = self._place(), field
        block.grow = self._growing(f"{growth}.delta", self._place())
        self.write_begun(block)

    def _growing(self, kind: str, place: dict[str, Any]) -> Callable[[str], bytes]:
        """Return a function that writes deltas of a part or a call. Every event has a sequence number."""
        head = b"event: %b\ndata: %b" % (kind.encode(), write({"type": kind, **place})[:-1])

        def grow(text: str) -> bytes:
            number = self._sequence
            self._sequence = number + 1
            return b'%b,"sequence_number":%d,"delta":%b}\n\n' % (head, number, write(text))

        return grow

    def _items_of(self, contents: list[Any], *, is_open: bool = False) -> list[dict[str, Any]]:
        """Return the items of these contents; [] if the API has none for them."""
        items: list[dict[str, Any]] = self.encode(contents, is_open=is_open)
        return items

    # -- items -------------------------------------------------------------------------------------------------

    def _place(self) -> dict[str, Any]:
        assert self._item is not None
        return {"item_id": self._item.get("id") or f"item_{self._items}", "output_index": self._items}

    def _add(self, item: dict[str, Any], start: dict[str, Any]) -> None:
        """Start an item."""
        self._parts.clear()
        status = {"status": "in_progress"} if "status" in item else {}
        self._item = {**item, **start, **status}
        self._event("response.output_item.added", output_index=self._items, item=self._item)

    def _with_item_id(self, item: dict[str, Any], content: Any) -> dict[str, Any]:
        """Return the item that starts with this content with the id that the whole answer has."""
        is_made = item.get("type") == "message" and ITEM.of(content, self.api) is None
        return self._ids.named(item) if self.completes or is_made else item

    def _ended(self, item: dict[str, Any], begun: dict[str, Any], content: Any) -> dict[str, Any]:
        """Return an item that is done with the id that it was added with."""
        if item.get("id") or "id" not in begun or item.get("type") != begun.get("type"):
            return self._with_item_id(item, content)
        return with_id(item, begun["id"])

    def _continues(self, content: Any, *, is_open: bool = False) -> bool:
        """Return whether a content belongs to the open group. `is_open`: the content has just started."""
        if not self._group:
            return False
        # The group is one item already: its beginning and its end decide whether more belongs to it.
        group = self._group if len(self._group) < 4 else [*self._group[:2], self._group[-1]]
        contents = [block.content for block in group]
        together = self._items_of([*contents, content], is_open=is_open)
        return len(together) == len(self._items_of(contents, is_open=is_open)) == 1

    def break_off(self, block: OutgoingBlock) -> None:
        self._close_group(but=block)
        self._halves.add(block.content.call_id)
        super().break_off(block)

    def close_block(self, block: OutgoingBlock) -> None:
        content = block.content
        if isinstance(content, ToolResultContent) and not block.is_complete and content.call_id in self._halves:
            # One item has both, and would look complete.
            self.report_loss((block.choice, block.index), content, reasons.INTERRUPTED_CALL)
            return
        self._keep(block.index, content)
        block.cited = len(content.annotations or ())
        if block.grow is not None:
            self._end_live(block)
        elif self._item is not None:
            # A part that was not streamed, while an item is open.
            if self._continues(content):
                self._put_complete_part(block)
            else:
                self._close_group()
                self._group = [block]
        elif self._continues(content):
            self._group.append(block)
        elif not self._is_part_of_a_call(content):
            self._close_group()
            self._group = [block]

    def _is_part_of_a_call(self, content: Any) -> bool:
        """Return whether this is the result of a call whose item was written: the last event has them together."""
        if not isinstance(content, ToolResultContent):
            return False
        calls = self._calls.get(content.call_id, {})
        return any(len(self._items_of([call, content])) == 1 for call in calls.values())

    def _keep(self, index: int, content: Any) -> None:
        """Keep a content for the last event."""
        self._contents[index] = content
        if isinstance(content, ToolCallContent):
            self._calls.setdefault(content.call_id, {})[content.__class__] = content

    def _end_live(self, block: OutgoingBlock) -> None:
        items = self._items_of([block.content])
        item = items[0] if items else {}
        part, growth = _only_part(item), GROWING_ITEMS.get(text_of(item, "type"))
        place, _ = block.state
        if part is not None:
            text = text_of(part, GROWING_PARTS[part["type"]][2])
        elif growth is not None:
            text = text_of(item, growth[0])
        else:
            # It became another kind of item; the end of the item shows it.
            return
        self.write_rest(block, text)
        if part is None:
            self._end_call(item, text, place)
        else:
            self._end_part(part, place)

    def _end_call(self, item: dict[str, Any], text: str, place: dict[str, Any]) -> None:
        field, growth = GROWING_ITEMS[item["type"]]
        name = {"name": item.get("name", "")} if field == "arguments" else {}
        self._event(f"{growth}.done", **place, **{field: text}, **name)

    def _end_part(self, part: dict[str, Any], place: dict[str, Any]) -> None:
        _, _, field, growth, added = GROWING_PARTS[part["type"]]
        for number, annotation in enumerate(list_of(part, "annotations")):
            kind = "response.output_text.annotation.added"
            self._event(kind, **place, annotation_index=number, annotation=annotation)
        logprobs = {"logprobs": list_of(part, "logprobs")} if part["type"] == "output_text" else {}
        self._event(f"{growth}.done", **place, **{field: text_of(part, field)}, **logprobs)
        self._event(f"{added}.done", **place, part={**part, **_no_annotations(part, part.get("annotations"))})

    def _put_complete_part(self, block: OutgoingBlock) -> None:
        items = self._items_of([block.content])
        part = _only_part(items[0]) if items else None
        self._group.append(block)
        if part is not None:
            self._begin_part(block, part)
            text = text_of(part, GROWING_PARTS[part["type"]][2])
            if text:
                self.write_text(block, text)
            self._end_part(part, block.state[0])

    def _close_group(self, but: OutgoingBlock | None = None) -> None:
        """Write the rest of the open group: the end of its item, or the whole item if it was deferred."""
        group, self._group = [block for block in self._group if block is not but], []
        item, self._item = self._item, None
        if not group:
            self._items += item is not None
            return
        items = self._items_of([block.content for block in group])
        for encoded in items:
            first = group[0].content
            final = self._with_item_id(encoded, first) if item is None else self._ended(encoded, item, first)
            if item is None:
                self._put_complete_item(final)
            item = None
            if final.get("type") == "message" and len(items) == 1:
                place = {"item_id": final.get("id"), "output_index": self._items}
                contents = {block.index: block.content for block in group}
                self._places.update(dict.fromkeys(contents, (len(self._done), place, contents)))
            self._end_item(final)

    def _end_item(self, item: dict[str, Any]) -> None:
        self._event("response.output_item.done", output_index=self._items, item=item)
        self._done.append(item)
        self._items += 1

    def _put_complete_item(self, item: dict[str, Any]) -> None:
        """Write a complete item; if it grows, with the events of its growth."""
        growth = GROWING_ITEMS.get(text_of(item, "type"))
        lists: dict[str, Any] = {
            key: [] for key in ("content", "summary") if item.get("type") in ("message", "reasoning") and key in item
        }
        self._add(item, {growth[0]: ""} if growth and item.get(growth[0]).__class__ is str else lists)
        place = self._place()
        if growth and item.get(growth[0]).__class__ is str:
            text = item[growth[0]]
            self._event(f"{growth[1]}.delta", **place, delta=text)
            self._end_call(item, text, place)
        for field in lists:
            for number, part in enumerate(list_of(item, field)):
                if part.__class__ is dict:
                    self._put_part_of_item(part, place, number)
        self._item = None

    def _put_part_of_item(self, part: dict[str, Any], item: dict[str, Any], number: int) -> None:
        """Write one part of a complete item."""
        kind = GROWING_PARTS.get(text_of(part, "type"))
        if kind is None:
            return
        _, index, field, growth, added = kind
        place = {**item, index: number}
        self._event(f"{added}.added", **place, part={**part, field: "", **_no_annotations(part)})
        logprobs: dict[str, Any] = {"logprobs": []} if part["type"] == "output_text" else {}
        if text_of(part, field):
            self._event(f"{growth}.delta", **place, **logprobs, delta=part[field])
        self._end_part(part, place)

    def amend(self, index: int, content: Any, written: Written) -> None:
        self._keep(index, content)
        # At the end of an answer of this API, the last event has the change.
        if not self.is_native:
            super().amend(index, content, written)

    def write_more(self, place: BlockPlace, wire: Any) -> None:
        self._close_group()
        self._places.pop(place[1], None)
        for encoded in wire:
            item = self._with_item_id(encoded, self._contents[place[1]])
            self._put_complete_item(item)
            self._end_item(item)

    def cite_late(self, place: BlockPlace, content: Any, written: Written) -> None:
        """Write citations that follow their text. If its item is open, it gets them, and so does the last event."""
        index = place[1]
        if index in self._places:
            number, item, contents = self._places[index]
            contents[index] = content
            self._done[number] = with_id(self._cite_in(index, written, item, contents), item["item_id"])
        elif (block := next((block for block in self._group if block.index == index), None)) is not None:
            block.content = content
            if self._item is not None:
                self._cite_in(index, written, self._place(), {block.index: block.content for block in self._group})
        else:
            super().cite_late(place, content, written)
        written.cited = len(content.annotations)

    def _cite_in(self, index: int, written: Written, place: dict[str, Any], contents: dict[int, Any]) -> dict[str, Any]:
        """Write the new citations of a part of a message that has these contents. Return its item."""
        parts = list(contents.values())
        before = self._items_of(parts[: list(contents).index(index)])
        number = len(before[0]["content"]) if before else 0
        item = self._items_of(parts)[0]
        annotations = list_of(item["content"][number], "annotations")
        for at, annotation in enumerate(annotations[written.cited :], written.cited):
            kind = "response.output_text.annotation.added"
            self._event(kind, **place, content_index=number, annotation_index=at, annotation=annotation)
        return item

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        self._last(event)

    def _last(self, event: TurnComplete | TurnError) -> None:
        self._close_group()
        response = event.response
        if isinstance(event, TurnError):
            response = msgspec.structs.replace(response, error=event.error)
        else:
            response = self.with_ends(response)
        payload = self._encode_response(event, response)
        if not self.is_native:
            payload["output"] = self._done
        status = payload.get("status")
        self._event(f"response.{status if status in LAST else 'completed'}", response=payload)

    def _encode_response(self, event: TurnComplete | TurnError, response: ChatResponse) -> dict[str, Any]:
        """Encode the answer with its contents, and record the losses."""
        # Empty texts are not written, but count in the paths of losses.
        contents = {**{index: block.content for index, block in self.empty.items()}, **self._contents}
        layout = [[[i for i in m if i in contents] for m in choice] for choice in event.layout]
        if not contents.keys() <= {i for choice in layout for m in choice for i in m}:
            layout = layout or [[sorted(contents)]]
        encoded = self.adapter.encode_response(with_contents(response, contents, layout), self._policies)
        self.note_envelope(encoded)
        payload: dict[str, Any] = encoded.payload
        return payload

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        # An `error` event has neither usage nor a finish reason; a whole response with an error has.
        finish = event.response.finish_reason
        has_end = event.response.usage is not None or (finish is not None and finish.reason == "error")
        if event.error.code != ENDED and event.response.choices and has_end:
            self._last(event)
            return
        if event.response.usage is not None:
            self.lose_usage(reasons.NO_FIELD)
        if event.response.choices:
            # Encoded only to report what the error event leaves out.
            self._encode_response(event, msgspec.structs.replace(event.response, error=None, usage=None))
        if self._item is None or all(block.is_complete for block in self._group):
            self._close_group()
        error = object_of(payload, "error")
        if "type" in (event.error.extra or {}).get(self.adapter.api, {}):
            # Only the nested form of the event has a type.
            self._event("error", error=error)
            return
        body = {"code": error.get("code"), "message": error.get("message") or "", "param": error.get("param")}
        self._event("error", **body)

    def wire_event(self, event: WireEvent) -> None:
        data = event.data
        # Progress of an item is dropped: the item may not have been written yet.
        if isinstance(data, dict) and "output_index" not in data:
            number = {"sequence_number": self._sequence} if "sequence_number" in data else {}
            self.put({**data, **number}, event.name)
            self._sequence += 1


def _only_part(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the only part of an item, if the part grows."""
    if item.get("type") not in ("message", "reasoning"):
        return None
    parts = [part for field in ("summary", "content") for part in list_of(item, field)]
    if len(parts) != 1 or not isinstance(parts[0], dict):
        return None
    kind = GROWING_PARTS.get(text_of(parts[0], "type"))
    return parts[0] if kind is not None and isinstance(parts[0].get(kind[2], ""), str) else None


def _no_annotations(part: dict[str, Any], annotations: Any = None) -> dict[str, Any]:
    """Return the annotations of a part: a text always has them."""
    return {"annotations": annotations or []} if part["type"] == "output_text" else {}
