"""The sources that hosts list beside the text, as citations of the text.

langchain-perplexity 1.4.2 and langchain-xai 1.3.0 keep the lists of an answer in `additional_kwargs` (chat_models.py of
both, seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, object_of
from contentmodel.content.base import AIContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.citations import SourceLists, source_union
from contentmodel_adapters.frameworks.langchain.blocks import API, TABLE
from contentmodel_adapters.frameworks.langchain.calls import links_of

SOURCE = Hint[Literal["additional_kwargs.citations", "additional_kwargs.search_results"]](
    API, "source", "the field of the body that lists the source, if it is not an annotation"
)
_LISTS = SourceLists(
    SOURCE,
    {
        "additional_kwargs.search_results": source_union(
            TABLE, "search_result", url="url", title="title", snippet="cited_text"
        ),
        "additional_kwargs.citations": None,
    },
)


def with_sources(message: ChatMessage, body: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return an answer with the sources that its body lists, as citations of its text."""
    extra = message.extra or {}
    own = extra.get(API, {})
    rest = _LISTS.cite(message, own, body, context)
    return message if rest is own else context.replace(message, extra={**extra, API: rest})


def without_cited(message: ChatMessage, context: EncodeContext, *marks: Hint[Any]) -> ChatMessage:
    """Return a message without the citations that its body has beside the content: those with one of the hints."""
    return context.with_contents(message, [_uncited(content, context, marks) for content in message.contents])


def _uncited(content: AIContent, context: EncodeContext, marks: Sequence[Hint[Any]]) -> AIContent:
    rest = [one for one in content.annotations or () if all(mark.of(one, API) is None for mark in marks)]
    if len(rest) == len(content.annotations or ()):
        return content
    made: AIContent = context.replace(content, annotations=rest or None)
    return made


def add_sources(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the sources of the contents of a message to the lists of its body, in place."""
    body.update(_LISTS.write(body, message.contents, context))
    own = (message.extra or {}).get(API, {})
    kwargs = object_of(body, "additional_kwargs")
    if "links_again" in own and "links_again" not in body and kwargs.get("citations") == own["links_again"]:
        links = links_of(kwargs)
        rest = {key: value for key, value in kwargs.items() if key != "citations"}
        body["additional_kwargs"] = {**rest, **({"citations": links} if links else {})}
