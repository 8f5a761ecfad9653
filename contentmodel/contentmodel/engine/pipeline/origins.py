"""Test whether a message or a request came from the target's API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import ChatMessage
    from contentmodel.request import ChatRequest


def is_native(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether the message came from the target's API."""
    return message.origin is not None and message.origin.api == context.api


def stays(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether a message came from the target's API and goes back to its model and host."""
    return is_native(message, context) and not context.is_aimed


def is_all_native(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the whole request came from the target's API: then it is encoded unchanged."""
    return context.native and all(is_native(message, context) for message in request.messages)
