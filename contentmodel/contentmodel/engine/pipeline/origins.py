"""Whether something came from the API that it is now written for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import ChatMessage
    from contentmodel.request import ChatRequest


def is_native(message: ChatMessage, context: EncodeContext) -> bool:
    """Whether the message came from the API that it is now written for."""
    return message.origin is not None and message.origin.api == context.api


def is_home(request: ChatRequest, context: EncodeContext) -> bool:
    """Whether a request came whole from the API that it is now written for: then nothing is done to it."""
    return context.native and all(is_native(message, context) for message in request.messages)
