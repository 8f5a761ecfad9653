"""The names of types in the schemas of functions: those of JSON Schema, or those of OpenAPI, in upper case."""

from __future__ import annotations

from typing import Any

from contentmodel.engine.context import EncodeContext
from contentmodel.request import ChatRequest, FunctionTool


def with_json_schemas(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose schemas have the types of JSON Schema: Gemini has them in upper case."""
    tools = [_with_json_schema(tool, context) for tool in request.tools]
    is_same = all(new is old for new, old in zip(tools, request.tools, strict=True))
    changed: ChatRequest = request if is_same else context.replace(request, tools=tools)
    return changed


def _with_json_schema(tool: Any, context: EncodeContext) -> Any:
    if not isinstance(tool, FunctionTool) or (tool.parameters or {}).get("type") != "OBJECT":
        return tool
    return context.replace(tool, parameters=_lowered(tool.parameters))


def _lowered(schema: Any) -> Any:
    """Return a schema with its types in lower case."""
    if isinstance(schema, list):
        return [_lowered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: v.lower() if k == "type" and isinstance(v, str) else _lowered(v) for k, v in schema.items()}
