"""A request: instructions, messages, options, tools."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.content import Contents
from contentmodel.content.given import NO_CONTENTS
from contentmodel.content.text import are_contents, as_contents
from contentmodel.interop import Model
from contentmodel.literals import Effort, FormatKind, Open, ThinkingMode, ToolKind, ToolMode
from contentmodel.message import ChatMessage, Origin


class FunctionTool(Model, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """A function that the application runs. `parameters` and `returns` are JSON Schemas, unchanged."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    returns: dict[str, Any] | None = None
    strict: bool | None = None
    extra: dict[str, dict[str, Any]] | None = None


class CustomTool(Model, frozen=True, kw_only=True, tag_field="type", tag="custom"):
    """A tool that the application runs and that takes free text.

    `format` constrains the text: `{"type": "grammar", "syntax": "lark", "definition": "..."}` (or the syntax "regex").
    """

    name: str
    description: str | None = None
    format: dict[str, Any] | None = None
    extra: dict[str, dict[str, Any]] | None = None


class HostedTool(Model, frozen=True, kw_only=True, tag_field="type", tag="hosted"):
    """A tool that the provider defines.

    `kind` is the normalized purpose ("web_search", "code_interpreter", "mcp", ...), the same for every API.
    `settings` are the parameters in the provider's format.
    """

    kind: Open[ToolKind] = "other"
    name: str | None = None
    settings: dict[str, Any] = {}
    extra: dict[str, dict[str, Any]] | None = None


class ToolGroup(Model, frozen=True, kw_only=True, tag_field="type", tag="group"):
    """Tools that an API declares together: a namespace if `name` is set, else one entry of a list of tools."""

    tools: list[FunctionTool | CustomTool | HostedTool] = []
    name: str | None = None
    description: str | None = None
    extra: dict[str, dict[str, Any]] | None = None


Tool = FunctionTool | CustomTool | HostedTool | ToolGroup


class ToolChoice(Model, frozen=True, kw_only=True):
    """The tools that the model may or must call.

    `mode` is "auto", "none", "required", or another value of an API. `tools` limits the choice to tools with these
    names. `hosted` selects one hosted tool by its kind.
    """

    mode: Open[ToolMode]
    tools: list[str] | None = None
    hosted: Open[ToolKind | None] = None
    extra: dict[str, dict[str, Any]] | None = None


class ResponseFormat(Model, frozen=True, kw_only=True):
    """The required format of the response text: `kind` is "text", "json", "json_schema", or another value of an API."""

    kind: Open[FormatKind] = "other"
    schema: dict[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    media_type: str | None = None
    extra: dict[str, dict[str, Any]] | None = None


class ReasoningOptions(Model, frozen=True, kw_only=True):
    """Settings of a model's reasoning.

    `mode` and `effort` are the provider's values ("enabled", "adaptive"; "low" to "max"). `budget_tokens` is the
    maximum number of reasoning tokens. `include` is whether to return the reasoning. `summary` is the kind of summary.
    """

    mode: Open[ThinkingMode | None] = None
    effort: Open[Effort | None] = None
    budget_tokens: int | None = None
    include: bool | None = None
    summary: str | None = None


class ChatOptions(Model, frozen=True, kw_only=True):
    """Settings of one request. None means unset."""

    max_output_tokens: int | None = None
    temperature: float | int | None = None
    top_p: float | int | None = None
    top_k: float | int | None = None
    frequency_penalty: float | int | None = None
    presence_penalty: float | int | None = None
    seed: int | None = None
    stop_sequences: list[str] | None = None
    choices: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    stream: bool | None = None
    store: bool | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    verbosity: str | None = None
    modalities: list[str] | None = None
    conversation_id: str | None = None
    previous_response_id: str | None = None
    parallel_tool_calls: bool | None = None
    tool_choice: ToolChoice | None = None
    response_format: ResponseFormat | None = None
    reasoning: ReasoningOptions | None = None


class ChatRequest(Model, frozen=True, kw_only=True):
    """A request to a model.

    `instructions` is the system prompt outside the messages: contents, or one text. Texts become TextContents; raise
    TypeError for other types.
    """

    model: str | None = None
    instructions: Contents = NO_CONTENTS
    messages: list[ChatMessage] = []
    tools: list[Tool] = []
    options: ChatOptions = ChatOptions()
    origin: Origin | None = None
    extra: dict[str, dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        if not are_contents(self.instructions):
            msgspec.structs.force_setattr(self, "instructions", as_contents(self.instructions, "instructions"))
