"""Requests: their messages and settings. Each tool result is a separate message."""

from __future__ import annotations

from typing import Any

from contentmodel import (
    ChatMessage,
    ChatRequest,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.authoring import (
    AsSent,
    Blocks,
    ChatMessages,
    Column,
    Columns,
    Constant,
    EncodeContext,
    OneOf,
    Roles,
    Silent,
    TextOrTexts,
    WholeNumber,
    chat,
    enum_at,
    is_native,
    same_options,
)
from contentmodel_adapters.mistral.blocks import API, CALLS, CONTENT, RESULTS, TABLE
from contentmodel_adapters.mistral.tools import CHOICE, FORMATS, TOOLS

COLUMNS = {"content": Column(CONTENT), "tool_calls": Column(Blocks(CALLS))}
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {"role": ("role", Constant("assistant"))},
    Columns("contents", COLUMNS),
    Silent("message_id"),
)
ROLES = Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))
PLAIN = chat.plain_messages(TABLE, ROLES, {"content": ("contents", CONTENT)})
TABLE.keep("assistant message", "prefix")
TABLE.known_values("message.roles", "system", "user", "assistant", "tool")
OF_CALLS = ("call_id", "name", "arguments", "extra")
OF_RESULTS = ("call_id", "name", "outputs", "is_error", "outcome", "extra")
CLIENTS = {
    HostedToolCallContent: (FunctionCallContent, OF_CALLS),
    HostedToolResultContent: (FunctionResultContent, OF_RESULTS),
}
"""The classes of calls and results of functions, which have the form of those of Mistral's tools."""


def as_class(content: Any, kind: type[Any], names: tuple[str, ...]) -> Any:
    """Return a call or a result as a value of another class, with some of its attributes."""
    return kind(**{name: getattr(content, name) for name in names})


def with_functions(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of this API with calls and results of functions in place of those of Mistral's tools.

    A message of such results has the role "tool".
    """
    if not is_native(message, context) or not any(content.__class__ in CLIENTS for content in message.contents):
        return message
    contents = [_as_function(content, context) for content in message.contents]
    is_result = all(content.__class__ is FunctionResultContent for content in contents)
    return context.replace(message, contents=contents, role="tool" if is_result else message.role)


def _as_function(content: Any, context: EncodeContext) -> Any:
    found = CLIENTS.get(content.__class__)
    return content if found is None else context.replaced(content, as_class(content, *found))


class Messages(ChatMessages):
    """The messages of a request. Calls and results of Mistral's tools are written as those of functions."""

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        wires = super().encode_message(with_functions(message, context), context)
        if context.kind == "request" and message.origin is not None and message.origin.is_answer:
            # A request must not have the position of a message in an answer.
            wires = [{key: value for key, value in wire.items() if key != "index"} for wire in wires]
        return wires


MESSAGES = Messages(ASSISTANT, PLAIN, RESULTS)
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", MESSAGES),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": ("options.tool_choice", CHOICE),
        **same_options("parallel_tool_calls", "temperature", "top_p", "frequency_penalty", "presence_penalty"),
        **same_options("logprobs", "top_logprobs", "stream", "metadata"),
        "response_format": ("options.response_format", OneOf(FORMATS)),
        "max_tokens": "options.max_output_tokens",
        "top_k": ("options.top_k", WholeNumber("options.top_k")),
        "random_seed": "options.seed",
        "stop": ("options.stop_sequences", TextOrTexts()),
        "n": "options.choices",
        "service_tier": enum_at("options.service_tier", "auto", "standard_only"),
        "reasoning_effort": enum_at("options.reasoning.effort", *EFFORTS),
    },
    as_sent=AsSent("stop"),
)
TABLE.keep(
    "request",
    *("guardrails", "min_tokens", "prediction", "prompt_cache_key", "prompt_logprobs", "prompt_mode"),
    *("repetition_penalty", "safe_prompt", "top_prompt_logprobs"),
)
