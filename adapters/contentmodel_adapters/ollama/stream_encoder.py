"""Encode streams: a line for each piece of a text, for each call and image, and a last line with `"done": true`."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import TEXT_HERE, JoiningEncoder, OutgoingBlock, growing_event
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.ollama.table import BETWEEN, TEXTS

_HEAD = ("model", "created_at")


class Encoder(JoiningEncoder):
    """Write the lines of one answer: texts and reasoning as they grow, the rest whole."""

    _head: dict[str, Any]
    _has_thought = False

    def begin(self, payload: dict[str, Any]) -> None:
        self._head = {key: payload[key] for key in _HEAD if key in payload}

    def _event(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**self._head, "message": {"role": "assistant", "content": "", **message}, "done": False}

    def open_block(self, block: OutgoingBlock) -> None:
        message = self.encode_start(block.content)
        field = next((field for field in TEXTS if message.get(field)), None) or self._growing_field(block)
        if field is None or field not in message:
            return
        grow = growing_event(self.stream_format, self._event({field: TEXT_HERE}))
        if field == "content":
            block.grow = self.joining(block, grow)
        else:
            block.grow = grow
            if self._has_thought:
                self.put_raw(grow(BETWEEN))
            self._has_thought = True
        self.write_begun(block)

    def _growing_field(self, block: OutgoingBlock) -> str | None:
        return next((field for field, model in TEXTS.items() if block.content.__class__ is model), None)

    def close_block(self, block: OutgoingBlock) -> None:
        message = {key: value for key, value in self.encode_block(block).items() if key != "role"}
        if block.grow is not None:
            self.write_rest(block, getattr(block.content, "text", None))
        if message.get("content"):
            message["content"] = self.add_text(block, message["content"])
        for field in TEXTS if block.grow is not None else ():
            message.pop(field, None)
        if any(message.values()):
            self.put(self._event(message))

    def put_message(self, choice: int, message: dict[str, Any]) -> None:
        self.put(self._event(message))

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        self.note_envelope(self.adapter.encode_response(event.response, self._policies))
        self.put({"error": payload.get("error") or "error"})

    def finish(self, event: TurnComplete) -> None:
        payload = self.encode_envelope(event)
        message = payload.pop("message", None) or {"role": "assistant"}
        self.put({**self._head, **payload, "message": {"content": "", **message}, "done": True})
