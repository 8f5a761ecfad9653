"""The values of a store: turns, blocks, conversations, and turns with their messages."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.usage import Usage

Status: TypeAlias = Literal["open", "complete", "interrupted", "failed"]
"""`open`: a store is writing the turn. `complete`: it ended normally. `failed`: it ended with an error. `interrupted`:
its writer stopped or died; the blocks that were complete by then are stored."""

STATUSES: tuple[Status, ...] = ("open", "complete", "interrupted", "failed")

START = "start of the conversation"
"""A value of `previous` for a turn without a predecessor. Ids contain no spaces, so no turn has this id."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of a conversation. `previous` is the id of the turn before it; None at the start.

    `number` counts the turns of the conversation from 1, in order of their beginning, over all branches. `writer` is
    the id of the store that writes an open turn. Times are in UTC.
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
        """True if the turn is still being written."""
        return self.status == "open"


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A stored block of a turn: its number in the turn, and its content."""

    sequence: int
    content: Any


class StoredTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn with its messages. There are several if tools were run during the turn."""

    turn: Turn
    messages: list[ChatMessage]


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation: the number of its turns, the id of the turn that was begun last (`head`), and times in UTC."""

    id: str
    turns: int
    head: str | None
    created_at: datetime
    updated_at: datetime
