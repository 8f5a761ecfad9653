"""Streams in the form of Chat Completions: each event is a chunk, with a delta of the message of each choice.

The fields of a message are columns (`engine.table.fields.Columns`): texts, which arrive in pieces, and calls, which
arrive whole or in pieces with an `index`. The columns come from the row of the messages of an answer, so that an
adapter whose streams have no other parts needs neither a decoder nor an encoder of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.engine.streams.decoder import BlockState, StreamDecoder
from contentmodel.engine.streams.joined_texts import JoiningEncoder
from contentmodel.engine.streams.merging import ChoiceOrder, append_text, merge_into
from contentmodel.engine.streams.outgoing import TEXT_HERE, OutgoingBlock, growing_event
from contentmodel.engine.table.fields import Columns
from contentmodel.events import (
    ArgumentsDelta,
    ReasoningDelta,
    TextDelta,
    TurnComplete,
    TurnError,
    UsageDelta,
)
from contentmodel.json import Json, JsonObject, list_of, object_of
from contentmodel.response import ChatResponse

ANSWER, CHUNK = "chat.completion", "chat.completion.chunk"
"""The values of the field `object` of an answer and of a chunk, at APIs that have this field."""
CALLS = "tool_calls"
FIRST = ("id", "created", "model")
"""The fields of chunks that keep their first value."""


def columns_of(adapter: Any) -> Columns:
    """Return the columns of the messages of an answer.

    Raise TypeError if the adapter has no `answer`, or the row of its messages has no columns.
    """
    columns: Columns | None = getattr(getattr(adapter.answer, "assistant", None), "columns", None)
    if columns is None:
        raise TypeError(
            f"{adapter.api}: chunks need the columns of an answer: set `answer = AnswerMessage(row)`, "
            "where the row is that of `chat.assistant_messages` or has `Columns`"
        )
    return columns


def is_text(part: Any) -> bool:
    """Return whether a part is a text without other fields."""
    return part.__class__ is dict and part.keys() == {"type", "text"} and part["type"] == "text"


def text_part(text: str) -> JsonObject:
    """Return a text as a part."""
    return {"type": "text", "text": text}


# -- reading -----------------------------------------------------------------------------------------------------------


class ChunkMessage:
    """One message of a choice so far: its parts and its calls by column, and its other fields."""

    def __init__(self, number: int) -> None:
        self.number = number
        """The number of the choice."""
        self.fields: JsonObject = {}
        """The fields that are no columns, such as the role."""
        self.columns: dict[str, list[BlockState]] = {}
        self.places: dict[Any, BlockState] = {}
        """The calls by their index."""
        self.lists: set[str] = set()
        """The columns of texts that are lists of parts."""
        self.open: tuple[str, BlockState] | None = None
        """The part that may still grow, and its column."""

    def value_of(self, column: str) -> Json:
        """Return the value of a column: a text, or the list of its parts or calls."""
        wires: Any = [block.wire for block in self.columns[column]]
        is_string = len(wires) == 1 and column not in self.lists and is_text(wires[0])
        return wires[0]["text"] if is_string else wires

    def wire(self) -> JsonObject:
        """Return the message in the form of an answer that is not streamed."""
        return {"role": "assistant", **self.fields, **{column: self.value_of(column) for column in self.columns}}


class ChunkChoice:
    """One choice so far: its message and its other fields."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.fields: JsonObject = {}
        self.message = ChunkMessage(number)

    def wire(self) -> JsonObject:
        """Return the choice in the form of an answer that is not streamed."""
        return {**self.fields, "message": self.message.wire()}


class ChunkDecoder(StreamDecoder):
    """Read the chunks of one answer.

    A subclass may read a delta with other parts: it replaces `read_delta`, or `continues`, `begun` and `grow`.
    """

    choice: type[Any] = ChunkChoice
    """The class of a choice."""
    growing = frozenset({"text"})
    """The fields of a part that grow."""
    has_indexed_calls = False
    """True if the calls of an answer that is not streamed have the field `index`, too."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self.columns = columns_of(adapter)
        self._order = ChoiceOrder(self.choice)
        self._choices = self._order.choices

    def read(self, name: str | None, wire: JsonObject) -> None:
        if "choices" not in wire:
            if self.adapter.read_response(wire).error is not None:
                self.fail_with(wire)
            else:
                self.wire_event(name, wire)
            return
        merge_into(self.answer, self.head_of(wire), FIRST)
        self.begin(dict(self.answer))
        if self.counts and wire.get("usage").__class__ is dict:
            usage = self.adapter.read_response({"usage": wire["usage"]}).usage
            if usage is not None:
                self.emit(UsageDelta(usage=usage))
        for choice in wire["choices"]:
            for ready in self._order.take(choice.get("index", 0), choice):
                self._read_choice(ready)

    def head_of(self, wire: JsonObject) -> JsonObject:
        """Return the fields of a chunk that belong to the answer."""
        head = {key: value for key, value in wire.items() if key not in ("choices", "object")}
        return {"object": ANSWER, **head} if "object" in wire else head

    def read_rest(self) -> None:
        for choice in self._order.rest():
            self._read_choice(choice)

    def _read_choice(self, wire: JsonObject) -> None:
        choice = self._order.begin(wire.get("index", 0))
        for key, value in wire.items():
            if key == "delta":
                self.read_delta(self.message_of(choice, value), value)
            elif key == "message":
                # Beside deltas, a message repeats them (Writer). It may have more fields, or be the whole answer.
                merge_into(self.message_of(choice, value or {}).fields, without_role(value or {}))
            elif value is not None or key not in ("finish_reason", "logprobs"):
                merge_into(choice.fields, {key: value})

    def message_of(self, choice: Any, delta: JsonObject) -> Any:
        """Return the message that a delta belongs to."""
        return choice.message

    def read_delta(self, message: Any, delta: JsonObject) -> None:
        """Read a delta of a message."""
        for key, value in delta.items():
            if key == CALLS and value and key in self.columns.columns:
                for call in value:
                    self.read_call(message, call)
            elif key in self.columns.columns and value and isinstance(value, str | list):
                if isinstance(value, list):
                    message.lists |= {key} if any(map(is_text, value)) else set()
                for part in [text_part(value)] if isinstance(value, str) else value:
                    self.read_part(message, key, part)
            elif key not in message.columns:
                merge_into(message.fields, {key: value})

    # -- parts of texts ----------------------------------------------------------------------------------------

    def read_part(self, message: Any, column: str, part: JsonObject) -> None:
        """Append to the last part of a column if this part continues it, else begin another one."""
        parts = message.columns.setdefault(column, [])
        block = parts[-1] if parts else None
        if block is None or not self.continues(block.wire, part):
            self.stop_part(message)
            wire = self.begun(part)
            block = self.start(wire, self.start_of(column, part), message.number)
            parts.append(block)
            message.open = column, block
        merge_into(block.wire, {key: value for key, value in part.items() if key not in self.growing})
        self.grow(message, block, part)

    def continues(self, last: JsonObject, part: JsonObject) -> bool:
        """Return whether a part continues the last one: both are texts."""
        return last.get("type") == part.get("type") == "text"

    def begun(self, part: JsonObject) -> JsonObject:
        """Return a part without its text."""
        return {**part, "text": ""} if part.get("type") == "text" else part

    def start_of(self, column: str, part: JsonObject) -> Any:
        """Return the content of a part without its text."""
        content = self.decode_part(column, part)
        is_growing = isinstance(content, TextContent | ReasoningContent)
        return msgspec.structs.replace(content, text="") if is_growing else content

    def grow(self, message: Any, block: BlockState, part: JsonObject) -> None:
        """Append the text of a part to the block that it continues."""
        if part.get("type") == "text":
            self.grow_text(message, block, block.wire, part["text"])

    def grow_text(self, message: Any, block: BlockState, owner: JsonObject, text: str) -> None:
        """Append to the text of a block. If the block has stopped already, the end of the answer has the whole text."""
        if message.open is not None and message.open[1] is block:
            event = ReasoningDelta if block.emitted.__class__ is ReasoningContent else TextDelta
            self.append(block, owner, "text", text, event)
        else:
            append_text(owner, "text", text)

    def decode_part(self, column: str, wire: JsonObject, *, is_list: bool = False) -> Any:
        """Return the content of a part of a column."""
        value: Any = wire["text"] if is_text(wire) and not is_list else [wire]
        codec: Any = self.columns.columns[column].codec
        contents = codec.decode(value, self.context(), {}, column)
        return contents[0]

    def stop_part(self, message: Any) -> None:
        """Complete the open part before another block begins, so that readers of the stream can use it."""
        if message.open is not None:
            column, block = message.open
            message.open = None
            is_list = column in message.lists and len(message.columns[column]) == 1
            self.stop(block, self.decode_part(column, block.wire, is_list=is_list))

    # -- calls -------------------------------------------------------------------------------------------------

    def read_call(self, message: Any, call: JsonObject) -> None:
        """Append to the call with this index, or begin another one. Some hosts send a call whole, without an index."""
        function, place = object_of(call, "function"), call.get("index", -1)
        text = function.get("arguments")
        block = message.places.get(place)
        is_same = "index" in call and block is not None and call.get("id") in (None, "", "null", block.wire.get("id"))
        if block is None or (function.get("name") and not is_same):
            wire = {**call, "function": {**function, "arguments": "" if isinstance(text, str) else text}}
            if not self.has_indexed_calls:
                wire.pop("index", None)
            block = self.begin_call(message, wire)
            message.columns.setdefault(CALLS, []).append(block)
            message.places[place] = block
        if isinstance(text, str) and block.index < 0:
            append_text(block.wire["function"], "arguments", text)
        elif isinstance(text, str):
            self.append(block, block.wire["function"], "arguments", text, ArgumentsDelta)

    def begin_call(self, message: Any, wire: JsonObject) -> BlockState:
        """Start the block of a call. A block with a negative index is not emitted yet."""
        self.stop_part(message)
        codec: Any = self.columns.columns[CALLS].codec
        return self.start(wire, codec.decode([wire], self.context(), {}, CALLS)[0], message.number)

    # -- the end -----------------------------------------------------------------------------------------------

    def is_ready(self) -> bool:
        choices = self._choices.values()
        return bool(choices) and all(choice.fields.get("finish_reason") for choice in choices)

    def done(self) -> None:
        # The marker [DONE] ends the answer, even without a finish reason.
        if self._has_begun:
            self.finish()

    def merged(self) -> JsonObject:
        return {**self.answer, "choices": [choice.wire() for choice in self._choices.values()]}

    def blocks_of(self, response: ChatResponse) -> Iterator[list[BlockState]]:
        for choice, decoded in zip(self._choices.values(), response.choices, strict=True):
            contents = [content for message in decoded.messages for content in message.contents]
            blocks: list[BlockState] = []
            for column, count in self.columns.counts(choice.message.wire()):
                blocks += choice.message.columns.get(column, ())[:count]
                if len(blocks) < len(contents) and column not in choice.message.columns:
                    # An empty text had no delta.
                    blocks += [self.whole(content, choice.number) for content in contents[len(blocks) :][:count]]
            yield blocks


# -- writing -----------------------------------------------------------------------------------------------------------


class ChunkEncoder(JoiningEncoder):
    """Write the chunks of one answer: texts as they grow, calls and the rest whole."""

    choices = True
    argument_texts = True
    has_indexed_calls = False
    """True if the calls of an answer that is not streamed have the field `index`, too."""

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self.columns = columns_of(adapter)
        self.head: JsonObject = {}
        """The fields of each chunk."""
        self.begun: set[Any] = set()
        """The messages that have begun: the numbers of their choices."""
        self._calls: dict[int, int] = {}
        """The number of calls of each choice."""
        self._thoughts: set[tuple[int, str]] = set()
        """The choices and columns with reasoning."""

    def begin(self, payload: JsonObject) -> None:
        self.head = {key: value for key, value in payload.items() if key not in ("choices", "usage")}
        if "object" in self.head:
            self.head["object"] = CHUNK

    def key_of(self, number: int) -> Any:
        """Return the key in `begun` of the message that is written in a choice."""
        return number

    def opening(self, number: int) -> JsonObject:
        """Return the fields that precede a delta: the first one of a message has the role."""
        key = self.key_of(number)
        if key in self.begun:
            return {}
        self.begun.add(key)
        return {"role": "assistant"}

    def event(self, number: int, delta: JsonObject, **fields: Any) -> JsonObject:
        """Return the chunk with a delta of a choice."""
        choice = {"index": number, "delta": {**self.opening(number), **delta}, "finish_reason": None, **fields}
        return {**self.head, "choices": [choice]}

    def put_message(self, choice: int, message: JsonObject, **fields: Any) -> None:
        self.put(self.event(choice, message, **fields))

    def begin_block(self, block: OutgoingBlock) -> None:
        """Prepare for a block that is about to be written."""

    def growth(self, block: OutgoingBlock, column: str, value: Json) -> Json:
        """Return the value of a column with `TEXT_HERE` in it; None to hold the block until it is complete."""
        if block.content.__class__ not in self.columns.columns[column].models:
            return None
        if value.__class__ is str:
            return TEXT_HERE
        is_part = value.__class__ is list and len(value) == 1 and object_of({"": value[0]}, "").get("type") == "text"
        return [text_part(TEXT_HERE)] if is_part else None

    def open_block(self, block: OutgoingBlock) -> None:
        if not isinstance(block.content, TextContent | ReasoningContent):
            return
        delta = without_role(self.encode_start(block.content))
        column = next((key for key in delta if key in self.columns.columns), None)
        value = None if column is None else self.growth(block, column, delta[column])
        if column is None or value is None:
            return
        self.begin_block(block)
        if self.key_of(block.choice) not in self.begun:
            self.put_message(block.choice, {column: ""})
        block.state = value is TEXT_HERE
        block.grow = growing_event(self.stream_format, self.event(block.choice, {column: value}))
        if isinstance(block.content, TextContent):
            block.grow = self.joining(block, block.grow)
        elif between := self._between(block, column):
            self.put_raw(block.grow(between))
        self.write_begun(block)

    def _between(self, block: OutgoingBlock, column: str) -> str:
        """Return the separator before reasoning in a column; "" if it needs none."""
        place, target = (block.choice, column), self.columns.columns[column]
        if block.content.__class__ is not ReasoningContent or ReasoningContent not in target.models:
            return ""
        between: str = getattr(target.codec, "between", "") if place in self._thoughts else ""
        self._thoughts.add(place)
        return between

    def close_block(self, block: OutgoingBlock) -> None:
        if block.grow is None:
            self.begin_block(block)
        delta = without_role(self.encode_block(block))
        text = getattr(block.content, "text", None)
        column = next((key for key in delta if key in self.columns.columns), CALLS)
        if block.grow is not None and isinstance(text, str):
            self.write_rest(block, text)
            delta = self.rest_of(block, column, delta)
            self.add_text(block, text if isinstance(block.content, TextContent) else "")
        elif delta.get(column).__class__ is str:
            if between := self._between(block, column):
                delta[column] = between + delta[column]
            elif TextContent in self.columns.columns[column].models:
                delta[column] = self.add_text(block, delta[column])
        for call in list_of(delta, CALLS) if not self.has_indexed_calls else ():
            number = self._calls[block.choice] = self._calls.get(block.choice, -1) + 1
            call["index"] = number
        if delta:
            self.put_message(block.choice, delta)

    def rest_of(self, block: OutgoingBlock, column: str, delta: JsonObject) -> JsonObject:
        """Return what a delta has beside the text that is written already.

        The content of the whole answer may be a list with this text, and not a string.
        """
        parts: list[Any] = [
            {**part, "text": ""} if part.get("type") == "text" else part for part in list_of(delta, column)
        ]
        others = {key: value for key, value in delta.items() if key != column}
        is_more = any(len(part) > 2 for part in parts) or (block.state and parts)
        return {**others, column: parts} if is_more else others

    def finish(self, event: TurnComplete) -> None:
        self._end_choices(event)
        self.put_raw(b"data: [DONE]\n\n")

    def fail(self, event: TurnError, payload: JsonObject) -> None:
        self._end_choices(event, is_failed=True)
        self.put(payload)

    def end_message(self, number: int, choice: JsonObject) -> JsonObject:
        """Return the last delta of a choice: the fields of its message that belong to no block."""
        return without_role(choice.pop("message", {}))

    def _end_choices(self, event: TurnComplete | TurnError, *, is_failed: bool = False) -> None:
        payload = self.encode_envelope(event)
        choices = payload.pop("choices", [])
        self.head |= {key: value for key, value in payload.items() if key != "object"}
        for number, choice in enumerate(choices):
            delta = self.end_message(number, choice)
            choice.pop("index", None)
            if is_failed and (event.response.choices[number].finish_reason is None or not self.is_native):
                choice.pop("finish_reason", None)
            self.put_message(number, delta, **choice)


def without_role(message: JsonObject) -> JsonObject:
    """Return the fields of a message without the role of the assistant."""
    return {key: value for key, value in message.items() if (key, value) != ("role", "assistant")}
