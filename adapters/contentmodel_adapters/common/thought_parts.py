"""The parts of a thought: reasoning, and parts of unknown forms, which keep their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import DecodeContext, Union, hints
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent


def decode_parts(
    wires: list[Any], field: str, union: Union, is_known: Callable[[Any], bool], context: DecodeContext
) -> list[Any]:
    """Decode each part in `field` of a thought by itself. One that is not known becomes an unknown content."""
    return [
        union.decode(wire, context)
        if is_known(wire)
        else hints.COLUMN.on(UnknownContent(api=context.api, block=wire), context.api, field)
        for wire in wires
    ]


def with_last_thought(parts: list[Any], owner: Any, field: str, context: DecodeContext) -> list[Any]:
    """Return parts whose last one can have the state of the thought. An empty one is added if the last is unknown."""
    if parts and isinstance(parts[-1], ReasoningContent):
        return parts
    last = ReasoningContent()
    context.trace(None, [last], owner, field, spread=False)
    return [*parts, last]


def unknown_part_of(content: Any, api: str) -> str | None:
    """Return the field of a thought that an unknown content is a part of; None if it is no such content."""
    return hints.COLUMN.of(content, api) if content.__class__ is UnknownContent else None
