"""Messages and their origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec

from contentmodel.content import Contents, result_type
from contentmodel.content.base import AIContent
from contentmodel.content.given import NO_CONTENTS
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent, are_contents, as_contents
from contentmodel.content.tools import FunctionResultContent, ToolCallContent
from contentmodel.interop import Model
from contentmodel.literals import Open, Role


class Origin(Model, frozen=True, kw_only=True):
    """The source of a decoded value. Opaque state is only valid at its origin."""

    api: str
    """The API id."""
    issuer: str
    """The provider: `anthropic`, `openai`, `google`."""
    endpoint: str | None = None
    """The host, if it is known."""
    model: str | None = None
    """The model."""
    is_answer: bool = False
    """True if the value is part of a response of the API."""


class ChatMessage(Model, frozen=True, kw_only=True):
    """One turn, or one part of a turn, of a conversation.

    Raise TypeError if `contents` has a value that is neither a content nor a text.
    """

    role: Open[Role]
    """`system`, `developer`, `user`, `assistant`, `tool` (the message only contains results of the application's
    tools), or another value of an API."""
    contents: Contents = NO_CONTENTS
    """The contents. A text in the list, or instead of it, becomes a `TextContent`."""
    author_name: str | None = None
    """The name of the author, for APIs that tell users apart."""
    message_id: str | None = None
    """The provider's id of the message."""
    origin: Origin | None = None
    """The source of a decoded message; None for a message of the application."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""

    def __post_init__(self) -> None:
        if not are_contents(self.contents):
            msgspec.structs.force_setattr(self, "contents", as_contents(self.contents, "contents"))

    @property
    def text(self) -> str:
        """The concatenated text contents."""
        return "".join(c.text for c in self.contents if isinstance(c, TextContent))

    @property
    def reasoning(self) -> str:
        """The concatenated texts of the reasoning contents."""
        return "".join(c.text for c in self.contents if isinstance(c, ReasoningContent))

    @property
    def tool_calls(self) -> list[ToolCallContent]:
        """The calls whose `executor` is "client": the application must run them, in order."""
        calls = (c for c in self.contents if isinstance(c, ToolCallContent))
        return [c for c in calls if c.executor == "client"]


def contents_of(messages: Iterable[ChatMessage]) -> Iterator[AIContent]:
    """Return an iterator over the contents of all messages."""
    return chain.from_iterable(map(_CONTENTS, messages))


_CONTENTS = attrgetter("contents")


def system(*contents: AIContent | str) -> ChatMessage:
    """Return a message of the role "system". Each text becomes a TextContent."""
    return ChatMessage(role="system", contents=as_contents(contents, "contents"))


def user(*contents: AIContent | str) -> ChatMessage:
    """Return a message of the role "user". Each text becomes a TextContent."""
    return ChatMessage(role="user", contents=as_contents(contents, "contents"))


def assistant(*contents: AIContent | str) -> ChatMessage:
    """Return a message of the role "assistant". Each text becomes a TextContent."""
    return ChatMessage(role="assistant", contents=as_contents(contents, "contents"))


def tool_result(call: ToolCallContent | str, *outputs: AIContent | str, is_error: bool | None = None) -> ChatMessage:
    """Return a message of the role "tool" with the result of a call.

    `call` is the call, or the id of a function call. The type of the result is that of the call (`result_type`). Each
    text of `outputs` becomes a TextContent.
    """
    if isinstance(call, str):
        result: Any = FunctionResultContent(call_id=call, outputs=as_contents(outputs, "outputs"), is_error=is_error)
    else:
        kind = result_type(call)
        result = kind(call_id=call.call_id, name=call.name, outputs=as_contents(outputs, "outputs"), is_error=is_error)
    return ChatMessage(role="tool", contents=[result])
