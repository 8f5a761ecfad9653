"""Tools, the choice of tools, and the format of the answer."""

from __future__ import annotations

from typing import Any

from contentmodel import FunctionTool, HostedTool, ResponseFormat, ToolChoice
from contentmodel.authoring import Choice, Filled, Implied, Rest, Row, Silent, object_of, row
from contentmodel_adapters.mistral_chat.blocks import TABLE

FUNCTION = {
    "function.name": "name",
    "function.description": "description",
    "function.parameters": "parameters",
    "function.strict": "strict",
}
HOSTED = {"image_generation": "image_generation", "document_library": "file_search", "connector": "connector"}
"""The kinds of the tools that Mistral runs."""
TOOLS = TABLE.union(
    "tool",
    [
        row("function", FunctionTool, FUNCTION, Filled({"function.parameters": {"type": "object", "properties": {}}})),
        *(row(tag, HostedTool, {}, Implied({"kind": kind}), Rest("settings")) for tag, kind in HOSTED.items()),
    ],
    default="function",
    other=Row("other", HostedTool, {"type": "kind"}),
    foreign_types=[FunctionTool],
)
SCHEMA = {
    "json_schema.schema": "schema",
    "json_schema.name": "name",
    "json_schema.description": "description",
    "json_schema.strict": "strict",
}
JSON, JSON_SCHEMA, PLAIN = (Implied({"kind": kind}) for kind in ("json", "json_schema", "text"))
NAMED = Filled({"json_schema.name": "response"})
FORMATS = TABLE.union(
    "response format",
    [
        row(
            "json_schema", ResponseFormat, SCHEMA, JSON_SCHEMA, Silent("media_type"), Filled({"json_schema.name": "x"})
        ),
        row("json_object", ResponseFormat, {}, JSON, Silent("media_type")),
        row("text", ResponseFormat, {}, PLAIN, Silent("media_type")),
    ],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda made, rows: next((one for one in rows if one.implied.get("kind") == made.kind), rows[0]),
)


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Decode a tool choice that names one function."""
    name = object_of(value, "function").get("name")
    return ToolChoice(mode="required", tools=[name]) if isinstance(name, str) else None


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Encode a tool choice; None if the API cannot express it."""
    if choice.hosted is None and not choice.tools:
        return {"auto": "auto", "none": "none", "required": "any"}.get(choice.mode)
    if choice.mode == "required" and choice.tools is not None and len(choice.tools) == 1:
        return {"type": "function", "function": {"name": choice.tools[0]}}
    return None


CHOICE = Choice(read_choice, write_choice, modes={"any": "required"}, tagged=("type", ["function"]))
TABLE.known_values("tool_choice", "auto", "none", "any", "required", "function")
