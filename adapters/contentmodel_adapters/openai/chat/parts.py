"""The rows of parts, calls, reasoning, citations and usage of Chat Completions.

They are apart from table.py, which would be twice as long as a file may be: the hosts have many fields of their own.
Sources: openai 3.52 (types/chat), and the documentation and recorded traffic of hosts for their own fields; seen
November 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    ArgumentsObject,
    ArgumentsText,
    Blocks,
    CachePoints,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    EnumString,
    Field,
    Filled,
    Hint,
    Implied,
    Opaque,
    PairRow,
    Place,
    ProtobufJson,
    ProviderOnly,
    Required,
    Row,
    Shape,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    TextParts,
    Union,
    Verbatim,
    chat,
    object_of,
    objects_of,
    reasons,
    row,
    write,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.hosted import (
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    WebFetchToolCallContent,
    WebFetchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import ReasoningInside
from contentmodel_adapters.common.citations import SourceLists, source_union
from contentmodel_adapters.common.media import AUDIO
from contentmodel_adapters.common.reasoning import SKIP, maker_of
from contentmodel_adapters.openai.chat.hosts import API, DIALECTS, SIGNED_CALL
from contentmodel_adapters.openai.table import cache_point_record, error_record, refusal_row

# -- parts -------------------------------------------------------------------------------------------------------------

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
            and sum(bool(summary.get("signature")) for summary in value) <= 1
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


class VerbatimSummaries(Verbatim):
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
    if content.__class__ is ReasoningContent:
        state = content.protected
        return _BY_NAME["redacted_thinking" if state is not None and state.kind == "redacted" else "thinking"]
    if content.__class__ is UriContent:
        return _BY_NAME["image_url"] if content.media_kind == "image" else None
    if content.is_media_type("image/*") and content.__class__ is DataContent:
        return _BY_NAME["image_url.data"]
    if content.is_media_type("video/*"):
        return None
    is_audio = content.__class__ is DataContent and content.is_media_type("audio/*")
    return _BY_NAME["input_audio"] if is_audio else rows[-1]


CACHE_POINT = cache_point_record(TABLE)
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
REFUSAL = refusal_row()

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
            verbatim=VerbatimSummaries("summary"),
        ),
        # Of models other than Claude (pydantic_ai/models/databricks.py of pydantic/pydantic-ai, seen 2026-11-27).
        Row("reasoning.text", ReasoningContent, {"text": ("text", Required(str))}, constants={"type": "reasoning"}),
        Row(
            "thinking",
            ReasoningContent,
            {"thinking": ("text", TEXT_PART)},
            constants={"type": "thinking"},
            verbatim=Verbatim("thinking"),
        ),
    ],
    prefer=_usual_part,
    foreign_types=(TextContent, ErrorContent, DataContent, UriContent, HostedFileContent),
)
_BY_NAME: dict[str | None, Row] = {row.name: row for row in CONTENT.rows}
# Tool results are text (types/chat/chat_completion_tool_message_param.py); some hosts take more.
RESULT_CONTENT = TABLE.union(
    "tool result part",
    CONTENT.rows,
    prefer=_usual_part,
    foreign_types=(TextContent,),
)


# -- calls, reasoning, citations and usage -----------------------------------------------------------------------------


# Google's endpoint for clients of OpenAI (ai.google.dev/gemini-api/docs/thought-signatures, seen 2026-11-23).
OF_GOOGLE = "extra_content.google.thought_signature"
# LiteLLM's. It also appends the signature to the id of the call, for clients that drop unknown fields, and reads all
# three places (litellm 1.110, litellm_core_utils/prompt_templates/factory.py, seen 2026-11-27).
OF_LITELLM = "provider_specific_fields.thought_signature"
_MARK = "__thought__"
_SIGNATURE = PassedOn("google", "signature")


class MarkedId(Codec[tuple[str, Protected]]):
    """The id of a call that ends with a signature of Google. The id of its result is the same, so it is kept whole."""

    classes = (str,)
    identity = False

    def holds(self, value: object) -> bool:
        return value.__class__ is str and _MARK in value and _SIGNATURE.holds(value.partition(_MARK)[2])

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> tuple[str, Protected]:
        return value, _SIGNATURE.decode(value.partition(_MARK)[2], context, container, key)

    def encode(self, value: tuple[str, Protected], context: EncodeContext, owner: Any) -> str | None:
        call_id, protected = value
        if protected is not None and not (call_id or "").endswith(f"{_MARK}{protected.data}"):
            context.report_loss(owner, "protected", reasons.OPAQUE_STATE, issuer=protected.issuer)
        return call_id


MARKED_ID = MarkedId()


def _function(
    name: str, arguments: ArgumentsText, tag: str = "function", place: str = OF_GOOGLE, **options: Any
) -> Row:
    """Return a row of function calls. `place` is the path of the signature of Google, or `id` if that contains it."""
    fields: dict[str, Spec] = {
        "id": "call_id",
        "function.name": "name",
        "function.arguments": ("arguments", arguments),
        place: ("protected", _SIGNATURE),
    }
    if place == "id":
        fields["id"] = (("call_id", "protected"), MARKED_ID)
    return Row(
        name, FunctionCallContent, fields, Filled({"function.arguments": "{}"}), constants={"type": tag}, **options
    )


def _has_object(wire: Mapping[str, Any]) -> bool:
    function = wire.get("function")
    return function.__class__ is dict and function.get("arguments").__class__ is dict


def _has_fields(wire: Mapping[str, Any]) -> bool:
    fields = wire.get("provider_specific_fields")
    return fields.__class__ is dict and _SIGNATURE.holds(fields.get("thought_signature"))


def _has_inner_fields(wire: Mapping[str, Any]) -> bool:
    function = wire.get("function")
    return function.__class__ is dict and _has_fields(function)


TOOL_CALLS = TABLE.union(
    "tool call",
    [
        # OpenAI refuses an object, but some templates of local models require one (`requires_object_arguments` in
        # common/chat-template.hpp of llama.cpp, seen 2026-11-27).
        _function("function.object", ArgumentsText(objects=True), accepts=_has_object),
        _function(SIGNED_CALL, ArgumentsText(), place=OF_LITELLM, accepts=_has_fields),
        _function("function.inner", ArgumentsText(), place=f"function.{OF_LITELLM}", accepts=_has_inner_fields),
        _function("function.id", ArgumentsText(), place="id", accepts=lambda wire: MARKED_ID.holds(wire.get("id"))),
        # LangChain's own form, which it reads in messages with roles (langchain-core 1.7.2, messages/utils.py).
        row(
            "tool_call",
            FunctionCallContent,
            {"id": "call_id", "name": "name", "args": ("arguments", ArgumentsObject())},
            Filled({"args": {}}),
        ),
        # Some hosts of OpenAI's models (Azure) leave the type empty (vercel/ai#12939, seen 2026-11-27).
        _function("function.blank.object", ArgumentsText(objects=True), "", accepts=_has_object),
        _function("function.blank", ArgumentsText(), ""),
        _function("function", ArgumentsText(), certain=True),
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
    # There is none for a hosted call that was not decoded from this API.
    prefer=lambda call, rows: None if call.__class__ is HostedToolCallContent else rows[-1],
)


class StateOfDetail(PassedOn):
    """The opaque state of a detail: of the issuer that its `format` names, or else only for this API.

    Anthropic's state that is not a signature is redacted reasoning.
    """

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        form = container.get("format")
        issuer = FORMATS.get(form, API) if form.__class__ is str else API
        is_redacted = self.kind == "encrypted" and issuer == "anthropic"
        return Protected(issuer=issuer, kind="redacted" if is_redacted else self.kind, data=value)

    def encode(self, value: Protected, context: EncodeContext, owner: object) -> str | None:
        is_redacted = self.kind == "encrypted" and value.kind == "redacted"
        spelled = msgspec.structs.replace(value, kind=self.kind) if is_redacted else value
        return super().encode(spelled, context, owner)


# reasoning_details is OpenRouter's: the format of a detail shows the maker of its state (openrouter.ai/docs, "Reasoning
# tokens"). Claude's signatures are valid at all of its hosts (platform.claude.com/docs, "Extended thinking"; both seen
# 2026-11-23). The state of other formats is sent back to the same API only.
FORMATS = {form: maker for host in DIALECTS.values() for maker, form in host.makers.items() if form is not None}
REASONING_DETAILS = TABLE.union(
    "reasoning detail",
    [
        row(
            "reasoning.text",
            ReasoningContent,
            {"text": "text", "signature": ("protected", StateOfDetail(API, "signature", maker_of))},
        ),
        row("reasoning.summary", ReasoningContent, {"summary": "text"}, Implied({"kind": "summary"})),
        row(
            "reasoning.encrypted", ReasoningContent, {"data": ("protected", StateOfDetail(API, "encrypted", maker_of))}
        ),
    ],
    prefer=lambda content, rows: rows[
        2 if content.protected is not None and content.protected.kind == "redacted" else 0
    ],
)
TABLE.known_values("reasoning format", *FORMATS)

# LiteLLM's: blocks of the Messages API, also for Gemini (docs.litellm.ai/docs/reasoning_content, seen 2026-11-23). It
# sends the signatures to the maker of the model.
THINKING_BLOCKS = TABLE.union(
    "thinking block",
    [
        row(
            "thinking",
            ReasoningContent,
            {"thinking": "text", "signature": ("protected", PassedOn(API, "signature", maker_of))},
            Silent("kind"),
            Filled({"thinking": ""}),
        ),
        row(
            "redacted_thinking",
            ReasoningContent,
            {"data": ("protected", PassedOn(API, "redacted", maker_of))},
            Silent("kind"),
        ),
    ],
    prefer=lambda content, rows: rows[content.protected is not None and content.protected.kind == "redacted"],
)


def _signature(union: str, name: str, path: str, signature: PassedOn) -> Union:
    """Return the union of an object with the signature of a message."""
    signed = Row(name, ReasoningContent, {path: ("protected", signature)}, Silent("kind"))
    return TABLE.union(union, [signed], find=lambda wire: name)


# The signature of a message without calls: Gemini 3 signs texts, too (mozilla-ai/any-llm#1320, seen 2026-11-26). It is
# a content of its own before the text, as in Interactions: a stream has it in a separate chunk.
EXTRA_CONTENT = _signature("extra content", "thought signature", "google.thought_signature", _SIGNATURE)


class InList(PassedOn):
    """A signature in a list of one."""

    classes = (list,)

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and len(value) == 1 and super().holds(value[0])

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Protected:
        return super().decode(value[0], context, container, key)

    def encode(self, value: Protected, context: EncodeContext, owner: object) -> Any:
        data = super().encode(value, context, owner)
        return None if data is None else [data]


# LiteLLM's: the signatures of all parts of Gemini's answer (litellm 1.110, llms/vertex_ai/gemini, seen 2026-11-27).
_IN_LIST = InList("google", "signature")
SIGNATURE_IN_LIST = _signature("provider-specific fields", "signature in list", "thought_signatures", _IN_LIST)


def signs_text(message: dict[str, Any]) -> bool:
    """Return whether a message has one signature of LiteLLM, which is neither that of a call nor of a thought."""
    listed: Any = object_of(message, "provider_specific_fields").get("thought_signatures")
    if not _IN_LIST.holds(listed):
        return False
    calls, thoughts = objects_of(message, "tool_calls"), objects_of(message, "thinking_blocks")
    others = [block.get("signature") for block in thoughts]
    for call in (*calls, object_of(message, "function_call")):
        id_of_call = call.get("id")
        others.append(object_of(call, "provider_specific_fields").get("thought_signature"))
        others.append(object_of(object_of(call, "function"), "provider_specific_fields").get("thought_signature"))
        others.append(id_of_call.partition(_MARK)[2] if id_of_call.__class__ is str else None)
    return listed[0] not in others


# Tools that Groq runs: call and result are one object (groq 1.7, types/chat/chat_completion_message.py, seen
# 2026-11-23).
FOUND = TABLE.union(
    "search result",
    [Row("found", UriContent, {"url": "uri", "title": "title", "content": "text"})],
    find=lambda wire: "found" if wire.get("url").__class__ is str else None,
)
CODE_OUTPUTS = TABLE.union(
    "code result",
    [
        Row("png", DataContent, {"png": "data"}, Implied({"media_type": "image/png"})),
        Row("text", TextContent, {"text": "text"}),
    ],
    find=lambda wire: next((name for name in ("png", "text") if wire.get(name).__class__ is str), None),
)
_EXECUTED: dict[str, Spec] = {"type": "name", "arguments": ("arguments", ArgumentsText())}
_OUTPUTS = {
    "output": Column(TextField(TextContent, "text"), TextContent),
    "search_results.results": Column(Blocks(FOUND), UriContent),
    "browser_results": Column(Blocks(FOUND), UriContent, hinted=True),
    "code_results": Column(Blocks(CODE_OUTPUTS), DataContent, TextContent, hinted=True),
}


def _executed(name: str, call: type[Any], result: type[Any]) -> PairRow:
    return TABLE.pair(
        Row(f"executed.{name}", call, _EXECUTED, Silent("status", "caller", "call_id")),
        Row(f"executed.{name}.result", result, {}, Columns("outputs", _OUTPUTS), Silent("call_id", "name", "status")),
        ("output", "search_results", "browser_results", "code_results"),
    )


EXECUTED = {
    "search": _executed("search", WebSearchToolCallContent, WebSearchToolResultContent),
    "visit": _executed("visit", WebFetchToolCallContent, WebFetchToolResultContent),
    "python": _executed("python", CodeInterpreterToolCallContent, CodeInterpreterToolResultContent),
    "other": _executed("other", HostedToolCallContent, HostedToolResultContent),
}
"""The rows of executed tools, by the type of the tool. Any other tool has the row `other`."""
TABLE.known_values("executed tool", *(name for name in EXECUTED if name != "other"))

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
            "document_citation",
            Citation,
            {
                "document_citation.document_id": "file_id",
                "document_citation.start_index": "span.start",
                "document_citation.end_index": "span.end",
            },
        ),
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

_TOKEN_DETAILS: dict[str, Spec] = {
    "prompt_tokens_details.audio_tokens": "input_audio_tokens",
    "completion_tokens_details.audio_tokens": "output_audio_tokens",
    "completion_tokens_details.accepted_prediction_tokens": "accepted_prediction_tokens",
    "completion_tokens_details.rejected_prediction_tokens": "rejected_prediction_tokens",
}

# Hosts with another counter of cached tokens: Moonshot and Together, and DeepSeek's own (recorded traffic; see also
# api-docs.deepseek.com/guides/kv_cache, seen 2026-11-23).
CACHED_TOKENS = ("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")


# Counters of tokens that were written to a cache: OpenAI's; Alibaba's; LiteLLM's before it had OpenAI's (litellm 1.110,
# PromptTokensDetailsWrapper in types/utils.py, seen 2026-11-27).
WRITTEN_TOKENS = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")


# Hosts with another counter of reasoning: SGLang and Perplexity (recorded traffic of SGLang;
# docs.perplexity.ai/api-reference/chat-completions-post, seen 2026-11-28).
REASONING_TOKENS = ("completion_tokens_details.reasoning_tokens", "reasoning_tokens")


def _usage_row(
    name: str, cached: str = CACHED_TOKENS[0], written: str = WRITTEN_TOKENS[0], reasoning: str = REASONING_TOKENS[0]
) -> Row:
    return Row(
        f"usage.{name}",
        Usage,
        {
            "prompt_tokens": "input_tokens",
            "completion_tokens": "output_tokens",
            "total_tokens": "total_tokens",
            cached: "cache_read_tokens",
            f"prompt_tokens_details.{written}": "cache_write_tokens",
            reasoning: "reasoning_tokens",
            **_TOKEN_DETAILS,
        },
        ReasoningInside("prompt_tokens", "completion_tokens"),
        Silent("cached_inside"),
        # Some hosts count in floats.
        ProtobufJson(),
    )


def _form_of_usage(usage: dict[str, Any]) -> str:
    """Return the row of a usage: that of its counter of tokens of a cache, or of reasoning; else OpenAI's."""
    usual, *others = CACHED_TOKENS
    details = object_of(usage, "prompt_tokens_details")
    written = next((name for name in WRITTEN_TOKENS if details.get(name).__class__ is int), WRITTEN_TOKENS[0])
    if written != WRITTEN_TOKENS[0]:
        return f"usage.{written}"
    if usage.get("reasoning_tokens").__class__ is int and usage.get("completion_tokens_details").__class__ is not dict:
        return "usage.reasoning_tokens"
    if details.get("cached_tokens").__class__ is int:
        return f"usage.{usual}"
    return f"usage.{next((name for name in others if usage.get(name).__class__ is int), usual)}"


# The first row is OpenAI's; each other one has one other field.
USAGE = TABLE.union(
    "usage",
    [
        *(_usage_row(cached, cached=cached) for cached in CACHED_TOKENS),
        *(_usage_row(written, written=written) for written in WRITTEN_TOKENS[1:]),
        *(_usage_row(reasoning, reasoning=reasoning) for reasoning in REASONING_TOKENS[1:]),
    ],
    find=_form_of_usage,
)


def usage_of_host(wire: dict[str, Any], choices: list[Any]) -> dict[str, Any] | None:
    """Return the usage of a stream in the field of its host: in `x_groq` at Groq, in the first choice at Moonshot.

    Their answers that are not streamed have it in OpenAI's field (recorded traffic of Groq;
    platform.moonshot.ai/docs/api/chat).
    """
    for holder in (wire.get("x_groq"), *choices[:1]):
        usage = holder.get("usage") if holder.__class__ is dict else None
        if usage.__class__ is dict and usage.get("prompt_tokens").__class__ is int:
            return usage
    return None


ERROR = error_record(TABLE)


# -- details of reasoning ----------------------------------------------------------------------------------------------
#
# OpenRouter's details in a message. Clients may store those of a stream as they came: in fragments. A detail continues
# an earlier one of its index and type (agno-agi/agno#8794, agno-agi/agno#8861, seen 2026-11-29).

Wire = dict[str, Any]
FRAGMENTS = Hint[list[dict[str, Any]]](API, "fragments", "the details that a detail was divided into")
GROWING = ("text", "summary", "data", "thinking")
"""The fields of a detail, or of a block of thinking, that grow in a stream."""


def detail_names(entry: Wire) -> tuple[bytes, ...]:
    """Return the keys that identify the earlier detail that a detail continues: index and type; both with the id."""
    if "index" not in entry:
        return ()
    kind = [entry["index"], entry.get("type")]
    return write(kind), write([*kind, entry.get("id")])


def merged(fragments: list[Wire]) -> Wire:
    """Return the detail that was divided into fragments: the texts are joined, other fields have their last value."""
    whole: Wire = {}
    for fragment in fragments:
        for key, value in fragment.items():
            is_text = key in GROWING and value.__class__ is str and whole.get(key).__class__ is str
            if value is not None or key not in whole:
                whole[key] = whole[key] + value if is_text else value
    return whole


def grouped(entries: list[Any]) -> list[list[Any]]:
    """Return the entries of a list, each with the fragments that follow and continue it."""
    groups: list[list[Any]] = []
    for entry in entries:
        names = detail_names(entry) if entry.__class__ is dict else ()
        if names and groups and groups[-1][0].__class__ is dict and _continues(entry, groups[-1][0], names):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _continues(entry: Wire, first: Wire, names: tuple[bytes, ...]) -> bool:
    return (
        entry["index"] is not None
        and detail_names(first)[:1] == names[:1]
        and (entry.get("id") is None or entry["id"] == first.get("id"))
    )


class Details(Blocks[ReasoningContent]):
    """A list of details. Fragments of one detail are decoded as one, and written again as they were."""

    def quick_decode(self, name: str, call: str, bind: Any) -> str:
        return call

    def decode(self, value: list[Any], context: DecodeContext, container: Any, key: str) -> list[ReasoningContent]:
        groups = grouped(value)
        if len(groups) == len(value):
            return super().decode(value, context, container, key)
        contents: list[Any] = []
        for group in groups:
            wire = group[0] if len(group) == 1 else merged(group)
            context.copied(wire, group[0])
            content = self.union.decode(wire, context)
            contents.append(content if len(group) == 1 else FRAGMENTS.on(content, API, group))
        return contents

    def count(self, wire: Any) -> int:
        return len(grouped(wire)) if wire.__class__ is list else 1

    def places(self, value: list[ReasoningContent], wire: Any, path: str) -> Iterable[Place]:
        at = 0
        for content, group in zip(value, grouped(wire) if wire.__class__ is list else (), strict=False):
            yield content, f"{path}[{at}]", group[0], self.union
            at += len(group)

    def encode(self, value: list[ReasoningContent], context: EncodeContext, owner: object) -> Any:
        wires: list[Any] = []
        for content in value:
            encoded = self.union.encode_list([content], context)
            fragments = FRAGMENTS.of(content, API) if context.native else None
            wires += fragments if fragments is not None and encoded == [merged(fragments)] else encoded
        return wires or None


def with_whole_details(message: Wire) -> Wire:
    """Return a message whose details are whole, for audits. Each fragment that is joined to another one is empty."""
    details = message.get("reasoning_details")
    if details.__class__ is not list:
        return message
    groups = grouped(details)
    if len(groups) == len(details):
        return message
    return {
        **message,
        "reasoning_details": [detail for group in groups for detail in [merged(group), *[{}] * (len(group) - 1)]],
    }


# -- lists of sources --------------------------------------------------------------------------------------------------

Path = Literal["citations", "search_results", "web_search", "search_info.search_results", "context.citations"]
"""The dotted path of a field that lists sources, in an answer or a message."""
CONTEXT: Path = "context.citations"
SOURCE = Hint[Path](API, "source", "the field of the answer that lists the source, if it is not an annotation")
SOURCES: dict[Path, Any] = {
    # docs.perplexity.ai/api-reference/chat-completions-post and docs.x.ai/docs/guides/live-search, seen 2026-11-23.
    # Perplexity has search_results instead of citations since 2025.
    "search_results": source_union(TABLE, "search_result", url="url", title="title", snippet="cited_text"),
    "citations": None,
    # Z.ai (docs.z.ai/api-reference/llm/chat-completion, seen 2026-11-27).
    "web_search": source_union(TABLE, "web search", link="url", title="title", content="cited_text"),
    # Tencent's Hunyuan (CherryHQ/cherry-studio, OpenAI client, seen 2026-11-27).
    "search_info.search_results": source_union(TABLE, "search info", url="url", title="title", text="cited_text"),
}
"""The fields of an answer that list its sources, in order of preference, with their rows. None: a list of links."""
# Azure (learn.microsoft.com/azure/ai-services/openai/references/on-your-data, seen 2026-11-27).
IN_CONTEXT = source_union(
    TABLE, "context citation", url="url", title="title", filepath="filename", content="cited_text"
)
_OF_ANSWER = SourceLists(SOURCE, SOURCES)
_OF_MESSAGE = SourceLists(SOURCE, {CONTEXT: IN_CONTEXT})


def with_sources(response: ChatResponse, wire: dict[str, Any], context: DecodeContext) -> ChatResponse:
    """Return an answer with the sources that its host lists beside the choices, as citations of its text.

    If the answer has no text, the lists stay in the residue.
    """
    residue = (response.extra or {}).get(API) or {}
    remaining = _OF_ANSWER.cite(response.messages[0], residue, wire, context) if response.messages else residue
    return (
        response
        if remaining is residue
        else msgspec.structs.replace(response, extra={API: remaining} if remaining else None)
    )


def with_context(message: ChatMessage, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with the citations of its data sources, at Azure, as citations of its text."""
    residue = (message.extra or {}).get(API) or {}
    remaining = _OF_MESSAGE.cite(message, residue, wire, context)
    return (
        message
        if remaining is residue
        else msgspec.structs.replace(message, extra={API: remaining} if remaining else None)
    )


def with_listed(payload: dict[str, Any], contents: Iterable[AIContent], context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the sources of its contents: the inverse of `with_sources`."""
    return _OF_ANSWER.write(payload, contents, context)


def context_of(message: ChatMessage, wire: dict[str, Any], context: EncodeContext) -> dict[str, Any]:
    """Return the wire message with the citations of its data sources: the inverse of `with_context`."""
    return _OF_MESSAGE.write(wire, message.contents, context)
