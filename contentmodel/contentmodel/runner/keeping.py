"""Load the messages of a conversation from the application's store before a run, and save the new ones after it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import msgspec

from contentmodel.losses import Loss
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.runner.report import RunInterrupted, RunResult

INSTRUCTIONS = ("system", "developer")
"""Roles of messages that are not saved: they are sent with each request."""


class MessageStore(Protocol):
    """A store of the messages of one conversation, such as `MessageLog` of a tool configuration file."""

    def load(self) -> Sequence[ChatMessage]:
        """Return the messages, the oldest first."""
        ...

    def save(self, message: ChatMessage) -> Iterable[Loss] | None:
        """Save a message, and return the losses of what could not be saved, if any."""
        ...


FUNCTIONS = {"load": "load()", "save": "save(message)"}
"""The functions of a store, as they are called."""


def check_store(store: Any) -> None:
    """Raise TypeError if a store has no function to load or to save messages, or an async one.

    A store may have a method `check`, which raises an error of its own if it cannot load or save.
    """
    for name, call in FUNCTIONS.items():
        function = getattr(store, name, None)
        if not callable(function):
            fix = f"pass messages= an object with {' and '.join(FUNCTIONS.values())}"
            raise TypeError(f"the {name} function is missing: {type(store).__name__} has no {call}; {fix}")
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"the {name} function of {type(store).__name__} is async: make {call} a sync function")
    check = getattr(store, "check", None)
    if callable(check):
        check()


class Keeping:
    """The use of a store in one run. Without a store it does nothing."""

    def __init__(self, store: MessageStore | None, request: ChatRequest) -> None:
        self._store, self._original = store, request
        self._request: ChatRequest | None = None
        self._is_over = False
        self._saved = 0
        if store is not None and (request.options.conversation_id or request.options.previous_response_id):
            names = "conversation_id or previous_response_id"
            raise ValueError(f"messages= cannot be used with {names}: the server stores that conversation")

    @property
    def request(self) -> ChatRequest:
        """The request of the run: instructions, stored messages, then new messages."""
        if self._store is None:
            return self._original
        if self._request is None:
            messages = [*self._instructions, *self._store.load(), *self._new]
            self._request = msgspec.structs.replace(self._original, messages=messages)
        return self._request

    async def load(self) -> None:
        """Load the stored messages, on a thread."""
        if self._store is not None:
            await asyncio.to_thread(lambda: self.request)

    def saved(self, result: RunResult) -> RunResult:
        """Save the messages of a run, and return its result with the losses.

        Raise RunInterrupted, which has the result, if saving fails.
        """
        if self._store is None:
            return result
        try:
            return self._save(self._store, result)
        except Exception as error:
            raise RunInterrupted.after(self._unsaved(result), error) from error

    async def saved_async(self, result: RunResult) -> RunResult:
        """Do the same as `saved`, on a thread."""
        return result if self._store is None else await asyncio.to_thread(self.saved, result)

    def save_early_end(self, result: RunResult | None, error: BaseException | None) -> None:
        """Save the messages of a run that ended early. `error` is the exception that is raised, or None."""
        if self._store is None or self._is_over or result is None:
            return
        try:
            result = self._save(self._store, result)
        except Exception:
            # Raise the error that ended the run, not the error of the store.
            result = self._unsaved(result)
        if isinstance(error, RunInterrupted):
            error.result = result

    async def save_early_end_async(self, result: RunResult | None, error: BaseException | None) -> None:
        """Do the same as `save_early_end`, on a thread."""
        if self._store is not None:
            await asyncio.to_thread(self.save_early_end, result, error)

    @property
    def _new(self) -> list[ChatMessage]:
        return [message for message in self._original.messages if message.role not in INSTRUCTIONS]

    @property
    def _instructions(self) -> list[ChatMessage]:
        return [message for message in self._original.messages if message.role in INSTRUCTIONS]

    def _save(self, store: MessageStore, result: RunResult) -> RunResult:
        """Save once. If the run has no new messages, save nothing, so that the same request can be tried again."""
        self._is_over = True
        if not result.messages:
            return self._unsaved(result)
        losses: list[Loss] = []
        for message in (*self._new, *result.messages):
            losses += store.save(message) or ()
            self._saved += 1
        return msgspec.structs.replace(self._with(result, []), losses=losses)

    def _unsaved(self, result: RunResult) -> RunResult:
        return self._with(result, [*self._new, *result.messages][self._saved :])

    def _with(self, result: RunResult, messages: list[ChatMessage]) -> RunResult:
        """Return the result; its request has only the instructions and the messages that are not in the store."""
        request = msgspec.structs.replace(result.request, messages=[*self._instructions, *messages])
        return msgspec.structs.replace(result, request=request)
