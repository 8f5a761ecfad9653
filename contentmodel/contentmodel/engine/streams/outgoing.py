"""Blocks of a stream on their way out: what has come of each, and what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.json import write
from contentmodel.events import growing_field, grown


class OutgoingBlock:
    """A block on its way out."""

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
        """What waits to be written."""
        self.is_stopped = False
        self.is_complete = True
        self.pieces: list[str] = []
        """What was written of what grows."""
        self.cited = 0
        """How many of its citations were written."""
        self.place = 0
        """Where the API's list has it."""
        self.grow: Callable[[str], bytes] | None = None
        """What makes the event of more of a live block; None where it is not, or not yet."""
        self.state: Any = None
        """What else the API's encoder keeps of a live block."""
        self.is_held = False
        """Whether it is held back until it is complete."""

    @property
    def sent(self) -> int:
        """How many characters of what grows were written."""
        return sum(map(len, self.pieces))

    def left(self, text: str) -> str:
        """What was not written yet of all that it grew to."""
        return text[self.sent :]

    def settle(self) -> Any:
        """The content with everything that has come, written or not."""
        field = growing_field(self.content)
        if self.pieces and field is not None and not self.is_stopped:
            self.content = msgspec.structs.replace(self.content, **{field: "".join(self.pieces)})
        if self.deltas:
            self.content, self.deltas = grown(self.content, self.deltas), []
        return self.content


class Written:
    """What is remembered of a block that was written: where it stands, and how much of it there was."""

    __slots__ = ("call", "choice", "cited", "place", "sent")

    def __init__(self, block: OutgoingBlock) -> None:
        self.choice, self.place, self.sent, self.cited = block.choice, block.place, block.sent, block.cited
        self.call = block.content if isinstance(block.content, ToolCallContent) else None
        text = getattr(block.content, growing_field(block.content) or "", None)
        if text.__class__ is str:
            # One that was held back was written whole.
            self.sent = max(self.sent, len(text))


def growing(head: bytes, tail: bytes) -> Callable[[str], bytes]:
    """What writes more of a block: the event before and after the text, which is a JSON string."""

    def grow(text: str) -> bytes:
        return head + write(text) + tail

    return grow


def is_incomplete_call(block: OutgoingBlock) -> bool:
    """Whether a call broke off: it must not look whole."""
    return not block.is_complete and isinstance(block.content, ToolCallContent)
