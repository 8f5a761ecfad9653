"""Streams of the Chat API v2: events for the contents, the plan, the calls and the citations of one message.

Sources: cohere 7.3.1, v2/types/v2chat_stream_response.py, and recorded streams; seen November 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from contentmodel.authoring import (
    TEXT_HERE,
    ArgumentsDelta,
    BlockEncoder,
    BlockParts,
    BlockState,
    CitationDelta,
    NamedEvent,
    OutgoingBlock,
    ReasoningDelta,
    StreamDecoder,
    TextDelta,
    Written,
    hints,
    list_of,
    merge_into,
    object_of,
    objects_of,
    place_at,
    reasons,
    text_of,
)
from contentmodel.content.citations import Citation
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel.response import ChatResponse
from contentmodel_adapters.cohere.table import (
    ANSWER_CONTENT,
    API,
    AT_PLAN,
    CALLS,
    CITED,
    COLUMNS,
    PLAN,
    TABLE,
    TYPES,
    USAGE,
    decode_citation,
    place_of,
)

# -- reading -----------------------------------------------------------------------------------------------------------

GROWTH: dict[str, Any] = {"text": TextDelta, "thinking": ReasoningDelta}
"""The fields of contents that grow, with their events."""
LISTED = ("content", "tool_calls", "citations", PLAN)
"""The fields of a message that have events of their own."""


class Decoder(StreamDecoder):
    """Decode one answer event by event."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._message: dict[str, Any] = {}
        """The fields of the message that have no events."""
        self._plan: BlockState | None = None
        self._contents: dict[int, BlockState] = {}
        self._calls: dict[int, BlockState] = {}
        self._citations: list[Any] = []

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        kind = wire.get("type")
        if isinstance(kind, str) and kind in READERS:
            READERS[kind](self, wire, object_of(object_of(wire, "delta"), "message"))
        elif kind is None and isinstance(wire.get("message"), str):
            self.fail_with(wire)
        else:
            self.wire_event(name, wire)

    # -- the message -------------------------------------------------------------------------------------------

    def _begin(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        merge_into(self.answer, {key: value for key, value in wire.items() if key not in ("type", "delta")})
        merge_into(self._message, {key: value for key, value in message.items() if key not in LISTED})
        self.begin(dict(self.answer))
        # The lists are usually empty here, and their elements follow.
        for index, part in enumerate(objects_of(message, "content")):
            self._start_content({"index": index}, {"content": part})
        if message.get(PLAN):
            self._grow_plan(wire, message)
        for index, call in enumerate(objects_of(message, "tool_calls")):
            self._start_call({"index": index}, {"tool_calls": call})
        for citation in list_of(message, "citations"):
            self._cite(wire, {"citations": citation})

    def _finish(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        delta = object_of(wire, "delta")
        ending = {key: value for key, value in delta.items() if key not in ("message", "error")}
        beside = {key: value for key, value in wire.items() if key not in ("type", "delta")}
        merge_into(self.answer, {**beside, **ending}, ("id",))
        merge_into(self._message, message)
        self.count(USAGE, delta.get("usage"))
        if isinstance(delta.get("error"), str):
            # The error replaces the finish reason.
            self.answer.pop("finish_reason", None)
            self.fail_with({"message": delta["error"]})
        else:
            self.finish()

    # -- contents ----------------------------------------------------------------------------------------------

    def _start_content(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        part = object_of(message, "content")
        self._stop_last()
        index = place_at(wire, "index", API)
        empty = {**part, **{key: "" for key in GROWTH if isinstance(part.get(key), str)}}
        self._contents[index] = self.start(empty, self._decoded("content", empty))
        self._grow_content({"index": index}, {"content": {key: part[key] for key in GROWTH if part.get(key)}})

    def _grow_content(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        index, part = place_at(wire, "index", API), object_of(message, "content")
        if index not in self._contents:
            tag = next((key for key in GROWTH if key in part), "text")
            self._start_content({"index": index}, {"content": {"type": tag, tag: ""}})
        block = self._contents[index]
        for key, value in part.items():
            if key in GROWTH and isinstance(value, str):
                self._lengthen(block, key, value, GROWTH[key], is_only=len(part) == 1 and len(wire) <= 3)
            else:
                merge_into(block.wire, {key: value})
        if wire.get("logprobs") is not None:
            self.answer["logprobs"] = [*list_of(self.answer, "logprobs"), wire["logprobs"]]

    def _decoded(self, column: str, wire: dict[str, Any]) -> Any:
        """Return the content of an element of a list. If it is unknown, a hint names the list."""
        content = (ANSWER_CONTENT if column == "content" else CALLS).decode(wire, self.context())
        return hints.COLUMN.on(content, API, column) if content.__class__ is UnknownContent else content

    def _lengthen(self, block: BlockState, field: str, text: str, event: Any, *, is_only: bool) -> None:
        pieces = block.pieces.setdefault(field, [])
        pieces.append(text)
        if is_only:
            self.grew(block, pieces, text, event)
        elif self.deltas and text:
            self.emit(event(index=block.index, text=text))

    def _stop_content(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        index = place_at(wire, "index", API)
        block = self._contents.get(index)
        if block is not None:
            content = self._decoded("content", block.merge_pieces())
            self.stop(block, self._cited(content, index))

    def _cited(self, content: Any, place: int) -> Any:
        """Return a content with the citations that were received for it."""
        citations: list[Citation] = []
        for wire in self._citations if isinstance(content, CITED) else ():
            if self._place_of(wire) == place:
                citations += decode_citation(wire, self.context())
        return msgspec.structs.replace(content, annotations=citations) if citations else content

    def _stop_last(self) -> None:
        """Stop the plan before another block starts, so that readers of the stream can use it."""
        if self._plan is not None:
            self.stop(self._plan, self._cited(self._plan_content(), AT_PLAN))

    # -- the plan ----------------------------------------------------------------------------------------------

    def _grow_plan(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        text = message.get(PLAN)
        if not isinstance(text, str):
            return
        if self._plan is None:
            self._plan = self.start({PLAN: ""}, self._plan_content())
        self._lengthen(self._plan, PLAN, text, ReasoningDelta, is_only=len(message) == 1 and len(wire) == 2)

    def _plan_content(self) -> Any:
        text = "" if self._plan is None else self._plan.merge_pieces()[PLAN]
        return ReasoningContent(text=text, kind="plan", extra=hints.COLUMN.extra(API, PLAN))

    # -- calls -------------------------------------------------------------------------------------------------

    def _start_call(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        self._stop_last()
        call = self._object(message, "tool_calls")
        text = object_of(call, "function").get("arguments")
        call = {**call, "function": {"name": "", **object_of(call, "function"), "arguments": ""}}
        index = place_at(wire, "index", API)
        self._calls[index] = self.start(call, self._decoded("tool_calls", {"id": "", **call}))
        if text:
            self._grow_call(wire, {"tool_calls": {"function": {"arguments": text}}})

    def _grow_call(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        index, call = place_at(wire, "index", API), self._object(message, "tool_calls")
        function = object_of(call, "function")
        if index not in self._calls:
            self._start_call({"index": index}, {"tool_calls": {}})
        block = self._calls[index]
        merge_into(block.wire, {key: value for key, value in call.items() if key != "function"})
        merge_into(block.wire["function"], {key: value for key, value in function.items() if key != "arguments"})
        if isinstance(function.get("arguments"), str):
            is_only = len(call) == len(function) == 1 and len(wire) == 3
            self._lengthen(block, "function.arguments", function["arguments"], ArgumentsDelta, is_only=is_only)

    def _stop_call(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        block = self._calls.get(place_at(wire, "index", API))
        if block is not None:
            block.merge_pieces()
            self.stop(block, self._decoded("tool_calls", block.wire))

    def _object(self, message: dict[str, Any], key: str) -> dict[str, Any]:
        """Return the object at a key, or the only element of a list there."""
        value = message.get(key)
        return value[0] if isinstance(value, list) and len(value) == 1 else object_of(message, key)

    # -- citations ---------------------------------------------------------------------------------------------

    def _cite(self, wire: dict[str, Any], message: dict[str, Any]) -> None:
        value = message.get("citations")
        for citation in value if isinstance(value, list) else [value]:
            if citation is None:
                continue
            self._citations.append(citation)
            place = self._place_of(citation)
            block = self._plan if place == AT_PLAN else self._contents.get(-1 if place is None else place)
            if block is not None and block.index in self._unstopped:
                for decoded in decode_citation(citation, self.context()):
                    self.emit(CitationDelta(index=block.index, citation=decoded))

    def _place_of(self, citation: Any) -> int | None:
        if not isinstance(citation, dict) or "source" in citation:
            return None
        tags = [self._contents[index].wire.get("type") for index in sorted(self._contents)]
        place = place_of(citation, tags, has_plan=self._plan is not None)
        return place if place in (None, AT_PLAN) else sorted(self._contents)[place]

    # -- the end -----------------------------------------------------------------------------------------------

    def done(self) -> None:
        # The marker [DONE] ends the answer, even without a message-end.
        if self.answer or self._message or self._contents or self._calls:
            self.finish()

    def merged(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", **self._message}
        if self._plan is not None:
            message |= self._plan.merge_pieces()
        if self._contents:
            message["content"] = [self._contents[index].merge_pieces() for index in sorted(self._contents)]
        if self._calls:
            for block in self._calls.values():
                block.merge_pieces()
            message["tool_calls"] = [self._calls[index].wire for index in sorted(self._calls)]
        if self._citations:
            message["citations"] = self._citations
        return {**self.answer, "message": message}

    def blocks_of(self, response: ChatResponse) -> list[list[BlockState]]:
        # An empty plan is no content.
        plan = [] if self._plan is None or not COLUMNS[PLAN].holds(self._plan.wire[PLAN]) else [self._plan]
        contents = [self._contents[index] for index in sorted(self._contents)]
        return [[*plan, *contents, *(self._calls[index] for index in sorted(self._calls))]]


READERS: dict[str, Callable[[Decoder, dict[str, Any], dict[str, Any]], None]] = {
    "message-start": Decoder._begin,
    "content-start": Decoder._start_content,
    "content-delta": Decoder._grow_content,
    "content-end": Decoder._stop_content,
    "tool-plan-delta": Decoder._grow_plan,
    "tool-call-start": Decoder._start_call,
    "tool-call-delta": Decoder._grow_call,
    "tool-call-end": Decoder._stop_call,
    "citation-start": Decoder._cite,
    "citation-end": lambda decoder, wire, message: None,
    "message-end": Decoder._finish,
}
"""The reader of each event, by its type."""
TABLE.known_values("stream event", *READERS, "debug")


# -- writing -----------------------------------------------------------------------------------------------------------

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
        message = super().encode(contents, **options)
        # Each block is a message of its own. All but calls have the citations.
        cited = {"citations": message["citations"]} if "citations" in message else {}
        plan = [{PLAN: message[PLAN], **cited}] if isinstance(message.get(PLAN), str) else []
        parts = [{"content": part, **cited} for part in objects_of(message, "content")]
        return [*plan, *parts, *({"tool_calls": call} for call in objects_of(message, "tool_calls"))]

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
        citation = delta["citations"]
        if citation.__class__ is dict and citation.get("type") != TYPES[PLAN]:
            tag = self._contents[self.count]
            if "content_index" in citation or self._contents.index(tag) != self.count:
                citation = {**citation, "type": TYPES[tag], "content_index": self.count}
        located = {"message": {"citations": citation}}
        self.put({"type": "citation-start", "index": self._citations, "delta": located}, "citation-start")
        self.put({"type": "citation-end", "index": self._citations}, "citation-end")
        self._citations += 1

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
        envelope = self.encode_envelope(event) if self._head else {}
        self._end_message({**envelope, "finish_reason": "ERROR"}, error=payload.get("message", ""))

    def _end_message(self, payload: dict[str, Any], **more: Any) -> None:
        """Write the finish reason, the usage, and the fields that belong to no block."""
        # An error in the delta would be a failure.
        delta = {key: value for key, value in payload.items() if key not in ("id", "message", "error")}
        around = {"error": payload["error"]} if "error" in payload else {}
        message = object_of(payload, "message")
        other_fields = {key: value for key, value in message.items() if key not in ("role", *LISTED)}
        beside = {"message": other_fields} if other_fields else {}
        self.put({**around, "type": "message-end", "delta": {**delta, **beside, **more}}, "message-end")
