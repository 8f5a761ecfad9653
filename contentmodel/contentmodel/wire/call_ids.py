"""Ids for calls and results that have none, for APIs that require them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.message import ChatMessage
from contentmodel.pairs import Place, missing_ids
from contentmodel.wire import reasons
from contentmodel.wire.reasons import Reason

if TYPE_CHECKING:
    from contentmodel.wire.context import EncodeContext


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Calls and results that have no id get one, by which each result refers to its call."""
    given = missing_ids(messages)
    if not given:
        return messages
    return [with_ids(message, index, given, reasons.CALL_ID, context) for index, message in enumerate(messages)]


def with_ids(
    message: ChatMessage, index: int, given: dict[Place, str], reason: Reason, context: EncodeContext
) -> ChatMessage:
    """The message, of this number, whose calls and results have the ids that are given for their places."""
    contents: list[Any] = list(message.contents)
    for at, content in enumerate(contents):
        call_id = given.get((index, at))
        if call_id is not None and call_id != content.call_id:
            context.lose(content, "call_id", reason)
            contents[at] = context.same(content, msgspec.structs.replace(content, call_id=call_id))
    return context.with_contents(message, contents)
