"""Tools as JSON text. A column of text has one type in all rows of a data set, so no reader adds nulls to schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, parse, write
from contentmodel.errors import DecodeError
from contentmodel.request import ChatRequest

Decode = Callable[[dict[str, Any], DecodeContext], Any]
_LIST = ""
"""The hint of tools that were a list, in a format that has them as text."""


class ToolsText:
    """The field `tools` of a format: a list, or JSON text. With `usual`, tools of other formats are written as text.

    `hint` keeps the text that was read.
    """

    def __init__(self, hint: Hint[str], *, usual: bool) -> None:
        self._hint, self._usual = hint, usual

    def decode(self, wire: dict[str, Any], context: DecodeContext, decode: Decode) -> Any:
        """Decode a document with `decode`, after parsing the text of its tools."""
        text = wire.get("tools")
        tools = objects_of_text(text)
        if tools is not None:
            copy = {**wire, "tools": tools}
            context.copied(copy, wire, ("tools", "tools"))
            wire = copy
        request = decode(wire, context)
        if not isinstance(request, ChatRequest) or (tools is None and (not self._usual or not request.tools)):
            return request
        return self._hint.on(request, context.api, _LIST if tools is None else str(text))

    def write(self, payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
        """Return the payload with its tools in the form in which they were read, else in the usual form."""
        text, tools = self._hint.of(request, context.api), payload.get("tools", [])
        if text == _LIST or tools.__class__ is not list or (text is None and not (self._usual and tools)):
            return payload
        payload["tools"] = text if text is not None and objects_of_text(text) == tools else write(tools).decode()
        return payload


def objects_of_text(text: Any) -> list[dict[str, Any]] | None:
    """Return the list of objects that a JSON text has; None for any other text, and for an empty list."""
    if text.__class__ is not str:
        return None
    try:
        value = parse(text)
    except DecodeError:
        return None
    are_objects = value.__class__ is list and value and all(item.__class__ is dict for item in value)
    return value if are_objects else None
