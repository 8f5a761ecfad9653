"""Encode streams of the Responses API: items that grow by parts, and the whole answer at the end.

Contents that make one item (the parts of a message, a call and its result) are one group; a deferred content waits
until its group is complete. The last event repeats the whole answer: an answer of another API has the items that were
done, and one of this API has the original ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    AmendingEncoder,
    BlockPlace,
    OutgoingBlock,
    Written,
    list_of,
    object_of,
    reasons,
    text_of,
    write,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.events import ENDED, TurnComplete, TurnError, WireEvent, with_contents
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.pairs.provider_state import ITEM
from contentmodel_adapters.openai.responses.ids import ItemIds, with_id

# By the type of a part: its list, the key of its number, its field, and the prefix of its events.
PARTS = {
    "output_text": ("content", "content_index", "text", "response.output_text", "response.content_part"),
    "refusal": ("content", "content_index", "refusal", "response.refusal", "response.content_part"),
    "reasoning_text": ("content", "content_index", "text", "response.reasoning_text", "response.content_part"),
    "summary_text": (
        "summary",
        "summary_index",
        "text",
        "response.reasoning_summary_text",
        "response.reasoning_summary_part",
    ),
}
# By the type of an item: its field that grows, and the prefix of its events.
ITEMS = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
    "mcp_call": ("arguments", "response.mcp_call_arguments"),
    "code_interpreter_call": ("code", "response.code_interpreter_call_code"),
}
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
        field = PARTS[part["type"]][0]
        if not self._continues(block.content, is_open=True):
            self._close_group()
            self._add(self._with_item_id(item, block.content), {field: []})
        elif self._item is None:
            self._begin_held(item, field)
        self._group.append(block)
        self._begin_part(block, part)
        self.write_begun(block)

    def _begin_held(self, item: dict[str, Any], field: str) -> None:
        """Start the item of a deferred group, for a part that continues it."""
        group, self._group = self._group, []
        self._add(self._with_item_id(item, group[0].content), {field: []})
        for block in group:
            self._put_complete_part(block)

    def _begin_part(self, block: OutgoingBlock, part: dict[str, Any]) -> None:
        """Add an empty part to the open item."""
        field, number, grown, growth, added = PARTS[part["type"]]
        place = {**self._place(), number: self._parts[field]}
        self._parts[field] += 1
        self._event(f"{added}.added", **place, part={**part, grown: "", **_no_annotations(part)})
        rest: dict[str, Any] = {"logprobs": []} if part["type"] == "output_text" else {}
        block.state = place, field
        block.grow = self._growing(f"{growth}.delta", {**place, **rest})

    def _open_call(self, block: OutgoingBlock, item: dict[str, Any]) -> None:
        self._close_group()
        field, growth = ITEMS[item["type"]]
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
        part, growth = _only_part(item), ITEMS.get(text_of(item, "type"))
        place, _ = block.state
        if part is not None:
            text = text_of(part, PARTS[part["type"]][2])
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
        field, growth = ITEMS[item["type"]]
        name = {"name": item.get("name", "")} if field == "arguments" else {}
        self._event(f"{growth}.done", **place, **{field: text}, **name)

    def _end_part(self, part: dict[str, Any], place: dict[str, Any]) -> None:
        _, _, field, growth, added = PARTS[part["type"]]
        for number, annotation in enumerate(list_of(part, "annotations")):
            kind = "response.output_text.annotation.added"
            self._event(kind, **place, annotation_index=number, annotation=annotation)
        rest = {"logprobs": list_of(part, "logprobs")} if part["type"] == "output_text" else {}
        self._event(f"{growth}.done", **place, **{field: text_of(part, field)}, **rest)
        self._event(f"{added}.done", **place, part={**part, **_no_annotations(part, part.get("annotations"))})

    def _put_complete_part(self, block: OutgoingBlock) -> None:
        items = self._items_of([block.content])
        part = _only_part(items[0]) if items else None
        self._group.append(block)
        if part is not None:
            self._begin_part(block, part)
            text = text_of(part, PARTS[part["type"]][2])
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
            done = self._with_item_id(encoded, first) if item is None else self._ended(encoded, item, first)
            if item is None:
                self._put_complete_item(done)
            item = None
            if done.get("type") == "message" and len(items) == 1:
                place = {"item_id": done.get("id"), "output_index": self._items}
                contents = {block.index: block.content for block in group}
                self._places.update(dict.fromkeys(contents, (len(self._done), place, contents)))
            self._end_item(done)

    def _end_item(self, item: dict[str, Any]) -> None:
        self._event("response.output_item.done", output_index=self._items, item=item)
        self._done.append(item)
        self._items += 1

    def _put_complete_item(self, item: dict[str, Any]) -> None:
        """Write a complete item; if it grows, with the events of its growth."""
        growth = ITEMS.get(text_of(item, "type"))
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
        kind = PARTS.get(text_of(part, "type"))
        if kind is None:
            return
        _, index, field, growth, added = kind
        place = {**item, index: number}
        self._event(f"{added}.added", **place, part={**part, field: "", **_no_annotations(part)})
        rest: dict[str, Any] = {"logprobs": []} if part["type"] == "output_text" else {}
        if text_of(part, field):
            self._event(f"{growth}.delta", **place, **rest, delta=part[field])
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
        # An `error` event has no usage; a whole response with an error has.
        if event.error.code != ENDED and _has_end(event.response):
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


def _has_end(response: ChatResponse) -> bool:
    """Return whether a failed answer has more than its error: its tokens, or the finish reason "error"."""
    finish = response.finish_reason
    has_failed = finish is not None and finish.reason == "error"
    return bool(response.choices) and (has_failed or response.usage is not None)


def _only_part(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the only part of an item, if the part grows."""
    if item.get("type") not in ("message", "reasoning"):
        return None
    parts = [part for field in ("summary", "content") for part in list_of(item, field)]
    if len(parts) != 1 or not isinstance(parts[0], dict):
        return None
    kind = PARTS.get(text_of(parts[0], "type"))
    return parts[0] if kind is not None and isinstance(parts[0].get(kind[2], ""), str) else None


def _no_annotations(part: dict[str, Any], annotations: Any = None) -> dict[str, Any]:
    """Return the annotations of a part: a text always has them."""
    return {"annotations": annotations or []} if part["type"] == "output_text" else {}
