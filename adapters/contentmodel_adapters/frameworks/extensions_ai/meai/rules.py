"""Conversations that Microsoft.Extensions.AI does not read.

Source: src/Libraries/Microsoft.Extensions.AI.Abstractions of dotnet/extensions (seen 2026-11-23), read by
System.Text.Json with AIJsonUtilities.DefaultOptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules
from contentmodel_adapters.frameworks.extensions_ai import rules
from contentmodel_adapters.frameworks.extensions_ai.meai.blocks import API, CONTENTS, NAMES, OLDER

RULES = Rules(API)
SOURCE = "AIContent.cs and the constructors of the contents in dotnet/extensions"
CURRENT = frozenset(CONTENTS.tags) - {one.constants[NAMES.tag] for one in OLDER}
rules.declare(RULES, NAMES, CURRENT, SOURCE, refused=True)
REQUIRED = {
    "uri": ("uri", "mediaType"),
    "data": ("uri",),
    "functionCall": ("callId", "name"),
    "functionResult": ("callId",),
    "hostedFile": ("fileId",),
    "hostedVectorStore": ("vectorStoreId",),
    "usage": ("details",),
    "mcpServerToolCall": ("callId", "name"),
    "toolApprovalRequest": ("requestId", "toolCall"),
    "toolApprovalResponse": ("requestId", "approved", "toolCall"),
}
"""The parameters of the constructors that must not be null, by type."""


@RULES.rule("refused", fix="put it first", source=SOURCE)
def type_comes_first(document: dict[str, Any]) -> Iterator[Broken]:
    """The `$type` of a content must be its first field, unless the reader allows another order."""
    for path, content in rules.contents_in(document):
        if NAMES.tag in content and next(iter(content)) != NAMES.tag:
            yield f"{path}.{NAMES.tag}", f"after {next(iter(content))!r:.60}"


@RULES.rule("refused", fix="add it", source=SOURCE)
def required_fields(document: dict[str, Any]) -> Iterator[Broken]:
    """Contents must have the fields that their constructors require."""
    for path, content in rules.contents_in(document):
        kind = content.get(NAMES.tag)
        for name in REQUIRED.get(kind, ()) if isinstance(kind, str) else ():
            if content.get(name) is None:
                yield f"{path}.{name}", "missing"
