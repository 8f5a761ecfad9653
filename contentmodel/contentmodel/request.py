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
    """A function that the application runs. `parameters` and `returns` are JSON Schemas as given."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    returns: dict[str, Any] | None = None
    strict: bool | None = None
    extra: dict[str, dict[str, Any]] | None = None


class CustomTool(Model, frozen=True, kw_only=True, tag_field="type", tag="custom"):
    """An application's tool that takes free text.

    `format` limits the text: `{"type": "grammar", "syntax": "lark", "definition": "..."}` (or the syntax "regex").
    """

    name: str
    description: str | None = None
    format: dict[str, Any] | None = None
    extra: dict[str, dict[str, Any]] | None = None


class HostedTool(Model, frozen=True, kw_only=True, tag_field="type", tag="hosted"):
    """A tool that the provider defines.

    `kind` is what it does ("web_search", "code_interpreter", "mcp", ...), the same word for every API;
    `settings` are its parameters in the provider's own words.
    """

    kind: Open[ToolKind] = "other"
    name: str | None = None
    settings: dict[str, Any] = {}
    extra: dict[str, dict[str, Any]] | None = None


class ToolGroup(Model, frozen=True, kw_only=True, tag_field="type", tag="group"):
    """Tools that one API declares together: a namespace (with `name`), or one entry of a list (without)."""

    tools: list[FunctionTool | CustomTool | HostedTool] = []
    name: str | None = None
    description: str | None = None
    extra: dict[str, dict[str, Any]] | None = None


Tool = FunctionTool | CustomTool | HostedTool | ToolGroup


class ToolChoice(Model, frozen=True, kw_only=True):
    """Which tools the model may or must call.

    `mode` is "auto", "none", "required", or an API's own word. `tools` limits the choice to these names.
    `hosted` names one hosted tool by its kind.
    """

    mode: Open[ToolMode]
    tools: list[str] | None = None
    hosted: Open[ToolKind | None] = None
    extra: dict[str, dict[str, Any]] | None = None


class ResponseFormat(Model, frozen=True, kw_only=True):
    """The shape that the answer's text must have: `kind` "text", "json", "json_schema", or an API's own word."""

    kind: Open[FormatKind] = "other"
    schema: dict[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    media_type: str | None = None
    extra: dict[str, dict[str, Any]] | None = None


class ReasoningOptions(Model, frozen=True, kw_only=True):
    """How much a model should think, and what it shows of it.

    `mode` and `effort` are the provider's words ("enabled", "adaptive"; "low" to "max"); `budget_tokens` a limit;
    `include` whether thoughts are to be returned; `summary` which kind of summary.
    """

    mode: Open[ThinkingMode | None] = None
    effort: Open[Effort | None] = None
    budget_tokens: int | None = None
    include: bool | None = None
    summary: str | None = None


class ChatOptions(Model, frozen=True, kw_only=True):
    """Settings of one request; None is "not said"."""

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
    """What is sent to a model.

    `instructions` is a system prompt apart from the messages: contents, or one text.
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
