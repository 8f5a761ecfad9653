"""Normalize contents before the steps, which then see types of the model, lists of outputs, and JSON where it fits.

- A content of an application's own class is encoded as its nearest type of the model. Its other fields are lost.
- A result without outputs (None) is encoded as one with an empty list.
- A JSON value becomes compact JSON text, for APIs without a place for JSON. Nothing is lost.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.documents import DocumentContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    HostedToolCallContent,
    HostedToolResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import contents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import Branch, ChatMessage
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse

_RESULTS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent))
_PLAIN = frozenset(CONTENT_TYPES) - _RESULTS - {DocumentContent}
"""The types of the model that hold no contents."""
UNCHANGED = _PLAIN - {JsonContent}
"""The types of the model that normalizing never changes."""
_NEAREST: dict[type, type[AIContent]] = {
    **{kind: kind for kind in CONTENT_TYPES},
    ToolCallContent: HostedToolCallContent,
    ToolResultContent: HostedToolResultContent,
}
"""The type of the model for each class that an application can derive from."""


def normalized_request(request: ChatRequest, context: EncodeContext, *, takes_json: bool = False) -> ChatRequest:
    """Return a request with normalized contents. If `takes_json`, results keep JSON values."""
    messages = normalized(request.messages, context, takes_json=takes_json)
    instructions = normalized_contents(request.instructions, context, takes_json=takes_json)
    if messages is not request.messages or instructions is not request.instructions:
        request = context.replace(request, messages=messages, instructions=instructions)
    branches = [_normalized_branch(branch, context) for branch in request.branches]
    is_same = all(new is old for new, old in zip(branches, request.branches, strict=True))
    return request if is_same else context.replace(request, branches=branches)


def normalized_response(response: ChatResponse, context: EncodeContext, *, takes_json: bool = False) -> ChatResponse:
    """Return an answer with normalized contents. If `takes_json`, results keep JSON values."""
    choices = []
    for choice in response.choices:
        if not UNCHANGED.issuperset(map(type, contents_of(choice.messages))):
            messages = normalized(choice.messages, context, takes_json=takes_json)
            choice = choice if messages is choice.messages else context.replace(choice, messages=messages)
        choices.append(choice)
    return response if all(map(is_, choices, response.choices)) else context.replace(response, choices=choices)


def _normalized_branch(branch: Branch, context: EncodeContext) -> Branch:
    messages = normalized(branch.messages, context, takes_json=True)
    return branch if messages is branch.messages else context.replace(branch, messages=messages)


def normalized(messages: list[ChatMessage], context: EncodeContext, *, takes_json: bool = False) -> list[ChatMessage]:
    """Return messages with normalized contents. If `takes_json`, results keep JSON values."""
    if not need_changes(contents_of(messages)):
        return messages
    return [
        context.with_contents(message, normalized_contents(message.contents, context, takes_json=takes_json))
        for message in messages
    ]


def normalized_contents(
    contents: list[AIContent], context: EncodeContext, *, takes_json: bool = False
) -> list[AIContent]:
    """Return normalized contents. If `takes_json`, results keep JSON values."""
    if not need_changes(contents):
        return contents
    return [_with_json_as_text(with_known_types(content, context), context, takes_json) for content in contents]


def need_changes(contents: Iterable[Any]) -> bool:
    """Return whether contents may have to change. Every encoding runs this loop."""
    for content in contents:
        kind = content.__class__
        if kind in _RESULTS:
            if content.outputs is None or any(map(_may_change, content.outputs)):
                return True
        elif kind not in UNCHANGED and _may_change(content):
            return True
    return False


def _may_change(content: Any) -> bool:
    kind = content.__class__
    return kind not in UNCHANGED and (kind is not DocumentContent or _are_odd(content.parts))


def _are_odd(contents: Iterable[Any]) -> bool:
    return any(content.__class__ not in _PLAIN for content in contents)


def with_known_types(content: Any, context: EncodeContext) -> AIContent:
    """Return a content as its nearest type of the model, with a list of outputs. The same holds for contents inside.

    Report the fields that the type of the model does not have as lost. A content without a nearest type is returned
    unchanged.
    """
    kind = content.__class__
    if kind in _PLAIN:
        return content  # type: ignore[no-any-return]
    nearest = next((_NEAREST[base] for base in kind.__mro__ if base in _NEAREST), kind)
    if nearest is not kind:
        fields = nearest.__struct_fields__
        made = nearest(**{name: getattr(content, name) for name in fields})
        context.report_lost_attributes(content, tuple(name for name in content.__struct_fields__ if name not in fields))
        content = context.replaced(content, made)
    if nearest in _RESULTS:
        if content.outputs is None:
            return context.replace(content, outputs=[])  # type: ignore[no-any-return]
        return _with_contents(content, "outputs", context)
    return _with_contents(content, "parts", context) if nearest is DocumentContent else content


def _with_contents(content: Any, field: str, context: EncodeContext) -> AIContent:
    inner = getattr(content, field)
    if not _are_odd(inner):
        return content  # type: ignore[no-any-return]
    changed = [with_known_types(item, context) for item in inner]
    is_same = all(new is old for new, old in zip(changed, inner, strict=True))
    return content if is_same else context.replace(content, **{field: changed})  # type: ignore[no-any-return]


def _with_json_as_text(content: Any, context: EncodeContext, takes_json: bool) -> AIContent:
    kind = content.__class__
    if kind is JsonContent:
        return as_text_content(content, context)
    if takes_json or kind not in _RESULTS or not any(output.__class__ is JsonContent for output in content.outputs):
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
