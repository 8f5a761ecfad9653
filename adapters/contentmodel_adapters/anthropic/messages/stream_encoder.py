"""Encode streams of the Messages API: blocks are started, grown and stopped one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from contentmodel.authoring import (
    TEXT_HERE,
    BlockEncoder,
    BlockParts,
    NamedEvent,
    list_of,
    object_of,
    text_of,
    write,
)
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.anthropic.aws_errors import exception_of

# By the type of a block: its field that grows, and the type and the field of the delta.
GROWTH = {"text": ("text", "text_delta", "text"), "thinking": ("thinking", "thinking_delta", "thinking")}
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
            {"type": wire["type"], GROWTH[wire["type"]][0]: "", **wire} if text_of(wire, "type") in GROWTH else wire
            for wire in super().encode_start(content)
        ]

    def parts_of(self, wire: dict[str, Any]) -> BlockParts:
        citations, growth = list_of(wire, "citations"), growth_of(wire)
        start = {**wire, "citations": []} if wire.get("citations").__class__ is list else wire
        rest = [{"type": "citations_delta", "citation": citation} for citation in citations]
        if growth is None:
            return BlockParts(start, rest=tuple(rest))
        field, delta, key = growth
        if wire.get("signature"):
            start = {**start, "signature": ""}
            rest.append({"type": "signature_delta", "signature": wire["signature"]})
        text = wire[field] if isinstance(wire[field], str) else write(wire[field]).decode() if wire[field] else ""
        start = {**start, field: {} if field == "input" else ""}
        return BlockParts(start, {"type": delta, key: TEXT_HERE}, text, tuple(rest))

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
            known = self.encode_envelope(event)
            # Send what was received before the error: the tokens, and a finish reason of this API.
            counted = {**self._head["usage"], **object_of(known, "usage")}
            if (self.is_native and event.response.finish_reason is not None) or counted != self._head["usage"]:
                self._end_message(known)
        if "error" in payload:
            self.put({"type": "error", **payload}, "error")
        else:
            self.put(*exception_of(payload))


def growth_of(wire: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return how a block grows: its field, and the type and the field of the delta; None if it does not grow."""
    if wire.get("input").__class__ in (dict, str):
        return "input", "input_json_delta", "partial_json"
    growth = GROWTH.get(text_of(wire, "type"))
    return growth if growth is not None and isinstance(wire.get(growth[0]), str) else None
