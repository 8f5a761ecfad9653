"""The base class of codecs of lists of objects that are no contents, such as the choices of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from contentmodel.engine.json import Json, JsonArray, JsonObject
from contentmodel.engine.losses.provenance import RowFinder
from contentmodel.engine.table.codecs import Codec, Place

T = TypeVar("T")


class ObjectList(Codec[list[T]]):
    """A list of objects, each decoded by itself. An entry of another class stays in the residue, at its place.

    Subclasses decode the `objects` of a list, and encode them.
    """

    classes = (list,)
    identity = False

    def __init__(self, row: RowFinder) -> None:
        super().__init__()
        self.row = row

    def holds(self, value: object) -> bool:
        return value.__class__ is list and any(item.__class__ is dict for item in value)

    def objects(self, wire: JsonArray) -> list[JsonObject]:
        """Return the entries that are objects."""
        return [item for item in wire if item.__class__ is dict]

    def left(self, wire: Json) -> JsonArray | None:
        if all(item.__class__ is dict for item in wire):
            return None
        return [{} if item.__class__ is dict else item for item in wire]

    def places(self, value: list[T], wire: Json, path: str) -> Iterable[Place]:
        places = [(f"{path}[{index}]", item) for index, item in enumerate(wire) if item.__class__ is dict]
        return [(one, place, item, self.row) for one, (place, item) in zip(value, places, strict=False)]
