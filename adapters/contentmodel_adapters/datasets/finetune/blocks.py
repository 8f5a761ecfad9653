"""The table of OpenAI's fine-tuning files: one line is one conversation.

Sources: developers.openai.com/api/docs/guides/supervised-fine-tuning and guides/vision-fine-tuning.
"""

from __future__ import annotations

from contentmodel.authoring import (
    ArgumentsText,
    Blocks,
    Column,
    NonEmptyText,
    chat,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.chat_rows import ChatRows, usual_row

API = "openai-finetune"
MESSAGES = ChatRows(
    API,
    chat.image_rows(),
    arguments=ArgumentsText(),
    prefer=usual_row("image_url"),
    columns={"refusal": Column(NonEmptyText(ErrorContent, "message", between="\n\n", code="refusal"), ErrorContent)},
    names=False,
    detached=True,
)
TABLE = MESSAGES.table
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "messages": ("messages", MESSAGES),
        "tools": ("tools", Blocks(MESSAGES.tools)),
        "parallel_tool_calls": "options.parallel_tool_calls",
    },
)
# 0 excludes an answer from training.
TABLE.keep("assistant message", "weight")
