"""Tool choice: a word, or an object, in every API's own form; the exact form is kept where it is an unusual one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from contentmodel.request import ToolChoice
from contentmodel.wire import reasons
from contentmodel.wire.codecs import Codec
from contentmodel.wire.context import DecodeContext, EncodeContext


class Choice(Codec):
    """`read` makes a choice of an object (None: not understood), `write` a word or object of a choice (None: cannot).

    A word is a mode. What `write` would say otherwise than the payload did is kept under the note ":raw", together with
    the choice it meant, so that an edit of the choice wins over it.
    """

    identity = False

    def __init__(
        self,
        read: Callable[[dict[str, Any]], ToolChoice | None],
        write: Callable[[ToolChoice], Any],
        *,
        words: bool = True,
        fallback: Any = "auto",
    ) -> None:
        super().__init__(*((str, dict) if words else (dict,)))
        self._read, self._write, self._fallback = read, write, fallback

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ToolChoice:
        choice = ToolChoice(mode=value) if value.__class__ is str else self._read(value)
        if choice is not None and self._write(choice) == value:
            return choice
        choice = choice or ToolChoice(mode="other")
        return msgspec.structs.replace(choice, extra={context.api: {":raw": value}})

    def encode(self, value: ToolChoice, context: EncodeContext, owner: Any) -> Any:
        own = (value.extra or {}).get(context.api)
        if own is not None and ":raw" in own:
            raw = own[":raw"]
            meant = ToolChoice(mode=raw) if raw.__class__ is str else self._read(raw)
            if value.mode == "other" or (meant is not None and _same(meant, value)):
                return raw
        elif value.extra is not None:
            context.lose(owner, "options.tool_choice", reasons.TOOL_CHOICE_PARTS)
        written = self._write(value)
        if written is not None:
            return written
        context.lose(owner, "options.tool_choice", reasons.NO_TOOL_CHOICE)
        return self._fallback

    def describe(self) -> str:
        return "tool choice"


def _same(one: ToolChoice, other: ToolChoice) -> bool:
    return (one.mode, one.tools, one.hosted) == (other.mode, other.tools, other.hosted)
