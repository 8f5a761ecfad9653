"""Citations without a text belong to the text before them: Nova has the sources of a text in a block after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contentmodel.content.text import TextContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.message import ChatMessage

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext


def with_citations_of_texts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs with each citation on the text that it belongs to."""
    return [m if is_native(m, context) else with_citations_on_texts(m, context) for m in messages]


def with_citations_on_texts(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API with each citation on the text that it belongs to."""
    if not any(map(_is_citation_alone, message.contents)):
        return message
    contents: list[AIContent] = []
    for content in message.contents:
        last = contents[-1] if contents else None
        if isinstance(last, TextContent) and last.text and _is_citation_alone(content):
            context.report_lost_attributes(content, ("protected", "cache_point"))
            context.leave_residue(content, own=True)
            cited = [*(last.annotations or ()), *(content.annotations or ())]
            contents[-1] = context.replace(last, annotations=cited)
        else:
            contents.append(content)
    return context.with_contents(message, contents)


def _is_citation_alone(content: AIContent) -> bool:
    if not content.annotations or not isinstance(content, TextContent) or content.text:
        return False
    return all(citation.span is None for citation in content.annotations)


def leaves_out_citations(text: TextContent, context: EncodeContext) -> bool:
    """Report the citations of an empty text that has nothing else, and return True; False for other texts.

    UI messages of the AI SDK have sources beside tools. Requests to providers have no citations of other APIs.
    """
    if text.text or not text.annotations or context.keeps_state or context.kind != "request":
        return False
    if text.protected is not None or text.cache_point is not None:
        return False
    for citation in text.annotations:
        context.report_loss(citation, None, reasons.NO_FIELD)
    return True
