"""The first difference of two JSON values."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any, NamedTuple

from contentmodel.display import count_of
from contentmodel.json import child_path


class Label(str):
    """A description that is shown instead of an expected or actual value, without quotes."""

    __slots__ = ()


ABSENT = Label("(nothing)")
"""The placeholder for a missing value."""


class Difference(NamedTuple):
    """The path of a difference, its description, and both values."""

    where: str
    detail: str
    expected: Any
    found: Any


def difference(one: Any, other: Any, path: str = "$") -> Difference | None:
    """Return the first difference of two JSON values, or None if they are equal. `one` is the expected value.

    1 and 1.0 differ, and so do True and 1: a strict server may accept only one of them.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return _object_difference(one, other, path)
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return _list_difference(one, other, path)
        pairs = ((f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)))
        return next(filter(None, (difference(a, b, child) for child, a, b in pairs)), None)
    if type(one) is type(other) and one == other:
        return None
    return Difference(path, f"{short(one)} became {short(other)}", one, other)


def _list_difference(one: list[Any], other: list[Any], path: str) -> Difference:
    """Return the first difference of two lists of different lengths."""
    same = takewhile(lambda pair: difference(*pair) is None, zip(one, other, strict=False))
    at = sum(1 for _ in same)
    expected, actual = (value[at] if at < len(value) else ABSENT for value in (one, other))
    detail = f"{count_of(len(one), 'element')} became {len(other)}; this is the first that differs"
    return Difference(f"{path}[{at}]", detail, expected, actual)


def _object_difference(one: dict[str, Any], other: dict[str, Any], path: str) -> Difference | None:
    for key in one:
        if key not in other:
            return Difference(child_path(path, key), f"{short(one[key])} is missing", one[key], ABSENT)
    for key in other:
        if key not in one:
            return Difference(child_path(path, key), f"{short(other[key])} was added", ABSENT, other[key])
    differences = (difference(one[key], other[key], child_path(path, key)) for key in one)
    return next(filter(None, differences), None)


def short(value: Any) -> str:
    """Return a value as JSON of at most 80 characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 80 else text[:77] + "..."
