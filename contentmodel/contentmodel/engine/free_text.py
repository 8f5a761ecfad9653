"""A tool that takes free text as a function with one string parameter, `input`, for APIs that have no other form.

The form is a row of the target's table, so decoding restores the tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.engine.table.codecs import Codec
from contentmodel.engine.table.tables import Row, Silent, Spec
from contentmodel.request import CustomTool

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
