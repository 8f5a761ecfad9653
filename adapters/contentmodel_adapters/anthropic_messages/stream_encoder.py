"""Encode streams of the Messages API: blocks are started, grown and stopped one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from contentmodel.authoring import (
    SSE,
    OutgoingBlock,
    SequentialEncoder,
    growing,
    list_of,
    object_of,
    text_of,
    write,
)
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.shared.aws_errors import exception_of

# By the type of a block: its field that grows, and the type and the field of the delta.
GROWTH = {"text": ("text", "text_delta", "text"), "thinking": ("thinking", "thinking_delta", "thinking")}
METRICS = "amazon-bedrock-invocationMetrics"
"""The field of message_stop in which Bedrock counts tokens and measures times."""
# Fields inside `delta` of message_delta; all others are beside it.
IN_DELTA = ("stop_reason", "stop_sequence", "stop_details", "container")


class Encoder(SequentialEncoder):
    """Encode one answer as the events of the Messages API."""

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

    def open_block(self, block: OutgoingBlock) -> None:
        wires = self.encode_start(block.content)
        if len(wires) != 1:
            return
        wire = begun(wires[0])
        growth = growth_of(wire)
        if growth is None or (growth[0] == "input" and not _is_object(block.content, wire["input"])):
            return
        _, delta, text = growth
        self.begin_block(wire)
        block.grow = self._growing(delta, text)
        self.write_begun(block)

    def _growing(self, delta: str, text: str) -> Callable[[str], bytes]:
        """Return a function that writes more text of the block that was just started."""
        head = b'{"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":'
        head %= (self.count, delta.encode(), text.encode())
        if self.stream_format is SSE:
            return growing(b"event: content_block_delta\ndata: " + head, b"}}\n\n")
        grown = growing(head, b"}}")
        return lambda more: self.stream_format.write(grown(more), "content_block_delta")

    def begin_block(self, wire: dict[str, Any]) -> None:
        growth = growth_of(wire)
        start = wire if growth is None else {**wire, growth[0]: {} if growth[0] == "input" else ""}
        if growth is not None and start.get("signature"):
            start["signature"] = ""
        if start.get("citations").__class__ is list:
            start = {**start, "citations": []}
        event = {"type": "content_block_start", "index": self.count, "content_block": start}
        self.put(event, "content_block_start")

    def end_block(self, wire: dict[str, Any], *, sent: int = 0, is_complete: bool = True) -> None:
        growth = growth_of(wire)
        if growth is not None:
            field, delta, text = growth
            value = wire[field]
            if isinstance(value, str):
                left = value[sent:]
            else:
                left = write(value).decode() if value and not sent else ""
            if left:
                self._delta({"type": delta, text: left})
        for citation in list_of(wire, "citations"):
            self._delta({"type": "citations_delta", "citation": citation})
        if growth is not None and wire.get("signature"):
            self._delta({"type": "signature_delta", "signature": wire["signature"]})
        if is_complete:
            self.put({"type": "content_block_stop", "index": self.count}, "content_block_stop")
        self.count += 1

    def _delta(self, delta: dict[str, Any]) -> None:
        self.put({"type": "content_block_delta", "index": self.count, "delta": delta}, "content_block_delta")

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
            known = self.encode_envelope(event)
            # Send what was received before the error: the tokens, and the finish reason if there is one.
            counted = {**self._head["usage"], **object_of(known, "usage")}
            if event.response.finish_reason is not None or counted != self._head["usage"]:
                self._end_message(known)
        if "error" in payload:
            self.put({"type": "error", **payload}, "error")
        else:
            self.put(*exception_of(payload))


def _is_object(content: Any, value: Any) -> bool:
    """Return whether the input is the call's arguments unchanged. Free text is not: it is inside an object."""
    arguments = getattr(content, "arguments", None)
    return bool(value == (arguments or {}))


def begun(wire: dict[str, Any]) -> dict[str, Any]:
    """Return the start of a block with the text that it grows by, which may be missing while it is empty."""
    growth = GROWTH.get(text_of(wire, "type"))
    return wire if growth is None else {"type": wire["type"], growth[0]: "", **wire}


def growth_of(wire: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return how a block grows: its field, and the type and the field of the delta; None if it does not grow."""
    if wire.get("input").__class__ in (dict, str):
        return "input", "input_json_delta", "partial_json"
    growth = GROWTH.get(text_of(wire, "type"))
    return growth if growth is not None and isinstance(wire.get(growth[0]), str) else None
