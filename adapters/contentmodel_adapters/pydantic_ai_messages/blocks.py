"""The table of messages of Pydantic AI: the parts of requests and responses, and what they contain.

Source: pydantic_ai/messages.py of pydantic-ai-slim 2.68.0 (seen 2026-11-23). The field `part_kind` has the type of a
part, `kind` that of a message and of a part of a prompt.
"""

from __future__ import annotations

import json
from typing import Any

from contentmodel.authoring import (
    LIST,
    Aliases,
    Blocks,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    FinishReasons,
    Implied,
    NonEmpty,
    OnlyItem,
    Opaque,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    parse,
)
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent, ToolChangeContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
)
from contentmodel.errors import ContentModelError
from contentmodel.message import ChatMessage
from contentmodel.usage import Usage
from contentmodel_adapters.pydantic_ai_messages import hosted
from contentmodel_adapters.pydantic_ai_messages.values import (
    API,
    Citations,
    Outcomes,
    Prompt,
    Recorded,
    Returned,
    Signature,
    Time,
)
from contentmodel_adapters.shared.usage import UsageRecord

TABLE = Table(API)
TIME: Spec = ("created", Time())

# -- files and prompts -------------------------------------------------------------------------------------------------


def _link(kind: str) -> Row:
    detail = {"vendor_metadata.detail": "detail"} if kind == "image" else {}
    return Row(
        f"{kind}-url",
        UriContent,
        {"url": "uri", "media_type": "media_type", **detail},
        Implied({"kind": kind}),
        Filled({"media_type": None}),
        Silent("cache_point"),
        constants={"kind": f"{kind}-url"},
    )


def _binary(name: str, **options: Any) -> Row:
    fields: dict[str, Spec] = {"data": ("data", Required()), "media_type": "media_type"}
    detail: dict[str, Spec] = {"vendor_metadata.detail": "detail"}
    return Row(name, DataContent, {**fields, **detail}, Silent("cache_point"), constants={"kind": "binary"}, **options)


class _JsonText(Codec[str]):
    """A JSON value without a text of its own, as compact JSON text with sorted keys."""

    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return value is not None and (not self.classes or value.__class__ in self.classes)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def encode(self, value: str, context: EncodeContext, owner: object) -> Any:
        try:
            return parse(value)
        except ContentModelError:
            return value

    def describe(self) -> str:
        return "any"


def _usual_file(content: Any, rows: list[Row]) -> Row | str:
    return f"{content.media_kind}-url" if content.__class__ is UriContent else rows[0]


PROMPT_PARTS = TABLE.union(
    "part of a prompt",
    [
        Row(
            "text-content",
            TextContent,
            {"content": "text"},
            Silent("cache_point"),
            constants={"kind": "text-content"},
        ),
        Row(
            "structured-content",
            TextContent,
            {"content": ("text", NonEmpty(mandatory=True))},
            Silent("cache_point"),
            constants={"kind": "structured-content"},
        ),
        Row(
            "structured-content.value",
            TextContent,
            {"value": ("text", _JsonText())},
            Silent("cache_point"),
            constants={"kind": "structured-content"},
        ),
        *map(_link, ("image", "audio", "video", "document")),
        _binary("binary"),
        Row(
            "uploaded-file",
            HostedFileContent,
            {"file_id": "file_id", "media_type": "media_type", "vendor_metadata.detail": "detail"},
            Silent("cache_point", "kind"),
            constants={"kind": "uploaded-file"},
        ),
    ],
    tag="kind",
    by_fields=True,
    prefer=_usual_file,
)
CACHE_POINT = TABLE.record("cache point", CachePoint, {"ttl": "ttl"}, constants={"kind": "cache-point"})
USER_PROMPT = TABLE.record(
    "user prompt",
    ChatMessage,
    {"content": ("contents", Prompt(PROMPT_PARTS, CACHE_POINT)), "timestamp": TIME},
    Implied({"role": "user"}),
    Filled({"content": ""}),
    constants={"part_kind": "user-prompt"},
)

# -- parts of a request with one content -------------------------------------------------------------------------------


RESULT: dict[str, Spec] = {
    "tool_name": ("name", Required()),
    "content": ("outputs", Returned(PROMPT_PARTS)),
    "tool_call_id": "call_id",
    "metadata": "artifact",
    "outcome": (("outcome", "is_error"), Outcomes()),
}
TOLD = (
    *("retry-feedback", "retry-feedback.errors", "retry-prompt.text", "retry-prompt.errors"),
    *("speech", "speech.audio", "speech.silent"),
)
"""The names of the rows of requests' parts, other than prompts, that are texts of the user or the application."""


def _spoken(speaker: str) -> list[Row]:
    kind = {"part_kind": "speech"}
    fill = Filled({"speaker": speaker})
    audio: dict[str, Spec] = {
        "audio.data": ("data", Required()),
        "audio.media_type": "media_type",
        "transcript": "transcript",
    }
    return [
        Row("speech.audio", DataContent, audio, Filled({"speaker": speaker, "audio.kind": "binary"}), constants=kind),
        Row("speech", TextContent, {"transcript": "text"}, fill, constants=kind),
        Row("speech.silent", TextContent, {}, Implied({"text": ""}), fill, constants=kind),
    ]


def _feedback(name: str, kind: str) -> list[Row]:
    """Return the rows of feedback of the application: a message, or a list of errors as JSON text."""
    constants = {"part_kind": kind}
    errors: dict[str, Spec] = {"content": ("text", _JsonText(list))}
    return [
        Row(f"{kind}.errors", TextContent, errors, constants=constants),
        Row(name, TextContent, {"content": "text"}, constants=constants),
    ]


def _configuration(kind: str, name: str | None = None) -> Row:
    """Return the row of a part that is not sent to models. Its fields stay in the residue."""
    return Row(name or kind, ConfigurationContent, {}, Implied({"kind": kind}), constants={"part_kind": kind})


def _usual_part(content: Any, rows: list[Row]) -> Row | None:
    if content.__class__ is ConfigurationContent:
        return next((row for row in rows if row.implied["kind"] == content.kind), None)
    return rows[0]


REQUEST_PARTS = TABLE.union(
    "request part",
    [
        Row("system-prompt", TextContent, {"content": "text"}, constants={"part_kind": "system-prompt"}),
        Row(
            "tool-return",
            FunctionResultContent,
            RESULT,
            Recorded({"content": "", "tool_name": ""}),
            constants={"part_kind": "tool-return"},
        ),
        Row(
            "retry-prompt",
            FunctionResultContent,
            {key: spec for key, spec in RESULT.items() if key not in ("metadata", "outcome")},
            Implied({"is_error": True}),
            constants={"part_kind": "retry-prompt"},
        ),
        *_feedback("retry-prompt.text", "retry-prompt"),
        *_feedback("retry-feedback", "retry-feedback"),
        Row("instruction-delta", TextContent, {"content": "text"}, constants={"part_kind": "instruction-delta"}),
        *_spoken("user"),
        Row("compaction", CompactionContent, {"content": "text"}, constants={"part_kind": "compaction"}),
        Row(
            "tool-availability-delta",
            ToolChangeContent,
            {"tools_added": ("tools", LIST)},
            Aliases({"added": "tools_added"}),
            Implied({"action": "add"}),
            constants={"part_kind": "tool-availability-delta"},
        ),
        Row(
            "model-settings-delta",
            ConfigurationContent,
            {"settings": "settings"},
            Implied({"kind": "model-settings-delta"}),
            constants={"part_kind": "model-settings-delta"},
        ),
        _configuration("capability-load-delta"),
        _configuration("instruction-baseline"),
        _configuration("instruction-delta", "instruction-delta.withdrawn"),
    ],
    tag="part_kind",
    by_fields=True,
    prefer=_usual_part,
)
SHELL = TABLE.record(
    "request part with one content", ChatMessage, {"timestamp": TIME}, Implied({"role": "user"}), Silent("contents")
)

# -- parts of a response -----------------------------------------------------------------------------------------------

THOUGHT = "provider_details.thought_signature"
SIGNED: dict[str, Spec] = {THOUGHT: ("protected", Opaque("google", "signature"))}
CALL: dict[str, Spec] = {"args": "arguments", "tool_call_id": "call_id", **SIGNED}
HOSTED: dict[str, Spec] = {
    "content": ("outputs", Returned(PROMPT_PARTS)),
    "tool_call_id": "call_id",
    "metadata": "artifact",
    "outcome": (("outcome", "is_error"), Outcomes()),
    **SIGNED,
}


def _usual_response_part(content: Any, rows: list[Row]) -> Row | None:
    """Return the row of a content: by the issuer of its opaque state if there are several."""
    issuer = None if content.protected is None else content.protected.issuer
    if content.__class__ is DataContent and content.transcript is not None:
        issuer = "audio"
    usual = next(row for row in rows if "." not in row.name)
    return next((row for row in rows if row.name.endswith(f".{issuer}")), usual)


SOURCES = TABLE.union(
    "source",
    [
        Row(
            "web",
            Citation,
            {"url": ("url", Required()), "title": "title", "excerpts": ("cited_text", OnlyItem())},
            Silent("span"),
            constants={"kind": "web"},
        ),
        Row(
            "document",
            Citation,
            {"document_id": "file_id", "title": "title", "excerpts": ("cited_text", OnlyItem())},
            Silent("span"),
            constants={"kind": "document"},
        ),
    ],
    tag="kind",
    prefer=lambda content, rows: (
        rows[0]
        if content.url is not None
        else rows[1]
        if content.file_id or content.title or content.cited_text
        else None
    ),
)
THINKING = {"part_kind": "thinking"}
COMPACTION: dict[str, Spec] = {"content": "text"}
RESPONSE_PARTS = TABLE.union(
    "response part",
    [
        Row(
            "text",
            TextContent,
            {"content": "text", "citations": ("annotations", Citations(SOURCES)), **SIGNED},
            constants={"part_kind": "text"},
        ),
        Row(
            "thinking.google",
            ReasoningContent,
            {"content": "text", THOUGHT: ("protected", Opaque("google", "signature", mandatory=True))},
            constants=THINKING,
        ),
        Row(
            "thinking",
            ReasoningContent,
            {"content": "text", "signature": ("protected", Signature())},
            Filled({"content": ""}),
            constants=THINKING,
        ),
        Row(
            "tool-call",
            FunctionCallContent,
            {"tool_name": ("name", Required()), **CALL},
            Filled({"tool_name": ""}),
            constants={"part_kind": "tool-call"},
        ),
        *hosted.rows(CALL, HOSTED, SIGNED),
        Row(
            "file",
            DataContent,
            {"content.data": ("data", Required()), "content.media_type": "media_type", **SIGNED},
            Filled({"content.kind": "binary"}),
            constants={"part_kind": "file"},
        ),
        *_spoken("assistant"),
        *(
            Row(
                f"compaction.{issuer}",
                CompactionContent,
                {**COMPACTION, "provider_details.encrypted_content": ("protected", Opaque(issuer, "encrypted"))},
                constants={"part_kind": "compaction"},
                select=("provider_name", (issuer,)),
            )
            for issuer in ("openai", "anthropic")
        ),
        Row("compaction", CompactionContent, COMPACTION, constants={"part_kind": "compaction"}),
    ],
    tag="part_kind",
    by_fields=True,
    prefer=_usual_response_part,
)

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_tokens": "cache_read_tokens",
        "cache_write_tokens": "cache_write_tokens",
        "output_reasoning_tokens": "reasoning_tokens",
        "input_audio_tokens": "input_audio_tokens",
        "output_audio_tokens": "output_audio_tokens",
    },
    Aliases({"request_tokens": "input_tokens", "response_tokens": "output_tokens"}),
    Implied({"cached_inside": True, "reasoning_inside": True}),
)
FINISH = FinishReasons(
    {
        "stop": "stop",
        "length": "length",
        "content_filter": "content_filter",
        "tool_call": "tool_calls",
        "error": "error",
    },
    {
        "stop": "stop",
        "length": "length",
        "content_filter": "content_filter",
        "refusal": "content_filter",
        "tool_calls": "tool_call",
        "error": "error",
    },
    None,
)
RESPONSE = TABLE.record(
    "response",
    ChatMessage,
    {
        "parts": ("contents", Blocks(RESPONSE_PARTS)),
        "usage": ("usage", UsageRecord(USAGE)),
        "timestamp": TIME,
        "provider_response_id": "response_id",
        "finish_reason": ("finish_reason", FINISH),
    },
    Aliases({"vendor_id": "provider_response_id"}),
    Implied({"role": "assistant"}),
    Filled({"parts": []}),
    constants={"kind": "response"},
)
TABLE.known_values("message.kind", "request", "response")
TABLE.keep(
    "response",
    *("model_name", "model_id", "provider_name", "provider_url", "provider_details", "canonical_system"),
    *("run_id", "conversation_id", "metadata", "workspace_ref", "history_digest", "failed_attempts", "state"),
)
TABLE.keep("usage", "cache_write_1h_tokens", "cache_audio_read_tokens", "audio_seconds", "details", "cost")
