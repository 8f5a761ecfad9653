"""The table of Converse: content blocks, media, hosted tools and their results, citations, tools, messages, requests.

Read off the service model of botocore 1.43.117 (bedrock-runtime), seen November 2026. A block is an object with one
key, which determines its kind. Answers and errors are in response.py: the whole would be longer than 1,000 lines.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from itertools import repeat, takewhile
from typing import Any, Literal

from msgspec.structs import replace

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    CachePoints,
    Codec,
    DecodeContext,
    EncodeContext,
    EnumString,
    Failure,
    FailureField,
    Filled,
    Hint,
    Implied,
    MappedEnum,
    MessageList,
    Named,
    OneOf,
    Opaque,
    Rest,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextParts,
    ToolOrMode,
    Union,
    Verbatim,
    Words,
    enum_at,
    foreign,
    free_text_row,
    is_free_text,
    list_of,
    object_of,
    parse,
    reasons,
    write,
)
from contentmodel.content import hosted
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ConfigurationContent, ErrorContent, ToolChangeContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.errors import DecodeError
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, FunctionTool, HostedTool, ResponseFormat
from contentmodel_adapters.anthropic.models import DISPLAYS, EFFORTS, MODES
from contentmodel_adapters.anthropic.shared import NO_PARAMETERS, ONE_TOOL, without_parameters_row
from contentmodel_adapters.common.first_turn import BEGUN_BEFORE, without_begun
from contentmodel_adapters.common.hosted import Current, Hosted

# -- lists of blocks ---------------------------------------------------------------------------------------------------


class CachedBlocks(Blocks[Any]):
    """A list of blocks. A cache point after a block becomes an attribute of its content.

    `key` is the only key of a cache point's block. A cache point that follows no block is a block of the union.
    """

    def __init__(self, union: Union, points: CachePoints, key: str) -> None:
        super().__init__(union)
        self._points, self._key = points, key

    def decode(self, value: list[Any], context: DecodeContext, container: Any, key: str) -> list[Any]:
        contents: list[Any] = self.union.decode_list(value, context)
        for wire in value:
            if wire.__class__ is dict and self._key in wire:
                break
        else:
            return contents
        return self._with_points(contents, value, context) if len(contents) == len(value) else contents

    def _with_points(self, contents: list[Any], wires: list[Any], context: DecodeContext) -> list[Any]:
        merged: list[Any] = []
        places: list[int] = []
        takes_point = False
        for place, (content, wire) in enumerate(zip(contents, wires, strict=True)):
            is_point = wire.keys() == {self._key} and self._points.holds(wire[self._key])
            if is_point and takes_point:
                point = self._points.row.decode(wire[self._key], context)
                context.trace(self._points.row, [point], wire, self._key, spread=False)
                merged[-1] = replace(merged[-1], cache_point=point)
            else:
                merged.append(content)
                places.append(place)
            takes_point = wire.get(self._key) is None and content.__class__ is not UnknownContent
        for content, place in zip(merged, places, strict=True):
            context.trace(self.union, [content], wires, place, spread=False)
        return merged

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        points = list(map(getattr, value, repeat("cache_point"), repeat(None)))
        if points.count(None) == len(points):
            return self.union.encode_list(value, context) or None
        wires: list[Any] = []
        for content, point in zip(value, points, strict=True):
            blocks = self.union.encode_list([content], context)
            wires += blocks
            if point is not None and not blocks:
                context.report_loss(point, None, reasons.CACHE_POINT)
            elif point is not None and (wire := self._points.encode(point, context, None)) is not None:
                wires.append({self._key: wire})
        return wires or None


class UncachedBlocks(Blocks[Any]):
    """A list of blocks of the same union in a place that has no cache points, such as the content of a result."""

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        for content in value:
            if getattr(content, "cache_point", None) is not None:
                context.report_loss(content.cache_point, None, reasons.CACHE_POINT)
        return super().encode(value, context, owner)


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
    match = _MAKER.search(name)
    if "claude" in name or (match and match[1] == CLAUDE):
        return CLAUDE
    return f"{ISSUER}-{match[1]}" if match else None


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
_QUOTED = Verbatim("sourceContent")


def _located(name: str, unit: str) -> Row:
    at, index = f"location.{name}", "searchResultIndex" if name == "searchResultLocation" else "documentIndex"
    fields: dict[str, Spec] = {
        f"{at}.{index}": "document_index",
        f"{at}.start": "location.start",
        f"{at}.end": "location.end",
        **({"source": "url"} if name == "searchResultLocation" else {}),
    }
    return Row(name, Citation, {**_SOURCE, **fields}, Implied({"location.unit": unit}), verbatim=_QUOTED)


def _citation_row(wire: dict[str, Any]) -> str:
    location = object_of(wire, "location")
    return next((name for name in (*_UNITS, "web") if location.get(name).__class__ is dict), "source")


CITATIONS = TABLE.union(
    "citation",
    [
        Row("web", Citation, {**_SOURCE, "location.web.url": "url"}, verbatim=_QUOTED),
        *(_located(name, unit) for name, unit in _UNITS.items()),
        Row("source", Citation, {**_SOURCE, "source": "url"}, verbatim=_QUOTED),
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
    Row("citationsContent", TextContent, CITED, Silent(CACHED), verbatim=Verbatim("citationsContent.content")),
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

# -- calls and results -------------------------------------------------------------------------------------------------

ARGUMENTS = ArgumentsObject()


STATUS = Words({"success": False, "error": True})
"""The status of a result: whether the tool failed."""
CALL: dict[str, Spec] = {
    "toolUse.toolUseId": "call_id",
    "toolUse.name": "name",
    "toolUse.input": ("arguments", ARGUMENTS),
}
HOSTED: dict[str, tuple[type[Any], type[Any]]] = {
    "nova_grounding": (hosted.WebSearchToolCallContent, hosted.WebSearchToolResultContent),
    "nova_code_interpreter": (hosted.CodeInterpreterToolCallContent, hosted.CodeInterpreterToolResultContent),
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
    members = tuple(_SOURCES) if kind == "document" else ("bytes", "s3Location")
    for member, value in object_of(medium, "source").items():
        if member in members and isinstance(value, _SOURCES[member]):
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
_ON_SERVER_FAILURE = Failure(FailureField("toolResult.status", ("error",), failed="error"), texts_are_errors=True)


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
    *(
        Row(tag, ToolChangeContent, {f"{tag}.tool": ("tools", ONE_TOOL)}, Implied({"action": action}), Silent(CACHED))
        for tag, action in (("toolAddition", "add"), ("toolRemoval", "remove"))
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


def _usual(content: Any, rows: list[Row]) -> Row | str | None:
    kind = content.__class__
    if kind is TextContent:
        return "citationsContent" if content.annotations else rows[0]
    if kind is ReasoningContent:
        return rows[content.protected is not None and content.protected.kind == "redacted"]
    if kind is DataContent:
        return "document.text" if content.text is not None else f"{content.media_kind or 'document'}.bytes"
    if kind is UriContent:
        return f"{content.media_kind}.s3Location"
    if kind is DocumentContent:
        return rows[content.uri is None or content.title is None]
    return rows[content.action != "add"] if kind is ToolChangeContent else rows[0]


SYSTEM = TABLE.union("system block", [TEXT, GUARDED, MEDIA[-1], OTHERS[-1]], find=_row_of, prefer=_usual)
ROWS = [*TEXTS, GUARDED, *MEDIA, *NESTED, *CALLS, *RESULTS, *REASONING, *OTHERS]
CONTENT = TABLE.union(
    "content block",
    [*ROWS, *FAILED],
    find=_row_of,
    prefer=_usual,
    foreign_types={row.model for row in ROWS},
)


# -- definitions of tools ----------------------------------------------------------------------------------------------

SYSTEM_TOOLS = {"nova_grounding": "web_search", "nova_code_interpreter": "code_interpreter"}
"""The tools that Bedrock runs, for Nova 2 (docs.aws.amazon.com/nova/latest/nova2-userguide, seen 2026-11-23)."""
CURRENT: Current = {kind: (Hosted(name, name),) for name, kind in SYSTEM_TOOLS.items()}
_SCHEMA = "toolSpec.inputSchema.json"


def _row_of_tool(wire: dict[str, Any]) -> str | None:
    system = wire.get("systemTool")
    if system.__class__ is dict:
        name = system.get("name")
        return name if name.__class__ is str and name in SYSTEM_TOOLS else "systemTool"
    if wire.get("toolSpec").__class__ is not dict:
        return None
    schema = object_of(wire["toolSpec"], "inputSchema").get("json")
    if schema == NO_PARAMETERS:
        return "without parameters"
    return "free text" if schema.__class__ is dict and is_free_text(schema) else "toolSpec"


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is FunctionTool:
        return rows[1] if tool.parameters is None else rows[0]
    if tool.__class__ is not HostedTool:
        return rows[0]
    return next((row for row in rows if row.implied.get("kind") == tool.kind), None)


_OTHER = {"kind": "other"}
FUNCTION = {f"toolSpec.{key}": key for key in ("name", "description", "strict")} | {_SCHEMA: "parameters"}
TOOLS = TABLE.union(
    "tool",
    [
        Row("toolSpec", FunctionTool, FUNCTION, Silent(CACHED), Filled({_SCHEMA: NO_PARAMETERS})),
        without_parameters_row("without parameters", _SCHEMA, at="toolSpec.", silent=(CACHED,)),
        free_text_row("free text", _SCHEMA, at="toolSpec.", silent=(CACHED,)),
        *(
            Row(
                name,
                HostedTool,
                {"systemTool.name": "name"},
                Implied({"kind": kind}),
                Silent(CACHED, "settings"),
                Filled({"systemTool.name": name}),
            )
            for name, kind in SYSTEM_TOOLS.items()
        ),
        Row("systemTool", HostedTool, {"systemTool.name": "name"}, Implied(_OTHER), Silent(CACHED, "settings")),
        # A cache point that follows no tool.
        Row(
            "cachePoint",
            HostedTool,
            {"cachePoint": "settings"},
            Implied({"kind": "cachePoint"}),
            Silent(CACHED, "name"),
        ),
    ],
    find=lambda wire: "cachePoint" if wire.get("cachePoint").__class__ is dict else _row_of_tool(wire),
    other=Row("other", HostedTool, {}, Implied(_OTHER), Rest("settings"), Silent(CACHED, "name")),
    prefer=_usual_tool,
)
DEFINITIONS = CachedBlocks(TOOLS, POINTS, "cachePoint")


# -- tool choice ---------------------------------------------------------------------------------------------------


_MODES = {"auto": "auto", "required": "any"}
TABLE.known_values("toolChoice", *_MODES.values(), "tool")
TOOL_CHOICE = ToolOrMode("tool.name", {}, {mode: {key: {}} for mode, key in _MODES.items()})


class ParallelCalls(Codec[bool]):
    """Parallel calls, in the tool choice of Claude's own API, which needs a type (BerriAI/litellm#34347, 2026-11-27).

    Converse has no setting for them.
    """

    classes = (dict,)
    identity = False

    def holds(self, value: object) -> bool:
        flag = value.get(_FLAG) if isinstance(value, dict) else None
        return flag.__class__ is bool and value == {"type": "auto", _FLAG: flag}

    def decode(self, value: dict[str, Any], context: DecodeContext, container: Any, key: str) -> bool:
        return not value[_FLAG]

    def encode(self, value: bool, context: EncodeContext, owner: object) -> dict[str, Any]:
        return {"type": "auto", _FLAG: not value}

    def describe(self) -> str:
        return "tool choice"


_FLAG = "disable_parallel_tool_use"
PARALLEL = ParallelCalls()


# -- output format -------------------------------------------------------------------------------------------------


class SchemaText(Codec[dict[str, Any]]):
    """A JSON Schema as JSON text."""

    classes = (str,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        try:
            return value.__class__ is str and parse(value).__class__ is dict
        except DecodeError:
            return False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> dict[str, Any]:
        schema: dict[str, Any] = parse(value)
        return schema

    def encode(self, value: dict[str, Any], context: EncodeContext, owner: object) -> str:
        return write(value).decode()

    def describe(self) -> str:
        return "json"


_DEFINITION = "structure.jsonSchema"
SCHEMA = SchemaText()


def _has_schema(wire: dict[str, Any]) -> bool:
    schema = object_of(object_of(wire, "structure"), "jsonSchema").get("schema")
    return wire.get("type") == "json_schema" and SCHEMA.holds(schema)


OUTPUT_FORMAT = TABLE.union(
    "outputConfig.textFormat",
    [
        Row(
            "json_schema",
            ResponseFormat,
            {
                f"{_DEFINITION}.schema": ("schema", SCHEMA),
                f"{_DEFINITION}.name": "name",
                f"{_DEFINITION}.description": "description",
            },
            Implied({"kind": "json_schema"}),
            Silent("media_type"),
            constants={"type": "json_schema"},
            verbatim=Verbatim(f"{_DEFINITION}.schema"),
        )
    ],
    # Another type, or a text that is not a schema, is kept as it is.
    find=lambda wire: "json_schema" if _has_schema(wire) else None,
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda response_format, rows: (
        rows[0] if response_format.kind == "json_schema" and response_format.schema is not None else None
    ),
)


# -- messages ----------------------------------------------------------------------------------------------------------

# Results of tools and the texts that follow them are in one message of the user.

_OWN_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}
ROLES = Roles(API, _OWN_ROLES, {**_OWN_ROLES, "developer": "system", "tool": "user"})
BEFORE = Hint[str](API, *BEGUN_BEFORE)
BLOCKS = CachedBlocks(CONTENT, POINTS, "cachePoint")
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", BLOCKS)},
    Silent("message_id"),
    Filled({"content": []}),
)
TABLE.known_values("message.roles", *_OWN_ROLES)
JOINED = Hint[Literal[True]](API, "joined", "the message is the rest of a message that begins with results of tools")


class Messages(MessageList):
    """The list of messages of a request. A user's message that begins with results of tools is two messages."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        decode: Any = MESSAGE.functions[0]
        messages: list[ChatMessage] = [decode(wire, context) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, lambda message: MESSAGE)
        parts: list[ChatMessage] = []
        for message in messages:
            is_tool = message.role == "user" and bool(message.contents) and _is_result(message.contents[0])
            parts += _by_author(message, context) if is_tool else [message]
        return without_begun(parts, context, BEFORE)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        encode = MESSAGE.functions[1]
        wires: list[dict[str, Any]] = []
        for message in value:
            wire, origin = encode(message, context), message.origin
            begun = None if message.extra is None else BEFORE.of(message, API)
            if begun is not None:
                wire["content"] = [{"text": begun}]
            is_own = origin is not None and origin.api == API
            if not wire.get("content") and (not is_own or (origin is not None and origin.is_answer)):
                # The API refuses a message without content. An answer may have broken off before its first block.
                if origin is not None and origin.is_answer:
                    foreign.leave_empty(message, context)
                continue
            joins = JOINED.of(message, API) is not None if is_own else wire["role"] != "system"
            if joins and wires and wires[-1].get("role") == wire["role"]:
                content = [*list_of(wires[-1], "content"), *list_of(wire, "content")]
                wires[-1] = {**wires[-1], **wire, "content": content}
            else:
                wires.append(wire)
        return wires


def _by_author(message: ChatMessage, context: DecodeContext) -> list[ChatMessage]:
    """Return the results at the start of a user's message as a message of the role "tool", and the rest as another."""
    results = list(takewhile(_is_result, message.contents))
    other_contents = message.contents[len(results) :]
    tool = ChatMessage(
        role="tool", contents=results, origin=message.origin, extra=None if other_contents else message.extra
    )
    parts = [tool, JOINED.on(replace(message, contents=other_contents), API, True)] if other_contents else [tool]
    for part in parts:
        context.replaced(message, part)
    return parts


def _is_result(content: object) -> bool:
    return content.__class__ is FunctionResultContent


# -- prompts -------------------------------------------------------------------------------------------------------

_PROMPT = re.compile(r"^arn:aws(-[^:]+)?:bedrock:[^:]*:[^:]*:prompt/")


def is_of_prompt(payload: Mapping[str, Any]) -> bool:
    """Return whether a request is for a prompt of Prompt management, which may have messages of its own.

    The ARN of the prompt takes the place of the model. In HTTP it is in the path (botocore 1.43.117, ConverseRequest,
    which requires only `modelId`; seen 2026-11-27).
    """
    model = payload.get("modelId")
    return bool(_PROMPT.match(model)) if isinstance(model, str) else isinstance(payload.get("promptVariables"), dict)


def require_messages(wire: dict[str, Any], context: DecodeContext) -> None:
    """Add a fault if a request has no list of messages. The request for a prompt may have none."""
    if wire.get("messages") is None:
        if not is_of_prompt(wire):
            context.fault(wire, "messages", "missing array")
    elif wire["messages"].__class__ is not list:
        context.expected(wire, "messages", "array", wire["messages"])


# -- requests ----------------------------------------------------------------------------------------------------------

OF_MODEL = "additionalModelRequestFields"
"""The field of requests that holds those of the model's own API."""
_TIERS = ("priority", "default", "flex", "reserved")
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        # In HTTP, the model is in the path; in the parameters of the SDKs it is a field.
        "modelId": "model",
        "system": ("instructions", CachedBlocks(SYSTEM, POINTS, "cachePoint")),
        "messages": ("messages", Messages()),
        "toolConfig.tools": ("tools", DEFINITIONS),
        "toolConfig.toolChoice": ("options.tool_choice", TOOL_CHOICE),
        "inferenceConfig.maxTokens": "options.max_output_tokens",
        "inferenceConfig.temperature": "options.temperature",
        "inferenceConfig.topP": "options.top_p",
        "inferenceConfig.stopSequences": "options.stop_sequences",
        f"{OF_MODEL}.tool_choice": ("options.parallel_tool_calls", PARALLEL),
        f"{OF_MODEL}.top_k": "options.top_k",
        f"{OF_MODEL}.thinking.type": enum_at("options.reasoning.mode", *MODES),
        f"{OF_MODEL}.thinking.budget_tokens": "options.reasoning.budget_tokens",
        f"{OF_MODEL}.thinking.display": enum_at("options.reasoning.summary", *DISPLAYS),
        "outputConfig.effort": enum_at("options.reasoning.effort", *EFFORTS),
        "outputConfig.textFormat": ("options.response_format", OneOf(OUTPUT_FORMAT)),
        "requestMetadata": "options.metadata",
        "serviceTier.type": enum_at("options.service_tier", *_TIERS),
    },
    Silent("options.stream"),
)
TABLE.known_values("serviceTier.type", *_TIERS)
TABLE.keep(
    "request",
    *("guardrailConfig", "promptVariables", "additionalModelResponseFieldPaths"),
    "performanceConfig",
)
