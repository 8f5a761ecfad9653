"""Remove the nulls that Arrow adds, and restore them: it gives each object of a column the keys of all its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel.authoring import Hint, child_path, object_of
from contentmodel.content.tools import FunctionCallContent
from contentmodel.request import ChatRequest, FunctionTool

API = "hf-messages"
PADDED = Hint[Any](API, "padded", "the arguments or the schema with the nulls that Arrow added")
CALLS_TEXT = Hint[str](API, "calls", "the JSON text of calls, of a message of the role tool_call; empty: other text")
LITERALS = ("enum", "const", "default", "examples")
"""Keywords of schemas whose value may be null or contain null."""


def without_nulls(value: Any, kept_names: tuple[str, ...] = ()) -> Any:
    """Return a JSON value without the null members of objects. Members in `kept_names` are unchanged."""
    if value.__class__ is list:
        return [without_nulls(item, kept_names) for item in value]
    if value.__class__ is not dict:
        return value
    return {
        key: item if key in kept_names and item is not None else without_nulls(item, kept_names)
        for key, item in value.items()
        if item is not None
    }


def with_nulls(value: Any, owner: Any) -> Any:
    """Return a value with the nulls that it was read with, unless it was edited."""
    original = PADDED.of(owner, API)
    return original if original is not None and without_nulls(original) == without_nulls(value) else value


def nulls_in(value: Any, kept_names: tuple[str, ...] = (), path: str = "") -> Iterator[str]:
    """Yield the paths of the null members of objects, but those in members in `kept_names`."""
    if value.__class__ is list:
        for index, item in enumerate(value):
            yield from nulls_in(item, kept_names, f"{path}[{index}]")
    elif value.__class__ is dict:
        for key, item in value.items():
            if item is None:
                yield child_path(path, key)
            elif key not in kept_names:
                yield from nulls_in(item, kept_names, child_path(path, key))


def without_padding(request: ChatRequest) -> None:
    """Remove the nulls that Arrow added to arguments and schemas, in place. Hints keep the original.

    A null argument is kept if the tool declares that it may be null.
    """
    request.tools[:] = [_unpadded(tool, "parameters", LITERALS) for tool in request.tools]
    schemas = {tool.name: tool.parameters or {} for tool in request.tools if isinstance(tool, FunctionTool)}
    for message in request.messages:
        if CALLS_TEXT.of(message, API) is not None:
            # Arrow adds no nulls to texts.
            continue
        for at, content in enumerate(message.contents):
            if isinstance(content, FunctionCallContent) and content.arguments.__class__ is dict:
                properties = object_of(schemas.get(content.name or "", {}), "properties")
                nullable = tuple(name for name, schema in properties.items() if _takes_null(schema))
                message.contents[at] = _unpadded(content, "arguments", (), nullable)


def _takes_null(schema: Any) -> bool:
    if schema.__class__ is not dict:
        return False
    types = schema.get("type")
    options = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    return bool(types == "null" or (types.__class__ is list and "null" in types) or any(map(_takes_null, options)))


def _unpadded(value: Any, name: str, kept_names: tuple[str, ...], nullable: tuple[str, ...] = ()) -> Any:
    original = getattr(value, name, None)
    if original.__class__ is not dict:
        return value
    nulls = {key: None for key in nullable if key in original and original[key] is None}
    stripped = {**without_nulls(original, kept_names), **nulls}
    if stripped == original:
        return value
    return PADDED.on(msgspec.structs.replace(value, **{name: stripped}), API, original)
