"""An answer: messages, why it ended, what it cost."""

from __future__ import annotations

from typing import Any

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.interop import Model
from contentmodel.literals import FinishWord, Open
from contentmodel.message import ChatMessage, Origin
from contentmodel.usage import Usage


class FinishReason(Model, frozen=True, kw_only=True):
    """Why an answer ended.

    `reason` is normalised: "stop", "length", "tool_calls", "content_filter", "refusal", "pause", "error",
    "compaction", "cancelled", "running", or "other". `raw` is the API's own word, or its number. `resumable` says
    that the turn is not over: the same conversation is to be sent again for the rest.
    """

    reason: Open[FinishWord]
    raw: str | int | None = None
    stop_sequence: str | None = None
    resumable: bool = False


class ChatChoice(Model, frozen=True, kw_only=True):
    """One of the answers. Most APIs give exactly one."""

    messages: list[ChatMessage] = []
    finish_reason: FinishReason | None = None
    index: int | None = None
    logprobs: Any = None
    extra: dict[str, dict[str, Any]] | None = None


class ChatResponse(Model, frozen=True, kw_only=True):
    """What a model, or its server, answered. `error` is set where the answer is a failure."""

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
        """The calls of the first choice that the application has to run, in order: functions, and custom tools."""
        return [call for message in self.messages for call in message.tool_calls]

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the first choice ended."""
        return self.choices[0].finish_reason if self.choices else None
