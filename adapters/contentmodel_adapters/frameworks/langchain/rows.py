"""The rows of LangChain's messages: one for each type of message, whose fields are those of its body."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    Blocks,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    Implied,
    NonEmptyText,
    NonEmptyTextOrBlocks,
    One,
    ResultMessage,
    Roles,
    Row,
    Silent,
    Spec,
    hints,
    object_of,
    runs,
)
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import UsageRecord
from contentmodel_adapters.frameworks.langchain.blocks import (
    API,
    CALLS,
    CODE,
    FINISH,
    INVALID_CALLS,
    OLDER_CALL,
    OLDER_CALLS,
    STATUS,
    TABLE,
    USAGE,
)
from contentmodel_adapters.frameworks.langchain.contents import CONTENT_BLOCKS as BLOCKS
from contentmodel_adapters.frameworks.langchain.contents import RESULT_CONTENT
from contentmodel_adapters.frameworks.langchain.guests import (
    BEDROCK,
    COHERE,
    GOOGLE,
    LISTS_OF_CHAT,
    RESPONSES,
    SPOKEN,
    Dialect,
    unknown,
)
from contentmodel_adapters.frameworks.langchain.repeated import PLAN

AROUND = Hint[dict[str, Any]](API, "around", "the fields of the object that contains the message", fields=True)

CLASSES = {
    **{f"{name}Message": word for name, word in {"Human": "human", "AI": "ai", "System": "system"}.items()},
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
    **{f"{name}MessageChunk": f"{name}MessageChunk" for name in ("Human", "AI", "System", "Tool", "Function", "Chat")},
}
"""The type of the message of each class."""
WORDS = frozenset(CLASSES.values())
ANSWERS = ("ai", "AIMessageChunk")
ASKED = ("human", "HumanMessageChunk")
RESULTS_OF = ("tool", "function", "ToolMessageChunk", "FunctionMessageChunk")
PROVIDERS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google_genai": "google",
    "google_vertexai": "google",
    "mistralai": "mistral",
    **dict.fromkeys(("bedrock", "bedrock_converse"), "bedrock"),
}
"""The issuer of the messages of a provider in `response_metadata.model_provider`."""
OF_GOOGLE = frozenset(row.model for row in CODE)
"""The contents of Gemini's code tool."""
OPENROUTER, OLLAMA = "openrouter", "ollama-chat"
APIS = {
    "anthropic": "anthropic-messages",
    "openai": RESPONSES,
    "google_genai": GOOGLE,
    "mistralai": "mistral-chat",
    "bedrock_converse": BEDROCK.api,
    "ollama": OLLAMA,
    "cohere": COHERE,
}
"""The API of the provider-specific blocks of a provider."""
PROVIDER_OF = {"anthropic": "anthropic", "openai": "openai", "google": "google_genai", "mistral": "mistralai"}

# -- rows --------------------------------------------------------------------------------------------------------------

CONTENT_FIELD = NonEmptyTextOrBlocks(BLOCKS)
OUTPUTS_FIELD = NonEmptyTextOrBlocks(RESULT_CONTENT)
_FIELDS: dict[str, Spec] = {"content": ("contents", CONTENT_FIELD), "name": "author_name", "id": "message_id"}
_NO_CONTENT = Filled({"content": ""})
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "developer"}
REMOVE = f"{API}:remove"


def _simple(word: str, role: str) -> Row:
    return Row(word, ChatMessage, _FIELDS, Implied({"role": role}), _NO_CONTENT, constants={"type": word})


def _chat(word: str) -> Row:
    role: dict[str, Spec] = {"role": ("role", Roles(API, _ROLES))}
    return Row(word, ChatMessage, {**_FIELDS, **role}, _NO_CONTENT, constants={"type": word})


_CONTENT_COLUMN = Column(CONTENT_FIELD, *(kind for kind in CONTENT_TYPES if kind is not ErrorContent))
# The union marks the contents that are usually in another column.
_CONTENT_COLUMN.spreads = False


class _Beside(Blocks[AIContent]):
    """Blocks of a provider beside the content, in an entry of `additional_kwargs`: one, or a list.

    `tag` is a text that each block has. Entries of another form are unknown contents.
    """

    classes = (dict, list)

    def __init__(self, json_class: type, dialect: Dialect | None = None, tag: str | None = "type") -> None:
        super().__init__(BLOCKS)
        self._class, self._tag = json_class, tag
        self._decode = BLOCKS.decode_at if dialect is None else dialect.decode
        self._encode = BLOCKS.encode_list if dialect is None else dialect.encode

    def holds(self, value: Any) -> bool:
        blocks: Any = value if self._class is list else [value]
        return value.__class__ is self._class and any(map(self._is_block, blocks))

    def _is_block(self, value: Any) -> bool:
        is_tagged = self._tag is None or (value.__class__ is dict and value.get(self._tag).__class__ is str)
        return bool(value) and is_tagged

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        wires: Any = value if self._class is list else container
        keys: list[Any] = [*range(len(value))] if self._class is list else [key]
        contents: list[AIContent] = []
        for run, is_odd in runs(keys, lambda at: not self._is_block(wires[at])):
            contents += [unknown(wires, run[0], context)] if is_odd else self._decode(wires, run, context)
        return [context.replaced(content, hints.COLUMN.on(content, API, key)) for content in contents]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        blocks = self._encode(value, context)
        return blocks[0] if len(blocks) == 1 and self._class is dict else blocks or None


def _beside(*args: Any) -> Column:
    """Return a column whose contents have the hint of the column, and which is usual for none."""
    column = Column(_Beside(*args))
    column.models, column.spreads = (), False
    return column


_COLUMNS = {
    **{name: _beside(list, dialect) for name, dialect in LISTS_OF_CHAT.items()},
    "reasoning": _beside(dict),
    "tool_outputs": _beside(list, None, None),
    "audio": _beside(dict, SPOKEN, "id"),
}
"""The entries of `additional_kwargs` with blocks: of answers of Chat Completions, and OpenAI's items in version 0."""

_SPLIT: dict[str, tuple[str, tuple[str, ...]]] = {
    "cache_write_tokens": (
        "input_token_details.cache_creation",
        ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
    ),
    "cache_read_tokens": ("input_token_details.cache_read", ()),
    "reasoning_tokens": ("output_token_details.reasoning", ()),
}
_TIERS = ("priority", "flex")
"""Counters that packages split: Anthropic's by the lifetime of the cache, OpenAI's by the tier of the service.

The usual counter is then missing or zero; in older messages, it is the sum. Source: langchain-anthropic 1.7.10
(`_create_usage_metadata`), langchain-aws 1.9.1 (`_extract_usage_metadata`) and langchain-openai 1.7.4
(`_create_usage_metadata`), seen 2026-11-27.
"""


def _counted(details: dict[str, Any], attribute: str) -> tuple[str, dict[str, int]]:
    """Return the name of the details of a counter, and its parts by their names. The first may be the usual counter."""
    path, names = _SPLIT[attribute]
    holder, _, usual = path.partition(".")
    names = (usual, *names, *(f"{tier}_{usual}" for tier in _TIERS))
    counts = object_of(details, holder)
    return holder, {name: counts[name] for name in names if counts.get(name).__class__ is int}


def _total_of(parts: dict[str, int], attribute: str) -> int:
    usual = _SPLIT[attribute][0].rpartition(".")[2]
    return parts.get(usual) or sum(parts.values())


class _OfMessage(UsageRecord):
    """The usage of a message. LangChain requires the total."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Usage:
        usage = super().decode(value, context, container, key)
        for attribute in _SPLIT:
            holder, parts = _counted(value, attribute)
            usual = getattr(usage, attribute)
            if len(parts) > (usual is not None):
                residue = (usage.extra or {}).get(API, {})
                counters = {**residue, holder: {**object_of(residue, holder), **parts}}
                changes = {attribute: _total_of(parts, attribute), "extra": {**(usage.extra or {}), API: counters}}
                usage = context.replaced(usage, replace(usage, **changes))
        return usage

    def encode(self, value: Usage, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        for attribute in _SPLIT if context.native else ():
            value = _split(value, attribute, context)
        if value.total_tokens is None and not context.native:
            value = context.replace(value, total_tokens=value.all_input_tokens + value.all_output_tokens)
        return super().encode(value, context, owner)


def _split(usage: Usage, attribute: str, context: EncodeContext) -> Usage:
    """Return a usage in which a counter is either as it was split, or in its usual field alone."""
    residue = (usage.extra or {}).get(API, {})
    holder, parts = _counted(residue, attribute)
    if not parts:
        return usage
    if _total_of(parts, attribute) == getattr(usage, attribute):
        return context.replace(usage, **{attribute: None})
    other_counts = {name: item for name, item in residue[holder].items() if name not in parts}
    return context.replace(usage, extra={**(usage.extra or {}), API: {**residue, holder: other_counts}})


def _answer(word: str) -> Row:
    return Row(
        word,
        ChatMessage,
        {
            "name": "author_name",
            "id": "message_id",
            "usage_metadata": ("usage", _OfMessage(USAGE)),
            "response_metadata.finish_reason": ("finish_reason", FINISH),
            "response_metadata.id": "response_id",
        },
        Columns(
            "contents",
            {
                "additional_kwargs.reasoning_content": Column(
                    NonEmptyText(ReasoningContent, "text", between="\n\n"), ReasoningContent, hinted=True
                ),
                **{f"additional_kwargs.{name}": column for name, column in _COLUMNS.items()},
                PLAN: Column(
                    NonEmptyText(ReasoningContent, "text", between="\n\n", kind="plan"), ReasoningContent, hinted=True
                ),
                "content": _CONTENT_COLUMN,
                "refusal": Column(NonEmptyText(ErrorContent, "message", between="\n\n", code="refusal"), ErrorContent),
                "tool_calls": Column(Blocks(CALLS), FunctionCallContent, hinted=True),
                "invalid_tool_calls": Column(Blocks(INVALID_CALLS), FunctionCallContent, hinted=True),
                "older_calls": Column(Blocks(OLDER_CALLS), FunctionCallContent, hinted=True),
                "older_call": Column(One(OLDER_CALL), FunctionCallContent, hinted=True),
            },
        ),
        Implied({"role": "assistant"}),
        _NO_CONTENT,
        constants={"type": word},
    )


_ROWS: dict[str, str] = {
    "user": "human",
    "assistant": "ai",
    "system": "system",
    "developer": "system.developer",
    REMOVE: "remove",
}
MESSAGES = TABLE.union(
    "message",
    [
        _simple("human", "user"),
        _simple("HumanMessageChunk", "user"),
        _simple("system", "system"),
        Row(
            "system.developer",
            ChatMessage,
            _FIELDS,
            Implied({"role": "developer"}),
            _NO_CONTENT,
            constants={"type": "system", "additional_kwargs.__openai_role__": "developer"},
        ),
        _simple("SystemMessageChunk", "system"),
        _answer("ai"),
        _answer("AIMessageChunk"),
        _chat("chat"),
        _chat("ChatMessageChunk"),
        Row(
            "remove",
            ChatMessage,
            {"id": "message_id"},
            Implied({"role": REMOVE}),
            _NO_CONTENT,
            Silent("contents", "author_name"),
            constants={"type": "remove"},
        ),
    ],
    other=Row(
        "other",
        ChatMessage,
        {**_FIELDS, "type": ("role", Roles(API, {"user": "user"}))},
        _NO_CONTENT,
    ),
    prefer=lambda message, rows: _ROWS.get(message.role, "chat" if ":" in message.role else "human"),
)


def _result(word: str) -> Row:
    fields: dict[str, Spec] = {
        "tool_call_id": "call_id",
        "name": "name",
        "content": ("outputs", OUTPUTS_FIELD),
        "status": ("is_error", STATUS),
        "artifact": "artifact",
    }
    filled = Filled({"content": "", "tool_call_id": ""})
    return Row(word, FunctionResultContent, fields, Silent("status"), filled, constants={"type": word})


def _function(word: str) -> Row:
    """Return the row of a result without the id of its call, as models had them before there were tools."""
    fields: dict[str, Spec] = {"name": "name", "content": ("outputs", OUTPUTS_FIELD)}
    filled = Filled({"content": "", "name": ""})
    return Row(word, FunctionResultContent, fields, Silent("status"), filled, constants={"type": word})


RESULTS = TABLE.union(
    "result message",
    [_result("tool"), _result("ToolMessageChunk"), _function("function"), _function("FunctionMessageChunk")],
)
TABLE.known_values("message.type", *sorted(WORDS))


RESULT_MESSAGE = ResultMessage(RESULTS, {"message_id": "id"})


def issuer_of(provider: str, model: str | None) -> str:
    """Return the issuer of a provider's state. At Bedrock, it is the maker of the model."""
    issuer = PROVIDERS.get(provider, provider)
    makers = BEDROCK.adapter.host(model).issuers if issuer == BEDROCK.adapter.issuer else ()
    return next(iter(makers), issuer)
