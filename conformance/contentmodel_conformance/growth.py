"""Whether a turn of a conversation is another one with more at its end."""

from __future__ import annotations

from typing import Any

from contentmodel.engine.json import write


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are written as the same JSON."""
    return write(one) == write(other)


def has_grown(one: Any, other: Any) -> bool:
    """Return whether `other` is `one`, or `one` with more blocks at the end of its lists.

    The reasoning of joined messages is one text, to which paragraphs are added.
    """
    if isinstance(one, list) and isinstance(other, list):
        return is_same(one, other[: len(one)])
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == [key for key in other if key in one]:
        return all(
            has_grown(value, other[key]) or (key == "reasoning_content" and f"{other[key]}".startswith(f"{value}\n\n"))
            for key, value in one.items()
        )
    if isinstance(one, str) and isinstance(other, list):
        # A single text is encoded as a string, and as a block if others follow.
        return bool(other) and isinstance(other[0], dict) and other[0].get("text") == one
    return is_same(one, other)
