"""The parts that the two message formats of the Vercel AI SDK share: opaque state, hosted tools, media and citations.

Both formats have fields for values of one provider: objects with one key for each provider
(`providerMetadata`, `providerOptions`). Source: the types of ai 7.0.173 and of its providers (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from contentmodel.authoring import (
    Affixed,
    Codec,
    DecodeContext,
    EncodeContext,
    EnumString,
    Field,
    Filled,
    Kinds,
    Opaque,
    Record,
    Row,
    Spec,
    Table,
    is_data_uri,
    reasons,
    request_step,
    transcript_step,
    with_known_tools,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.hosted import ImageGenerationToolResultContent, McpServerToolCallContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.media_types import (
    media_type_of_data,
    media_type_of_link,
    media_type_of_name,
    usual_media_type,
)
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import Caller, HostedToolCallContent, HostedToolResultContent, ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks import hosted_tools
from contentmodel_adapters.frameworks.ai_sdk.made_images import is_made_image

# -- opaque state ------------------------------------------------------------------------------------------------------


def _state(issuer: str, kind: str) -> Opaque:
    return Opaque(issuer, kind, mandatory=True)


STATES = {
    "anthropic.signature": _state("anthropic", "signature"),
    "anthropic.redactedData": _state("anthropic", "redacted"),
    "openai.reasoningEncryptedContent": _state("openai", "encrypted"),
    "google.thoughtSignature": _state("google", "signature"),
    "vertex.thoughtSignature": _state("google", "signature"),
    "googleVertex.thoughtSignature": _state("google", "signature"),
    # Hosts of the models of other makers, and xAI.
    "bedrock.signature": _state("anthropic", "signature"),
    "bedrock.redactedData": _state("anthropic", "redacted"),
    "azure.reasoningEncryptedContent": _state("openai", "encrypted"),
    "xai.reasoningEncryptedContent": _state("xai", "encrypted"),
}
"""The fields of opaque state in the object of a provider. Values of other APIs use the first field that fits."""
CALLERS = {"anthropic": "toolId", "openai": "callerId"}
"""The providers whose calls have a caller, each with its name for the id of the program."""
OF_REASONING, OF_GOOGLE = tuple(STATES), tuple(name for name in STATES if name.endswith("thoughtSignature"))


def with_states(
    name: str,
    model: type[Any],
    fields: Mapping[str, Spec],
    *others: Field,
    at: str,
    states: tuple[str, ...],
    callers: Mapping[str, Row] | None = None,
    **options: Any,
) -> list[Row]:
    """Return the rows of a part: one for each form of opaque state in its field `at`, and one without state.

    Calls may have a row for the caller of each provider of `callers`, which has the row of the caller.
    """
    # A field belongs to one row.
    rows = [
        Row(
            f"{name}.{state}",
            model,
            {**fields, f"{at}.{state}": ("protected", STATES[state])},
            *map(copy, others),
            **options,
        )
        for state in states
    ]
    for provider, caller in (callers or {}).items():
        called: dict[str, Spec] = {**fields, f"{at}.{provider}.caller": ("caller", Record(caller))}
        rows.append(Row(f"{name}.{provider}.caller", model, called, *map(copy, others), **options))
    return [*rows, Row(name, model, fields, *others, **options)]


def rows_of_model(at: str, cached: Mapping[str, Spec]) -> list[Row]:
    """Return the rows of the parts that only models write: reasoning, compactions and custom parts.

    `at` is the field with the values of providers. `cached` is the field of cache points, if compactions may have one.
    """
    return [
        *with_states(
            "reasoning",
            ReasoningContent,
            {"text": "text"},
            Filled({"text": ""}),
            at=at,
            states=OF_REASONING,
            constants={"type": "reasoning"},
        ),
        Row(
            "compaction",
            CompactionContent,
            {f"{at}.openai.encryptedContent": ("protected", STATES["openai.reasoningEncryptedContent"])},
            constants={"type": "custom", "kind": "openai.compaction"},
        ),
        Row(
            "text.compaction",
            CompactionContent,
            {"text": "text", **cached},
            Filled({"text": ""}),
            constants={"type": "text", f"{at}.anthropic.type": "compaction"},
        ),
        Row("custom", ConfigurationContent, {"kind": "kind", at: "settings"}, constants={"type": "custom"}),
    ]


def metadata_of(part: Mapping[str, Any], at: str, provider: str) -> Mapping[str, Any]:
    """Return the fields of a provider in the field `at` of a part; {} if there are none."""
    metadata: Any = part.get(at)
    fields: Any = metadata.get(provider) if metadata.__class__ is dict else None
    return fields if fields.__class__ is dict else {}


def call_suffix(call: Mapping[str, Any], at: str) -> str:
    """Return the suffix of the row for a call: the first opaque state that it has, or its caller; "" without these."""
    if state := state_suffix(call, at, OF_GOOGLE):
        return state
    for provider in CALLERS if call.get(at) else ():
        caller = metadata_of(call, at, provider).get("caller")
        if caller.__class__ is dict and caller.get("type").__class__ is str:
            return f".{provider}.caller"
    return ""


def state_suffix(part: Mapping[str, Any], at: str, states: tuple[str, ...]) -> str:
    """Return the suffix of the row for a part: the first opaque state that it has; "" without one."""
    for state in states if part.get(at) else ():
        provider, _, field = state.partition(".")
        if metadata_of(part, at, provider).get(field).__class__ is str:
            return f".{state}"
    return ""


def row_for_state(content: Any, rows: list[Row]) -> Row:
    """Return the usual row of a content: the first for its opaque state or its caller, or the last without these."""
    protected: Protected | None = content.protected
    provider = _provider_of(getattr(content, "caller", None)) if protected is None else None
    if provider is not None:
        return next(row for row in rows if row.name.endswith(f".{provider}.caller"))
    if protected is not None:
        for row in rows:
            state = STATES.get(".".join(row.name.rsplit(".", 2)[-2:]))
            if state is not None and (state.issuer, state.kind) == (protected.issuer, protected.kind):
                return row
    return next(row for row in reversed(rows) if ".".join(row.name.rsplit(".", 2)[-2:]) not in STATES)


def callers(table: Table) -> dict[str, Row]:
    """Return the rows of the callers of calls that the SDK keeps, by the provider."""
    return {
        provider: table.record(f"caller of {provider}", Caller, {"type": "kind", name: "call_id"})
        for provider, name in CALLERS.items()
    }


def _provider_of(caller: Caller | None) -> str | None:
    """Return the provider of a caller: a program, or the model itself; None if no provider has such callers."""
    if caller is None:
        return None
    if caller.kind == "program":
        return "openai"
    return "anthropic" if caller.kind == "direct" or caller.kind.startswith("code_execution_") else None


def cache_points(table: Table) -> Row:
    """Return the row of cache points. Only the provider Anthropic has them in these formats.

    Its lifetimes are those of @ai-sdk/anthropic 4.0.105 (anthropic-api.ts, seen 2026-11-29).
    """
    lifetime = EnumString("ttl", "5m", "1h", reason=reasons.CACHE_LIFETIME)
    return table.record("cacheControl", CachePoint, {"ttl": ("ttl", lifetime)}, constants={"type": "ephemeral"})


# -- tools -------------------------------------------------------------------------------------------------------------


def _purpose(kind: str) -> str:
    """Return the word for a kind of tools in the names of rows: `web_search` is `WebSearch`."""
    return kind.title().replace("_", "")


TOOLS = {
    "web_search": "WebSearch",
    "web_search_preview": "WebSearch",
    "google_search": "WebSearch",
    "web_fetch": "WebFetch",
    "url_context": "UrlContext",
    "code_execution": "CodeInterpreter",
    "code_interpreter": "CodeInterpreter",
    "file_search": "FileSearch",
    "image_generation": "ImageGeneration",
    "tool_search": "ToolSearch",
    "advisor": "Advisor",
    "shell": "Shell",
    "programmatic_tool_calling": "Program",
    "google_maps": "Maps",
    "mcp_list_tools": "McpListTools",
    # @ai-sdk/google names the tools that Gemini 3 calls with a type (google-language-model.ts of 4.0, seen 2026-11-27).
    "server:GOOGLE_SEARCH_WEB": "WebSearch",
    "server:GOOGLE_SEARCH_IMAGE": "WebSearch",
    "server:GOOGLE_MAPS": "Maps",
    "server:URL_CONTEXT": "UrlContext",
    "server:FILE_SEARCH": "FileSearch",
}
"""The names of tools that providers run. Applications may rename tools: calls with other names get the base class."""
_USUAL_NAMES = {kind: name for name, kind in reversed(TOOLS.items())}
_OTHER_NAMES = {"openai": {"CodeInterpreter": "code_interpreter"}, "google": {"WebSearch": "google_search"}}
"""The usual name of the tool of each purpose, and other names of some providers."""
HOSTED_CALLS = {_purpose(kind): hosted_tools.CALLS[kind] for kind in hosted_tools.BY_PROVIDER}
HOSTED_RESULTS = {_purpose(kind): hosted_tools.RESULTS[kind] for kind in hosted_tools.BY_PROVIDER}
"""The classes of calls and results of hosted tools, by their purpose."""
KIND_OF = {model: kind for kinds in (HOSTED_CALLS, HOSTED_RESULTS) for kind, model in kinds.items()}


def kind_of_tool(name: object) -> str:
    """Return the purpose of a tool that a provider runs, from its name."""
    return TOOLS.get(name, "Hosted") if name.__class__ is str else "Hosted"


def is_of_server(call: Any) -> bool:
    """Return whether an application does not define a tool that a provider runs: a server does, or the provider."""
    if not isinstance(call, HostedToolCallContent):
        return False
    return call.__class__ is McpServerToolCallContent or str(call.name).startswith(("mcp.", "server:"))


def report_kind(content: Any, name: object, context: EncodeContext) -> None:
    """Report a call or a result of a hosted tool if its class cannot be restored from the name of the tool."""
    if KIND_OF.get(content.__class__, "Hosted") != kind_of_tool(name):
        context.report_loss(content, None, reasons.TOOL_BY_NAME)


def report_outcome(result: Any, context: EncodeContext) -> None:
    """Report an outcome that a part does not have: only those of denied and preliminary results have a field."""
    usual = "failed" if result.is_error else "succeeded"
    if result.outcome is not None:
        reason = reasons.USUAL_OUTCOME if result.outcome == usual else reasons.OUTCOME
        context.report_loss(result, "outcome", reason, value=result.outcome)


def with_tool_names(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs in which each call of a hosted tool has the AI SDK's name for the tool."""
    return [
        context.with_contents(message, [_with_tool_name(content, message, context) for content in message.contents])
        for message in messages
    ]


def _with_tool_name(content: Any, message: ChatMessage, context: EncodeContext) -> Any:
    if content.__class__ not in KIND_OF or content.name is not None or isinstance(content, HostedToolResultContent):
        return content
    kind, issuer = KIND_OF[content.__class__], "" if message.origin is None else message.origin.issuer
    name = _OTHER_NAMES.get(issuer, {}).get(kind) or _USUAL_NAMES.get(kind)
    return content if name is None else context.replace(content, name=name)


class AnyResult(Codec[list[AIContent]]):
    """The result of a tool in version 4, any JSON value: a text, or JSON."""

    classes = (dict, list, str, int, float, bool)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return [TextContent(text=value) if value.__class__ is str else JsonContent(value=value)]

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        return (
            context.plain_value(value[0], "text" if value[0].__class__ is TextContent else "value") if value else None
        )

    def describe(self) -> str:
        return "any"


KNOWN_TOOLS = request_step(with_known_tools, native=True, kinds=Kinds(listed=False))

# -- media -------------------------------------------------------------------------------------------------------------

KINDS = ("image", "audio", "video")
ANY_TYPE = "application/octet-stream"


STAR, TOP = Affixed("", "/*", *KINDS), Affixed("", "", *KINDS)
"""A kind of media as a media type without a subtype: `image/*`, or `image`."""


class DataUrl(Codec[str]):
    """The base64 of a data URL with the media type of its part."""

    classes = (str,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return is_data_uri(value)

    def decode(self, value: Any, context: Any, container: Any, key: str) -> str:
        data: str = value.partition(";base64,")[2]
        return data

    def encode(self, value: str, context: EncodeContext, owner: Any) -> str:
        return f"data:{owner.media_type or ''};base64,{value}"

    def describe(self) -> str:
        return "data uri"


class Base64(Codec[str]):
    """Base64, or another text that is not a URL."""

    classes = (str,)
    mandatory = True

    def holds(self, value: Any) -> bool:
        return value.__class__ is str and ":" not in value


def in_base64(content: Any, context: EncodeContext) -> Any:
    """Return the text of a document as base64, because the format has no documents of text."""
    if content.__class__ is not DataContent or content.text is None:
        return content
    context.report_loss(content, "text", reasons.DOCUMENT_AS_BASE64)
    inline = DataContent.from_bytes(content.to_bytes(), content.media_type or "text/plain")
    return context.replace(content, data=inline.data, text=None, media_type=inline.media_type)


def usual_compaction(content: Any, rows: list[Row]) -> Row | None:
    """Return the usual row of a compaction: the first for opaque state, another for text; None if there is no row."""
    protected, opaque = content.protected, STATES["openai.reasoningEncryptedContent"]
    if content.text is not None:
        return rows[1]
    is_known = protected is not None and (protected.issuer, protected.kind) == (opaque.issuer, opaque.kind)
    return rows[0] if is_known else None


def has_type(field: str, typed: str = "mediaType") -> Callable[[Mapping[str, Any]], bool]:
    """Return a condition of parts: the data URL in `field` has the media type in the field `typed`."""

    def is_typed(part: Mapping[str, Any]) -> bool:
        url: Any = part.get(field)
        head = url.partition(";base64,")[0] if url.__class__ is str else ""
        return bool(head[len("data:") :] == part.get(typed))

    return is_typed


MEDIA: tuple[type, ...] = (DataContent, UriContent, *hosted_tools.RESULTS.values())
"""The content types that `with_media_type` changes."""


def with_media_type(content: Any, context: EncodeContext) -> Any:
    """Return a link of another API with a media type, or the kind image, audio or video; a result with typed data."""
    if content.__class__ is ImageGenerationToolResultContent and is_made_image(content.output_list):
        return content
    if isinstance(content, ToolResultContent):
        outputs = [_with_type_of_data(output, context) for output in content.output_list]
        return content if outputs == content.outputs else context.replace(content, outputs=outputs)
    if content.__class__ is not UriContent or content.media_type is not None or content.kind in KINDS:
        return content
    guess = media_type_of_link(content.uri) or usual_media_type(content.media_kind) or ANY_TYPE
    return _typed(content, guess, context)


def _with_type_of_data(output: Any, context: EncodeContext) -> Any:
    """Return the output of a hosted tool with a media type. Results of functions have one already."""
    if output.__class__ is not DataContent or output.media_type is not None:
        return output
    return _typed(output, media_type_of_name(output.name or "") or media_type_of_data(output.data) or ANY_TYPE, context)


def _typed(content: Any, guess: str, context: EncodeContext) -> Any:
    context.report_loss(content, "media_type", reasons.GUESSED_MEDIA_TYPE, media_type=guess)
    return context.replace(content, media_type=guess)


# -- versions ----------------------------------------------------------------------------------------------------------


def without_custom_parts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without contents that are written as `custom` parts, which versions 5 and 6 refuse."""
    if context.policies.get("ai_sdk", "7") == "7":
        return messages
    return [_without_custom_parts(message, context) for message in messages]


def _without_custom_parts(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    custom = [content for content in message.contents if _is_custom(content)]
    for content in custom:
        context.report_loss(content, None, reasons.NO_FIELD)
    return context.with_contents(message, [c for c in message.contents if not _is_custom(c)]) if custom else message


def _is_custom(content: Any) -> bool:
    if content.__class__ is CompactionContent:
        return content.text is None
    return content.__class__ is ConfigurationContent and not content.kind.startswith("data-")


WITHOUT_CUSTOM_PARTS = transcript_step(without_custom_parts, needs=(CompactionContent, ConfigurationContent))
