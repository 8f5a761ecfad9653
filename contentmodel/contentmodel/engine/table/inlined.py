"""Values whose fields are in the outer wire object."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from contentmodel.engine.json import Json, JsonObject
from contentmodel.engine.losses import reasons
from contentmodel.engine.table.fields import Group
from contentmodel.engine.table.rows import Pieces, Row

if TYPE_CHECKING:
    from contentmodel.engine.context import DecodeContext, EncodeContext


class Inlined(Group):
    """One attribute with its own row, whose fields are in the outer wire object.

    If `one_of_list`, the attribute is a list of one value, such as the only choice of an answer.
    """

    def __init__(self, attribute: str, row: Row, *, one_of_list: bool = False) -> None:
        self.attribute, self._row, self._one_of_list = attribute, row, one_of_list
        self.keys = tuple(row.known_keys())
        fields = {field["attribute"]: path for path, field in row.describe()["fields"].items()}
        self.parts = {path: f"{attribute}.{name}" for name, path in fields.items()}
        self._pieces = Pieces(fields)

    def taken(self, wire: Mapping[str, Json]) -> Collection[str]:
        return [key for key in self.keys if wire.get(key) is not None]

    def decode(self, wire: JsonObject, context: DecodeContext) -> Any:
        part = {key: wire[key] for key in self.taken(wire)}
        if not part:
            return [] if self._one_of_list else None
        context.copied(part, wire)
        value = self._row.decode(part, context)
        context.trace(self._pieces, [value], wire, None, spread=False)
        return [value] if self._one_of_list else value

    def encode(self, value: Any, wire: JsonObject, context: EncodeContext, owner: Any) -> None:
        values = value if self._one_of_list else [] if value is None else [value]
        for other in values[1:]:
            context.report_loss(other, None, reasons.ONE_CHOICE)
        for first in values[:1]:
            wire.update(self._row.encode(first, context))
