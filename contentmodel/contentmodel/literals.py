"""Literal types of fields and parameters, for type checkers and editors.

Sets that this library defines are closed: `LossKind`, `OnLoss`, `PayloadKind`, `Policies`. Sets that an API may extend
are open: a field of type `Open[Role]` takes any text, and editors complete the values listed here.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

if TYPE_CHECKING:
    _Values = TypeVar("_Values")
    Open: TypeAlias = _Values | str
else:

    class Open:
        """Any text. `Open[Role]` is `str` at run time, `Open[Role | None]` is `str | None`."""

        def __class_getitem__(cls, values: Any) -> Any:
            return str | None if NoneType in get_args(values) else str


# -- closed sets -----------------------------------------------------------------------------------------------------

PayloadKind: TypeAlias = Literal["request", "response", "stream"]
"""The kind of a payload."""

DocumentForm: TypeAlias = Literal["json", "lines"]
"""The form of an adapter's documents: one JSON value, or JSON Lines."""

OnLoss: TypeAlias = Literal["report", "raise"]
"""The handling of losses in a conversion: list them, or raise LossError."""

LossKind: TypeAlias = Literal["dropped", "degraded", "moved", "synthesized", "insignificant"]
"""The effect of a conversion on a value that the target cannot represent exactly."""

LossFamily: TypeAlias = Literal[
    "text",
    "reasoning",
    "media",
    "citations",
    "tools",
    "hosted tools",
    "tool definitions",
    "schemas",
    "messages",
    "settings",
    "usage",
    "provider fields",
    "other",
]
"""The family of content that a loss belongs to."""


class Policies(TypedDict, total=False):
    """The choices for converting families of content. `contentmodel.POLICIES` lists all choices, the default first.

    `capabilities` describes the target's model: the name of a listed model, "any" (no limits), or a JSON object with
    fields of `contentmodel.capabilities.Capabilities`. `output_limit` is a number: the limit of output tokens
    for an API that requires one, if the request has none. `session` and `directory` are the id and the working
    directory of a session of a coding agent. `dialect` is the host of an API that has several: Chat Completions,
    Anthropic Messages and generateContent.
    """

    reasoning: Literal["drop", "text", "reasoning_content", "reasoning", "reasoning_details"]
    hosted_tools: Literal["function", "text", "drop"]
    compaction: Literal["text", "drop"]
    prefill: Literal["continue", "keep"]
    stream_usage: Literal["last", "chunk"]
    ai_sdk: Literal["7", "6", "5"]
    capabilities: str
    output_limit: str
    session: str
    directory: str
    dialect: str


TextUnit: TypeAlias = Literal["codepoint", "utf16", "byte"]
"""The unit of a span of a text."""

# -- open sets -------------------------------------------------------------------------------------------------------

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""The role of a message."""

FinishWord: TypeAlias = Literal[
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "refusal",
    "pause",
    "error",
    "compaction",
    "cancelled",
    "running",
    "other",
]
"""The normalized reason why a response ended."""

ErrorKind: TypeAlias = Literal[
    "invalid_request",
    "context_length",
    "authentication",
    "billing",
    "permission",
    "not_found",
    "conflict",
    "too_large",
    "rate_limit",
    "cancelled",
    "server",
    "overloaded",
    "timeout",
]
"""The normalized kind of an error of an API."""

BranchKind: TypeAlias = Literal["alternative", "agent"]
"""The kind of messages that are stored beside a conversation."""

Outcome: TypeAlias = Literal["succeeded", "failed", "denied", "interrupted", "timed_out", "preliminary"]
"""The outcome of a tool call."""

Executor: TypeAlias = Literal["client", "provider"]
"""The side that runs a tool."""

ToolKind: TypeAlias = Literal[
    "advisor",
    "apply_patch",
    "browser",
    "code_interpreter",
    "computer",
    "file_search",
    "image_generation",
    "maps",
    "mcp",
    "memory",
    "other",
    "program",
    "shell",
    "text_editor",
    "tool_search",
    "url_context",
    "web_fetch",
    "web_search",
]
"""The purpose of a hosted tool."""

ToolMode: TypeAlias = Literal["auto", "none", "required"]
"""The mode of a tool choice: calls are optional, forbidden or required."""

FormatKind: TypeAlias = Literal["text", "json", "json_schema", "other"]
"""The format of the text of a response."""

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""The level of a model's reasoning effort."""

ThinkingMode: TypeAlias = Literal["enabled", "disabled", "adaptive"]
"""The reasoning mode of a model."""

ReasoningKind: TypeAlias = Literal["text", "summary", "plan"]
"""The text of a reasoning content: the reasoning itself, a summary of it, or the plan of calls that follow."""

ProtectedKind: TypeAlias = Literal["signature", "encrypted", "redacted"]
"""The kind of opaque state."""

MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]
"""The kind of media."""

Detail: TypeAlias = Literal["auto", "low", "high"]
"""The resolution at which a model processes media."""

SpanUnit: TypeAlias = TextUnit | Literal["char", "page", "block"]
"""The unit of a span of a text or of a source."""

ToolAction: TypeAlias = Literal["add", "remove"]
"""The change that a message makes to the available tools."""

NoticeKind: TypeAlias = Literal["tool_use", "display", "tool_result"]
"""The kind of a notice."""
