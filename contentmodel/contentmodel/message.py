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
from contentmodel.content.text import KNOWN_CONTENTS, TextContent, are_contents, as_contents
from contentmodel.content.tools import FunctionResultContent, ToolCallContent
from contentmodel.interop import Model
from contentmodel.literals import BranchKind, FinishWord, Open, Role
from contentmodel.usage import Usage


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


class FinishReason(Model, frozen=True, kw_only=True):
    """The reason why a response ended."""

    reason: Open[FinishWord]
    """The normalized reason: `stop`, `length`, `tool_calls`, `content_filter`, `refusal`, `pause`, `error`,
    `compaction`, `cancelled`, `running`, `other`."""
    raw: str | int | None = None
    """The API's own value, a text or a number."""
    stop_sequence: str | None = None
    """The stop sequence that ended the response."""
    resumable: bool = False
    """If true, the turn is not finished: send the same conversation again to continue it."""


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
    """The id of the message: the provider's, or that of the file that stores it."""
    created: float | int | str | None = None
    """The time of the message in the format of its source: seconds since 1970, or a text."""
    response_id: str | None = None
    """The provider's id of the response that a stored message is part of."""
    usage: Usage | None = None
    """The token counts of that response. Only its last message has them."""
    finish_reason: FinishReason | None = None
    """The reason why that response ended. Only its last message has it."""
    origin: Origin | None = None
    """The source of a decoded message; None for a message of the application."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""

    def __post_init__(self) -> None:
        if self.contents.__class__ is list and KNOWN_CONTENTS.issuperset(map(type, self.contents)):
            return
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


class Branch(Model, frozen=True, kw_only=True):
    """Messages that are stored beside a conversation and are not part of it."""

    kind: Open[BranchKind] = "alternative"
    """`alternative` if the user went on from an earlier message, `agent` if a tool call started a conversation of its
    own, or another value of a format."""
    messages: list[ChatMessage] = []
    """The messages of the branch."""
    parent_id: str | None = None
    """The `message_id` of the message that the branch follows; None if it follows none."""
    call_id: str | None = None
    """The id of the call that started the conversation of an agent."""
    name: str | None = None
    """The name or the id of the agent."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


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


def tool_result(
    call: ToolCallContent | str | None = None,
    *outputs: AIContent | str,
    name: str | None = None,
    is_error: bool | None = None,
) -> ChatMessage:
    """Return a message of the role "tool" with the result of a call.

    `call` is the call, or the id of a function call. If it is None, `name` is needed: the result pairs with the first
    call of the function `name` that has no result. The type of the result is that of the call (`result_type`). Each
    text of `outputs` becomes a TextContent. Raise TypeError without a call and a name.
    """
    if call is None and name is None:
        raise TypeError("tool_result needs the call or its id; or pass name=, the name of the tool")
    if isinstance(call, ToolCallContent):
        kind: Any = result_type(call)
        call_id, name = call.call_id, call.name if name is None else name
    else:
        kind, call_id = FunctionResultContent, call
    contents = as_contents(outputs, "outputs")
    return ChatMessage(role="tool", contents=[kind(call_id=call_id, name=name, outputs=contents, is_error=is_error)])
