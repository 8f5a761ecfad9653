"""The places of outgoing blocks, and the size of the contents that are kept until their losses are read."""

from __future__ import annotations

from collections.abc import Mapping

from contentmodel.content.base import AIContent
from contentmodel.events import growing_field

Place = tuple[int, int]
"""The key of a block: the number of its choice, and its own number."""
MOST_KEPT = 65_536
"""The maximum number of characters of blocks that are kept in memory until their losses are read."""


def size_of(content: AIContent) -> int:
    """Return the approximate size of a content in characters. If it is not plain text, return more than the limit."""
    text = getattr(content, growing_field(content) or "", None)
    return 1_000 + len(text) if isinstance(text, str) else MOST_KEPT + 1


def path_of(place: Place, known: Mapping[Place, str]) -> str:
    """Return the path of a block. While its message is unknown, the path contains its number in the choice instead."""
    choice, index = place
    return known.get(place) or f"$.choices[{choice}].blocks[{index}]"
