"""The content parts of Chat Completions: texts, media, reasoning, and the cache points of parts and tools.

Sources: openai 3.52 (types/chat), and the documentation of hosts for their own parts; seen November 2026.
"""

from __future__ import annotations

from typing import Any, Literal

from contentmodel.authoring import (
    AsSent,
    CachePoints,
    Codec,
    DecodeContext,
    EncodeContext,
    EnumString,
    Field,
    Filled,
    Hint,
    Implied,
    Opaque,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    TextParts,
    chat,
    reasons,
    row,
)
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel_adapters.common.google import SKIP
from contentmodel_adapters.common.makers import maker_of
from contentmodel_adapters.common.media import AUDIO
from contentmodel_adapters.openai.chat.dialects import API as API

TABLE = Table(API)


class PassedOn(Opaque):
    """Opaque state that a host passes on between its clients and another issuer.

    It is written for hosts that read the state of its issuer, and back into payloads of this API.
    """

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value not in ("", SKIP)

    def encode(self, value: Protected, context: EncodeContext, owner: Any) -> str | None:
        # A request of another API may have answers of this one.
        is_own = value.kind == self.kind and API in (owner.extra or {})
        return value.data if is_own and self._passes_on(value.issuer) else super().encode(value, context, owner)

    def is_read(self, issuer: str, context: EncodeContext) -> bool:
        return (context.native or issuer in context.issuers) and self._passes_on(issuer)

    def _passes_on(self, issuer: str) -> bool:
        return self.maker is not None or issuer == self.issuer


class Link(Codec[str]):
    """The address of a medium. Any other text is data, or the id of a file."""

    classes = (str,)
    mandatory = True

    def holds(self, value: Any) -> bool:
        return value.__class__ is str and value.startswith(("http://", "https://", "gs://"))


SUMMARY = Hint[list[dict[str, Any]]](
    API, "summary", "the summaries of a part of reasoning, if it has several or an empty signature"
)
_IN_SUMMARY = frozenset(("type", "text", "signature"))


class Summaries(Codec[tuple[str, Protected | None]]):
    """The text and the signature of reasoning, in a list of summaries. The texts of several summaries are joined."""

    classes = (list,)
    identity = False
    mandatory = True
    _signature = PassedOn(API, "signature", maker_of)

    def holds(self, value: Any) -> bool:
        return (
            value.__class__ is list
            and bool(value)
            and all(map(is_summary, value))
            and sum(bool(one.get("signature")) for one in value) <= 1
        )

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> tuple[str, Protected | None]:
        text, signature = _text_and_signature(value)
        return text, self._signature.decode(signature, context, container, key) if signature else None

    def encode(self, value: tuple[str, Protected | None], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        text, protected = value
        signature = None if protected is None else self._signature.encode(protected, context, owner)
        sent = SUMMARY.of(owner, API)
        if sent is not None and self.holds(sent) and _text_and_signature(sent) == (text, signature or ""):
            return sent
        signed = {} if signature is None else {"signature": signature}
        return [{"type": "summary_text", "text": text, **signed}]

    def describe(self) -> str:
        return "list of summaries"


def is_summary(value: Any) -> bool:
    """Return whether a value is a summary with a text, and no more than a signature beside it."""
    if value.__class__ is not dict or value.get("type") != "summary_text" or not value.keys() <= _IN_SUMMARY:
        return False
    return value.get("text").__class__ is str and value.get("signature", "").__class__ is str


def is_summarized(part: Any) -> bool:
    """Return whether a part is reasoning with one summary, and nothing else."""
    if part.__class__ is not dict or part.get("type") != "reasoning" or part.keys() != {"type", "summary"}:
        return False
    summary = part["summary"]
    return summary.__class__ is list and len(summary) == 1 and is_summary(summary[0])


def _text_and_signature(summaries: list[dict[str, Any]]) -> tuple[str, str]:
    signatures = "".join(one.get("signature", "") for one in summaries)
    return "".join(one["text"] for one in summaries), signatures


class SummariesAsSent(AsSent):
    """Keep several summaries, and an empty signature."""

    def around(self, decode: Any, encode: Any, row: Row) -> Any:
        """Return `decode` and `encode` of a row, wrapped to keep the summaries."""

        def decode_and_keep(wire: dict[str, Any], context: DecodeContext) -> Any:
            value: Any = decode(wire, context)
            if value.__class__ is not row.model:
                return value
            summaries = wire["summary"]
            is_usual = len(summaries) == 1 and summaries[0].get("signature") != ""
            return value if is_usual else SUMMARY.on(value, API, summaries)

        return decode_and_keep, encode


def _usual_part(content: Any, rows: list[Row]) -> Row | None:
    """Return the usual row of a medium or of reasoning; None if OpenAI has none. Only hosts have reasoning in parts."""
    by_name = {r.name: r for r in rows}
    if content.__class__ is ReasoningContent:
        state = content.protected
        return by_name["redacted_thinking" if state is not None and state.kind == "redacted" else "thinking"]
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
# Anthropic's field, which OpenRouter and LiteLLM pass on (openrouter.ai/docs/features/prompt-caching,
# docs.litellm.ai/docs/completion/prompt_caching, seen 2026-11-23).
CACHE_CONTROL = TABLE.record(
    "cache_control",
    CachePoint,
    {"ttl": ("ttl", EnumString("ttl", "5m", "1h", reason=reasons.CACHE_LIFETIME))},
    constants={"type": "ephemeral"},
)
CACHE_FIELD = Hint[Literal["cache_control"]](API, "cache_field", "the field of the cache point, if it is a host's")
OTHER_POINT = Hint[dict[str, Any]](API, "other_point", "the field prompt_cache_breakpoint beside a host's cache point")


class Breakpoint(CachePoints):
    """A cache point in the field of OpenAI. It is not written if the point is in the field of a host."""

    def encode(self, value: CachePoint, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        if not _in_field_of_host(value, context):
            return super().encode(value, context, owner)
        return OTHER_POINT.of(value, API)


class CacheControl(CachePoints):
    """A cache point in the field of a host."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> CachePoint:
        point = CACHE_FIELD.on(super().decode(value, context, container, key), API, "cache_control")
        other = container.get("prompt_cache_breakpoint")
        return OTHER_POINT.on(point, API, other) if BREAKPOINT.holds(other) else point

    def encode(self, value: CachePoint, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        return super().encode(value, context, owner) if _in_field_of_host(value, context) else None


class CacheControlOfTool(CacheControl):
    """A cache point of a tool. Only hosts have a field for it."""

    def encode(self, value: CachePoint, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        wire = super().encode(value, context, owner)
        if wire is None:
            context.report_lost_attributes(owner, ("cache_point",))
        return wire


def _in_field_of_host(value: CachePoint, context: EncodeContext) -> bool:
    return CACHE_FIELD.of(value, API) is not None or (context.host.cache_points and not context.native)


BREAKPOINT = Breakpoint(CACHE_POINT)
CACHED: dict[str, Spec] = {
    "prompt_cache_breakpoint": ("cache_point", BREAKPOINT),
    "cache_control": ("cache_point", CacheControl(CACHE_CONTROL)),
}
"""The fields of content parts that end a prompt to cache."""


def _part(name: str, tag: str, model: type[Any], fields: dict[str, Any], *others: Field) -> Row:
    return Row(name, model, {**fields, **CACHED}, *others, constants={"type": tag})


TEXT = row("text", TextContent, {"text": "text", **CACHED}, Silent("annotations"))
REFUSAL = row("refusal", ErrorContent, {"refusal": "message"}, Implied({"code": "refusal"}), Filled({"refusal": ""}))

# How closely a model looks at an image (types/chat/chat_completion_content_part_image_param.py of openai 3.54,
# seen 2026-11-22).
DETAIL: dict[str, Spec] = {"image_url.detail": ("detail", EnumString("detail", "auto", "low", "high", "original"))}

TEXT_PART = TextParts({"type": "text"})
_AUDIO_TYPE: Spec = ("media_type", AUDIO)
_DOCUMENT = Implied({"kind": "document"})
CONTENT = TABLE.union(
    "content part",
    [
        TEXT,
        REFUSAL,
        _part("image_url.data", "image_url", DataContent, {"image_url.url": chat.DATA, **DETAIL}),
        _part("image_url", "image_url", UriContent, {"image_url.url": "uri", **DETAIL}, Implied({"kind": "image"})),
        # vLLM also takes the address without an object, and audio by address (entrypoints/chat_utils.py of vLLM, seen
        # 2026-11-27).
        _part("image_url.text.data", "image_url", DataContent, {"image_url": chat.DATA}),
        _part("image_url.text", "image_url", UriContent, {"image_url": "uri"}, Implied({"kind": "image"})),
        _part("audio_url.data", "audio_url", DataContent, {"audio_url.url": chat.DATA}),
        _part("audio_url", "audio_url", UriContent, {"audio_url.url": "uri"}, Implied({"kind": "audio"})),
        _part("video_url.data", "video_url", DataContent, {"video_url.url": chat.DATA}),
        _part("video_url", "video_url", UriContent, {"video_url.url": "uri"}, Implied({"kind": "video"})),
        _part("file_url", "file_url", UriContent, {"file_url.url": "uri"}, _DOCUMENT),
        # Alibaba's and OpenRouter's parts have an address in place of the data, and LiteLLM's in place of the id
        # (alibabacloud.com/help/en/model-studio/qwen-omni, openrouter.ai/docs/features/multimodal/pdfs,
        # docs.litellm.ai/docs/completion/document_understanding; seen 2026-11-27).
        _part(
            "input_audio.url",
            "input_audio",
            UriContent,
            {"input_audio.data": ("uri", Link()), "input_audio.format": _AUDIO_TYPE},
            Implied({"kind": "audio"}),
        ),
        _part(
            "input_audio", "input_audio", DataContent, {"input_audio.data": "data", "input_audio.format": _AUDIO_TYPE}
        ),
        _part("file.url", "file", UriContent, {"file.file_data": ("uri", Link()), "file.filename": "name"}, _DOCUMENT),
        _part("file.data", "file", DataContent, {"file.file_data": chat.DATA, "file.filename": "name"}),
        _part(
            "file.link",
            "file",
            UriContent,
            {"file.file_id": ("uri", Link()), "file.format": "media_type", "file.filename": "name"},
            _DOCUMENT,
        ),
        _part("file.id", "file", HostedFileContent, {"file.file_id": "file_id", "file.filename": "name"}, _DOCUMENT),
        # The reasoning of Claude and of Mistral's models, whose APIs have it among the parts
        # (portkey.ai/docs/product/ai-gateway/multimodal-capabilities/thinking-mode, seen 2026-11-27).
        Row(
            "thinking.text",
            ReasoningContent,
            {"thinking": ("text", Required(str)), "signature": ("protected", PassedOn(API, "signature", maker_of))},
            constants={"type": "thinking"},
        ),
        Row(
            "redacted_thinking",
            ReasoningContent,
            {"data": ("protected", PassedOn(API, "redacted", maker_of))},
            constants={"type": "redacted_thinking"},
        ),
        # Databricks' (BerriAI/litellm#9700 and #36931: it reads them in requests, too; seen 2026-11-27).
        Row(
            "reasoning",
            ReasoningContent,
            {"summary": (("text", "protected"), Summaries())},
            Silent("kind"),
            constants={"type": "reasoning"},
            as_sent=SummariesAsSent("summary"),
        ),
        # Of models other than Claude (pydantic_ai/models/databricks.py of pydantic/pydantic-ai, seen 2026-11-27).
        Row("reasoning.text", ReasoningContent, {"text": ("text", Required(str))}, constants={"type": "reasoning"}),
        Row(
            "thinking",
            ReasoningContent,
            {"thinking": ("text", TEXT_PART)},
            constants={"type": "thinking"},
            as_sent=AsSent("thinking"),
        ),
    ],
    prefer=_usual_part,
    foreign_types=(TextContent, ErrorContent, DataContent, UriContent, HostedFileContent),
)
# Tool results are text (types/chat/chat_completion_tool_message_param.py); some hosts take more.
RESULT_CONTENT = TABLE.union(
    "tool result part",
    CONTENT.rows,
    prefer=_usual_part,
    foreign_types=(TextContent,),
)
