"""The table of Mistral's chat completions (mistralai 3.7.0, client/models): parts, tools, requests and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DataContent,
    DocumentContent,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedFileContent,
    HostedTool,
    HostedToolCallContent,
    HostedToolResultContent,
    ReasoningContent,
    TextContent,
    UriContent,
    Usage,
)
from contentmodel.authoring import (
    Aliases,
    AnswerMessage,
    ArgumentsText,
    Blocks,
    ChatMessages,
    Codec,
    Column,
    Columns,
    Constant,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorFields,
    ErrorTypes,
    Filled,
    FinishReasons,
    Group,
    Implied,
    MappedEnum,
    One,
    OneOf,
    Opaque,
    ProtobufJson,
    ProviderOnly,
    Required,
    Rest,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    TextOrJson,
    TextOrTexts,
    TextParts,
    ToolOrMode,
    Verbatim,
    WholeNumber,
    chat,
    enum_at,
    finished_by_calls,
    is_native,
    list_of,
    row,
    same_options,
)

API = "mistral-chat"
TABLE = Table(API)


class Thinking(TextParts):
    """The field `thinking` if it is a list with one text. Other lists have the row `thinking.parts`."""

    def holds(self, value: Any) -> bool:
        return super().holds(value) and len(value) == 1 and value[0]["text"] != "" and len(value[0]) == 2


THINKING_TEXT = Thinking({"type": "text"})
is_text = THINKING_TEXT.is_part


class ThinkingParts(Group):
    """The field `thinking` with references. The list stays in the residue, and is written if the text is unchanged."""

    attribute = "text"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> str:
        return text_of_parts(wire)

    def encode(self, value: str, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value != text_of_parts((owner.extra or {}).get(API, {})):
            wire["thinking"] = [{"type": "text", "text": value}]


def text_of_parts(wire: dict[str, Any]) -> str:
    """Return the texts of the field `thinking`, joined and without references."""
    return THINKING_TEXT.text_of(list_of(wire, "thinking"))


def usual_row(content: Any, rows: list[Row]) -> Row | None:
    """Return the row for a content of another API. Media other than images and audio become documents."""
    kind = getattr(content, "media_kind", None)
    wanted = {"image": "image_url", "audio": "input_audio"}.get(str(kind), "document_url") if kind else rows[0].name
    return min((one for one in rows if one.name.startswith(wanted)), key=lambda one: len(one.name), default=rows[0])


class Link(Codec[str]):
    """The address of audio. Any other text is base64."""

    classes = (str,)
    mandatory = True

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value.startswith(("http://", "https://"))


THINKING: dict[str, Spec] = {"signature": ("protected", Opaque("mistral", "signature"))}
IMAGES = [
    *chat.image_rows(),
    row("image_url", DataContent, {"image_url": chat.DATA}, form="short.data"),
    row("image_url", UriContent, {"image_url": "uri"}, Implied({"kind": "image"}), form="short"),
]
TEXT = row("text", TextContent, {"text": "text"})
# The service also takes the object of Chat Completions, and addresses.
AUDIO: dict[str, Spec] = {
    "input_audio.data": ("data", Required(str)),
    "input_audio.format": ("media_type", MappedEnum({"mp3": "audio/mpeg", "wav": "audio/wav"})),
}
RESOURCE_PARTS = TABLE.union("resource content", [TEXT, *IMAGES], prefer=usual_row)
DOCUMENT = {"document_url": "uri", "document_name": "name"}
PARTS = TABLE.union(
    "part",
    [
        TEXT,
        row("reference", TextContent, {}, Implied({"text": ""})),
        row("thinking", ReasoningContent, {"thinking": ("text", THINKING_TEXT), **THINKING}, Filled({"thinking": []})),
        row("thinking", ReasoningContent, THINKING, ThinkingParts(), form="parts"),
        *IMAGES,
        row("document_url", DataContent, {"document_url": chat.DATA, "document_name": "name"}, form="data"),
        row("document_url", UriContent, DOCUMENT, Implied({"kind": "document"})),
        row("file", HostedFileContent, {"file_id": "file_id"}, Implied({"kind": "document"})),
        row("input_audio", UriContent, {"input_audio": ("uri", Link())}, Implied({"kind": "audio"}), form="link"),
        row("input_audio", DataContent, AUDIO, form="object"),
        row("input_audio", DataContent, {"input_audio": "data"}),
        row("resource", DocumentContent, {"uri": "uri", "content": ("parts", One(RESOURCE_PARTS))}),
        row("resource_link", UriContent, {"uri": "uri"}),
    ],
    prefer=usual_row,
    foreign_types=(TextContent, ReasoningContent, DataContent, UriContent),
)
CONTENT = TextOrBlocks(PARTS, "string")
TABLE.keep("reference", "reference_ids")
TABLE.known_values("thinking", "text", "reference", "tool_reference")
CALLS = chat.function_calls(TABLE, ArgumentsText(objects=True))
RESULTS = chat.result_messages(TABLE, {"tool_call_id": "call_id", "name": "name", "content": ("outputs", CONTENT)})
COUNTERS: dict[str, Spec] = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
INSIDE = Silent("cached_inside", "reasoning_inside")
USAGES = TABLE.union(
    "usage",
    [
        # Most recorded answers have `num_cached_tokens` instead of `prompt_tokens_details`.
        Row("usage.cached", Usage, {**COUNTERS, "num_cached_tokens": ("cache_read_tokens", Required(int))}, INSIDE),
        Row("usage", Usage, {**COUNTERS, "prompt_tokens_details.cached_tokens": "cache_read_tokens"}, INSIDE),
    ],
    tag=None,
    prefer=lambda usage, rows: rows[1],
)
# The errors of validation have a list in place of the message, or are FastAPI's own, whose only field is `detail`.
ERROR = TABLE.record(
    "error",
    ErrorContent,
    {"message": ("message", TextOrJson()), "type": "code"},
    *(Silent("kind"), Filled({"message": ""}), ProtobufJson(), Aliases({"detail": "message"})),
    verbatim=Verbatim("message"),
)


# -- tools -------------------------------------------------------------------------------------------------------------

HOSTED = {"image_generation": "image_generation", "document_library": "file_search", "connector": "connector"}
"""The kinds of the tools that Mistral runs."""
TOOLS = chat.function_tools(
    TABLE,
    others=[
        chat.free_text_function(),
        *(row(tag, HostedTool, {}, Implied({"kind": kind}), Rest("settings")) for tag, kind in HOSTED.items()),
    ],
    default="function",
    find=chat.row_of_function,
)
FORMATS = chat.response_formats(TABLE, "response format", chat.named_schema_row())
TOOL_CHOICE = ToolOrMode("function.name", {"type": "function"}, {"auto": "auto", "none": "none", "required": "any"})
TABLE.known_values("tool_choice", "auto", "none", "any", "required", "function")


# -- requests ----------------------------------------------------------------------------------------------------------

COLUMNS = {"content": Column(CONTENT), "tool_calls": Column(Blocks(CALLS))}
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {"role": ("role", Constant("assistant"))},
    Columns("contents", COLUMNS),
    Silent("message_id"),
)
ROLES = Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))
PLAIN = chat.plain_messages(TABLE, ROLES, {"content": ("contents", CONTENT)})
TABLE.keep("assistant message", "prefix")
TABLE.known_values("message.roles", "system", "user", "assistant", "tool")
OF_CALLS = ("call_id", "name", "arguments", "extra")
OF_RESULTS = ("call_id", "name", "outputs", "is_error", "outcome", "extra")
CLIENTS = {
    HostedToolCallContent: (FunctionCallContent, OF_CALLS),
    HostedToolResultContent: (FunctionResultContent, OF_RESULTS),
}
"""The classes of calls and results of functions, which have the form of those of Mistral's tools."""


def as_class(content: Any, kind: type[Any], names: tuple[str, ...]) -> Any:
    """Return a call or a result as a value of another class, with some of its attributes."""
    return kind(**{name: getattr(content, name) for name in names})


def with_functions(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of this API with calls and results of functions in place of those of Mistral's tools.

    A message of such results has the role "tool".
    """
    if not is_native(message, context) or not any(content.__class__ in CLIENTS for content in message.contents):
        return message
    contents = [_as_function(content, context) for content in message.contents]
    is_result = all(content.__class__ is FunctionResultContent for content in contents)
    return context.replace(message, contents=contents, role="tool" if is_result else message.role)


def _as_function(content: Any, context: EncodeContext) -> Any:
    counterpart = CLIENTS.get(content.__class__)
    return content if counterpart is None else context.replaced(content, as_class(content, *counterpart))


class SentMessages(ChatMessages):
    """The messages of a request. Calls and results of Mistral's tools are written as those of functions."""

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        wires = super().encode_message(with_functions(message, context), context)
        if context.kind == "request" and message.origin is not None and message.origin.is_answer:
            # A request must not have the position of a message in an answer.
            wires = [{key: value for key, value in wire.items() if key != "index"} for wire in wires]
        return wires


MESSAGES = SentMessages(ASSISTANT, PLAIN, RESULTS)
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", MESSAGES),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        **same_options("parallel_tool_calls", "temperature", "top_p", "frequency_penalty", "presence_penalty"),
        **same_options("logprobs", "top_logprobs", "stream", "metadata"),
        "response_format": ("options.response_format", OneOf(FORMATS)),
        "max_tokens": "options.max_output_tokens",
        "top_k": ("options.top_k", WholeNumber("options.top_k")),
        "random_seed": "options.seed",
        "stop": ("options.stop_sequences", TextOrTexts()),
        "n": "options.choices",
        "service_tier": enum_at("options.service_tier", "auto", "standard_only"),
        "reasoning_effort": enum_at("options.reasoning.effort", *EFFORTS),
    },
    verbatim=Verbatim("stop"),
)
TABLE.keep(
    "request",
    *("guardrails", "min_tokens", "prediction", "prompt_cache_key", "prompt_logprobs", "prompt_mode"),
    *("repetition_penalty", "safe_prompt", "top_prompt_logprobs"),
)


# -- answers -----------------------------------------------------------------------------------------------------------
# If Mistral ran tools, a choice has the list `messages` in place of `message`: the calls, their results, and the text
# after them (ChatCompletionChoice of mistralai 3.7.0, docs.mistral.ai/cookbooks/mistral-connectors-05-connectors-in-
# completions; seen 2026-11-27).

SAME = ("stop", "length", "tool_calls", "error")
FINISH = FinishReasons(
    {**{name: name for name in SAME}, "model_length": "length"},
    {**{name: name for name in SAME}, "pause": "stop"},
    "stop",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
TABLE.keep("response", "object")
TABLE.keep("usage", "prompt_audio_seconds", "service_tier")


class Answer(AnswerMessage):
    """The message of an answer. A stream has a message for each result of Mistral's tools."""

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> dict[str, Any]:
        messages = [with_functions(message, context) for message in value]
        if len(messages) == 1 and messages[0].role == "tool":
            return next(iter(MESSAGES.encode_message(messages[0], context)), {"role": "assistant", "content": ""})
        return super().encode(messages, context, owner)


class AnswerMessages(Codec[list[ChatMessage]]):
    """The messages of an answer. A call that has its result here was run by Mistral, any other is for the client."""

    classes = (list,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value) and all(map(_is_message, value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = MESSAGES.decode(value, context, container, key)
        answered = {wire.get("tool_call_id") for wire in value if wire["role"] == "tool"}
        for message in messages:
            message.contents[:] = [_as_hosted(content, answered, context) for content in message.contents]
        # In other APIs, results of the provider's tools are part of the model's turn.
        return [context.replace(message, role="assistant") for message in messages]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> list[dict[str, Any]]:
        return MESSAGES.encode(value, context, owner)


def _is_message(wire: object) -> bool:
    return isinstance(wire, dict) and wire.get("role") in ("assistant", "tool")


def _as_hosted(content: Any, answered: set[Any], context: DecodeContext) -> Any:
    if content.__class__ is FunctionResultContent:
        return context.replaced(content, as_class(content, HostedToolResultContent, OF_RESULTS))
    if content.__class__ is FunctionCallContent and content.call_id in answered:
        return context.replaced(content, as_class(content, HostedToolCallContent, OF_CALLS))
    return content


ANSWER, SEVERAL = Answer(ASSISTANT), AnswerMessages()
CHOICE: dict[str, Spec] = {
    "index": "index",
    "finish_reason": ("finish_reason", FINISH),
    "logprobs": ("logprobs", ProviderOnly("logprobs")),
}
DEFAULTS = Filled({"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"})
CHOICES = TABLE.union(
    "choice",
    [
        Row("choice.messages", ChatChoice, {**CHOICE, "messages": ("messages", SEVERAL)}),
        Row("choice", ChatChoice, {**CHOICE, "message": ("messages", ANSWER)}, DEFAULTS),
    ],
    tag=None,
    prefer=lambda choice, rows: rows[1],
)


class Choices(Blocks[ChatChoice]):
    """The choices. Some models finish an answer with calls with `stop`."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        return [finished_by_calls(choice) for choice in super().decode(value, context, container, key)]


class Types(ErrorTypes):
    """The types of errors. A list of faults of the request has none (HTTPValidationError of mistralai 3.7.0)."""

    def kind_of(self, wire: Mapping[str, object]) -> str | None:
        kind = super().kind_of(wire)
        return "invalid_request" if kind is None and wire.get("detail").__class__ is list else kind


# The types and codes of recorded errors, of docs.mistral.ai/api (seen 2026-11-23), and of raycast/extensions#31107.
ERRORS = Types(
    ("type", "code", "raw_status_code"),
    {
        "invalid_request": {"type": "invalid_request_error", "param": None, "code": None},
        "rate_limit": {"type": "rate_limited", "param": None, "code": "1300"},
        "overloaded": {"type": "service_tier_capacity_exceeded", "param": None, "code": "3505"},
        "not_found": {"type": "invalid_model", "param": None, "code": "1500"},
        "server": {"type": "internal_server_error", "param": None, "code": "1000"},
    },
    {"invalid_request_message_order": "invalid_request", "invalid_function_call": "invalid_request"},
)
RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "choices": ("choices", Choices(CHOICES)),
        "usage": ("usage", OneOf(USAGES)),
    },
    ErrorFields(ErrorBody(ERROR, ERRORS), "message", "type", "code", "raw_status_code"),
)
