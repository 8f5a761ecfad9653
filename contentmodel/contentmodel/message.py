"""Messages, and where they come from."""

from __future__ import annotations

from typing import Any

from contentmodel.content import Content
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.interop import Model


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

    `role` is an open set: "system", "developer", "user", "assistant", "tool" (a message of nothing but results of
    the application's tools), or what an API calls it.
    """

    role: str
    contents: list[Content] = []
    author_name: str | None = None
    message_id: str | None = None
    origin: Origin | None = None
    extra: dict[str, dict[str, Any]] | None = None

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
