"""Decode streams of the Messages API.

Sources: anthropic 2.12, lib/streaming/_beta_messages.py and the raw event types; November 2026.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from contentmodel.authoring import (
    BlockDecoder,
    BlockState,
    kind_of,
    list_of,
    merge_into,
    object_at,
    object_of,
    parse,
    place_at,
    text_of,
)
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import (
    ArgumentsDelta,
    ReasoningDelta,
    TextDelta,
    UnknownDelta,
)
from contentmodel_adapters.anthropic.aws_errors import is_exception, wire_of_exception
from contentmodel_adapters.anthropic.messages.response import USAGE
from contentmodel_adapters.anthropic.messages.table import API, CITATIONS, CONTENT, TABLE

# By the delta's type: its field, the block's field that it appends to, and the event.
GROWTH: dict[str, tuple[str, str, Any]] = {
    "text_delta": ("text", "text", TextDelta),
    "thinking_delta": ("thinking", "thinking", ReasoningDelta),
    "input_json_delta": ("partial_json", "input", ArgumentsDelta),
}
ADDED_UP = frozenset(grown for _, grown, _ in GROWTH.values())
TABLE.known_values("stream delta", *GROWTH, "citations_delta", "signature_delta", "compaction_delta")
PLACEHOLDER = {"type": "text", "text": ""}


class _Text(msgspec.Struct, tag_field="type", tag="text_delta", forbid_unknown_fields=True, gc=False):
    text: str


class _Thinking(msgspec.Struct, tag_field="type", tag="thinking_delta", forbid_unknown_fields=True, gc=False):
    text: str = msgspec.field(name="thinking")


class _Input(msgspec.Struct, tag_field="type", tag="input_json_delta", forbid_unknown_fields=True, gc=False):
    text: str = msgspec.field(name="partial_json")


class _Growth(msgspec.Struct, tag_field="type", tag="content_block_delta", forbid_unknown_fields=True, gc=False):
    """An event that only appends to a block, as nearly all do."""

    index: int
    delta: _Text | _Thinking | _Input


_decode_growth = msgspec.json.Decoder(_Growth).decode
_GROWN: dict[type, tuple[str, Any]] = {
    _Text: ("text", TextDelta),
    _Thinking: ("thinking", ReasoningDelta),
    _Input: ("input", ArgumentsDelta),
}
_BEGINNING = b'{"type":"content_block_delta"'


class Decoder(BlockDecoder):
    """Decode one answer event by event. Finished blocks are not kept."""

    blocks, citations, arguments = CONTENT, CITATIONS, "input"

    def reads_quickly(self, name: str | None, data: bytes) -> bool:
        if not data.startswith(_BEGINNING):
            return False
        try:
            event = _decode_growth(data)
        except (msgspec.MsgspecError, UnicodeError):
            return False
        block = self.open.get(event.index)
        if block is None:
            return False
        field, kind = _GROWN[event.delta.__class__]
        self.more(block, field, event.delta.text, kind)
        return True

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        kind = wire.get("type")
        if kind == "content_block_delta":
            self._grow(wire)
        elif kind == "content_block_start":
            self._start(place_at(wire, "index", API), object_at(wire, "content_block", API))
        elif kind == "content_block_stop":
            self.end_block(place_at(wire, "index", API))
        elif kind == "message_start":
            self._begin(object_at(wire, "message", API))
        elif kind == "message_delta":
            self._change(wire)
        elif kind == "message_stop":
            if len(wire) > 1:
                merge_into(self.answer, {key: value for key, value in wire.items() if key != "type"})
            self.finish()
        elif kind == "error":
            self.fail_with(wire)
        elif kind == "message":
            self._begin(wire)
            self.finish()
        elif kind is None and is_exception(name, wire):
            self.fail_with(wire_of_exception(name or "", wire))
        elif (chunk := text_of(object_of(wire, "chunk"), "bytes")) and kind is None:
            # The SDKs of AWS have an event of a model that Bedrock invokes as bytes.
            self.read(None, _event_in(chunk))
        else:
            self.wire_event(name, wire)

    def _begin(self, message: dict[str, Any]) -> None:
        merge_into(self.answer, {**message, "content": None})
        self.begin({**message, "content": []})
        # A continued call by a program is in the message from the start.
        for index, block in enumerate(list_of(message, "content")):
            if block.__class__ is dict:
                self._start(index, block)
                self.end_block(index)

    def _start(self, place: int, wire: dict[str, Any]) -> None:
        if place in self.open:
            self.end_block(place)
        if wire.get("type") == "fallback":
            # The block names the model that continues; an answer without streaming has that model, too.
            self.answer["model"] = object_of(wire, "to").get("model") or self.answer.get("model")
        self.begin_block(place, wire)

    def _grow(self, wire: dict[str, Any]) -> None:
        place = wire.get("index")
        block = self.open.get(place) if place.__class__ is int else None
        delta = wire.get("delta")
        if block is None or delta.__class__ is not dict:
            self._refuse(wire)
            return
        kind = delta.get("type", "")
        if kind.__class__ is not str:
            raise DecodeError(API, [Fault("$.delta.type", f"expected a string, got {kind_of(kind)}")])
        growth = GROWTH.get(kind)
        if growth is None:
            self._change_block(block, kind, delta)
            return
        field, grown, event = growth
        text = delta.get(field)
        if text.__class__ is not str:
            self.emit(UnknownDelta(index=block.index, api=API, delta=delta))
            return
        self.more(block, grown, text, event)
        rest = {key: value for key, value in delta.items() if key != field}
        if len(rest) > 1:
            self.emit(UnknownDelta(index=block.index, api=API, delta=rest))

    def _refuse(self, wire: dict[str, Any]) -> None:
        object_at(wire, "delta", API)
        place = place_at(wire, "index", API)
        raise DecodeError(API, [Fault("$.index", f"block {place} has not started")])

    def _change_block(self, block: BlockState, kind: Any, delta: dict[str, Any]) -> None:
        """Merge a delta that is not appended to a text."""
        if kind == "signature_delta" and delta.get("signature").__class__ is str:
            block.wire["signature"] = delta["signature"]
            self.sign(block)
        elif kind == "citations_delta" and delta.get("citation").__class__ is dict:
            self.cite(block, delta["citation"])
        else:
            # The fields of compaction_delta, and of an unknown delta, belong to the block; those that grow are skipped.
            block.wire.update({key: value for key, value in delta.items() if key != "type" and key not in ADDED_UP})
            self.emit(UnknownDelta(index=block.index, api=API, delta=delta))

    def _change(self, wire: dict[str, Any]) -> None:
        """Merge the fields of message_delta into the answer. Its counters are totals."""
        changes = {key: value for key, value in wire.items() if key not in ("type", "delta")}
        for key, value in object_of(wire, "delta").items():
            if value is not None or self.answer.get(key) is None:
                self.answer[key] = value
        usage = self.answer.get("usage")
        merge_into(self.answer, changes)
        if not self._has_begun:
            self.begin({**self.answer, "content": []})
        if self.counts and "usage" in wire and self.answer.get("usage") != usage:
            self.count(USAGE, self.answer["usage"])

    def answer_with(self, is_begun: bool) -> dict[str, Any]:
        return {**self.answer, "content": [PLACEHOLDER] * is_begun}


def _event_in(data: str) -> dict[str, Any]:
    """Return the event in base64."""
    try:
        event = parse(base64.b64decode(data), API)
    except ValueError:
        event = None
    if event.__class__ is not dict or "chunk" in event:
        raise DecodeError(API, [Fault("$.chunk.bytes", "expected an event in base64")])
    wire: dict[str, Any] = event
    return wire
