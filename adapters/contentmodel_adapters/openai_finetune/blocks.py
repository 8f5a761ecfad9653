"""The table of OpenAI's fine-tuning files: one line is one conversation.

Sources: developers.openai.com/api/docs/guides/supervised-fine-tuning and guides/vision-fine-tuning.
"""

from __future__ import annotations

from contentmodel.authoring import (
    ArgumentsText,
    Blocks,
    Column,
    DataUri,
    EnumString,
    Implied,
    NonEmptyText,
    Row,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.request import ChatRequest
from contentmodel_adapters.shared.chat_rows import ChatRows, usual_row

API = "openai-finetune"
DETAIL = {"image_url.detail": ("detail", EnumString("detail", "auto", "low", "high"))}
IMAGE = {"type": "image_url"}
MESSAGES = ChatRows(
    API,
    [
        Row(
            "image_url.data",
            DataContent,
            {"image_url.url": (("media_type", "data"), DataUri()), **DETAIL},
            constants=IMAGE,
        ),
        Row("image_url", UriContent, {"image_url.url": "uri", **DETAIL}, Implied({"kind": "image"}), constants=IMAGE),
    ],
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
