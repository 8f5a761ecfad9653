"""Helpers for the lines of session files: their order, times and ids."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from contentmodel.authoring import EncodeContext, Hint, wire_fields, write
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest

ORDER = Hint[list[int]](None, "order", "the lines of a session file in the order of their messages")

HEAD_LINE = Hint[int](None, "held", "the line of a session file that holds the instructions and tools of the model")

END = -1
"""The value in ORDER after the last line of the conversation, and of each branch."""

Group = Sequence[tuple[int | None, Any]]
"""Lines to write, in order, each with the index of the line that it was read from; None if its message is new."""

_NAMESPACE = uuid.UUID("9d5f1a52-4c44-5d0b-9b5e-0c6c1f0f7f43")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_new(request: ChatRequest, api: str) -> bool:
    """Return whether a request was not read from a file of this format."""
    return ORDER.of(request, api) is None


def kept_lines(request: ChatRequest, api: str) -> list[tuple[int, Any]]:
    """Return the lines of a file that are not part of a message, with their indexes, in order."""
    lines: dict[int, Any] = {}
    for entries in wire_fields((request.extra or {}).get(api, {})).values():
        for index, line in _pairs(entries):
            lines[index] = _merged(lines[index], line) if index in lines else line
    return sorted(lines.items())


def _merged(one: Any, other: Any) -> Any:
    """Return the line of two entries of the residue, each of which has None in place of the values of the other."""
    if one.__class__ is dict and other.__class__ is dict:
        both = one.keys() & other.keys()
        return {**one, **other, **{key: _merged(one[key], other[key]) for key in both}}
    if one.__class__ is list and other.__class__ is list and len(one) == len(other):
        return [_merged(first, second) for first, second in zip(one, other, strict=True)]
    return other if one is None else one


def kept_as(request: ChatRequest, api: str, *names: str) -> set[int]:
    """Return the indexes of the lines that are kept in these entries of the residue."""
    residue = (request.extra or {}).get(api, {})
    return {index for name in names for index, _ in _pairs(residue.get(name))}


def _pairs(entries: object) -> Iterator[tuple[int, Any]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], int):
            yield entry[0], entry[1]


def arranged(groups: Sequence[Group], kept: Sequence[tuple[int, Any]], request: ChatRequest, api: str) -> list[Any]:
    """Merge the lines of messages and the kept lines into the lines of a file.

    `groups` has a group for the conversation, and one for each branch. If the messages of a group are in the order of
    the file, its lines keep their positions. A new line follows the line before it in its group.
    """
    rank = {line: at for at, line in enumerate(ORDER.of(request, api) or ())}
    keyed: list[tuple[int, int, Any]] = [(index, 0, line) for index, line in kept]
    for group in groups:
        ranks = [rank.get(line, -1) for line, _ in group if line is not None]
        is_sorted = ranks == sorted(ranks)
        at = -1
        for line, value in group:
            if line is not None:
                at = line if is_sorted else max(at, line)
            keyed.append((at, 1, value))
    return [value for _, _, value in sorted(keyed, key=lambda entry: entry[:2])]


def order_of(request: ChatRequest, api: str) -> dict[int | None, int | None]:
    """Return the index of the previous message's line for each line. The key None has the conversation's last line."""
    before: dict[int | None, int | None] = {}
    last: int | None = None
    order = ORDER.of(request, api) or []
    for line in order:
        if line != last:
            before.setdefault(line, last)
        last = None if line == END else line
    end = order.index(END) if END in order else len(order)
    before[None] = order[end - 1] if end else None
    return before


def iso_time(created: float | str) -> str:
    """Return a time in the form of session files: "2026-11-23T10:54:44.607Z". A text is returned unchanged."""
    if isinstance(created, str):
        return created
    try:
        time = _EPOCH + timedelta(seconds=created)
    except (OverflowError, ValueError):
        time = _EPOCH
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"


def session_id(request: ChatRequest, context: EncodeContext) -> str:
    """Return the id of a new session: the policy `session`, else an id made of the first message."""
    named = context.policies.get("session")
    return named or made_id(request.model, *(message.text for message in request.messages[:1]))


def made_id(*parts: object) -> str:
    """Return a UUID derived from values: the same values give the same id."""
    return str(uuid.uuid5(_NAMESPACE, write(list(parts)).decode("utf-8", "replace")))


def count_of(value: object) -> int | None:
    """Return a count of tokens; None if the value is not one."""
    return value if isinstance(value, int) and value.__class__ is int else None


def first_time(messages: Sequence[ChatMessage]) -> str | None:
    """Return the time of the first message that has one."""
    return next((iso_time(message.created) for message in messages if message.created is not None), None)


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path; False if there is none."""
    for key in path:
        value = value.get(key, False) if value.__class__ is dict else False
    return value
