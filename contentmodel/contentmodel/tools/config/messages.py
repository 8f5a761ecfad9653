"""Store the messages of a conversation with the two internal tools of a file.

A row of such a store has a role, a content text, a name, and one function call as JSON text. A message becomes as many
rows as it has calls or results. Values that no row can hold are reported as losses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contentmodel import reasons
from contentmodel.content.text import TextContent
from contentmodel.errors import DecodeError
from contentmodel.json import kind_of, parse
from contentmodel.losses import Loss, LossError, loss_of
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
    """One of the two internal tools: its call, its executor, and the caller's context.

    `values` are passed by name, and `context` as one object with that name, as far as the call accepts them.
    """

    operation: Operation
    executor: Executor
    values: Mapping[str, Any]
    context: Mapping[str, Any]

    @property
    def taken(self) -> frozenset[str] | None:
        """The arguments that the call accepts; None if its executor has no `arguments_of`."""
        return taken_by(self.executor, self.operation)

    def run(self, fields: Mapping[str, Any]) -> list[Any]:
        """Make the call, and return the results as contents. Raise MessageStoreError if it fails."""
        accepted = self.taken
        available = {**self.values, "context": dict(self.context), **fields}
        # Never take fields of a message from the context: a field that is not set is left out.
        available = {n: v for n, v in available.items() if n in fields or n not in MESSAGE_FIELDS}
        arguments = {name: value for name, value in available.items() if accepted is None or name in accepted}
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

    It remembers saved calls until their results are saved, so use one log for only one conversation at a time.
    """

    def __init__(self, saving: Internal | None, loading: Internal | None, *, newest_first: bool, on_loss: str) -> None:
        if on_loss not in ("report", "raise"):
            raise ValueError(f"on_loss must be 'report' or 'raise', not {on_loss!r}")
        self._saving, self._loading = saving, loading
        self._newest_first, self._on_loss = newest_first, on_loss
        self._pairing = Pairing()

    def check(self) -> None:
        """Raise MessageStoreError if the file declares no tool to save messages, or none to load them."""
        _needed(self._saving, "save", SAVE)
        _needed(self._loading, "load", LOAD)

    def save(self, message: ChatMessage) -> tuple[Loss, ...]:
        """Save a message. Return the losses, with their paths in the message.

        Each call and each result is saved as its own row. Text, function calls and the text of their results are saved.
        Other values (images, reasoning, ids of messages, ...) are losses; so is a call if the query has no variable for
        it. With `on_loss="raise"`, a loss raises LossError, and nothing is saved.

        Raise MessageStoreError if a row cannot be saved; the rows before it are saved.
        """
        saver = _needed(self._saving, "save", SAVE)
        losses: list[Loss] = []
        rows = list(rows_of(message, self._pairing, losses))
        saved = [fields for row in rows if (fields := self._fields(saver, row, losses)) is not None]
        if losses and self._on_loss == "raise":
            raise LossError(SAVE, tuple(losses))
        for fields in saved:
            saver.run(fields)
        self._pairing.remember(rows)
        return tuple(losses)

    def load(self, limit: int | None = None) -> list[ChatMessage]:
        """Return the messages, the oldest first: the last `limit` rows, or the query's default.

        A function call becomes a FunctionCallContent. A row with the role "function" becomes a message with the role
        "tool" and a FunctionResultContent, with the id of the first open call of that name. Missing ids are made of the
        row's number. Columns other than role, content, name and the call are ignored.

        Raise MessageStoreError if loading fails, if rows are missing, or if rows are no messages.
        """
        loader = _needed(self._loading, "load", LOAD)
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        rows = _rows(loader.run({} if limit is None else {"limit": limit}))
        if limit is not None:
            # A call that has no argument for a limit returns all rows.
            rows = rows[:limit] if self._newest_first else rows[-limit:]
        return messages_of(rows[::-1] if self._newest_first else rows)

    def _fields(self, saver: Internal, row: Row, losses: list[Loss]) -> dict[str, Any] | None:
        """Return the arguments for a row; None if it would be empty."""
        accepted = saver.taken
        fields: dict[str, Any] = {"role": row.role, "content": row.content}
        if row.name is not None:
            fields["name"] = row.name
            if accepted is not None and "name" not in accepted:
                losses.append(loss_of(reasons.ROW_NO_NAME, row.path, "the name", family="messages", tool=SAVE))
        if row.call is None:
            return fields
        if accepted is not None and accepted.isdisjoint(_CALL_FIELDS):
            losses.append(loss_of(reasons.ROW_NO_CALL, row.path, "a function call", family="tools", tool=SAVE))
            return fields if row.content else None
        return {**fields, **dict.fromkeys(_CALL_FIELDS, call_text(row.call))}


def _needed(internal: Internal | None, use: str, tool: str) -> Internal:
    if internal is None:
        message = f"the {use} function is missing: the file has no tool {tool}"
        raise MessageStoreError(f"{message}; declare it, or look at the faults of the file")
    return internal


def _rows(contents: list[Any]) -> list[dict[str, Any]]:
    """Return the rows in the result of a call: a list of objects, or an object whose only member is such a list."""
    text = "".join(content.text for content in contents if isinstance(content, TextContent))
    try:
        value = parse(text)
    except DecodeError:
        raise MessageStoreError(f"{LOAD}: the result is not JSON") from None
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values())) or []
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise MessageStoreError(f"{LOAD}: expected a list of messages, got {kind_of(value)}")
    return value
