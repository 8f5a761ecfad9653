"""Tool definitions as functions, for APIs that have no other form for them.

If the API requires a schema, a function without parameters gets `NO_PARAMETERS`. A tool that takes free text is a
function with one string parameter, `input`. Both forms are rows of the target's table, so decoding restores them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    Codec,
    DecodeContext,
    EncodeContext,
    Row,
    Silent,
    Spec,
    reasons,
)
from contentmodel.request import CustomTool, FunctionTool

NO_PARAMETERS = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
    "description": "This function has no parameters.",
}
"""The schema of a function that was defined without one."""

FREE_TEXT = {
    "type": "object",
    "properties.input.type": "string",
    "required": ["input"],
    "additionalProperties": False,
    "description": "The input is free text.",
}
"""The schema of a tool that takes free text, by dotted path."""

_GRAMMAR = re.compile(r"The input matches this (lark|regex) grammar:\n(.*)", re.DOTALL)


class Grammar(Codec[dict[str, Any]]):
    """The format of a free-text tool as a sentence in the description of its parameter `input`."""

    classes = (str,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is str and _GRAMMAR.fullmatch(value) is not None

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        syntax, definition = _GRAMMAR.fullmatch(value).groups()  # type: ignore[union-attr]
        return {"type": "grammar", "syntax": syntax, "definition": definition}

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> str | None:
        if value == {"type": "text"}:
            return None
        syntax, definition = value.get("syntax"), value.get("definition")
        text = f"The input matches this {syntax} grammar:\n{definition}"
        if value.keys() == {"type", "syntax", "definition"} and definition.__class__ is str and self.holds(text):
            if not context.native:
                context.report_loss(owner, "format$.type", reasons.GRAMMAR_AS_TEXT)
            return text
        context.report_loss(owner, "format", reasons.NO_TEXT_FORMAT)
        return None


def free_text_row(
    name: str,
    schema: str,
    others: Mapping[str, Spec] = MappingProxyType({}),
    *,
    at: str = "",
    silent: tuple[str, ...] = (),
    tag: str | None = None,
) -> Row:
    """Return the row of a tool that takes free text.

    `schema` is the field that holds the function's parameters; `others` are further fields of the tool, and `at` is the
    path before the name and the description. `silent` are attributes that other code writes. `tag` is the type of a
    function.
    """
    fields: dict[str, Spec] = {
        f"{at}name": "name",
        f"{at}description": "description",
        f"{schema}.properties.input.description": ("format", Grammar()),
        **others,
    }
    constants = {f"{schema}.{path}": value for path, value in FREE_TEXT.items()}
    constants |= {} if tag is None else {"type": tag}
    return Row(name, CustomTool, fields, Silent(*silent), constants=constants)


def is_free_text(schema: Any) -> bool:
    """Return whether a schema is that of a tool that takes free text."""
    if schema.__class__ is not dict or schema.get("description") != FREE_TEXT["description"]:
        return False
    properties = schema.get("properties")
    parameter = properties.get("input") if properties.__class__ is dict and len(properties) == 1 else None
    if parameter.__class__ is not dict or parameter.keys() - {"type", "description"}:
        return False
    flattened = {**schema, "properties.input.type": parameter.get("type")}
    del flattened["properties"]
    return flattened == FREE_TEXT and Grammar().holds(
        parameter.get("description", "The input matches this lark grammar:\n")
    )


def free_text_function() -> Row:
    """Return the row of a tool that takes free text, for APIs whose tools are those of Chat Completions."""
    return free_text_row(FREE_TEXT_ROW, "function.parameters", at="function.", tag="function")


def row_of_function(wire: dict[str, Any]) -> Any:
    """Return the name of the row of a tool in the form of Chat Completions: its type, or the row of free text."""
    tag, function = wire.get("type"), wire.get("function")
    is_function = tag == "function" and function.__class__ is dict
    return FREE_TEXT_ROW if is_function and is_free_text(function.get("parameters")) else tag  # type: ignore[union-attr]


def without_parameters_row(
    name: str,
    schema: str,
    others: Mapping[str, Spec] = MappingProxyType({}),
    *,
    at: str = "",
    silent: tuple[str, ...] = (),
) -> Row:
    """Return the row of a function without parameters, for an API that requires a schema in the field `schema`.

    `others` are further fields of the function, and `at` is the path before its name.
    `silent` are attributes that other code writes.
    """
    fields = {f"{at}{key}": key for key in ("name", "description", "strict")} | dict(others)
    return Row(name, FunctionTool, fields, Silent("parameters", *silent), constants={schema: NO_PARAMETERS})
