"""The table of the AI SDK's UI messages: the parts of a message, and the message around them.

A tool part is a call, and also its approval and its result: `tools.py` has their rows. Source: `ui/ui-messages.ts` and
`ui/validate-ui-messages.ts` of ai 7.0.173, 6.0.326 and 5.0.277 (seen 2026-11-23). `older.py` reads the messages of
version 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    Blocks,
    CachePoints,
    DataUri,
    Field,
    Filled,
    Gathered,
    Implied,
    Required,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    first_fitting,
    text_of,
)
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.ai_sdk.openai_texts import keep_of_openai
from contentmodel_adapters.frameworks.ai_sdk.parts import (
    KINDS,
    OF_GOOGLE,
    STAR,
    TOP,
    DataUrl,
    cache_points,
    has_type,
    row_for_state,
    rows_of_model,
    usual_compaction,
    with_states,
)

API = "vercel-ui-messages"
TABLE = Table(API)
METADATA = "providerMetadata"
keep_of_openai(TABLE, METADATA)
CACHE_POINT = cache_points(TABLE)
CACHED: dict[str, Spec] = {f"{METADATA}.anthropic.cacheControl": ("cache_point", CachePoints(CACHE_POINT))}

# -- citations and sources ---------------------------------------------------------------------------------------------

_SPAN: dict[str, Spec] = {"startIndex": "span.start", "endIndex": "span.end", "citedText": "cited_text"}
_OFFSETS = Implied({"span.unit": "utf16"})
CITATIONS = TABLE.union(
    "citation",
    [
        Row(
            "url",
            Citation,
            {"source.url": "url", "source.title": "title", **_SPAN},
            _OFFSETS,
            constants={"source.type": "source", "source.sourceType": "url"},
        ),
        Row(
            "document",
            Citation,
            {"source.title": "title", "source.filename": "filename", **_SPAN},
            _OFFSETS,
            Filled({"source.title": "", "source.mediaType": "text/plain"}),
            constants={"source.type": "source", "source.sourceType": "document"},
        ),
    ],
    other=Row("other", Citation, {}),
    find=lambda wire: _kind_of_citation(wire),
    prefer=lambda citation, rows: rows[0] if citation.url is not None else rows[1],
)
_SOURCE_ROWS = [
    Row("source-url", Citation, {"url": "url", "title": "title"}, constants={"type": "source-url"}),
    Row(
        "source-document",
        Citation,
        {"title": "title", "filename": "filename"},
        Filled({"title": "", "mediaType": "text/plain"}),
        constants={"type": "source-document"},
    ),
    Row(
        "source",
        Citation,
        {"source.url": "url", "source.title": "title"},
        constants={"type": "source", "source.sourceType": "url"},
    ),
]
SOURCES = TABLE.union(
    "source",
    _SOURCE_ROWS,
    find=first_fitting(_SOURCE_ROWS, unknown=["source"]),
    prefer=lambda citation, rows: rows[0] if citation.url is not None else rows[1],
)


def _kind_of_citation(wire: Mapping[str, Any]) -> str | None:
    source: Any = wire.get("source")
    kind = source.get("sourceType") if source.__class__ is dict else None
    return kind if kind in ("url", "document") and source.get("type") == "source" else None


# -- parts -------------------------------------------------------------------------------------------------------------


def _media(name: str, fields: dict[str, Spec], *others: Field) -> list[Row]:
    """Return the rows of one type of media: data URLs, and links of a kind of media or a media type."""
    any_type = {"mediaType": "application/octet-stream"}

    def row_of(ending: str, model: type[Any], link_fields: dict[str, Spec], *own_others: Field, **options: Any) -> Row:
        return Row(
            f"{name}{ending}", model, {**link_fields, **fields}, *own_others, constants={"type": name}, **options
        )

    typed: dict[str, Spec] = {"url": ("data", DataUrl()), "mediaType": "media_type"}
    no_data = Filled({**any_type, "url": "data:;base64,"})
    return [
        row_of(".data", DataContent, typed, *others, no_data, accepts=has_type("url")),
        row_of(".typed", DataContent, {"url": (("media_type", "data"), DataUri())}, *others, Filled(any_type)),
        row_of(".kind", UriContent, {"url": "uri", "mediaType": ("kind", STAR)}, *others),
        row_of(".top", UriContent, {"url": "uri", "mediaType": ("kind", TOP)}, *others),
        row_of("", UriContent, {"url": "uri", "mediaType": "media_type"}, Silent("kind"), Filled(any_type)),
    ]


_FILE: dict[str, Spec] = {"filename": "name", f"{METADATA}.openai.imageDetail": "detail", **CACHED}
TEXT = with_states(
    "text",
    TextContent,
    {"text": "text", "citations": ("annotations", Blocks(CITATIONS)), **CACHED},
    at=METADATA,
    states=OF_GOOGLE,
    constants={"type": "text"},
)
FILES = _media("file", _FILE)


OLDER = [
    Row("reasoning.4", ReasoningContent, {"reasoning": ("text", Required())}, constants={"type": "reasoning"}),
    Row("file.4", DataContent, {"data": ("data", Required()), "mimeType": "media_type"}, constants={"type": "file"}),
]
"""The parts of version 4 whose fields have other names."""


def _prefer(content: Any, rows: list[Row]) -> Row | str | None:
    """Return the usual row of a content."""
    if content.__class__ is DataContent:
        return rows[0]
    if content.__class__ is UriContent:
        return "file.kind" if content.media_type is None and content.kind in KINDS else "file"
    if content.__class__ is CompactionContent:
        return usual_compaction(content, rows)
    if content.__class__ is ConfigurationContent:
        return rows[1] if content.kind.startswith("data-") else rows[0]
    return row_for_state(content, [row for row in rows if row not in OLDER])


DATA = Row("data", ConfigurationContent, {"type": ("kind", Required())}, Gathered("settings", "id", "data"))
OF_MODEL = rows_of_model(METADATA, {})
ROWS = [*OF_MODEL, *TEXT, *FILES, *_media("reasoning-file", CACHED), DATA, *OLDER]
_find = first_fitting([*OLDER, *ROWS[: -len(OLDER)]])


def _row_of(part: dict[str, Any]) -> str | None:
    """Return the name of the row of a part; None if the part has no row."""
    return _find(part) or ("data" if text_of(part, "type").startswith("data-") else None)


USER_PARTS = TABLE.union("user part", [*TEXT, *FILES, OF_MODEL[-1], DATA, OLDER[-1]], find=_row_of, prefer=_prefer)
PARTS = TABLE.union("part", ROWS, find=_row_of, prefer=_prefer)

# -- messages ----------------------------------------------------------------------------------------------------------

ROLES = Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant",))
PLAIN = TABLE.record(
    "message",
    ChatMessage,
    {"id": "message_id", "role": ("role", ROLES), "parts": ("contents", Blocks(USER_PARTS))},
    Filled({"parts": []}),
)
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {"id": "message_id"},
    Implied({"role": "assistant"}),
    Silent("contents"),
    constants={"role": "assistant"},
)
STEERING = TABLE.record(
    "steering message",
    ChatMessage,
    {"id": "message_id", "parts": ("contents", Blocks(USER_PARTS))},
    Implied({"role": "user"}),
    Filled({"parts": []}),
    constants={"type": "steering-message"},
)
TABLE.keep("assistant message", "metadata")
TABLE.keep("message", "metadata")
TABLE.known_values("message.role", "system", "user", "assistant")
