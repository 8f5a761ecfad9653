"""Tool definitions, tool choice and output format of the Messages API (anthropic 2.11, types/beta; November 2026)."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    AddedTools,
    Choice,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Implied,
    Rest,
    Row,
    Silent,
    free_text_row,
    is_free_text,
    reasons,
    row,
)
from contentmodel.request import FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel_adapters.anthropic.definitions import NO_PARAMETERS, without_parameters_row
from contentmodel_adapters.anthropic.messages.blocks import CACHED, TABLE
from contentmodel_adapters.common.hosted import Current, Hosted, declaration

# The types of hosted tools have dates. The exact type stays in the definition; the kind is the tool's function.
HOSTED_KINDS = {
    "web_search_20250305": "web_search",
    "web_search_20260209": "web_search",
    "web_search_20260318": "web_search",
    "web_fetch_20250910": "web_fetch",
    "web_fetch_20260209": "web_fetch",
    "web_fetch_20260309": "web_fetch",
    "web_fetch_20260318": "web_fetch",
    "code_execution_20250522": "code_interpreter",
    "code_execution_20250825": "code_interpreter",
    "code_execution_20260120": "code_interpreter",
    "code_execution_20260521": "code_interpreter",
    "bash_20241022": "shell",
    "bash_20250124": "shell",
    "text_editor_20241022": "text_editor",
    "text_editor_20250124": "text_editor",
    "text_editor_20250429": "text_editor",
    "text_editor_20250728": "text_editor",
    "computer_20241022": "computer",
    "computer_20250124": "computer",
    "computer_20251124": "computer",
    "computer_toolset_20260801": "computer",
    "browser_toolset_20260801": "browser",
    "memory_20250818": "memory",
    "advisor_20260301": "advisor",
    "tool_search_tool_bm25": "tool_search",
    "tool_search_tool_bm25_20251119": "tool_search",
    "tool_search_tool_regex": "tool_search",
    "tool_search_tool_regex_20251119": "tool_search",
    "mcp_toolset": "mcp",
}
_SEARCHES = {name: name for name in ("allowed_domains", "blocked_domains", "user_location")}
_SCREEN = ("display_width_px", "display_height_px")
# The definitions of hosted tools that were created by the application or come from another API: the newest that need
# neither another tool nor a beta. For models that do not take it (capabilities.py), an older or newer one (anthropic
# 2.12, types/*_param.py; platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference; seen 2026-11-22).
# web_search_20260209 and later filter results by code, which the older models cannot do: every model that searches
# takes web_search_20250305 (tool-use/web-search-tool, seen 2026-11-22).
CURRENT: Current = {
    "web_search": (Hosted("web_search_20250305", "web_search", crosses=True, searches=_SEARCHES),),
    "web_fetch": (Hosted("web_fetch_20250910", "web_fetch", crosses=True),),
    "code_interpreter": (Hosted("code_execution_20250825", "code_execution"),),
    "shell": (Hosted("bash_20250124", "bash"), Hosted("bash_20241022", "bash")),
    "text_editor": (
        Hosted("text_editor_20250728", "str_replace_based_edit_tool"),
        Hosted("text_editor_20250124", "str_replace_editor"),
        Hosted("text_editor_20241022", "str_replace_editor"),
    ),
    "computer": (
        Hosted("computer_20251124", "computer", needs=_SCREEN),
        Hosted("computer_20250124", "computer", needs=_SCREEN),
        Hosted("computer_20241022", "computer", needs=_SCREEN),
        Hosted("computer_toolset_20260801", only_settings=("configs",)),
    ),
    "browser": (Hosted("browser_toolset_20260801"),),
    "memory": (Hosted("memory_20250818", "memory"),),
    "advisor": (Hosted("advisor_20260301", "advisor", needs=("model",)),),
    "tool_search": (Hosted("tool_search_tool_bm25_20251119", "tool_search_tool_bm25"),),
    "mcp": (Hosted("mcp_toolset", needs=("mcp_server_name",)),),
}
_NAMES = {hosted.tag: hosted.name for known in CURRENT.values() for hosted in known}


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is FunctionTool:
        return rows[1] if tool.parameters is None else rows[0]
    if tool.__class__ is not HostedTool:
        return rows[0]
    known = declaration(tool, CURRENT)
    return next((r for r in rows if known is not None and r.name == known.tag), None)


FUNCTION = Row(
    "custom",
    FunctionTool,
    {"name": "name", "description": "description", "input_schema": "parameters", "strict": "strict", **CACHED},
)


def _row_of_tool(wire: dict[str, Any]) -> Any:
    # A tool of the application may have the type "custom", but rarely does.
    tag, schema = wire.get("type"), wire.get("input_schema")
    tag = "custom" if tag is None else tag
    if tag != "custom" or schema.__class__ is not dict:
        return tag
    if schema == NO_PARAMETERS:
        return "without parameters"
    return "free text" if is_free_text(schema) else tag


TOOLS = TABLE.union(
    "tool",
    [
        FUNCTION,
        without_parameters_row("without parameters", "input_schema", CACHED),
        free_text_row("free text", "input_schema", CACHED),
        *(
            Row(
                tag,
                HostedTool,
                {"name": "name", **CACHED},
                Implied({"kind": kind}),
                Rest("settings"),
                Filled({"name": _NAMES[tag]} if _NAMES.get(tag) else {}),
                constants={"type": tag},
            )
            for tag, kind in HOSTED_KINDS.items()
        ),
    ],
    find=_row_of_tool,
    other=Row("other", HostedTool, {"type": "kind", "name": "name", **CACHED}, Rest("settings")),
    prefer=_usual_tool,
)


ADDED = AddedTools(TOOLS, lambda tool: tool.get("definition"))
"""The tools of blocks of type `tool_addition` that define one (others refer to a tool of the request)."""


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Return the choice that an object means; None if it is not understood."""
    kind, name = value.get("type"), value.get("name")
    if kind == "tool" and name.__class__ is str:
        return ToolChoice(mode="required", tools=[name])
    if kind in ("auto", "any", "none"):
        return ToolChoice(mode="required" if kind == "any" else kind)
    return None


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Return the object of a choice; None if the API cannot express it."""
    names = choice.tools or []
    if choice.hosted is not None:
        names = [
            tool.name or tool.kind for tool in tools if isinstance(tool, HostedTool) and tool.kind == choice.hosted
        ]
    if len(names) > 1 or (choice.hosted is not None and not names) or (names and choice.mode != "required"):
        return None
    if names:
        return {"type": "tool", "name": names[0]}
    mode = {"auto": "auto", "none": "none", "required": "any"}.get(choice.mode)
    return None if mode is None else {"type": mode}


_FORMS = ("auto", "any", "tool", "none")
TABLE.known_values("tool_choice", *_FORMS)


class ChoiceAndParallel(Codec[tuple[ToolChoice | None, bool | None]]):
    """Tool choice, with the flag in it that forbids parallel calls."""

    classes = (dict,)
    identity = False

    def __init__(self) -> None:
        self._choice = Choice(
            read_choice, write_choice, strings=False, tagged=("type", _FORMS), fallback={"type": "auto"}
        )
        self.tagged = self._choice.tagged

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        flag = value.get("disable_parallel_tool_use")
        if flag.__class__ is not bool:
            return self._choice.decode(value, context, container, key), None
        rest = {k: v for k, v in value.items() if k != "disable_parallel_tool_use"}
        return self._choice.decode(rest, context, container, key), not flag

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        choice, parallel = value
        if choice is None and not (parallel is not None and owner.tools):
            if parallel is not None:
                context.report_loss(owner, "options.parallel_tool_calls", reasons.PARALLEL_WITHOUT_TOOLS)
            return None
        wire = {"type": "auto"} if choice is None else self._choice.encode(choice, context, owner)
        if parallel is None:
            return wire
        if wire.get("type") == "none":
            context.report_loss(owner, "options.parallel_tool_calls", reasons.PARALLEL_WITHOUT_CALLS)
            return wire
        return {**wire, "disable_parallel_tool_use": not parallel}

    def describe(self) -> str:
        return "tool choice"


OUTPUT_FORMAT = TABLE.union(
    "output_config.format",
    [row("json_schema", ResponseFormat, {"schema": "schema"}, Implied({"kind": "json_schema"}), Silent("media_type"))],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: rows[0] if made.kind == "json_schema" and made.schema is not None else None,
)
