"""Content types of an application: registered, so that documents with them are read as their classes.

A class that is not registered is encoded like a registered one, but read as what a reader makes of an unknown type.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from contentmodel.content.base import AIContent

_Type = TypeVar("_Type", bound=type[AIContent])

REGISTERED: dict[str, type[AIContent]] = {}
"""The registered types, by tag."""


def register(kind: _Type) -> _Type:
    """Register a content type of an application, and return it. Use it as a decorator.

    `loads`, pydantic and stored rows then return the class for its tag, which is the `type` in JSON: its name in snake
    case, without "Content". A subclass may set another one (`tag="..."`). A class that is defined again, such as in a
    notebook, replaces the first one. Raise TypeError if the class is not a frozen subclass of a content type, or if
    JSON cannot represent its fields. Raise ValueError if another type has its tag.
    """
    from contentmodel.content import CONTENT_TYPES

    name = getattr(kind, "__qualname__", repr(kind))
    if not isinstance(kind, type) or not issubclass(kind, AIContent) or kind is AIContent:
        raise TypeError(f"{name} is not a subclass of a content type: derive it from one, such as TextContent")
    config = kind.__struct_config__
    if not config.frozen:
        raise TypeError(f"{name} is not frozen: contents are immutable values. Remove frozen=False")
    tag = config.tag
    if not isinstance(tag, str) or config.tag_field != "type":
        raise TypeError(f'{name} has the tag {config.tag_field}={tag!r}: the tag of a content is a text in "type"')
    other = next(
        (content_type for content_type in CONTENT_TYPES if content_type.__struct_config__.tag == tag),
        REGISTERED.get(tag),
    )
    if other is not None and not _is_same(kind, other):
        owner = f"{other.__module__}.{other.__qualname__}"
        raise ValueError(f'{name} has the tag "{tag}", which is the tag of {owner}: set another one (tag=...)')
    try:
        msgspec.json.Decoder(kind)
        msgspec.json.schema(kind)
    except (TypeError, NameError) as error:
        raise TypeError(f"{name} has a field that JSON cannot represent: {error}") from None
    REGISTERED[tag] = kind
    return kind


def _is_same(kind: type, other: type) -> bool:
    """Return whether two classes have the same definition in the code."""
    return (kind.__module__, kind.__qualname__) == (other.__module__, other.__qualname__)


def registered_type(value: object) -> type[AIContent] | None:
    """Return the registered type that the JSON value of a content names; None if it names none."""
    tag = value.get("type") if REGISTERED and isinstance(value, dict) else None
    return REGISTERED.get(tag) if isinstance(tag, str) else None
