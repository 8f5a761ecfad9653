"""Messages of Converse. Messages of one role that follow each other are one message."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    MessageList,
    Roles,
    Silent,
    reasons,
    with_tool_role,
)
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.bedrock_converse.blocks import API, CONTENT, POINTS, TABLE
from contentmodel_adapters.shared.cached_blocks import CachedBlocks
from contentmodel_adapters.shared.first_turn import BEGUN_BEFORE, without_begun

_OWN_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
ROLES = Roles(API, _OWN_ROLES, {**_OWN_ROLES, "developer": "system", "tool": "user"})
BEFORE = Hint[str](API, *BEGUN_BEFORE)
BLOCKS = CachedBlocks(CONTENT, POINTS, "cachePoint")
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", BLOCKS)},
    Silent("message_id"),
    Filled({"content": []}),
)
ONE_MESSAGE = reasons.insignificant(
    "bedrock-one-message", "{target} has results of tools and texts of the user in one message"
)
_RESULTS: frozenset[type] = frozenset({FunctionResultContent})


class Messages(MessageList):
    """The list of messages of a request."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        for _, wire in self.objects(value, context):
            message = MESSAGE.decode(wire, context)
            if message.__class__ is ChatMessage:
                messages.append(with_tool_role(message, _RESULTS))
        context.trace_messages(messages, value, lambda message: MESSAGE)
        return without_begun(messages, BEFORE, API)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires: list[dict[str, Any]] = []
        before: ChatMessage | None = None
        for message in value:
            wire = MESSAGE.encode(message, context)
            begun = BEFORE.of(message, API)
            if begun is not None:
                wire["content"] = [{"text": begun}]
            # Skip foreign messages with nothing to send.
            if not context.native and not wire.get("content"):
                continue
            if not context.native and wires and wires[-1]["role"] == wire["role"] != "system":
                wires[-1]["content"] = [*wires[-1]["content"], *wire["content"]]
                if before is not None and before.role != message.role:
                    context.report_loss(before if before.role == "tool" else message, "role", ONE_MESSAGE)
            else:
                wires.append(wire)
            before = message
        return wires
