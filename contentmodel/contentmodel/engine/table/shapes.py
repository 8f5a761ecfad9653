"""Shapes: the forms of wire objects whose tag has no row, as data.

Providers often add hosted tools, and name their blocks alike: `<tool>_tool_result` with the id of its call. A row with
a shape decodes every block of that form whose tag has no row of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.json import JsonObject
from contentmodel.engine.table.codecs import Codec


class Shape(msgspec.Struct, frozen=True):
    """A form of wire objects: a tag with one of the `endings`, and `fields` with a JSON class each.

    `tag` names the tag field. In a wire object of this form, the fields `without` are missing or null.
    """

    endings: tuple[str, ...]
    fields: Mapping[str, type] = {}
    without: tuple[str, ...] = ()
    tag: str = "type"

    def fits(self, wire: Mapping[str, object]) -> bool:
        """Return whether a wire object has this form."""
        tag = wire.get(self.tag)
        if tag.__class__ is not str or not tag or not tag.endswith(self.endings) or tag in self.endings:
            return False
        has_fields = all(wire.get(name).__class__ is kind for name, kind in self.fields.items())
        return has_fields and all(wire.get(name) is None for name in self.without)

    def describe(self) -> JsonObject:
        """Return the shape as data, which generators need to make such an object."""
        fields = {name: kind.__name__ for name, kind in self.fields.items()}
        return {"tag": self.tag, "endings": list(self.endings), "fields": fields, "without": list(self.without)}


class Named(Codec[str]):
    """A tag that consists of a tool name and an ending: `quantum_tool_result` is the tool `quantum`."""

    classes = (str,)
    identity = False

    def __init__(self, ending: str) -> None:
        super().__init__()
        self.ending = ending

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value.endswith(self.ending)

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> str:
        return value.removesuffix(self.ending)

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return f"{value}{self.ending}"
