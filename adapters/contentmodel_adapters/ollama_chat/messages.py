"""Messages: columns of texts, images and calls, and one message for each result of a tool."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    AnswerMessage,
    ChatMessages,
    Columns,
    DecodeContext,
    Filled,
    Implied,
    MintedId,
    Roles,
    Row,
    Silent,
    with_minted_ids,
)
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.ollama_chat.blocks import API, CONTENT, IMAGES, TABLE, THINKING, TOOL_CALLS

ROLES = Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {},
    Columns("contents", {"thinking": THINKING, "content": CONTENT, "images": IMAGES, "tool_calls": TOOL_CALLS}),
    Implied({"role": "assistant"}),
    Silent("message_id"),
    Filled({"content": ""}),
    constants={"role": "assistant"},
)
PLAIN = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES)},
    Columns("contents", {"content": CONTENT, "images": IMAGES}),
    Silent("message_id"),
    Filled({"content": ""}),
)
RESULTS = TABLE.union(
    "result message",
    [
        Row(
            "tool",
            FunctionResultContent,
            {"tool_call_id": ("call_id", MintedId()), "tool_name": "name"},
            Columns("outputs", {"content": CONTENT, "images": IMAGES}),
            Filled({"content": ""}),
            constants={"role": "tool"},
        )
    ],
    tag="role",
)


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
