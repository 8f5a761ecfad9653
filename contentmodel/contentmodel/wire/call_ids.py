"""Ids for calls and results that have none, for APIs that require them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.message import ChatMessage
from contentmodel.pairs import Place, missing_ids
from contentmodel.wire import reasons

if TYPE_CHECKING:
    from contentmodel.wire.context import EncodeContext


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Calls and results that have no id get one, by which each result refers to its call."""
    given = missing_ids(messages)
    return [_with_ids(message, index, given, context) for index, message in enumerate(messages)] if given else messages


def _with_ids(message: ChatMessage, index: int, given: dict[Place, str], context: EncodeContext) -> ChatMessage:
    contents: list[Any] = list(message.contents)
    for at, content in enumerate(contents):
        call_id = given.get((index, at))
        if call_id is not None:
            context.lose(content, "call_id", reasons.CALL_ID)
            contents[at] = context.same(content, msgspec.structs.replace(content, call_id=call_id))
    return context.with_contents(message, contents)
