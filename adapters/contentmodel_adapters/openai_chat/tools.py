"""Tool definitions, tool choice and response format of Chat Completions (openai 3.52, types/chat; November 2026)."""

from __future__ import annotations

from typing import Any

from contentmodel.request import CustomTool, FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel.wire.table import Row, row
from contentmodel_adapters.openai_chat.blocks import TABLE
from contentmodel_adapters.shared.choice import Choice

TOOLS = TABLE.union(
    "tool",
    [
        row(
            "function",
            FunctionTool,
            {
                "function.name": "name",
                "function.description": "description",
                "function.parameters": "parameters",
                "function.strict": "strict",
            },
        ),
        row(
            "custom",
            CustomTool,
            {"custom.name": "name", "custom.description": "description", "custom.format": "format"},
        ),
        # Hosts that run tools of their own name them with a prefix (openrouter:web_search, November 2026).
        Row(
            "openrouter:web_search",
            HostedTool,
            {"parameters": "settings"},
            constants={"type": "openrouter:web_search"},
            sets={"kind": "web_search"},
        ),
        Row(
            "openrouter:advisor",
            HostedTool,
            {"parameters": "settings"},
            constants={"type": "openrouter:advisor"},
            sets={"kind": "advisor"},
        ),
    ],
    other=Row("other", HostedTool, {"type": "kind"}),
    # Chat has no hosted tools of its own: those of another API have no place here.
    prefer=lambda tool, rows: None,
)


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """The choice that an object says, None where it says something else."""
    kind = value.get("type")
    inner = value.get(kind) if kind.__class__ is str else None
    if inner.__class__ is not dict:
        return None
    if kind in ("function", "custom") and inner.get("name").__class__ is str:
        return ToolChoice(mode="required", tools=[inner["name"]])
    if kind == "allowed_tools" and inner.get("mode").__class__ is str and inner.get("tools").__class__ is list:
        tools = [tool.get("function") for tool in inner["tools"] if isinstance(tool, dict)]
        names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
        words = [name for name in names if isinstance(name, str)]
        if words and len(words) == len(inner["tools"]):
            return ToolChoice(mode=inner["mode"], tools=words)
    return None


def write_choice(choice: ToolChoice) -> Any:
    """The word or object of a choice; None where Chat cannot say it."""
    if choice.hosted is not None:
        return None
    names = choice.tools or []
    if not names:
        return choice.mode if choice.mode in ("auto", "none", "required") else None
    if choice.mode == "required" and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}


TABLE.say("tool_choice", "auto", "none", "required", "function", "custom", "allowed_tools")
TOOL_CHOICE = Choice(read_choice, write_choice)

RESPONSE_FORMAT = TABLE.union(
    "response_format",
    [
        row(
            "json_schema",
            ResponseFormat,
            {
                "json_schema.schema": "schema",
                "json_schema.name": "name",
                "json_schema.description": "description",
                "json_schema.strict": "strict",
            },
            sets={"kind": "json_schema"},
            ignores=("media_type",),
            fill={"json_schema.name": "response"},
        ),
        row("json_object", ResponseFormat, {}, sets={"kind": "json"}, ignores=("media_type",)),
        row("text", ResponseFormat, {}, sets={"kind": "text"}, ignores=("media_type",)),
    ],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: next((r for r in rows if r.sets.get("kind") == made.kind), rows[0]),
)
