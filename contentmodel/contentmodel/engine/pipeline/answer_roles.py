"""The roles of the messages of an answer."""

from __future__ import annotations

from contentmodel.engine.context import EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.steps import needs_alone
from contentmodel.message import ChatMessage


@needs_alone()
def without_user_messages(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer of another API without those of users, and report them as lost.

    A compacted conversation of OpenAI contains such messages. In another API's answer they would become the model's
    text.
    """
    if context.native or not any(message.role in _OTHERS for message in messages):
        return messages
    for message in messages:
        if message.role in _OTHERS:
            for lost in (message, *message.contents):
                context.report_loss(lost, None, reasons.NO_ROLE_IN_ANSWER, role=message.role)
    return [message for message in messages if message.role not in _OTHERS]


_OTHERS = frozenset({"user", "system", "developer"})
