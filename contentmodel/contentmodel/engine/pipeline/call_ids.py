"""Add ids to calls and results without ids, and make repeated ids of a turn distinct, for APIs that require that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.reasons import Reason
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.table.hints import minted_id
from contentmodel.message import ChatMessage
from contentmodel.pairs import Place, TranscriptIndex, missing_ids, new_ids

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext

_ROLES = frozenset({"assistant", "tool"})
_CALLS = (FunctionCallContent, CustomToolCallContent)


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages with ids on all calls and results. Each result has the id of its call."""
    given = missing_ids(messages, context.answer_id)
    if not given:
        return messages
    return [with_ids(message, index, given, reasons.CALL_ID, context) for index, message in enumerate(messages)]


def with_minted_ids(
    messages: list[ChatMessage], context: DecodeContext, answer_id: str | None = None
) -> list[ChatMessage]:
    """Return decoded messages with ids on the calls and results of an API without ids. Each result has its call's.

    The API's encoder drops these ids. The ids of answers with another `answer_id` differ.
    """
    for (number, at), call_id in missing_ids(messages, answer_id).items():
        contents: list[Any] = messages[number].contents
        if contents[at].call_id is None:
            # In place: the list is traced already.
            contents[at] = minted_id(contents[at], context.api, call_id)
    return messages


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


def with_distinct_ids(
    messages: Sequence[ChatMessage], index: TranscriptIndex, context: EncodeContext
) -> list[ChatMessage]:
    """Return messages of other APIs with distinct call ids in each turn. A result gets the id of its call."""
    distinct: list[ChatMessage] = []
    new_ids: dict[Place, str] = {}
    ids_in_turn: Counter[str] = Counter()
    previous_role = turn_role = ""
    turn_start = 0
    for number, message in enumerate(messages):
        role = message.role
        answered: list[Place] = []
        if role == "assistant":
            turn_start = turn_start if previous_role == role else number
            if not is_native(message, context):
                ids_in_turn = ids_in_turn if turn_role == role else Counter()
                calls = calls_of(number, message)
                new_ids.update(
                    {place: _number(ids_in_turn, call.call_id) for place, call in calls.items() if call.call_id}
                )
        elif role == "tool":
            places = {(number, at): index.call_of.get((number, at)) for at in range(len(message.contents))}
            answered = [call for call in places.values() if call is not None and call[0] >= turn_start]
            new_ids.update({place: new_ids[call] for place, call in places.items() if call in new_ids})
        if role in _ROLES and not is_native(message, context):
            message = with_ids(message, number, new_ids, reasons.REPEATED_CALL_ID, context)
        # A message whose results answer no call of the turn is removed later, so it does not end the turn.
        previous_role, turn_role = role, turn_role if role == "tool" and not answered else role
        distinct.append(message)
    return distinct


def calls_of(number: int, message: ChatMessage) -> dict[Place, ToolCallContent]:
    """Return the calls of a message that the application runs, by their places in the indexed messages."""
    return {(number, at): content for at, content in enumerate(message.contents) if isinstance(content, _CALLS)}


def _number(ids_in_turn: Counter[str], call_id: str) -> str:
    """Return an id that is unique in the turn: `call_id`, or `call_id` with a number."""
    unique = call_id
    while unique in ids_in_turn:
        ids_in_turn[call_id] += 1
        unique = f"{call_id} ({ids_in_turn[call_id]})"
    ids_in_turn[unique] = 1
    return unique


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
