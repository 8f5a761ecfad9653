"""The conversation log: what the user was shown, and what was asked beside the conversation, apart from its turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contentmodel.client import ChatClient
from contentmodel.events import Notice, StreamEvent
from contentmodel.history import log_entries
from contentmodel.history.common import TurnOrId
from contentmodel.history.log_entries import InvalidEntryError, LogEntry
from contentmodel.history.log_operations import LogOperations
from contentmodel.history.steps import Call, Synchronous, Work
from contentmodel.history.store import TurnStore
from contentmodel.history.turns import Turn

__all__ = ["ConversationLog", "InvalidEntryError", "LogEntry", "record_notices"]


class ConversationLog(LogOperations[TurnStore, ChatClient], Synchronous):
    """The logs of a store's conversations. Whatever is logged, `store.load` gives the same transcript.

    A log goes with its conversation: it is deleted with it, and an entry outlives the turn that it belongs to.
    """

    def _do(self, step: Work | Call) -> Any:
        return self.store._do(step)


def record_notices(events: Iterable[StreamEvent], log: ConversationLog, turn: TurnOrId) -> Iterator[StreamEvent]:
    """The events as they come; each notice among them is kept as an entry of the turn before it is passed on.

    The entry has the notice's kind and text, and {"call_id": ...} as its content where it is about a call.
    """
    conversation = turn.conversation if isinstance(turn, Turn) else log.store.turn(turn).conversation
    for event in events:
        if isinstance(event, Notice):
            log.add(conversation, turn=turn, **log_entries.said_by(event))
        yield event
