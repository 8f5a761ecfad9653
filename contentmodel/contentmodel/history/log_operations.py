"""The operations of a conversation log, shared by the sync and the async log."""

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
    """The operations of a log of a store."""

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
        """Add an entry and return it. The entry is durable when this method returns.

        `kind` is defined by the application: 1 to 100 printable characters. `content` is a JSON value, a value of the
        model, or a list of such values. Raise NotFoundError if the conversation, the turn or the parent entry does not
        exist, and InvalidEntryError if the kind, text or content is invalid.
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
        """Add an entry of the kind "task" for a delegated task.

        `work` is the id of the conversation of the task (its existence is not checked), or the messages of the run.
        """
        return self._add(conversation, turn, parent, **log_entries.task(text, work))

    @operation
    def side_request(
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
        """Send a side request to a model, for example for a title or a summary, and return the entry of the response.

        Add two entries: one of the kind "question" with the request, and, as its child, one of the kind `kind` with the
        text and the whole response. If the response has an error or the client raises, the child is of the kind
        "error". Errors of the client are raised again. `timeout` is in seconds.
        """
        question = yield from self._add(conversation, turn, parent, **log_entries.question_entry(request))
        try:
            response = yield Call(partial(client.complete, request, timeout=timeout))
        except Exception as error:
            yield from self._add(conversation, turn, question, **log_entries.failed(error))
            raise
        return (yield from self._add(conversation, turn, question, **log_entries.answered(kind, response)))

    @operation
    def entry(self, entry: EntryOrId) -> Steps[LogEntry]:
        """Return an entry by its id. Raise NotFoundError if it does not exist."""
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
        """Return up to `limit` entries in the order in which they were added, optionally only of `kinds` or of a turn.

        `after` is the last entry of the previous page, or its number. Raise NotFoundError if the conversation does not
        exist.
        """
        return self.store._read(log_entries.entries, conversation, limit, after, kinds, id_of(turn))

    @paged
    def stream(self, conversation: str, kinds: Sequence[str] | None = None) -> Pages[LogEntry]:
        """Yield all entries, optionally only of `kinds`. Keep at most a few hundred in memory."""
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
