"""A response: choices with messages and finish reasons, and the usage."""

from __future__ import annotations

from typing import Any

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.interop import Model
from contentmodel.message import ChatMessage, FinishReason, Origin
from contentmodel.usage import Usage


class ChatChoice(Model, frozen=True, kw_only=True):
    """One of the alternative answers of a response. Most APIs return exactly one."""

    messages: list[ChatMessage] = []
    """The messages of the answer."""
    finish_reason: FinishReason | None = None
    """The reason why the answer ended."""
    index: int | None = None
    """The API's number of the choice."""
    logprobs: Any = None
    """Log probabilities, in the provider's format."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class ChatResponse(Model, frozen=True, kw_only=True):
    """A response of a model or its server."""

    id: str | None = None
    """The provider's id of the response."""
    model: str | None = None
    """The model that answered."""
    created: float | int | str | None = None
    """The time of the response in the API's format: a number of seconds since 1970, or a text."""
    choices: list[ChatChoice] = []
    """The alternative answers."""
    usage: Usage | None = None
    """The token counts."""
    error: ErrorContent | None = None
    """The failure, if the response is one."""
    origin: Origin | None = None
    """The source of a decoded response."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""

    @property
    def messages(self) -> list[ChatMessage]:
        """The messages of the first choice."""
        return self.choices[0].messages if self.choices else []

    @property
    def text(self) -> str:
        """The text of the first choice."""
        return "".join(message.text for message in self.messages)

    @property
    def tool_calls(self) -> list[ToolCallContent]:
        """The calls of the first choice whose `executor` is "client": the application must run them, in order."""
        return [call for message in self.messages for call in message.tool_calls]

    @property
    def finish_reason(self) -> FinishReason | None:
        """The finish reason of the first choice; None if there is no choice."""
        return self.choices[0].finish_reason if self.choices else None
