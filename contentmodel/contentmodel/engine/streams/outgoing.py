"""Outgoing blocks of a stream: the content received so far, and the part that was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.json import JsonObject, write
from contentmodel.engine.streams.formats import StreamFormat
from contentmodel.events import growing_field, grown


class OutgoingBlock:
    """A block that is being encoded."""

    __slots__ = (
        "choice",
        "cited",
        "content",
        "deltas",
        "grow",
        "index",
        "is_complete",
        "is_held",
        "is_stopped",
        "pieces",
        "place",
        "state",
    )

    def __init__(self, index: int, content: Any, choice: int) -> None:
        self.index = index
        self.content = content
        self.choice = choice
        self.deltas: list[Any] = []
        """The deltas that are not written yet."""
        self.is_stopped = False
        self.is_complete = True
        self.pieces: list[str] = []
        """The written pieces of the growing field."""
        self.cited = 0
        """The number of citations that were written."""
        self.place = 0
        """Its position in the API's list."""
        self.grow: Callable[[str], bytes] | None = None
        """Returns the event for more text of a live block; None if the block is not live, or not yet."""
        self.state: Any = None
        """Additional state of the API's encoder for a live block."""
        self.is_held = False
        """True if it is held until it is complete."""

    @property
    def sent(self) -> int:
        """The number of written characters of the growing field."""
        return sum(map(len, self.pieces))

    def left(self, text: str) -> str:
        """Return the part of the text that is not written yet."""
        return text[self.sent :]

    def merge_pieces(self) -> Any:
        """Return the content with everything received so far, written or not."""
        field = growing_field(self.content)
        if self.pieces and field is not None and not self.is_stopped:
            self.content = msgspec.structs.replace(self.content, **{field: "".join(self.pieces)})
        if self.deltas:
            self.content, self.deltas = grown(self.content, self.deltas), []
        return self.content


class Written:
    """The state that is kept of a written block: its position, and the size of its content."""

    __slots__ = ("call", "choice", "cited", "place", "sent")

    def __init__(self, block: OutgoingBlock) -> None:
        self.choice, self.place, self.sent, self.cited = block.choice, block.place, block.sent, block.cited
        self.call = block.content if isinstance(block.content, ToolCallContent) else None
        text = getattr(block.content, growing_field(block.content) or "", None)
        if text.__class__ is str:
            # A held block was written whole.
            self.sent = max(self.sent, len(text))


def growing(head: bytes, tail: bytes) -> Callable[[str], bytes]:
    """Return a function that writes more text of a block. `head` and `tail` surround the text, a JSON string."""

    def grow(text: str) -> bytes:
        return head + write(text) + tail

    return grow


TEXT_HERE = "\x02text\x03"
"""The place of the text in an event for `growing_event`. It is ASCII, which JSON with and without escapes has alike."""
_HERE = write(TEXT_HERE)


def growing_event(stream_format: StreamFormat, event: JsonObject, name: str | None = None) -> Callable[[str], bytes]:
    """Return a function that writes an event with more text of a block, where the event has `TEXT_HERE`.

    Put no value of the caller after `TEXT_HERE`.
    """
    data = write(event)
    if not stream_format.is_text:
        head, _, tail = data.rpartition(_HERE)
        return lambda text: stream_format.write(head + write(text) + tail, name)
    head, _, tail = stream_format.write(data, name).rpartition(_HERE)
    return growing(head, tail)


def is_incomplete_call(block: OutgoingBlock) -> bool:
    """Return whether a call broke off. It must not look complete."""
    return not block.is_complete and isinstance(block.content, ToolCallContent)
