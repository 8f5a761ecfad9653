"""Tool definitions, tool choice and text format of the Responses API (openai 3.52, types/responses; November 2026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contentmodel.authoring import (
    AddedTools,
    Blocks,
    Choice,
    EncodeContext,
    Filled,
    Implied,
    Rest,
    Row,
    Silent,
    custom_names,
    row,
)
from contentmodel.request import CustomTool, FunctionTool, HostedTool, ResponseFormat, ToolChoice, ToolGroup
from contentmodel_adapters.common.hosted import Current, Hosted, declaration
from contentmodel_adapters.common.schema_adaptation import fits_strict_mode
from contentmodel_adapters.openai.responses.blocks import TABLE


class _StrictByDefault(Implied):
    """The value of `strict` in a function without this field. A changed value is written."""

    def __init__(self) -> None:
        super().__init__({"strict": True})

    def keys_of(self, attribute: str) -> Sequence[str]:
        return ("strict",) if attribute == "strict" else ()

    def finish(self, value: Any, wire: dict[str, Any], context: EncodeContext) -> None:
        if value.strict is False or context.completes:
            wire["strict"] = value.strict


def _is_strict_by_default(wire: Mapping[str, Any]) -> bool:
    """Return whether a function has no `strict`, and a schema that the API enforces nevertheless.

    "If you omit `strict`, the default depends on the API: Responses requests will attempt to normalize your schema into
    strict mode when possible, and will fall back to non-strict, best-effort function calling [...]. Chat Completions
    requests remain non-strict by default" (developers.openai.com/api/docs/guides/function-calling, "Strict mode", and
    types/responses/namespace_tool.py of openai 3.54; seen 2026-11-29). The guide does not list what is normalized, and
    only names closed objects and required properties as examples. So only a schema that strict mode takes unchanged is
    known to be enforced: no schema that another API gets is rewritten because a field is missing.
    """
    return wire.get("strict") is None and fits_strict_mode(wire.get("parameters"))


_FUNCTION = {"name": "name", "description": "description", "parameters": "parameters", "output_schema": "returns"}
FUNCTION = row(
    "function",
    FunctionTool,
    {**_FUNCTION, "strict": "strict"},
    # If `strict` is missing, this API takes it as true, others as false.
    Filled({"parameters": None, "strict": False}),
)
STRICT_BY_DEFAULT = row(
    "function", FunctionTool, _FUNCTION, _StrictByDefault(), form="strict by default", accepts=_is_strict_by_default
)
CUSTOM = row("custom", CustomTool, {"name": "name", "description": "description", "format": "format"})

HOSTED_KINDS = {
    "web_search": "web_search",
    "web_search_2025_08_26": "web_search",
    "web_search_preview": "web_search",
    "web_search_preview_2025_03_11": "web_search",
    "file_search": "file_search",
    "code_interpreter": "code_interpreter",
    "image_generation": "image_generation",
    "mcp": "mcp",
    "computer": "computer",
    "computer_use_preview": "computer",
    "local_shell": "shell",
    "shell": "shell",
    "apply_patch": "apply_patch",
    "tool_search": "tool_search",
    "programmatic_tool_calling": "program",
}
# The definitions of hosted tools that were created by the application or come from another API (openai 3.54,
# types/responses/tool_param.py, seen 2026-11-22).
_SEARCHES = {
    "allowed_domains": "filters.allowed_domains",
    "user_location": "user_location",
    "search_context_size": "search_context_size",
}
_SCREEN = ("display_width", "display_height", "environment")
CURRENT: Current = {
    "web_search": (Hosted("web_search", crosses=True, searches=_SEARCHES),),
    "file_search": (Hosted("file_search", needs=("vector_store_ids",)),),
    "code_interpreter": (Hosted("code_interpreter"),),
    "image_generation": (Hosted("image_generation", crosses=True),),
    "mcp": (Hosted("mcp", needs=("server_label",)),),
    "computer": (Hosted("computer_use_preview", needs=_SCREEN), Hosted("computer")),
    "shell": (Hosted("shell"),),
    "apply_patch": (Hosted("apply_patch"),),
    "tool_search": (Hosted("tool_search"),),
    "program": (Hosted("programmatic_tool_calling"),),
}
# Required settings for which the API has an automatic choice.
_FILL: dict[str, dict[str, Any]] = {"code_interpreter": {"container": {"type": "auto"}}}


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is FunctionTool:
        return FUNCTION
    if tool.__class__ is not HostedTool:
        return rows[0]
    known = declaration(tool, CURRENT)
    return next((r for r in rows if known is not None and r.name == known.tag), None)


HOSTED = [
    Row(
        tag,
        HostedTool,
        {},
        Implied({"kind": kind}),
        Rest("settings"),
        Silent("name"),
        Filled(_FILL.get(tag, {})),
        constants={"type": tag},
    )
    for tag, kind in HOSTED_KINDS.items()
]
OTHER = Row("other", HostedTool, {"type": "kind"}, Rest("settings"), Silent("name"))
FUNCTIONS = [STRICT_BY_DEFAULT, FUNCTION]
INNER = TABLE.union(
    "namespace tool", [*FUNCTIONS, CUSTOM, *HOSTED], default="function", other=OTHER, prefer=_usual_tool
)
NAMESPACE = row(
    "namespace",
    ToolGroup,
    {"name": "name", "description": "description", "tools": ("tools", Blocks(INNER))},
)
TOOLS = TABLE.union(
    "tool", [*FUNCTIONS, CUSTOM, NAMESPACE, *HOSTED], default="function", other=OTHER, prefer=_usual_tool
)


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Return the choice that an object means; None if it is not understood."""
    kind, name = value.get("type"), value.get("name")
    if kind in ("function", "custom") and name.__class__ is str:
        return ToolChoice(mode="required", tools=[name])
    if kind == "allowed_tools" and value.get("tools").__class__ is list and value.get("mode").__class__ is str:
        names = [tool.get("name") for tool in value["tools"] if isinstance(tool, dict)]
        texts = [name for name in names if isinstance(name, str)]
        if texts and len(texts) == len(value["tools"]):
            return ToolChoice(mode=value["mode"], tools=texts)
    if kind.__class__ is str and kind in HOSTED_KINDS:
        return ToolChoice(mode="required", hosted=HOSTED_KINDS[kind])
    return None


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Return the string or object of a choice; None if the API cannot express it."""
    names = choice.tools or []
    if choice.hosted is not None:
        return {"type": choice.hosted} if choice.hosted in HOSTED_KINDS else None
    if not names:
        return choice.mode if choice.mode in ("auto", "none", "required") else None
    customs = custom_names(tools)
    named = [{"type": "custom" if name in customs else "function", "name": name} for name in names]
    if choice.mode == "required" and len(named) == 1:
        return named[0]
    if choice.mode == "none":
        # The API can list allowed tools, not forbidden ones.
        return None
    return {"type": "allowed_tools", "mode": choice.mode, "tools": named}


_FORMS = ("function", "custom", "allowed_tools", *HOSTED_KINDS, "computer_use")
TABLE.known_values("tool_choice", "auto", "none", "required", *_FORMS)
TOOL_CHOICE = Choice(read_choice, write_choice, tagged=("type", _FORMS))

TEXT_FORMAT = TABLE.union(
    "text.format",
    [
        row(
            "json_schema",
            ResponseFormat,
            {"schema": "schema", "name": "name", "description": "description", "strict": "strict"},
            Implied({"kind": "json_schema"}),
            Silent("media_type"),
            Filled({"name": "response"}),
        ),
        row("json_object", ResponseFormat, {}, Implied({"kind": "json"}), Silent("media_type")),
        row("text", ResponseFormat, {}, Implied({"kind": "text"}), Silent("media_type")),
    ],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: next((r for r in rows if r.implied.get("kind") == made.kind), None),
)

ADDED = AddedTools(TOOLS, lambda tool: tool)
"""The tools of items of type `additional_tools`."""
