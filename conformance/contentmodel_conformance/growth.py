"""The conversations of payloads, and the comparison of their turns as they grow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from contentmodel import ChatRequest
from contentmodel.json import write


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are written as the same JSON."""
    return write(one) == write(other)


def has_grown(one: Any, other: Any) -> bool:
    """Return whether `other` is `one`, or `one` with more blocks at the end of its lists.

    The text or reasoning of joined messages may be one text, to which paragraphs are added. A part that is both a call
    and its result has a new state, and more fields, when it gets the result.
    """
    if isinstance(one, list) and isinstance(other, list):
        return len(one) <= len(other) and all(
            is_same(item, now) or _is_answered(item, now) for item, now in zip(one, other, strict=False)
        )
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == [key for key in other if key in one]:
        return all(
            has_grown(value, other[key]) or (key in _TEXTS and f"{other[key]}".startswith(f"{value}\n\n"))
            for key, value in one.items()
        )
    if one == "" and isinstance(other, str | list):
        # A required field, for which the joined message has a text.
        return True
    if isinstance(one, str) and isinstance(other, list):
        # A single text is encoded as a string, and as a block if others follow.
        return bool(other) and isinstance(other[0], dict) and other[0].get("text") == one
    if isinstance(one, str) and isinstance(other, str) and one[:1] in ("{", "[") and other.startswith("["):
        return is_same(one, other) or _has_grown_in_text(one, other)
    return is_same(one, other)


def _has_grown_in_text(one: str, other: str) -> bool:
    """Return whether both are JSON texts of blocks, and `other` has more blocks at the end.

    The JSON text of calls is an object, or a list of objects if there are several.
    """
    try:
        before, after = json.loads(one), json.loads(other)
    except (ValueError, RecursionError):
        return False
    before = before if isinstance(before, list) else [before]
    return all(isinstance(block, dict) for block in [*before, *after]) and has_grown(before, after)


def _is_answered(one: Any, other: Any) -> bool:
    """Return whether `other` is the part of a call `one`, with its result or an approval."""
    if not isinstance(one, dict) or not isinstance(other, dict) or "state" not in one:
        return False
    return one["state"] != other.get("state") and all(
        key == "state" or (key in other and (is_same(value, other[key]) or _has_more(value, other[key])))
        for key, value in one.items()
    )


def _has_more(one: Any, other: Any) -> bool:
    """Return whether `other` is the object `one` with more fields, as an approval that was answered."""
    return isinstance(one, dict) and isinstance(other, dict) and is_same(one, {key: other.get(key) for key in one})


def conversation_of(adapter: Any, request: ChatRequest) -> Callable[[Any], list[Any]]:
    """Return a function that returns the conversation of a payload: the list that grows with it."""
    least, most = (
        adapter.encode_request(msgspec.structs.replace(request, messages=messages)).payload
        for messages in (request.messages[:1], request.messages)
    )
    if isinstance(least, list) or isinstance(most, list):
        return turns_in
    lists = [key for key, value in most.items() if isinstance(value, list)]
    grown = (key for key in lists if most[key] != least.get(key))
    field = next((key for key in _TURNS if key in most), None) or next(grown, "")
    return lambda payload: _as_list(payload.get(field, []))


_TURNS = ("messages", "input", "contents", "turns", "conversations")
"""The fields that have the conversation in known APIs."""


def turns_in(payload: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the conversation of a request of a known API, or the lines of a document."""
    if isinstance(payload, list):
        return payload
    return _as_list(next((payload[key] for key in _TURNS if key in payload), []))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_TEXTS = ("reasoning_content", "content", "thinking")
"""The fields of a message that are one text, to which paragraphs are added."""
