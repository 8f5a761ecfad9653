"""A response: choices with messages and finish reasons, and the usage."""

from __future__ import annotations

from typing import Any

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.interop import Model
from contentmodel.literals import FinishWord, Open
from contentmodel.message import ChatMessage, Origin
from contentmodel.usage import Usage


class FinishReason(Model, frozen=True, kw_only=True):
    """The reason why a response ended.

    `reason` is normalized: "stop", "length", "tool_calls", "content_filter", "refusal", "pause", "error",
    "compaction", "cancelled", "running", or "other". `raw` is the API's own value, a text or a number. If `resumable`
    is true, the turn is not finished: send the same conversation again to continue it.
    """

    reason: Open[FinishWord]
    raw: str | int | None = None
    stop_sequence: str | None = None
    resumable: bool = False


class ChatChoice(Model, frozen=True, kw_only=True):
    """One of the alternative answers of a response. Most APIs return exactly one."""

    messages: list[ChatMessage] = []
    finish_reason: FinishReason | None = None
    index: int | None = None
    logprobs: Any = None
    extra: dict[str, dict[str, Any]] | None = None


class ChatResponse(Model, frozen=True, kw_only=True):
    """A response of a model or its server. `error` is set if it is a failure."""

    id: str | None = None
    model: str | None = None
    created: float | int | str | None = None
    choices: list[ChatChoice] = []
    usage: Usage | None = None
    error: ErrorContent | None = None
    origin: Origin | None = None
    extra: dict[str, dict[str, Any]] | None = None

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
