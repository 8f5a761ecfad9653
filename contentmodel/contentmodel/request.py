"""A request: instructions, messages, options, tools."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.content import CachePoint, Contents
from contentmodel.content.given import NO_CONTENTS
from contentmodel.content.text import are_contents, as_contents
from contentmodel.interop import Model
from contentmodel.literals import Effort, FormatKind, Open, ThinkingMode, ToolKind, ToolMode
from contentmodel.message import Branch, ChatMessage, Origin


class FunctionTool(Model, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """A function that the application runs."""

    name: str
    """The name of the function."""
    description: str | None = None
    """The description for the model."""
    parameters: dict[str, Any] | None = None
    """The JSON Schema of the arguments, unchanged."""
    returns: dict[str, Any] | None = None
    """The JSON Schema of the result, unchanged."""
    strict: bool | None = None
    """True if the API enforces the schema."""
    cache_point: CachePoint | None = None
    """A mark: the provider may cache the prompt up to and including the tool."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class CustomTool(Model, frozen=True, kw_only=True, tag_field="type", tag="custom"):
    """A tool that the application runs and that takes free text."""

    name: str
    """The name of the tool."""
    description: str | None = None
    """The description for the model."""
    format: dict[str, Any] | None = None
    """The constraint: `{"type": "grammar", "syntax": "lark", "definition": "..."}`, or the syntax `regex`."""
    cache_point: CachePoint | None = None
    """A mark: the provider may cache the prompt up to and including the tool."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class HostedTool(Model, frozen=True, kw_only=True, tag_field="type", tag="hosted"):
    """A tool that the provider defines."""

    kind: Open[ToolKind] = "other"
    """The normalized purpose, the same for every API: `web_search`, `code_interpreter`, `mcp`."""
    name: str | None = None
    """The name of the tool."""
    settings: dict[str, Any] = {}
    """The parameters, in the provider's format."""
    cache_point: CachePoint | None = None
    """A mark: the provider may cache the prompt up to and including the tool."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class ToolGroup(Model, frozen=True, kw_only=True, tag_field="type", tag="group"):
    """Tools that an API declares together: a namespace, or one entry of a list of tools."""

    tools: list[FunctionTool | CustomTool | HostedTool] = []
    """The tools of the group."""
    name: str | None = None
    """The name of the namespace; None if the group is one entry of a list of tools."""
    description: str | None = None
    """The description for the model."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


Tool = FunctionTool | CustomTool | HostedTool | ToolGroup


class ToolChoice(Model, frozen=True, kw_only=True):
    """The tools that the model may or must call."""

    mode: Open[ToolMode]
    """`auto`, `none`, `required`, or another value of an API."""
    tools: list[str] | None = None
    """The names that the choice is limited to."""
    hosted: Open[ToolKind | None] = None
    """The kind of the one hosted tool that is selected."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class ResponseFormat(Model, frozen=True, kw_only=True):
    """The required format of the response text."""

    kind: Open[FormatKind] = "other"
    """`text`, `json`, `json_schema`, or another value of an API."""
    schema: dict[str, Any] | None = None
    """The JSON Schema of the response."""
    name: str | None = None
    """The name of the schema."""
    description: str | None = None
    """The description of the schema, for the model."""
    strict: bool | None = None
    """True if the API enforces the schema."""
    media_type: str | None = None
    """The media type of the response."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class ReasoningOptions(Model, frozen=True, kw_only=True):
    """Settings of a model's reasoning."""

    mode: Open[ThinkingMode | None] = None
    """The provider's value: `enabled`, `adaptive`, `disabled`."""
    effort: Open[Effort | None] = None
    """The provider's value: `low` to `max`."""
    budget_tokens: int | None = None
    """The maximum number of reasoning tokens."""
    include: bool | None = None
    """True if the response is to contain the reasoning."""
    summary: str | None = None
    """The kind of summary."""


class ChatOptions(Model, frozen=True, kw_only=True):
    """Settings of one request. None means unset."""

    max_output_tokens: int | None = None
    """The maximum number of output tokens."""
    temperature: float | int | None = None
    """The sampling temperature."""
    top_p: float | int | None = None
    """The probability mass of nucleus sampling."""
    top_k: float | int | None = None
    """The number of candidates of top-k sampling."""
    frequency_penalty: float | int | None = None
    """The penalty for frequent tokens."""
    presence_penalty: float | int | None = None
    """The penalty for tokens that occurred."""
    seed: int | None = None
    """The seed of sampling."""
    stop_sequences: list[str] | None = None
    """Texts that end the response."""
    choices: int | None = None
    """The number of alternative answers."""
    logprobs: bool | None = None
    """True if the response is to contain the log probabilities of tokens."""
    top_logprobs: int | None = None
    """The number of candidates with log probabilities for each token."""
    stream: bool | None = None
    """True if the response is to be streamed."""
    store: bool | None = None
    """True if the provider stores the response."""
    user: str | None = None
    """The application's id of its user."""
    metadata: dict[str, Any] | None = None
    """The application's own values, stored with the response."""
    service_tier: str | None = None
    """The provider's service tier."""
    verbosity: str | None = None
    """The verbosity of the response, the provider's value."""
    modalities: list[str] | None = None
    """The kinds of output."""
    conversation_id: str | None = None
    """The provider's id of a conversation that it stores."""
    previous_response_id: str | None = None
    """The id of a stored response to continue."""
    parallel_tool_calls: bool | None = None
    """True if the model may make several calls at once."""
    tool_choice: ToolChoice | None = None
    """The tools that the model may or must call."""
    response_format: ResponseFormat | None = None
    """The required format of the response."""
    reasoning: ReasoningOptions | None = None
    """Settings of the reasoning."""
    cache_point: CachePoint | None = None
    """A mark: the provider may cache the whole prompt, up to the last content that it can cache."""


class ChatRequest(Model, frozen=True, kw_only=True):
    """A request to a model.

    Raise TypeError if `instructions` has a value that is neither a content nor a text.
    """

    model: str | None = None
    """The model."""
    instructions: Contents = NO_CONTENTS
    """The system prompt outside the messages: contents, or one text. A text becomes a `TextContent`."""
    messages: list[ChatMessage] = []
    """The conversation."""
    branches: list[Branch] = []
    """Messages that are stored beside the conversation. They are never sent to a model."""
    tools: list[Tool] = []
    """The definitions of tools."""
    options: ChatOptions = ChatOptions()
    """The settings of the request."""
    origin: Origin | None = None
    """The source of a decoded request; None for a request of the application."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""

    def __post_init__(self) -> None:
        if not are_contents(self.instructions):
            msgspec.structs.force_setattr(self, "instructions", as_contents(self.instructions, "instructions"))
