"""Messages of a conversation that a store of the application keeps: loaded before a run, and saved after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from contentmodel.engine.losses.loss import Loss
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.runner.report import RunInterrupted, RunResult

INSTRUCTIONS = ("system", "developer")
"""Roles of messages that are no part of the conversation: they come with each request."""


class MessageStore(Protocol):
    """Where the messages of one conversation are kept. `MessageLog` of a tool configuration file is one."""

    def load(self) -> Sequence[ChatMessage]:
        """Return the messages, the oldest first."""
        ...

    def save(self, message: ChatMessage) -> Iterable[Loss]:
        """Save a message, and return what could not be saved of it."""
        ...


class Keeping:
    """The store of one run. Without a store it does nothing."""

    def __init__(self, store: MessageStore | None, asked: ChatRequest) -> None:
        self._store, self._asked = store, asked
        self._request: ChatRequest | None = None
        self._is_over = False
        self._saved = 0
        if store is not None and (asked.options.conversation_id or asked.options.previous_response_id):
            raise ValueError("messages= is for conversations that no server holds: this request names one")

    @property
    def request(self) -> ChatRequest:
        """What the run begins with: what the store has, and what was asked."""
        if self._store is None:
            return self._asked
        if self._request is None:
            messages = [*self._instructions, *self._store.load(), *self._new]
            self._request = msgspec.structs.replace(self._asked, messages=messages)
        return self._request

    async def load(self) -> None:
        """Load what the store has, on a thread."""
        if self._store is not None:
            await asyncio.to_thread(lambda: self.request)

    def kept(self, result: RunResult) -> RunResult:
        """Save what was said in a run, and return its result with what was lost.

        Raise RunInterrupted, which has the result, if it cannot be saved.
        """
        if self._store is None:
            return result
        try:
            return self._save(self._store, result)
        except Exception as error:
            raise RunInterrupted.after(self._unsaved(result), error) from error

    async def kept_async(self, result: RunResult) -> RunResult:
        """The same, on a thread."""
        return result if self._store is None else await asyncio.to_thread(self.kept, result)

    def left(self, result: RunResult | None, error: BaseException | None) -> None:
        """Save what was said in a run that did not come to its end; `error` is what is raised, if anything is."""
        if self._store is None or self._is_over or result is None:
            return
        try:
            result = self._save(self._store, result)
        except Exception:
            # The error that ended the run is the one to raise.
            result = self._unsaved(result)
        if isinstance(error, RunInterrupted):
            error.result = result

    async def left_async(self, result: RunResult | None, error: BaseException | None) -> None:
        """The same, on a thread."""
        if self._store is not None:
            await asyncio.to_thread(self.left, result, error)

    @property
    def _new(self) -> list[ChatMessage]:
        return [message for message in self._asked.messages if message.role not in INSTRUCTIONS]

    @property
    def _instructions(self) -> list[ChatMessage]:
        return [message for message in self._asked.messages if message.role in INSTRUCTIONS]

    def _save(self, store: MessageStore, result: RunResult) -> RunResult:
        """Save once. A run in which nothing was said may be tried again: what was asked is not saved then."""
        self._is_over = True
        if not result.messages:
            return self._unsaved(result)
        losses: list[Loss] = []
        for message in (*self._new, *result.messages):
            losses += store.save(message)
            self._saved += 1
        return msgspec.structs.replace(self._with(result, []), losses=losses)

    def _unsaved(self, result: RunResult) -> RunResult:
        return self._with(result, [*self._new, *result.messages][self._saved :])

    def _with(self, result: RunResult, messages: list[ChatMessage]) -> RunResult:
        """The result whose request goes on behind what the store has: with the messages that the store lacks."""
        request = msgspec.structs.replace(result.request, messages=[*self._instructions, *messages])
        return msgspec.structs.replace(result, request=request)
