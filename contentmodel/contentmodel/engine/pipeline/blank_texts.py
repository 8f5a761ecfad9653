"""Blank texts, for APIs that refuse them: in messages, in results of tools, and in instructions."""

from __future__ import annotations

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.census import Fact
from contentmodel.engine.pipeline.steps import Made, content_step, each_output, needs
from contentmodel.request import ChatRequest


def without_blank_text(content: AIContent, context: EncodeContext) -> Made:
    """Return nothing for a blank text, and a result without its blank texts, for APIs that refuse them.

    A text that has just started, in a stream, may grow.
    """
    if context.is_open:
        return content
    if isinstance(content, FunctionResultContent | CustomToolResultContent):
        return each_output(content, without_blank_text, context)
    return () if _drop_blank(content, context) else content


WITHOUT_BLANK_TEXTS = content_step(
    without_blank_text, TextContent, FunctionResultContent, CustomToolResultContent, needs=(Fact.BLANK_TEXT,)
)


@needs(Fact.INSTRUCTIONS)
def without_blank_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API without blank instructions, for APIs that refuse them."""
    if not any(map(_is_blank, request.instructions)):
        return request
    instructions = [content for content in request.instructions if not _drop_blank(content, context)]
    return msgspec.structs.replace(request, instructions=instructions)


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
