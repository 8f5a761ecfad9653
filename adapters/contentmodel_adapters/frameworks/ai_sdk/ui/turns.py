"""Turns of formats that store a run of the tool loop as one message: which messages a turn has.

Usually a turn continues from an assistant message to the results of its calls, and from results to more results and to
the next assistant message. The first message of a stored turn, or a later one, has a hint if that differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from contentmodel.authoring import Hint
from contentmodel.message import ChatMessage


class Turns:
    """The hints of one format, and the functions that read and write them."""

    def __init__(self, api: str) -> None:
        self._api = api
        self._starts = Hint[Literal[True]](api, "starts", "a message starts a turn, but usually continues one")
        self._within = Hint[Literal[True]](api, "within", "a message continues a turn, but usually starts one")

    def marked(self, turns: Iterable[list[ChatMessage]]) -> list[ChatMessage]:
        """Return the messages of turns, with hints where `of` needs them."""
        messages: list[ChatMessage] = []
        first: ChatMessage | None = None
        for turn in turns:
            for at, message in enumerate(turn):
                joins = _joins(first, messages, message)
                first = message if at == 0 else first
                if at and not joins:
                    message = self._within.on(message, self._api, True)
                elif not at and joins:
                    message = self._starts.on(message, self._api, True)
                messages.append(message)
        return messages

    def of(self, messages: Iterable[ChatMessage]) -> list[list[ChatMessage]]:
        """Return the turns of messages."""
        turns: list[list[ChatMessage]] = []
        for message in messages:
            if turns and self._continues(turns[-1], message):
                turns[-1].append(message)
            else:
                turns.append([message])
        return turns

    def _continues(self, turn: list[ChatMessage], message: ChatMessage) -> bool:
        if self._within.of(message, self._api):
            return True
        return not self._starts.of(message, self._api) and _joins(turn[0], turn, message)


def _joins(first: ChatMessage | None, before: list[ChatMessage], message: ChatMessage) -> bool:
    """Return whether a message usually continues the turn that begins with `first`: the tool loop goes on."""
    if first is None or first.role != "assistant":
        return False
    return (before[-1].role, message.role) in (("assistant", "tool"), ("tool", "tool"), ("tool", "assistant"))
