"""The conversation log over an async store: the same operations, run on its connections."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from typing import Any

from contentmodel.client import AsyncChatClient
from contentmodel.events import Notice, StreamEvent
from contentmodel.history import log_entries
from contentmodel.history.asynchronous import AsyncTurnStore
from contentmodel.history.common import TurnOrId, id_of
from contentmodel.history.log_entries import PAGE, EntryOrId, LogEntry, new_entry
from contentmodel.history.turns import Turn
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest

__all__ = ["AsyncConversationLog", "arecord_notices"]


class AsyncConversationLog:
    """The same as ConversationLog, asynchronously."""

    def __init__(self, store: AsyncTurnStore) -> None:
        self.store = store

    async def add(
        self,
        conversation: str,
        kind: str,
        text: str | None = None,
        content: Any = None,
        turn: TurnOrId | None = None,
        parent: EntryOrId | None = None,
    ) -> LogEntry:
        """Adds an entry; it is durable when this returns.

        `kind` is the application's word, 1 to 100 printable characters; `content` is a JSON value, or a value of the
        model or a list of them. Raises NotFoundError (the conversation has no such turn or entry, or is not there),
        InvalidEntryError.
        """
        return await self.store._write(log_entries.add, new_entry(conversation, kind, text, content, turn, parent))

    async def add_task(
        self,
        conversation: str,
        text: str,
        work: str | Sequence[ChatMessage],
        turn: TurnOrId | None = None,
        parent: EntryOrId | None = None,
    ) -> LogEntry:
        """Adds a task that was handed to somebody else, as an entry of the kind "task".

        `work` is the id of the conversation that it became (nobody checks that it is there, or stays), or everything
        that was said in it: the messages of a run.
        """
        return await self.add(conversation, turn=turn, parent=parent, **log_entries.task(text, work))

    async def aside(
        self,
        conversation: str,
        kind: str,
        client: AsyncChatClient,
        request: ChatRequest,
        turn: TurnOrId | None = None,
        parent: EntryOrId | None = None,
        *,
        timeout: float | None = None,
    ) -> LogEntry:
        """Asks a model something beside the conversation, a title or a summary of it, and gives the answer's entry.

        Two entries are kept: one of the kind "question" with the request, and, as a part of it, the answer: of this
        `kind`, its text, and the whole response as its content. A failure is of the kind "error"; what the client
        raises is raised. `timeout` is in seconds.
        """
        question = await self.add(conversation, turn=turn, parent=parent, **log_entries.asked(request))
        try:
            response = await client.complete(request, timeout=timeout)
        except Exception as error:
            await self.add(conversation, turn=turn, parent=question, **log_entries.failed(error))
            raise
        return await self.add(conversation, turn=turn, parent=question, **log_entries.answered(kind, response))

    async def entry(self, entry: EntryOrId) -> LogEntry:
        """An entry by its id. NotFoundError."""
        return await self.store._read(log_entries.entry, entry.id if isinstance(entry, LogEntry) else entry)

    async def entries(
        self,
        conversation: str,
        limit: int = 100,
        after: LogEntry | int | None = None,
        kinds: Sequence[str] | None = None,
        turn: TurnOrId | None = None,
    ) -> list[LogEntry]:
        """Entries in the order in which they were added, of these `kinds`, of one turn.

        `after` is the entry that they follow, or its number.

        NotFoundError where there is no such conversation.
        """
        return await self.store._read(log_entries.entries, conversation, limit, after, kinds, id_of(turn))

    async def stream(self, conversation: str, kinds: Sequence[str] | None = None) -> AsyncIterator[LogEntry]:
        """All entries, a few hundred in memory at a time."""
        after: LogEntry | None = None
        while page := await self.entries(conversation, PAGE, after, kinds):
            for entry in page:
                yield entry
            after = page[-1]


async def arecord_notices(
    events: AsyncIterable[StreamEvent], log: AsyncConversationLog, turn: TurnOrId
) -> AsyncIterator[StreamEvent]:
    """`record_notices` over an async iterator, into an async log."""
    conversation = turn.conversation if isinstance(turn, Turn) else (await log.store.turn(turn)).conversation
    async for event in events:
        if isinstance(event, Notice):
            await log.add(conversation, turn=turn, **log_entries.said_by(event))
        yield event
