"""Check answers to questions. Each answer is matched with a pending question by its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.content.tools import (
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolResultContent,
)
from contentmodel.history import START, AsyncTurnStore, ConflictError, NotFoundError, Turn
from contentmodel.server.sent import ANSWERS

QUESTIONS: dict[type[AIContent], type[AIContent]] = {
    ToolApprovalResponseContent: ToolApprovalRequestContent,
    InputResponseContent: InputRequestContent,
}
"""The question type of each answer type."""


async def asking_turn(store: AsyncTurnStore, conversation: str, previous: str | None) -> Turn:
    """Return the turn whose questions a new turn answers: the turn that the new one follows.

    Raise NotFoundError if the conversation has no such turn, and ConflictError if that turn is still being written.
    """
    name = (await store.conversation(conversation)).head if previous is None else previous
    if name is None or name == START:
        raise NotFoundError(f"the conversation {conversation!r} has no earlier turn with questions")
    turn = await turn_in(store, conversation, name)
    if turn.is_open:
        raise ConflictError(f"the turn {turn.id} is still being written: answer its questions when it has ended")
    return turn


async def turn_in(store: AsyncTurnStore, conversation: str, name: str) -> Turn:
    """Return a turn of a conversation. Raise the same NotFoundError if it is missing or in another conversation."""
    missing = NotFoundError(f"the conversation {conversation!r} has no turn {name!r}")
    try:
        turn = await store.turn(name)
    except NotFoundError:
        raise missing from None
    if turn.conversation != conversation:
        raise missing
    return turn


def check_answers(turn: Turn, stored: Sequence[Any], contents: Sequence[AIContent]) -> None:
    """Check that each answer among `contents` belongs to a pending question of a turn.

    `stored` are the contents of the turn. Raise NotFoundError for an id that the turn did not ask about, and
    ConflictError for a question that was resolved in the turn itself.
    """
    turn_contents: list[Any] = [content for content in stored if turn.role == "assistant"]
    waiting = {
        (type(c), c.request_id)
        for c in turn_contents
        if isinstance(c, ToolApprovalRequestContent | InputRequestContent)
    }
    resolved = {c.call_id for c in turn_contents if isinstance(c, ToolResultContent)}
    resolved |= {c.request_id for c in turn_contents if isinstance(c, ANSWERS)}
    answers: list[Any] = [content for content in contents if isinstance(content, ANSWERS)]
    for answer in answers:
        name = answer.request_id
        if (QUESTIONS[type(answer)], name) not in waiting:
            raise NotFoundError(f"the turn {turn.id} has no question {name[:100]!r}")
        if name in resolved:
            raise ConflictError(f"the question {name[:100]!r} is already answered")
