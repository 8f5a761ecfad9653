"""Tool definitions, tool choice and response format of Interactions (google-genai 3.4, _gaos; November 2026)."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    Choice,
    DecodeContext,
    EncodeContext,
    Field,
    Filled,
    Implied,
    OneOf,
    Rest,
    Row,
    Silent,
    free_text_row,
    hints,
    is_free_text,
    row,
)
from contentmodel.request import FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel_adapters.common.hosted import Current, Hosted, declaration
from contentmodel_adapters.google.interactions.blocks import API, TABLE
from contentmodel_adapters.google.kin import are_strict

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
    known = declaration(tool, CURRENT)
    return next((r for r in rows if known is not None and r.name == known.tag), None)


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


TABLE.known_values("tool_choice", "auto", "any", "none", "validated")
TOOL_CHOICE = Choice(read_choice, write_choice, tagged=("allowed_tools", ()), modes=MODES)

# -- response format -----------------------------------------------------------------------------------------------

JSON = "application/json"
OUTPUTS = ("text", "audio", "image", "video")


def _row_of_format(wire: dict[str, Any]) -> str | None:
    if wire.get("type") != "text":
        return None
    if wire.get("schema").__class__ is dict:
        return "json_schema"
    return "json" if wire.get("mime_type") == JSON else "text"


def _format(kind: str, *others: Field, **fields: str) -> Row:
    fields["mime_type"] = "media_type"
    return Row(kind, ResponseFormat, fields, Implied({"kind": kind}), *others, constants={"type": "text"})


TABLE.known_values("response_format", *OUTPUTS)
FORMATS = TABLE.union(
    "response_format",
    [
        _format("json_schema", Filled({"mime_type": JSON}), schema="schema"),
        _format("json", Filled({"mime_type": JSON})),
        _format("text"),
    ],
    find=_row_of_format,
    other=Row("other", ResponseFormat, {"type": "kind"}, Silent("media_type")),
    prefer=lambda made, rows: next((r for r in rows if r.implied.get("kind") == made.kind), None),
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
        return only.__class__ is dict and only.get("type") in OUTPUTS

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ResponseFormat:
        if value.__class__ is not list:
            return super().decode(value, context, container, key)
        return hints.FORM.on(super().decode(value[0], context, container, key), API, "list")

    def places(self, value: ResponseFormat, wire: Any, path: str) -> Any:
        is_list = wire.__class__ is list
        return super().places(value, wire[0] if is_list else wire, f"{path}[0]" if is_list else path)

    def encode(self, value: ResponseFormat, context: EncodeContext, owner: object) -> Any:
        made = super().encode(value, context, owner)
        is_list = context.native and hints.FORM.of(value, API) == "list"
        return [made] if is_list and made is not None else made
