"""The words that fields and parameters take, as types that type checkers and editors know.

Sets of the library's own are closed: `LossKind`, `OnLoss`, `PayloadKind`, `Policies`. Sets to which an API may add
words are open: a field of type `Open[Role]` takes any text, and an editor completes the words listed here.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

if TYPE_CHECKING:
    _Words = TypeVar("_Words")
    Open: TypeAlias = _Words | str
else:

    class Open:
        """Any text. `Open[Role]` is `str` at run time, `Open[Role | None]` is `str | None`."""

        def __class_getitem__(cls, words: Any) -> Any:
            return str | None if NoneType in get_args(words) else str


# -- closed sets -----------------------------------------------------------------------------------------------------

PayloadKind: TypeAlias = Literal["request", "response", "stream"]
"""What a payload is."""

OnLoss: TypeAlias = Literal["report", "raise"]
"""What a conversion does about losses: list them, or raise LossError."""

LossKind: TypeAlias = Literal["dropped", "degraded", "moved", "synthesized", "insignificant"]
"""What became of a value that the target did not get as it was."""

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
    """What another API gets of each family of content. `contentmodel.POLICIES` has the choices, the default first.

    `capabilities` is what the target's model takes: the name of a listed model, "any", or a JSON object with fields of
    `contentmodel.capabilities.Capabilities`.
    """

    reasoning: Literal["drop", "text", "reasoning_content", "reasoning"]
    hosted_tools: Literal["function", "text", "drop"]
    compaction: Literal["text", "drop"]
    stream_usage: Literal["last", "chunk"]
    capabilities: str


TextUnit: TypeAlias = Literal["codepoint", "utf16", "byte"]
"""What a span of a text is counted in."""

# -- open sets -------------------------------------------------------------------------------------------------------

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Who a message is from."""

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
"""Why an answer ended."""

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
"""What kind of error an API answered."""

Executor: TypeAlias = Literal["client", "provider"]
"""Who runs a tool."""

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
"""What a hosted tool does."""

ToolMode: TypeAlias = Literal["auto", "none", "required"]
"""Whether the model may or must call tools."""

FormatKind: TypeAlias = Literal["text", "json", "json_schema", "other"]
"""The shape of an answer's text."""

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks."""

ThinkingMode: TypeAlias = Literal["enabled", "disabled", "adaptive"]
"""Whether a model thinks."""

ReasoningKind: TypeAlias = Literal["text", "summary"]
"""What a reasoning holds: the thoughts, or a summary of them."""

ProtectedKind: TypeAlias = Literal["signature", "encrypted", "redacted"]
"""What opaque state is."""

MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]
"""What kind of media a link leads to."""

Detail: TypeAlias = Literal["auto", "low", "high"]
"""How closely a model looks at media."""

SpanUnit: TypeAlias = TextUnit | Literal["char", "page", "block"]
"""What a span of a text or of a source is counted in."""

ToolAction: TypeAlias = Literal["add", "remove"]
"""What a message does with tools."""

NoticeKind: TypeAlias = Literal["tool_use", "tool_result"]
"""What a notice reports."""
