"""Results of Claude's web search in formats of frameworks, which keep the blocks of Anthropic: a list of links.

Each link has encrypted content that only Anthropic reads. It stays in the residue, so that no other provider gets it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Hint,
    Place,
    Required,
    Row,
    Table,
    Union,
    spread,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import UriContent

FOUND = Hint[Literal[True]](None, "found", "the link is one of the results of a web search of Anthropic")
_KIND = "web_search_result"


def links(table: Table) -> Union:
    """Add the union of these links to a table, and return it."""
    fields: Any = {"url": ("uri", Required()), "title": "title"}
    return table.union("search result", [Row(_KIND, UriContent, fields, constants={"type": _KIND})])


class OrLinks(Codec[list[AIContent]]):
    """The outputs of a web search: a list of links, or what another codec decodes."""

    identity = False

    def __init__(self, other: Codec[list[AIContent]], union: Union) -> None:
        self.classes = other.classes
        self._other, self._union = other, union

    def holds(self, value: object) -> bool:
        return self._other.holds(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if not _are_links(value):
            return self._other.decode(value, context, container, key)
        return [FOUND.on(link, self._union.api, True) for link in self._union.decode_list(value, context)]

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        return spread(value, wire, path, self._union) if _are_links(wire) else self._other.places(value, wire, path)

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        api = self._union.api
        if value and all(one.__class__ is UriContent and FOUND.of(one, api) for one in value):
            return self._union.encode_list(value, context)
        return self._other.encode(value, context, owner)

    def describe(self) -> str:
        return f"{self._other.describe()}, or list of {self._union.name}"


def _are_links(value: Any) -> bool:
    return value.__class__ is list and bool(value) and all(map(_is_link, value))


def _is_link(item: Any) -> bool:
    return item.__class__ is dict and item.get("type") == _KIND and item.get("url").__class__ is str
