"""Encode streams of the Chat API v2: contents, plan and calls as they grow, with their citations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    TEXT_HERE,
    OutgoingBlock,
    StreamEncoder,
    Written,
    growing_event,
    list_of,
    object_of,
    objects_of,
    reasons,
    text_of,
)
from contentmodel.content.tools import ToolCallContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.cohere_chat.messages import PLAN, TYPES
from contentmodel_adapters.cohere_chat.stream import GROWTH, LISTED

EMPTY: dict[str, Any] = {"role": "assistant", "content": [], PLAN: "", "tool_calls": [], "citations": []}


class Encoder(StreamEncoder):
    """Encode one answer as the events of the API."""

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

    def _put(self, kind: str, index: int, message: dict[str, Any] | None = None) -> None:
        delta = {} if message is None else {"delta": {"message": message}}
        self.put({"type": kind, "index": index, **delta}, kind)

    def _growing(self, kind: str, index: int | None, *path: str) -> Any:
        """Return the function that writes more text of a block: the value at a path in the message."""
        message: Any = TEXT_HERE
        for key in reversed(path):
            message = {key: message}
        place = {} if index is None else {"index": index}
        return growing_event(self.stream_format, {"type": kind, **place, "delta": {"message": message}}, kind)

    # -- blocks ------------------------------------------------------------------------------------------------

    def open_block(self, block: OutgoingBlock) -> None:
        message = self.encode_start(block.content)
        parts, calls = objects_of(message, "content"), objects_of(message, "tool_calls")
        tag = text_of(parts[0], "type") if len(parts) == 1 else ""
        if tag in GROWTH:
            block.place = self._begin_content(parts[0], tag)
            block.grow = self._growing("content-delta", block.place, "content", tag)
        elif isinstance(message.get(PLAN), str):
            block.grow = self._growing("tool-plan-delta", None, PLAN)
        elif (
            len(calls) == 1
            and isinstance(block.content, ToolCallContent)
            and isinstance(calls[0].get("function"), dict)
        ):
            block.place = self._begin_call(calls[0])
            block.grow = self._growing("tool-call-delta", block.place, "tool_calls", "function", "arguments")
        else:
            return
        self.write_begun(block)

    def _begin_content(self, part: dict[str, Any], tag: str) -> int:
        self._put("content-start", len(self._contents), {"content": {**part, **({tag: ""} if tag in GROWTH else {})}})
        self._contents.append(tag)
        return len(self._contents) - 1

    def _begin_call(self, call: dict[str, Any]) -> int:
        function = {**object_of(call, "function"), "arguments": ""}
        self._put("tool-call-start", self._calls, {"tool_calls": {**call, "function": function}})
        self._calls += 1
        return self._calls - 1

    def close_block(self, block: OutgoingBlock) -> None:
        message = self.encode_block(block)
        if isinstance(message.get(PLAN), str):
            block.grow = block.grow or self._growing("tool-plan-delta", None, PLAN)
            self.write_rest(block, message[PLAN])
            self._cite(message, None)
        for part in objects_of(message, "content"):
            tag = text_of(part, "type")
            if block.grow is None:
                block.place = self._begin_content(part, tag)
                self._write_whole(block, "content-delta", part.get(tag), "content", tag)
            else:
                self.write_rest(block, part.get(tag))
            self._cite(message, block.place)
            self._put("content-end", block.place)
        for call in objects_of(message, "tool_calls"):
            text = object_of(call, "function").get("arguments")
            if block.grow is None:
                block.place = self._begin_call(call)
                self._write_whole(block, "tool-call-delta", text, "tool_calls", "function", "arguments")
            else:
                self.write_rest(block, text)
            self._put("tool-call-end", block.place)
        block.cited = len(block.content.annotations or ())

    def _write_whole(self, block: OutgoingBlock, kind: str, text: Any, *path: str) -> None:
        if isinstance(text, str) and text and path[-1] in (*GROWTH, "arguments"):
            self.put_raw(self._growing(kind, block.place, *path)(text))

    def _cite(self, message: dict[str, Any], place: int | None, after: int = 0) -> None:
        """Write the citations of a message with one content, which is at `place` in the stream."""
        for citation in list_of(message, "citations")[after:]:
            if place is not None and isinstance(citation, dict):
                first = self._contents.index(self._contents[place])
                if "content_index" in citation or first != place:
                    citation = {**citation, "type": TYPES[self._contents[place]], "content_index": place}
            self._put("citation-start", self._citations, {"citations": citation})
            self._put("citation-end", self._citations)
            self._citations += 1

    def amend(self, index: int, content: Any, written: Written) -> None:
        message = self.encode([content], places=[(written.choice, index)])
        parts = objects_of(message, "content")
        if written.call is not None:
            self.report_loss((written.choice, index), content, reasons.CHANGED_AFTER_WRITE)
            return
        for path, text in [
            *((("content", text_of(part, "type")), part.get(text_of(part, "type"))) for part in parts),
            ((PLAN,), message.get(PLAN)),
        ]:
            if isinstance(text, str) and text[written.sent :]:
                is_plan = path == (PLAN,)
                kind, place = ("tool-plan-delta", None) if is_plan else ("content-delta", written.place)
                self.put_raw(self._growing(kind, place, *path)(text[written.sent :]))
                written.sent = len(text)
        self._cite(message, written.place if parts else None, written.cited)
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
