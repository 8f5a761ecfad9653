"""Messages of Converse. Results of tools and the texts that follow them are in one message of the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Literal

from msgspec.structs import replace

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    MessageList,
    Roles,
    Silent,
    is_native,
    list_of,
    passes,
)
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.anthropic.bedrock_converse.blocks import API, CONTENT, POINTS, TABLE
from contentmodel_adapters.anthropic.bedrock_converse.cached_blocks import CachedBlocks
from contentmodel_adapters.common.first_turn import BEGUN_BEFORE, without_begun

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
TABLE.known_values("message.roles", *_OWN_ROLES)
JOINED = Hint[Literal[True]](API, "joined", "the message is the rest of a message that begins with results of tools")


class Messages(MessageList):
    """The list of messages of a request. A user's message that begins with results of tools is two messages."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [MESSAGE.decode(wire, context) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, lambda message: MESSAGE)
        return without_begun([part for message in messages for part in _by_author(message, context)], context, BEFORE)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires: list[dict[str, Any]] = []
        for message in value:
            wire = MESSAGE.encode(message, context)
            begun = BEFORE.of(message, API)
            if begun is not None:
                wire["content"] = [{"text": begun}]
            if message.origin is not None and message.origin.is_answer and not wire.get("content"):
                # An answer that broke off before its first block: the API refuses a message without content.
                passes.leave_empty(message, context)
                continue
            is_own = is_native(message, context)
            if not is_own and not wire.get("content"):
                # An empty message of another API is not sent.
                continue
            joins = JOINED.of(message, API) is not None if is_own else wire["role"] != "system"
            if joins and wires and wires[-1].get("role") == wire["role"]:
                content = [*list_of(wires[-1], "content"), *list_of(wire, "content")]
                wires[-1] = {**wires[-1], **wire, "content": content}
            else:
                wires.append(wire)
        return wires


def _by_author(message: ChatMessage, context: DecodeContext) -> list[ChatMessage]:
    """Return the results at the start of a user's message as a message of the role "tool", and the rest as another."""
    if message.role != "user":
        return [message]
    results = list(takewhile(_is_result, message.contents))
    if not results:
        return [message]
    rest = message.contents[len(results) :]
    tool = ChatMessage(role="tool", contents=results, origin=message.origin, extra=None if rest else message.extra)
    parts = [tool, JOINED.on(replace(message, contents=rest), API, True)] if rest else [tool]
    for part in parts:
        context.replaced(message, part)
    return parts


def _is_result(content: object) -> bool:
    return content.__class__ is FunctionResultContent


# -- prompts -------------------------------------------------------------------------------------------------------

_PROMPT = re.compile(r"^arn:aws(-[^:]+)?:bedrock:[^:]*:[^:]*:prompt/")


def is_of_prompt(payload: Mapping[str, Any]) -> bool:
    """Return whether a request is for a prompt of Prompt management, which may have messages of its own.

    The ARN of the prompt takes the place of the model. In HTTP it is in the path (botocore 1.43.117, ConverseRequest,
    which requires only `modelId`; seen 2026-11-27).
    """
    model = payload.get("modelId")
    return bool(_PROMPT.match(model)) if isinstance(model, str) else isinstance(payload.get("promptVariables"), dict)


def require_messages(wire: dict[str, Any], context: DecodeContext) -> None:
    """Add a fault if a request has no list of messages. The request for a prompt may have none."""
    if wire.get("messages") is None:
        if not is_of_prompt(wire):
            context.fault(wire, "messages", "missing array")
    elif wire["messages"].__class__ is not list:
        context.expected(wire, "messages", "array", wire["messages"])
