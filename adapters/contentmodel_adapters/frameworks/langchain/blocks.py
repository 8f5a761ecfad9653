"""The table of LangChain's messages: their standard content blocks, calls, results and usage.

Source: langchain-core 1.7.2 (messages/content.py, messages/ai.py, messages/tool.py and
messages/block_translators), seen 2026-11-23. Blocks in the format of a provider are decoded by the adapter of its API
(`guests.py`).
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    ArgumentsText,
    Blocks,
    CachePoints,
    Codec,
    Column,
    Columns,
    DataUri,
    DecodeContext,
    EncodeContext,
    Filled,
    FinishReasons,
    Group,
    Implied,
    Opaque,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    Words,
    first_fitting,
    object_of,
    object_or_text,
    row,
)
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.hosted import CodeInterpreterToolCallContent, CodeInterpreterToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.literals import ProtectedKind
from contentmodel.message import ChatMessage
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import OF_PROVIDERS
from contentmodel_adapters.common.hosted import output_columns
from contentmodel_adapters.frameworks import hosted_tools

API = "langchain-messages"
TABLE = Table(API)


def without_fields(wire: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a copy of an object without some fields."""
    return {name: value for name, value in wire.items() if name not in names}


def is_own(message: ChatMessage) -> bool:
    """Return whether a message was decoded from this format. Its origin may be the API of its provider."""
    return (message.origin is not None and message.origin.api == API) or API in (message.extra or {})


def own_extra(message: ChatMessage) -> dict[str, dict[str, Any]]:
    """Return the extra fields that make a message one of this format, whatever its origin is."""
    extra = message.extra or {}
    return {**extra, API: extra.get(API, {})}


class ProviderState(Opaque):
    """Opaque state of the provider of the message, which the message's metadata name."""

    def __init__(self, kind: ProtectedKind, *, mandatory: bool = False) -> None:
        # The issuer is the provider's name, not that of a model.
        super().__init__(API, kind, lambda model: None, mandatory=mandatory)

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        return Protected(issuer=context.origin.issuer or API, kind=self.kind, data=value)

    def is_read(self, issuer: str, context: EncodeContext) -> bool:
        return issuer == (context.issuer or API)


SIGNATURE: Spec = ("protected", ProviderState("signature"))
ENCRYPTED: Spec = ("protected", ProviderState("encrypted", mandatory=True))
CACHE_POINT = TABLE.record("cache_control", CachePoint, {"ttl": "ttl"}, constants={"type": "ephemeral"})
BEDROCK_POINT = TABLE.record("cachePoint", CachePoint, {"ttl": "ttl"}, constants={"type": "default"})
COMMON: dict[str, Spec] = {
    "extras.signature": SIGNATURE,
    "cache_control": ("cache_point", CachePoints(CACHE_POINT)),
}
"""Fields of texts, calls and media: the signature of the provider, and Anthropic's cache point."""

# -- texts and reasoning -----------------------------------------------------------------------------------------------

_CITED: dict[str, Spec] = {
    "url": "url",
    "title": "title",
    "start_index": "span.start",
    "end_index": "span.end",
    "cited_text": "cited_text",
    "extras.file_id": "file_id",
    "extras.filename": "filename",
    "extras.container_id": "container_id",
    "extras.document_index": "document_index",
}


def _annotation(wire: dict[str, Any]) -> str | None:
    if wire.get("type") != "citation":
        return None
    is_of_gemini = "google_ai_metadata" in object_of(wire, "extras")
    return "citation.gemini" if is_of_gemini else "citation"


ANNOTATIONS = TABLE.union(
    "annotation",
    [
        row("citation", Citation, _CITED, Implied({"span.unit": "codepoint"})),
        # langchain-core writes the numbers of Gemini, which count bytes (messages/block_translators/google_genai.py,
        # seen 2026-11-27).
        row("citation", Citation, _CITED, Implied({"span.unit": "byte"}), form="gemini"),
    ],
    find=_annotation,
    other=Row("other", Citation, {}),
    prefer=lambda citation, rows: rows[0],
)
TEXT = row("text", TextContent, {"text": "text", "annotations": ("annotations", Blocks(ANNOTATIONS)), **COMMON})
JSON = [
    row("json", JsonContent, {"json": "value"}),
    # Converse's own block, which langchain-aws 1.9.1 sends unchanged (`_lc_content_to_bedrock`, seen 2026-11-27).
    Row("json.bare", JsonContent, {"json": "value"}),
]
"""JSON in results of tools of Bedrock."""


class _OnlySummary(Codec[str]):
    """The text of a list with one summary, which has no type."""

    classes = (list,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return value.__class__ is list and len(value) == 1 and is_untyped(value[0])

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        text: str = value[0]["text"]
        return text

    def encode(self, value: str, context: EncodeContext, owner: object) -> list[dict[str, str]]:
        return [{"text": value}]


def is_untyped(summary: Any) -> bool:
    """Return whether a summary has only a text, as Cohere's thinking has it: that of OpenAI has a type."""
    return summary.__class__ is dict and summary.keys() == {"text"} and summary["text"].__class__ is str


REASONING = [
    # Cohere's thinking, with the id of the answer (langchain-cohere 0.6.0, chat_models.py, seen 2026-11-27).
    row("reasoning", ReasoningContent, {"summary": ("text", _OnlySummary(list))}, form="cohere"),
    # OpenAI's encrypted reasoning is beside the text or, without a text, among the extras.
    row("reasoning", ReasoningContent, {"reasoning": "text", "encrypted_content": ENCRYPTED}, form="encrypted"),
    row("reasoning", ReasoningContent, {"reasoning": "text", "extras.encrypted_content": ENCRYPTED}, form="extras"),
    row("reasoning", ReasoningContent, {"reasoning": "text", "extras.signature": SIGNATURE}),
    # The blocks of langchain-google-genai and langchain-aws.
    row("thinking", ReasoningContent, {"thinking": "text", "signature": SIGNATURE}),
    row(
        "reasoning_content",
        ReasoningContent,
        {"reasoning_content.text": "text", "reasoning_content.signature": SIGNATURE},
    ),
]

# -- media -------------------------------------------------------------------------------------------------------------

KINDS = {"image": "image", "audio": "audio", "video": "video", "file": "document", "text-plain": "document"}
MIME_TYPE: dict[str, Spec] = {"mime_type": "media_type", **COMMON}
DETAIL: dict[str, Spec] = {"extras.detail": "detail", **COMMON}
BASE64: Spec = ("data", Required())
PLAIN_TEXT: Spec = ("text", Required())
DATA_URI: Spec = (("media_type", "data"), DataUri())
FILENAME: dict[str, Spec] = {"filename": ("name", Required())}


def _media(tag: str, kind: str) -> list[Row]:
    """Return the rows of blocks of one kind of media."""
    of_kind = Implied({"kind": kind})
    rows = _newer_media(tag, of_kind, {"extras.filename": "name"})
    if tag == "text-plain":
        return [*rows, row(tag, DataContent, {"text": PLAIN_TEXT, "title": "name", **MIME_TYPE}, form="text")]
    rows = [*_older_media(tag, of_kind, {"metadata.filename": "name"}), *rows]
    if tag != "file":
        return rows
    # The translator of langchain-core (messages/block_translators/openai.py, seen 2026-11-27) prefers this name.
    return [*_older_media(tag, of_kind, FILENAME, "named."), *_newer_media(tag, of_kind, FILENAME, "named."), *rows]


def _newer_media(tag: str, of_kind: Implied, named: dict[str, Spec], prefix: str = "") -> list[Row]:
    """Return the rows of blocks that have the name in the field `named`."""
    fields, typed = {**DETAIL, **named}, {**MIME_TYPE, **DETAIL, **named}
    return [
        row(tag, DataContent, {"base64": BASE64, **typed}, form=f"{prefix}base64"),
        row(tag, DataContent, {"url": DATA_URI, **fields}, form=f"{prefix}uri"),
        row(tag, UriContent, {"url": "uri", **typed}, of_kind, form=f"{prefix}url"),
        row(tag, HostedFileContent, {"file_id": "file_id", **typed}, of_kind, form=f"{prefix}file_id"),
    ]


def _older_media(tag: str, of_kind: Implied, named: dict[str, Spec], prefix: str = "") -> list[Row]:
    """Return the rows of the same blocks before version 1, in which `source_type` names the form."""
    forms: dict[str, tuple[type[Any], Spec, str]] = {
        "base64": (DataContent, BASE64, "data"),
        "url": (UriContent, "uri", "url"),
        "id": (HostedFileContent, "file_id", "id"),
        "text": (DataContent, PLAIN_TEXT, "text"),
    }
    return [
        Row(
            f"{tag}.source.{prefix}{form}",
            model,
            {key: spec, **named, **MIME_TYPE},
            *([] if model is DataContent else [of_kind]),
            constants={"type": tag, "source_type": form},
        )
        for form, (model, spec, key) in forms.items()
    ]


MEDIA = [
    *(media_row for tag, kind in KINDS.items() for media_row in _media(tag, kind)),
    # The blocks of langchain-google-genai, and of OpenAI with a link instead of an object.
    row("media", DataContent, {"data": BASE64, **MIME_TYPE}),
    row("media", UriContent, {"file_uri": "uri", **MIME_TYPE}, form="uri"),
    row("image_url", DataContent, {"image_url": DATA_URI, **COMMON}),
    row("image_url", UriContent, {"image_url": "uri", **COMMON}, Implied({"kind": "image"}), form="url"),
    # The blocks of MCP, which results of its tools have.
    *(
        row(tag, DataContent, {"data": BASE64, "mimeType": ("media_type", Required())}, form="mcp")
        for tag in ("image", "audio")
    ),
]


# -- calls -------------------------------------------------------------------------------------------------------------


class _Arguments(ArgumentsObject):
    """Arguments as an object. Those of a damaged message may be a text, which stays one in this format."""

    classes = (dict, str)

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        return super().encode(value, context, owner) if context.completes else value


CALL: dict[str, Spec] = {"id": "call_id", "name": "name"}
NO_ARGS: dict[str, Any] = {"args": {}, "id": None, "name": ""}
ARGS: dict[str, Spec] = {**CALL, "args": ("arguments", _Arguments("__arg1"))}
TEXT_ARGS: dict[str, Spec] = {**CALL, "args": ("arguments", Codec(str))}
FUNCTION_CALLS = [
    row("tool_call", FunctionCallContent, {**ARGS, **COMMON}, Filled(NO_ARGS)),
    row("invalid_tool_call", FunctionCallContent, TEXT_ARGS, Filled({**NO_ARGS, "error": None, "args": None})),
    row("tool_call_chunk", FunctionCallContent, TEXT_ARGS),
]


def is_invalid(call: Any) -> bool:
    """Return whether the arguments of a call are a text that is not a JSON object."""
    return call.arguments.__class__ is str and parsed(call.arguments) is None


def parsed(text: str) -> dict[str, Any] | None:
    """Return the object of a JSON text; {} if the text is empty, None if it is anything else."""
    value = object_or_text(text or "{}")
    return value if isinstance(value, dict) else None


CALLS = TABLE.union("tool call", [row("tool_call", FunctionCallContent, ARGS, Filled(NO_ARGS))], default="tool_call")
INVALID_CALLS = TABLE.union(
    "invalid tool call",
    [row("invalid_tool_call", FunctionCallContent, TEXT_ARGS)],
    default="invalid_tool_call",
)
OLDER_CALLS = TABLE.union(
    "older tool call",
    [
        row(
            "function",
            FunctionCallContent,
            {"id": "call_id", "function.name": "name", "function.arguments": ("arguments", ArgumentsText())},
            Filled({"function.arguments": "{}"}),
        )
    ],
    default="function",
)
OLDER_CALL = TABLE.union(
    "older function call",
    [Row("function_call", FunctionCallContent, {"name": "name", "arguments": ("arguments", ArgumentsText())})],
    find=lambda wire: "function_call",
)
"""OpenAI's calls in messages before langchain-core 0.1.46 (`AIMessage._backwards_compat_tool_calls`)."""

HOSTED = {
    **{name: name for name in ("web_search", "web_fetch", "code_interpreter", "file_search", "image_generation")},
    "bash_code_execution": "shell",
    "text_editor_code_execution": "text_editor",
    **{name: name for name in ("tool_search", "url_context")},
    "google_maps": "maps",
    "advisor": "advisor",
    "remote_mcp": "mcp_server",
    "mcp_list_tools": "mcp_list_tools",
    "other": hosted_tools.OTHER,
}
"""The kind of each hosted tool, by the name that its calls have."""
ALSO_NAMED = {
    "web_search": ("google_search",),
    "code_interpreter": ("code_execution",),
    "file_search": ("file_search_call",),
    "bash_code_execution": ("shell",),
    "text_editor_code_execution": ("text_editor",),
    "tool_search": ("tool_search_tool_bm25", "tool_search_tool_regex"),
    "google_maps": ("maps",),
}
"""Other names of a tool, in blocks of some packages."""
_OF_SERVERS: dict[str, dict[str, Spec]] = {
    "remote_mcp": {"extras.tool_name": "name", "extras.server_name": "server"},
    "mcp_list_tools": {"extras.server_label": "server"},
}
"""The fields of the tools of MCP servers, whose calls all have the same name."""


def _server_call(name: str, kind: str) -> Row:
    server_fields = _OF_SERVERS.get(name)
    return row(
        "server_tool_call",
        hosted_tools.CALLS[kind],
        {"id": "call_id", **({"name": "name"} if server_fields is None else server_fields), "args": ARGS["args"]},
        Filled({"args": {}, "id": "", "name": "" if name == "other" else name}),
        Silent("status"),
        **({"form": name} if server_fields is None else {"constants": {"name": name}}),
        select=("name", (name, *ALSO_NAMED.get(name, ()))) if server_fields is None and name != "other" else None,
    )


SERVER_CALLS = [_server_call(name, kind) for name, kind in HOSTED.items()]

# -- results -----------------------------------------------------------------------------------------------------------


STATUS = Words({"success": False, "error": True})
GIVEN_BACK = TABLE.union(
    "server tool output",
    [
        Row("output.text", TextContent, {"text": "text"}),
        Row("output.logs", TextContent, {"logs": "text"}),
        Row("output.printed", TextContent, {"stdout": "text"}),
        Row("output.page", UriContent, {"url": "uri", "title": "title"}),
        Row("output.file", HostedFileContent, {"file_id": "file_id", "filename": "name"}),
    ],
    tag=None,
)
OUTPUT_COLUMNS = output_columns(GIVEN_BACK, "output")
RESULT: dict[str, Spec] = {"tool_call_id": "call_id", "status": ("is_error", STATUS)}
SERVER_RESULTS = [
    row(
        "server_tool_result",
        hosted_tools.RESULTS[kind],
        RESULT,
        Columns("outputs", {"output": OUTPUT_COLUMNS["output"]}),
        Filled({"tool_call_id": "", "status": "success"}),
        Silent("name"),
        form=name,
    )
    # A result gets the class of its tool after its call is decoded.
    for name, kind in sorted(HOSTED.items(), key=lambda item: item[0] != "other")
]
RESULT_CLASSES = frozenset(result.model for result in SERVER_RESULTS)


class _Code(Group):
    """The arguments of Gemini's code tool, under the names that the API has."""

    keys = ("executable_code", "language")
    attribute = "arguments"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> dict[str, Any]:
        return {_OF_CODE.get(key, key): wire[key] for key in self.keys if key in wire}

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        arguments = _AS_OBJECT.encode(value, context, owner) if value.__class__ is str else value
        wire |= {_OF_BLOCK.get(key, key): item for key, item in (arguments or {}).items()}


_OF_CODE = {"executable_code": "code"}
_OF_BLOCK = {name: key for key, name in _OF_CODE.items()}
_AS_OBJECT = ArgumentsObject("code")


class _MadeId(Codec[str]):
    """An id that LangChain makes for a call, and that its result does not have. It stays in the residue."""

    def holds(self, value: object) -> bool:
        return False

    def encode(self, value: str, context: EncodeContext, owner: object) -> str | None:
        return value or None


class _Failed(Group):
    """Decides by its outcome if a result of Gemini's code tool is an error. Encoding writes the outcome alone."""

    attribute = "is_error"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> bool | None:
        outcome = wire.get("outcome")
        return (outcome.__class__ is int and outcome == _OUTCOME_FAILED) or None

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        """Write nothing: the outcome shows it."""


_OUTCOME_FAILED = 2
OUTCOMES = {1: "OUTCOME_OK", _OUTCOME_FAILED: "OUTCOME_FAILED"}
OUTCOME: Spec = ("status", Words(OUTCOMES))
# The blocks of langchain-google-genai for its code tool, and those that langchain-core makes of the results for version
# 1 (messages/block_translators/google_genai.py, seen 2026-11-27).
CODE = [
    row(
        "executable_code",
        CodeInterpreterToolCallContent,
        {"id": ("call_id", _MadeId(str))},
        _Code(),
        Silent("name", "status"),
    ),
    row(
        "code_execution_result",
        CodeInterpreterToolResultContent,
        {"tool_call_id": ("call_id", _MadeId(str)), "outcome": OUTCOME},
        Columns("outputs", {"code_execution_result": Column(TextField(TextContent, "text"), TextContent)}),
        _Failed(),
        Silent("name"),
    ),
]
STANDARD_CODE = row(
    "server_tool_result",
    CodeInterpreterToolResultContent,
    {**RESULT, "extras.outcome": OUTCOME},
    Columns("outputs", {"output": OUTPUT_COLUMNS["output"]}),
    Filled({"tool_call_id": "", "status": "success"}),
    Silent("name"),
    form="gemini",
    constants={"extras.block_type": "code_execution_result"},
)

# -- the union of blocks -----------------------------------------------------------------------------------------------

BLOCKS = [TEXT, *REASONING, *MEDIA, *FUNCTION_CALLS, *SERVER_CALLS, STANDARD_CODE, *SERVER_RESULTS, *CODE]


def usual_row(content: Any, rows: list[Row]) -> Row | str:
    """Return the row that usually encodes a content that several rows can hold, or its name."""
    if isinstance(content, DataContent | UriContent | HostedFileContent):
        kind = content.media_kind if content.media_kind in ("image", "audio", "video") else "file"
        if isinstance(content, DataContent):
            return "text-plain.text" if content.text is not None else f"{kind}.base64"
        return f"{kind}.url" if isinstance(content, UriContent) else f"{kind}.file_id"
    if content.__class__ is JsonContent:
        # Each block has the hint of its row. Other JSON is sent as text.
        return ""
    if content.__class__ is ReasoningContent:
        is_encrypted = content.protected is not None and content.protected.kind == "encrypted"
        return "reasoning.extras" if is_encrypted else "reasoning"
    if content.__class__ is CodeInterpreterToolResultContent:
        return "server_tool_result.code_interpreter"
    return rows[content.__class__ is FunctionCallContent and is_invalid(content)]


_find = first_fitting(BLOCKS, unknown=(*KINDS, "media", "image_url"))


def name_of(block: dict[str, Any]) -> str | None:
    """Return the name of the row of a standard block; None for a block in the format of a provider."""
    kind = block.get("type")
    if kind == "text" and ("citations" in block or not _are_standard(block.get("annotations"))):
        return None
    if is_reference(block):
        return None
    if kind == "reasoning" and "summary" in block and not _OnlySummary(list).holds(block["summary"]):
        return None
    if kind == "thinking" and block.get(kind).__class__ is list:
        return None
    reasoning = block.get("reasoning_content")
    if kind == "reasoning_content" and (reasoning.__class__ is not dict or "redacted_content" in reasoning):
        return None
    return _find(block)


def is_reference(block: dict[str, Any]) -> bool:
    """Return whether a block is a reference that langchain-mistralai made an empty text.

    Source: langchain-mistralai 1.1.6 (chat_models.py, `_normalize_mistral_content`, seen 2026-11-27).
    """
    reference = block.get("reference")
    if reference.__class__ is not dict or block.keys() != {"type", "text", "reference"}:
        return False
    return block["type"] == "text" and block["text"] == "" and reference.keys().isdisjoint(("type", "text"))


def name_in_result(block: dict[str, Any]) -> str | None:
    """Return the name of the row of a block in the result of a tool; None for a block in the format of a provider."""
    if block.get("json") is None or block.get("type", "json") != "json":
        return name_of(block)
    return "json" if "type" in block else "json.bare" if len(block) == 1 else None


def _are_standard(annotations: Any) -> bool:
    """Return whether annotations are those of standard blocks, not of OpenAI."""
    return annotations.__class__ is not list or all(
        one.__class__ is not dict or one.get("type") in ("citation", "non_standard_annotation") for one in annotations
    )


# -- records -----------------------------------------------------------------------------------------------------------

USAGE = TABLE.record(
    "usage_metadata",
    Usage,
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "input_token_details.audio": "input_audio_tokens",
        "input_token_details.cache_creation": "cache_write_tokens",
        "input_token_details.cache_read": "cache_read_tokens",
        "output_token_details.audio": "output_audio_tokens",
        "output_token_details.reasoning": "reasoning_tokens",
    },
    Filled({"input_tokens": 0, "output_tokens": 0}),
)
FINISH = FinishReasons(
    {
        **OF_PROVIDERS,
        "complete": "stop",
        "TOOL_CALL": "tool_calls",
        **dict.fromkeys(
            ("guardrail_intervened", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"),
            "content_filter",
        ),
        "model_context_window_exceeded": "length",
        "MALFORMED_FUNCTION_CALL": "error",
    },
    {
        **{name: name for name in ("stop", "length", "tool_calls", "content_filter", "refusal", "compaction", "error")},
        "pause": "pause_turn",
    },
    "stop",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
