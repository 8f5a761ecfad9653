"""Messages of Converse. Results of tools and the texts that follow them are in one message of the user."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Literal, TypeGuard

from msgspec.structs import replace

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    MessageList,
    Roles,
    Silent,
    as_text_content,
    is_native,
    list_of,
    passes,
    readable_reasoning,
    reasons,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionResultContent, ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.anthropic.bedrock_converse.blocks import API, CLAUDE, CONTENT, POINTS, TABLE, maker_of
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


# -- reasoning -----------------------------------------------------------------------------------------------------


def with_readable_reasoning(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without the reasoning of models of other makers (policy `reasoning`).

    Only the maker of a model can read the state of its reasoning, and Claude refuses reasoning without a signature. A
    message that has no other contents is not sent.
    """
    if context.kind == "response" or all(message.role != "assistant" for message in messages):
        return messages
    kept: list[ChatMessage] = []
    is_after_gap = False
    for message in messages:
        changed = _with_readable_reasoning(message, context) if is_native(message, context) else message
        if message.contents and not changed.contents:
            context.report_loss(message, None, reasons.EMPTY_MESSAGE)
            is_after_gap = True
            continue
        if is_after_gap and kept and _sender(kept[-1]) == _sender(changed):
            changed = context.replaced(changed, JOINED.on(changed, API, True))
        is_after_gap = False
        kept.append(changed)
    return kept


def _sender(message: ChatMessage) -> str:
    return "user" if message.role == "tool" else message.role


def _with_readable_reasoning(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    maker = None if message.origin is None else maker_of(message.origin.model)
    contents: list[Any] = []
    for content in message.contents:
        if isinstance(content, ReasoningContent) and _is_unread(content, maker, context):
            contents += readable_reasoning(content, context)
        else:
            contents.append(content)
    return context.with_contents(message, contents)


def _is_unread(content: ReasoningContent, maker: str | None, context: EncodeContext) -> bool:
    if content.protected is not None:
        return content.protected.issuer not in context.issuers
    return maker not in (None, CLAUDE) and CLAUDE in context.issuers


# -- results -------------------------------------------------------------------------------------------------------

EMPTY_RESULT = reasons.synthesized(
    "bedrock-empty-result", "{target} refuses a failed result without content: a placeholder is sent"
)
NO_CONTENT = "[the result has no content]"
"""The placeholder content of a failed result. It is not reversed."""


def with_fitting_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose results of other APIs have no JSON values but objects, and a content if they failed."""
    return [
        message
        if is_native(message, context)
        else context.with_contents(message, [_with_fitting_outputs(content, context) for content in message.contents])
        for message in messages
    ]


def _with_fitting_outputs(content: Any, context: EncodeContext) -> Any:
    if not isinstance(content, ToolResultContent):
        return content
    if content.is_error and not content.outputs:
        context.report_loss(content, "outputs", EMPTY_RESULT)
        return context.replace(content, outputs=[TextContent(text=NO_CONTENT)])
    outputs = [as_text_content(output, context) if _is_refused(output) else output for output in content.output_list]
    return context.replace(content, outputs=outputs) if any(map(_is_refused, content.output_list)) else content


def _is_refused(output: object) -> TypeGuard[JsonContent]:
    return isinstance(output, JsonContent) and output.value.__class__ is not dict


def _is_result(content: object) -> bool:
    return content.__class__ is FunctionResultContent
