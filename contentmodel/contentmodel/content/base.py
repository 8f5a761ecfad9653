"""The base class of contents: annotations, opaque provider state, unmapped fields.

It depends on no provider and on no other content type.
"""

from __future__ import annotations

import re
from typing import Any

from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.interop import Model
from contentmodel.literals import Open, ProtectedKind

type_name = re.compile(r"(?<!^)(?=[A-Z])")


def content_tag(class_name: str) -> str:
    """Return the tag of a class: "web_search_tool_call" for `WebSearchToolCallContent`."""
    return type_name.sub("_", class_name.removesuffix("Content")).lower()


class Protected(Model, frozen=True, kw_only=True):
    """Opaque state that only its issuer can read: a signature, encrypted or redacted content."""

    issuer: str
    """The provider that created the state: `anthropic`, `openai`, `google`."""
    kind: Open[ProtectedKind]
    """`signature`, `encrypted` or `redacted`."""
    data: str
    """The text, exactly as received. It is only sent to APIs of the issuer."""


class AIContent(Model, frozen=True, kw_only=True, tag_field="type", tag=content_tag):
    """One part of a message. Plain data, compared by value."""

    annotations: list[Citation] | None = None
    """The citations of the content."""
    protected: Protected | None = None
    """Opaque state of the provider that belongs to the content, such as a signature.

    Any content can have one: Gemini signs function calls and text.
    """
    cache_point: CachePoint | None = None
    """A mark: the provider may cache the prompt up to and including the content."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields, by API id.

    Keys that start with `:` are hints of the codec, for example which of two equivalent spellings the payload had. They
    are not wire fields.
    """
