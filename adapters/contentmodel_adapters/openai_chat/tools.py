"""Tool definitions, tool choice and response format of Chat Completions (openai 3.52, types/chat; November 2026)."""

from __future__ import annotations

from typing import Any

from contentmodel.request import CustomTool, FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel.wire.codecs import Codec
from contentmodel.wire.context import DecodeContext, EncodeContext
from contentmodel.wire.table import Row, row

from contentmodel_adapters.openai_chat.blocks import API, TABLE

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
        Row("openrouter:web_search", HostedTool, {"parameters": "settings"}, constants={"type": "openrouter:web_search"}, sets={"kind": "web_search"}),
        Row("openrouter:advisor", HostedTool, {"parameters": "settings"}, constants={"type": "openrouter:advisor"}, sets={"kind": "advisor"}),
    ],
    other=Row("other", HostedTool, {"type": "kind"}),
    prefer=lambda tool, rows: next((r for r in rows if r.sets.get("kind") == tool.kind), rows[0]),
)


class ToolChoiceWords(Codec):
    """A word, or an object that names one tool or a set of them."""

    classes = (str, dict)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ToolChoice:
        if value.__class__ is str:
            return ToolChoice(mode=value)
        kind = value.get("type")
        inner = value.get(kind) if kind.__class__ is str else None
        if kind in ("function", "custom") and inner.__class__ is dict and inner.get("name").__class__ is str:
            made = ToolChoice(mode="required", tools=[inner["name"]])
        elif kind == "allowed_tools" and inner.__class__ is dict and _names(inner) is not None:
            made = ToolChoice(mode=inner["mode"], tools=_names(inner))
        else:
            return ToolChoice(mode="other", extra={API: value})
        return made if choice_object(made) == value else _with(made, value)

    def encode(self, value: ToolChoice, context: EncodeContext, owner: Any) -> Any:
        own = (value.extra or {}).get(API)
        if own is not None and (value.mode == "other" or self.decode(own, _NO_CONTEXT, None, "") == value):
            return own
        for api, residue in (value.extra or {}).items():
            if api != API:
                context.lose_residue(value, api, residue)
        if value.hosted is not None:
            context.lose(value, "hosted", f"{API} cannot name a hosted tool")
            return "auto" if value.mode == "other" else value.mode
        return value.mode if value.tools is None else choice_object(value)

    def describe(self) -> str:
        return "tool choice"


_NO_CONTEXT: Any = None


def _with(made: ToolChoice, value: dict[str, Any]) -> ToolChoice:
    return ToolChoice(mode=made.mode, tools=made.tools, extra={API: value})


def _names(inner: dict[str, Any]) -> list[str] | None:
    tools = inner.get("tools")
    if tools.__class__ is not list or inner.get("mode").__class__ is not str:
        return None
    names = [(tool.get("function") or tool.get("custom") or {}).get("name") for tool in tools if tool.__class__ is dict]
    return names if names and all(name.__class__ is str for name in names) and len(names) == len(tools) else None


def choice_object(choice: ToolChoice) -> dict[str, Any]:
    """The object that names the tools of a choice."""
    names = choice.tools or []
    if choice.mode == "required" and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}


FORMATS = {"text": "text", "json_object": "json", "json_schema": "json_schema"}

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
        ),
        row("json_object", ResponseFormat, {}, sets={"kind": "json"}, ignores=("media_type",)),
        row("text", ResponseFormat, {}, sets={"kind": "text"}, ignores=("media_type",)),
    ],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: next((r for r in rows if r.sets.get("kind") == made.kind), rows[0]),
)
