"""Answers to questions: each is matched with a question that waits for it, by its id and by nothing else."""

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
"""The type of the question of each type of answer."""


async def asking_turn(store: AsyncTurnStore, conversation: str, previous: str | None) -> Turn:
    """Return the turn whose questions a new turn answers: the one that it follows.

    Raise NotFoundError if there is none in this conversation, ConflictError if it is still being written.
    """
    name = (await store.conversation(conversation)).head if previous is None else previous
    if name is None or name == START:
        raise NotFoundError(f"the conversation {conversation!r} has no turn that asks before this one")
    turn = await turn_in(store, conversation, name)
    if turn.is_open:
        raise ConflictError(f"the turn {turn.id} is still being written: its questions are known at its end")
    return turn


async def turn_in(store: AsyncTurnStore, conversation: str, name: str) -> Turn:
    """Return a turn of a conversation. NotFoundError is the same for a turn of another one and for none."""
    missing = NotFoundError(f"the conversation {conversation!r} has no turn {name!r}")
    try:
        turn = await store.turn(name)
    except NotFoundError:
        raise missing from None
    if turn.conversation != conversation:
        raise missing
    return turn


def check_answers(turn: Turn, stored: Sequence[Any], contents: Sequence[AIContent]) -> None:
    """Check that each answer among `contents` is to a question that waits at the end of a turn.

    `stored` are the contents of the turn. Raise NotFoundError for an id that the turn did not ask about, and
    ConflictError for a question that was settled in the turn itself.
    """
    asked: list[Any] = [content for content in stored if turn.role == "assistant"]
    waiting = {
        (type(c), c.request_id) for c in asked if isinstance(c, ToolApprovalRequestContent | InputRequestContent)
    }
    settled = {c.call_id for c in asked if isinstance(c, ToolResultContent)}
    settled |= {c.request_id for c in asked if isinstance(c, ANSWERS)}
    answers: list[Any] = [content for content in contents if isinstance(content, ANSWERS)]
    for answer in answers:
        name = answer.request_id
        if (QUESTIONS[type(answer)], name) not in waiting:
            raise NotFoundError(f"nobody asked about {name[:100]!r} in the turn {turn.id}")
        if name in settled:
            raise ConflictError(f"the question {name[:100]!r} is settled already")
