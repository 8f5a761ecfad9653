"""The base class of contents: annotations, opaque provider state, unmapped fields.

It depends on no provider and on no other content type.
"""

from __future__ import annotations

import re
from typing import Any

from contentmodel.content.citations import Citation
from contentmodel.interop import Model
from contentmodel.literals import Open, ProtectedKind

type_name = re.compile(r"(?<!^)(?=[A-Z])")


def content_tag(class_name: str) -> str:
    """Return the tag of a class: "web_search_tool_call" for `WebSearchToolCallContent`."""
    return type_name.sub("_", class_name.removesuffix("Content")).lower()


class Protected(Model, frozen=True, kw_only=True):
    """Opaque state that only its issuer can read: a signature, encrypted or redacted content.

    `issuer` is the provider that created it ("anthropic", "openai", "google"). `kind` is "signature", "encrypted" or
    "redacted". `data` is the text exactly as received. It is only sent to APIs of that issuer.
    """

    issuer: str
    kind: Open[ProtectedKind]
    data: str


class AIContent(Model, frozen=True, kw_only=True, tag_field="type", tag=content_tag):
    """One part of a message. Plain data, compared by value.

    `annotations` are the citations of this content. `protected` is opaque provider state attached to it: any content
    can have a signature (Gemini signs function calls and text). `extra` holds the unmapped wire fields, by API id.
    Keys of `extra` that start with ":" are round-trip hints of the codec (for example, which of two equivalent
    spellings the payload had), not wire fields.
    """

    annotations: list[Citation] | None = None
    protected: Protected | None = None
    extra: dict[str, dict[str, Any]] | None = None
