"""Attachments: media and long texts that a sample stores once, in `attachments`. Its messages refer to them.

Decoding replaces the references with the texts, as Inspect's own readers do. A hint keeps the references, and encoding
writes them wherever the text was not edited.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, object_of
from contentmodel.request import ChatRequest
from contentmodel_adapters.frameworks.inspect.values import API

PREFIX = "attachment://"
REFERENCES = Hint[dict[str, Any]](
    API, "references", "the references to attachments in the messages, by the steps of their paths"
)
_FIELDS = ("content", "tool_calls")
"""The fields of a message that may have references."""


def resolved(wire: dict[str, Any], context: DecodeContext | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a sample with attachments in its messages, and the references as a tree whose keys are path steps."""
    attachments, messages = object_of(wire, "attachments"), wire.get("messages")
    if not attachments or messages.__class__ is not list:
        return wire, {}
    inlined: list[Any] = []
    tree: dict[str, Any] = {}
    for index, message in enumerate(messages or ()):
        if message.__class__ is dict:
            fields = {key: value for key, value in message.items() if key in _FIELDS}
            inner, references = _resolve(fields, attachments, context)
            if references:
                tree[str(index)] = references
                inner = {**message, **inner}
                _copied(inner, message, context)
                message = inner
        inlined.append(message)
    if not tree:
        return wire, {}
    _copied(inlined, messages, context)
    whole = {**wire, "messages": inlined}
    _copied(whole, wire, context)
    return whole, tree


def _copied(copy: Any, original: Any, context: DecodeContext | None) -> None:
    if context is not None:
        context.copied(copy, original)


def _resolve(value: Any, attachments: dict[str, Any], context: DecodeContext | None) -> tuple[Any, Any]:
    """Return a value with attachments instead of references, and the tree of references; None if there are none."""
    if value.__class__ is str:
        text = attachments.get(value[len(PREFIX) :]) if value.startswith(PREFIX) else None
        return (text, value) if text.__class__ is str else (value, None)
    if value.__class__ is not dict and value.__class__ is not list:
        return value, None
    tree: dict[str, Any] = {}
    copy = value.copy()
    for step, item in value.items() if value.__class__ is dict else enumerate(value):
        inner, references = _resolve(item, attachments, context)
        if references is not None:
            copy[step], tree[str(step)] = inner, references
    if not tree:
        return value, None
    _copied(copy, value, context)
    return copy, tree


def with_references(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with the references of the source, wherever an attachment still has the same text."""
    tree = REFERENCES.of(request, API)
    attachments = object_of(payload, "attachments")
    if not tree or not attachments or "messages" not in payload:
        return payload
    return {**payload, "messages": _referring(payload["messages"], tree, attachments)}


def _referring(value: Any, tree: Any, attachments: dict[str, Any]) -> Any:
    if tree.__class__ is str:
        is_same = value.__class__ is str and attachments.get(tree.removeprefix(PREFIX)) == value
        return tree if is_same and tree.startswith(PREFIX) else value
    if tree.__class__ is not dict:
        return value
    if value.__class__ is dict:
        return {key: _referring(item, tree[key], attachments) if key in tree else item for key, item in value.items()}
    if value.__class__ is not list:
        return value
    return [
        _referring(item, tree[str(index)], attachments) if str(index) in tree else item
        for index, item in enumerate(value)
    ]
