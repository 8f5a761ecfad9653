"""Streams of Chat Completions: columns that grow.

Source: openai 3.54, types/chat/chat_completion_chunk.py; seen November 2026. A column is open until the answer ends. If
another block follows a text or a complete call, the decoder stops it before that block. If the host continues it later,
the decoder emits a BlockCatchUp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from operator import is_not
from typing import Any, NamedTuple

import msgspec

from contentmodel.authoring import (
    BlockState,
    ChoiceOrder,
    DecodeContext,
    EncodeContext,
    JoiningEncoder,
    OutgoingBlock,
    PendingLoss,
    StreamDecoder,
    Written,
    append_text,
    citations_of_piece,
    extended,
    extended_list,
    family_of,
    growing,
    hints,
    is_incomplete_call,
    kind_of,
    layout_of,
    list_of,
    loss_of,
    merge_into,
    object_of,
    reasons,
    what_of,
    write,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import (
    ArgumentsDelta,
    CitationDelta,
    Layout,
    MediaDelta,
    ReasoningDelta,
    SignatureDelta,
    TextDelta,
    TurnComplete,
    TurnError,
    UnknownDelta,
)
from contentmodel.literals import LossFamily
from contentmodel.message import Origin, contents_of
from contentmodel.response import ChatChoice
from contentmodel_adapters.common.citations import placed
from contentmodel_adapters.common.reasoning import is_signed
from contentmodel_adapters.openai.chat.choices import (
    GROWN,
    Choice,
    Key,
    is_another,
    is_complete_call,
    lacks_name,
    merge_call,
    place_of_thinking,
    split_delta,
    stub,
    text_of,
    with_distances,
)
from contentmodel_adapters.openai.chat.hosts import API
from contentmodel_adapters.openai.chat.messages import (
    BETWEEN,
    COLUMNS,
    END,
    FLAG,
    REASONING_LISTS,
    REASONING_TEXTS,
    REPEATED,
    THOUGHT,
    decode_assistant,
    repeats_reasoning,
)
from contentmodel_adapters.openai.chat.parts import (
    CITATIONS,
    CONTENT,
    GROWING,
    TABLE,
    TOOL_CALLS,
    USAGE,
    detail_names,
    is_summarized,
    is_summary,
    usage_of_host,
    with_listed,
)
from contentmodel_adapters.openai.chat.table import error_body, is_error_beside

# -- reading -----------------------------------------------------------------------------------------------------------

# These fields keep their first value; some hosts give every chunk another id (Groq), or first the time 0 (Azure).
FIRST = ("id", "created", "model")
# Fields of a single chunk: its kind, and padding that hides the length of the text.
OWN = ("choices", "object", "obfuscation")
TEXTS: dict[str, Any] = {
    "content": TextDelta,
    "refusal": TextDelta,
    **dict.fromkeys((*REASONING_TEXTS, THOUGHT), ReasoningDelta),
}
TABLE.known_values(
    "stream delta",
    *("role", "content", "refusal", *REASONING_TEXTS, *REASONING_LISTS),
    *("audio", "tool_calls", "function_call", "annotations", "extra_content"),
)


class Decoder(StreamDecoder):
    """Decode one answer chunk by chunk."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._order = ChoiceOrder(Choice)
        self._choices = self._order.choices
        self._head: dict[str, Any] | None = None
        self._texts: dict[int, tuple[Choice, Key]] = {}
        """The choice and key of each block of text."""

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        choices = wire.pop("choices", None)
        if choices.__class__ is not list or (not choices and is_error_beside(wire)):
            body = error_body(name, wire)
            if body is not None:
                self.fail_with(body)
                return
            choices = self._read_without_choices(name, wire, choices)
        wire.pop("obfuscation", None)
        if wire.get("usage") is None and (usage := usage_of_host(wire, choices)) is not None:
            wire["usage"] = usage
        if wire != self._head:
            self._head = wire
            self._read_head(wire)
        ready: list[Any] = []
        for choice in choices:
            if choice.__class__ is dict:
                ready += self._order.take(choice.get("index", 0), choice)
            else:
                self.wire_event(name, {"choices": [choice]})
        for choice in ready:
            self._read_choice(choice)
        if len(ready) > 1:
            self._grown = None

    def read_rest(self) -> None:
        for wire in self._order.rest():
            self._read_choice(wire)
        for choice in self._choices.values():
            for place in list(choice.unnamed):
                self._open_call(choice, place)

    def _read_without_choices(self, name: str | None, wire: dict[str, Any], choices: Any) -> list[Any]:
        """Handle a chunk without a list of choices: metadata only, otherwise an unknown event."""
        if choices is not None or not ({"id", "object", "usage"} & wire.keys()):
            self.wire_event(name, dict(wire) if choices is None else {**wire, "choices": choices})
            wire.clear()
        return []

    def _read_head(self, wire: dict[str, Any]) -> None:
        usage = self.answer.get("usage")
        head = {key: value for key, value in wire.items() if key not in OWN and (key != "usage" or value is not None)}
        merge_into(self.answer, head, FIRST if self.answer.get("created") else ("id", "model"))
        if not self._has_begun and self.answer.get("id"):
            self.begin({"object": "chat.completion", **self.answer})
        elif self._has_begun and head.get("usage") is not None and head["usage"] != usage:
            self.count(USAGE, self.answer["usage"])

    # -- choices -----------------------------------------------------------------------------------------------

    def _read_choice(self, wire: dict[str, Any]) -> None:
        number = wire.get("index", 0)
        if not self._has_begun:
            self.begin({"object": "chat.completion", **self.answer})
        if number.__class__ is not int:
            raise DecodeError(API, [Fault("$.choices[*].index", f"expected an integer, got {kind_of(number)}")])
        choice = self._choices.get(number) or self._order.begin(number)
        if "index" in wire:
            choice.rest["index"] = number
        # A message beside a delta repeats earlier deltas (Perplexity), and so does one after all deltas (MiniMax:
        # platform.minimax.io/docs, "chatcompletion_v2", seen 2026-11-27). Without deltas it is the whole answer.
        delta = wire["delta"] if "delta" in wire else wire.get("message")
        choice.has_message = "delta" not in wire and "message" in wire
        if delta.__class__ is dict:
            if not choice.has_message:
                choice.has_deltas = True
            elif choice.has_deltas:
                delta = choice.missing(delta)
            if any(map(delta.get, REASONING_LISTS)):
                choice.is_detailed = True
            if REPEATED in delta and repeats_reasoning(delta):
                choice.repeats = True
            if "extra_content" in delta:
                choice.begin_thought(delta)
            for key, value in delta.items():
                if value.__class__ is str and key in TEXTS:
                    if key == "content" and choice.divider is not None:
                        self._grow_divided(choice, choice.divider.divide(value))
                    else:
                        self._grow_text(choice, key, value)
                elif value is not None or key not in choice.message:
                    self._read_field(choice, key, value)
        if wire.keys() != _ONLY_DELTA:
            self._read_rest(choice, wire)
            if "delta" in wire and wire.get("message") and wire.get("finish_reason"):
                # The last message beside a delta may have fields that no delta had.
                self._read_choice({key: wire[key] for key in ("index", "message") if key in wire})
        if self._grown is not None and not _only_grew(wire):
            self._grown = None

    def _grow_text(self, choice: Choice, column: str, text: str) -> None:
        """Append to a text column. If the content is a list of parts, append a part."""
        existing = choice.message.get(column)
        if existing is not None and existing.__class__ is not str:
            if column == "content" and existing.__class__ is list:
                self._grow_parts(choice, column, [{"type": "text", "text": text}] if text else [])
                return
            # The column holds a value that is not text: it is not content, so replace it by the text.
            self._emit_unknown(choice, column, choice.message.pop(column))
        pieces = choice.texts.setdefault(column, [])
        if text:
            pieces.append(text)
            block = choice.blocks.get((column, 0)) or self._open_text(choice, column)
            if block is not None:
                self.grew(block, pieces, text, TEXTS[column])

    def _grow_divided(self, choice: Choice, pieces: Iterable[tuple[str, str]]) -> None:
        """Append to the thought, and to the answer after it."""
        for column, text in pieces:
            self._grow_text(choice, column, text)
        if choice.divider is not None and not choice.divider.is_over:
            # A template would not see the next tag.
            self._grown = None

    def _emit_unknown(self, choice: Choice, column: str, value: Any) -> None:
        """Emit a value that is not text, in a field that holds text, as an unknown delta or event."""
        block = choice.blocks.get((column, 0))
        if block is None:
            self.wire_event(None, {"choices": [{"index": choice.number, "delta": {column: value}}]})
        else:
            self.emit(UnknownDelta(index=block.index, api=API, delta={column: value}))

    def _grow_parts(self, choice: Choice, column: str, parts: list[Any]) -> None:
        """Append to a column that is a list of parts, or becomes one. Consecutive texts are joined."""
        existing = choice.message.get(column)
        if existing.__class__ is not list:
            before = {"type": "text", "text": choice.text(column)}
            existing = choice.message[column] = [before] if before["text"] else []
            choice.texts.pop(column, None)
            if (column, 0) in choice.blocks:
                choice.blocks[column, 0].wire = before
        for part in parts:
            if is_summarized(part):
                self._grow_summary(choice, column, part)
                continue
            kind, text = text_of(part)
            if kind is None:
                existing.append(part)
                continue
            if not existing or text_of(existing[-1])[0] is not kind:
                inner = {"type": "text", "text": ""}
                existing.append(inner if kind is TextDelta else {"type": "thinking", "thinking": [inner]})
                blank = _blank(column) if kind is TextDelta else ReasoningContent(extra=hints.COLUMN.extra(API, column))
                self._open(choice, (column, len(existing) - 1), inner, blank)
            block = choice.blocks[column, len(existing) - 1]
            block.grow("text", text)
            self.events.append(kind(index=block.index, text=text))

    def _grow_summary(self, choice: Choice, column: str, part: dict[str, Any]) -> None:
        """Append to the reasoning of Databricks. A part continues the last one until that has a signature."""
        parts = choice.message[column]
        (more,) = part["summary"]
        last: Any = parts[-1] if parts else None
        if not is_summarized(last) or last["summary"][0].get("signature"):
            inner = {**more, "text": ""}
            parts.append({**part, "summary": [inner]})
            self._open(
                choice, (column, len(parts) - 1), inner, self._decode_summary({"type": "summary_text", "text": ""})
            )
        block = choice.blocks[column, len(parts) - 1]
        block.grow("text", more["text"])
        if more["text"]:
            self.emit(ReasoningDelta(index=block.index, text=more["text"]))
        signature = more.get("signature")
        if signature:
            block.wire["signature"] = signature
            self.emit(SignatureDelta(index=block.index, protected=self._decode_summary(more).protected))

    def _decode_summary(self, summary: dict[str, Any]) -> Any:
        (content,) = CONTENT.decode_list([{"type": "reasoning", "summary": [summary]}], self.context())
        return hints.COLUMN.on(content, API, "content")

    def _read_rest(self, choice: Choice, wire: dict[str, Any]) -> None:
        for key, value in wire.items():
            if key in ("index", "delta", "message"):
                continue
            existing = choice.rest.get(key)
            if value is None and key in choice.rest:
                continue
            if key == "logprobs" and value.__class__ is dict:
                choice.rest[key] = extended(existing, value)
            elif key == "text" and value.__class__ is str and existing.__class__ is str:
                # Together repeats the text here.
                del existing
                append_text(choice.rest, key, value)
            elif key != "finish_reason" or value is not None:
                # Null belongs to a chunk that is not the last, not to the answer.
                merge_into(choice.rest, {key: value})

    def _read_field(self, choice: Choice, key: str, value: Any) -> None:
        """Read a field of a delta that is not text."""
        message = choice.message
        if key == "tool_calls" and value and value.__class__ in (list, dict):
            for entry, back in with_distances(value if value.__class__ is list else [value]):
                self._grow_call(choice, entry, back)
        elif key == "function_call" and value.__class__ is dict:
            self._grow_function_call(choice, value)
        elif key in REASONING_LISTS and value.__class__ is list:
            for entry in value:
                self._grow_part(choice, key, entry)
        elif key == "audio" and value.__class__ is dict:
            self._grow_audio(choice, value)
        elif key == "annotations" and value.__class__ is list:
            self._cite(choice, value)
        elif key == "content" and value.__class__ is list:
            self._grow_parts(choice, key, value)
        elif key in TEXTS and value is not None and choice.clashes(key, value):
            self._emit_unknown(choice, key, value)
        elif key == "role":
            if value or "role" not in message:
                message["role"] = value
        elif value.__class__ is list:
            message[key] = extended_list(message.get(key), value, choice.listed.setdefault(key, {}))
        elif value.__class__ is str and message.get(key).__class__ is str and message[key] != value:
            append_text(message, key, value)
        else:
            merge_into(message, {key: value})

    # -- blocks ------------------------------------------------------------------------------------------------

    def _open_text(self, choice: Choice, column: str) -> BlockState | None:
        if (choice.is_detailed and column in REASONING_TEXTS) or (choice.repeats and column == REPEATED):
            # Another column has the same text.
            return None
        return self._open(choice, (column, 0), {}, _blank(column))

    def _open(self, choice: Choice, key: Key, wire: dict[str, Any], content: Any) -> BlockState:
        """Start a block. The one before it is complete if it is a text or a whole call."""
        if choice.current is not None:
            self._stop_early(choice, choice.current)
        choice.current = key
        block = choice.blocks[key] = self.start(wire, content, choice.number)
        if key[0] in TEXTS:
            self._texts[block.index] = choice, key
        return block

    def _stop_early(self, choice: Choice, key: Key) -> None:
        column, _ = key
        block = choice.blocks[key]
        block.merge_pieces()
        if is_summary(block.wire):
            self.stop(block, self._decode_summary(block.wire))
            choice.stopped.add(key)
        elif column in TEXTS:
            self.stop(block, _with_text(block.emitted, block.wire.get("text") or choice.text(column)))
            choice.stopped.add(key)
        elif column == "tool_calls":
            content = self._decode_call(block.wire)
            if is_complete_call(content):
                self.stop(block, content)
                choice.stopped.add(key)

    def _grow_call(self, choice: Choice, entry: dict[str, Any], back: int) -> None:
        number = entry.get("index")
        if number.__class__ is not int:
            number = choice.number_of(entry, back)
        place = choice.calls.place_of(number)
        wire, pieces = split_delta(entry)
        block = None if place is None else choice.call_at(place)
        if place is None or block is None or is_another(block.wire, wire):
            place = choice.calls.add(number)
            block = choice.unnamed[place] = BlockState(-1, wire)
        else:
            merge_call(block.wire, wire)
        if block.wire.get("id") and "id" in wire:
            choice.calls.name(place, block.wire["id"])
        if place in choice.unnamed and not lacks_name(block.wire):
            block = self._open_call(choice, place)
        for name, text in pieces.items():
            self._grow_arguments(block, name, text)

    def _open_call(self, choice: Choice, place: int) -> BlockState:
        """Start the block of a call. Some hosts send the name of a call after its id (vercel/ai#16507)."""
        waiting = choice.unnamed.pop(place)
        block = self._open(choice, ("tool_calls", place), waiting.wire, self._decode_call(stub(waiting.wire)))
        for name, pieces in waiting.pieces.items():
            self._grow_arguments(block, name, "".join(pieces))
        return block

    def _grow_arguments(self, block: BlockState, name: str, text: str) -> None:
        block.grow(name, text)
        if text and block.index >= 0:
            self.events.append(ArgumentsDelta(index=block.index, text=text))

    def _grow_function_call(self, choice: Choice, value: dict[str, Any]) -> None:
        wire = choice.message.setdefault("function_call", {})
        text = value.get("arguments")
        grows = text.__class__ is str
        merge_into(wire, {name: inner for name, inner in value.items() if name != "arguments" or not grows})
        block = choice.blocks.get(("function_call", 0))
        if block is None and any(value.values()):
            blank_message = {"role": "assistant", "function_call": {"name": " ", **wire, "arguments": " "}}
            content = decode_assistant(blank_message, self.context()).contents[0]
            content = msgspec.structs.replace(content, name=wire.get("name"), arguments="")
            block = self._open(choice, ("function_call", 0), wire, content)
        if block is None:
            wire.setdefault("arguments", text)
        elif text.__class__ is str:
            block.grow("arguments", text)
            self.emit(ArgumentsDelta(index=block.index, text=text))

    def _grow_part(self, choice: Choice, column: str, entry: Any) -> None:
        """Append to a list of parts of the reasoning, or to the part that the entry continues."""
        parts = choice.message.setdefault(column, [])
        if entry.__class__ is not dict:
            parts.append(entry)
            return
        names = detail_names(entry)
        place = place_of_thinking(parts, entry) if column == "thinking_blocks" else None
        if column == "reasoning_details" and names:
            place = choice.details.get(names["id" in entry])
        if place is None:
            place = len(parts)
            for name in names:
                choice.details.setdefault(name, place)
            parts.append({key: value for key, value in entry.items() if key not in GROWING})
            blank = {**parts[place], **{key: "" for key in GROWING if entry.get(key).__class__ is str}}
            block = self._open(choice, (column, place), parts[place], self._decode_part(column, blank))
        else:
            block = choice.blocks[column, place]
            merge_into(block.wire, {key: value for key, value in entry.items() if key not in GROWING})
            if entry.get("signature") and not any(entry.get(key) for key in GROWING):
                content = self._decode_part(column, {"text": "", **block.wire})
                if content.protected is not None:
                    self.emit(SignatureDelta(index=block.index, protected=content.protected))
        for key in GROWING:
            if entry.get(key).__class__ is str:
                block.grow(key, entry[key])
                if key != "data" and entry[key]:
                    self.emit(ReasoningDelta(index=block.index, text=entry[key]))
            elif key in entry:
                block.wire.setdefault(key, entry[key])

    def _decode_part(self, column: str, wire: dict[str, Any]) -> Any:
        return REASONING_LISTS[column].decode_list([wire], self.context())[0]

    def _grow_audio(self, choice: Choice, value: dict[str, Any]) -> None:
        wire = choice.message.setdefault("audio", {})
        key = ("audio", 0)
        merge_into(wire, {name: inner for name, inner in value.items() if name not in ("data", "transcript")})
        block = choice.blocks.get(key)
        if block is None and not any(value.values()):
            # An object filled with blanks (Snowflake) has no content.
            for name in value:
                wire.setdefault(name, value[name])
            return
        if block is None:
            blank_audio = {"id": " ", "data": "", "transcript": "", "expires_at": 0, **wire}
            content = decode_assistant({"role": "assistant", "audio": blank_audio}, self.context()).contents[0]
            block = self._open(choice, key, wire, content)
        for name, event in (("data", None), ("transcript", TextDelta)):
            text = value.get(name)
            if text.__class__ is str:
                block.grow(name, text)
                grown = MediaDelta(index=block.index, data=text)
                self.emit(grown if event is None else event(index=block.index, text=text))

    def _cite(self, choice: Choice, annotations: list[Any]) -> None:
        existing = choice.message.setdefault("annotations", [])
        existing.extend(annotations)
        block = choice.blocks.get(("content", 0))
        if block is not None and all(annotation.__class__ is dict for annotation in annotations):
            for citation in CITATIONS.decode_list(annotations, self.context()):
                self.emit(CitationDelta(index=block.index, citation=citation))

    def _decode_call(self, wire: dict[str, Any]) -> Any:
        return TOOL_CALLS.decode_list([wire], self.context())[0]

    # -- the end -----------------------------------------------------------------------------------------------

    def is_ready(self) -> bool:
        choices = self._choices.values()
        return bool(choices) and all(choice.rest.get("finish_reason") or choice.has_message for choice in choices)

    def done(self) -> None:
        # Some hosts never send a finish reason (Snowflake): the marker ends the answer.
        if self._has_begun:
            self.finish()

    def broken(self) -> tuple[dict[str, Any], Layout]:
        if not self._has_begun:
            return {}, []
        try:
            return super().broken()
        except DecodeError:
            for choice in self._choices.values():
                for key in choice.stopped:
                    self.catch_up(choice.blocks[key], self.remains(choice.blocks[key]))
            raise

    def remains(self, block: BlockState) -> Any:
        place = self._texts.get(block.index)
        if place is not None:
            choice, (column, _) = place
            if choice.message.get(column).__class__ is not list:
                return _with_text(block.emitted, choice.text(column))
        return super().remains(block)

    def finish(self) -> None:
        for choice in self._choices.values():
            if choice.divider is not None:
                self._grow_divided(choice, choice.divider.rest())
        super().finish()

    def merged(self) -> dict[str, Any]:
        choices = [choice.merge_pieces() for choice in self._choices.values()]
        return {"object": "chat.completion", **self.answer, "choices": choices}

    def stop_all(self, response: Any) -> Layout:
        """Stop every block with its content. After a failure, choices without a finish reason are incomplete."""
        order = []
        for choice, decoded in zip(self._choices.values(), response.choices, strict=True):
            contents = list(contents_of(decoded.messages))
            is_complete = not self.is_broken or bool(choice.rest.get("finish_reason"))
            order.append(self._stop_choice(choice, contents, is_complete))
        return layout_of(response, order)

    def _stop_choice(self, choice: Choice, contents: list[Any], is_complete: bool) -> list[int]:
        indices = []
        remaining = dict(choice.blocks)
        for key, content in zip(choice.keys(), contents, strict=True):
            block = remaining.pop(key, None)
            if block is None:
                indices.append(self.whole(content, choice.number).index)
                continue
            indices.append(block.index)
            if key in choice.stopped:
                self.catch_up(block, content)
            else:
                self.stop(block, content, is_complete=is_complete)
        for key, block in remaining.items():
            # A column that repeats another one: the decoded message does not contain it.
            if key not in choice.stopped:
                self.stop(block, block.emitted, is_complete=False)
        return indices


_ONLY_DELTA = {"index", "delta"}


def _with_text(content: Any, text: str) -> Any:
    return msgspec.structs.replace(content, **{"message" if isinstance(content, ErrorContent) else "text": text})


def _only_grew(wire: dict[str, Any]) -> bool:
    """Return whether a chunk only appends to one value of its choice, so that a template can read the next chunk."""
    if sum(1 for key, value in object_of(wire, "delta").items() if value and key != "role") != 1:
        return False
    return all(key == "delta" or (key != "text" and value.__class__ not in (list, dict)) for key, value in wire.items())


@cache
def _blank(column: str) -> Any:
    """Return the content of a column without text."""
    context = DecodeContext(API, Origin(api=API, issuer="openai"))
    return _with_text(decode_assistant({"role": "assistant", column: "x"}, context).contents[0], "")


# -- writing -----------------------------------------------------------------------------------------------------------

ORDER = {name: number for number, name in enumerate(COLUMNS)}
_SEPARATED = (*REASONING_TEXTS, "refusal")
"""The columns that separate several texts of another API."""


_IS_SET = partial(is_not, None)


class Piece(NamedTuple):
    """A piece of a text, and the code points before it in the text of the message."""

    before: int
    start: int = 0
    end: int | None = None


class Encoder(JoiningEncoder):
    """Encode one answer as chunks."""

    concurrent = True
    choices = True
    argument_texts = True

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._calls: dict[int, int] = {}
        self._begun = 0
        """The number of choices whose first chunk was written."""
        self._columns: dict[int, tuple[str, LossFamily, list[str]]] = {}
        """The name and the family of each content that was written, for its losses, and its columns."""
        self._citations: dict[int, list[Any]] = {}
        self._contexts: dict[int, list[Any]] = {}
        """The citations of data sources (Azure), by choice."""
        self._executed: dict[int, list[tuple[int, Any]]] = {}
        """The tools that the host ran and that are not written, by choice."""
        self._cited: dict[int, Any] = {}
        """The texts with citations, by number."""
        self._live_calls: dict[int, tuple[int, dict[str, Any]]] = {}
        """The number of each live call, and its fields that were written."""
        self._begun_columns: set[tuple[int, str]] = set()
        """The separated columns that were begun, each with its choice."""
        self._thinking: set[int] = set()
        """The choices whose content is a thought so far."""
        self._head: dict[str, Any] = {}
        self._prefix = b""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {key: value for key, value in payload.items() if key not in ("choices", "usage", "error")}
        self._head = {"id": "", **head, "object": "chat.completion.chunk"}
        for key, value in (("created", 0), ("model", "")):
            self._head.setdefault(key, value)
        self._prefix = write(self._head)[:-1].replace(b"%", b"%%") + b',"choices":[{"index":%d,"delta":{'

    def _chunk(self, choice: int, delta: dict[str, Any], **ending: Any) -> None:
        choice_delta = {"index": choice, "delta": delta, "finish_reason": None, **ending}
        self.put({**self._head, "choices": [choice_delta]})

    # -- blocks ------------------------------------------------------------------------------------------------

    def is_empty(self, content: Any) -> bool:
        is_empty = super().is_empty(content)
        if not is_empty or not is_signed(content):
            return is_empty
        # Hosts of Gemini have a field for the signature of an empty text.
        model = None if self._origin is None else self._origin.model
        return self.adapter.host(model, self._policies).state_field is None

    def open_block(self, block: OutgoingBlock) -> None:
        if block.choice >= self._begun:
            self._begin_choice(block.choice)
        if block.content.extra is not None and hints.COLUMN.of(block.content, self.api) == THOUGHT:
            self._open_thought(block)
            return
        message = self.encode_start(block.content)
        for column in TEXTS:
            if message.get(column).__class__ is str:
                self._open_text(block, column)
                return
        calls = message.get("tool_calls")
        if calls.__class__ is list and len(calls) == 1 and calls[0].__class__ is dict:
            self._open_call(block, calls[0])

    def _begin_choice(self, choice: int) -> None:
        # OpenAI's client assumes that the first choice it receives has the number 0.
        while self._begun <= choice:
            # OpenAI's first chunk sets unset fields to null; a native stream has its own fields.
            empty = {} if self.is_native else {"content": None, "refusal": None}
            self._chunk(self._begun, {"role": "assistant", **empty})
            self._begun += 1

    def _open_thought(self, block: OutgoingBlock) -> None:
        self._thinking.add(block.choice)
        head = b'"extra_content":%b,"content":' % write(FLAG)
        block.grow = growing(b"data: " + self._prefix % block.choice + head, b'},"finish_reason":null}]}\n\n')
        self.put_raw(block.grow(THOUGHT))
        self.write_begun(block)

    def _close_thought(self, block: OutgoingBlock) -> None:
        if block.grow is None:
            self._open_thought(block)
        message = self.encode([block.content], places=[(block.choice, block.index)])
        self.write_rest(block, block.content.text)
        self._write_message(block.choice, {key: value for key, value in message.items() if key != "content"})

    def _end_thought(self, choice: int) -> None:
        """Write the closing tag before the answer."""
        if choice in self._thinking:
            self._thinking.discard(choice)
            self._chunk(choice, {"content": END})

    def _open_text(self, block: OutgoingBlock, column: str) -> None:
        if column == "content" and self._thinking:
            self._end_thought(block.choice)
        block.grow = growing(
            b"data: " + self._prefix % block.choice + b'"%b":' % column.encode(), b'},"finish_reason":null}]}\n\n'
        )
        if column in _SEPARATED and not self.is_native:
            if (block.choice, column) in self._begun_columns:
                self.put_raw(block.grow(BETWEEN))
            self._begun_columns.add((block.choice, column))
        elif column == "content":
            block.grow = self.joining(block, block.grow)
        self.write_begun(block)

    def _open_call(self, block: OutgoingBlock, wire: dict[str, Any]) -> None:
        kind = _kind_of(wire)
        if kind is None or not isinstance(block.content, ToolCallContent):
            return
        number = self._next_call(block.choice)
        grown = GROWN[kind]
        # Some hosts begin the arguments with null.
        spelled = object_of((block.content.extra or {}).get(self.api, {}), kind)
        inner = {**wire[kind], grown: spelled.get(grown, "")} if grown in wire[kind] else wire[kind]
        self._live_calls[block.index] = number, wire
        start = {"index": number, **wire, kind: inner}
        self._chunk(block.choice, {"tool_calls": [start]})
        prefix = b'"tool_calls":[{"index":%d,"%b":{"%b":' % (number, kind.encode(), grown.encode())
        block.grow = growing(b"data: " + self._prefix % block.choice + prefix, b'}}]},"finish_reason":null}]}\n\n')
        self.write_begun(block)

    def _numbered(self, choice: int, call: Any) -> Any:
        """Return a call with its number in the stream."""
        return {"index": self._next_call(choice), **call} if call.__class__ is dict else call

    def _next_call(self, choice: int) -> int:
        self._calls[choice] = number = self._calls.get(choice, -1) + 1
        return number

    def break_off(self, block: OutgoingBlock) -> None:
        if block.grow is not None:
            self.close_block(block)
            return
        self._begin_choice(block.choice)
        super().break_off(block)

    def close_block(self, block: OutgoingBlock) -> None:
        if block.choice >= self._begun:
            self._begin_choice(block.choice)
        content = block.content
        column = None if content.extra is None else hints.COLUMN.of(content, self.api)
        if column == "executed_tools":
            self._close_executed(block)
            return
        if column == THOUGHT:
            self._close_thought(block)
            return
        texts = self.texts_of(block)
        block.place = texts.size + len(texts.before(getattr(content, "text", None) or ""))
        placed_content = self._placed(content, block.place) if content.annotations else content
        place = [(block.choice, block.index)]
        message = self.encode([placed_content], places=place)
        message.pop("role", None)
        columns = [column for column in ORDER if message.get(column) is not None]
        if columns:
            pending = PendingLoss(content, None, reasons.SEPARATE_COLUMN)
            self._columns[block.index] = what_of(pending), family_of(pending), columns
        if block.grow is not None and (block.is_complete or not is_incomplete_call(block)):
            self._write_rest(block, message)
        if message.get("content").__class__ is str:
            message["content"] = self.add_text(block, message["content"])
        for column in () if block.grow is None else (*TEXTS, "tool_calls"):
            message.pop(column, None)
        if any(map(_IS_SET, message.values())):
            self._write_message(block.choice, message)
        if content.annotations:
            self._note_citations(block.index, content)
        block.cited = len(content.annotations or ())

    def _close_executed(self, block: OutgoingBlock) -> None:
        """Hold a tool that the host ran until its result is complete: both are one object."""
        self._executed.setdefault(block.choice, []).append((block.index, block.content))
        if isinstance(block.content, ToolResultContent):
            self._write_executed(block.choice)

    def _write_executed(self, choice: int) -> None:
        waiting = self._executed.pop(choice, [])
        if waiting:
            places = [(choice, index) for index, _ in waiting]
            self._write_message(choice, self.encode([content for _, content in waiting], places=places))

    def _note_citations(self, index: int, content: Any) -> None:
        if content.annotations and self.is_native:
            self._cited[index] = content

    def _report_order(self, layout: Layout) -> None:
        """Report the contents whose column is before that of an earlier content."""
        for choice, messages in enumerate(layout):
            for indices in messages:
                latest = 0
                for index in indices:
                    name, family, columns = self._columns.get(index, ("", "other", []))
                    for column in columns:
                        if ORDER[column] < latest:
                            loss = loss_of(reasons.SEPARATE_COLUMN, "", name, self.api, family=family, column=column)
                            self.add_losses((choice, index), [loss])
                        latest = max(latest, ORDER[column])

    def _write_rest(self, block: OutgoingBlock, message: dict[str, Any]) -> None:
        """Write the text of a live block that has not been written."""
        text = None
        for column in TEXTS:
            if text is None and isinstance(message.get(column), str):
                text = message[column]
        calls = message.get("tool_calls")
        for wire in calls if calls.__class__ is list else ():
            kind = _kind_of(wire) if wire.__class__ is dict else None
            if kind is None:
                continue
            text = wire[kind].get(GROWN[kind])
            number, written = self._live_calls.pop(block.index, (0, wire))
            if wire.keys() - written.keys():
                added = {key: value for key, value in wire.items() if key not in written}
                # A signature may follow the arguments.
                self._chunk(block.choice, {"tool_calls": [{"index": number, **added}]})
        if isinstance(text, str):
            unsent = block.unwritten(text)
            if unsent or not text:
                self.write_text(block, unsent)

    def _write_message(self, choice: int, message: dict[str, Any]) -> None:
        """Write columns that are not streamed."""
        self._hold_citations(choice, message)
        if "content" in message:
            self._end_thought(choice)
        delta = {key: value for key, value in message.items() if key != "role" and value is not None}
        if list_of(delta, "tool_calls"):
            delta["tool_calls"] = [self._numbered(choice, call) for call in delta["tool_calls"]]
        if delta:
            self._chunk(choice, delta)

    def _hold_citations(self, choice: int, message: dict[str, Any]) -> None:
        """Take the citations out of a message, for the last chunk of its choice.

        OpenAI's client accepts their list only in one piece. Those of Azure are in an object with other fields.
        """
        if message.get("annotations").__class__ is list:
            self._citations.setdefault(choice, []).extend(message.pop("annotations"))
        listed = object_of(message, "context").get("citations") if self.is_native else None
        if listed.__class__ is list:
            self._contexts.setdefault(choice, []).extend(listed)
            message.pop("context")

    def _placed(self, content: Any, before: int) -> Any:
        """Return a text with citation spans that count from the beginning of all texts of the message."""
        if content.__class__ is not TextContent or not content.annotations or (self.is_native and not before):
            return content
        converter = SpanConverter(content.text)
        citations = [placed(citation, converter, before) for citation in content.annotations]
        return msgspec.structs.replace(content, annotations=citations)

    def amend(self, index: int, content: Any, written: Written) -> None:
        place = (written.choice, index)
        self._note_citations(index, content)
        if written.call is not None:
            self.report_loss(place, content, reasons.CHANGED_AFTER_WRITE)
        pieces = [Piece(written.place)]
        message = self.encode([msgspec.structs.replace(content, annotations=None)], places=[place])
        for column in TEXTS:
            text, sent, texts = message.get(column), written.sent, self.texts_of(written)
            if isinstance(text, str) and len(text) > sent:
                self._chunk(written.choice, {column: text[sent:]})
                if column == "content" and texts.size != written.place + sent:
                    pieces = [Piece(written.place, 0, sent), Piece(texts.size, sent)]
                texts.append(text[sent:] if column == "content" else "")
                written.sent = len(text)
        if len(content.annotations or ()) > written.cited:
            encode = partial(self._encode_cited, pieces=pieces, cited=written.cited)
            self._hold_citations(written.choice, self.encode_with(encode, [content], [place]))
            written.cited = len(content.annotations)

    def _encode_cited(self, contents: list[Any], context: EncodeContext, *, pieces: list[Piece], cited: int) -> Any:
        """Encode the citations of a text from number `cited` on, where its pieces are in the text of the message."""
        cut = [self._piece(content, piece, cited, context) for content in contents for piece in pieces]
        return self.adapter.encode_more(cut, context)

    def _piece(self, content: Any, piece: Piece, cited: int, context: EncodeContext) -> Any:
        listed = citations_of_piece(content, cited, piece.start, piece.end)
        pairs = [(old, new) for old, new in listed if new is not None]
        text = content.text[piece.start : piece.end]
        cut = msgspec.structs.replace(content, text=text, annotations=[new for _, new in pairs] or None)
        placed = self._placed(cut, piece.before)
        for (old, _), new in zip(pairs, placed.annotations or (), strict=True):
            context.replaced(old, new)
        return context.replaced(content, placed)

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        self._end_choices(event)
        self.put_raw(b"data: [DONE]\n\n")

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        if self._head:
            # Send what was received before the error: usage, finish reasons, and the host's fields.
            self._end_choices(event)
        # A native error may have another form: see `with_error_of_host`.
        self.put({"error": payload["error"]} if "error" in payload else payload)

    def _end_choices(self, event: TurnComplete | TurnError) -> None:
        """Write the end of every choice, and the fields of the whole answer."""
        for choice in list(self._executed):
            self._write_executed(choice)
        payload = self.encode_envelope(event)
        if self.is_native and payload.get("usage") == usage_of_host(payload, payload.get("choices", ())):
            # The stream that it was read from has it there only.
            payload.pop("usage", None)
        if self._cited:
            payload = with_listed(payload, (self._cited[index] for index in sorted(self._cited)), self.new_context())
        if len(self._columns) > 1:
            self._report_order(event.layout)
        is_failed = isinstance(event, TurnError)
        ends = []
        for number, wire in enumerate(payload.get("choices", ())):
            ends.append(self._end_of(number, wire, event.response.choices[number], is_failed=is_failed))
        if is_failed:
            ends = [end for end in ends if any(end[key] for key in end if key != "index")]
        other_fields = {
            key: value
            for key, value in payload.items()
            if key not in ("choices", "object") and (key not in self._head or self._head[key] != value)
        }
        has_own_chunk = (self._policies or {}).get("stream_usage") == "chunk"
        beside = other_fields if ends and not self.is_native and not has_own_chunk else {}
        for end in ends:
            self.put({**self._head, **(beside if end is ends[-1] else {}), "choices": [end]})
        if other_fields and not beside:
            self.put({**self._head, **other_fields, "choices": []})

    def _end_of(self, number: int, wire: dict[str, Any], choice: ChatChoice, *, is_failed: bool) -> dict[str, Any]:
        """Return the last chunk of a choice: its finish reason, and fields that belong to no block."""
        if number >= self._begun:
            self._begin_choice(number)
        left_out = ("role",) if self.is_native else ("role", "content", "refusal")
        message = {key: value for key, value in object_of(wire, "message").items() if key not in left_out}
        if self._citations.get(number):
            message["annotations"] = self._citations.pop(number)
        if self._contexts.get(number):
            message["context"] = {**object_of(message, "context"), "citations": self._contexts.pop(number)}
        other_fields = {key: value for key, value in wire.items() if key not in ("index", "message")}
        if is_failed and (choice.finish_reason is None or not self.is_native):
            # The error replaces the finish reason.
            other_fields.pop("finish_reason", None)
        return {"index": number, "delta": message, "finish_reason": None, **other_fields}


def _kind_of(call: dict[str, Any]) -> str | None:
    """Return the key of the object that holds a call's name and arguments; None if there is none."""
    for kind in GROWN:
        if call.get(kind).__class__ is dict:
            return kind
    return None
