"""The contents of messages: texts, images without a media type, and calls whose arguments are objects.

The facts are those of the types of ollama 0.6.3 (_types.py), and of the server's api/types.go and docs.ollama.com/api
(seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Codec,
    Column,
    DecodeContext,
    EncodeContext,
    Filled,
    MintedId,
    NonEmptyText,
    Place,
    Row,
    Silent,
    Table,
    passes,
    reasons,
    spread,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.media_types import media_type_of_data
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent

API = "ollama-chat"
TABLE = Table(API)
BETWEEN = "\n\n"
"""The separator of several texts in one field."""


SHOWN_TYPE = reasons.insignificant(
    "ollama-chat-media-type", "{target} detects the media type from the first bytes of the image"
)


# The attributes of an image that the API has no field for.
_IMAGE = TABLE.record("image", DataContent, {"data": "data"}, Silent("media_type"))


class Images(Codec[list[AIContent]]):
    """Images as base64. The media type is not sent: the server detects it from the first bytes.

    An entry of another class is an unknown content.
    """

    classes = (list,)
    identity = False
    has_strays = True

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return [image(item) if item.__class__ is str else UnknownContent(api=API, block=item) for item in value]

    def count(self, wire: Any) -> int:
        return len(wire)

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        return spread(value, wire, path, None)

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        return [self._entry(content, context) for content in value] or None

    def _entry(self, content: Any, context: EncodeContext) -> Any:
        if content.__class__ is UnknownContent:
            context.leave_residue(content)
            return content.block
        _IMAGE.encode(content, context)
        is_shown = content.media_type == media_type_of_data(content.data)
        if content.media_type is not None and not (is_shown and context.native):
            context.report_loss(content, "media_type", SHOWN_TYPE if is_shown else reasons.NO_FIELD)
        return content.data

    def describe(self) -> str:
        return "list of base64 strings"


def image(data: str) -> DataContent:
    """Decode an image in base64. Its media type is detected from its first bytes."""
    return DataContent(data=data, media_type=media_type_of_data(data))


class Text(NonEmptyText):
    """The text of a message. Several texts of a request are separated; those of an answer are pieces of one text."""

    def encode(self, value: Any, context: EncodeContext, owner: object) -> str | None:
        if context.kind == "response":
            return _PIECES.encode(value, context, owner)
        # An empty text needs no separator.
        texts = [content for content in value if not passes.is_empty_text(content)]
        for content in value if texts else ():
            if passes.is_empty_text(content):
                passes.leave_empty_text(content, context)
        return super().encode(texts or value, context, owner)


_PIECES = NonEmptyText(TextContent, "text")
CALLS = TABLE.union(
    "tool call",
    [
        Row(
            "call",
            FunctionCallContent,
            {
                "id": ("call_id", MintedId()),
                "function.name": "name",
                "function.arguments": ("arguments", ArgumentsObject()),
            },
            Filled({"function.arguments": {}}),
        )
    ],
    tag=None,
)
TEXTS = {"thinking": ReasoningContent, "content": TextContent}
"""The fields of a message that are one text."""
THINKING = Column(NonEmptyText(ReasoningContent, "text", between=BETWEEN), ReasoningContent)
CONTENT = Column(Text(TextContent, "text", between=BETWEEN), TextContent)
# Answers may have images: ChatResponse in docs/openapi.yaml of ollama/ollama (seen 2026-11-26). The client ollama 0.6.3
# fails to read them, because its class of a message does not take strings.
IMAGES = Column(Images(), DataContent)
TOOL_CALLS = Column(Blocks(CALLS))
