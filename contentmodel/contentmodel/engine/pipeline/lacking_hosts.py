"""Adapt the history of a conversation to a host that lacks some of the hosted tools of its API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from contentmodel.engine.pipeline.passes import leave_empty, normalized_message, results_apart
from contentmodel.engine.pipeline.steps import recorded_turns

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import ChatMessage


def without_hosted(
    messages: list[ChatMessage], context: EncodeContext, is_refused: Callable[[AIContent], bool]
) -> list[ChatMessage]:
    """Return messages whose refused hosted calls and results are function calls and results (policy "hosted_tools").

    All other contents are unchanged.
    """
    changed: list[ChatMessage] = []
    for message in messages:
        if not any(map(is_refused, message.contents)):
            changed.append(message)
            continue
        for content in message.contents:
            if is_refused(content):
                context.own_contents.pop(id(content), None)
            else:
                context.own_contents[id(content)] = content
        plain = normalized_message(message, context)
        if plain.contents:
            changed += recorded_turns(plain, results_apart(plain, context), context)
        else:
            leave_empty(message, context)
    return changed
