"""The table of Gemini's Interactions API: contents, steps, hosted tools and their results, citations, usage.

Source: google-genai 3.4 (_gaos/types/interactions), seen November 2026. A conversation is a list of steps: input of
the user, thoughts, output of the model, calls and results. Input and output are lists of contents.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Columns,
    DecodeContext,
    EncodeContext,
    EnumString,
    Failure,
    Field,
    Filled,
    Gathered,
    Implied,
    Named,
    Required,
    Row,
    Shape,
    Sign,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    first_fitting,
    reasons,
    row,
)
from contentmodel.content import hosted
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ConfigurationContent, ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.usage import Usage
from contentmodel_adapters.common.google import Signature, Unread
from contentmodel_adapters.common.hosted import output_columns

API = "google-interactions"
TABLE = Table(API)
SIGNED: dict[str, Spec] = {"signature": ("protected", Signature())}

# -- contents ------------------------------------------------------------------------------------------------------


def _cited(tag: str, **fields: str) -> Row:
    """Return the row of an annotation. Its indices count bytes."""
    spans = {"start_index": "span.start", "end_index": "span.end"}
    return row(tag, Citation, {**spans, **fields}, Implied({"span.unit": "byte"}))


CITATIONS = TABLE.union(
    "annotation",
    [
        _cited("url_citation", url="url", title="title"),
        _cited("file_citation", document_uri="url", file_name="filename"),
        _cited("place_citation", url="url", name="title"),
        _cited("speech_metadata"),
        _cited("word_info"),
    ],
    other=Row("other", Citation, {}),
    prefer=lambda citation, rows: rows[1] if citation.filename is not None else rows[0],
)
TEXT = row("text", TextContent, {"text": "text", "annotations": ("annotations", Blocks(CITATIONS))})
KINDS = ("image", "document", "audio", "video")
_TYPED: dict[str, Spec] = {
    "mime_type": "media_type",
    "resolution": ("detail", EnumString("detail", "low", "medium", "high", "ultra_high")),
}


def _media(kind: str) -> list[Row]:
    """Return the rows of a kind of media: a link, and inline data."""
    fields, tag = {**_TYPED, **({"name": "name"} if kind == "video" else {})}, {"type": kind}
    if kind == "audio":
        del fields["resolution"]
    return [
        Row(f"{kind}.uri", UriContent, {**fields, "uri": "uri"}, Implied({"kind": kind}), constants=tag),
        Row(f"{kind}.data", DataContent, {**fields, "data": ("data", Required())}, constants=tag),
    ]


def _usual_medium(content: Any, rows: list[Row]) -> Row | None:
    if content.__class__ not in (DataContent, UriContent):
        return rows[0]
    kind = content.media_kind
    return rows[KINDS.index(kind)] if kind in KINDS else None


CONTENTS = [TEXT, *(medium for kind in KINDS for medium in _media(kind))]
CONTENT = TABLE.union("content", CONTENTS, prefer=_usual_medium)
RESULT_CONTENT = TABLE.union(
    "content of a result",
    [
        *CONTENTS,
        row(
            "function",
            ConfigurationContent,
            {},
            Gathered("settings", "name", "description", "short_description", "parameters", "defer_loading"),
            Implied({"kind": "function"}),
        ),
    ],
    prefer=_usual_medium,
)
# The readable outputs of an unknown tool. The type of such an object stays in its residue.
ANY_TYPE = ("",)
GIVEN_BACK = TABLE.union(
    "hosted tool output",
    [
        *RESULT_CONTENT.rows,
        Row("other_text", TextContent, {"text": "text"}, shape=Shape(ANY_TYPE, {"text": str})),
        Row("other_page", UriContent, {"url": "uri", "title": "title"}, shape=Shape(ANY_TYPE, {"url": str})),
    ],
    prefer=_usual_medium,
    accepts_untyped=True,
)


class Result(TextOrBlocks):
    """The result of a tool: a text, a list of contents, or any other object or list as a JSON value."""

    classes = (str, list, dict)

    def __init__(self, *, lists: bool = False) -> None:
        """Create the codec. `lists`: whether a list may have objects that are not contents."""
        super().__init__(RESULT_CONTENT, "string")
        self._classes = (dict, list) if lists else (dict,)

    def holds(self, value: object) -> bool:
        return value.__class__ in self._classes or super().holds(value)

    def _is_json(self, value: Any) -> bool:
        if value.__class__ is not list:
            return value.__class__ is dict
        return list in self._classes and not any(RESULT_CONTENT.knows(i) for i in value if i.__class__ is dict)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if self._is_json(value):
            return [JsonContent(value=value)]
        return super().decode(value, context, container, key)

    def count(self, wire: Any) -> int:
        return 1 if self._is_json(wire) else super().count(wire)

    def places(self, value: Any, wire: Any, path: str) -> Any:
        return [(value[0], path, wire, None)] if self._is_json(wire) else super().places(value, wire, path)

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        if len(value) == 1 and value[0].__class__ is JsonContent and self._is_json(value[0].value):
            return context.plain_value(value[0], "value")
        return super().encode([self._as_text(content, context) for content in value], context, owner)

    def _as_text(self, content: Any, context: EncodeContext) -> Any:
        if content.__class__ is not JsonContent:
            return content
        context.degrade(content, reasons.AS_TEXT, "value")
        return context.replaced(content, TextContent(text=content.text))


# -- steps ---------------------------------------------------------------------------------------------------------

IS_ERROR = Sign("is_error", failed=True)
# Only some types of results have the field `is_error`.
FAILED = Failure(IS_ERROR, texts_are_errors=True, only_signs=True)
UNSAID = ("name", "status", "caller", "is_error")
_CALL: dict[str, Spec] = {"id": "call_id", **SIGNED}
_RESULT: dict[str, Spec] = {"call_id": "call_id", **SIGNED}
ARGUMENTS: dict[str, Spec] = {"arguments": ("arguments", ArgumentsObject())}
NO_ARGUMENTS = Filled({"arguments": {}})


def _call(tag: str, model: type[Any], *, takes: bool = True) -> Row:
    """Return the row of a hosted tool's call. `takes`: whether it has arguments."""
    fields = {**_CALL, **(ARGUMENTS if takes else {})}
    return row(tag, model, fields, Silent(*UNSAID), *((NO_ARGUMENTS,) if takes else ()))


def _result(
    tag: str, model: type[Any], fields: dict[str, Spec], *others: Field, failure: Failure | None = FAILED
) -> Row:
    """Return the row of a hosted tool's result. `failure`: the fields that report a failure; None if it has none."""
    return row(tag, model, {**_RESULT, **fields}, *others, Silent(*UNSAID), failure=failure)


NO_RESULTS = Filled({"result": []})
UNREAD = ("error", "paywall", "unsafe")
PAGES = TABLE.union(
    "url",
    [
        Row("unread", ErrorContent, {"url": ("message", Unread()), "status": "code"}, select=("status", UNREAD)),
        Row("page", UriContent, {"url": "uri"}),
    ],
    tag=None,
)
# Search suggestions are HTML for the application. They are not a result that a model reads.
FOUND = TABLE.union(
    "search result",
    [
        Row("page", UriContent, {"url": "uri", "title": "title"}),
        Row(
            "suggestions",
            ConfigurationContent,
            {},
            Gathered("settings", "search_suggestions"),
            Implied({"kind": "search_suggestions"}),
        ),
    ],
    tag=None,
)
_MCP: dict[str, Spec] = {"name": "name", "server_name": "server"}
CALLS = [
    row("function_call", FunctionCallContent, {"id": "call_id", "name": "name", **ARGUMENTS}, NO_ARGUMENTS),
    _call("google_search_call", hosted.WebSearchToolCallContent),
    _call("code_execution_call", hosted.CodeInterpreterToolCallContent),
    _call("url_context_call", hosted.UrlContextToolCallContent),
    _call("file_search_call", hosted.FileSearchToolCallContent, takes=False),
    _call("retrieval_call", hosted.FileSearchToolCallContent),
    _call("google_maps_call", hosted.MapsToolCallContent),
    _call("tool_search_call", hosted.ToolSearchToolCallContent),
    _call("processing_call", hosted.MediaProcessingToolCallContent, takes=False),
    row(
        "mcp_server_tool_call", hosted.McpServerToolCallContent, {"id": "call_id", **_MCP, **ARGUMENTS}, Silent(*UNSAID)
    ),
    Row(
        "other_call",
        HostedToolCallContent,
        {**_CALL, **ARGUMENTS, "type": ("name", Named("_call"))},
        Silent("status", "caller"),
        shape=Shape(("_call",)),
        select=("type", ("hosted_call",)),
    ),
]


def _other_results(ending: str) -> list[Row]:
    """Return the rows of results of an unknown tool: with `call_id`, or else with the id of the call as its own."""
    return [
        Row(
            name,
            HostedToolResultContent,
            {**fields, **SIGNED, "type": ("name", Named(ending))},
            Columns("outputs", output_columns(GIVEN_BACK, "result")),
            Silent("status", "caller", "is_error"),
            shape=shape,
            select=("type", (f"hosted{ending}",)),
            failure=Failure(IS_ERROR, Sign("error"), texts_are_errors=True),
        )
        for name, fields, shape in (
            (f"other{ending}", {"call_id": "call_id"}, Shape((ending,), {"call_id": str})),
            (f"other{ending}.id", {"id": "call_id"}, Shape((ending,), without=("call_id",))),
        )
    ]


RESULTS = [
    row(
        "function_result",
        FunctionResultContent,
        {"call_id": "call_id", "name": "name", "is_error": "is_error", "result": ("outputs", Result())},
        Filled({"result": ""}),
    ),
    _result(
        "google_search_result", hosted.WebSearchToolResultContent, {"result": ("outputs", Blocks(FOUND))}, NO_RESULTS
    ),
    _result(
        "code_execution_result",
        hosted.CodeInterpreterToolResultContent,
        {"result": ("outputs", TextOrBlocks(CONTENT, "string"))},
        Filled({"result": ""}),
    ),
    _result(
        "url_context_result",
        hosted.UrlContextToolResultContent,
        {"result": ("outputs", Blocks(PAGES))},
        NO_RESULTS,
        failure=Failure(IS_ERROR, texts_are_errors=True),
    ),
    # Only the deltas of a stream have the passages of a file search.
    _result(
        "file_search_result",
        hosted.FileSearchToolResultContent,
        {"result": ("outputs", Result(lists=True))},
        failure=None,
    ),
    _result("retrieval_result", hosted.FileSearchToolResultContent, {}),
    _result(
        "google_maps_result",
        hosted.MapsToolResultContent,
        {"result": ("outputs", Result(lists=True))},
        NO_RESULTS,
        failure=None,
    ),
    _result("tool_search_result", hosted.ToolSearchToolResultContent, {"result": "tools"}, failure=None),
    _result("processing_result", hosted.MediaProcessingToolResultContent, {}, failure=None),
    row(
        "mcp_server_tool_result",
        hosted.McpServerToolResultContent,
        {"call_id": "call_id", **_MCP, "result": ("outputs", Result())},
        Silent(*UNSAID),
        Filled({"result": ""}),
    ),
    *(made for ending in ("_result", "_output") for made in _other_results(ending)),
]
STEPS = TABLE.union("step", [*CALLS, *RESULTS], prefer=lambda content, rows: rows[0])
_SUMMARY_TEXT = row(
    "text", ReasoningContent, {"text": ("text", Required())}, Implied({"kind": "summary"}), Silent("protected")
)
# Images and other media of a summary are not output: their fields stay in the residue of a thought without text.
SUMMARY = TABLE.union(
    "summary",
    [_SUMMARY_TEXT],
    find=first_fitting([_SUMMARY_TEXT], unknown=["text"]),
    other=Row("other", ReasoningContent, {}, Implied({"kind": "summary", "text": ""}), Silent("protected")),
)

TABLE.known_values("steps", "user_input", "model_output", "thought")

# -- the rest ------------------------------------------------------------------------------------------------------

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "total_input_tokens": "input_tokens",
        "total_output_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "total_cached_tokens": "cache_read_tokens",
        "total_thought_tokens": "reasoning_tokens",
        "total_tool_use_tokens": "tool_input_tokens",
    },
    # In recorded answers, the total is the sum of input, output, tool use and thoughts.
    Implied({"reasoning_inside": False}),
    Silent("cached_inside"),
)
ERROR = TABLE.record("error", ErrorContent, {"message": "message", "code": "code"}, Silent("kind"))
_MODALITIES = ("input", "output", "cached", "tool_use")
TABLE.keep(
    "usage",
    *(f"{kind}_tokens_by_modality" for kind in _MODALITIES),
    *("grounding_tool_count", "initial_input_tokens"),
)
