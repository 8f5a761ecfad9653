"""Lists of sources in fields of an answer or a message, as citations of its text without a span.

The answer as a whole refers to the sources. The owner of a list is the object whose residue has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, Row, Table, object_of
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.paths import at, put, without


def source_union(table: Table, name: str, **fields: str) -> Any:
    """Return the union of the only form of a source."""
    return table.union(name, [Row(name, Citation, fields)], find=lambda wire: name)


class SourceLists:
    """The fields of an object that list sources.

    `hint` has the dotted path of the field of a citation. `unions` has the rows of the sources by the path, in the
    order of preference; None means a list of links.
    """

    def __init__(self, hint: Hint[Any], unions: Mapping[Any, Any]) -> None:
        self._hint, self._unions = hint, unions

    def cite(self, message: ChatMessage, own: dict[str, Any], wire: Any, context: DecodeContext) -> dict[str, Any]:
        """Add the sources of the preferred list to the first text of a message, in place.

        `own` is the residue of the object `wire`. Return the rest of it: `own` itself if there is no list or no text.
        """
        path = next((path for path in self._unions if self._lists_sources(at(own, path), path)), None)
        contents = enumerate(message.contents)
        place = next((at for at, content in contents if content.__class__ is TextContent), None)
        if path is None or place is None:
            return own
        listed, union = at(own, path), self._unions[path]
        made = [Citation(url=link) for link in listed] if union is None else union.decode_list(listed, context)
        citations = [self._hint.on(citation, context.api, path) for citation in made]
        outer, _, inner = path.rpartition(".")
        context.trace(union, citations, object_of(wire, outer) if outer else wire, inner, spread=True)
        text: Any = message.contents[place]
        message.contents[place] = msgspec.structs.replace(text, annotations=[*(text.annotations or ()), *citations])
        return without(own, path)

    def _lists_sources(self, value: Any, path: str) -> bool:
        kind = str if self._unions[path] is None else dict
        return value.__class__ is list and bool(value) and all(item.__class__ is kind for item in value)

    def write(self, wire: dict[str, Any], contents: Iterable[AIContent], context: EncodeContext) -> dict[str, Any]:
        """Return an object with the sources of contents in its lists."""
        fields: dict[str, list[Any]] = {}
        for content in contents:
            for citation in content.annotations or ():
                path = self._hint.of(citation, context.api)
                if path is not None and path in self._unions:
                    union = self._unions[path]
                    source = citation.url if union is None else union.encode_one(citation, context)
                    fields.setdefault(path, []).append(source)
        for path, listed in fields.items():
            wire = put(wire, path, listed)
        return wire
