"""Encode streams of the Chat API v2: contents, plan and calls as they grow, with their citations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from contentmodel.authoring import (
    TEXT_HERE,
    BlockEncoder,
    BlockParts,
    NamedEvent,
    OutgoingBlock,
    Written,
    list_of,
    object_of,
    objects_of,
    reasons,
    text_of,
)
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.cohere.stream import GROWTH, LISTED
from contentmodel_adapters.cohere.table import PLAN, TYPES

EMPTY: dict[str, Any] = {"role": "assistant", "content": [], PLAN: "", "tool_calls": [], "citations": []}


KINDS = {"content": "content", "tool_calls": "tool-call", PLAN: "tool-plan"}
"""The first part of the types of events, by the field of the message."""


class Encoder(BlockEncoder):
    """Encode one answer as the events of the API. Contents and calls are numbered apart; a plan has only deltas."""

    argument_texts = True
    empty_text: ClassVar[dict[str, Any]] = {"content": {"type": "text", "text": ""}}

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._head: dict[str, Any] = {}
        self._contents: list[str] = []
        """The types of the contents that were begun."""
        self._calls = 0
        self._citations = 0

    def begin(self, payload: dict[str, Any]) -> None:
        self._head = {"id": text_of(payload, "id")}
        self.put({**self._head, "type": "message-start", "delta": {"message": EMPTY}}, "message-start")

    # -- blocks ------------------------------------------------------------------------------------------------

    def encode(self, contents: list[Any], **options: Any) -> list[dict[str, Any]]:
        return _blocks_of(super().encode(contents, **options))

    def parts_of(self, wire: dict[str, Any]) -> BlockParts:
        cited = tuple({"citations": citation} for citation in list_of(wire, "citations"))
        if PLAN in wire:
            return BlockParts(None, {PLAN: TEXT_HERE}, wire[PLAN], cited)
        if "tool_calls" in wire:
            function = object_of(wire["tool_calls"], "function")
            start = {"tool_calls": {**wire["tool_calls"], "function": {**function, "arguments": ""}}}
            return BlockParts(
                start, {"tool_calls": {"function": {"arguments": TEXT_HERE}}}, text_of(function, "arguments")
            )
        part, tag = wire["content"], text_of(wire["content"], "type")
        if tag not in GROWTH:
            return BlockParts({"content": part}, rest=cited)
        return BlockParts({"content": {**part, tag: ""}}, {"content": {tag: TEXT_HERE}}, text_of(part, tag), cited)

    def begin_block(self, wire: dict[str, Any], parts: BlockParts, block: OutgoingBlock | None = None) -> None:
        if "content" in wire:
            self.count = len(self._contents)
            self._contents.append(text_of(wire["content"], "type"))
        elif "tool_calls" in wire:
            self.count = self._calls
            self._calls += 1
        super().begin_block(wire, parts, block)

    def start_event(self, start: dict[str, Any]) -> NamedEvent:
        return self._event("start", start)

    def delta_event(self, delta: dict[str, Any]) -> NamedEvent:
        return self._event("delta", delta)

    def _event(self, kind: str, message: dict[str, Any]) -> NamedEvent:
        (key,) = message
        place = {} if key == PLAN else {"index": self.count}
        kind = f"{KINDS[key]}-{kind}"
        return {"type": kind, **place, "delta": {"message": message}}, kind

    def put_delta(self, delta: dict[str, Any]) -> None:
        # Citations are the only deltas after a text.
        located = {"citations": self._located(delta["citations"])}
        self.put({"type": "citation-start", "index": self._citations, "delta": {"message": located}}, "citation-start")
        self.put({"type": "citation-end", "index": self._citations}, "citation-end")
        self._citations += 1

    def _located(self, citation: Any) -> Any:
        """Return a citation of the block that is written, with the block's place if it is not the usual one."""
        if citation.__class__ is not dict or citation.get("type") == TYPES[PLAN]:
            return citation
        tag = self._contents[self.count]
        if "content_index" not in citation and self._contents.index(tag) == self.count:
            return citation
        return {**citation, "type": TYPES[tag], "content_index": self.count}

    def stop_block(self, wire: dict[str, Any], *, is_complete: bool) -> None:
        if is_complete and PLAN not in wire:
            kind = "content-end" if "content" in wire else "tool-call-end"
            self.put({"type": kind, "index": self.count}, kind)

    def amend(self, index: int, content: Any, written: Written) -> None:
        if written.call is not None:
            self.report_loss((written.choice, index), content, reasons.CHANGED_AFTER_WRITE)
            return
        self.count = written.place
        for wire in self.encode([content], places=[(written.choice, index)]):
            parts = self.parts_of(wire)
            if parts.growth is not None and parts.text[written.sent :]:
                self.put_growth(parts.growth, parts.text[written.sent :])
                written.sent = len(parts.text)
            for delta in parts.rest[written.cited :]:
                self.put_delta(delta)
        written.cited = max(written.cited, len(content.annotations or ()))

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        payload = self.encode_envelope(event)
        if event.response.finish_reason is None and self._calls and self.completes:
            payload["finish_reason"] = "TOOL_CALL"
        self._end_message(payload)
        self.put_raw(b"data: [DONE]\n\n")

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        known = self.encode_envelope(event) if self._head else {}
        self._end_message({**known, "finish_reason": "ERROR"}, error=payload.get("message", ""))

    def _end_message(self, payload: dict[str, Any], **more: Any) -> None:
        """Write the finish reason, the usage, and the fields that belong to no block."""
        # An error in the delta would be a failure.
        delta = {key: value for key, value in payload.items() if key not in ("id", "message", "error")}
        around = {"error": payload["error"]} if "error" in payload else {}
        message = object_of(payload, "message")
        rest = {key: value for key, value in message.items() if key not in ("role", *LISTED)}
        beside = {"message": rest} if rest else {}
        self.put({**around, "type": "message-end", "delta": {**delta, **beside, **more}}, "message-end")


def _blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the plan, contents and calls of a message, each as a message of its own. All have its citations."""
    cited = {"citations": message["citations"]} if "citations" in message else {}
    plan = [{PLAN: message[PLAN], **cited}] if isinstance(message.get(PLAN), str) else []
    contents = [{"content": part, **cited} for part in objects_of(message, "content")]
    return [*plan, *contents, *({"tool_calls": call} for call in objects_of(message, "tool_calls"))]
