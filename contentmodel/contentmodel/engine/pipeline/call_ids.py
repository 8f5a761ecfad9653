"""Give each call an id that is unique in its conversation, and each result the id of its call, as APIs require it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.reasons import Reason
from contentmodel.engine.pipeline.names import Renames
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.table.hints import minted_id, with_call_id
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import AnswerCallIds, DistinctIds, Place, TranscriptIndex, missing_ids, new_ids

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext

_CALLS = (FunctionCallContent, CustomToolCallContent)
_TOOLS = (ToolCallContent, ToolResultContent)
_Given: TypeAlias = "dict[Place, tuple[str, Reason]]"
"""The ids of calls, results and approvals by place, and why an id differs from that of the source."""


def reason_of_new_id(call_id: str | None) -> Reason:
    """Return the reason why a call gets another id than `call_id`."""
    return reasons.REPEATED_CALL_ID if call_id else reasons.CALL_ID


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of a request with ids on all calls and results, if any has none in messages of other APIs."""
    has_ids = all(map(getattr, contents_of(messages), repeat("call_id"), repeat("-")))
    if has_ids or all(is_native(message, context) for message in messages):
        return messages
    return with_distinct_ids(messages, TranscriptIndex(messages), context)


def with_answer_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer with distinct ids on its calls, and with the same ids on their results."""
    ids = AnswerCallIds(context.answer_id)
    given: _Given = {}
    places = [(number, at) for number, message in enumerate(messages) for at in range(len(message.contents))]
    for block, place in enumerate(places):
        content = _at(messages, place)
        if isinstance(content, _TOOLS):
            given[place] = ids.give(block, content).call_id or "", reason_of_new_id(content.call_id)
    return _with_ids(messages, given, context)


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


def with_distinct_ids(
    messages: Sequence[ChatMessage], index: TranscriptIndex, context: EncodeContext
) -> list[ChatMessage]:
    """Return messages in which each call has an id that no earlier call has, and each result the id of its call.

    An id depends only on earlier messages, so that those of a growing conversation are stable. If the target's own
    messages repeat ids, these are kept, because the target gave them. The maps of the context get the original of each
    repeated id.
    """
    distinct, originals = DistinctIds(), dict[str, str]()
    fresh, foreign = new_ids(distinct.taken), set[str]()
    given: _Given = {}
    for place in sorted([*index.calls, *index.results]):
        content, own = _at(messages, place), is_native(messages[place[0]], context)
        if place in index.call_of:
            given |= _id_of_result(messages, place, index.call_of[place], given)
        elif content.call_id and not isinstance(content, ToolCallContent):
            continue
        elif own and content.call_id and content.call_id not in foreign:
            distinct.taken.add(content.call_id)
            continue
        else:
            call_id = distinct.give(content.call_id or next(fresh))
            given[place] = call_id, reason_of_new_id(content.call_id)
            if content.call_id and call_id != content.call_id:
                originals[call_id] = content.call_id
                given |= dict.fromkeys(index.approvals_of.get(place, ()), given[place])
            if not own:
                foreign.add(call_id)
    if originals:
        maps = context.maps or Renames()
        context.maps = msgspec.structs.replace(maps, repeated={**maps.repeated, **originals})
    return _with_ids(messages, given, context)


def _id_of_result(messages: Sequence[ChatMessage], place: Place, call_place: Place, given: _Given) -> _Given:
    """Return the new id of a result, if it has to change: the id of its call."""
    own_id, call_id = _at(messages, place).call_id, _at(messages, call_place).call_id
    if call_place not in given:
        return {} if own_id else {place: (call_id, reasons.CALL_ID)}
    reason = reasons.ID_OF_CALL if own_id and own_id != call_id else reason_of_new_id(own_id)
    return {place: (given[call_place][0], reason)}


def _at(messages: Sequence[ChatMessage], place: Place) -> Any:
    return messages[place[0]].contents[place[1]]


def _with_ids(messages: Sequence[ChatMessage], given: _Given, context: EncodeContext) -> list[ChatMessage]:
    """Return messages with the given ids of calls, results and approvals. Report each that differs as a loss."""
    changed: dict[int, list[AIContent]] = {}
    for place, (call_id, reason) in ((place, given[place]) for place in sorted(given)):
        content = _at(messages, place)
        field = "call_id" if isinstance(content, _TOOLS) else "request_id"
        if getattr(content, field) == call_id:
            continue
        context.report_loss(content, field, reason)
        made = with_call_id(content, call_id) if field == "call_id" else _answering(content, call_id)
        changed.setdefault(place[0], list(messages[place[0]].contents))[place[1]] = context.replaced(content, made)
    return [
        context.with_contents(message, changed[number]) if number in changed else message
        for number, message in enumerate(messages)
    ]


def _answering(approval: Any, call_id: str) -> AIContent:
    changed: AIContent = msgspec.structs.replace(approval, request_id=call_id)
    return changed


def calls_of(number: int, message: ChatMessage) -> dict[Place, ToolCallContent]:
    """Return the calls of a message that the application runs, by their places in the indexed messages."""
    return {(number, at): content for at, content in enumerate(message.contents) if isinstance(content, _CALLS)}
