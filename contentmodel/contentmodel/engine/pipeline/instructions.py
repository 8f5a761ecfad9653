"""Place instructions in a request: outside of the messages, or as messages of the roles system and developer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolApprovalRequestContent, ToolCallContent, ToolResultContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.census import Fact
from contentmodel.engine.pipeline.origins import is_native, stays
from contentmodel.engine.pipeline.steps import needs
from contentmodel.message import ChatMessage, contents_of

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.request import ChatRequest

INSTRUCTION_ROLES = ("system", "developer")


@needs(Fact.INSTRUCTIONS, makes=lambda facts: ("system",))
def place_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Put instructions into a first message of role system, for APIs without another field for them."""
    if not request.instructions:
        return request
    first = ChatMessage(role="system", contents=request.instructions, origin=request.origin)
    return msgspec.structs.replace(request, instructions=[], messages=[first, *request.messages])


@needs(*INSTRUCTION_ROLES, makes=lambda facts: (Fact.INSTRUCTIONS,))
def hoist_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Move leading system and developer messages of other APIs into the instructions. Later ones are not moved."""
    hoisted: list[ChatMessage] = []
    for message in request.messages:
        if message.role not in INSTRUCTION_ROLES or is_native(message, context):
            break
        hoisted.append(message)
    if not hoisted:
        return request
    for message in hoisted:
        context.report_loss(message, "role", reasons.SEPARATE_INSTRUCTIONS)
        context.report_lost_attributes(message, ("author_name", "message_id"))
        context.leave_residue(message, own=True)
    contents = [content for message in hoisted for content in _without_calls(message, context)]
    instructions, rest = [*request.instructions, *contents], request.messages[len(hoisted) :]
    changed: ChatRequest = context.replace(request, instructions=instructions, messages=rest)
    return changed


def _without_calls(message: ChatMessage, context: EncodeContext) -> list[AIContent]:
    """Return the contents of instructions that are not a model's."""
    kept = []
    for content in message.contents:
        if is_only_of_models(content):
            context.report_loss(content, None, reasons.WRONG_ROLE, role=message.role)
        else:
            kept.append(content)
    return kept


def is_only_of_models(content: AIContent) -> bool:
    """Return whether only a model, or a tool that the provider runs, can produce such a content."""
    if isinstance(content, ReasoningContent | ToolCallContent | ToolApprovalRequestContent):
        return True
    return isinstance(content, ToolResultContent) and content.executor != "client"


@needs(*INSTRUCTION_ROLES, makes=lambda facts: ("user",))
def instructions_as_text(
    messages: list[ChatMessage], context: EncodeContext, *, after_user: bool = False
) -> list[ChatMessage]:
    """Convert later system and developer messages of other APIs or models to user messages, if the target refuses them.

    With `after_user`, the target accepts one such message if it follows a user message or tool results, and precedes an
    assistant message or the end. Successive ones are joined.
    """
    if not any(message.role in INSTRUCTION_ROLES for message in messages):
        return messages
    placed: list[ChatMessage] = []
    # An empty message of another API is not a turn. It stays in the list for the losses of its fields.
    empty = [message for message in messages if not message.contents and not stays(message, context)]
    runs = _runs([message for message in messages if message.contents or stays(message, context)], context)
    for run, after in zip(runs, [*runs, None][1:], strict=True):
        if run[0].role not in INSTRUCTION_ROLES or stays(run[0], context):
            placed += run
        elif after_user and _fits(run, placed, after):
            placed.append(_joined(run, context))
        else:
            placed += [_as_user(message, context) for message in run]
    return placed + empty


def _runs(messages: list[ChatMessage], context: EncodeContext) -> list[list[ChatMessage]]:
    """Return runs of messages: successive instructions of other APIs are one run, any other message is its own."""
    runs: list[list[ChatMessage]] = []
    for message in messages:
        is_more = message.role in INSTRUCTION_ROLES and not stays(message, context)
        if is_more and runs and runs[-1][0].role in INSTRUCTION_ROLES and not stays(runs[-1][0], context):
            runs[-1].append(message)
        else:
            runs.append([message])
    return runs


def _fits(run: list[ChatMessage], before: list[ChatMessage], after: list[ChatMessage] | None) -> bool:
    """Return whether instructions are texts, after the user or results, and before the assistant or the end."""
    if not before or before[-1].role not in ("user", "tool") or (after is not None and after[0].role != "assistant"):
        return False
    return all(content.__class__ is TextContent for message in run for content in message.contents)


def _joined(run: list[ChatMessage], context: EncodeContext) -> ChatMessage:
    contents: list[AIContent] = list(contents_of(run))
    for message in run[1:]:
        context.report_lost_attributes(message, ("author_name", "message_id"))
        context.leave_residue(message, own=True)
    return context.with_contents(run[0], contents)


def _as_user(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    context.report_loss(message, "role", reasons.INSTRUCTIONS_AS_USER)
    changed: ChatMessage = context.replace(message, role="user")
    return changed
