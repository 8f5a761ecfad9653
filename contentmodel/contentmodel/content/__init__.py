"""The AIContent hierarchy: what a message is made of. `Content` is the tagged union of all of it."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from contentmodel.content import base, citations, documents, hosted, media, outcomes, reasoning, text, tools
from contentmodel.content.base import AIContent
from contentmodel.interop import Discriminated

_ABSTRACT = {"AIContent", "MediaContent", "ToolCallContent", "ToolResultContent"}


def _concrete(module: Any) -> list[type[AIContent]]:
    return [
        value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, AIContent) and name not in _ABSTRACT
    ]


CONTENT_TYPES: tuple[type[AIContent], ...] = tuple(
    dict.fromkeys(c for m in (text, reasoning, media, documents, outcomes, tools, hosted) for c in _concrete(m))
)
"""Every concrete content type."""

_RESULTS = {kind.__name__: kind for kind in CONTENT_TYPES if issubclass(kind, tools.ToolResultContent)}


def result_type(call: tools.ToolCallContent) -> type[tools.ToolResultContent]:
    """The type that the result of a call has: each kind of call has its own."""
    return _RESULTS.get(type(call).__name__.replace("CallContent", "ResultContent"), tools.FunctionResultContent)


if TYPE_CHECKING:
    from contentmodel.content.given import Contents

    Content = AIContent
else:
    Content = Annotated[reduce(or_, CONTENT_TYPES), Discriminated(AIContent)]
    Contents = list[Content]
    # msgspec resolves an annotation in the module that wrote it.
    tools.Content, documents.Contents = Content, Contents

__all__ = [
    "CONTENT_TYPES",
    "AIContent",
    "Content",
    "Contents",
    "base",
    "citations",
    "documents",
    "hosted",
    "media",
    "outcomes",
    "text",
    "tools",
]
