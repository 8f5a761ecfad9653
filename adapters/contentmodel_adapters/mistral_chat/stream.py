"""Decode streams: chunks with deltas for the message of each choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel import ChatResponse
from contentmodel.authoring import (
    ArgumentsDelta,
    BlockState,
    ChoiceOrder,
    ReasoningDelta,
    StreamDecoder,
    TextDelta,
    UnknownDelta,
    contents_of,
    list_of,
    merge_into,
    object_of,
)
from contentmodel_adapters.mistral_chat.blocks import CALLS, PARTS, USAGES, is_text

ANSWER = "chat.completion"


def without_text(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part without its text."""
    if part["type"] == "thinking":
        return {**part, "thinking": []}
    return {**part, "text": ""} if part["type"] == "text" else part


class Message:
    """The message of one choice so far: its parts, its calls, and its other fields."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.choice: dict[str, Any] = {}
        self.fields: dict[str, Any] = {}
        self.parts: list[BlockState] = []
        self.calls: list[BlockState] = []
        self.places: dict[int, BlockState] = {}
        self.is_list = False

    def wire(self) -> dict[str, Any]:
        """Return the choice in the form of an answer that is not streamed."""
        parts: Any = [block.wire for block in self.parts]
        if len(parts) == 1 and not self.is_list and is_text(parts[0]):
            parts = parts[0]["text"]
        message = {"role": "assistant", **self.fields}
        message |= {"content": parts} if parts else {}
        message |= {"tool_calls": [block.wire for block in self.calls]} if self.calls else {}
        return {**self.choice, "message": message}


class Decoder(StreamDecoder):
    """Read the chunks of one answer."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._order = ChoiceOrder(Message)
        self._messages = self._order.choices

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        if "choices" not in wire:
            if "message" in wire:
                self.fail_with(wire)
            else:
                self.wire_event(name, wire)
            return
        head = {key: value for key, value in wire.items() if key not in ("choices", "object", "p")}
        merge_into(self.answer, head, ("id", "created", "model"))
        self.begin({"object": ANSWER, **self.answer})
        self.count(USAGES, head.get("usage"))
        for choice in wire["choices"]:
            for ready in self._order.take(choice.get("index", 0), choice):
                self._read_choice(ready)

    def read_rest(self) -> None:
        for choice in self._order.rest():
            self._read_choice(choice)

    def _read_choice(self, choice: dict[str, Any]) -> None:
        message = self._order.begin(choice.get("index", 0))
        for key, value in choice.items():
            if key == "delta":
                self._read_delta(message, value)
            elif value is not None or key not in ("finish_reason", "logprobs"):
                merge_into(message.choice, {key: value})

    def _read_delta(self, message: Message, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if key == "content" and isinstance(value, list):
                for part in value:
                    message.is_list = message.is_list or part.get("type") == "text"
                    self._read_part(message, part)
            elif key == "content" and value:
                self._read_part(message, {"type": "text", "text": value})
            elif key == "tool_calls" and value:
                for call in value:
                    self._read_call(message, call)
            elif key not in ("role", "index"):
                merge_into(message.fields, {key: value})

    def _read_part(self, message: Message, part: dict[str, Any]) -> None:
        """Append to the last part if it is of the same type, else begin another one."""
        kind = part["type"]
        last = message.parts[-1] if message.parts else None
        if last is None or kind not in ("text", "thinking") or last.wire["type"] != kind:
            self._stop_last(message)
            wire = without_text(part)
            begun = {key: value for key, value in wire.items() if key != "thinking"}
            last = self.start(wire, PARTS.decode(begun, self.context()), message.number)
            message.parts.append(last)
        merge_into(last.wire, {key: value for key, value in part.items() if key not in ("text", "thinking")})
        if kind == "text":
            self.append(last, last.wire, "text", part["text"], TextDelta)
        for inner in list_of(part, "thinking") if kind == "thinking" else ():
            before = last.wire["thinking"]
            if not before or not is_text(before[-1]) or not is_text(inner):
                before.append({**inner, "text": ""} if is_text(inner) else inner)
            if is_text(inner):
                self.append(last, before[-1], "text", inner["text"], ReasoningDelta)
            else:
                self.emit(UnknownDelta(index=last.index, api=self.api, delta=inner))

    def _stop_last(self, message: Message) -> None:
        """Complete the last part before another block begins, so that readers of the stream can use it."""
        if message.parts and not message.calls:
            self.stop(message.parts[-1], PARTS.decode(message.parts[-1].wire, self.context()))

    def _read_call(self, message: Message, call: dict[str, Any]) -> None:
        """Append to the call with this index, or begin another one. Most calls arrive whole."""
        function = object_of(call, "function")
        text = function.get("arguments")
        block = message.places.get(call.get("index", -1))
        is_same = "index" in call and block is not None and call.get("id") in (None, "", "null", block.wire.get("id"))
        if block is None or (function.get("name") and not is_same):
            self._stop_last(message)
            wire = {**call, "function": {**function, "arguments": "" if isinstance(text, str) else text}}
            block = self.start(wire, CALLS.decode(wire, self.context()), message.number)
            message.calls.append(block)
            message.places[call.get("index", -1)] = block
        if isinstance(text, str):
            self.append(block, block.wire["function"], "arguments", text, ArgumentsDelta)

    def is_ready(self) -> bool:
        messages = self._messages.values()
        return bool(messages) and all(message.choice.get("finish_reason") for message in messages)

    def done(self) -> None:
        # The marker [DONE] ends the answer, even without a finish reason.
        if self.answer:
            self.finish()

    def merged(self) -> dict[str, Any]:
        choices = [message.wire() for message in self._messages.values()]
        return {"object": ANSWER, **self.answer, "choices": choices}

    def blocks_of(self, response: ChatResponse) -> Iterator[list[BlockState]]:
        for message, choice in zip(self._messages.values(), response.choices, strict=True):
            contents = list(contents_of(choice.messages))
            blocks = [*message.parts, *message.calls]
            if len(contents) > len(blocks):
                # An empty text had no delta.
                blocks.insert(0, self.whole(contents[0], message.number))
            yield blocks
