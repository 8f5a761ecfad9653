"""The table of Converse: content blocks, media, hosted tools and their results, citations.

Read off the service model of botocore 1.43.117 (bedrock-runtime), seen November 2026. A block is an object with one
key, which determines its kind.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    AsSent,
    Blocks,
    CachePoints,
    Codec,
    DecodeContext,
    EncodeContext,
    EnumString,
    Failure,
    Filled,
    Implied,
    MappedEnum,
    Named,
    Opaque,
    Pair,
    Row,
    Sign,
    Silent,
    Spec,
    Table,
    TextParts,
    object_of,
    reasons,
)
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import (
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ConfigurationContent, ErrorContent, ToolChangeContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel_adapters.anthropic.bedrock_converse.cached_blocks import UncachedBlocks

API = "bedrock-converse"
TABLE = Table(API)

# -- opaque state --------------------------------------------------------------------------------------------------

ISSUER = "bedrock"
"""The issuer of the state of a model that a payload does not name: answers and the bodies of requests do not."""
CLAUDE = "anthropic"
_MAKER = re.compile(r"(?:^|[./:])(amazon|anthropic|deepseek|meta|mistral|openai|qwen|cohere|ai21|writer)\.")


def maker_of(model: str | None) -> str | None:
    """Return the issuer of a model's state, which is its maker; None if the model is unknown."""
    name = model.lower() if isinstance(model, str) else ""
    found = _MAKER.search(name)
    if "claude" in name or (found and found[1] == CLAUDE):
        return CLAUDE
    return f"{ISSUER}-{found[1]}" if found else None


class Redacted(Opaque):
    """Redacted reasoning: bytes. Those of Claude are the text that the Messages API has for it."""

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        state = super().decode(value, context, container, key)
        if state.issuer != CLAUDE:
            return state
        text = text_in(value)
        return Protected(issuer=ISSUER if text is None else CLAUDE, kind=self.kind, data=text or value)

    def encode(self, value: Protected, context: EncodeContext, owner: object) -> str | None:
        data = super().encode(value, context, owner)
        if data is None or value.issuer != CLAUDE:
            return data
        if not context.native:
            context.report_loss(owner, "protected", IN_BASE64)
        return _in_base64(data)


IN_BASE64 = reasons.insignificant("bedrock-redacted", "{target} has redacted reasoning in base64")


def _in_base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def text_in(value: str) -> str | None:
    """Return the ASCII text in base64; None if the text would not give the same base64."""
    try:
        text = base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return None
    return text if _in_base64(text) == value else None


SIGNATURE = Opaque(ISSUER, "signature", maker_of)
REDACTED = Redacted(ISSUER, "redacted", maker_of)

# -- cache points --------------------------------------------------------------------------------------------------

CACHE_POINT = TABLE.record(
    "cachePoint",
    CachePoint,
    {"ttl": ("ttl", EnumString("ttl", "5m", "1h", reason=reasons.CACHE_LIFETIME))},
    constants={"type": "default"},
)
POINTS = CachePoints(CACHE_POINT)


# -- citations -----------------------------------------------------------------------------------------------------


_UNITS = {"documentChar": "char", "documentPage": "page", "documentChunk": "block", "searchResultLocation": "block"}
_SOURCE: dict[str, Spec] = {"title": "title", "sourceContent": ("cited_text", TextParts(mandatory=False))}
_QUOTED = AsSent("sourceContent")


def _located(name: str, unit: str) -> Row:
    at, index = f"location.{name}", "searchResultIndex" if name == "searchResultLocation" else "documentIndex"
    fields: dict[str, Spec] = {
        f"{at}.{index}": "document_index",
        f"{at}.start": "location.start",
        f"{at}.end": "location.end",
        **({"source": "url"} if name == "searchResultLocation" else {}),
    }
    return Row(name, Citation, {**_SOURCE, **fields}, Implied({"location.unit": unit}), as_sent=_QUOTED)


def _citation_row(wire: dict[str, Any]) -> str:
    location = object_of(wire, "location")
    return next((name for name in (*_UNITS, "web") if location.get(name).__class__ is dict), "source")


CITATIONS = TABLE.union(
    "citation",
    [
        Row("web", Citation, {**_SOURCE, "location.web.url": "url"}, as_sent=_QUOTED),
        *(_located(name, unit) for name, unit in _UNITS.items()),
        Row("source", Citation, {**_SOURCE, "source": "url"}, as_sent=_QUOTED),
    ],
    find=_citation_row,
    # A citation of an API without documents has no place in one. That of Claude's own API has the name of its row.
    prefer=lambda citation, rows: None,
)

# -- texts and media -----------------------------------------------------------------------------------------------

CACHED = "cache_point"
"""The attribute that `CachedBlocks` writes."""
TEXT = Row("text", TextContent, {"text": "text"}, Silent(CACHED))
CITED_TEXT = TextParts()
CITED: dict[str, Spec] = {
    "citationsContent.content": ("text", CITED_TEXT),
    "citationsContent.citations": ("annotations", Blocks(CITATIONS)),
}
TEXTS = [
    TEXT,
    Row("citationsContent", TextContent, CITED, Silent(CACHED), as_sent=AsSent("citationsContent.content")),
    # Citations without a text, or with a content of an unknown form.
    Row(
        "citationsContent.bare",
        TextContent,
        {"citationsContent.citations": ("annotations", Blocks(CITATIONS))},
        Implied({"text": ""}),
        Silent(CACHED),
    ),
]
GUARDED = Row("guardContent.text", TextContent, {"guardContent.text.text": "text"}, Silent(CACHED))

IMAGES = {kind: f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp")}
VIDEOS = {
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "flv": "video/x-flv",
    "mpeg": "video/mpeg",
    "mpg": "video/mpg",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
}
AUDIOS = {"mp3": "audio/mpeg", "mpeg": "audio/x-mpeg", "mkv": "audio/x-matroska", "mka": "audio/matroska"} | {
    kind: f"audio/{kind}"
    for kind in ("opus", "wav", "aac", "flac", "mp4", "ogg", "x-aac", "m4a", "mpga", "pcm", "webm")
}
_OFFICE = "application/vnd.openxmlformats-officedocument"
DOCUMENTS = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
}
FORMATS = {"image": IMAGES, "document": DOCUMENTS, "video": VIDEOS, "audio": AUDIOS}
for _kind, _formats in FORMATS.items():
    TABLE.known_values(f"{_kind}.format", *_formats)


def _media(kind: str) -> list[Row]:
    """Return the rows of one kind of media: bytes, and a location in S3."""
    fields: dict[str, Spec] = {f"{kind}.format": ("media_type", MappedEnum(FORMATS[kind]))}
    if kind == "document":
        fields["document.name"] = "name"
    location = {f"{kind}.source.s3Location.uri": "uri", **fields}
    return [
        Row(f"{kind}.bytes", DataContent, {f"{kind}.source.bytes": "data", **fields}, Silent(CACHED)),
        Row(f"{kind}.s3Location", UriContent, location, Implied({"kind": kind}), Silent(CACHED)),
    ]


TEXT_PARTS = TABLE.union("text part", [Row("text", TextContent, {"text": "text"})], find=lambda wire: _text_row(wire))
PARTS = UncachedBlocks(TEXT_PARTS)
MEDIA = [row for kind in FORMATS for row in _media(kind)] + [
    Row(
        "document.text",
        DataContent,
        {
            "document.source.text": "text",
            "document.format": ("media_type", MappedEnum(DOCUMENTS)),
            "document.name": "name",
        },
        Silent(CACHED),
    ),
    Row(
        "guardContent.image",
        DataContent,
        {"guardContent.image.source.bytes": "data", "guardContent.image.format": ("media_type", MappedEnum(IMAGES))},
        Silent(CACHED),
    ),
]
SEARCH_RESULT: dict[str, Spec] = {
    "searchResult.content": ("parts", PARTS),
    "searchResult.source": "uri",
    "searchResult.title": "title",
}
_NO_RESULT = {"searchResult.content": [], "searchResult.source": "", "searchResult.title": ""}
NESTED = [
    Row("searchResult", DocumentContent, SEARCH_RESULT, Silent(CACHED), Filled(_NO_RESULT)),
    Row(
        "document.content",
        DocumentContent,
        {"document.source.content": ("parts", PARTS), "document.name": "title"},
        Silent(CACHED),
        Filled({"document.source.content": [], "document.name": "Document"}),
    ),
]
FAILED = [
    Row(f"{kind}.error", ErrorContent, {f"{kind}.error.message": "message"}, Silent(CACHED))
    for kind in ("image", "audio")
]

# -- tools ---------------------------------------------------------------------------------------------------------

ARGUMENTS = ArgumentsObject()


class Status(Codec[bool]):
    """The status of a result: whether the tool failed."""

    classes = (str,)
    identity = False
    known_values = frozenset({"success", "error"})

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value in self.known_values

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> bool:
        return value == "error"

    def encode(self, value: bool, context: EncodeContext, owner: object) -> str:
        return "error" if value else "success"

    def describe(self) -> str:
        return "str"


STATUS = Status()
CALL: dict[str, Spec] = {
    "toolUse.toolUseId": "call_id",
    "toolUse.name": "name",
    "toolUse.input": ("arguments", ARGUMENTS),
}
HOSTED: dict[str, tuple[type[Any], type[Any]]] = {
    "nova_grounding": (WebSearchToolCallContent, WebSearchToolResultContent),
    "nova_code_interpreter": (CodeInterpreterToolCallContent, CodeInterpreterToolResultContent),
}
_ON_SERVER = {"toolUse.type": "server_tool_use"}
_NO_INPUT: dict[str, Any] = {"toolUse.input": {}}


def _call_row(name: str, model: type[Any], constants: dict[str, str]) -> Row:
    return Row(name, model, CALL, Silent(CACHED, "status"), Filled(_NO_INPUT), constants=constants)


CALLS = [
    _call_row("toolUse", FunctionCallContent, {}),
    *(_call_row(f"toolUse.{name}", call, _ON_SERVER) for name, (call, _) in HOSTED.items()),
    _call_row("toolUse.hosted", HostedToolCallContent, _ON_SERVER),
]


def _text_row(wire: dict[str, Any]) -> str | None:
    return "text" if wire.get("text").__class__ is str else None


_SOURCES: dict[str, type] = {"bytes": str, "s3Location": dict, "text": str, "content": list}


def _media_row(kind: str, medium: dict[str, Any]) -> str | None:
    """Return the row of an image, a document, a video or audio."""
    known = tuple(_SOURCES) if kind == "document" else ("bytes", "s3Location")
    for member, value in object_of(medium, "source").items():
        if member in known and isinstance(value, _SOURCES[member]):
            return f"{kind}.{member}"
    return f"{kind}.error" if kind in ("image", "audio") and medium.get("error").__class__ is dict else None


RESULT_ROWS = [TEXT, Row("json", JsonContent, {"json": "value"}, Silent(CACHED)), *MEDIA, *NESTED]
RESULT_PARTS = TABLE.union(
    "tool result part",
    [*RESULT_ROWS, *FAILED[:1]],
    find=lambda wire: _row_of(wire),
    prefer=lambda content, rows: _usual(content, rows),
    # An error of another API is no error of an image.
    foreign_types={row.model for row in RESULT_ROWS},
)
RESULT: dict[str, Spec] = {
    "toolResult.toolUseId": "call_id",
    "toolResult.status": ("is_error", STATUS),
    "toolResult.content": ("outputs", UncachedBlocks(RESULT_PARTS)),
}
_NO_CONTENT: dict[str, Any] = {"toolResult.content": []}
_UNSAID = (CACHED, "name", "status")


# Bedrock runs these tools. Only the status reports a failure (docs.aws.amazon.com/nova, "Using built-in tools", and
# botocore 1.43, ToolResultBlock; seen 2026-11-29).
_ON_SERVER_FAILURE = Failure(Sign("toolResult.status", ("error",), failed="error"), texts_are_errors=True)


def _result_row(
    name: str,
    model: type[Any],
    fields: dict[str, Spec],
    constants: dict[str, str],
    failure: Failure | None = _ON_SERVER_FAILURE,
) -> Row:
    return Row(
        name,
        model,
        {**RESULT, **fields},
        Silent(*_UNSAID),
        Filled(_NO_CONTENT, changed=True),
        constants=constants,
        failure=failure,
    )


UNNAMED = reasons.degraded(
    "bedrock-unnamed-result", "{target} names the tool of each hosted result: this one is a function's"
)


class HostedId(Codec[str]):
    """The id of a hosted result. Without a name, which its type consists of, the API reads it as that of a function."""

    classes = (str,)
    identity = False

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> str:
        return value

    def encode(self, value: str, context: EncodeContext, owner: Any) -> str:
        if owner.name is None:
            context.report_loss(owner, None, UNNAMED)
        return value


RESULTS = [
    _result_row("toolResult", FunctionResultContent, {}, {}, failure=None),
    *(
        _result_row(f"toolResult.{name}", result, {}, {"toolResult.type": f"{name}_result"})
        for name, (_, result) in HOSTED.items()
    ),
    _result_row(
        "toolResult.hosted",
        HostedToolResultContent,
        {"toolResult.type": ("name", Named("_result")), "toolResult.toolUseId": ("call_id", HostedId())},
        {},
    ),
]

# -- all blocks ----------------------------------------------------------------------------------------------------

_ONE = Pair((dict,), lambda tool: [tool], lambda tools: tools[0] if tools else None, "dict")
REASONING = [
    Row(
        "reasoningText",
        ReasoningContent,
        {
            "reasoningContent.reasoningText.text": "text",
            "reasoningContent.reasoningText.signature": ("protected", SIGNATURE),
        },
        Silent(CACHED, "kind"),
        Filled({"reasoningContent.reasoningText.text": ""}),
    ),
    Row(
        "redactedContent",
        ReasoningContent,
        {"reasoningContent.redactedContent": ("protected", REDACTED)},
        Silent(CACHED, "kind"),
    ),
]
OTHERS = [
    Row(
        "toolAddition",
        ToolChangeContent,
        {"toolAddition.tool": ("tools", _ONE)},
        Implied({"action": "add"}),
        Silent(CACHED),
    ),
    Row(
        "toolRemoval",
        ToolChangeContent,
        {"toolRemoval.tool": ("tools", _ONE)},
        Implied({"action": "remove"}),
        Silent(CACHED),
    ),
    # A cache point that follows no block.
    Row(
        "cachePoint", ConfigurationContent, {"cachePoint": "settings"}, Implied({"kind": "cachePoint"}), Silent(CACHED)
    ),
]


def _of_reasoning(value: dict[str, Any]) -> str | None:
    if value.get("reasoningText").__class__ is dict:
        return "reasoningText"
    return "redactedContent" if value.get("redactedContent").__class__ is str else None


def _of_call(value: dict[str, Any]) -> str:
    name = value.get("name")
    if value.get("type") != "server_tool_use":
        return "toolUse"
    return f"toolUse.{name}" if name.__class__ is str and name in HOSTED else "toolUse.hosted"


def _of_result(value: dict[str, Any]) -> str:
    kind = value.get("type")
    if kind.__class__ is not str or not kind.endswith("_result") or kind == "tool_result":
        return "toolResult"
    name = kind.removesuffix("_result")
    return f"toolResult.{name}" if name in HOSTED else "toolResult.hosted"


def _of_citations(value: dict[str, Any]) -> str:
    return "citationsContent" if CITED_TEXT.holds(value.get("content")) else "citationsContent.bare"


def _of_guard(value: dict[str, Any]) -> str | None:
    if object_of(value, "text").get("text").__class__ is str:
        return "guardContent.text"
    data = object_of(object_of(value, "image"), "source").get("bytes")
    return "guardContent.image" if data.__class__ is str else None


def _of_change(name: str) -> Callable[[dict[str, Any]], str | None]:
    return lambda value: name if value.get("tool").__class__ is dict else None


_FINDERS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    **{kind: (lambda value, kind=kind: _media_row(kind, value)) for kind in FORMATS},  # type: ignore[misc]
    "toolUse": _of_call,
    "toolResult": _of_result,
    "reasoningContent": _of_reasoning,
    "citationsContent": _of_citations,
    "guardContent": _of_guard,
    "searchResult": lambda value: "searchResult",
    "toolAddition": _of_change("toolAddition"),
    "toolRemoval": _of_change("toolRemoval"),
    "cachePoint": lambda value: "cachePoint",
}


def _row_of(wire: dict[str, Any]) -> str | None:
    """Return the row of a block, by its key. Other keys may be beside it."""
    for key, value in wire.items():
        if key == "text" and value.__class__ is str:
            return "text"
        if key == "json" and value is not None:
            return "json"
        if value.__class__ is dict and key in _FINDERS:
            return _FINDERS[key](value)
    return None


def _usual(content: Any, rows: list[Row]) -> Row | None:
    names = {row.name: row for row in rows}
    kind = content.__class__
    if kind is TextContent:
        return names.get("citationsContent" if content.annotations else "text")
    if kind is ReasoningContent:
        is_redacted = content.protected is not None and content.protected.kind == "redacted"
        return names["redactedContent" if is_redacted else "reasoningText"]
    if kind is DataContent:
        medium = content.media_kind or "document"
        return names.get("document.text" if content.text is not None else f"{medium}.bytes")
    if kind is UriContent:
        return names.get(f"{content.media_kind}.s3Location")
    if kind is DocumentContent:
        return names["searchResult" if content.uri is not None and content.title is not None else "document.content"]
    if kind is ToolChangeContent:
        return names["toolAddition" if content.action == "add" else "toolRemoval"]
    return rows[0]


SYSTEM = TABLE.union("system block", [TEXT, GUARDED, MEDIA[-1], OTHERS[-1]], find=_row_of, prefer=_usual)
ROWS = [*TEXTS, GUARDED, *MEDIA, *NESTED, *CALLS, *RESULTS, *REASONING, *OTHERS]
CONTENT = TABLE.union(
    "content block",
    [*ROWS, *FAILED],
    find=_row_of,
    prefer=_usual,
    foreign_types={row.model for row in ROWS},
)
