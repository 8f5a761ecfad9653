"""The conversation log over an async store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any

from contentmodel.client import AsyncChatClient
from contentmodel.events import Notice, StreamEvent
from contentmodel.history import log_entries
from contentmodel.history.asynchronous import AsyncTurnStore
from contentmodel.history.common import TurnOrId
from contentmodel.history.log_operations import LogOperations
from contentmodel.history.steps import Asynchronous, Step
from contentmodel.history.turns import Turn

__all__ = ["AsyncConversationLog", "arecord_notices"]


class AsyncConversationLog(LogOperations[AsyncTurnStore, AsyncChatClient], Asynchronous):
    """The asynchronous ConversationLog."""

    async def _do(self, step: Step) -> Any:
        return await self.store._do(step)


async def arecord_notices(
    events: AsyncIterable[StreamEvent], log: AsyncConversationLog, turn: TurnOrId
) -> AsyncGenerator[StreamEvent, None]:
    """Do the same as `record_notices`, for an async iterator and an async log."""
    conversation = turn.conversation if isinstance(turn, Turn) else (await log.store.turn(turn)).conversation
    async for event in events:
        if isinstance(event, Notice):
            await log.add(conversation, turn=turn, **log_entries.notice_entry(event))
        yield event
