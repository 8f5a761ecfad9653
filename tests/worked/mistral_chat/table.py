"""The table of requests: each wire object of Mistral's chat completions beside its type (mistralai 3.7.0)."""

from __future__ import annotations

from typing import Any

from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    HostedFileContent,
    HostedTool,
    ReasoningContent,
    ResponseFormat,
    TextContent,
    ToolChoice,
    UriContent,
)
from contentmodel.authoring import (
    ArgumentsText,
    Blocks,
    Codec,
    Column,
    Columns,
    DataUri,
    DecodeContext,
    EncodeContext,
    EnumString,
    Field,
    Fields,
    Filled,
    Hint,
    Implied,
    OneOf,
    Opaque,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    object_of,
    passes,
    reasons,
    row,
    with_error_mark,
    with_error_read,
)

API = "mistral-chat"
TABLE = Table(API)


class Thinking(Codec[str]):
    """The parts of a reasoning: one text. Any other list of parts is kept unchanged."""

    classes = (list,)
    identity = False

    def holds(self, value: object) -> bool:
        return bool(isinstance(value, list) and len(value) == 1 and is_text(value[0]) and value[0]["text"])

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        return str(value[0]["text"])

    def encode(self, value: str, context: EncodeContext, owner: object) -> Any:
        return [{"type": "text", "text": value}]


def is_text(part: Any) -> bool:
    """Return whether a part is a text and nothing else."""
    is_plain = isinstance(part, dict) and part.keys() == {"type", "text"}
    return is_plain and part["type"] == "text" and isinstance(part["text"], str)


DATA = (("media_type", "data"), DataUri())
DETAIL = {"image_url.detail": ("detail", EnumString("detail", "auto", "low", "high"))}


def medium(name: str, model: type[Any], fields: dict[str, Any], *others: Field) -> Row:
    """Return a row for media. Its name begins with the tag."""
    return Row(name, model, fields, *others, constants={"type": name.partition(".")[0]})


def usual_row(content: Any, rows: list[Row]) -> Row | None:
    """Return the row for media of another API: a row of images, or of documents."""
    wanted = "image_url" if content.media_kind == "image" else "document_url"
    return next((one for one in rows if one.name.startswith(wanted)), None)


THINKING: dict[str, Spec] = {
    "thinking": ("text", Thinking()),
    "signature": ("protected", Opaque("mistral", "signature")),
}
PARTS = TABLE.union(
    "part",
    [
        row("text", TextContent, {"text": "text"}),
        row("thinking", ReasoningContent, THINKING, Filled({"thinking": []})),
        medium("image_url.data", DataContent, {"image_url.url": DATA, **DETAIL}),
        medium("image_url.short.data", DataContent, {"image_url": DATA}),
        medium("image_url", UriContent, {"image_url.url": "uri", **DETAIL}, Implied({"kind": "image"})),
        medium("image_url.short", UriContent, {"image_url": "uri"}, Implied({"kind": "image"})),
        medium("document_url.data", DataContent, {"document_url": DATA, "document_name": "name"}),
        medium(
            "document_url",
            UriContent,
            {"document_url": "uri", "document_name": "name"},
            Implied({"kind": "document"}),
        ),
        medium("file", HostedFileContent, {"file_id": "file_id"}, Implied({"kind": "document"})),
    ],
    prefer=usual_row,
)
CONTENT = TextOrBlocks(PARTS, "string")


class Arguments(ArgumentsText):
    """The arguments of a call: JSON text, or an object. An object of Mistral is written as an object."""

    classes = (str, dict)

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        return value if context.native and isinstance(value, dict) else super().encode(value, context, owner)


CALL: dict[str, Spec] = {"id": "call_id", "function.name": "name", "function.arguments": ("arguments", Arguments())}
RESULT: dict[str, Spec] = {"tool_call_id": "call_id", "name": "name", "content": ("outputs", CONTENT)}
CALLS = TABLE.union(
    "tool call",
    [row("function", FunctionCallContent, CALL, Filled({"function.arguments": "{}"}))],
    default="function",
)
RESULTS = TABLE.union(
    "result message",
    [Row("tool", FunctionResultContent, RESULT, Filled({"content": ""}), constants={"role": "tool"})],
    tag="role",
)


class Assistant(Codec[str]):
    """The role `assistant`, and no other role."""

    classes = (str,)
    identity = False
    known_values = frozenset({"assistant"})

    def holds(self, value: object) -> bool:
        return value == "assistant"

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return "assistant"


COLUMNS = {
    "content": Column(CONTENT, TextContent, ReasoningContent, DataContent, UriContent, HostedFileContent),
    "tool_calls": Column(Blocks(CALLS), FunctionCallContent),
}
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {"role": ("role", Assistant())},
    Columns("contents", COLUMNS),
    Silent("message_id"),
)
PLAIN = TABLE.record(
    "message",
    ChatMessage,
    {
        "role": ("role", Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))),
        "content": ("contents", CONTENT),
    },
    Silent("message_id"),
    Filled({"content": ""}),
)


class ResultMessage(Fields):
    """The fields of a message of the role `tool`. The message itself is the result."""

    def places(self, value: Any, wire: Any, path: str) -> Any:
        yield value.contents[0], path, wire, RESULTS


RESULT_MESSAGE = ResultMessage({})


class Messages(Codec[list[ChatMessage]]):
    """The messages of a request."""

    classes = (list,)
    identity = False

    def holds(self, value: object) -> bool:
        return isinstance(value, list) and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = []
        for index, wire in enumerate(value):
            if not isinstance(wire, dict):
                context.expected(value, index, "an object: a message", wire)
            elif wire.get("role") == "tool":
                result = with_error_read(RESULTS.decode(wire, context))
                messages.append(ChatMessage(role="tool", contents=[result], origin=context.origin))
            else:
                messages.append((ASSISTANT if wire.get("role") == "assistant" else PLAIN).decode(wire, context))
        context.trace_messages(messages, value, row_of)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> Any:
        return [wire for message in value for wire in encode_message(message, context)]


def row_of(message: ChatMessage) -> Row | Fields:
    """Return the row of a decoded message."""
    if message.role == "tool":
        return RESULT_MESSAGE
    return ASSISTANT if message.role == "assistant" else PLAIN


def encode_message(message: ChatMessage, context: EncodeContext) -> list[Any]:
    """Return the wire messages of one message: one, or one for each result of a tool."""
    if message.role != "tool":
        wire = (ASSISTANT if message.role == "assistant" else PLAIN).encode(message, context)
        # An empty message of another API is not sent.
        return [wire] if context.native or message.contents else []
    if message.message_id or message.author_name or message.extra:
        passes.leave_empty(message, context)
    return RESULTS.encode_list([with_error_mark(content, context) for content in message.contents], context)


FUNCTION = {
    "function.name": "name",
    "function.description": "description",
    "function.parameters": "parameters",
    "function.strict": "strict",
}
TOOLS = TABLE.union(
    "tool",
    [row("function", FunctionTool, FUNCTION, Filled({"function.parameters": {"type": "object", "properties": {}}}))],
    default="function",
    other=Row("other", HostedTool, {"type": "kind"}),
    foreign_types=[FunctionTool],
)
SCHEMA = {
    "json_schema.schema": "schema",
    "json_schema.name": "name",
    "json_schema.description": "description",
    "json_schema.strict": "strict",
}
FORMATS = TABLE.union(
    "response format",
    [
        row("json_schema", ResponseFormat, SCHEMA, Implied({"kind": "json_schema"}), Filled({"json_schema.name": "x"})),
        row("json_object", ResponseFormat, {}, Implied({"kind": "json"})),
        row("text", ResponseFormat, {}, Implied({"kind": "text"})),
    ],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: next((one for one in rows if one.implied.get("kind") == made.kind), rows[0]),
)

FORM = Hint[str | dict[str, Any]](API, "choice", "the tool choice, if it is not spelled as usual")
MODES = {"any": "required"}


class Choice(Codec[ToolChoice]):
    """A tool choice: a mode, or one function. `any` and `required` mean the same; `any` is the usual spelling."""

    classes = (str, dict)
    identity = False
    known_values = frozenset({"auto", "none", "any", "required"})
    tagged = ("type", frozenset({"function"}))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ToolChoice:
        choice = self._read(value)
        return choice if self._write(choice) == value else FORM.on(choice, API, value)

    def encode(self, value: ToolChoice, context: EncodeContext, owner: object) -> Any:
        form = FORM.of(value, API)
        if form is not None and (self._read(form).mode, self._read(form).tools) == (value.mode, value.tools):
            return form
        written = self._write(value)
        if written is None:
            context.report_loss(owner, "options.tool_choice", reasons.NO_TOOL_CHOICE)
            return self._write(ToolChoice(mode=value.mode)) or "auto"
        return written

    def _read(self, value: Any) -> ToolChoice:
        if isinstance(value, str):
            return ToolChoice(mode=MODES.get(value, value))
        name = object_of(value, "function").get("name")
        return ToolChoice(mode="required", tools=[name]) if isinstance(name, str) else ToolChoice(mode="other")

    def _write(self, choice: ToolChoice) -> Any:
        if choice.hosted is None and not choice.tools:
            return {"auto": "auto", "none": "none", "required": "any"}.get(choice.mode)
        if choice.mode == "required" and choice.tools is not None and len(choice.tools) == 1:
            return {"type": "function", "function": {"name": choice.tools[0]}}
        return None


REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", Messages()),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": ("options.tool_choice", Choice()),
        "parallel_tool_calls": "options.parallel_tool_calls",
        "response_format": ("options.response_format", OneOf(FORMATS)),
        "max_tokens": "options.max_output_tokens",
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "top_k": "options.top_k",
        "frequency_penalty": "options.frequency_penalty",
        "presence_penalty": "options.presence_penalty",
        "random_seed": "options.seed",
        "stop": "options.stop_sequences",
        "n": "options.choices",
        "logprobs": "options.logprobs",
        "top_logprobs": "options.top_logprobs",
        "stream": "options.stream",
        "metadata": "options.metadata",
        "service_tier": ("options.service_tier", EnumString("options.service_tier", "auto", "standard_only")),
        "reasoning_effort": (
            "options.reasoning.effort",
            EnumString("options.reasoning.effort", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
        ),
    },
)
