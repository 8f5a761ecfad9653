"""Send JSON values as compact JSON text, for APIs without a place for JSON. Nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import contents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import ChatMessage

_RESULTS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent))


def with_json_as_text(
    messages: list[ChatMessage], context: EncodeContext, *, takes_json: bool = False
) -> list[ChatMessage]:
    """Return messages with JSON values as texts. If `takes_json`, results keep them."""
    if not _have_json(contents_of(messages)):
        return messages
    return [
        context.with_contents(message, contents_with_json_as_text(message.contents, context, takes_json=takes_json))
        for message in messages
    ]


def contents_with_json_as_text(
    contents: list[AIContent], context: EncodeContext, *, takes_json: bool = False
) -> list[AIContent]:
    """Return contents with JSON values as texts, as `with_json_as_text` does."""
    if not _have_json(contents):
        return contents
    return [_written(content, context, takes_json) for content in contents]


def _have_json(contents: Iterable[Any]) -> bool:
    for content in contents:
        kind = content.__class__
        if kind is JsonContent:
            return True
        if kind in _RESULTS:
            for output in content.outputs:
                if output.__class__ is JsonContent:
                    return True
    return False


def _written(content: Any, context: EncodeContext, takes_json: bool) -> AIContent:
    kind = content.__class__
    if kind is JsonContent:
        return as_text_content(content, context)
    if takes_json or kind not in _RESULTS or not _have_json(content.outputs):
        return content  # type: ignore[no-any-return]
    outputs: Sequence[AIContent] = [
        as_text_content(output, context) if output.__class__ is JsonContent else output for output in content.outputs
    ]
    changed: AIContent = context.replace(content, outputs=outputs)
    return changed


def as_text_content(content: JsonContent, context: EncodeContext) -> TextContent:
    """Return a JSON value as its compact text, with the other attributes of the content."""
    attributes = {name: getattr(content, name) for name in content.__struct_fields__ if name != "value"}
    return context.replaced(content, TextContent(text=content.text, **attributes))
