"""Requests: their messages and settings. Each tool result is a separate message."""

from __future__ import annotations

from contentmodel import (
    ChatMessage,
    ChatRequest,
)
from contentmodel.authoring import (
    AsSent,
    Blocks,
    ChatMessages,
    Column,
    Columns,
    Constant,
    OneOf,
    Roles,
    Silent,
    TextOrTexts,
    WholeNumber,
    chat,
    enum_at,
    same_options,
)
from contentmodel_adapters.mistral_chat.blocks import API, CALLS, CONTENT, RESULTS, TABLE
from contentmodel_adapters.mistral_chat.tools import CHOICE, FORMATS, TOOLS

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
MESSAGES = ChatMessages(ASSISTANT, PLAIN, RESULTS)
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
