"""Decode streams of the Responses API: items that grow by parts.

Source: openai 3.54, types/responses/*_event.py; seen November 2026. Every event has an `output_index`; the ids of some
hosts change during a stream. The last event repeats the whole answer, and takes precedence.

llama.cpp sends ids only (tools/server/server-task.cpp at 00efb3e). Some versions of vLLM send a new `content_index`
with each delta, and start an item with the number of the one before (vllm-project/vllm#35184; both seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from contentmodel.authoring import (
    BlockState,
    StreamDecoder,
    kind_of,
    layout_of,
    list_of,
    merge_into,
    object_at,
    object_of,
    text_of,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import (
    ArgumentsDelta,
    CitationDelta,
    Layout,
    MediaDelta,
    OutputDelta,
    ReasoningDelta,
    TextDelta,
    UnknownDelta,
)
from contentmodel.response import ChatResponse
from contentmodel_adapters.openai.responses.items import API, CITATIONS, TABLE
from contentmodel_adapters.openai.responses.table import decode_item, decode_items

LAST = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
FIRST = ("response.created", "response.in_progress", "response.queued")
# By event: the list of its part, the key of the part's number, the part's type and the field that grows.
PARTS: dict[str, tuple[str, str, str, str, Any]] = {
    "response.output_text.delta": ("content", "content_index", "output_text", "text", TextDelta),
    "response.refusal.delta": ("content", "content_index", "refusal", "refusal", TextDelta),
    "response.reasoning_text.delta": ("content", "content_index", "reasoning_text", "text", ReasoningDelta),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", "summary_text", "text", ReasoningDelta),
}
# By event: the item that grows, its field, and the argument's path if the field is only one argument.
CALLS: dict[str, tuple[str, str, str | None]] = {
    "response.function_call_arguments.delta": ("function_call", "arguments", None),
    "response.custom_tool_call_input.delta": ("custom_tool_call", "input", None),
    "response.mcp_call_arguments.delta": ("mcp_call", "arguments", None),
    "response.code_interpreter_call_code.delta": ("code_interpreter_call", "code", "$.code"),
}
PART_ADDED = {
    "response.content_part.added": ("content", "content_index"),
    "response.reasoning_summary_part.added": ("summary", "summary_index"),
}
# Events that repeat a part or an item at its end; output_item.done has the same data.
PART_DONE = (
    "response.content_part.done",
    "response.output_text.done",
    "response.refusal.done",
    "response.reasoning_text.done",
)
REPEATED = (
    *PART_DONE,
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.done",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.done",
    "response.mcp_call_arguments.done",
    "response.code_interpreter_call_code.done",
    "response.shell_call_command.done",
    "response.shell_call_output_content.done",
)
TABLE.known_values("stream event", *FIRST, *LAST, *PARTS, *CALLS, *PART_ADDED, *REPEATED)

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
        if kind in PARTS:
            self._grow_part(PARTS[kind], wire)
        elif kind in CALLS:
            self._grow_call(CALLS[kind], wire)
        elif kind in REPEATED:
            self._end_part(kind, wire)
        elif kind == "response.output_item.added":
            self._add(wire)
        elif kind == "response.output_item.done":
            self._done(wire)
        elif kind in PART_ADDED:
            self._add_part(PART_ADDED[kind], wire)
        elif kind in LAST:
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
        growth = PARTS.get(name)  # type: ignore[arg-type]
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
        if place is not None and not self._is_done(place):
            return place
        item = object_of(wire, "item")
        ids = (text_of(wire, "item_id"), text_of(item, "id"), text_of(item, "call_id"))
        return next((self._places[known] for known in ids if known in self._places), place)

    def _is_done(self, place: Any) -> bool:
        item = self._items.get(place) if place.__class__ is int else None
        return item is not None and item.done is not None

    def _known(self, wire: dict[str, Any]) -> Item | None:
        """Return the item of an event, if it has started."""
        place = self._find(wire)
        return self._items.get(place) if place.__class__ is int else None

    def _place(self, wire: dict[str, Any]) -> int:
        place = self._find(wire)
        if place.__class__ is not int:
            raise DecodeError(API, [Fault("$.output_index", f"expected an integer, got {kind_of(place)}")])
        known: int = place
        return known

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
        if place is None or self._is_done(place):
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
            item.blocks = {key: known for key, known in item.blocks.items() if known.index not in numbers}

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
                known = self._items.get(place)
                if known is None:
                    known = self._items[place] = Item({})
                if known.done != wire:
                    self._stop_item(known, wire)
                wire = known.done
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
