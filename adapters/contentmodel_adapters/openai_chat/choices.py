"""The state of one choice of a stream of Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import BlockState, merge_entry_pieces
from contentmodel_adapters.openai_chat.messages import row_of_wire
from contentmodel_adapters.shared.streamed_calls import StreamedCalls, is_named

Key = tuple[str, int]
"""A column of the message, and the position of a content in it."""


class Choice:
    """The state of one choice: its message, by columns, and its blocks."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.rest: dict[str, Any] = {}
        self.message: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {}
        self.blocks: dict[Key, BlockState] = {}
        self.calls = StreamedCalls()
        self.details: dict[bytes, int] = {}
        """The index of the first detail with each key (see `detail_names`)."""
        self.listed: dict[str, dict[bytes, Any]] = {}
        """The entries of each growing list, by their index."""
        self.stopped: set[Key] = set()
        self.current: Key | None = None
        self.is_detailed = False
        self.has_message = False

    def text(self, column: str) -> str:
        """Return the text of a column so far."""
        existing = self.message.get(column)
        text = self.message[column] = "".join(
            [existing if existing.__class__ is str else "", *self.texts.pop(column, ())]
        )
        return text

    def merge_pieces(self) -> dict[str, Any]:
        """Return the wire choice with everything that was appended to it."""
        for column in list(self.texts):
            self.text(column)
        for block in self.blocks.values():
            merge_entry_pieces(block)
        if self.calls:
            self.message["tool_calls"] = [self.blocks[key].wire for key in self.call_keys()]
        # Every answer is an assistant's, but some hosts send no role in a stream.
        self.message["role"] = self.message.get("role") or "assistant"
        return {**self.rest, "message": self.message}

    def call_keys(self) -> list[Key]:
        """Return the keys of the calls in the order of their numbers."""
        return [("tool_calls", place) for place in self.calls.in_order()]

    def number_of(self, entry: dict[str, Any], back: int) -> int:
        """Return the number of a call without one: by its id, a new one, or of the call `back` from the end."""
        name = entry.get("id")
        known = self.calls.number_of(name) if name else None
        if known is not None:
            return known
        return len(self.calls) if name or not self.calls or is_named(entry) else self.calls.last_number(back)

    def keys(self) -> Iterator[Key]:
        """Yield the key of each content of the message, in the order of the columns."""
        for column, count in row_of_wire(self.message).counts(self.message):
            yield from self.call_keys() if column == "tool_calls" else [(column, place) for place in range(count)]
