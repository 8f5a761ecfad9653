"""Streams: lines with pieces of texts, or with whole calls and images. The last line has `"done": true`."""

from __future__ import annotations

from itertools import chain
from typing import Any

from contentmodel.authoring import (
    TEXT_HERE,
    BlockState,
    JoiningEncoder,
    OutgoingBlock,
    ReasoningDelta,
    StreamDecoder,
    TextDelta,
    growing_event,
    kind_of,
    list_of,
    merge_into,
    minted_id,
)
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import TurnComplete, TurnError
from contentmodel.pairs import new_ids
from contentmodel.response import ChatResponse
from contentmodel_adapters.ollama.table import API, BETWEEN, CALLS, TEXTS, USAGE, id_of_answer, image

# -- reading -----------------------------------------------------------------------------------------------------------

_FIRST = ("model", "created_at")
"""Fields that keep their first value: each line has another `created_at`."""
_COUNTERS = tuple(USAGE.known_keys())
_DELTAS = {"thinking": ReasoningDelta, "content": TextDelta}
_LISTS = ("images", "tool_calls")


class Decoder(StreamDecoder):
    """Read the lines of one answer."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._message: dict[str, Any] | None = None
        """The fields of the message that are not blocks."""
        self._texts: dict[str, BlockState] = {}
        self._lists: dict[str, list[BlockState]] = {name: [] for name in _LISTS}
        self._open: BlockState | None = None
        self._taken: set[str] = set()
        self._ids: Any = None

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        if "error" in wire and "message" not in wire:
            self.fail_with(wire)
            return
        message, logprobs = wire.pop("message", None), wire.pop("logprobs", None)
        merge_into(self.answer, wire, _FIRST)
        if logprobs is not None:
            self.answer["logprobs"] = [*list_of(self.answer, "logprobs"), *list_of({"new": logprobs}, "new")]
        self.begin(dict(self.answer))
        counters = {key: wire[key] for key in _COUNTERS if key in wire}
        if counters:
            self.count(USAGE, counters)
        if message is not None:
            if message.__class__ is not dict:
                raise DecodeError(API, [Fault("$.message", f"expected an object, got {kind_of(message)}")])
            self._read_message(message)
        if wire.get("done") is True:
            self.finish()

    def _read_message(self, message: dict[str, Any]) -> None:
        fields = self._message = {"role": "assistant"} if self._message is None else self._message
        for key, value in message.items():
            if key in TEXTS and value.__class__ is str:
                self._add_text(fields, key, value)
            elif key in _LISTS and value.__class__ is list and value:
                for item in value:
                    self._add_item(key, item)
            else:
                merge_into(fields, {key: value}, ("role",))

    def _add_text(self, fields: dict[str, Any], key: str, text: str) -> None:
        if not text:
            fields.setdefault(key, "")
            return
        block = self._texts.get(key)
        if block is None:
            self._stop_open()
            block = self._texts[key] = self._open = self.start({}, TEXTS[key](text=""))
        if block is self._open:
            self.more(block, "text", text, _DELTAS[key])
        else:
            # The block has stopped already. `finish` gives it the whole text.
            block.grow("text", text)

    def _add_item(self, key: str, item: Any) -> None:
        self._stop_open()
        if key == "images" and item.__class__ is not str:
            raise DecodeError(API, [Fault("$.message.images", f"expected base64, got {kind_of(item)}")])
        content = image(item) if key == "images" else self._call(item)
        block = self.whole(content)
        block.wire = item
        self._lists[key].append(block)

    def _call(self, wire: Any) -> Any:
        context = self.context()
        call = CALLS.decode(wire, context)
        context.finish(wire)
        call_id = getattr(call, "call_id", "")
        if call_id is None:
            self._ids = self._ids or new_ids(self._taken, id_of_answer(self.answer))
            return minted_id(call, API, next(self._ids))
        self._taken.add(call_id)
        return call

    def _stop_open(self) -> None:
        """Complete the open text before another block begins, so that readers of the stream can use it."""
        if self._open is not None:
            block, self._open = self._open, None
            self.stop(block, block.emitted.__class__(text=block.merge_pieces()["text"]))

    def is_ready(self) -> bool:
        return self.answer.get("done") is True

    def merged(self) -> dict[str, Any]:
        if self._message is None:
            return self.answer
        texts = {key: block.merge_pieces()["text"] for key, block in self._texts.items()}
        lists = {key: [block.wire for block in blocks] for key, blocks in self._lists.items() if blocks}
        return {**self.answer, "message": {**self._message, **texts, **lists}}

    def blocks_of(self, response: ChatResponse) -> list[list[BlockState]]:
        texts = [self._texts[key] for key in TEXTS if key in self._texts]
        return [[*texts, *chain.from_iterable(self._lists.values())] for _ in response.choices]


# -- writing -----------------------------------------------------------------------------------------------------------


class Encoder(JoiningEncoder):
    """Write the lines of one answer: texts and reasoning as they grow, the rest whole."""

    _head: dict[str, Any]
    _has_thought = False

    def begin(self, payload: dict[str, Any]) -> None:
        self._head = {key: payload[key] for key in _FIRST if key in payload}

    def _event(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**self._head, "message": {"role": "assistant", "content": "", **message}, "done": False}

    def open_block(self, block: OutgoingBlock) -> None:
        message = self.encode_start(block.content)
        growing = (field for field, model in TEXTS.items() if block.content.__class__ is model)
        field = next((field for field in TEXTS if message.get(field)), None) or next(growing, None)
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
