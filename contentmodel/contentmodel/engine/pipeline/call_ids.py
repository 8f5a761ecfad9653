"""Add ids to calls and results without ids, for APIs that require them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.reasons import Reason
from contentmodel.message import ChatMessage
from contentmodel.pairs import Place, TranscriptIndex, missing_ids, new_ids

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages with ids on all calls and results. Each result has the id of its call."""
    given = missing_ids(messages, context.answer_id)
    if not given:
        return messages
    return [with_ids(message, index, given, reasons.CALL_ID, context) for index, message in enumerate(messages)]


def with_ids(
    message: ChatMessage, index: int, given: dict[Place, str], reason: Reason, context: EncodeContext
) -> ChatMessage:
    """Return message number `index` with the `given` ids of its calls and results, by place."""
    contents: list[AIContent] = list(message.contents)
    for at, content in enumerate(contents):
        call_id = given.get((index, at))
        if call_id is None or not isinstance(content, ToolCallContent | ToolResultContent):
            continue
        if call_id != content.call_id:
            context.report_loss(content, "call_id", reason)
            contents[at] = context.replace(content, call_id=call_id)
    return context.with_contents(message, contents)


class StreamedCallIds:
    """Ids for the calls and results of one streamed choice. They are the same ids that `missing_ids` gives."""

    def __init__(self, answer_id: str | None = None) -> None:
        self._index = TranscriptIndex()
        self._ids: list[str] = []
        """The ids, in the order of the index."""
        self._places: dict[int, int] = {}
        """The position of each block in that order."""
        self._taken: set[str] = set()
        self._fresh = new_ids(self._taken, answer_id)

    def give(self, index: int, content: ToolCallContent | ToolResultContent) -> AIContent:
        """Return the call or result of a block with an id: its own, the id of its call, or a new one."""
        if index not in self._places:
            self._places[index] = len(self._ids)
            self._ids.append(self._id_of(content))
            self._taken.add(self._ids[-1])
        if content.call_id:
            return content
        return msgspec.structs.replace(content, call_id=self._ids[self._places[index]])

    def _id_of(self, content: ToolCallContent | ToolResultContent) -> str:
        is_call = isinstance(content, ToolCallContent)
        # Without arguments, because the index keeps the calls.
        self._index.add([msgspec.structs.replace(content, arguments=None) if is_call else content], "assistant")
        if content.call_id:
            return content.call_id
        call = self._index.call_of.get((len(self._ids), 0))
        if call is not None:
            return self._ids[call[0]]
        return next(self._fresh)
