"""The stored messages of a conversation as a front end shows them: the loop of a message, without opaque state."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable

from msgspec.structs import replace

from contentmodel.adapter import adapter
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.history import StoredTurn
from contentmodel.json import Json
from contentmodel.message import ChatMessage, contents_of
from contentmodel.request import ChatRequest
from contentmodel.server.sent import ANSWERS
from contentmodel.server.transcript import sendable

API = "vercel-ui-messages"


async def ui_messages(turns: AsyncIterable[StoredTurn], version: str) -> Json:
    """Return stored turns as UI messages for a version of the AI SDK. A turn that runs is left out.

    The id of a message is that of its first turn: turns that go on after answers belong to the same message.
    """
    messages: list[ChatMessage] = []
    first: str | None = None
    async for stored in turns:
        turn = stored.turn
        if turn.is_open:
            continue
        if turn.role != "assistant":
            name = turn.id
            if not only_answers(contents_of(stored.messages)):
                first = None
        else:
            name = first = first or turn.id
        messages += [replace(message, message_id=name, contents=_shown(message)) for message in stored.messages]
    request = ChatRequest(messages=sendable(messages))
    return adapter(API).encode_request(request, {"ai_sdk": version}).payload if request.messages else []


def only_answers(contents: Iterable[AIContent]) -> bool:
    """Return whether a user's turn only answers questions."""
    return all(isinstance(content, ANSWERS) for content in contents)


def _shown(message: ChatMessage) -> list[AIContent]:
    """Return the contents of a message without signatures and reasoning that only its provider can read."""
    contents = [
        content if content.protected is None else replace(content, protected=None) for content in message.contents
    ]
    return [content for content in contents if not isinstance(content, ReasoningContent) or content.text]
