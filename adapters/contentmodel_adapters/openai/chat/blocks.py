"""The table of Chat Completions: content parts, tool calls, reasoning of the compatible hosts, citations, usage.

Sources: openai 3.52 (types/chat), and recorded traffic for the hosts' own fields; seen November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    ArgumentsObject,
    ArgumentsText,
    Blocks,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Filled,
    Implied,
    PairRow,
    ProtobufJson,
    ProviderOnly,
    Row,
    Shape,
    Silent,
    Spec,
    TextField,
    TextOrBlocks,
    Union,
    object_of,
    objects_of,
    reasons,
    row,
)
from contentmodel.content.base import Protected
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
from contentmodel.usage import Usage
from contentmodel_adapters.common.makers import maker_of
from contentmodel_adapters.common.usage import ReasoningInside
from contentmodel_adapters.openai.chat.dialects import API as API
from contentmodel_adapters.openai.chat.hosts import SIGNED_CALL
from contentmodel_adapters.openai.chat.parts import RESULT_CONTENT, PassedOn
from contentmodel_adapters.openai.chat.parts import TABLE as TABLE


def _usual_call(call: Any, rows: list[Row]) -> Row | None:
    """Return the row of a call; None for a hosted call that was not decoded from this API."""
    return None if call.__class__ is HostedToolCallContent else rows[-1]


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
    prefer=_usual_call,
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
        made = msgspec.structs.replace(value, kind=self.kind) if is_redacted else value
        return super().encode(made, context, owner)


# reasoning_details is OpenRouter's: the format of a detail shows the maker of its state (openrouter.ai/docs, "Reasoning
# tokens"). Claude's signatures are valid at all of its hosts (platform.claude.com/docs, "Extended thinking"; both seen
# 2026-11-23). The state of other formats is sent back to the same API only.
FORMATS = {"anthropic-claude-v1": "anthropic"}
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
    prefer=lambda made, rows: rows[2 if made.protected is not None and made.protected.kind == "redacted" else 0],
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
    prefer=lambda made, rows: rows[made.protected is not None and made.protected.kind == "redacted"],
)


def _signature(union: str, name: str, path: str, signature: PassedOn) -> Union:
    """Return the union of an object with the signature of a message."""
    made = Row(name, ReasoningContent, {path: ("protected", signature)}, Silent("kind"))
    return TABLE.union(union, [made], find=lambda wire: name)


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


def _usage_rows() -> list[Row]:
    """Return the rows of usage. The first is OpenAI's; each other one has one other field."""
    rows = [_usage_row(cached, cached=cached) for cached in CACHED_TOKENS]
    rows += [_usage_row(written, written=written) for written in WRITTEN_TOKENS[1:]]
    return rows + [_usage_row(reasoning, reasoning=reasoning) for reasoning in REASONING_TOKENS[1:]]


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


USAGE = TABLE.union("usage", _usage_rows(), find=_form_of_usage)


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


ERROR = TABLE.record(
    "error", ErrorContent, {"message": "message", "code": "code"}, Silent("kind"), Filled({"message": ""})
)
