"""Lists of blocks in which a cache point is a block of its own, after the block that it belongs to."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import Blocks, CachePoints, DecodeContext, EncodeContext, Place, Union, reasons
from contentmodel.content.caching import CachePoint
from contentmodel.content.outcomes import UnknownContent


class CachedBlocks(Blocks[Any]):
    """A list of blocks. A cache point after a block becomes an attribute of its content.

    `key` is the only key of a cache point's block. A cache point that follows no block is a block of the union.
    """

    def __init__(self, union: Union, points: CachePoints, key: str) -> None:
        super().__init__(union)
        self._points, self._key = points, key

    def _is_point(self, wire: Any) -> bool:
        return wire.__class__ is dict and wire.keys() == {self._key} and self._points.holds(wire[self._key])

    def _groups(self, wires: list[Any]) -> list[list[Any]]:
        """Return each block, with the cache point after it."""
        groups: list[list[Any]] = []
        for wire in wires:
            if self._is_point(wire) and groups and len(groups[-1]) == 1 and self._takes_point(groups[-1][0]):
                groups[-1].append(wire)
            else:
                groups.append([wire])
        return groups

    def _takes_point(self, wire: Any) -> bool:
        return wire.__class__ is dict and not self._is_point(wire)

    def decode(self, value: list[Any], context: DecodeContext, container: Any, key: str) -> list[Any]:
        if not any(map(self._is_point, value)):
            return self.union.decode_list(value, context)
        contents: list[Any] = []
        for group in self._groups(value):
            made = self.union.decode_list(group[:1], context)
            if len(group) > 1 and self._can_hold(made):
                point = self._points.row.decode(group[1][self._key], context)
                made = [msgspec.structs.replace(made[0], cache_point=point)]
            elif len(group) > 1:
                made += self.union.decode_list(group[1:], context)
            contents += made
        return contents

    def _can_hold(self, made: list[Any]) -> bool:
        return bool(made) and made[0].__class__ is not UnknownContent

    def count(self, wire: Any) -> int:
        return len(self._groups(wire)) if wire.__class__ is list else 1

    def places(self, value: list[Any], wire: Any, path: str) -> list[Place]:
        if wire.__class__ is not list:
            return list(super().places(value, wire, path))
        places: list[Place] = []
        contents = iter(value)
        at = 0
        for group in self._groups(wire):
            content = next(contents, None)
            places.append((content, f"{path}[{at}]", group[0], self.union))
            if len(group) > 1:
                point, inner = getattr(content, "cache_point", None), f"{path}[{at + 1}]"
                if point is not None:
                    places.append((point, f"{inner}.{self._key}", group[1][self._key], self._points.row))
                else:
                    places.append((next(contents, None), inner, group[1], self.union))
            at += len(group)
        return places

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        if all(getattr(content, "cache_point", None) is None for content in value):
            return self.union.encode_list(value, context) or None
        wires: list[Any] = []
        for content in value:
            blocks = self.union.encode_list([content], context)
            wires += blocks
            point = getattr(content, "cache_point", None)
            made = None if point is None else self._written(point, context, follows=bool(blocks))
            wires += [] if made is None else [{self._key: made}]
        return wires or None

    def _written(self, point: CachePoint, context: EncodeContext, *, follows: bool) -> Any:
        if follows:
            return self._points.encode(point, context, None)
        context.report_loss(point, None, reasons.CACHE_POINT)
        return None


class UncachedBlocks(Blocks[Any]):
    """A list of blocks of the same union in a place that has no cache points, such as the content of a result."""

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        for content in value:
            context.report_lost_attributes(content, ("cache_point",))
        return super().encode(value, context, owner)
