"""Tools that a message adds to a conversation.

Only some APIs let a message add tools. The others get all tools of the conversation in one list. Therefore decoding
adds a copy to `ChatRequest.tools`, with the hint `ADDED`. Encoding for the same API leaves the copy out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from contentmodel.content.outcomes import ToolChangeContent
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.json import JsonObject
from contentmodel.engine.table.hints import Hint
from contentmodel.message import Origin, contents_of

if TYPE_CHECKING:
    from contentmodel.engine.table.unions import Union
    from contentmodel.request import ChatRequest, Tool

ADDED = Hint[Literal[True]](None, "added", "a tool is a copy of one that a message adds")


def is_added(tool: Tool) -> bool:
    """Return whether a tool of a request is a copy of one that a message adds."""
    return any(ADDED.is_in(own) for own in (tool.extra or {}).values())


class AddedTools:
    """Add and remove the copies of added tools for one API.

    `definition_of` returns the definition in an element of `ToolChangeContent.tools`; None if the element is only a
    reference.
    """

    def __init__(self, union: Union, definition_of: Callable[[JsonObject], JsonObject | None]) -> None:
        self._union = union
        self._definition_of = definition_of

    def read(self, request: ChatRequest, context: DecodeContext) -> ChatRequest:
        """Return the request with copies of the added tools in its tools."""
        added = list(self._tools(request, context))
        return msgspec.structs.replace(request, tools=[*request.tools, *added]) if added else request

    def leave_out(self, request: ChatRequest) -> ChatRequest:
        """Return the request without copies of tools that its messages add unchanged: the inverse of `read`."""
        api = self._union.api
        if not any(ADDED.of(tool, api) for tool in request.tools):
            return request
        added: dict[str | None, list[Tool]] = {}
        for tool in self._tools(request, DecodeContext(api, request.origin or Origin(api=api, issuer=""))):
            added.setdefault(tool.name, []).append(tool)
        kept = [tool for tool in request.tools if not ADDED.of(tool, api) or tool not in added.get(tool.name, ())]
        return msgspec.structs.replace(request, tools=kept)

    def _tools(self, request: ChatRequest, context: DecodeContext) -> Iterator[Tool]:
        for definition in self._definitions(request):
            for tool in self._union.decode_list([definition], context):
                made = ADDED.on(tool, self._union.api, True)
                context.trace(self._union, [made], definition, None, spread=False)
                yield made

    def _definitions(self, request: ChatRequest) -> Iterator[JsonObject]:
        if ToolChangeContent not in map(type, contents_of(request.messages)):
            return
        for content in contents_of(request.messages):
            if not isinstance(content, ToolChangeContent) or content.action != "add":
                continue
            for tool in content.tools:
                definition = self._definition_of(tool) if tool.__class__ is dict else None
                if definition.__class__ is dict:
                    yield definition
