"""The names of types in the schemas of functions: those of JSON Schema, or those of OpenAPI, in upper case.

The JSON form of protocol buffers may have numbers in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.engine.context import EncodeContext
from contentmodel.engine.json import child_path
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.steps import needs
from contentmodel.request import ChatRequest, FunctionTool, ToolGroup

NAMES = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
"""The types of OpenAPI by their numbers in Gemini's API (google-genai sends its enumerations as integers)."""


@needs(("tool", FunctionTool), ("tool", ToolGroup))
def with_json_schemas(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose schemas have the types of JSON Schema: Gemini has them in upper case."""
    tools = [_with_json_schema(tool, context) for tool in request.tools]
    is_same = all(new is old for new, old in zip(tools, request.tools, strict=True))
    changed: ChatRequest = request if is_same else context.replace(request, tools=tools)
    return changed


def _with_json_schema(tool: Any, context: EncodeContext) -> Any:
    schema = with_named_types(tool.parameters) if isinstance(tool, FunctionTool) else None
    if not isinstance(schema, dict) or schema.get("type") != "OBJECT":
        return tool
    for path in _numbers(tool.parameters, "parameters"):
        context.report_loss(tool, path, reasons.SCHEMA_CONVERTED, keyword="type", why="types have names")
    return context.replace(tool, parameters=_lowered(schema))


def _numbers(schema: object, path: str) -> Iterator[str]:
    """Yield the paths of types that are numbers."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from _numbers(item, f"{path}[{index}]")
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "type" and value.__class__ is int:
                yield child_path(path, key)
            yield from _numbers(value, child_path(path, key))


def with_named_types(schema: Any) -> Any:
    """Return a schema with the names of its types if they are numbers."""
    return _with_names(schema) if isinstance(schema, dict) and schema.get("type").__class__ is int else schema


def _with_names(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: _with_names(item) for key, item in value.items()}
    kind = result.get("type")
    if kind.__class__ is int and 0 <= kind < len(NAMES):
        result["type"] = NAMES[kind]
    return result


def _lowered(schema: Any) -> Any:
    """Return a schema with its types in lower case."""
    if isinstance(schema, list):
        return [_lowered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: v.lower() if k == "type" and isinstance(v, str) else _lowered(v) for k, v in schema.items()}
