"""JSON in the texts of data sets: calls as the text of a message, and tools as that of a field.

Calls are an object with `name` and `arguments`, or a list of them. A column of text has one type in all rows of a data
set, so no reader adds nulls to the schemas of tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Hint,
    Place,
    Union,
    parse,
    spread,
    write,
)
from contentmodel.content.base import AIContent
from contentmodel.errors import DecodeError
from contentmodel.request import ChatRequest

Decode = Callable[[dict[str, Any], DecodeContext], Any]
_LIST = ""
"""The hint of tools that were a list, in a format that has them as text."""


class CallsText(Codec[list[AIContent]]):
    """The JSON text of calls. `calls` decodes one, `text_of` returns the usual text, and `hint` keeps the text read."""

    classes = (str,)
    identity = False

    def __init__(self, calls: Union, text_of: Callable[[list[dict[str, Any]]], str], hint: Hint[str]) -> None:
        super().__init__()
        self._calls, self._text_of, self._hint = calls, text_of, hint

    def holds(self, value: object) -> bool:
        return calls_of(value) is not None

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        contents: list[AIContent] = self._calls.decode_list(calls_of(value) or [], context)
        return contents

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        calls = calls_of(wire) or []
        return spread(value, calls, path, self._calls) if is_list(wire) else [(value[0], path, calls[0], self._calls)]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: Any) -> str:
        calls = self._calls.encode_list(value, context)
        text = self._hint.of(owner, context.api)
        return text if text is not None and calls_of(text) == calls else self._text_of(calls)


def calls_of(text: object) -> list[dict[str, Any]] | None:
    """Return the calls of a JSON text; None if it is anything else."""
    value = _parsed(text) if isinstance(text, str) and text.lstrip()[:1] in ("{", "[") else None
    calls: list[Any] = value if value.__class__ is list else [value]
    are_calls = calls and all(
        call.__class__ is dict and call.get("name").__class__ is str and call.get("arguments").__class__ in (dict, str)
        for call in calls
    )
    return calls if are_calls else None


def as_objects(text: object) -> list[dict[str, Any]] | dict[str, Any] | None:
    """Return the object or the list of a JSON text of calls; None if it is anything else."""
    calls = calls_of(text)
    return calls if calls is None or is_list(str(text)) else calls[0]


def is_list(text: str) -> bool:
    """Return whether the JSON text of calls is that of a list."""
    return text.lstrip().startswith("[")


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
    value = _parsed(text)
    are_objects = value.__class__ is list and value and all(item.__class__ is dict for item in value)
    return value if are_objects else None


def _parsed(text: object) -> Any:
    """Return the value of a JSON text; None for anything else."""
    try:
        return parse(text) if isinstance(text, str) else None
    except DecodeError:
        return None
