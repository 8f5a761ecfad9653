"""Messages of the Messages API."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Filled,
    MessageList,
    Roles,
    Silent,
    TextOrBlocks,
    with_detached_media,
    with_media_back,
)
from contentmodel.content.hosted import BrowserToolResultContent, ComputerUseToolResultContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.anthropic.messages.blocks import API, CONTENT, TABLE
from contentmodel_adapters.common.replay import Change, Replay, is_own_answer

_OWN_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
ROLES = Roles(API, _OWN_ROLES, {**_OWN_ROLES, "developer": "system", "tool": "user"})

MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", TextOrBlocks(CONTENT, "list"))},
    Silent("message_id"),
    Filled({"content": []}),
)


# Requests name the cited source and have no file id. A title may be null, but is required.
_CITED = Change(drops=("file_id",), fills={"document_title": None})
_FOUND = Change(fills={"title": None})
REPLAY = Replay(
    blocks={
        "char_location": _CITED,
        "page_location": _CITED,
        "content_block_location": _CITED,
        "search_result_location": _FOUND,
        "web_search_result_location": _FOUND,
    },
    verbatim=("input", "tool_changes"),
)
"""The differences of requests from answers (anthropic 2.12, types/beta; November 2026)."""


class Messages(MessageList):
    """The list of messages of a request."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        decode = MESSAGE.functions[0]
        for _, wire in self.objects(value, context):
            message = decode(wire, context)
            if message.__class__ is ChatMessage:
                messages.append(_as_tool_message(message) if message.role == "user" else message)
        context.trace_messages(messages, value, lambda message: MESSAGE)
        return with_media_back(messages, context)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        encode = MESSAGE.functions[1]
        wires = []
        for message in with_detached_media(value, API):
            wire = REPLAY.fitted(encode(message, context), message, context)
            # Skip foreign messages with nothing to send, and replayed empty answers.
            if wire.get("content") or (context.native and not is_own_answer(message, context)):
                wires.append(wire)
        return wires


def _as_tool_message(message: ChatMessage) -> ChatMessage:
    """Return a user's message with the role "tool" if it has only results of the application's tools."""
    contents = message.contents
    for content in contents:
        if content.__class__ not in _CLIENT_RESULTS:
            return message
    if not contents:
        return message
    return ChatMessage(role="tool", contents=contents, origin=message.origin, extra=message.extra)


_CLIENT_RESULTS = frozenset({FunctionResultContent, ComputerUseToolResultContent, BrowserToolResultContent})
