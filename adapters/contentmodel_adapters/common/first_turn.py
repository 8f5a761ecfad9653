"""The first turn of APIs whose conversations begin with the user."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import BEGUN, DecodeContext, EncodeContext, Hint, begun_before, is_native, reasons
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage

BEGUN_BEFORE = "begun", "the placeholder of a user's turn that precedes the first turn of the model"
"""The name and the meaning of the hint of an API."""


def with_begun(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages with a placeholder of the user before a first turn of the model of another API.

    If a user's first message reads like the placeholder, one is added as well, because decoding removes the first.
    """
    # A message without contents is not sent.
    first = next((message for message in messages if message.contents), None)
    if first is None or is_native(first, context):
        return messages
    if first.role != "assistant" and not _is_placeholder(messages):
        return messages
    context.report_loss(first, None, reasons.USER_TURN_FIRST)
    contents: list[Any] = [TextContent(text=begun_before(first.contents))]
    return [ChatMessage(role="user", contents=contents, origin=first.origin), *messages]


def without_begun(messages: list[ChatMessage], context: DecodeContext, hint: Hint[str]) -> list[ChatMessage]:
    """Return the messages with an empty one, and the hint of its text, instead of a turn that `with_begun` made."""
    if not _is_placeholder(messages):
        return messages
    text = begun_before(messages[1].contents)
    empty = ChatMessage(role="user", origin=messages[0].origin, extra=hint.extra(context.api, text))
    context.replaced(messages[0], empty)
    return [empty, *messages[1:]]


def _is_placeholder(messages: list[ChatMessage]) -> bool:
    """Return whether the first message reads like a placeholder before the second."""
    if len(messages) < 2 or messages[0].role != "user" or messages[0].extra is not None:
        return False
    first = messages[0].contents[0] if messages[0].contents else None
    if not isinstance(first, TextContent) or not first.text.startswith(BEGUN):
        # The usual case: skip the computation of the placeholder.
        return False
    return messages[0].contents == [TextContent(text=begun_before(messages[1].contents))]
