"""Tool definitions, tool choice and output format of Converse (botocore 1.43.117; November 2026)."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    AsSent,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Implied,
    Rest,
    Row,
    Silent,
    ToolOrMode,
    free_text_row,
    is_free_text,
    object_of,
    parse,
    write,
)
from contentmodel.errors import DecodeError
from contentmodel.request import FunctionTool, HostedTool, ResponseFormat
from contentmodel_adapters.anthropic.bedrock_converse.blocks import CACHED, POINTS, TABLE
from contentmodel_adapters.anthropic.bedrock_converse.cached_blocks import CachedBlocks
from contentmodel_adapters.anthropic.definitions import NO_PARAMETERS, without_parameters_row
from contentmodel_adapters.common.hosted import Current, Hosted

SYSTEM_TOOLS = {"nova_grounding": "web_search", "nova_code_interpreter": "code_interpreter"}
"""The tools that Bedrock runs, for Nova 2 (docs.aws.amazon.com/nova/latest/nova2-userguide, seen 2026-11-23)."""
CURRENT: Current = {kind: (Hosted(name, name),) for name, kind in SYSTEM_TOOLS.items()}
_SCHEMA = "toolSpec.inputSchema.json"


def _row_of_tool(wire: dict[str, Any]) -> str | None:
    system = wire.get("systemTool")
    if system.__class__ is dict:
        name = system.get("name")
        return name if name.__class__ is str and name in SYSTEM_TOOLS else "systemTool"
    if wire.get("toolSpec").__class__ is not dict:
        return None
    schema = object_of(wire["toolSpec"], "inputSchema").get("json")
    if schema == NO_PARAMETERS:
        return "without parameters"
    return "free text" if schema.__class__ is dict and is_free_text(schema) else "toolSpec"


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is FunctionTool:
        return rows[1] if tool.parameters is None else rows[0]
    if tool.__class__ is not HostedTool:
        return rows[0]
    return next((row for row in rows if row.implied.get("kind") == tool.kind), None)


_OTHER = {"kind": "other"}
FUNCTION = {f"toolSpec.{key}": key for key in ("name", "description", "strict")} | {_SCHEMA: "parameters"}
TOOLS = TABLE.union(
    "tool",
    [
        Row("toolSpec", FunctionTool, FUNCTION, Silent(CACHED), Filled({_SCHEMA: NO_PARAMETERS})),
        without_parameters_row("without parameters", _SCHEMA, at="toolSpec.", silent=(CACHED,)),
        free_text_row("free text", _SCHEMA, at="toolSpec.", silent=(CACHED,)),
        *(
            Row(
                name,
                HostedTool,
                {"systemTool.name": "name"},
                Implied({"kind": kind}),
                Silent(CACHED, "settings"),
                Filled({"systemTool.name": name}),
            )
            for name, kind in SYSTEM_TOOLS.items()
        ),
        Row("systemTool", HostedTool, {"systemTool.name": "name"}, Implied(_OTHER), Silent(CACHED, "settings")),
        # A cache point that follows no tool.
        Row(
            "cachePoint",
            HostedTool,
            {"cachePoint": "settings"},
            Implied({"kind": "cachePoint"}),
            Silent(CACHED, "name"),
        ),
    ],
    find=lambda wire: "cachePoint" if wire.get("cachePoint").__class__ is dict else _row_of_tool(wire),
    other=Row("other", HostedTool, {}, Implied(_OTHER), Rest("settings"), Silent(CACHED, "name")),
    prefer=_usual_tool,
)
DEFINITIONS = CachedBlocks(TOOLS, POINTS, "cachePoint")


# -- tool choice ---------------------------------------------------------------------------------------------------


_MODES = {"auto": "auto", "required": "any"}
TABLE.known_values("toolChoice", *_MODES.values(), "tool")
TOOL_CHOICE = ToolOrMode("tool.name", {}, {mode: {key: {}} for mode, key in _MODES.items()})


class ParallelCalls(Codec[bool]):
    """Parallel calls, in the tool choice of Claude's own API, which needs a type (BerriAI/litellm#34347, 2026-11-27).

    Converse has no setting for them.
    """

    classes = (dict,)
    identity = False

    def holds(self, value: object) -> bool:
        flag = value.get(_FLAG) if isinstance(value, dict) else None
        return flag.__class__ is bool and value == {"type": "auto", _FLAG: flag}

    def decode(self, value: dict[str, Any], context: DecodeContext, container: Any, key: str) -> bool:
        return not value[_FLAG]

    def encode(self, value: bool, context: EncodeContext, owner: object) -> dict[str, Any]:
        return {"type": "auto", _FLAG: not value}

    def describe(self) -> str:
        return "tool choice"


_FLAG = "disable_parallel_tool_use"
PARALLEL = ParallelCalls()


# -- output format -------------------------------------------------------------------------------------------------


class SchemaText(Codec[dict[str, Any]]):
    """A JSON Schema as JSON text."""

    classes = (str,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        try:
            return value.__class__ is str and parse(value).__class__ is dict
        except DecodeError:
            return False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> dict[str, Any]:
        schema: dict[str, Any] = parse(value)
        return schema

    def encode(self, value: dict[str, Any], context: EncodeContext, owner: object) -> str:
        return write(value).decode()

    def describe(self) -> str:
        return "json"


_DEFINITION = "structure.jsonSchema"
SCHEMA = SchemaText()


def _has_schema(wire: dict[str, Any]) -> bool:
    schema = object_of(object_of(wire, "structure"), "jsonSchema").get("schema")
    return wire.get("type") == "json_schema" and SCHEMA.holds(schema)


OUTPUT_FORMAT = TABLE.union(
    "outputConfig.textFormat",
    [
        Row(
            "json_schema",
            ResponseFormat,
            {
                f"{_DEFINITION}.schema": ("schema", SCHEMA),
                f"{_DEFINITION}.name": "name",
                f"{_DEFINITION}.description": "description",
            },
            Implied({"kind": "json_schema"}),
            Silent("media_type"),
            constants={"type": "json_schema"},
            as_sent=AsSent(f"{_DEFINITION}.schema"),
        )
    ],
    # Another type, or a text that is not a schema, is kept as it is.
    find=lambda wire: "json_schema" if _has_schema(wire) else None,
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: rows[0] if made.kind == "json_schema" and made.schema is not None else None,
)
