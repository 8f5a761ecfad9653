"""The table of LangChain's messages: their standard content blocks, calls, results and usage.

Source: langchain-core 1.7.2 (messages/content.py, messages/ai.py, messages/tool.py and
messages/block_translators), seen 2026-11-23. Blocks in the format of a provider are decoded by the adapter of its API
(`dialects.py`).
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    CachePoints,
    Codec,
    Column,
    Columns,
    DataUri,
    DecodeContext,
    EncodeContext,
    Field,
    Filled,
    FinishReasons,
    Gathered,
    Implied,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    Words,
    first_fitting,
    parse,
    reasons,
    row,
)
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation
from contentmodel.content.hosted import CodeInterpreterToolCallContent, CodeInterpreterToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.errors import DecodeError
from contentmodel.usage import Usage
from contentmodel_adapters.shared import hosted_tools
from contentmodel_adapters.shared.finish_reasons import OF_PROVIDERS
from contentmodel_adapters.shared.hosted import output_columns

API = "langchain-messages"
TABLE = Table(API)


class ProviderState(Codec[Protected]):
    """Opaque state of the provider of the message, which the message's metadata name."""

    classes = (str,)
    identity = False

    def __init__(self, kind: str, *, mandatory: bool = False) -> None:
        super().__init__()
        self.kind, self.mandatory = kind, mandatory

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        return Protected(issuer=context.origin.issuer or API, kind=self.kind, data=value)

    def encode(self, value: Protected, context: EncodeContext, owner: Any) -> str | None:
        if value.issuer == (context.issuer or API) and value.kind == self.kind:
            return value.data
        context.report_loss(owner, "protected", reasons.OPAQUE_STATE, issuer=value.issuer)
        return None

    def describe(self) -> str:
        return "opaque"


SIGNATURE = ProviderState("signature")
CACHE_POINT = TABLE.record("cache_control", CachePoint, {"ttl": "ttl"}, constants={"type": "ephemeral"})
BEDROCK_POINT = TABLE.record("cachePoint", CachePoint, {"ttl": "ttl"}, constants={"type": "default"})
COMMON: dict[str, Spec] = {
    "extras.signature": ("protected", SIGNATURE),
    "cache_control": ("cache_point", CachePoints(CACHE_POINT)),
}
"""Fields of texts, calls and media: the signature of the provider, and Anthropic's cache point."""

# -- texts and reasoning -----------------------------------------------------------------------------------------------

ANNOTATIONS = TABLE.union(
    "annotation",
    [
        row(
            "citation",
            Citation,
            {
                "url": "url",
                "title": "title",
                "start_index": "span.start",
                "end_index": "span.end",
                "cited_text": "cited_text",
                "extras.file_id": "file_id",
                "extras.filename": "filename",
                "extras.container_id": "container_id",
                "extras.document_index": "document_index",
            },
            Implied({"span.unit": "codepoint"}),
        )
    ],
    other=Row("other", Citation, {}),
    prefer=lambda citation, rows: rows[0],
)
TEXT = row("text", TextContent, {"text": "text", "annotations": ("annotations", Blocks(ANNOTATIONS)), **COMMON})
REASONING = [
    # OpenAI's encrypted reasoning is beside the text or, without a text, among the extras.
    Row(
        "reasoning.encrypted",
        ReasoningContent,
        {"reasoning": "text", "encrypted_content": ("protected", ProviderState("encrypted", mandatory=True))},
        constants={"type": "reasoning"},
    ),
    Row(
        "reasoning.extras",
        ReasoningContent,
        {"reasoning": "text", "extras.encrypted_content": ("protected", ProviderState("encrypted", mandatory=True))},
        constants={"type": "reasoning"},
    ),
    row(
        "reasoning",
        ReasoningContent,
        {"reasoning": "text", "extras.signature": ("protected", SIGNATURE)},
    ),
    # The blocks of langchain-google-genai and langchain-aws.
    row("thinking", ReasoningContent, {"thinking": "text", "signature": ("protected", SIGNATURE)}),
    row(
        "reasoning_content",
        ReasoningContent,
        {
            "reasoning_content.text": "text",
            "reasoning_content.signature": ("protected", SIGNATURE),
        },
    ),
]

# -- media -------------------------------------------------------------------------------------------------------------

KINDS = {"image": "image", "audio": "audio", "video": "video", "file": "document", "text-plain": "document"}
DESCRIBED: dict[str, Spec] = {
    "mime_type": "media_type",
    "extras.filename": "name",
    "extras.detail": "detail",
    **COMMON,
}


def _media(tag: str) -> list[Row]:
    """Return the rows of blocks of one kind of media, and those of the same block before version 1."""
    of_type, kind = {"type": tag}, Implied({"kind": KINDS[tag]})
    text: dict[str, Spec] = {"mime_type": "media_type", "title": "name", **COMMON}
    rows = [
        Row(f"{tag}.base64", DataContent, {"base64": ("data", Required()), **DESCRIBED}, constants=of_type),
        Row(
            f"{tag}.uri",
            DataContent,
            {
                "url": (("media_type", "data"), DataUri()),
                "extras.filename": "name",
                "extras.detail": "detail",
                **COMMON,
            },
            constants=of_type,
        ),
        Row(f"{tag}.url", UriContent, {"url": "uri", **DESCRIBED}, kind, constants=of_type),
        Row(f"{tag}.file_id", HostedFileContent, {"file_id": "file_id", **DESCRIBED}, kind, constants=of_type),
    ]
    if tag == "text-plain":
        rows.append(Row(f"{tag}.text", DataContent, {"text": ("text", Required()), **text}, constants=of_type))
        return rows
    mime: dict[str, Spec] = {"mime_type": "media_type", "metadata.filename": "name", **COMMON}
    forms: list[tuple[str, type[Any], dict[str, Spec], tuple[Field, ...]]] = [
        ("base64", DataContent, {"data": ("data", Required())}, ()),
        ("url", UriContent, {"url": "uri"}, (kind,)),
        ("id", HostedFileContent, {"id": "file_id"}, (kind,)),
        ("text", DataContent, {"text": ("text", Required())}, ()),
    ]
    older = [
        Row(
            f"{tag}.source.{form}",
            model,
            {**fields, **mime},
            *others,
            constants={**of_type, "source_type": form},
        )
        for form, model, fields, others in forms
    ]
    return [*older, *rows]


# The blocks of langchain-google-genai, and of OpenAI with a link instead of an object.
_OF_PARTNERS = [
    row("media", DataContent, {"data": ("data", Required()), "mime_type": "media_type", **COMMON}),
    Row("media.uri", UriContent, {"file_uri": "uri", "mime_type": "media_type", **COMMON}, constants={"type": "media"}),
    row("image_url", DataContent, {"image_url": (("media_type", "data"), DataUri()), **COMMON}),
    Row(
        "image_url.url",
        UriContent,
        {"image_url": "uri", **COMMON},
        Implied({"kind": "image"}),
        constants={"type": "image_url"},
    ),
    # The blocks of MCP, which results of its tools have.
    *(
        Row(
            f"{tag}.mcp",
            DataContent,
            {"data": ("data", Required()), "mimeType": ("media_type", Required())},
            constants={"type": tag},
        )
        for tag in ("image", "audio")
    ),
]
MEDIA = [*(made for tag in KINDS for made in _media(tag)), *_OF_PARTNERS]


# -- calls -------------------------------------------------------------------------------------------------------------

CALL: dict[str, Spec] = {"id": "call_id", "name": "name"}
NO_ARGS: dict[str, Any] = {"args": {}, "id": None, "name": ""}
ARGS: dict[str, Spec] = {**CALL, "args": ("arguments", ArgumentsObject("__arg1"))}
TOOL_CALL = row("tool_call", FunctionCallContent, {**ARGS, **COMMON}, Filled(NO_ARGS))
INVALID = row(
    "invalid_tool_call",
    FunctionCallContent,
    {**CALL, "args": ("arguments", Codec(str))},
    Filled({**NO_ARGS, "error": None, "args": None}),
)
CHUNK = row("tool_call_chunk", FunctionCallContent, {**CALL, "args": ("arguments", Codec(str))})


def is_invalid(call: Any) -> bool:
    """Return whether the arguments of a call are a text that is not a JSON object."""
    return call.arguments.__class__ is str and parsed(call.arguments) is None


def parsed(text: str) -> dict[str, Any] | None:
    """Return the object of a JSON text; {} if the text is empty, None if it is anything else."""
    try:
        value = parse(text or "{}")
    except DecodeError:
        return None
    return value if value.__class__ is dict else None


CALLS = TABLE.union(
    "tool call",
    [row("tool_call", FunctionCallContent, ARGS, Filled(NO_ARGS))],
    default="tool_call",
)
INVALID_CALLS = TABLE.union(
    "invalid tool call",
    [row("invalid_tool_call", FunctionCallContent, {**CALL, "args": ("arguments", Codec(str))})],
    default="invalid_tool_call",
)

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
NAMES = {
    **{name: name for name in HOSTED},
    "code_execution": "code_interpreter",
    "tool_search_tool_bm25": "tool_search",
    "tool_search_tool_regex": "tool_search",
    "google_search": "web_search",
    "file_search_call": "file_search",
    "shell": "bash_code_execution",
    "text_editor": "text_editor_code_execution",
    "maps": "google_maps",
}
_OF_SERVERS: dict[str, dict[str, Spec]] = {
    "remote_mcp": {"extras.tool_name": "name", "extras.server_name": "server"},
    "mcp_list_tools": {"extras.server_label": "server"},
}
"""The fields of the tools of MCP servers, whose calls all have the same name."""


def _server_call(name: str, kind: str) -> Row:
    own = _OF_SERVERS.get(name)
    fields: dict[str, Spec] = {"id": "call_id", **({"name": "name"} if own is None else own), "args": ARGS["args"]}
    return Row(
        f"server_tool_call.{name}",
        hosted_tools.CALLS[kind],
        fields,
        Filled({"args": {}, "id": "", "name": "" if name == "other" else name}),
        Silent("status"),
        constants={"type": "server_tool_call", **({} if own is None else {"name": name})},
    )


SERVER_CALLS = [_server_call(name, kind) for name, kind in HOSTED.items()]

# -- results -----------------------------------------------------------------------------------------------------------


STATUS = Words({"success": False, "error": True})
_OUTPUTS: dict[str, str] = {
    "text": "output.text",
    "logs": "output.logs",
    "stdout": "output.printed",
    "url": "output.page",
    "file_id": "output.file",
}
GIVEN_BACK = TABLE.union(
    "server tool output",
    [
        Row("output.text", TextContent, {"text": "text"}),
        Row("output.logs", TextContent, {"logs": "text"}),
        Row("output.printed", TextContent, {"stdout": "text"}),
        Row("output.page", UriContent, {"url": "uri", "title": "title"}),
        Row("output.file", HostedFileContent, {"file_id": "file_id", "filename": "name"}),
    ],
    find=lambda wire: next((name for key, name in _OUTPUTS.items() if wire.get(key).__class__ is str), None),
    prefer=lambda content, rows: rows[0],
)
OUTPUTS = output_columns(GIVEN_BACK, "output")
RESULT: dict[str, Spec] = {"tool_call_id": "call_id", "status": ("is_error", STATUS)}
SERVER_RESULTS = [
    Row(
        f"server_tool_result.{name}",
        hosted_tools.RESULTS[kind],
        RESULT,
        Columns("outputs", {"output": OUTPUTS["output"]}),
        Filled({"tool_call_id": "", "status": "success"}),
        Silent("name"),
        constants={"type": "server_tool_result"},
    )
    for name, kind in HOSTED.items()
]
RESULT_CLASSES = frozenset(result.model for result in SERVER_RESULTS)
# The blocks of langchain-google-genai for its code tool.
CODE = [
    row(
        "executable_code",
        CodeInterpreterToolCallContent,
        {"id": "call_id"},
        Gathered("arguments", "executable_code", "language"),
        Silent("name", "status"),
    ),
    row(
        "code_execution_result",
        CodeInterpreterToolResultContent,
        {"tool_call_id": "call_id"},
        Columns("outputs", {"code_execution_result": Column(TextField(TextContent, "text"), TextContent)}),
        Silent("name", "status", "is_error"),
    ),
]

# -- the union of blocks -----------------------------------------------------------------------------------------------

BLOCKS = [TEXT, *REASONING, *MEDIA, TOOL_CALL, INVALID, CHUNK, *SERVER_CALLS, *SERVER_RESULTS, *CODE]


def usual_row(content: Any, rows: list[Row]) -> Row | str:
    """Return the row that usually encodes a content that several rows can hold, or its name."""
    if isinstance(content, DataContent | UriContent | HostedFileContent):
        kind = content.media_kind if content.media_kind in ("image", "audio", "video") else "file"
        if isinstance(content, DataContent):
            return "text-plain.text" if content.text is not None else f"{kind}.base64"
        return f"{kind}.url" if isinstance(content, UriContent) else f"{kind}.file_id"
    if content.__class__ is ReasoningContent:
        is_encrypted = content.protected is not None and content.protected.kind == "encrypted"
        return "reasoning.extras" if is_encrypted else "reasoning"
    return rows[content.__class__ is FunctionCallContent and is_invalid(content)]


_find = first_fitting(BLOCKS, unknown=(*KINDS, "media", "image_url"))


def name_of(block: dict[str, Any]) -> str | None:
    """Return the name of the row of a standard block; None for a block in the format of a provider."""
    kind, name = block.get("type"), block.get("name")
    if kind == "text" and ("citations" in block or not _are_standard(block.get("annotations"))):
        return None
    if kind == "reasoning" and "summary" in block:
        return None
    if kind == "reasoning_content" and block.get(kind).__class__ is not dict:
        return None
    if kind == "server_tool_call":
        return f"{kind}.{NAMES.get(name, 'other') if name.__class__ is str else 'other'}"
    return "server_tool_result.other" if kind == "server_tool_result" else _find(block)


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
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "content_filter": "content_filter",
        "refusal": "refusal",
        "pause": "pause_turn",
        "compaction": "compaction",
        "error": "error",
    },
    "stop",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
