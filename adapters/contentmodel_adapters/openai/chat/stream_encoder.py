"""Encode streams of Chat Completions: every chunk appends to the columns of a choice's message."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from operator import is_not
from typing import Any, NamedTuple

import msgspec

from contentmodel.authoring import (
    EncodeContext,
    JoiningEncoder,
    OutgoingBlock,
    PendingLoss,
    Written,
    citations_of_piece,
    family_of,
    growing,
    hints,
    is_incomplete_call,
    list_of,
    loss_of,
    object_of,
    reasons,
    what_of,
    write,
)
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.events import Layout, TurnComplete, TurnError
from contentmodel.literals import LossFamily
from contentmodel.response import ChatChoice
from contentmodel_adapters.common.citations import placed
from contentmodel_adapters.common.google import is_signed
from contentmodel_adapters.openai.chat.messages import BETWEEN, COLUMNS, END, FLAG, REASONING_TEXTS, THOUGHT
from contentmodel_adapters.openai.chat.parts import usage_of_host, with_listed
from contentmodel_adapters.openai.chat.stream import TEXTS

ORDER = {name: number for number, name in enumerate(COLUMNS)}
GROWN = {"function": "arguments", "custom": "input"}
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
        own = object_of((block.content.extra or {}).get(self.api, {}), kind)
        inner = {**wire[kind], grown: own.get(grown, "")} if grown in wire[kind] else wire[kind]
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
            left = block.left(text)
            if left or not text:
                self.write_text(block, left)

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
        kept = [(old, new) for old, new in listed if new is not None]
        text = content.text[piece.start : piece.end]
        cut = msgspec.structs.replace(content, text=text, annotations=[new for _, new in kept] or None)
        made = self._placed(cut, piece.before)
        for (old, _), new in zip(kept, made.annotations or (), strict=True):
            context.replaced(old, new)
        return context.replaced(content, made)

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
        rest = {
            key: value
            for key, value in payload.items()
            if key not in ("choices", "object") and (key not in self._head or self._head[key] != value)
        }
        has_own_chunk = (self._policies or {}).get("stream_usage") == "chunk"
        beside = rest if ends and not self.is_native and not has_own_chunk else {}
        for end in ends:
            self.put({**self._head, **(beside if end is ends[-1] else {}), "choices": [end]})
        if rest and not beside:
            self.put({**self._head, **rest, "choices": []})

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
        rest = {key: value for key, value in wire.items() if key not in ("index", "message")}
        if is_failed and (choice.finish_reason is None or not self.is_native):
            # The error replaces the finish reason.
            rest.pop("finish_reason", None)
        return {"index": number, "delta": message, "finish_reason": None, **rest}


def _kind_of(call: dict[str, Any]) -> str | None:
    """Return the key of the object that holds a call's name and arguments; None if there is none."""
    for kind in GROWN:
        if call.get(kind).__class__ is dict:
            return kind
    return None
