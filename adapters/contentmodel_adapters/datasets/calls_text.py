"""The JSON text of calls: an object with `name` and `arguments`, or a list of them, as the text of a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from contentmodel.authoring import Codec, DecodeContext, EncodeContext, Hint, Place, Union, parse, spread
from contentmodel.content.base import AIContent
from contentmodel.errors import DecodeError


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
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = parse(text)
    except DecodeError:
        return None
    calls = value if value.__class__ is list else [value]
    return calls if calls and all(map(_is_call, calls)) else None


def as_objects(text: object) -> list[dict[str, Any]] | dict[str, Any] | None:
    """Return the object or the list of a JSON text of calls; None if it is anything else."""
    calls = calls_of(text)
    return calls if calls is None or is_list(str(text)) else calls[0]


def is_list(text: str) -> bool:
    """Return whether the JSON text of calls is that of a list."""
    return text.lstrip().startswith("[")


def _is_call(value: Any) -> bool:
    return (
        value.__class__ is dict
        and value.get("name").__class__ is str
        and value.get("arguments").__class__ in (dict, str)
    )
