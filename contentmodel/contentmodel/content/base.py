"""What every content has in common: annotations, opaque provider state, residue.

Knows no provider and no other content type.
"""

from __future__ import annotations

import re
from typing import Any

from contentmodel.content.citations import Citation
from contentmodel.interop import Model
from contentmodel.literals import Open, ProtectedKind

type_name = re.compile(r"(?<!^)(?=[A-Z])")


def content_tag(class_name: str) -> str:
    """`WebSearchToolCallContent` -> `web_search_tool_call`."""
    return type_name.sub("_", class_name.removesuffix("Content")).lower()


class Protected(Model, frozen=True, kw_only=True):
    """Opaque state that only its issuer can read: a signature, encrypted or redacted content.

    `issuer` is who made it ("anthropic", "openai", "google"), `kind` is "signature", "encrypted" or
    "redacted", `data` the text exactly as received. It is sent back to APIs of that issuer alone.
    """

    issuer: str
    kind: Open[ProtectedKind]
    data: str


class AIContent(Model, frozen=True, kw_only=True, tag_field="type", tag=content_tag):
    """One piece of a conversation. Plain data, compared by value.

    `annotations` are citations that belong to this content. `protected` is opaque provider state attached
    to it (any content can carry a signature: Gemini signs function calls and text). `extra` is the residue:
    per API id, the wire fields that the neutral fields did not consume. Keys that start with ":" in a residue
    are hints of the codec (which of two equivalent spellings the wire had), not wire fields.
    """

    annotations: list[Citation] | None = None
    protected: Protected | None = None
    extra: dict[str, dict[str, Any]] | None = None
