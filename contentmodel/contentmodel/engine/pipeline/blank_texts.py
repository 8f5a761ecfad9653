"""Blank texts, for APIs that refuse them: in messages, in results of tools, and in instructions."""

from __future__ import annotations

from contentmodel.content.base import AIContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest


def without_blank_texts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of other APIs without blank texts, for APIs that refuse them, also in results."""
    kept = []
    for message in messages:
        if not context.is_open and not is_native(message, context):
            contents = [_without_blank_outputs(content, context) for content in message.contents]
            message = context.with_contents(message, _without_blanks(contents, context))
        kept.append(message)
    return kept


def without_blank_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API without blank instructions, for APIs that refuse them."""
    instructions = _without_blanks(request.instructions, context)
    return request if instructions is request.instructions else context.replace(request, instructions=instructions)


def _without_blank_outputs(content: AIContent, context: EncodeContext) -> AIContent:
    if not isinstance(content, FunctionResultContent | CustomToolResultContent) or not content.outputs:
        return content
    outputs = _without_blanks(content.outputs, context)
    return content if outputs is content.outputs else context.replace(content, outputs=outputs)


def _without_blanks(contents: list[AIContent], context: EncodeContext) -> list[AIContent]:
    """Return the contents without blank texts; the same list if there are none."""
    return [c for c in contents if not _drop_blank(c, context)] if any(map(_is_blank, contents)) else contents


def _is_blank(content: AIContent) -> bool:
    return content.__class__ is TextContent and (not content.text or content.text.isspace())


def _drop_blank(content: AIContent, context: EncodeContext) -> bool:
    if not isinstance(content, TextContent) or not _is_blank(content):
        return False
    if content.text or content.extra is not None or content.annotations is not None:
        context.report_loss(content, None, reasons.BLANK_TEXT)
    for citation in content.annotations or ():
        # Citations have their own paths: some APIs keep them beside the texts.
        context.report_loss(citation, None, reasons.BLANK_TEXT)
    context.report_lost_attributes(content, ("cache_point",))
    return True
