"""Tool definitions, tool choice and response format of the Chat API v2 (cohere 7.3.1, types; November 2026)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from contentmodel.authoring import Choice, DecodeContext, EncodeContext, Group, Hint, chat, reasons
from contentmodel.request import FunctionTool, Tool, ToolChoice
from contentmodel_adapters.cohere.blocks import API, TABLE

FUNCTION = {f"function.{key}": key for key in ("name", "description", "parameters")} | {"strict": "strict"}
TOOLS = chat.function_tools(TABLE, FUNCTION, [chat.free_text_function()], find=chat.row_of_function)
STRICT_TOOLS = reasons.insignificant("cohere-chat-strict", "{target} has one strict setting for all tools: it is set")
LIFTED = Hint[Literal[True]](API, "strict", "the request, not the tool, has the setting for strict arguments")


class Tools(Group):
    """The tools. The field `strict_tools` of the request makes all of them strict."""

    attribute = "tools"
    keys = ("tools", "strict_tools")

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        tools = wire.get("tools")
        if not isinstance(tools, list) or not tools:
            return ()
        # Only functions without their own `strict` can hold the request's setting.
        fits = all(isinstance(t, dict) and _is_function(t) and "strict" not in t for t in tools)
        return self.keys if fits and wire.get("strict_tools").__class__ is bool else ("tools",)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[Tool]:
        keys = self.taken(wire)
        tools: list[Any] = wire["tools"] if keys else []
        if "strict_tools" not in keys:
            decoded = TOOLS.decode_list(tools, context)
        else:
            copies = [{**tool, "strict": wire["strict_tools"]} for tool in tools]
            context.copied(copies, tools)
            for copy, tool in zip(copies, tools, strict=True):
                context.copied(copy, tool, ("strict", (wire, "strict_tools")))
            tools = copies
            decoded = [
                LIFTED.on(tool, API, True) if isinstance(tool, FunctionTool) else tool
                for tool in TOOLS.decode_list(tools, context)
            ]
        context.trace(TOOLS, decoded, tools, None, spread=len(decoded) == len(tools))
        return decoded

    def encode(self, value: list[Tool], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        tools = TOOLS.encode_list(value, context)
        if tools:
            wire["tools"] = tools
        functions = [tool for tool in value if isinstance(tool, FunctionTool)]
        if context.native and not any(LIFTED.of(tool, API) for tool in functions):
            return
        settings = {tool.pop("strict", None) for tool in tools if tool.get("type") == "function"}
        if len(settings) == 1 and settings != {None}:
            wire["strict_tools"] = settings.pop()
            for tool in functions if not context.native else ():
                context.report_loss(tool, "strict", STRICT_TOOLS)
            return
        for tool in functions:
            # The API has one setting for all tools, and the tools have different ones.
            context.report_lost_attributes(tool, ("strict",))


def _is_function(tool: dict[str, Any]) -> bool:
    return tool.get("type") == "function" and TOOLS.rows[0].fits(tool)


class OwnChoice(Choice):
    """The tool choice. The API has no value for auto: the field is missing then."""

    def _written(self, value: ToolChoice, context: EncodeContext, owner: Any) -> Any:
        if value.mode == "auto" and not value.tools and value.hosted is None:
            context.report_loss(owner, "options.tool_choice", reasons.USUAL_VALUE)
            return None
        return super()._written(value, context, owner)


MODES = {"REQUIRED": "required", "NONE": "none"}
_WRITTEN = {mode: value for value, mode in MODES.items()}


def write_choice(choice: ToolChoice, tools: list[Any]) -> str | None:
    """Encode a tool choice; None if the API cannot express it: it has no choice of one tool."""
    return None if choice.tools or choice.hosted is not None else _WRITTEN.get(choice.mode)


TABLE.known_values("tool_choice", *MODES)
TOOL_CHOICE = OwnChoice(lambda value: None, write_choice, modes=MODES, fallback=None)


# The SDK has `json_schema`, the guide and the API before version 2 `schema` (docs.cohere.com, "Structured Outputs").
RESPONSE_FORMAT = chat.response_formats(
    TABLE,
    "response_format",
    chat.schema_row("json_object", "json_schema", "schema"),
    chat.schema_row("json_object", "schema", "old_schema"),
)
