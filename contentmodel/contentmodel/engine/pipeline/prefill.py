"""The end of a conversation: a model that refuses to continue its own answer gets a message of the user after it.

The added text has a seal of the answer. If the request is converted again, the message is left out: it is reversible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.pipeline.sentinels import CONTINUE, first_seal
from contentmodel.message import ChatMessage

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.request import ChatRequest

_NAMED = ("listed", "newest", "chosen")


def refuses_continuation(context: EncodeContext) -> bool:
    """Return whether the target refuses to continue an answer, and the conversation must not end with one."""
    if context.known.capabilities.prefill or context.known.status not in _NAMED:
        return False
    return (context.is_aimed or not context.native) and context.policies.get("prefill") != "keep"


def with_continuation(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request that ends with a message of the user if the named model refuses to continue an answer.

    The policy `prefill` selects: "continue" adds the message, "keep" leaves the answer at the end. A request of the
    target's API for the same model is unchanged. An answer that ends with a call waits for its result.
    """
    last = next((message for message in reversed(request.messages) if message.contents), None)
    if last is None or last.role != "assistant":
        return request
    if isinstance(last.contents[-1], ToolCallContent | ToolResultContent):
        return request
    context.report_loss(last, None, reasons.CONTINUED)
    text = TextContent(text=_text_after(last))
    added = ChatMessage(role="user", contents=[text], origin=request.origin)
    changed: ChatRequest = context.replace(request, messages=[*request.messages, added])
    return changed


def without_continuation(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API without the last message, if `with_continuation` added it."""
    messages = request.messages
    if len(messages) < 2 or is_native(messages[-1], context):
        return request
    text = _only_text(messages[-1])
    if text is None or not text.startswith(CONTINUE) or text != _text_after(messages[-2]):
        return request
    context.report_loss(messages[-1], None, reasons.CONTINUED_BEFORE)
    changed: ChatRequest = context.replace(request, messages=messages[:-1])
    return changed


def _only_text(message: ChatMessage) -> str | None:
    content: AIContent | None = message.contents[0] if len(message.contents) == 1 else None
    return content.text if content.__class__ is TextContent and message.role == "user" else None


def _text_after(answer: ChatMessage) -> str:
    """Return the text of the added message: it has the seal of the answer before it."""
    return f"{CONTINUE} #{first_seal(answer.contents[-1] if answer.contents else None)}]"
