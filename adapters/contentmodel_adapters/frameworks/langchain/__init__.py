"""The adapter of LangChain's messages, as chat histories, LangGraph and LangSmith store them."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Literal

from contentmodel.authoring import (
    DUMPERS,
    DecodeContext,
    EncodeContext,
    Hint,
    Row,
    content_step,
    foreign,
    payload_step,
    transcript_step,
)
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import documents
from contentmodel_adapters.common.citations import with_spans
from contentmodel_adapters.frameworks.hosted_tools import names_in_calls
from contentmodel_adapters.frameworks.langchain.blocks import API, TABLE, is_own
from contentmodel_adapters.frameworks.langchain.contents import with_block_hints
from contentmodel_adapters.frameworks.langchain.messages import (
    Messages,
    body_key,
    expanded,
    only_of_batch,
    with_json_as_text,
    word_of,
)
from contentmodel_adapters.frameworks.langchain.repeated import (
    AGAIN,
    ENDINGS,
    REPEATING,
    is_chunk,
    is_executed_tool,
    is_raw_call,
)
from contentmodel_adapters.frameworks.langchain.rows import WORDS
from contentmodel_adapters.frameworks.langchain.rules import RULES
from contentmodel_adapters.frameworks.provider_state import with_standard_base64, with_state_first

REQUEST = TABLE.record("request", ChatRequest, {"messages": ("messages", Messages())})
BATCH = Hint[Literal[True]](API, "batch", "the messages are the only conversation of a batch")
_OWN = frozenset({"additional_kwargs", "response_metadata", "tool_calls", "usage_metadata"})
_WORDS = frozenset(word for word in WORDS if word.startswith(("human", "ai", "Human", "AI")))
"""The types of messages that no other format has."""


def with_batch(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload whose messages are the only conversation of a batch, if they were read so."""
    return {**payload, "messages": [payload["messages"]]} if BATCH.of(request, API) else payload


def with_known_messages(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without the API-specific values of other APIs. Messages of this format are unchanged."""
    normalized: list[ChatMessage] = []
    for is_ours, group in groupby(messages, key=is_own):
        run = list(group)
        if not is_ours:
            spanned = with_spans([_with_state(message, context) for message in run], context, "codepoint")
            run = foreign.normalize_foreign(spanned, context)
        normalized += run
    return normalized


def _with_state(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message with its state as the packages of providers send it: they join reasoning by its id."""
    contents = [
        with_standard_base64(_identified(content, item_id, context), context)
        for content, item_id in with_state_first(message.contents, context)
    ]
    return context.with_contents(message, contents)


def _identified(content: AIContent, item_id: str | None, context: EncodeContext) -> AIContent:
    if item_id is None or not isinstance(content, ReasoningContent):
        return content
    return context.with_fields(content, {"id": item_id})


def _is_repeated(value: object) -> bool:
    """Return True: a field that repeats a part of the message holds nothing else."""
    return True


class LangChainMessages(documents.ListAdapter):
    """The adapter of lists of messages."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    keeps_state = True
    takes_json = True
    structure = frozenset((*ENDINGS, "block_type", "toolset_name"))
    reasoning_fields = ()
    records = frozenset({"message_id", "usage", "finish_reason", "response_id", "artifact"})
    meaningless = {
        **dict.fromkeys((*AGAIN.values(), "raw_call", "call_signatures", *REPEATING), _is_repeated),
        "raw_calls": [is_raw_call],
        "tools_again": [is_executed_tool],
        "tool_call_chunks": [is_chunk],
        **dict.fromkeys(
            (
                "lc",
                "id",
                "index",
                "response_metadata",
                "chunk_position",
                "type",
                "block_type",
                "tool_call_id",
                "mime_type",
            )
        ),
        "content": "",
        "example": False,
    }
    request_steps = (
        documents.INSTRUCTIONS,
        transcript_step(with_known_messages),
        names_in_calls(is_own=is_own),
        content_step(with_json_as_text, native=True, needs=(JsonContent,)),
        content_step(with_block_hints),
    )
    request_payload_steps = (payload_step(with_batch, native=True),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        only = only_of_batch(wire.get("messages"))
        if only is None:
            return super()._decode_row(row, wire, context)
        copy = {**wire, "messages": only}
        context.copied(copy, wire, moved=("messages", (wire["messages"], 0)))
        return BATCH.on(super()._decode_row(row, copy, context), API, True)

    def expanded(self, payload: Any) -> Any:
        """Return a payload in which the results have error flags."""
        return expanded(payload)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of LangChain: each has one of its types."""
        items = only_of_batch(items) or items
        if not items or not all(isinstance(item, dict) for item in items):
            return 0.0
        # `dumpd` writes an object that it cannot write as one of no message.
        items = [item for item in items if "lc" not in item or item.get("type") != "not_implemented"]
        keys = [body_key(item) for item in items]
        words = [word_of(item, key) for item, key in zip(items, keys, strict=True)]
        if not items or not WORDS.issuperset(words):
            return 0.0
        if all(key is not None for key in keys):
            return 0.99
        if not all(key is not None or "content" in item for item, key in zip(items, keys, strict=True)):
            return 0.0
        # Blocks of a provider in such a message are no evidence for the API of the provider.
        has_own_words = not _WORDS.isdisjoint(words) and not any("role" in item for item in items)
        return 0.98 if has_own_words or any(not _OWN.isdisjoint(item) for item in items) else 0.9


def _dumped(value: Any) -> Any:
    """Return an object of langchain-core as `messages_to_dict` writes it."""
    body = value.model_dump()
    return {"type": value.type, "data": body} if "additional_kwargs" in body else body


DUMPERS["langchain_core"] = _dumped
adapter = LangChainMessages()
