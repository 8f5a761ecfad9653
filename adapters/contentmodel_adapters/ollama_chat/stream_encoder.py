"""Encode streams: a line for each piece of a text, for each call and image, and a last line with `"done": true`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    JoiningEncoder,
    OutgoingBlock,
    WireEvent,
    Written,
    growing,
    is_incomplete_call,
    reasons,
    write,
)
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.ollama_chat.blocks import BETWEEN, TEXTS

_HEAD = ("model", "created_at")


class Encoder(JoiningEncoder):
    """Write the lines of one answer: texts and reasoning as they grow, the rest whole."""

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._head: dict[str, Any] = {}
        self._has_thought = False

    def begin(self, payload: dict[str, Any]) -> None:
        self._head = {key: payload[key] for key in _HEAD if key in payload}

    def _line(self, message: dict[str, Any]) -> None:
        self.put({**self._head, "message": {"role": "assistant", "content": "", **message}, "done": False})

    def open_block(self, block: OutgoingBlock) -> None:
        message = self.encode_start(block.content)
        field = next((field for field in TEXTS if message.get(field)), None) or self._growing_field(block)
        if field is None or field not in message:
            return
        before = write({**self._head, "message": {"role": "assistant"}})[:-2]
        empty = b"" if field == "content" else b',"content":""'
        grow = growing(b'%b%b,"%b":' % (before, empty, field.encode()), b'},"done":false}\n')
        if field == "content":
            block.grow = self.texts_of(block).beginning(block, grow) if self.completes else grow
        else:
            block.grow = grow
            if self._has_thought:
                self.put_raw(grow(BETWEEN))
            self._has_thought = True
        self.write_begun(block)

    def _growing_field(self, block: OutgoingBlock) -> str | None:
        return next((field for field, model in TEXTS.items() if block.content.__class__ is model), None)

    def close_block(self, block: OutgoingBlock) -> None:
        if is_incomplete_call(block):
            self.report_loss((block.choice, block.index), block.content, reasons.INTERRUPTED_CALL)
            return
        message = {key: value for key, value in self.encode_block(block).items() if key != "role"}
        texts = self.texts_of(block)
        if block.grow is not None and block.left(block.content.text):
            self.write_text(block, block.left(block.content.text))
        if message.get("content"):
            message["content"] = texts.add(message["content"])
            # A content of another type that is written as text starts a separate text.
            self.start(block)
        for field in TEXTS if block.grow is not None else ():
            message.pop(field, None)
        if any(message.values()):
            self._line(message)

    def amend(self, index: int, content: Any, written: Written) -> None:
        text = getattr(content, "text", None)
        if isinstance(text, str) and text[written.sent :]:
            message = self.encode([content.__class__(text=text[written.sent :])], places=[(written.choice, index)])
            self._line({key: value for key, value in message.items() if key != "role"})
            written.sent = len(text)
        elif written.call is not None:
            self.report_loss((written.choice, index), content, reasons.CHANGED_AFTER_WRITE)

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        self.note_envelope(self.adapter.encode_response(event.response, self._policies))
        self.put({"error": payload.get("error") or "error"})

    def finish(self, event: TurnComplete) -> None:
        payload = self.encode_envelope(event)
        message = payload.pop("message", None) or {"role": "assistant"}
        self.put({**self._head, **payload, "message": {"content": "", **message}, "done": True})

    def wire_event(self, event: WireEvent) -> None:
        self.put(event.data, event.name)
