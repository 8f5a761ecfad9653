"""The table of /api/chat: texts, images without a media type, calls whose arguments are objects, requests and answers.

The facts are those of the types of ollama 0.6.3 (_types.py), and of the server's api/types.go and docs.ollama.com/api
(seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.authoring import (
    AnswerMessage,
    ArgumentsObject,
    Blocks,
    ChatMessages,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Filled,
    FinishReasons,
    Hint,
    Inlined,
    MintedId,
    NonEmptyText,
    Place,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    WholeNumber,
    chat,
    foreign,
    reasons,
    same_options,
    spread,
    with_minted_ids,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.media_types import media_type_of_data
from contentmodel.content.outcomes import ErrorContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.failures import STATUSES, error_kind, is_too_long
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, ReasoningOptions, ResponseFormat
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import OnlyAnswer, TokenLogprobs

API = "ollama-chat"
TABLE = Table(API)
BETWEEN = "\n\n"
"""The separator of several texts in one field."""
SHOWN_TYPE = reasons.insignificant(
    "ollama-chat-media-type", "{target} detects the media type from the first bytes of the image"
)


# The attributes of an image that the API has no field for.
_IMAGE = TABLE.record("image", DataContent, {"data": "data"}, Silent("media_type"))


class Images(Codec[list[AIContent]]):
    """Images as base64. The media type is not sent: the server detects it from the first bytes.

    An entry of another class is an unknown content.
    """

    classes = (list,)
    identity = False
    has_strays = True

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return [image(item) if item.__class__ is str else UnknownContent(api=API, block=item) for item in value]

    def count(self, wire: Any) -> int:
        return len(wire)

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        return spread(value, wire, path, None)

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        return [self._entry(content, context) for content in value] or None

    def _entry(self, content: Any, context: EncodeContext) -> Any:
        if content.__class__ is UnknownContent:
            context.leave_residue(content)
            return content.block
        _IMAGE.encode(content, context)
        is_shown = content.media_type == media_type_of_data(content.data)
        if content.media_type is not None and not (is_shown and context.native):
            context.report_loss(content, "media_type", SHOWN_TYPE if is_shown else reasons.NO_FIELD)
        return content.data

    def describe(self) -> str:
        return "list of base64 strings"


def image(data: str) -> DataContent:
    """Decode an image in base64. Its media type is detected from its first bytes."""
    return DataContent(data=data, media_type=media_type_of_data(data))


class Text(NonEmptyText):
    """The text of a message. Several texts of a request are separated; those of an answer are pieces of one text."""

    def encode(self, value: Any, context: EncodeContext, owner: object) -> str | None:
        if context.kind == "response":
            return _PIECES.encode(value, context, owner)
        # An empty text needs no separator.
        texts = [content for content in value if not foreign.is_empty_text(content)]
        for content in value if texts else ():
            if foreign.is_empty_text(content):
                foreign.leave_empty_text(content, context)
        return super().encode(texts or value, context, owner)


_PIECES = NonEmptyText(TextContent, "text")
CALLS = TABLE.union(
    "tool call",
    [
        Row(
            "call",
            FunctionCallContent,
            {
                "id": ("call_id", MintedId()),
                "function.name": "name",
                "function.arguments": ("arguments", ArgumentsObject()),
            },
            Filled({"function.arguments": {}}),
        )
    ],
    tag=None,
)
TEXTS = {"thinking": ReasoningContent, "content": TextContent}
"""The fields of a message that are one text."""
THINKING_COLUMN = Column(NonEmptyText(ReasoningContent, "text", between=BETWEEN), ReasoningContent)
CONTENT = Column(Text(TextContent, "text", between=BETWEEN), TextContent)
# Answers may have images: ChatResponse in docs/openapi.yaml of ollama/ollama (seen 2026-11-26). The client ollama 0.6.3
# fails to read them, because its class of a message does not take strings.
IMAGES = Column(Images(), DataContent)
TOOL_CALLS = Column(Blocks(CALLS))


# -- tools -------------------------------------------------------------------------------------------------------------

FUNCTION = {f"function.{key}": key for key in ("name", "description", "parameters")}
TOOLS = chat.function_tools(TABLE, FUNCTION, [chat.free_text_function()], default="function", find=chat.row_of_function)
LEVELS = ("low", "medium", "high", "max")
"""The levels of thinking that the server accepts (api/types.go, ThinkValue)."""
# The attributes of a response format that the API has no field for.
_FORMAT = TABLE.record("response format", ResponseFormat, {"schema": "schema"}, Silent("kind", "media_type"))


class Format(Codec[ResponseFormat]):
    """The format of the answer: "json", or a JSON Schema."""

    classes = (str, dict)
    identity = False
    known_values = frozenset({"json", ""})

    def holds(self, value: object) -> bool:
        return value == "json" or (value.__class__ is dict and bool(value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ResponseFormat:
        return ResponseFormat(kind="json") if value == "json" else ResponseFormat(kind="json_schema", schema=value)

    def encode(self, value: ResponseFormat, context: EncodeContext, owner: object) -> Any:
        wire = _FORMAT.encode(value, context)
        if value.schema is None and value.kind not in ("json", "json_schema"):
            if value.kind != "text":
                context.report_loss(value, "kind", reasons.UNSUPPORTED_VALUE, value=value.kind)
            return None
        return wire.get("schema", "json")

    def describe(self) -> str:
        return "str or dict"


class Think(Codec[ReasoningOptions]):
    """Thinking: on, off, or a level."""

    classes = (bool, str)
    identity = False
    known_values = frozenset(LEVELS)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ReasoningOptions:
        if value.__class__ is str:
            return ReasoningOptions(effort=value)
        return ReasoningOptions(mode="adaptive" if value else "disabled")

    def encode(self, value: ReasoningOptions, context: EncodeContext, owner: object) -> Any:
        context.report_lost_attributes(value, ("budget_tokens", "include", "summary"))
        if value.effort is None or value.mode == "disabled":
            context.report_lost_attributes(value, ("effort",))
            return None if value.mode is None else value.mode != "disabled"
        if value.mode is not None:
            # A level turns thinking on.
            context.report_loss(value, "mode", reasons.THINKING_CONVERTED)
        return value.effort


class Limit(Codec[int]):
    """The maximum number of tokens. -1 (no limit) and -2 (fill the context) are not limits, and stay in the residue.

    Source: `num_predict` in docs.ollama.com/modelfile, seen 2026-11-26.
    """

    classes = (int,)

    def holds(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# -- messages ----------------------------------------------------------------------------------------------------------

ROLES = Roles(API, {"system": "system", "user": "user"}, elsewhere=("assistant", "tool"))
COLUMNS = {"content": CONTENT, "images": IMAGES}
EVERY_COLUMN = {"thinking": THINKING_COLUMN, **COLUMNS, "tool_calls": TOOL_CALLS}
ASSISTANT = chat.assistant_messages(TABLE, EVERY_COLUMN, Filled({"content": ""}))
PLAIN = chat.plain_messages(TABLE, ROLES, {}, Columns("contents", COLUMNS))
RESULT: dict[str, Spec] = {"tool_call_id": ("call_id", MintedId()), "tool_name": "name"}
RESULTS = chat.result_messages(TABLE, RESULT, Columns("outputs", COLUMNS))


class Messages(ChatMessages):
    """The messages of a request. Calls and results without ids get ids, in pairs."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return with_minted_ids(super().decode(value, context, container, key), context)


class Answer(AnswerMessage):
    """The message of an answer, whose calls get ids."""

    def holds(self, value: object) -> bool:
        return isinstance(value, dict) and value.get("role") == "assistant"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return with_minted_ids(super().decode(value, context, container, key), context, context.answer_id)


MESSAGES = Messages(ASSISTANT, PLAIN, RESULTS)
ANSWER = Answer(ASSISTANT)


# -- answers -----------------------------------------------------------------------------------------------------------

# "stop" also ends an answer with calls. "load" and "unload" answer requests without messages (server/routes.go).
FINISH = FinishReasons(
    {"stop": "stop", "length": "length", "load": "other", "unload": "other"},
    {"stop": "stop", "length": "length", "tool_calls": "stop"},
    "stop",
    implied=("tool_calls",),
)
TABLE.known_values("done_reason", *FINISH.reasons)
CHOICE = TABLE.record(
    "answer",
    ChatChoice,
    {
        "message": ("messages", ANSWER),
        "done_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", TokenLogprobs(list)),
    },
    Silent("index"),
)
USAGE = TABLE.record(
    "usage",
    Usage,
    {"prompt_eval_count": "input_tokens", "eval_count": "output_tokens"},
    Silent("cached_inside", "reasoning_inside"),
)


def id_of_answer(wire: dict[str, Any]) -> str | None:
    """Return the time of an answer, from which ids are derived: an answer has no id."""
    created = wire.get("created_at")
    return created if isinstance(created, str) else None


class ErrorText(Codec[ErrorContent]):
    """An error, which is only a text. The kind of the error is in the HTTP status, unless the text shows it."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ErrorContent:
        return ErrorContent(message=value, kind="context_length" if is_too_long(value) else None)

    def encode(self, value: ErrorContent, context: EncodeContext, owner: object) -> str:
        kind = error_kind(value)
        context.status = STATUSES.get(kind or "server", 500)
        context.report_lost_attributes(value, ("details",))
        if value.code is not None:
            context.report_loss(value, "code", reasons.NO_ERROR_TYPE)
        context.leave_residue(value)
        return value.message or value.code or ""


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {"model": "model", "created_at": "created", "error": ("error", ErrorText())},
    OnlyAnswer("choices", CHOICE, one_of_list=True),
    Inlined("usage", USAGE),
)
TABLE.keep(
    "response",
    *("done", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration"),
    *("remote_model", "remote_host"),
)


# -- requests ----------------------------------------------------------------------------------------------------------

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", MESSAGES),
        "tools": ("tools", Blocks(TOOLS)),
        **same_options("stream", "logprobs", "top_logprobs"),
        "format": ("options.response_format", Format()),
        "think": ("options.reasoning", Think()),
        "options.num_predict": ("options.max_output_tokens", Limit()),
        **same_options("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", at="options."),
        "options.top_k": ("options.top_k", WholeNumber("options.top_k")),
        "options.stop": "options.stop_sequences",
    },
)
TABLE.keep("request", "keep_alive", "truncate", "shift")
TABLE.keep(
    "options",
    *("num_ctx", "num_keep", "num_batch", "num_gpu", "main_gpu", "num_thread", "use_mmap", "use_mlock", "low_vram"),
    *("min_p", "tfs_z", "typical_p", "repeat_last_n", "repeat_penalty", "penalize_newline", "draft_num_predict"),
    *("mirostat", "mirostat_tau", "mirostat_eta", "numa", "f16_kv", "logits_all", "vocab_only", "embedding_only"),
)
STREAMED = Hint[dict[str, Any]](API, "stream", "the field `stream` of a request that streams by default")


def read_stream(request: ChatRequest, wire: dict[str, Any]) -> ChatRequest:
    """Return a request with `stream` set. The API streams unless `stream` is false."""
    if wire.get("stream") is not None:
        return request
    residue = {key: value for key, value in (request.extra or {}).get(API, {}).items() if key != "stream"}
    residue |= STREAMED.entry({"stream": None} if "stream" in wire else {})
    options = msgspec.structs.replace(request.options, stream=True)
    return msgspec.structs.replace(request, options=options, extra={**(request.extra or {}), API: residue})
