"""The sources of answers that hosts list beside the text: citations of the text without a span.

It owns the fields of the answer and of the message that list them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from contentmodel.authoring import DecodeContext, EncodeContext, Hint
from contentmodel.content.base import AIContent
from contentmodel.message import ChatMessage
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.source_lists import SourceLists, source_union
from contentmodel_adapters.openai.chat.parts import API, TABLE

Path = Literal["citations", "search_results", "web_search", "search_info.search_results", "context.citations"]
"""The dotted path of a field that lists sources, in an answer or a message."""
CONTEXT: Path = "context.citations"
SOURCE = Hint[Path](API, "source", "the field of the answer that lists the source, if it is not an annotation")
SOURCES: dict[Path, Any] = {
    # docs.perplexity.ai/api-reference/chat-completions-post and docs.x.ai/docs/guides/live-search, seen 2026-11-23.
    # Perplexity has search_results instead of citations since 2025.
    "search_results": source_union(TABLE, "search_result", url="url", title="title", snippet="cited_text"),
    "citations": None,
    # Z.ai (docs.z.ai/api-reference/llm/chat-completion, seen 2026-11-27).
    "web_search": source_union(TABLE, "web search", link="url", title="title", content="cited_text"),
    # Tencent's Hunyuan (CherryHQ/cherry-studio, OpenAI client, seen 2026-11-27).
    "search_info.search_results": source_union(TABLE, "search info", url="url", title="title", text="cited_text"),
}
"""The fields of an answer that list its sources, in order of preference, with their rows. None: a list of links."""
# Azure (learn.microsoft.com/azure/ai-services/openai/references/on-your-data, seen 2026-11-27).
IN_CONTEXT = source_union(
    TABLE, "context citation", url="url", title="title", filepath="filename", content="cited_text"
)
_OF_ANSWER = SourceLists(SOURCE, SOURCES)
_OF_MESSAGE = SourceLists(SOURCE, {CONTEXT: IN_CONTEXT})


def with_sources(response: ChatResponse, wire: dict[str, Any], context: DecodeContext) -> ChatResponse:
    """Return an answer with the sources that its host lists beside the choices, as citations of its text.

    If the answer has no text, the lists stay in the residue.
    """
    own = (response.extra or {}).get(API) or {}
    rest = _OF_ANSWER.cite(response.messages[0], own, wire, context) if response.messages else own
    return response if rest is own else msgspec.structs.replace(response, extra={API: rest} if rest else None)


def with_context(message: ChatMessage, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with the citations of its data sources, at Azure, as citations of its text."""
    own = (message.extra or {}).get(API) or {}
    rest = _OF_MESSAGE.cite(message, own, wire, context)
    return message if rest is own else msgspec.structs.replace(message, extra={API: rest} if rest else None)


def with_listed(payload: dict[str, Any], contents: Iterable[AIContent], context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the sources of its contents: the inverse of `with_sources`."""
    return _OF_ANSWER.write(payload, contents, context)


def context_of(message: ChatMessage, wire: dict[str, Any], context: EncodeContext) -> dict[str, Any]:
    """Return the wire message with the citations of its data sources: the inverse of `with_context`."""
    return _OF_MESSAGE.write(wire, message.contents, context)
