"""The adapter of messages of Pydantic AI: the JSON of `ModelMessagesTypeAdapter`, and lists of its message objects."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    DUMPERS,
    OF_MESSAGES,
    DecodeContext,
    EncodeContext,
    Fact,
    Kinds,
    Row,
    content_step,
    each_output,
    foreign,
    media,
    payload_step,
    reasons,
    request_step,
    text_of,
    transcript_step,
    turn_step,
    with_contents,
    with_guests,
    with_known_tools,
)
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import (
    McpListToolsToolCallContent,
    McpListToolsToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
)
from contentmodel.content.media import DataContent, HostedFileContent
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import documents
from contentmodel_adapters.common.media import typed_file
from contentmodel_adapters.frameworks.provider_state import with_standard_base64, with_state_first
from contentmodel_adapters.frameworks.pydantic_ai.blocks import GUESTS, TABLE
from contentmodel_adapters.frameworks.pydantic_ai.hosted import NAMES, RESULTS
from contentmodel_adapters.frameworks.pydantic_ai.messages import (
    CONVERSATION,
    instructed_request,
    instructions_of,
    without_records,
)
from contentmodel_adapters.frameworks.pydantic_ai.rules import KINDS, RULES
from contentmodel_adapters.frameworks.pydantic_ai.values import API, provider_fields

READS = media.MediaSupport(None, None, ("http", "https"), in_answers=True)
OF_SERVERS = (
    *(McpServerToolCallContent, McpServerToolResultContent),
    *(McpListToolsToolCallContent, McpListToolsToolResultContent),
)
STORES = ("anthropic", "openai", "google", "bedrock", "xai")
"""The providers of uploaded files (pydantic_ai.messages.UploadedFileProviderName)."""


def with_provider_fields(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API with the provider of the opaque state of each content, and the id of its item."""
    pairs = with_state_first(message.contents, context)
    # The id of an item of another maker, such as xAI, means nothing to OpenAI.
    of_others = {item_id for content, item_id in pairs if content.protected and content.protected.issuer != "openai"}
    fields = [provider_fields(content, None if item_id in of_others else item_id) for content, item_id in pairs]
    contents = [
        context.with_fields(content, added) if added else content
        for (content, _), added in zip(pairs, fields, strict=True)
    ]
    return with_contents(message, contents)


def with_stored_files(content: Any, context: EncodeContext) -> Any:
    """Return a content in which stored files have their provider. Files of no provider are dropped."""
    if isinstance(content, ToolResultContent):
        return each_output(content, with_stored_files, context)
    if not isinstance(content, HostedFileContent):
        return content
    origin = context.message.origin
    if origin is None or origin.issuer not in STORES:
        context.report_loss(content, None, reasons.STORED_ELSEWHERE)
        return []
    return context.with_fields(typed_file(content, context), {"provider_name": origin.issuer})


def with_names_of_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages with a name in each call, and the name or the server of its call in each result.

    Pydantic AI requires them.
    """
    calls: dict[str | None, AIContent] = {}
    named = []
    for message in messages:
        calls.update((call.call_id, call) for call in message.contents if isinstance(call, ToolCallContent))
        contents = [_named(content, calls, context) for content in message.contents]
        named.append(with_contents(message, contents))
    return named


def _named(content: AIContent, calls: Mapping[str | None, AIContent], context: EncodeContext) -> AIContent:
    call = calls.get(getattr(content, "call_id", None))
    named = content
    if isinstance(content, OF_SERVERS):
        if content.server is None:
            named = replace(content, server=getattr(call, "server", None) or "")
        if isinstance(content, ToolResultContent) and content.name not in (None, getattr(call, "name", None)):
            context.report_loss(content, "name", reasons.NO_FIELD)
    elif isinstance(content, ToolCallContent) and content.name is None:
        named = replace(content, name=NAMES.get(type(content), ""))
    elif isinstance(content, ToolResultContent) and content.name is None:
        named = replace(content, name=getattr(call, "name", None) or "")
    elif isinstance(content, ToolResultContent) and content.executor == "provider":
        name = RESULTS.get(type(content), content.name)
        if content.name != name:
            context.report_loss(content, "name", reasons.OTHER_VALUE, value=name)
    return named


def with_instructions(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with a request for the instructions of a conversation without messages."""
    if request.instructions and not request.messages:
        text = instructions_of(request, context)
        payload["messages"] = [{"parts": [], "instructions": text, "kind": "request"}]
    return payload


class PydanticAIMessages(documents.ListAdapter):
    """The adapter of lists of ModelRequest and ModelResponse. An object with `messages` around a list is kept."""

    api = API
    table = TABLE
    rules = RULES
    request = CONVERSATION
    takes_json = True
    keeps_state = True
    reasoning_fields = ()
    records = frozenset({*OF_MESSAGES, "outcome", "artifact"})
    meaningless = {
        **dict.fromkeys(("kind", "part_kind", "timestamp", "run_id", "conversation_id", "metadata", "state")),
        **dict.fromkeys(("identifier", "id", "tool_kind", "scope", "dynamic_ref", "context_id", "force_download")),
        **dict.fromkeys(("model_name", "model_id", "provider_name", "provider_url", "canonical_system", "cost")),
        **dict.fromkeys(("workspace_ref", "history_digest", "failed_attempts", "content_file_digests", "retry")),
        **dict.fromkeys(("speaker", "tag", "description", "value", "base_hash", "tool_call_id", "audio", "content")),
        # The result of a server repeats the name of its call.
        "tool_name": None,
        # How an instruction is delivered.
        **dict.fromkeys(("dynamic", "on_change")),
    }
    request_steps = (
        turn_step(without_records, native=True, needs=(Fact.MESSAGE_RECORD,)),
        transcript_step(with_guests, native=True, guests=GUESTS),
        request_step(with_known_tools, kinds=Kinds(changes=True)),
        *documents.NORMALIZED,
        turn_step(with_provider_fields, needs=(Fact.STATE, ReasoningContent, CompactionContent)),
        content_step(with_standard_base64, needs=(Fact.STATE, DataContent)),
        content_step(with_stored_files, HostedFileContent, *foreign.RESULTS, needs=(HostedFileContent,)),
        *media.with_readable_media(READS),
        documents.FITTING_CALLS,
        transcript_step(with_names_of_results, native=True, needs=(*foreign.CALLS, *foreign.RESULTS)),
    )
    request_payload_steps = (payload_step(with_instructions, native=True),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        request = super()._decode_row(row, wire, context)
        wires: Any = wire.get(self.conversation)
        at = instructed_request(wires) if isinstance(request, ChatRequest) and isinstance(wires, list) else None
        if at is not None:
            content = TextContent(text=wires[at]["instructions"])
            request.instructions.append(content)
            context.trace(None, [content], wires[at], "instructions", spread=False)
        return request

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has requests and responses with parts."""
        return 0.99 if items and all(map(_is_message, items)) else 0.0


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and text_of(item, "kind") in KINDS and isinstance(item.get("parts"), list)


def _dump(value: Any) -> Any:
    """Return a message of Pydantic AI as JSON values."""
    library = sys.modules["pydantic_ai.messages"]
    if not isinstance(value, library.ModelRequest | library.ModelResponse):
        return NotImplemented
    return library.ModelMessagesTypeAdapter.dump_python([value], mode="json")[0]


DUMPERS["pydantic_ai"] = _dump
adapter = PydanticAIMessages()
