"""Streams: chunks with deltas for the messages of each choice. The encoder writes calls whole, texts as they grow."""

from __future__ import annotations

from typing import Any

from contentmodel import ChatResponse, HostedToolCallContent, HostedToolResultContent, ReasoningContent
from contentmodel.authoring import (
    TEXT_HERE,
    BlockState,
    ChunkChoice,
    ChunkDecoder,
    ChunkEncoder,
    ChunkMessage,
    OutgoingBlock,
    UnknownDelta,
    append_text,
    list_of,
)
from contentmodel_adapters.mistral.table import PARTS, SEVERAL, is_text

# -- reading -----------------------------------------------------------------------------------------------------------

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


class Message(ChunkMessage):
    """One message of a choice so far."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.head: dict[str, Any] = {}
        """The role and the index."""
        self.blocks: list[BlockState] | None = None
        """The blocks in the order of the contents; None until they are known."""

    @property
    def is_held(self) -> bool:
        """Return whether calls wait for the next messages, which show whether Mistral ran them."""
        return "index" in self.head

    @property
    def is_result(self) -> bool:
        """Return whether the message is a result of one of Mistral's tools."""
        return self.head.get("role") == "tool"

    def wire(self) -> dict[str, Any]:
        return {**super().wire(), **self.head}


class Choice(ChunkChoice):
    """One choice so far: its messages by their index, and its other fields. Most choices have one message."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.messages: dict[int, Message] = {}

    def wire(self) -> dict[str, Any]:
        wires = [message.wire() for message in self.messages.values()]
        if len(wires) > 1 or any(wire["role"] == "tool" for wire in wires):
            return {**self.fields, "messages": wires}
        message = {key: value for wire in wires for key, value in wire.items() if key != "index"}
        return {**self.fields, "message": {**message, "role": "assistant"}}


class Decoder(ChunkDecoder):
    """Read the chunks of one answer."""

    choice = Choice
    growing = frozenset({"text", "thinking"})
    has_indexed_calls = True

    def head_of(self, wire: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in super().head_of(wire).items() if key != "p"}

    def message_of(self, choice: Any, delta: dict[str, Any]) -> Message:
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
            calls = message.columns.get("tool_calls", [])
            begun = [call for call in calls if call.index >= 0]
            blocks = [*message.columns.get("content", ()), *begun]
            waiting = 1 if message.is_result else len(calls) - len(begun)
            if len(contents) > len(blocks) + waiting:
                # An empty text had no delta.
                blocks.insert(0, self.whole(contents[0], message.number))
            if waiting:
                self.stop_part(message)
                blocks += [self.start({}, content, message.number) for content in contents[len(blocks) :]]
            message.blocks = blocks
        return message.blocks

    def read_delta(self, message: Message, delta: dict[str, Any]) -> None:
        rest = {key: value for key, value in delta.items() if key not in ("role", "index")}
        if message.is_result and "content" in rest:
            add_content(message.fields, rest.pop("content"))
        super().read_delta(message, rest)

    def continues(self, last: dict[str, Any], part: dict[str, Any]) -> bool:
        return last["type"] == part["type"] and part["type"] in ("text", "thinking")

    def begun(self, part: dict[str, Any]) -> dict[str, Any]:
        return without_text(part)

    def start_of(self, column: str, part: dict[str, Any]) -> Any:
        begun = {key: value for key, value in without_text(part).items() if key != "thinking"}
        return PARTS.decode(begun, self.context())

    def grow(self, message: ChunkMessage, block: BlockState, part: dict[str, Any]) -> None:
        super().grow(message, block, part)
        for inner in list_of(part, "thinking") if part["type"] == "thinking" else ():
            before = block.wire["thinking"]
            if not before or not is_text(before[-1]) or not is_text(inner):
                before.append({**inner, "text": ""} if is_text(inner) else inner)
            if is_text(inner):
                self.grow_text(message, block, before[-1], inner["text"])
            else:
                self.emit(UnknownDelta(index=block.index, api=self.api, delta=inner))

    def begin_call(self, message: Message, wire: dict[str, Any]) -> BlockState:
        if not message.is_held:
            return super().begin_call(message, wire)
        self.stop_part(message)
        return BlockState(WAITING, wire, message.number)

    def blocks_of(self, response: ChatResponse) -> Any:
        for choice, decoded in zip(self._choices.values(), response.choices, strict=True):
            both = zip(choice.messages.values(), decoded.messages, strict=False)
            yield [block for one, other in both for block in self._end_message(one, other.contents)]


# -- writing -----------------------------------------------------------------------------------------------------------


class Encoder(ChunkEncoder):
    """Write the chunks of one answer."""

    has_indexed_calls = True

    def __init__(self, adapter: Any, policies: Any = None) -> None:
        super().__init__(adapter, policies)
        self._messages: dict[int, int] = {}
        """The message of each choice that is written: results of Mistral's tools are messages of their own."""
        self._after_result: set[int] = set()
        self._with_index: set[int] = set()
        """The choices with calls of Mistral's tools, of which each message has an index."""

    def begin(self, payload: dict[str, Any]) -> None:
        super().begin({"id": "", "object": "", "created": 0, "model": "", **payload})

    def key_of(self, number: int) -> tuple[int, int]:
        return number, self._messages.get(number, 0)

    def opening(self, number: int) -> dict[str, Any]:
        message = self._messages.get(number, 0)
        index = {"index": message} if message or number in self._with_index else {}
        return {**index, **super().opening(number)}

    def begin_block(self, block: OutgoingBlock) -> None:
        """Begin another message of the choice, if the block is a result of one of Mistral's tools or follows one."""
        is_result = isinstance(block.content, HostedToolResultContent) and self.is_native
        if is_result or block.choice in self._after_result:
            self._messages[block.choice] = self._messages.get(block.choice, 0) + 1
        if isinstance(block.content, HostedToolCallContent) and self.is_native:
            self._with_index.add(block.choice)
        (self._after_result.add if is_result else self._after_result.discard)(block.choice)

    def growth(self, block: OutgoingBlock, column: str, value: Any) -> Any:
        if self._parts_beside_text(block.content):
            return None
        if isinstance(block.content, ReasoningContent):
            return [{"type": "thinking", "thinking": [{"type": "text", "text": TEXT_HERE}]}]
        return super().growth(block, column, value)

    def _parts_beside_text(self, content: Any) -> list[Any]:
        """Return the parts of reasoning in the residue, which are not text."""
        residue = (content.extra or {}).get(self.api, {})
        return [inner for inner in list_of(residue, "thinking") if not is_text(inner)]

    def hold_delta(self, block: OutgoingBlock, delta: Any) -> None:
        if isinstance(delta, UnknownDelta) and delta.api == self.api:
            block.state = (block.state or 0) + 1
            self.put_message(block.choice, {"content": [{"type": "thinking", "thinking": [delta.delta]}]})
        else:
            super().hold_delta(block, delta)

    def rest_of(self, block: OutgoingBlock, column: str, delta: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(block.content, ReasoningContent):
            return super().rest_of(block, column, delta)
        parts = [without_text(part) for part in list_of(delta, column)]
        if inner := self._parts_beside_text(block.content)[block.state or 0 :]:
            parts = [{**part, "thinking": inner} for part in parts]
        return {column: parts} if inner or any(len(part) > 2 for part in parts) else {}

    def end_message(self, number: int, choice: dict[str, Any]) -> dict[str, Any]:
        for message in choice.pop("messages", ()):
            self._put_fields(number, message)
        return super().end_message(number, choice)

    def _put_fields(self, number: int, message: dict[str, Any]) -> None:
        """Write the fields of one of several messages that belong to no block."""
        delta = {key: value for key, value in message.items() if key != "role"}
        if delta.get("index") in range(self._messages.get(number, 0) + 1):
            last, self._messages[number] = self._messages.get(number, 0), delta["index"]
            self.put_message(number, delta)
            self._messages[number] = last
