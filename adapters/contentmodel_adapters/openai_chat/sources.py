"""The sources of answers that hosts list beside the text: citations of the text without a span.

The answer as a whole refers to them. It owns the fields of the answer and of the message that list them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, Row, object_of
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel.response import ChatResponse
from contentmodel_adapters.openai_chat.parts import API, TABLE
from contentmodel_adapters.shared.paths import at, put, without

Path = Literal["citations", "search_results", "web_search", "search_info.search_results", "context.citations"]
"""The dotted path of a field that lists sources, in an answer or a message."""
LINKS: Path = "citations"
CONTEXT: Path = "context.citations"
SOURCE = Hint[Path](API, "source", "the field of the answer that lists the source, if it is not an annotation")


def _union(name: str, **fields: str) -> Any:
    return TABLE.union(name, [Row(name, Citation, fields)], find=lambda wire: name)


SOURCES: dict[Path, Any] = {
    # docs.perplexity.ai/api-reference/chat-completions-post and docs.x.ai/docs/guides/live-search, seen 2026-11-23.
    # Perplexity has search_results instead of citations since 2025.
    "search_results": _union("search_result", url="url", title="title", snippet="cited_text"),
    LINKS: None,
    # Z.ai (docs.z.ai/api-reference/llm/chat-completion, seen 2026-11-27).
    "web_search": _union("web search", link="url", title="title", content="cited_text"),
    # Tencent's Hunyuan (CherryHQ/cherry-studio, OpenAI client, seen 2026-11-27).
    "search_info.search_results": _union("search info", url="url", title="title", text="cited_text"),
}
"""The fields of an answer that list its sources, in order of preference, with their rows. None: a list of links."""

# Azure (learn.microsoft.com/azure/ai-services/openai/references/on-your-data, seen 2026-11-27).
IN_CONTEXT = _union("context citation", url="url", title="title", filepath="filename", content="cited_text")


def with_sources(response: ChatResponse, wire: dict[str, Any], context: DecodeContext) -> ChatResponse:
    """Return an answer with the sources that its host lists beside the choices, as citations of its text.

    If the answer has no text, the lists stay in the residue.
    """
    own = (response.extra or {}).get(API) or {}
    field = next((path for path in SOURCES if _lists_sources(at(own, path), path)), None)
    if field is None or not response.messages:
        return response
    rest = _cited(response.messages[0], own, wire, field, SOURCES[field], context)
    return response if rest is own else msgspec.structs.replace(response, extra={API: rest} if rest else None)


def with_context(message: ChatMessage, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with the citations of its data sources, at Azure, as citations of its text."""
    own = (message.extra or {}).get(API) or {}
    if not _lists_sources(at(own, CONTEXT), CONTEXT):
        return message
    rest = _cited(message, own, wire, CONTEXT, IN_CONTEXT, context)
    return message if rest is own else msgspec.structs.replace(message, extra={API: rest} if rest else None)


def _lists_sources(value: Any, path: str) -> bool:
    kind = str if path == LINKS else dict
    return value.__class__ is list and bool(value) and all(item.__class__ is kind for item in value)


def _cited(
    message: ChatMessage, own: dict[str, Any], wire: dict[str, Any], path: Path, union: Any, context: DecodeContext
) -> dict[str, Any]:
    """Add the sources at `path` to the first text of a message, in place. Return the rest of the residue `own`.

    If the message has no text, return `own` itself.
    """
    place = next((i for i, content in enumerate(message.contents) if content.__class__ is TextContent), None)
    if place is None:
        return own
    listed: list[Any] = at(own, path)
    made = [Citation(url=link) for link in listed] if union is None else union.decode_list(listed, context)
    citations = [SOURCE.on(citation, API, path) for citation in made]
    outer, _, inner = path.rpartition(".")
    context.trace(union, citations, object_of(wire, outer) if outer else wire, inner, spread=True)
    text = message.contents[place]
    message.contents[place] = msgspec.structs.replace(text, annotations=[*(text.annotations or ()), *citations])
    return without(own, path)


def with_listed(payload: dict[str, Any], contents: Iterable[AIContent], context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the sources of its contents: the inverse of `with_sources`."""
    return _with_fields(payload, _listed(contents, SOURCES, context))


def context_of(message: ChatMessage, wire: dict[str, Any], context: EncodeContext) -> dict[str, Any]:
    """Return the wire message with the citations of its data sources: the inverse of `with_context`."""
    return _with_fields(wire, _listed(message.contents, {CONTEXT: IN_CONTEXT}, context))


def _with_fields(wire: dict[str, Any], fields: dict[str, list[Any]]) -> dict[str, Any]:
    for path, listed in fields.items():
        wire = put(wire, path, listed)
    return wire


def _listed(contents: Iterable[AIContent], unions: dict[Path, Any], context: EncodeContext) -> dict[str, list[Any]]:
    fields: dict[str, list[Any]] = {}
    for content in contents:
        for citation in content.annotations or ():
            path = SOURCE.of(citation, API)
            if path in unions:
                union = unions[path]
                source = citation.url if union is None else union.encode_one(citation, context)
                fields.setdefault(path, []).append(source)
    return fields
