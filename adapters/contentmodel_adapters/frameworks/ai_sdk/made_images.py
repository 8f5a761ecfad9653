"""Images that a hosted tool of OpenAI made, in the form of the Vercel AI SDK: an object with the base64 of the image.

Source: `tool/image-generation.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Place,
    Required,
    Row,
    Table,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent


def images(table: Table) -> Row:
    """Add the row of these images to a table, and return it."""
    return table.record("made image", DataContent, {"result": ("data", Required())})


class OrImage(Codec[list[AIContent]]):
    """The outputs of the tool that makes images: one image, or what another codec decodes.

    The form has no media type. `is_untyped` is true if the other codec decodes images, too: those have one.
    """

    identity = False

    def __init__(self, other: Codec[list[AIContent]], row: Row, *, is_untyped: bool = False) -> None:
        self.classes = other.classes
        self._other, self._row, self._is_untyped = other, row, is_untyped

    def holds(self, value: object) -> bool:
        return self._other.holds(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if not _is_image(value):
            return self._other.decode(value, context, container, key)
        return [self._row.decode(value, context)]

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        if not _is_image(wire):
            return self._other.places(value, wire, path)
        return [(value[0], path, wire, self._row)] if value else []

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        only: Any = value[0] if is_made_image(value) else None
        if only is None or (self._is_untyped and only.media_type is not None and not context.completes):
            return self._other.encode(value, context, owner)
        return self._row.encode(value[0], context)

    def describe(self) -> str:
        return f"{self._other.describe()}, or {self._row.name}"


def is_made_image(outputs: list[Any]) -> bool:
    """Return whether outputs are one image that the form can have."""
    only = outputs[0] if len(outputs) == 1 else None
    return isinstance(only, DataContent) and only.text is None


def _is_image(value: Any) -> bool:
    return value.__class__ is dict and value.keys() == {"result"} and value["result"].__class__ is str
