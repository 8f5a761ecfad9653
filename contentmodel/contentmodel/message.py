"""Messages, and where they come from."""

from __future__ import annotations

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
    """Where something was made: the `api` id, its `issuer` ("anthropic", "openai", "google"), `endpoint`, `model`.

    Opaque state is worth something only at its origin. `is_answer` tells what the API said itself, in an answer, from
    what stood in a request to it.
    """

    api: str
    issuer: str
    endpoint: str | None = None
    model: str | None = None
    is_answer: bool = False


class ChatMessage(Model, frozen=True, kw_only=True):
    """One turn, or one part of a turn, of a conversation.

    `contents` is a list of contents; a text in it, or in place of it, becomes a TextContent. TypeError for others.

    `role` is an open set: "system", "developer", "user", "assistant", "tool" (a message of nothing but results of
    the application's tools), or what an API calls it.
    """

    role: Open[Role]
    contents: Contents = NO_CONTENTS
    author_name: str | None = None
    message_id: str | None = None
    origin: Origin | None = None
    extra: dict[str, dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        if not are_contents(self.contents):
            msgspec.structs.force_setattr(self, "contents", as_contents(self.contents, "contents"))

    @property
    def text(self) -> str:
        """The text contents, one after the other."""
        return "".join(c.text for c in self.contents if isinstance(c, TextContent))

    @property
    def reasoning(self) -> str:
        """The reasoning contents, one after the other."""
        return "".join(c.text for c in self.contents if isinstance(c, ReasoningContent))

    @property
    def tool_calls(self) -> list[ToolCallContent]:
        """Calls that the application has to run, in order."""
        calls = (c for c in self.contents if isinstance(c, ToolCallContent))
        return [c for c in calls if c.executor == "client"]


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
    """Return a message of the role "tool" with the result of a call: the call itself, or the id of a function call.

    The result has the type that belongs to the call (`result_type`). Each text of `outputs` becomes a TextContent.
    """
    if isinstance(call, str):
        result: Any = FunctionResultContent(call_id=call, outputs=as_contents(outputs, "outputs"), is_error=is_error)
    else:
        kind = result_type(call)
        result = kind(call_id=call.call_id, name=call.name, outputs=as_contents(outputs, "outputs"), is_error=is_error)
    return ChatMessage(role="tool", contents=[result])
