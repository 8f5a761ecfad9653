"""The table of messages of Pydantic AI: the parts of requests and responses, and what they contain.

Source: pydantic_ai/messages.py of pydantic-ai-slim 2.68.0 (seen 2026-11-23). The field `part_kind` has the type of a
part, `kind` that of a message and of a part of a prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from contentmodel.authoring import (
    LIST,
    Codec,
    DecodeContext,
    EncodeContext,
    EnumString,
    Field,
    Filled,
    FinishReasons,
    GuestBlocks,
    Implied,
    NonEmpty,
    OnlyItem,
    Opaque,
    Place,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    hints,
    parse,
    reasons,
)
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent, ToolChangeContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.errors import ContentModelError
from contentmodel.message import ChatMessage
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import UsageRecord
from contentmodel_adapters.frameworks.pydantic_ai import guests, hosted
from contentmodel_adapters.frameworks.pydantic_ai.hosted import part
from contentmodel_adapters.frameworks.pydantic_ai.values import (
    API,
    Citations,
    Outcomes,
    Prompt,
    Recorded,
    Returned,
    Signature,
    Time,
    issuer_of,
)
from contentmodel_adapters.frameworks.search_results import OrLinks, links

TABLE = Table(API)
TIME: Spec = ("created", Time())

# -- files and prompts -------------------------------------------------------------------------------------------------


def is_older(wire: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Return whether a wire object has an older name of a field, and none of the usual ones: `names` maps them."""
    return any(name in wire for name in names) and not any(name in wire for name in names.values())


def _item(
    kind: str,
    model: type[Any],
    fields: Mapping[str, Spec],
    *others: Field,
    form: str | None = None,
    silent: str = "",
    **options: Any,
) -> Row:
    """Return the row of a part of a prompt. The field `kind` names it."""
    name = kind if form is None else f"{kind}.{form}"
    unmapped = Silent("cache_point", silent) if silent else Silent("cache_point")
    return Row(name, model, fields, *others, unmapped, constants={"kind": kind}, **options)


DETAIL: dict[str, Spec] = {"vendor_metadata.detail": "detail"}


def _link(kind: str) -> Row:
    fields: dict[str, Spec] = {"url": "uri", "media_type": "media_type", **(DETAIL if kind == "image" else {})}
    return _item(f"{kind}-url", UriContent, fields, Implied({"kind": kind}), Filled({"media_type": None}))


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


def _is_named_by_link(wire: Mapping[str, Any]) -> bool:
    """Return whether the id of an uploaded file is a link, as those of Gemini's files, and of files in a bucket are.

    Source: `_validate_uploaded_file` of pydantic_ai/models/google.py, and models/bedrock.py (2.68.0).
    """
    file_id = wire.get("file_id")
    return file_id.__class__ is str and file_id.startswith(("https://", "gs://", "s3://"))


PROMPT_PARTS = TABLE.union(
    "part of a prompt",
    [
        _item("text-content", TextContent, {"content": "text"}),
        _item("structured-content", TextContent, {"content": ("text", NonEmpty(mandatory=True))}),
        _item("structured-content", TextContent, {"value": ("text", _JsonText())}, form="value"),
        *map(_link, ("image", "audio", "video", "document")),
        _item("binary", DataContent, {"data": ("data", Required()), "media_type": "media_type", **DETAIL}),
        _item(
            "uploaded-file",
            UriContent,
            {"file_id": "uri", "media_type": "media_type", **DETAIL},
            form="link",
            silent="kind",
            accepts=_is_named_by_link,
        ),
        _item(
            "uploaded-file",
            HostedFileContent,
            {"file_id": "file_id", "media_type": "media_type", **DETAIL},
            silent="kind",
        ),
    ],
    tag="kind",
    by_fields=True,
    prefer=_usual_file,
)
CACHE_POINT = TABLE.record(
    "cache point",
    CachePoint,
    {"ttl": ("ttl", EnumString("ttl", "5m", "1h", reason=reasons.CACHE_LIFETIME))},
    constants={"kind": "cache-point"},
)
USER_PROMPT = TABLE.record(
    "user prompt",
    ChatMessage,
    {"content": ("contents", Prompt(PROMPT_PARTS, CACHE_POINT)), "timestamp": TIME},
    Implied({"role": "user"}),
    Filled({"content": ""}),
    constants={"part_kind": "user-prompt"},
)

# -- parts of a request with one content -------------------------------------------------------------------------------

CONTENT: dict[str, Spec] = {"content": "text"}
RETURNED: dict[str, Spec] = {
    "content": ("outputs", Returned(PROMPT_PARTS)),
    "tool_call_id": "call_id",
    "metadata": "artifact",
    "outcome": (("outcome", "is_error"), Outcomes()),
}
FOUND: Spec = ("outputs", OrLinks(Returned(PROMPT_PARTS), links(TABLE)))
TOOL_NAME: dict[str, Spec] = {"tool_name": ("name", Required())}
TOLD = (
    *("retry-feedback", "retry-feedback.errors", "retry-prompt.text", "retry-prompt.errors"),
    *("speech", "speech.audio", "speech.silent"),
)
"""The names of the rows of requests' parts, other than prompts, that are texts of the user or the application."""


def _spoken(speaker: str) -> list[Row]:
    fill = Filled({"speaker": speaker})
    audio: dict[str, Spec] = {"audio.data": ("data", Required()), "audio.media_type": "media_type"}
    return [
        part(
            "speech",
            DataContent,
            {**audio, "transcript": "transcript"},
            Filled({"speaker": speaker, "audio.kind": "binary"}),
            form="audio",
        ),
        part("speech", TextContent, {"transcript": "text"}, fill),
        part("speech", TextContent, {}, Implied({"text": ""}), fill, form="silent"),
    ]


def _errors(kind: str) -> Row:
    """Return the row of feedback of the application that is a list of errors, as JSON text."""
    return part(kind, TextContent, {"content": ("text", _JsonText(list))}, form="errors")


def _configuration(kind: str, form: str | None = None) -> Row:
    """Return the row of a part that is not sent to models. Its fields stay in the residue."""
    return part(kind, ConfigurationContent, {}, Implied({"kind": kind}), form=form)


def _usual_part(content: Any, rows: list[Row]) -> Row | None:
    if content.__class__ is ToolChangeContent:
        return rows[-1]
    if content.__class__ is ConfigurationContent:
        return next((row for row in rows if row.implied["kind"] == content.kind), None)
    return rows[0]


REQUEST_PARTS = TABLE.union(
    "request part",
    [
        part("system-prompt", TextContent, CONTENT),
        part(
            "tool-return", FunctionResultContent, {**TOOL_NAME, **RETURNED}, Recorded({"content": "", "tool_name": ""})
        ),
        part(
            "retry-prompt",
            FunctionResultContent,
            {**TOOL_NAME, "content": RETURNED["content"], "tool_call_id": "call_id"},
            Implied({"is_error": True}),
        ),
        _errors("retry-prompt"),
        part("retry-prompt", TextContent, CONTENT, form="text"),
        _errors("retry-feedback"),
        part("retry-feedback", TextContent, CONTENT),
        part("instruction-delta", TextContent, CONTENT),
        # `InstructionPart` has the instructions of a request to a model. Pydantic AI does not write it in `parts`.
        part("instruction", TextContent, CONTENT),
        *_spoken("user"),
        part("compaction", CompactionContent, CONTENT),
        part(
            "tool-availability-delta",
            ToolChangeContent,
            {"added": ("tools", LIST)},
            Implied({"action": "add"}),
            form="older",
            accepts=lambda wire: is_older(wire, {"added": "tools_added"}),
        ),
        part(
            "tool-availability-delta", ToolChangeContent, {"tools_added": ("tools", LIST)}, Implied({"action": "add"})
        ),
        part(
            "model-settings-delta",
            ConfigurationContent,
            {"settings": "settings"},
            Implied({"kind": "model-settings-delta"}),
        ),
        _configuration("capability-load-delta"),
        _configuration("instruction-baseline"),
        _configuration("instruction-delta", "withdrawn"),
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


def _usual_response_part(content: Any, rows: list[Row]) -> Row | None:
    """Return the row of a content: by the issuer of its opaque state if there are several."""
    issuer = None if content.protected is None else content.protected.issuer
    if content.__class__ is DataContent and content.transcript is not None:
        issuer = "audio"
    usual = next((row for row in rows if "." not in row.name), rows[0])
    return next((row for row in rows if row.name.endswith(f".{issuer}")), usual)


def _usual_source(citation: Any, rows: list[Row]) -> Row | None:
    if citation.url is not None:
        return rows[0]
    return rows[1] if citation.file_id or citation.title or citation.cited_text else None


SOURCE_FIELDS: dict[str, Spec] = {"title": "title", "excerpts": ("cited_text", OnlyItem())}
SOURCES = TABLE.union(
    "source",
    [
        Row("web", Citation, {"url": ("url", Required()), **SOURCE_FIELDS}, Silent("span"), constants={"kind": "web"}),
        Row(
            "document",
            Citation,
            {"document_id": "file_id", **SOURCE_FIELDS},
            Silent("span"),
            constants={"kind": "document"},
        ),
    ],
    tag="kind",
    prefer=_usual_source,
)


def _compaction(issuer: str) -> Row:
    state: Spec = ("protected", Opaque(issuer, "encrypted"))
    fields = {**CONTENT, "provider_details.encrypted_content": state}
    return part("compaction", CompactionContent, fields, form=issuer, select=("provider_name", (issuer,)))


RESPONSE_PARTS = TABLE.union(
    "response part",
    [
        part("text", TextContent, {**CONTENT, "citations": ("annotations", Citations(SOURCES)), **SIGNED}),
        part(
            "thinking",
            ReasoningContent,
            {**CONTENT, THOUGHT: ("protected", Opaque("google", "signature", mandatory=True))},
            Filled({"content": ""}),
            form="google",
        ),
        part(
            "thinking",
            ReasoningContent,
            {**CONTENT, "signature": ("protected", Signature())},
            Filled({"content": ""}),
        ),
        part("tool-call", FunctionCallContent, {**TOOL_NAME, **CALL}, Filled({"tool_name": ""})),
        *hosted.rows(CALL, {**RETURNED, **SIGNED}, SIGNED, FOUND),
        part(
            "file",
            DataContent,
            {"content.data": ("data", Required()), "content.media_type": "media_type", **SIGNED},
            Filled({"content.kind": "binary"}),
        ),
        *_spoken("assistant"),
        *map(_compaction, ("openai", "anthropic")),
        part("compaction", CompactionContent, CONTENT),
    ],
    tag="part_kind",
    by_fields=True,
    prefer=_usual_response_part,
)


def _usage(name: str, input_tokens: str, output_tokens: str) -> Row:
    """Return the row of the usage of a response, with the names of its first two fields."""
    row = TABLE.record(
        name,
        Usage,
        {
            input_tokens: "input_tokens",
            output_tokens: "output_tokens",
            "cache_read_tokens": "cache_read_tokens",
            "cache_write_tokens": "cache_write_tokens",
            "output_reasoning_tokens": "reasoning_tokens",
            "input_audio_tokens": "input_audio_tokens",
            "output_audio_tokens": "output_audio_tokens",
        },
        Implied({"cached_inside": True, "reasoning_inside": True}),
    )
    TABLE.keep(name, "cache_write_1h_tokens", "cache_audio_read_tokens", "audio_seconds", "details", "cost")
    return row


USAGE, OLDER_USAGE = (
    _usage("usage", "input_tokens", "output_tokens"),
    _usage("older usage", "request_tokens", "response_tokens"),
)
TABLE.keep("older usage", "requests", "total_tokens")


class _StoredUsage(UsageRecord):
    """The usage of a response. Its row follows from the names of its fields, and a hint names the older row."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Usage:
        if not is_older(value, {"request_tokens": "input_tokens", "response_tokens": "output_tokens"}):
            return super().decode(value, context, container, key)
        usage: Usage = OLDER_USAGE.decode(value, context)
        return context.replaced(usage, hints.ROW.on(usage, API, OLDER_USAGE.name))

    def places(self, value: Usage, wire: Any, path: str) -> Iterable[Place]:
        return [(value, path, wire, OLDER_USAGE if _was_older(value) else self.row)]

    def encode(self, value: Usage, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        return OLDER_USAGE.encode(value, context) if _was_older(value) else super().encode(value, context, owner)


def _was_older(usage: Usage) -> bool:
    return hints.ROW.of(usage, API) == OLDER_USAGE.name


FINISH = FinishReasons(
    {
        "stop": "stop",
        "length": "length",
        "content_filter": "content_filter",
        "tool_call": "tool_calls",
        "error": "error",
    },
    {
        **{name: name for name in ("stop", "length", "content_filter", "error")},
        "tool_calls": "tool_call",
        "refusal": "content_filter",
    },
    None,
)


def _is_of_openai(residue: Mapping[str, Any], issuer: str | None) -> bool:
    """Return whether reasoning is of the Responses API.

    The ids of reasoning of Chat are the names of its fields (models/openai.py of 2.x, seen 2026-11-27).
    """
    is_field = residue.get("id") in ("content", "reasoning", "reasoning_content")
    return not is_field and (residue.get("provider_name") or issuer) in ("openai", "azure")


TABLE.keep_of_items("openai-responses", (ReasoningContent,), {"id": ["id"]}, is_made=_is_of_openai)
GUESTS = [
    TABLE.guest("anthropic-messages", ("anthropic",), guests.ANTHROPIC, guests.PARTS),
    TABLE.guest("openai-responses", ("openai",), guests.OPENAI, guests.PARTS, groups=guests.item_parts),
    TABLE.guest("google-generate-content", ("google", "google-gla"), guests.GEMINI, guests.PARTS),
]


def _response(name: str, response_id: str) -> Row:
    """Return the row of a response, with the name of the field of its id."""
    row = TABLE.record(
        name,
        ChatMessage,
        {
            "parts": (
                "contents",
                GuestBlocks(RESPONSE_PARTS, GUESTS, lambda wire: issuer_of(wire.get("provider_name"))),
            ),
            "usage": ("usage", _StoredUsage(USAGE)),
            "timestamp": TIME,
            response_id: "response_id",
            "finish_reason": ("finish_reason", FINISH),
        },
        Implied({"role": "assistant"}),
        Filled({"parts": []}),
        constants={"kind": "response"},
    )
    TABLE.keep(
        name,
        *("model_name", "model_id", "provider_name", "provider_url", "provider_details", "canonical_system"),
        *("run_id", "conversation_id", "metadata", "workspace_ref", "history_digest", "failed_attempts", "state"),
    )
    return row


RESPONSE, OLDER_RESPONSE = _response("response", "provider_response_id"), _response("older response", "vendor_id")
TABLE.known_values("message.kind", "request", "response")
TABLE.keep("older response", "vendor_details")
