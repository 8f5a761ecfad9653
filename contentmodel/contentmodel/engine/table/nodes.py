"""The fields of a row: leaves in a tree of wire objects, and columns whose contents are one list of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import eq
from typing import Any

from contentmodel.engine.json import JsonObject
from contentmodel.engine.table.codecs import Codec
from contentmodel.engine.table.nested import Blocks


class Leaf:
    """One wire field and the attribute that holds it (or the attributes that hold it together)."""

    __slots__ = ("attribute", "attributes", "codec", "fallback", "required", "wire")

    def __init__(self, wire: str, attributes: tuple[str, ...], codec: Codec, required: bool, fallback: Any) -> None:
        self.wire, self.attributes, self.attribute, self.codec = wire, attributes, attributes[0], codec
        self.required, self.fallback = required, fallback

    def holds(self, value: object) -> bool:
        """Whether the attribute can hold the wire value, and tell it from a field that is not there."""
        fallback = self.fallback() if isinstance(self.fallback, type) else self.fallback
        return self.codec.holds(value) and (fallback is None or self.required or value != fallback)


class Node:
    """A wire object: its fields, nested objects, and the constants that dispatch has already checked."""

    __slots__ = ("children", "constants")

    def __init__(self) -> None:
        self.children: dict[str, Leaf | Node | Column] = {}
        self.constants: JsonObject = {}

    def child(self, key: str) -> Node:
        node = self.children.setdefault(key, Node())
        assert isinstance(node, Node), key
        return node

    def leaves(self) -> Iterator[Leaf]:
        for child in self.children.values():
            if isinstance(child, Leaf):
                yield child
            elif isinstance(child, Node):
                yield from child.leaves()

    def codecs(self, path: str = "") -> Iterator[tuple[str, Codec]]:
        """Yield each field's path in the wire object with its codec."""
        for key, child in self.children.items():
            where = f"{path}.{key}" if path else key
            if isinstance(child, Node):
                yield from child.codecs(where)
            else:
                yield where, child.codec

    def holders(self) -> dict[str, Callable[[Any], bool]] | None:
        """What tells of each key whether its value is taken; None where some are nested."""
        holders: dict[str, Callable[[Any], bool]] = {
            key: partial(eq, constant) for key, constant in self.constants.items()
        }
        for key, child in self.children.items():
            if isinstance(child, Node):
                return None
            holders[key] = child.holds
        return holders


class Column:
    """One of several wire fields whose contents together are one list of the model (Chat's message columns)."""

    def __init__(self, codec: Codec, *models: type[Any], noted: bool = False) -> None:
        """`noted`: only contents that came from this column go back to it; they carry the note ":column"."""
        self.codec = codec
        self.models = models
        self.noted = noted
        self.spreads = isinstance(codec, Blocks)

    def holds(self, value: object) -> bool:
        return self.codec.holds(value)

    def describe(self) -> str:
        return self.codec.describe()


def residue_of(node: Node, wire: Mapping[str, object]) -> JsonObject:
    left = {}
    for key, value in wire.items():
        child = node.children.get(key)
        if child is None:
            if key not in node.constants or node.constants[key] != value:
                left[key] = value
        elif isinstance(child, Leaf | Column):
            if not child.holds(value):
                left[key] = value
        elif value.__class__ is dict:
            inner = residue_of(child, value)
            if inner or not value:
                left[key] = inner
        else:
            left[key] = value
    return left


def merge_into(node: Node, residue: Mapping[str, object], wire: JsonObject) -> None:
    for key, value in residue.items():
        if key not in wire:
            wire[key] = value
            continue
        child = node.children.get(key)
        if isinstance(child, Node) and value.__class__ is dict and wire[key].__class__ is dict:
            merge_into(child, value, wire[key])
