"""What a conversation log does, written once for the sync and the async log."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from contentmodel.client import AsyncChatClient, ChatClient
from contentmodel.history import log_entries
from contentmodel.history.common import TurnOrId, id_of
from contentmodel.history.log_entries import PAGE, EntryOrId, LogEntry, new_entry
from contentmodel.history.operations import StoreOperations
from contentmodel.history.steps import Call, Page, Pages, Steps, operation, paged
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest

S = TypeVar("S", bound=StoreOperations[Any])
C = TypeVar("C", bound=ChatClient | AsyncChatClient)


class LogOperations(Generic[S, C]):
    """The operations of a log over a store, and a client to ask beside the conversation."""

    def __init__(self, store: S) -> None:
        self.store = store

    @operation
    def add(
        self,
        conversation: str,
        kind: str,
        text: str | None = None,
        content: Any = None,
        turn: TurnOrId | None = None,
        parent: EntryOrId | None = None,
    ) -> Steps[LogEntry]:
        """Adds an entry; it is durable when this returns.

        `kind` is the application's word, 1 to 100 printable characters; `content` is a JSON value, or a value of the
        model or a list of them. Raises NotFoundError (the conversation has no such turn or entry, or is not there),
        InvalidEntryError.
        """
        return self._add(conversation, turn, parent, kind=kind, text=text, content=content)

    @operation
    def add_task(
        self,
        conversation: str,
        text: str,
        work: str | Sequence[ChatMessage],
        turn: TurnOrId | None = None,
        parent: EntryOrId | None = None,
    ) -> Steps[LogEntry]:
        """Adds a task that was handed to somebody else, as an entry of the kind "task".

        `work` is the id of the conversation that it became (its existence is not checked), or everything
        that was said in it: the messages of a run.
        """
        return self._add(conversation, turn, parent, **log_entries.task(text, work))

    @operation
    def aside(
        self,
        conversation: str,
        kind: str,
        client: C,
        request: ChatRequest,
        turn: TurnOrId | None = None,
        parent: EntryOrId | None = None,
        *,
        timeout: float | None = None,
    ) -> Steps[LogEntry]:
        """Asks a model something beside the conversation, a title or a summary of it, and gives the answer's entry.

        Two entries are kept: one of the kind "question" with the request, and, as a part of it, the answer: of this
        `kind`, its text, and the whole response as its content. A failure is of the kind "error"; what the client
        raises is raised. `timeout` is in seconds.
        """
        question = yield from self._add(conversation, turn, parent, **log_entries.asked(request))
        try:
            response = yield Call(partial(client.complete, request, timeout=timeout))
        except Exception as error:
            yield from self._add(conversation, turn, question, **log_entries.failed(error))
            raise
        return (yield from self._add(conversation, turn, question, **log_entries.answered(kind, response)))

    @operation
    def entry(self, entry: EntryOrId) -> Steps[LogEntry]:
        """An entry by its id. NotFoundError."""
        return self.store._read(log_entries.entry, entry.id if isinstance(entry, LogEntry) else entry)

    @operation
    def entries(
        self,
        conversation: str,
        limit: int = 100,
        after: LogEntry | int | None = None,
        kinds: Sequence[str] | None = None,
        turn: TurnOrId | None = None,
    ) -> Steps[list[LogEntry]]:
        """Entries in the order in which they were added, of these `kinds`, of one turn.

        `after` is the entry that they follow, or its number.

        NotFoundError where there is no such conversation.
        """
        return self.store._read(log_entries.entries, conversation, limit, after, kinds, id_of(turn))

    @paged
    def stream(self, conversation: str, kinds: Sequence[str] | None = None) -> Pages[LogEntry]:
        """All entries, a few hundred in memory at a time."""
        after: LogEntry | None = None
        while page := (yield from self.store._read(log_entries.entries, conversation, PAGE, after, kinds, None)):
            yield Page(page)
            after = page[-1]

    def _add(
        self,
        conversation: str,
        turn: TurnOrId | None,
        parent: EntryOrId | None,
        *,
        kind: str,
        text: str | None,
        content: Any,
    ) -> Steps[LogEntry]:
        return self.store._write(log_entries.add, new_entry(conversation, kind, text, content, turn, parent))
