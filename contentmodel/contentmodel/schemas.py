"""JSON Schemas of Python types, simplified for a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DATA = ("default", "const", "enum", "examples")
"""Keywords whose members are values, not schemas."""
NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keywords whose member names are chosen by the application, not by JSON Schema."""


def tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` with its root inlined, without unused definitions, and without titles."""
    definitions = schema.get("$defs", {})
    root = {key: value for key, value in schema.items() if key != "$defs"}
    name = root.pop("$ref", "").rpartition("/")[2]
    if name:
        root = {**definitions[name], **root}
    used = _used(root, definitions)
    used_definitions = {key: value for key, value in definitions.items() if key in used}
    result: dict[str, Any] = _untitled({**root, "$defs": used_definitions} if used_definitions else root)
    return result


def _used(root: Any, definitions: dict[str, Any]) -> set[str]:
    """Return the names of the definitions that `root` needs."""
    names: set[str] = set()
    todo = [root]
    while todo:
        for reference in references(todo.pop()):
            name = reference.rpartition("/")[2]
            if name in definitions and name not in names:
                names.add(name)
                todo.append(definitions[name])
    return names


def references(value: Any) -> Iterator[str]:
    """Yield the references in a schema."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def _untitled(value: Any) -> Any:
    if isinstance(value, list):
        return [_untitled(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {name: _untitled(member) for name, member in item.items()}
        if key in NAMED and isinstance(item, dict)
        # These are data, not schemas: a title in them is a value.
        else (item if key in DATA else _untitled(item))
        for key, item in value.items()
        if not (key == "title" and isinstance(item, str))
    }
