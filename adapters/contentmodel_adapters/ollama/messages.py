"""Messages: columns of texts, images and calls, and one message for each result of a tool."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    AnswerMessage,
    ChatMessages,
    Columns,
    DecodeContext,
    Filled,
    MintedId,
    Roles,
    Spec,
    chat,
    with_minted_ids,
)
from contentmodel.message import ChatMessage
from contentmodel_adapters.ollama.blocks import API, CONTENT, IMAGES, TABLE, THINKING, TOOL_CALLS

ROLES = Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))
COLUMNS = {"content": CONTENT, "images": IMAGES}
EVERY_COLUMN = {"thinking": THINKING, **COLUMNS, "tool_calls": TOOL_CALLS}
ASSISTANT = chat.assistant_messages(TABLE, EVERY_COLUMN, Filled({"content": ""}))
PLAIN = chat.plain_messages(TABLE, ROLES, {}, Columns("contents", COLUMNS))
RESULT: dict[str, Spec] = {"tool_call_id": ("call_id", MintedId()), "tool_name": "name"}
RESULTS = chat.result_messages(TABLE, RESULT, Columns("outputs", COLUMNS))


class Messages(ChatMessages):
    """The messages of a request. Calls and results without ids get ids, in pairs."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return with_minted_ids(super().decode(value, context, container, key), context)


class Answer(AnswerMessage):
    """The message of an answer, whose calls get ids."""

    def holds(self, value: object) -> bool:
        return isinstance(value, dict) and value.get("role") == "assistant"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return with_minted_ids(super().decode(value, context, container, key), context, context.answer_id)


MESSAGES = Messages(ASSISTANT, PLAIN, RESULTS)
ANSWER = Answer(ASSISTANT)
