"""Streams of the Messages API: blocks are started, grown and stopped one after the other.

Sources: anthropic 2.12, lib/streaming/_beta_messages.py and the raw event types; November 2026.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from contentmodel.authoring import (
    TEXT_HERE,
    BlockDecoder,
    BlockEncoder,
    BlockParts,
    BlockState,
    NamedEvent,
    kind_of,
    list_of,
    merge_into,
    object_at,
    object_of,
    parse,
    place_at,
    text_of,
    write,
)
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import ArgumentsDelta, ReasoningDelta, TextDelta, TurnComplete, TurnError, UnknownDelta
from contentmodel_adapters.anthropic.aws_errors import exception_of, is_exception, wire_of_exception
from contentmodel_adapters.anthropic.messages.response import USAGE
from contentmodel_adapters.anthropic.messages.table import API, CITATIONS, CONTENT, TABLE

# -- reading -----------------------------------------------------------------------------------------------------------

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
        other_fields = {key: value for key, value in delta.items() if key != field}
        if len(other_fields) > 1:
            self.emit(UnknownDelta(index=block.index, api=API, delta=other_fields))

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


# -- writing -----------------------------------------------------------------------------------------------------------

# By the type of a block: its field that grows, and the type and the field of the delta.
GROWING_KINDS = {"text": ("text", "text_delta", "text"), "thinking": ("thinking", "thinking_delta", "thinking")}
METRICS = "amazon-bedrock-invocationMetrics"
"""The field of message_stop in which Bedrock counts tokens and measures times."""
# Fields inside `delta` of message_delta; all others are beside it.
IN_DELTA = ("stop_reason", "stop_sequence", "stop_details", "container")


class Encoder(BlockEncoder):
    """Encode one answer as the events of the Messages API."""

    has_usage_at_start = True
    empty_text: ClassVar[dict[str, Any]] = {"type": "text", "text": ""}

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._head: dict[str, Any] = {}

    def begin(self, payload: dict[str, Any]) -> None:
        ending: dict[str, Any] = {"stop_reason": None, "stop_sequence": None, "content": []}
        usage = {"input_tokens": 0, "output_tokens": 0, **object_of(payload, "usage")}
        self._head = {"type": "message", "role": "assistant", **payload, **ending, "usage": usage}
        self.put({"type": "message_start", "message": self._head}, "message_start")

    # -- blocks ------------------------------------------------------------------------------------------------

    def encode_start(self, content: Any) -> list[dict[str, Any]]:
        # The text that a block grows by may be missing while it is empty.
        return [
            {"type": wire["type"], GROWING_KINDS[wire["type"]][0]: "", **wire}
            if text_of(wire, "type") in GROWING_KINDS
            else wire
            for wire in super().encode_start(content)
        ]

    def parts_of(self, wire: dict[str, Any]) -> BlockParts:
        citations, growth = list_of(wire, "citations"), growth_of(wire)
        start = {**wire, "citations": []} if wire.get("citations").__class__ is list else wire
        deltas = [{"type": "citations_delta", "citation": citation} for citation in citations]
        if growth is None:
            return BlockParts(start, rest=tuple(deltas))
        field, delta, key = growth
        if wire.get("signature"):
            start = {**start, "signature": ""}
            deltas.append({"type": "signature_delta", "signature": wire["signature"]})
        text = wire[field] if isinstance(wire[field], str) else write(wire[field]).decode() if wire[field] else ""
        start = {**start, field: {} if field == "input" else ""}
        return BlockParts(start, {"type": delta, key: TEXT_HERE}, text, tuple(deltas))

    def start_event(self, start: dict[str, Any]) -> NamedEvent:
        return {"type": "content_block_start", "index": self.count, "content_block": start}, "content_block_start"

    def delta_event(self, delta: dict[str, Any]) -> NamedEvent:
        return {"type": "content_block_delta", "index": self.count, "delta": delta}, "content_block_delta"

    def stop_event(self) -> NamedEvent:
        return {"type": "content_block_stop", "index": self.count}, "content_block_stop"

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        payload = self.encode_envelope(event)
        last = {name: payload.pop(name) for name in (METRICS,) if name in payload}
        self._end_message(payload)
        self.put({"type": "message_stop", **last}, "message_stop")

    def _end_message(self, payload: dict[str, Any]) -> None:
        usage = {**self._head["usage"], **object_of(payload, "usage")}
        delta = {"stop_reason": payload.get("stop_reason"), "stop_sequence": payload.get("stop_sequence")}
        beside: dict[str, Any] = {"usage": usage}
        for key, value in payload.items():
            if key in IN_DELTA:
                delta[key] = value
            elif key not in ("content", "usage") and (key not in self._head or self._head[key] != value):
                # The event has a type and a delta of its own.
                (delta if key in ("type", "delta") else beside)[key] = value
        self.put({"type": "message_delta", "delta": delta, **beside}, "message_delta")

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        if self._head:
            envelope = self.encode_envelope(event)
            # Send what was received before the error: the tokens, and a finish reason of this API.
            counted = {**self._head["usage"], **object_of(envelope, "usage")}
            if (self.is_native and event.response.finish_reason is not None) or counted != self._head["usage"]:
                self._end_message(envelope)
        if "error" in payload:
            self.put({"type": "error", **payload}, "error")
        else:
            self.put(*exception_of(payload))


def growth_of(wire: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return how a block grows: its field, and the type and the field of the delta; None if it does not grow."""
    if wire.get("input").__class__ in (dict, str):
        return "input", "input_json_delta", "partial_json"
    growth = GROWING_KINDS.get(text_of(wire, "type"))
    return growth if growth is not None and isinstance(wire.get(growth[0]), str) else None
