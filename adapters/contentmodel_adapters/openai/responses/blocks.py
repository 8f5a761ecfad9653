"""The table of the Responses API: items, content parts, citations, usage.

Read off openai 3.52 (types/responses), seen November 2026. The item of a hosted tool is both call and result: a
`PairRow` makes two contents of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from contentmodel.authoring import (
    Blocks,
    CachePoints,
    Codec,
    DataUri,
    DecodeContext,
    EncodeContext,
    EnumString,
    Failure,
    Field,
    Fields,
    Filled,
    Implied,
    Opaque,
    Place,
    Row,
    Shape,
    Sign,
    Silent,
    Spec,
    Table,
    TextField,
    reasons,
    row,
    text_of,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import (
    ErrorContent,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.usage import Usage
from contentmodel_adapters.common.command_outputs import CommandOutputs
from contentmodel_adapters.common.makers import sealer_of
from contentmodel_adapters.common.media import AUDIO
from contentmodel_adapters.common.usage import ReasoningInside

API = "openai-responses"
TABLE = Table(API)

DATA_URI = DataUri()
ENCRYPTED = Opaque("openai", "encrypted")


class Sealed(Opaque):
    """The encrypted content of reasoning: of the maker that its `format` names, or else of the maker of the model.

    Only OpenRouter sends a `format` (openrouter.ai/docs, "Responses API", seen 2026-11-27). The APIs of the makers in
    `_SEALING` have this state, too. That of other makers is a host's, and is sent back to this API only. The passes of
    requests remove the states that the target cannot read.
    """

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        maker = FORMATS.get(text_of(container, "format")) or sealer_of(context.origin.model) or self.issuer
        return Protected(issuer=maker if maker in _SEALING else API, kind=self.kind, data=value)

    def is_read(self, issuer: str, context: EncodeContext) -> bool:
        return issuer == API or issuer in _SEALING


_SEALING = ("openai", "xai")
FORMATS = {
    "openai-responses-v1": "openai",
    "azure-openai-responses-v1": "openai",
    "bedrock-openai-responses-v1": "openai",
    "xai-responses-v1": "xai",
    "bedrock-xai-responses-v1": "xai",
    "anthropic-claude-v1": "anthropic",
    "google-gemini-v1": "google",
}
TABLE.known_values("reasoning format", *FORMATS)
SEALED = Sealed("openai", "encrypted")
TEXT_FIELD = TextField(TextContent, "text")


def named_row(name: str, tag: str, model: type[Any], fields: dict[str, Any], *others: Field, **options: Any) -> Row:
    """Return a row whose name differs from its tag, for several rows with the same tag."""
    return Row(name, model, fields, *others, constants={"type": tag}, **options)


# -- citations -----------------------------------------------------------------------------------------------------

CITATIONS = TABLE.union(
    "annotation",
    [
        row(
            "url_citation",
            Citation,
            {"url": "url", "title": "title", "start_index": "span.start", "end_index": "span.end"},
        ),
        # file_citation and file_path refer to one position in the text, the others to a span.
        row("file_citation", Citation, {"file_id": "file_id", "filename": "filename", "index": "span.start"}),
        row("file_path", Citation, {"file_id": "file_id", "index": "span.start"}),
        row(
            "container_file_citation",
            Citation,
            {
                "container_id": "container_id",
                "file_id": "file_id",
                "filename": "filename",
                "start_index": "span.start",
                "end_index": "span.end",
            },
        ),
    ],
    other=Row("other", Citation, {}),
    prefer=lambda citation, rows: rows[0] if citation.url is not None else None,
)

# -- content parts -------------------------------------------------------------------------------------------------


# types/responses/response_input_text_param.py of openai 3.54, seen 2026-11-23.
CACHE_POINT = TABLE.record(
    "prompt_cache_breakpoint",
    CachePoint,
    {"ttl": ("ttl", EnumString("ttl", "30m", "12h", reason=reasons.CACHE_LIFETIME))},
    constants={"mode": "explicit"},
)
CACHED: dict[str, Spec] = {"prompt_cache_breakpoint": ("cache_point", CachePoints(CACHE_POINT))}
"""The field of input parts that end a prompt to cache."""

INPUT_TEXT = row("input_text", TextContent, {"text": "text", **CACHED})
OUTPUT_TEXT = row(
    "output_text",
    TextContent,
    {"text": "text", "annotations": ("annotations", Blocks(CITATIONS))},
    Filled({"annotations": []}),
)
REFUSAL = row("refusal", ErrorContent, {"refusal": "message"}, Implied({"code": "refusal"}), Filled({"refusal": ""}))
# How closely a model looks at an image or a file (types/responses/image_detail.py and response_input_file_param.py of
# openai 3.54, seen 2026-11-22).
_IMAGE: dict[str, Spec] = {"detail": ("detail", EnumString("detail", "auto", "low", "high", "original")), **CACHED}
_FILE: dict[str, Spec] = {"detail": ("detail", EnumString("detail", "auto", "low", "high")), **CACHED}
MEDIA = [
    named_row(
        "image.data",
        "input_image",
        DataContent,
        {"image_url": (("media_type", "data"), DATA_URI), **_IMAGE},
        Filled({"detail": "auto"}),
    ),
    named_row(
        "image.url",
        "input_image",
        UriContent,
        {"image_url": "uri", **_IMAGE},
        Implied({"kind": "image"}),
        Filled({"detail": "auto"}),
    ),
    named_row(
        "image.file",
        "input_image",
        HostedFileContent,
        {"file_id": "file_id", **_IMAGE},
        Implied({"kind": "image"}),
        Filled({"detail": "auto"}),
    ),
    named_row(
        "file.data",
        "input_file",
        DataContent,
        {"file_data": (("media_type", "data"), DATA_URI), "filename": "name", **_FILE},
    ),
    named_row(
        "file.url",
        "input_file",
        UriContent,
        {"file_url": "uri", "filename": "name", **_FILE},
        Implied({"kind": "document"}),
    ),
    named_row(
        "file.id",
        "input_file",
        HostedFileContent,
        {"file_id": "file_id", "filename": "name", **_FILE},
        Implied({"kind": "document"}),
    ),
    row("input_audio", DataContent, {"input_audio.data": "data", "input_audio.format": ("media_type", AUDIO)}),
]


_MEDIA_FORMS: dict[type, str] = {UriContent: "url", DataContent: "data", HostedFileContent: "id"}


def _usual_part(content: Any, rows: list[Row]) -> Row | None:
    names = {r.name: r for r in rows}
    if content.__class__ in (UriContent, DataContent, HostedFileContent):
        form = _MEDIA_FORMS[content.__class__]
        if content.media_kind == "image":
            return names["image.file" if form == "id" else f"image.{form}"]
        return names[f"file.{form}"]
    return rows[0]


INPUT = TABLE.union("input part", [INPUT_TEXT, OUTPUT_TEXT, REFUSAL, *MEDIA], prefer=_usual_part)
OUTPUT = TABLE.union(
    "output part",
    [OUTPUT_TEXT, INPUT_TEXT, REFUSAL, *MEDIA],
    prefer=_usual_part,
    foreign_types=(TextContent, ErrorContent),
)
REASONING = TABLE.union(
    "reasoning part",
    [
        row("summary_text", ReasoningContent, {"text": "text"}, Implied({"kind": "summary"}), Silent("protected")),
        row("reasoning_text", ReasoningContent, {"text": "text"}, Implied({"kind": "text"}), Silent("protected")),
    ],
    prefer=lambda content, rows: rows[1] if content.kind == "text" else rows[0],
)
SCREENSHOT = TABLE.union(
    "screenshot",
    [
        named_row(
            "screenshot.data",
            "computer_screenshot",
            DataContent,
            {"image_url": (("media_type", "data"), DATA_URI)},
        ),
        named_row(
            "screenshot.url", "computer_screenshot", UriContent, {"image_url": "uri"}, Implied({"kind": "image"})
        ),
        named_row(
            "screenshot.file",
            "computer_screenshot",
            HostedFileContent,
            {"file_id": "file_id"},
            Implied({"kind": "image"}),
        ),
    ],
)
SOURCES = TABLE.union("web search source", [row("url", UriContent, {"url": "uri", "title": "title"})])


FOUND = TABLE.union(
    "file search result",
    [
        Row("file", HostedFileContent, {"file_id": "file_id", "filename": "name", "text": "text"}),
        Row("passage", TextContent, {"text": "text"}),
    ],
    tag=None,
)
CODE_OUTPUTS = TABLE.union(
    "code interpreter output",
    [row("logs", TextContent, {"logs": "text"}), row("image", UriContent, {"url": "uri"}, Implied({"kind": "image"}))],
)
# One entry for each command. Its stderr and its failure are separate contents that follow.
SHELL_OUTPUTS = TABLE.union(
    "shell output",
    [
        Row(
            "output",
            TextContent,
            {"stdout": "text"},
            Filled({"stderr": "", "outcome": {"type": "exit", "exit_code": 0}}),
        )
    ],
    find=lambda wire: "output",
)
SHELL_FAILURE = Failure(Sign("outcome.exit_code"), Sign("outcome.type", ("timeout",)))
COMMANDS = CommandOutputs(API, SHELL_FAILURE)


class ShellOutputs(Blocks[AIContent]):
    """The outputs of shell commands."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        return COMMANDS.split(super().decode(value, context, container, key), value)

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return COMMANDS.places(value, wire, path, self.union)

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        return super().encode(COMMANDS.join(value, context), context, owner)


# The readable outputs of an unknown tool. The type of such an object stays in its residue.
ANY_TYPE = ("",)
GIVEN_BACK = TABLE.union(
    "hosted tool output",
    [
        *INPUT.rows,
        *CODE_OUTPUTS.rows,
        Row("other_text", TextContent, {"text": "text"}, shape=Shape(ANY_TYPE, {"text": str})),
        Row("other_printed", TextContent, {"stdout": "text"}, shape=Shape(ANY_TYPE, {"stdout": str})),
        Row("other_page", UriContent, {"url": "uri", "title": "title"}, shape=Shape(ANY_TYPE, {"url": str})),
        Row("other_file", HostedFileContent, {"file_id": "file_id"}, shape=Shape(ANY_TYPE, {"file_id": str})),
    ],
    prefer=_usual_part,
    accepts_untyped=True,
)


class MadeImage(Codec[list[AIContent]]):
    """The base64 of a generated image. Another field of the item has its format."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        return [DataContent(data=value)]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, None)]

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        for content in value[1:]:
            context.report_loss(content, None, reasons.ONE_IMAGE)
        context.report_lost_attributes(value[0], ("media_type", "name"))
        return value[0].data

    def describe(self) -> str:
        return "base64"


class FailureObject(Codec[list[AIContent]]):
    """A failure as a string or an object, kept as received.

    One that was created by the application is a string, or the value of `made`. `field` is the key of the message in an
    object without "message".
    """

    classes = (str, dict)
    identity = False

    def __init__(self, made: Callable[[ErrorContent], Any] | None = None, field: str = "message") -> None:
        self._made, self._field = made, field

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is str:
            failure = ErrorContent(message=value)
        else:
            code = value.get(self._fields_of(value).get("code", ""))
            text = _text_of_failure(value.get(self._message_of(value)))
            failure = ErrorContent(message=text or "", code=None if code is None else str(code), details=value)
        return [failure]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        row = Fields(self._fields_of(wire), rest="details") if wire.__class__ is dict else None
        return [(value[0], path, wire, row)]

    def _fields_of(self, wire: dict[str, Any]) -> dict[str, str]:
        """Return the fields of an object that are the message and the code, by attribute."""
        message, code = self._message_of(wire), "code" if "code" in wire else "type"
        fields = {} if _text_of_failure(wire.get(message)) is None else {"message": message}
        return {**fields, "code": code} if wire.get(code).__class__ in (str, int) else fields

    def _message_of(self, wire: dict[str, Any]) -> str:
        return "message" if "message" in wire else self._field

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        failure = value[0]
        if failure.details is None:
            return self._made(failure) if self._made is not None and context.completes else failure.message
        field = self._message_of(failure.details)
        text = _text_of_failure(failure.details.get(field))
        # In documents of earlier versions, the message of a list of texts is empty.
        if text is None or failure.message in (text, "" if isinstance(failure.details[field], list) else text):
            return failure.details
        return {**failure.details, field: failure.message}


def _text_of_failure(value: Any) -> str | None:
    """Return the message of a failure: a text, or the texts of a result of MCP; None if it is anything else."""
    if value.__class__ is str:
        return value
    if value.__class__ is not list or not value or not all(map(_is_plain_text, value)):
        return None
    return "\n".join(block["text"] for block in value)


def _is_plain_text(block: Any) -> bool:
    if block.__class__ is not dict or block.get("type") != "text" or block.get("text").__class__ is not str:
        return False
    return all(value is None or key in ("type", "text") for key, value in block.items())


# The objects of openai 3.54, types/responses/response_output_item.py and mcp_tool_call_error.py, seen 2026-11-22.
IMAGE_ERROR = FailureObject(lambda e: {"type": e.code or "error", "code": e.code, "message": e.message or e.code or ""})
MCP_ERROR = FailureObject(
    lambda e: {"type": "mcp_tool_execution_error", "content": e.message or e.code or ""}, field="content"
)
LIST_ERROR = FailureObject()

# -- records -------------------------------------------------------------------------------------------------------

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "input_tokens_details.cached_tokens": "cache_read_tokens",
        "input_tokens_details.cache_write_tokens": "cache_write_tokens",
        "output_tokens_details.reasoning_tokens": "reasoning_tokens",
    },
    ReasoningInside("input_tokens", "output_tokens"),
    Silent("cached_inside"),
)
ERROR = TABLE.record(
    "error", ErrorContent, {"message": "message", "code": "code"}, Silent("kind"), Filled({"message": ""})
)

# Nested strings and objects that stay inside `arguments`, or in the residue, as received.
TABLE.known_values("web_search.action", "search", "open_page", "find_in_page")
TABLE.known_values(
    "computer.actions",
    *("click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"),
)
TABLE.known_values("shell.outcome", "exit", "timeout")
TABLE.known_values("apply_patch.operation", "create_file", "delete_file", "update_file")
TABLE.keep(
    "request",
    *(
        "access_programs",
        "background",
        "background_options",
        "context_management",
        "image",
        "include",
        "max_tool_calls",
        "moderation",
        "prompt",
    ),
    *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "stream_options"),
    "truncation",
)
TABLE.keep(
    "response",
    *(
        "access_programs",
        "background",
        "completed_at",
        "conversation",
        "image",
        "input_transformations",
        "instructions",
    ),
    *("max_output_tokens", "max_tool_calls", "metadata", "moderation", "object", "parallel_tool_calls"),
    *("previous_response_id", "prompt", "prompt_cache_diagnostics", "prompt_cache_key", "prompt_cache_options"),
    *("prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "temperature", "text", "tool_choice"),
    *("tool_usage", "tools", "top_logprobs", "top_p", "truncation", "user"),
)
