"""Plain input: a text or messages where a request is expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from contentmodel.content.base import AIContent
from contentmodel.message import ChatMessage, user
from contentmodel.request import ChatOptions, ChatRequest, Tool

Input: TypeAlias = ChatRequest | Sequence[ChatMessage] | str
"""A request, messages, or the text of a user."""


def request_of(
    given: Input,
    *,
    instructions: str | Sequence[AIContent | str] | None = None,
    tools: Sequence[Tool] | None = None,
    options: ChatOptions | None = None,
) -> ChatRequest:
    """Return the request that an input stands for.

    Raise TypeError for another input, and if a whole request comes with further fields: they belong in the request.
    """
    fields: dict[str, Any] = {"instructions": instructions, "tools": tools, "options": options}
    added = {name: value for name, value in fields.items() if value is not None}
    if isinstance(given, ChatRequest):
        if added:
            raise TypeError(f"{' and '.join(added)} cannot be combined with a ChatRequest: set them in the request")
        messages_of(given.messages)
        return given
    if "tools" in added:
        added["tools"] = list(added["tools"])
    return ChatRequest(messages=messages_of(given), **added)


def messages_of(given: Any) -> list[ChatMessage]:
    """Return the messages of an input that is no request. Raise TypeError for anything else."""
    if isinstance(given, str):
        return [user(given)]
    if not isinstance(given, Sequence):
        expected = "expected a ChatRequest, a list of messages or a text"
        raise TypeError(f"{expected}, got {type(given).__name__}")
    for index, message in enumerate(given):
        if not isinstance(message, ChatMessage):
            raise TypeError(f"messages[{index}]: expected a ChatMessage, got {type(message).__name__}")
    return list(given)
