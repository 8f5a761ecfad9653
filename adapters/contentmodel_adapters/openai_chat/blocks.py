"""The table of Chat Completions: content parts, tool calls, reasoning of the compatible hosts, citations, usage.

Sources: openai 3.52 (types/chat), and recorded traffic for the hosts' own fields; seen November 2026.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsText,
    CachePoints,
    DataUri,
    EnumString,
    Field,
    Filled,
    Implied,
    Opaque,
    ProviderOnly,
    Row,
    Shape,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    reasons,
    row,
    write,
)
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
)
from contentmodel.usage import Usage
from contentmodel_adapters.shared.media import AUDIO
from contentmodel_adapters.shared.usage import ReasoningInside

API = "openai-chat"
TABLE = Table(API)

DATA_URI = DataUri()


def _refusal(message: str) -> dict[str, Any]:
    return {"message": message, "code": "refusal"}


def _usual_media(content: Any, rows: list[Row]) -> Row | None:
    """Return the row that OpenAI's own API has for a medium; None if there is none. Only some hosts have video_url."""
    by_name = {r.name: r for r in rows}
    if content.__class__ is UriContent:
        return by_name["image_url"] if content.media_kind == "image" else None
    for pattern, name in (("image/*", "image_url.data"), ("audio/*", "input_audio")):
        if name in by_name and content.is_media_type(pattern):
            return by_name[name]
    return None if content.is_media_type("video/*") else by_name.get("file.data") or rows[0]


# types/chat/chat_completion_content_part_text_param.py of openai 3.54, seen 2026-11-23.
CACHE_POINT = TABLE.record(
    "prompt_cache_breakpoint",
    CachePoint,
    {"ttl": ("ttl", EnumString("ttl", "30m", "12h", reason=reasons.CACHE_LIFETIME))},
    constants={"mode": "explicit"},
)
CACHED: dict[str, Spec] = {"prompt_cache_breakpoint": ("cache_point", CachePoints(CACHE_POINT))}
"""The field of content parts that end a prompt to cache."""


def _part(name: str, tag: str, model: type[Any], fields: dict[str, Any], *others: Field) -> Row:
    return Row(name, model, {**fields, **CACHED}, *others, constants={"type": tag})


TEXT = row("text", TextContent, {"text": "text", **CACHED}, Silent("annotations"))
REFUSAL = row("refusal", ErrorContent, {"refusal": "message"}, Implied({"code": "refusal"}), Filled({"refusal": ""}))

# How closely a model looks at an image (types/chat/chat_completion_content_part_image_param.py of openai 3.54,
# seen 2026-11-22).
DETAIL = EnumString("detail", "auto", "low", "high", "original")

CONTENT = TABLE.union(
    "content part",
    [
        TEXT,
        REFUSAL,
        _part(
            "image_url.data",
            "image_url",
            DataContent,
            {"image_url.url": (("media_type", "data"), DATA_URI), "image_url.detail": ("detail", DETAIL)},
        ),
        _part(
            "image_url",
            "image_url",
            UriContent,
            {"image_url.url": "uri", "image_url.detail": ("detail", DETAIL)},
            Implied({"kind": "image"}),
        ),
        _part("video_url.data", "video_url", DataContent, {"video_url.url": (("media_type", "data"), DATA_URI)}),
        _part("video_url", "video_url", UriContent, {"video_url.url": "uri"}, Implied({"kind": "video"})),
        row(
            "input_audio",
            DataContent,
            {"input_audio.data": "data", "input_audio.format": ("media_type", AUDIO), **CACHED},
        ),
        _part(
            "file.data",
            "file",
            DataContent,
            {"file.file_data": (("media_type", "data"), DATA_URI), "file.filename": "name"},
        ),
        _part(
            "file.id",
            "file",
            HostedFileContent,
            {"file.file_id": "file_id", "file.filename": "name"},
            Implied({"kind": "document"}),
        ),
    ],
    prefer=_usual_media,
)
# Tool results are text (types/chat/chat_completion_tool_message_param.py); some hosts take more.
RESULT_CONTENT = TABLE.union(
    "tool result part",
    CONTENT.rows,
    prefer=_usual_media,
    foreign_types=(TextContent,),
)


def _usual_call(call: Any, rows: list[Row]) -> Row | None:
    """Return the row of a call; None for a hosted call that was not decoded from this API."""
    return None if call.__class__ is HostedToolCallContent else rows[0]


TOOL_CALLS = TABLE.union(
    "tool call",
    [
        row(
            "function",
            FunctionCallContent,
            {"id": "call_id", "function.name": "name", "function.arguments": ("arguments", ArgumentsText())},
            Filled({"function.arguments": "{}"}),
        ),
        row(
            "custom",
            CustomToolCallContent,
            {"id": "call_id", "custom.name": "name", "custom.input": "arguments"},
            Filled({"custom.input": ""}),
        ),
        # Some hosts have built-in tools whose calls the application answers: Moonshot's are a function under another
        # type (platform.moonshot.ai/docs/guide/use-web-search, seen 2026-11-22).
        Row(
            "other.function",
            HostedToolCallContent,
            {"id": "call_id", "function.name": "name", "function.arguments": ("arguments", ArgumentsText())},
            Implied({"executor": "client"}),
            shape=Shape(("",), {"id": str, "function": dict}),
        ),
        Row(
            "other",
            HostedToolCallContent,
            {"id": "call_id", "type": "name", "arguments": "arguments"},
            Implied({"executor": "client"}),
            shape=Shape(("",), {"id": str}),
        ),
    ],
    default="function",
    prefer=_usual_call,
)

# reasoning_details is OpenRouter's (openrouter.ai/docs, "Reasoning tokens", seen November 2026). The signatures in it
# are those of the model's maker, under a format name: they are sent back to the same API only.
REASONING_DETAILS = TABLE.union(
    "reasoning detail",
    [
        row(
            "reasoning.text",
            ReasoningContent,
            {"text": "text", "signature": ("protected", Opaque(API, "signature"))},
        ),
        row("reasoning.summary", ReasoningContent, {"summary": "text"}, Implied({"kind": "summary"})),
        row("reasoning.encrypted", ReasoningContent, {"data": ("protected", Opaque(API, "encrypted"))}),
    ],
)

AUDIO_ANSWER = TABLE.union(
    "audio",
    [
        Row("audio.data", DataContent, {"data": "data", "transcript": "transcript"}),
        Row("audio.id", HostedFileContent, {"id": "file_id"}, Implied({"kind": "audio"})),
    ],
    find=lambda wire: "audio.data" if wire.get("data").__class__ is str else "audio.id",
)

FUNCTION_CALL = TABLE.union(
    "function_call",
    [Row("function_call", FunctionCallContent, {"name": "name", "arguments": "arguments"})],
    find=lambda wire: "function_call",
)

CITATIONS = TABLE.union(
    "annotation",
    [
        row(
            "url_citation",
            Citation,
            {
                "url_citation.url": "url",
                "url_citation.title": "title",
                "url_citation.start_index": "span.start",
                "url_citation.end_index": "span.end",
            },
        ),
        # Groq's (groq 1.7, types/chat/chat_completion_message.py, seen 2026-11-23).
        row(
            "function_citation",
            Citation,
            {
                "function_citation.tool_call_id": "call_id",
                "function_citation.start_index": "span.start",
                "function_citation.end_index": "span.end",
            },
        ),
    ],
    other=Row("other", Citation, {}),
    prefer=lambda citation, rows: rows[0] if citation.url is not None else None,
)

TOOL_RESULT = Row(
    "tool",
    FunctionResultContent,
    {
        "tool_call_id": "call_id",
        "name": ("name", ProviderOnly("name", str, silent=True)),
        "content": ("outputs", TextOrBlocks(RESULT_CONTENT, "string")),
    },
    Filled({"content": ""}),
    constants={"role": "tool"},
)
FUNCTION_RESULT = Row(
    "function",
    FunctionResultContent,
    {"name": "name", "content": ("outputs", TextOrBlocks(RESULT_CONTENT, "string"))},
    constants={"role": "function"},
)
RESULTS = TABLE.union("result message", [TOOL_RESULT, FUNCTION_RESULT], tag="role")

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "prompt_tokens": "input_tokens",
        "completion_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "prompt_tokens_details.cached_tokens": "cache_read_tokens",
        "prompt_tokens_details.cache_write_tokens": "cache_write_tokens",
        "prompt_tokens_details.audio_tokens": "input_audio_tokens",
        "completion_tokens_details.reasoning_tokens": "reasoning_tokens",
        "completion_tokens_details.audio_tokens": "output_audio_tokens",
        "completion_tokens_details.accepted_prediction_tokens": "accepted_prediction_tokens",
        "completion_tokens_details.rejected_prediction_tokens": "rejected_prediction_tokens",
    },
    ReasoningInside("prompt_tokens", "completion_tokens"),
    Silent("cached_inside"),
)

ERROR = TABLE.record("error", ErrorContent, {"message": "message", "code": "code"}, Silent("kind"))


def detail_names(entry: dict[str, Any]) -> tuple[bytes, ...]:
    """Return the keys that identify the earlier detail that a detail continues: index and type; both with the id."""
    if "index" not in entry:
        return ()
    kind = [entry["index"], entry.get("type")]
    return write(kind), write([*kind, entry.get("id")])
