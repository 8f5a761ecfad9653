"""The table of Gemini's Interactions API: contents, steps, hosted tools and their results, tools, requests and answers.

Source: google-genai 3.4 (_gaos/types/interactions), seen November 2026. A conversation is a list of steps: input of
the user, thoughts, output of the model, calls and results. Input and output are lists of contents.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Choice,
    Columns,
    DecodeContext,
    EncodeContext,
    EnumString,
    ErrorBody,
    ErrorTypes,
    Failure,
    FailureField,
    Field,
    Fields,
    Filled,
    FinishReasons,
    Gathered,
    Group,
    Hint,
    Implied,
    MessageList,
    Named,
    OneOf,
    ProviderOnly,
    Record,
    Required,
    Rest,
    Row,
    Shape,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    enum_at,
    escaped,
    finished_by_calls,
    first_fitting,
    free_text_row,
    hints,
    is_free_text,
    is_native,
    list_of,
    row,
    same_options,
    wire_fields,
)
from contentmodel.content import hosted
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ConfigurationContent, ErrorContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import OnlyChoice, misfits
from contentmodel_adapters.common.citations import whole_citations
from contentmodel_adapters.common.hosted import Current, Hosted, declaration, output_columns
from contentmodel_adapters.common.media import Modalities
from contentmodel_adapters.common.reasoning import Signature, Unread, decode_parts, unknown_part_of, with_last_thought
from contentmodel_adapters.google.shared import are_strict, json_as_text

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
        return super().encode([json_as_text(content, context) for content in value], context, owner)


# -- steps ---------------------------------------------------------------------------------------------------------

IS_ERROR = FailureField("is_error", failed=True)
# Only some types of results have the field `is_error`.
FAILED = Failure(IS_ERROR, texts_are_errors=True, only_fields=True)
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
            failure=Failure(IS_ERROR, FailureField("error"), texts_are_errors=True),
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
    *(result for ending in ("_result", "_output") for result in _other_results(ending)),
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


# -- definitions of tools ----------------------------------------------------------------------------------------------

HOSTED_KINDS = {
    "google_search": "web_search",
    "code_execution": "code_interpreter",
    "url_context": "url_context",
    "file_search": "file_search",
    "retrieval": "file_search",
    "google_maps": "maps",
    "computer_use": "computer",
    "mcp_server": "mcp",
    "tool_search": "tool_search",
}
# The definitions of hosted tools that the application created, or that come from another API.
CURRENT: Current = {
    "web_search": (Hosted("google_search", crosses=True),),
    "code_interpreter": (Hosted("code_execution", crosses=True),),
    "url_context": (Hosted("url_context", crosses=True),),
    "file_search": (Hosted("file_search", needs=("file_search_store_names",)),),
    "maps": (Hosted("google_maps"),),
    "computer": (Hosted("computer_use", needs=("environment",)),),
    "mcp": (Hosted("mcp_server", needs=("url",)),),
    "tool_search": (Hosted("tool_search"),),
}


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is not HostedTool:
        return rows[0]
    declared = declaration(tool, CURRENT)
    return next((r for r in rows if declared is not None and r.name == declared.tag), None)


def _row_of_tool(wire: dict[str, Any]) -> Any:
    tag = wire.get("type")
    return "free text" if tag == "function" and is_free_text(wire.get("parameters")) else tag


TOOLS = TABLE.union(
    "tool",
    [
        row(
            "function",
            FunctionTool,
            {"name": "name", "description": "description", "parameters": "parameters"},
            Silent("strict"),
        ),
        free_text_row("free text", "parameters", tag="function"),
        *(row(tag, HostedTool, {}, Implied({"kind": kind}), Rest("settings")) for tag, kind in HOSTED_KINDS.items()),
    ],
    find=_row_of_tool,
    other=Row("other", HostedTool, {"type": "kind"}, Rest("settings")),
    prefer=_usual_tool,
)

MODES = {"any": "required", "validated": "auto"}
_RAW_MODES = {"auto": "auto", "required": "any", "none": "none"}


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Return the tool choice of an object; None if the object has another form."""
    allowed = value.get("allowed_tools")
    if allowed.__class__ is not dict:
        return None
    mode, names = allowed.get("mode", "auto"), allowed.get("tools")
    if mode.__class__ is not str or names.__class__ is not list or not all(name.__class__ is str for name in names):
        return None
    return ToolChoice(mode=MODES.get(mode, mode), tools=names) if names else None


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Return the string or object of a choice; None if the API cannot express it."""
    if choice.hosted is not None or choice.mode not in _RAW_MODES:
        return None
    mode = "validated" if choice.mode == "auto" and are_strict(tools) else _RAW_MODES[choice.mode]
    if not choice.tools:
        return mode
    # The API can list allowed tools, not forbidden ones.
    return None if mode == "none" else {"allowed_tools": {"mode": mode, "tools": choice.tools}}


def _with_mode(value: Any) -> Any:
    """Return a tool choice whose allowed tools have a mode."""
    allowed = value.get("allowed_tools") if value.__class__ is dict else None
    return {**value, "allowed_tools": {"mode": "auto", **allowed}} if allowed.__class__ is dict else value


TABLE.known_values("tool_choice", "auto", "any", "none", "validated")
TOOL_CHOICE = Choice(read_choice, write_choice, tagged=("allowed_tools", ()), modes=MODES, usual=_with_mode)


# -- response format -----------------------------------------------------------------------------------------------

JSON = "application/json"
OUTPUT_TYPES = ("text", "audio", "image", "video")


def _row_of_format(wire: dict[str, Any]) -> str | None:
    if wire.get("type") != "text":
        return None
    if wire.get("schema").__class__ is dict:
        return "json_schema"
    return "json" if wire.get("mime_type") == JSON else "text"


def _format(kind: str, *others: Field, **fields: str) -> Row:
    fields["mime_type"] = "media_type"
    return Row(kind, ResponseFormat, fields, Implied({"kind": kind}), *others, constants={"type": "text"})


TABLE.known_values("response_format", *OUTPUT_TYPES)
FORMATS = TABLE.union(
    "response_format",
    [
        _format("json_schema", Filled({"mime_type": JSON}), schema="schema"),
        _format("json", Filled({"mime_type": JSON})),
        _format("text"),
    ],
    find=_row_of_format,
    other=Row("other", ResponseFormat, {"type": "kind"}, Silent("media_type")),
    prefer=lambda response_format, rows: next((r for r in rows if r.implied.get("kind") == response_format.kind), None),
)


class Format(OneOf[ResponseFormat]):
    """The format of an answer. A format that was the only item of a list has the hint `FORM`.

    A list of several formats, and an object without a type of this API (a bare JSON Schema), stay in the residue.
    """

    classes = (dict, list)

    def __init__(self) -> None:
        super().__init__(FORMATS)

    def holds(self, value: Any) -> bool:
        only = value[0] if value.__class__ is list and len(value) == 1 else value
        return only.__class__ is dict and only.get("type") in OUTPUT_TYPES

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ResponseFormat:
        if value.__class__ is not list:
            return super().decode(value, context, container, key)
        return hints.FORM.on(super().decode(value[0], context, container, key), API, "list")

    def places(self, value: ResponseFormat, wire: Any, path: str) -> Any:
        is_list = wire.__class__ is list
        return super().places(value, wire[0] if is_list else wire, f"{path}[0]" if is_list else path)

    def encode(self, value: ResponseFormat, context: EncodeContext, owner: object) -> Any:
        wire = super().encode(value, context, owner)
        is_list = context.native and hints.FORM.of(value, API) == "list"
        return [wire] if is_list and wire is not None else wire


# -- steps -------------------------------------------------------------------------------------------------------------

# Consecutive steps of the model (thoughts, output, calls, results of hosted tools) are one message, and so are
# consecutive results of functions. The other fields of a step with a list of contents are kept with its first
# content, in the hint `STEP`. A content with this hint starts a step.

STEP = Hint[dict[str, Any]](API, "step", "the other fields of the step whose first content this is", fields=True)
WHOLE_STEP = Hint[Literal[True]](API, "whole_step", "an unknown object was a step, not a content of one")
INPUT = Hint[Literal["string", "content", "contents"]](
    API, "input", "the form of an input that was not a list of steps: a string, one content or a list of contents"
)
# The list of contents of a step, and the union of its contents.
LISTS = {"user_input": ("content", CONTENT), "model_output": ("content", CONTENT), "thought": ("summary", SUMMARY)}
_SPEAKERS = ("user_input", "model_output")
_ROLES = {"user_input": "user", "function_result": "tool"}
_SIGNATURE: Any = SIGNED["signature"][1]


# -- decoding ------------------------------------------------------------------------------------------------------


def decode_step(step: dict[str, Any], items: list[Any], index: int, context: DecodeContext) -> tuple[str, list[Any]]:
    """Return the role and the contents of a step, which is `items[index]`."""
    tag = step.get("type")
    if tag == "thought":
        contents = _decode_thought(step, context)
    else:
        contents = _decode_list(step, context) if tag in ("user_input", "model_output") else []
        if not contents:
            content = UnknownContent(api=API, block=step) if tag in LISTS else STEPS.decode(step, context)
            contents = [WHOLE_STEP.on(content, API, True) if content.__class__ is UnknownContent else content]
            context.trace(STEPS, contents, items, index, spread=False)
    return _ROLES.get(tag, "assistant") if tag.__class__ is str else "assistant", contents


def _decode_list(step: dict[str, Any], context: DecodeContext) -> list[Any]:
    """Return the contents of input or output. The first one has the other fields of the step."""
    field, union = LISTS[step["type"]]
    wires = step.get(field)
    if wires.__class__ is not list or not wires:
        return []
    contents: list[Any] = union.decode_list(wires, context)
    context.trace(union, contents, step, field, spread=len(contents) == len(wires))
    if contents:
        # The list is traced already, so it is changed in place.
        contents[0] = STEP.on(contents[0], API, _around(step, field))
    return contents


def _around(step: dict[str, Any], *read: str) -> dict[str, Any]:
    return escaped({key: value for key, value in step.items() if key not in ("type", *read)})


def _decode_thought(step: dict[str, Any], context: DecodeContext) -> list[Any]:
    """Return a content for each part of a thought's summary, at least one. The last content has the signature."""
    wires, read = step.get("summary"), []
    thoughts: list[Any] = []
    if wires.__class__ is list and wires:
        thoughts = decode_parts(wires, "summary", SUMMARY, lambda wire: wire.__class__ is dict, context)
        context.trace(SUMMARY, thoughts, step, "summary", spread=True)
        read.append("summary")
    has_signature = _SIGNATURE.holds(step.get("signature"))
    if not thoughts or has_signature:
        thoughts = with_last_thought(thoughts, step, "summary", context)
    if has_signature:
        signature = _SIGNATURE.decode(step["signature"], context, step, "signature")
        context.trace(None, [signature], step, "signature", spread=False)
        thoughts = [*thoughts[:-1], context.replace(thoughts[-1], protected=signature)]
        read.append("signature")
    return [context.replaced(thoughts[0], STEP.on(thoughts[0], API, _around(step, *read))), *thoughts[1:]]


def decode_steps(items: list[Any], context: DecodeContext) -> list[ChatMessage]:
    """Return the messages of a list of steps."""
    runs: list[tuple[str, list[Any]]] = []
    for index, step in Steps().objects(items, context):
        role, contents = context.decoded.get(id(step)) or decode_step(step, items, index, context)
        if runs and runs[-1][0] == role != "user":
            runs[-1][1].extend(contents)
        else:
            # A copy: the list of one step's contents was traced, and must not grow.
            runs.append((role, [*contents]))
    return [ChatMessage(role=role, contents=contents, origin=context.origin) for role, contents in runs]


def is_outputs(value: Any) -> bool:
    """Return whether a value is the list that answers had before they had steps: contents, thoughts and calls."""
    if value.__class__ is not list or not value or any(item.__class__ is not dict for item in value):
        return False
    return all(item.get("type").__class__ is str and item["type"] not in _SPEAKERS for item in value)


def decode_outputs(items: list[Any], context: DecodeContext) -> list[ChatMessage]:
    """Return the message of `outputs`. Each content is a step of its own."""
    contents: list[Any] = []
    for index, item in enumerate(items):
        if CONTENT.knows(item):
            content = STEP.on(CONTENT.decode(item, context), API, {})
            context.trace(CONTENT, [content], items, index, spread=False)
            contents.append(content)
        else:
            contents += decode_step(item, items, index, context)[1]
    return [ChatMessage(role="assistant", contents=contents, origin=context.origin)]


# -- encoding ------------------------------------------------------------------------------------------------------


class _Writer:
    """Write steps."""

    def __init__(self, context: EncodeContext) -> None:
        self.context = context
        self.steps: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        """The step to which more contents may be appended."""
        self._listed: list[dict[str, Any]] | None = None
        """The contents of the open step; None if none was written."""

    def write(self, message: ChatMessage) -> None:
        self._open = None
        is_own = is_native(message, self.context)
        self.context.report_lost_attributes(message, ("author_name",))
        self.context.leave_residue(message)
        for content in message.contents:
            if STEPS.has(content.__class__) or WHOLE_STEP.of(content, API):
                self.steps += STEPS.encode_list([content], self.context)
                self._open = None
            elif isinstance(content, ReasoningContent):
                self._think(content)
            elif unknown_part_of(content, API) is not None:
                self._append(self._step(content, "thought"), "summary", SUMMARY.encode_list([content], self.context))
            else:
                if message.role != "user" and not is_own:
                    # In answers of other APIs, each content is a step, as in a stream.
                    self._open = None
                    content = whole_citations(content, self.context, unit="byte", titled=False)
                parts = CONTENT.encode_list([content], self.context)
                if parts:
                    step = self._step(content, "user_input" if message.role == "user" else "model_output")
                    self._append(step, "content", parts)

    def _think(self, content: ReasoningContent) -> None:
        step = self._step(content, "thought")
        if content.text or content.kind is not None:
            self._append(step, "summary", SUMMARY.encode_list([content], self.context))
        else:
            self.context.report_lost_attributes(content, ("annotations", "cache_point"))
            self.context.leave_residue(content)
        if content.protected is not None:
            self._open = None
            signature = _SIGNATURE.encode(content.protected, self.context, content)
            step |= {} if signature is None else {"signature": signature}

    def _step(self, content: Any, tag: str) -> dict[str, Any]:
        """Return the step that a content belongs to: its own, the open one, or a new one."""
        around = STEP.of(content, API)
        step = self._open
        if around is not None or step is None or step["type"] != tag:
            fields = {key: value for key, value in wire_fields(around or {}).items() if key != "type"}
            step, self._listed = {"type": tag, **fields}, None
            self._open = step
            self.steps.append(step)
        return step

    def _append(self, step: dict[str, Any], field: str, wires: list[dict[str, Any]]) -> None:
        """Append to the contents of the open step. The first ones replace a value of the residue."""
        if self._listed is None:
            self._listed = step[field] = []
        self._listed.extend(wires)


def encode_steps(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the steps of a list of messages."""
    writer = _Writer(context)
    for message in messages:
        writer.write(message)
    return writer.steps


def encode_outputs(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the `outputs` of messages: the contents of their steps, and the steps without contents."""
    outputs: list[dict[str, Any]] = []
    for step in encode_steps(messages, context):
        outputs += step["content"] if step["type"] in _SPEAKERS and "content" in step else [step]
    return outputs


class Steps(MessageList):
    """The input of a request: a list of steps, or one user message as a list of contents, a content, or a string."""

    classes = (list, dict, str)
    item, tag, meaning = "step", "type", "type"

    def holds(self, value: Any) -> bool:
        return value.__class__ is str or (value.__class__ in (list, dict) and bool(value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.__class__ is list and not all(item.__class__ is dict and CONTENT.knows(item) for item in value):
            return decode_steps(value, context)
        form: Any = "contents"
        if value.__class__ is list:
            contents = CONTENT.decode_list(value, context)
            context.trace(CONTENT, contents, container, key, spread=True)
        else:
            form = "string" if value.__class__ is str else "content"
            contents = [TextContent(text=value) if value.__class__ is str else CONTENT.decode(value, context)]
            context.trace(None if form == "string" else CONTENT, contents, container, key, spread=False)
        return [ChatMessage(role="user", contents=contents, origin=context.origin, extra=INPUT.extra(API, form))]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> Any:
        steps = encode_steps(value, context)
        form = INPUT.of(value[0], API) if len(value) == 1 else None
        if form is None or not context.native or len(steps) != 1 or steps[0].keys() != {"type", "content"}:
            return steps or None
        content = steps[0]["content"]
        if form == "contents":
            return content
        if len(content) > 1 or (form == "string" and content[0].keys() != {"type", "text"}):
            return steps
        return content[0] if form == "content" else content[0]["text"]


# -- answers -----------------------------------------------------------------------------------------------------------

FINISH = FinishReasons(
    {
        "completed": "stop",
        "requires_action": "tool_calls",
        "incomplete": "length",
        "budget_exceeded": "length",
        "failed": "error",
        "cancelled": "cancelled",
        "in_progress": "running",
        "queued": "running",
        "requires_continuation": "pause",
    },
    {
        "stop": "completed",
        "tool_calls": "requires_action",
        "length": "incomplete",
        "error": "failed",
        "cancelled": "cancelled",
        "running": "in_progress",
        "pause": "requires_continuation",
        "content_filter": "incomplete",
    },
    "completed",
)
TABLE.known_values("status", *FINISH.reasons)
TABLE.keep(
    "response",
    *("agent", "agent_config", "background", "cached_content", "continuation_ids", "continuation_token", "environment"),
    *("environment_id", "errors", "generation_config", "input", "labels", "object", "output_audio", "output_image"),
    *("output_text", "output_video", "previous_interaction_id", "response_format", "response_mime_type"),
    *("response_modalities", "safety_settings", "service_tier", "system_instruction", "tools", "updated"),
    "webhook_config",
)

_BLOCKED = (
    *("safety", "recitation", "language", "prohibited_content", "spii", "blocklist", "content_blocked"),
    *("image_safety", "image_prohibited_content", "image_recitation", "image_other"),
)
# ai.google.dev/gemini-api/docs/api-errors (seen 2026-11-26). Other codes are the name of the HTTP status.
ERRORS = ErrorTypes(
    ("code",),
    {
        "invalid_request": {"code": "invalid_request"},
        "authentication": {"code": "authentication"},
        "billing": {"code": "payment_required"},
        "permission": {"code": "permission_denied"},
        "not_found": {"code": "not_found"},
        "conflict": {"code": "conflict"},
        "context_length": {"code": "invalid_request"},
        "too_large": {"code": "payload_too_large"},
        "rate_limit": {"code": "rate_limit_exceeded"},
        "cancelled": {"code": "cancelled"},
        "server": {"code": "api_error"},
        "overloaded": {"code": "service_unavailable"},
        "timeout": {"code": "gateway_timeout"},
    },
    {
        "parameter_unknown": "invalid_request",
        "failed_precondition": "invalid_request",
        "out_of_range": "invalid_request",
        "model_not_found": "not_found",
        "quota_exceeded": "rate_limit",
        **dict.fromkeys(_BLOCKED, "invalid_request"),
    },
)
TABLE.known_values("error.code", *ERRORS.types)

OUTPUTS = Hint[Literal[True]](API, "outputs", "the answer has the field `outputs`, which was there before `steps`")
NO_STEPS = Hint[list[Any] | None](API, "steps", "the steps of an answer that has none: null or empty")
ENDING = Fields({"finish_reason": "status", "messages": "steps"})


class Answer(OnlyChoice):
    """The only choice of an answer: its messages are the steps, its finish reason is the status."""

    keys = ("steps", "status", "outputs")
    parts = {"status": "choices.finish_reason"}

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        if wire.get("steps") is None and wire.get("status") is None and wire.get("outputs") is None:
            return ()
        has_outputs = wire.get("steps") is None and is_outputs(wire.get("outputs"))
        return [key for key in self.keys if key in wire and (key != "outputs" or has_outputs)]

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        read_fields = self.consumed(wire)
        if not read_fields:
            return []
        steps, status = wire.get("steps"), wire.get("status")
        if steps is not None and steps.__class__ is not list:
            context.expected(wire, "steps", "array", steps)
        messages = decode_steps(steps, context) if steps.__class__ is list else []
        residue = misfits(wire, status=str)
        if "outputs" in read_fields:
            messages = decode_outputs(wire["outputs"], context)
            residue |= OUTPUTS.entry(True)
        if "steps" in wire and not steps:
            residue |= NO_STEPS.entry(steps)
        if "status" in wire and status is None:
            residue["status"] = None
        finish = FINISH.decode(status, context, wire, "status") if status.__class__ is str else None
        choice = ChatChoice(messages=messages, finish_reason=finish, extra={API: residue} if residue else None)
        choices = [finished_by_calls(choice)]
        context.trace(ENDING, choices, wire, None, spread=False)
        return choices

    def write_choice(
        self, choice: ChatChoice, residue: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        # A stream has its contents in steps.
        has_outputs = OUTPUTS.read(residue) is True and any(message.contents for message in choice.messages)
        if has_outputs:
            wire["outputs"] = encode_outputs(choice.messages, context)
        steps = [] if has_outputs else encode_steps(choice.messages, context)
        if steps or NO_STEPS.is_in(residue):
            wire["steps"] = steps or NO_STEPS.read(residue)
        if "status" in residue:
            wire["status"] = residue["status"]
        if choice.finish_reason is not None:
            wire["status"] = FINISH.encode(choice.finish_reason, context, choice)


ERROR_BODY = ErrorBody(ERROR, ERRORS)


class Failed(Group):
    """The error of a body, or the first error of a failed interaction, which has a list of them.

    The other ones stay in the residue. The errors of an interaction that did not fail are diagnostics.
    """

    attribute = "error"
    keys = ("error", "errors")

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        if wire.get("error").__class__ is dict:
            return ("error",)
        return ("errors",) if len(_errors(wire)) == 1 else ()

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ErrorContent | None:
        error, errors = wire.get("error"), _errors(wire)
        if error.__class__ is dict:
            decoded = ERROR_BODY.decode(error, context, wire, "error")
            context.trace(ERROR, [decoded], wire, "error", spread=False)
        elif errors:
            decoded = hints.FORM.on(ERROR_BODY.decode(errors[0], context, wire, "errors"), API, "list")
            context.trace(ERROR, [decoded], errors, 0, spread=False)
        else:
            return None
        return decoded

    def encode(
        self, value: ErrorContent | None, wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        if value is None:
            return
        encoded = ERROR_BODY.encode_object(value, context, owner)
        if context.native and hints.FORM.of(value, API) == "list":
            wire["errors"] = [encoded, *list_of((owner.extra or {}).get(API, {}), "errors")[1:]]
        else:
            wire["error"] = encoded


def _errors(wire: Mapping[str, Any]) -> list[Any]:
    """Return the errors of a failed interaction; [] if they have another form."""
    errors = list_of(wire, "errors") if wire.get("status") == "failed" else []
    return errors if all(error.__class__ is dict for error in errors) else []


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "usage": ("usage", Record(USAGE)),
    },
    Answer(),
    Failed(),
)


COUNTED = ("total_input_tokens", "total_output_tokens", "total_tool_use_tokens", "total_thought_tokens")


# -- requests ----------------------------------------------------------------------------------------------------------

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "system_instruction": ("instructions", TextField(TextContent, "text", between="\n\n")),
        "input": ("messages", Steps()),
        "tools": ("tools", Blocks(TOOLS)),
        **same_options("stream", "store"),
        "previous_interaction_id": ("options.previous_response_id", ProviderOnly("options.previous_response_id", str)),
        "service_tier": enum_at("options.service_tier", "flex", "standard", "priority", "deferred"),
        "response_format": ("options.response_format", Format()),
        "response_modalities": (
            "options.modalities",
            Modalities(str.lower, "text", "image", "audio", "video", "document"),
        ),
        **same_options("max_output_tokens", "temperature", "top_p", "seed", "stop_sequences", at="generation_config."),
        "generation_config.tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "generation_config.thinking_level": enum_at(
            "options.reasoning.effort", "minimal", "low", "medium", "high", "xhigh"
        ),
        "generation_config.thinking_summaries": enum_at("options.reasoning.summary", "auto", "none"),
    },
)
TABLE.keep(
    "request",
    *("agent", "agent_config", "background", "cached_content", "continuation_token", "environment", "labels"),
    *("response_mime_type", "safety_settings", "webhook_config"),
)
TABLE.keep("generation_config", "image_config", "speech_config", "transcription_config", "video_config")
