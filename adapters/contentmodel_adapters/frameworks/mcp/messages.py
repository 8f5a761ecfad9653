"""Messages of MCP sampling. A user message that has only results is decoded as a message with the role `tool`."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    MessageList,
)
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.mcp.blocks import MESSAGE


class Messages(MessageList):
    """The list of messages of a request."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [_as_tool_message(MESSAGE.decode(wire, context)) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, lambda message: MESSAGE)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        return [MESSAGE.encode(message, context) for message in self.kept(value, context)]


def _as_tool_message(message: ChatMessage) -> ChatMessage:
    contents = message.contents
    if message.role != "user" or not contents or any(one.__class__ is not FunctionResultContent for one in contents):
        return message
    return ChatMessage(role="tool", contents=contents, origin=message.origin, extra=message.extra)
