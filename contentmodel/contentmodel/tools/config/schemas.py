"""The parameters of a tool, with and without those that the caller supplies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from contentmodel.errors import Fault
from contentmodel.tools.config.format import Entry

# Keywords that do not restrict parameter names, or that are handled name by name.
_HARMLESS = ("type", "properties", "required", "description", "title", "$defs", "definitions", "default", "examples")


def property_names(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters."""
    properties = parameters.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def context_faults(entry: Entry, *, only_parameters: bool) -> Iterator[Fault]:
    """Yield the faults of a tool's context. If `only_parameters`, the context may name only parameters."""
    parameters = entry.function.parameters
    names = property_names(parameters)
    if "$ref" in parameters:
        yield Fault(
            "function.parameters.$ref", "replace $ref by the schema itself: the names of the parameters are needed"
        )
    for index, name in enumerate(entry.context):
        path = f"context[{index}]"
        if name in entry.context[:index]:
            yield Fault(path, f"{name} is listed twice: remove one")
        elif name not in names and only_parameters:
            close = get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            parameter_names = ", ".join(names) or "none"
            yield Fault(path, f"{name} is not a parameter of this tool: {hint}its parameters: {parameter_names}")
        elif any(_mentions(value, name) for keyword, value in parameters.items() if keyword not in _HARMLESS):
            message = f"{name} cannot be removed from the schema that the model sees"
            yield Fault(path, f"{message}: mention it only in properties and required")


def shown_parameters(parameters: Mapping[str, Any], context: Iterable[str]) -> dict[str, Any]:
    """Return the schema for the model, without the parameters that the caller supplies."""
    hidden = set(context)
    shown = dict(parameters)
    if "properties" in shown:
        shown["properties"] = {name: value for name, value in shown["properties"].items() if name not in hidden}
    if "required" in shown:
        shown["required"] = [name for name in shown["required"] if name not in hidden]
    return shown


def context_parameters(parameters: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Return the schema of an object with only this parameter; None if the parameter has no schema."""
    if name not in parameters.get("properties", {}):
        return None
    definitions = {key: parameters[key] for key in ("$defs", "definitions") if key in parameters}
    # Keep the parameter's name, so that the path of a fault begins with it.
    return {**definitions, "type": "object", "properties": {name: parameters["properties"][name]}}


def _mentions(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return name in value or any(_mentions(item, name) for item in value.values())
    if isinstance(value, list):
        return any(_mentions(item, name) for item in value)
    return bool(value == name)
