"""The messages of a conversation in somebody's store, through the two internal tools of a file.

A row of such a store is a role, a content text, a name, and one function call as JSON text. A message becomes as many
rows as it has calls or results; what no row can hold is told as a loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contentmodel.content.text import TextContent
from contentmodel.engine.json import kind_of, parse
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.loss import Loss, LossError, loss_of
from contentmodel.errors import DecodeError
from contentmodel.message import ChatMessage
from contentmodel.tools.config.executors import Executor, taken_by
from contentmodel.tools.config.faults import ExecutorError, MessageStoreError
from contentmodel.tools.config.format import LOAD, SAVE, Operation
from contentmodel.tools.config.operations import MESSAGE_FIELDS
from contentmodel.tools.config.rows import Pairing, Row, call_text, messages_of, rows_of
from contentmodel.tools.outcome import contents_of

_CALL_FIELDS = ("function_call", "functionCall")


@dataclass(frozen=True)
class Internal:
    """One of the two internal tools: its call, where it runs, and the caller's context.

    `values` are given each by its name, `context` as one object under that name, as far as the call takes them.
    """

    operation: Operation
    executor: Executor
    values: Mapping[str, Any]
    context: Mapping[str, Any]

    @property
    def taken(self) -> frozenset[str] | None:
        """The arguments that the call has a place for; None: its executor does not say."""
        return taken_by(self.executor, self.operation)

    def run(self, fields: Mapping[str, Any]) -> list[Any]:
        """Makes the call, and gives what came as contents. MessageStoreError where it fails."""
        taken = self.taken
        given = {**self.values, "context": dict(self.context), **fields}
        # Fields of a message are never the context's: a field that is not set is left out, not taken from there.
        given = {n: v for n, v in given.items() if n in fields or n not in MESSAGE_FIELDS}
        arguments = {name: value for name, value in given.items() if taken is None or name in taken}
        try:
            outcome = contents_of(self.executor.run(self.operation, arguments))
        except ExecutorError as error:
            raise MessageStoreError(f"{self.operation.tool}: {error}") from None
        failed = outcome.error
        if failed is not None:
            raise MessageStoreError(f"{self.operation.tool}: {failed.message}")
        if outcome.note is not None:
            raise MessageStoreError(f"{self.operation.tool}: {outcome.note}")
        return list(outcome.results)


class MessageLog:
    """The messages of one caller's conversation. Made by `ToolFile.messages`.

    It remembers the calls that it saved until their results are saved: one log is for one conversation at a time.
    """

    def __init__(self, saving: Internal | None, loading: Internal | None, *, newest_first: bool, on_loss: str) -> None:
        if on_loss not in ("report", "raise"):
            raise ValueError(f"on_loss is 'report' or 'raise', not {on_loss!r}")
        self._saving, self._loading = saving, loading
        self._newest_first, self._on_loss = newest_first, on_loss
        self._pairing = Pairing()

    def save(self, message: ChatMessage) -> tuple[Loss, ...]:
        """Saves a message, and gives what could not be saved of it, by its path in the message.

        Several calls, and each result, are a row of their own. Text, function calls and the text of their results are
        kept; everything else (images, reasoning, ids of messages, ...) is a loss, and so is a call where the query has
        no variable for it. With `on_loss="raise"` a loss is a LossError, and nothing is saved.

        Raises MessageStoreError where a row could not be saved; rows before it are.
        """
        if self._saving is None:
            raise MessageStoreError(f"messages cannot be saved: the file has no {SAVE}")
        losses: list[Loss] = []
        rows = list(rows_of(message, self._pairing, losses))
        given = [fields for row in rows if (fields := self._fields(row, losses)) is not None]
        if losses and self._on_loss == "raise":
            raise LossError(SAVE, tuple(losses))
        for fields in given:
            self._saving.run(fields)
        self._pairing.remember(rows)
        return tuple(losses)

    def load(self, limit: int | None = None) -> list[ChatMessage]:
        """The messages, the oldest first; at most the last `limit` rows of them, or what the query's default gives.

        A function call is a FunctionCallContent, and a row of the role "function" a message of the role "tool" with a
        FunctionResultContent, which has the id of the first open call of its name. Ids that were not saved are made of
        the row's number. Columns beside role, content, name and the call are not read.

        Raises MessageStoreError where the rows did not come, came in part, or are no messages.
        """
        if self._loading is None:
            raise MessageStoreError(f"messages cannot be loaded: the file has no {LOAD}")
        if limit is not None and limit < 1:
            raise ValueError(f"limit is at least 1, not {limit}")
        rows = _rows(self._loading.run({} if limit is None else {"limit": limit}))
        if limit is not None:
            # A call that has no place for a limit gives all of them.
            rows = rows[:limit] if self._newest_first else rows[-limit:]
        return messages_of(rows[::-1] if self._newest_first else rows)

    def _fields(self, row: Row, losses: list[Loss]) -> dict[str, Any] | None:
        """A row as arguments; None where nothing would be left of it."""
        assert self._saving is not None
        taken = self._saving.taken
        fields: dict[str, Any] = {"role": row.role, "content": row.content}
        if row.name is not None:
            fields["name"] = row.name
            if taken is not None and "name" not in taken:
                losses.append(loss_of(reasons.ROW_NO_NAME, row.path, "the name", family="messages", tool=SAVE))
        if row.call is None:
            return fields
        if taken is not None and taken.isdisjoint(_CALL_FIELDS):
            losses.append(loss_of(reasons.ROW_NO_CALL, row.path, "a function call", family="tools", tool=SAVE))
            return fields if row.content else None
        return {**fields, **dict.fromkeys(_CALL_FIELDS, call_text(row.call))}


def _rows(contents: list[Any]) -> list[dict[str, Any]]:
    """The rows in what a call gave: a list of objects, alone or as the one member of an object."""
    text = "".join(content.text for content in contents if isinstance(content, TextContent))
    try:
        value = parse(text)
    except DecodeError:
        raise MessageStoreError(f"{LOAD}: what came is no JSON") from None
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values())) or []
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise MessageStoreError(f"{LOAD}: expected a list of messages, got {kind_of(value)}")
    return value
