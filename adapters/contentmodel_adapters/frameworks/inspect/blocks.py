"""The table of Inspect AI's eval logs: the contents of messages.

Source: `ChatMessage`, `Content` and `Citation` of inspect_ai 0.3.285 (_util/content.py, _util/citation.py,
model/_chat_message.py, tool/_tool_call.py; seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    DataUri,
    EnumString,
    Filled,
    Implied,
    MappedEnum,
    NonEmpty,
    Row,
    Silent,
    Spec,
    Table,
    row,
    text_of,
)
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent, ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel_adapters.frameworks.inspect.values import (
    API,
    FORMATS,
    OF_OPENROUTER,
    OPENAI_STATE,
    Breakpoint,
    Citations,
    CitedText,
    ProviderState,
    Range,
    fill_summary,
    format_of,
)

TABLE = Table(API)

# -- texts and citations -----------------------------------------------------------------------------------------------

_CITED: dict[str, Spec] = {
    "cited_text": (("span", "cited_text"), CitedText()),
    "title": "title",
    "internal.document_index": "document_index",
    "internal.file_id": "file_id",
}


def _usual_citation(citation: Any, rows: list[Row]) -> Row:
    if citation.url is not None:
        return rows[0]
    of_document = (citation.location, citation.document_index, citation.file_id, citation.title)
    return rows[1] if any(value is not None for value in of_document) else rows[2]


CITATIONS = TABLE.union(
    "citation",
    [
        row("url", Citation, {"url": "url", **_CITED}),
        row("document", Citation, {"range": ("location", Range()), **_CITED}),
        row("content", Citation, _CITED),
    ],
    other=Row("other", Citation, {}),
    prefer=_usual_citation,
)
CACHED: dict[str, Spec] = {"cache_breakpoint": ("cache_point", Breakpoint())}
TEXT = row("text", TextContent, {"text": "text", "citations": ("annotations", Citations(CITATIONS)), **CACHED})
REFUSAL = Row(
    "refusal",
    ErrorContent,
    {"text": "message", **CACHED},
    Implied({"code": "refusal"}),
    Filled({"text": ""}),
    constants={"type": "text", "refusal": True},
)

# -- reasoning ---------------------------------------------------------------------------------------------------------


def _is_item_id(wire: Mapping[str, Any]) -> bool:
    """Return whether the signature of reasoning is the id of an item of OpenAI, or has OpenRouter's form."""
    return text_of(wire, "signature").startswith(("rs_", OF_OPENROUTER))


THOUGHTS = [
    Row(
        "reasoning.redacted",
        ReasoningContent,
        {"summary": "text", "reasoning": ("protected", ProviderState(redacted=True))},
        Silent("kind"),
        Filled({"reasoning": ""}, fill_summary),
        constants={"type": "reasoning", "redacted": True},
    ),
    row(
        "reasoning",
        ReasoningContent,
        {"reasoning": "text", "internal.reasoning_encrypted_content": ("protected", OPENAI_STATE)},
        Silent("kind"),
        form="encrypted",
    ),
    Row(
        "reasoning.summary",
        ReasoningContent,
        {"summary": ("text", NonEmpty(mandatory=True))},
        Implied({"kind": "summary"}),
        constants={"type": "reasoning", "reasoning": ""},
    ),
    row("reasoning", ReasoningContent, {"reasoning": "text"}, Silent("kind"), form="id", accepts=_is_item_id),
    row(
        "reasoning",
        ReasoningContent,
        {"reasoning": "text", "signature": ("protected", ProviderState(redacted=False))},
        Filled({"reasoning": ""}),
        Silent("kind"),
    ),
]

# -- media and data ----------------------------------------------------------------------------------------------------


class _Detail(EnumString):
    """The resolution of an image. Inspect writes the default, `auto`, into each image."""

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != "auto"


DETAIL = _Detail("detail", "auto", "low", "high", "original")
_OF_DATA: dict[str, dict[str, Spec]] = {
    "image": {"detail": ("detail", DETAIL)},
    "document": {"filename": "name"},
}
_OF_LINKS: dict[str, dict[str, Spec]] = {
    **{kind: {"format": ("media_type", MappedEnum(formats))} for kind, formats in FORMATS.items()},
    "image": {"detail": ("detail", DETAIL)},
    "document": {"filename": "name", "mime_type": "media_type"},
}


def _media(kind: str) -> list[Row]:
    """Return the rows of one type of media: one for data URIs, and one for links and paths."""
    format_ = [format_of(kind)] if kind in FORMATS else []
    inline: dict[str, Spec] = {kind: (("media_type", "data"), DataUri())}
    return [
        row(kind, DataContent, {**inline, **_OF_DATA.get(kind, {})}, *format_, form="data"),
        row(kind, UriContent, {kind: "uri", **_OF_LINKS[kind]}, Implied({"kind": kind}), *format_),
    ]


_COMPACTION = "data.compaction_metadata"
DATA = [
    Row(
        "data.summary",
        CompactionContent,
        {f"{_COMPACTION}.content": "text"},
        constants={"type": "data", f"{_COMPACTION}.type": "anthropic_compact"},
    ),
    Row(
        "data.encrypted",
        CompactionContent,
        {f"{_COMPACTION}.encrypted_content": ("protected", OPENAI_STATE)},
        Filled({f"{_COMPACTION}.id": ""}),
        constants={"type": "data", f"{_COMPACTION}.type": "openai_compact"},
    ),
    row("data", ConfigurationContent, {"data": "settings"}, Implied({"kind": "data"})),
]

# -- the union ---------------------------------------------------------------------------------------------------------


def _usual(content: Any, rows: list[Row]) -> Row | str | None:
    if content.__class__ is ReasoningContent:
        is_summary = content.kind == "summary" and content.text
        if content.protected is not None:
            return "reasoning.redacted"
        return "reasoning.summary" if is_summary else "reasoning"
    if content.__class__ in (DataContent, UriContent):
        kind = content.media_kind if content.media_kind in _OF_LINKS else "document"
        return f"{kind}.data" if content.__class__ is DataContent else kind
    if content.__class__ is CompactionContent:
        is_opaque = content.protected is not None and content.protected.issuer == "openai"
        return "data.summary" if content.text is not None else "data.encrypted" if is_opaque else None
    if content.__class__ is ConfigurationContent:
        return rows[0] if content.kind == "data" else None
    return rows[0] if content.__class__ is not ErrorContent or content.code == "refusal" else None


PARTS = TABLE.union(
    "content part",
    [REFUSAL, TEXT, *THOUGHTS, *(media_row for kind in _OF_LINKS for media_row in _media(kind)), *DATA],
    by_fields=True,
    prefer=_usual,
)
OUTPUTS = TABLE.union("output of a tool", [TEXT])
"""The outputs of hosted tools: texts. Contents of other APIs become texts."""
