"""Streams: chunks with deltas for the messages of each choice. The encoder writes calls whole, texts as they grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel import ChatResponse, HostedToolCallContent, HostedToolResultContent, ReasoningContent, TextContent
from contentmodel.authoring import (
    TEXT_HERE,
    ArgumentsDelta,
    BlockState,
    ChoiceOrder,
    JoiningEncoder,
    OutgoingBlock,
    ReasoningDelta,
    StreamDecoder,
    TextDelta,
    UnknownDelta,
    append_text,
    growing_event,
    list_of,
    merge_into,
    object_of,
)
from contentmodel_adapters.mistral.table import CALLS, PARTS, SEVERAL, USAGES, is_text

# -- reading -----------------------------------------------------------------------------------------------------------

ANSWER = "chat.completion"
WAITING = -1
"""The index of the block of a call that is not emitted yet."""


def without_text(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part without its text."""
    if part["type"] == "thinking":
        return {**part, "thinking": []}
    return {**part, "text": ""} if part["type"] == "text" else part


def add_content(message: dict[str, Any], more: Any) -> None:
    """Add to the content of a result: a text, or a list of parts."""
    content = message.get("content")
    if not content:
        message["content"] = [*more] if isinstance(more, list) else more
    elif isinstance(content, str) and isinstance(more, str):
        append_text(message, "content", more)
    elif more:
        message["content"] = _parts(content)
        message["content"] += _parts(more)


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


class Message:
    """One message of a choice so far: its parts, its calls, and its other fields."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.head: dict[str, Any] = {}
        """The role and the index."""
        self.fields: dict[str, Any] = {}
        self.parts: list[BlockState] = []
        self.calls: list[BlockState] = []
        self.places: dict[int, BlockState] = {}
        self.is_list = False
        self.blocks: list[BlockState] | None = None
        """The blocks in the order of the contents; None until they are known."""

    @property
    def is_held(self) -> bool:
        """Return whether calls wait for the next messages, which show whether Mistral ran them."""
        return "index" in self.head

    def wire(self) -> dict[str, Any]:
        parts: Any = [block.wire for block in self.parts]
        if len(parts) == 1 and not self.is_list and is_text(parts[0]):
            parts = parts[0]["text"]
        message = {"role": "assistant", **self.head, **self.fields}
        message |= {"content": parts} if parts else {}
        return message | ({"tool_calls": [block.wire for block in self.calls]} if self.calls else {})


class Choice:
    """One choice so far: its messages by their index, and its other fields. Most choices have one message."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.fields: dict[str, Any] = {}
        self.messages: dict[int, Message] = {}

    def wire(self) -> dict[str, Any]:
        """Return the choice in the form of an answer that is not streamed."""
        wires = [message.wire() for message in self.messages.values()]
        if len(wires) > 1 or any(wire["role"] == "tool" for wire in wires):
            return {**self.fields, "messages": wires}
        message = {key: value for wire in wires for key, value in wire.items() if key != "index"}
        return {**self.fields, "message": {**message, "role": "assistant"}}


class Decoder(StreamDecoder):
    """Read the chunks of one answer."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._order = ChoiceOrder(Choice)
        self._choices = self._order.choices

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

    def _read_choice(self, wire: dict[str, Any]) -> None:
        choice = self._order.begin(wire.get("index", 0))
        for key, value in wire.items():
            if key == "delta":
                self._read_delta(self._message(choice, value), value)
            elif value is not None or key not in ("finish_reason", "logprobs"):
                merge_into(choice.fields, {key: value})

    def _message(self, choice: Choice, delta: dict[str, Any]) -> Message:
        """Return the message that a delta belongs to. If it is new, and no result, the messages before it are over."""
        index = delta.get("index") or 0
        if index not in choice.messages:
            if choice.messages and delta.get("role") != "tool":
                self._end_messages(choice)
            choice.messages[index] = Message(choice.number)
        message: Message = choice.messages[index]
        message.head |= {key: value for key, value in delta.items() if key in ("role", "index") and value is not None}
        return message

    def _end_messages(self, choice: Choice) -> None:
        """Emit the calls and results that waited."""
        messages = [message for message in choice.messages.values() if message.blocks is None]
        wires = [message.wire() for message in messages]
        for message, decoded in zip(messages, SEVERAL.decode(wires, self.context(), {}, "messages"), strict=True):
            for block, content in zip(self._end_message(message, decoded.contents), decoded.contents, strict=False):
                self.stop(block, content)

    def _end_message(self, message: Message, contents: list[Any]) -> list[BlockState]:
        """Return the blocks of a message with these contents. Those that waited are started."""
        if message.blocks is None:
            begun = [call for call in message.calls if call.index >= 0]
            blocks = [*message.parts, *begun]
            waiting = 1 if message.head.get("role") == "tool" else len(message.calls) - len(begun)
            if len(contents) > len(blocks) + waiting:
                # An empty text had no delta.
                blocks.insert(0, self.whole(contents[0], message.number))
            if waiting:
                self._stop_part(message)
                blocks += [self.start({}, content, message.number) for content in contents[len(blocks) :]]
            message.blocks = blocks
        return message.blocks

    def _read_delta(self, message: Message, delta: dict[str, Any]) -> None:
        is_result = message.head.get("role") == "tool"
        for key, value in delta.items():
            if key == "content" and is_result:
                add_content(message.fields, value)
            elif key == "content" and isinstance(value, list):
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
        if not message.calls:
            self._stop_part(message)

    def _stop_part(self, message: Message) -> None:
        if message.parts:
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
            if message.is_held:
                block = BlockState(WAITING, wire, message.number)
            else:
                block = self.start(wire, CALLS.decode(wire, self.context()), message.number)
            message.calls.append(block)
            message.places[call.get("index", -1)] = block
        if isinstance(text, str) and message.is_held:
            append_text(block.wire["function"], "arguments", text)
        elif isinstance(text, str):
            self.append(block, block.wire["function"], "arguments", text, ArgumentsDelta)

    def is_ready(self) -> bool:
        choices = self._choices.values()
        return bool(choices) and all(choice.fields.get("finish_reason") for choice in choices)

    def done(self) -> None:
        # The marker [DONE] ends the answer, even without a finish reason.
        if self.answer:
            self.finish()

    def merged(self) -> dict[str, Any]:
        choices = [choice.wire() for choice in self._choices.values()]
        return {"object": ANSWER, **self.answer, "choices": choices}

    def blocks_of(self, response: ChatResponse) -> Iterator[list[BlockState]]:
        for choice, decoded in zip(self._choices.values(), response.choices, strict=True):
            both = zip(choice.messages.values(), decoded.messages, strict=False)
            yield [block for one, other in both for block in self._end_message(one, other.contents)]


# -- writing -----------------------------------------------------------------------------------------------------------

CHUNK = "chat.completion.chunk"


class Encoder(JoiningEncoder):
    """Write the chunks of one answer."""

    choices = True
    argument_texts = True

    def __init__(self, adapter: Any, policies: Any = None) -> None:
        super().__init__(adapter, policies)
        self._head: dict[str, Any] = {}
        self._begun: set[tuple[int, int]] = set()
        """The numbers of the choices and messages that have begun."""
        self._messages: dict[int, int] = {}
        """The message of each choice that is written: results of Mistral's tools are messages of their own."""
        self._after_result: set[int] = set()
        self._with_index: set[int] = set()
        """The choices with calls of Mistral's tools, of which each message has an index."""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {key: value for key, value in payload.items() if key not in ("choices", "usage")}
        self._head = {"id": "", "created": 0, "model": "", **head, "object": CHUNK}

    def _event(self, number: int, delta: dict[str, Any], **rest: Any) -> dict[str, Any]:
        message = self._messages.get(number, 0)
        role = {} if (number, message) in self._begun else {"role": "assistant"}
        self._begun.add((number, message))
        index = {"index": message} if message or number in self._with_index else {}
        choice = {"index": number, "delta": {**index, **role, **delta}, "finish_reason": None, **rest}
        return {**self._head, "choices": [choice]}

    def _begin_message(self, block: OutgoingBlock) -> None:
        """Begin another message of the choice, if the block is a result of one of Mistral's tools or follows one."""
        is_result = isinstance(block.content, HostedToolResultContent) and self.is_native
        if is_result or block.choice in self._after_result:
            self._messages[block.choice] = self._messages.get(block.choice, 0) + 1
        if isinstance(block.content, HostedToolCallContent) and self.is_native:
            self._with_index.add(block.choice)
        (self._after_result.add if is_result else self._after_result.discard)(block.choice)

    def put_message(self, choice: int, message: dict[str, Any], **rest: Any) -> None:
        self.put(self._event(choice, message, **rest))

    def open_block(self, block: OutgoingBlock) -> None:
        if not isinstance(block.content, TextContent | ReasoningContent) or self._inner(block.content):
            return
        message = self.encode_start(block.content)
        if "content" not in message:
            return
        self._begin_message(block)
        if (block.choice, self._messages.get(block.choice, 0)) not in self._begun:
            self.put_message(block.choice, {"content": ""})
        part = {"type": "text", "text": TEXT_HERE}
        content: Any = TEXT_HERE if isinstance(message["content"], str) else [part]
        block.state = content is TEXT_HERE
        if isinstance(block.content, ReasoningContent):
            content = [{"type": "thinking", "thinking": [part]}]
        block.grow = growing_event(self.stream_format, self._event(block.choice, {"content": content}))
        if isinstance(block.content, TextContent):
            block.grow = self.joining(block, block.grow)
        self.write_begun(block)

    def _inner(self, content: Any) -> list[Any]:
        """Return the parts of reasoning in the residue, which are not text."""
        own = (content.extra or {}).get(self.api, {})
        return [inner for inner in list_of(own, "thinking") if not is_text(inner)]

    def hold_delta(self, block: OutgoingBlock, delta: Any) -> None:
        if isinstance(delta, UnknownDelta) and delta.api == self.api:
            block.state = (block.state or 0) + 1
            self.put_message(block.choice, {"content": [{"type": "thinking", "thinking": [delta.delta]}]})
        else:
            super().hold_delta(block, delta)

    def close_block(self, block: OutgoingBlock) -> None:
        if block.grow is None:
            self._begin_message(block)
        delta = {key: value for key, value in self.encode_block(block).items() if (key, value) != ("role", "assistant")}
        text = getattr(block.content, "text", None)
        if block.grow is not None and isinstance(text, str):
            self.write_rest(block, text)
            parts = [without_text(part) for part in list_of(delta, "content")]
            if inner := self._inner(block.content)[block.state or 0 :]:
                parts = [{**part, "thinking": inner} for part in parts]
            # The content of the whole answer may be a list with this text, and not a string.
            is_more = inner or any(len(part) > 2 for part in parts) or (block.state is True and parts)
            delta = {"content": parts} if is_more else {}
            self.add_text(block, text if isinstance(block.content, TextContent) else "")
        elif isinstance(delta.get("content"), str):
            delta["content"] = self.add_text(block, delta["content"])
        if delta:
            self.put_message(block.choice, delta)

    def finish(self, event: Any) -> None:
        self._end_choices(event)
        self.put_raw(b"data: [DONE]\n\n")

    def fail(self, event: Any, payload: dict[str, Any]) -> None:
        self._end_choices(event, is_failed=True)
        self.put(payload)

    def _put_fields(self, number: int, message: dict[str, Any]) -> None:
        """Write the fields of one of several messages that belong to no block."""
        delta = {key: value for key, value in message.items() if key != "role"}
        if delta.get("index") in range(self._messages.get(number, 0) + 1):
            last, self._messages[number] = self._messages.get(number, 0), delta["index"]
            self.put_message(number, delta)
            self._messages[number] = last

    def _end_choices(self, event: Any, *, is_failed: bool = False) -> None:
        """Write the last chunk of each choice, with the fields that belong to no block."""
        payload = self.encode_envelope(event)
        choices = payload.pop("choices", [])
        self._head |= {key: value for key, value in payload.items() if key != "object"}
        for number, choice in enumerate(choices):
            delta = {key: value for key, value in choice.pop("message", {}).items() if key != "role"}
            for message in choice.pop("messages", ()):
                self._put_fields(number, message)
            choice.pop("index", None)
            if is_failed and (event.response.choices[number].finish_reason is None or not self.is_native):
                choice.pop("finish_reason", None)
            self.put_message(number, delta, **choice)
