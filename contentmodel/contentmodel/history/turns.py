"""What a store keeps, as values: turns, conversations, and a turn with what was said in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.usage import Usage

Status: TypeAlias = Literal["open", "complete", "interrupted", "failed"]
"""`open`: somebody writes it. `complete`: it came to its end. `failed`: it ended with an error. `interrupted`: whoever
wrote it stopped, or died; what was complete until then is there."""

STATUSES: tuple[Status, ...] = ("open", "complete", "interrupted", "failed")

START = "start of the conversation"
"""In place of a turn's predecessor: it has none. No turn has this id, for ids have no blanks."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of a conversation. `previous` is the id of the turn it follows; None is the start.

    `number` counts the turns of the conversation in the order in which they began, from 1, over all branches. `writer`
    is the store that writes an open turn. Times are UTC.
    """

    id: str
    conversation: str
    previous: str | None
    number: int
    role: str
    status: Status
    model: str | None = None
    origin: Origin | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    started_at: datetime
    ended_at: datetime | None = None
    error: ErrorContent | None = None
    writer: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody still writes it."""
        return self.status == "open"


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One stored block of a turn: its number in the turn, and the content."""

    sequence: int
    content: Any


class StoredTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, and its messages: several where the assistant ran tools in it."""

    turn: Turn
    messages: list[ChatMessage]


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation: how many turns it has, the id of the one that began last, and when it was begun and changed."""

    id: str
    turns: int
    head: str | None
    created_at: datetime
    updated_at: datetime
