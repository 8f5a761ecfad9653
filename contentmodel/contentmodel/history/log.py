"""The conversation log: entries for what the user was shown and for side requests, separate from the turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contentmodel.client import ChatClient
from contentmodel.events import Notice, StreamEvent
from contentmodel.history import log_entries
from contentmodel.history.common import TurnOrId
from contentmodel.history.log_entries import InvalidEntryError, LogEntry
from contentmodel.history.log_operations import LogOperations
from contentmodel.history.steps import Step, Synchronous
from contentmodel.history.store import TurnStore
from contentmodel.history.turns import Turn

__all__ = ["ConversationLog", "InvalidEntryError", "LogEntry", "record_notices"]


class ConversationLog(LogOperations[TurnStore, ChatClient], Synchronous):
    """The logs of a store's conversations. Log entries never change the transcript that `store.load` returns.

    A log is deleted with its conversation. If a turn is deleted, its entries are kept.
    """

    def _do(self, step: Step) -> Any:
        return self.store._do(step)


def record_notices(events: Iterable[StreamEvent], log: ConversationLog, turn: TurnOrId) -> Iterator[StreamEvent]:
    """Yield the events as they arrive. Add each Notice to the log, as an entry of the turn, before yielding it.

    The entry has the kind and the text of the notice. If the notice refers to a call, the content of the entry is
    {"call_id": ...}.
    """
    conversation = turn.conversation if isinstance(turn, Turn) else log.store.turn(turn).conversation
    for event in events:
        if isinstance(event, Notice):
            log.add(conversation, turn=turn, **log_entries.notice_entry(event))
        yield event
