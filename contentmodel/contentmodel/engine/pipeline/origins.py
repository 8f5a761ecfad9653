"""Test whether a message or a request came from the target's API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolCallContent, ToolResultContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import ChatMessage
    from contentmodel.request import ChatRequest


def is_native(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether the message came from the target's API."""
    return message.origin is not None and message.origin.api == context.api


def is_kept(hosted: ToolCallContent | ToolResultContent, context: EncodeContext) -> bool:
    """Return whether a hosted call or result of another API stays hosted.

    Formats of frameworks keep those of every provider. Other APIs keep those in which a pass found their own.
    """
    return context.keeps_state or context.api in (hosted.extra or ())


def is_all_native(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the whole request came from the target's API: then it is encoded unchanged."""
    return context.native and all(is_native(message, context) for message in request.messages)
