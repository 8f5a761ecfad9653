"""What nobody would send: streams with events left out, doubled or swapped, and bytes that were flipped."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel_conformance.strategies.sdk import json_values

__all__ = ["flips", "mixed_up"]

_CHANGES = ("drop", "double", "swap", "replace", "replace", "forget")


@st.composite
def mixed_up(draw: DrawFn, body: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A stream, a list of {event?, data}, with one to three of its events left out, doubled, swapped or disturbed."""
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        at, other = draw(st.integers(0, len(body) - 1)), draw(st.integers(0, len(body) - 1))
        change = draw(st.sampled_from(_CHANGES))
        if change == "drop" and len(body) > 1:
            del body[at]
        elif change == "double":
            body.insert(other, copy.deepcopy(body[at]))
        elif change == "swap":
            body[at], body[other] = body[other], body[at]
        else:
            _disturb(draw, body[at]["data"], forget=change == "forget")
    return body


def _disturb(draw: DrawFn, data: Any, *, forget: bool) -> None:
    found = list(_places(data))
    if not found:
        return
    owner, key = draw(st.sampled_from(found))
    if forget and isinstance(owner, dict):
        del owner[key]
    else:
        owner[key] = draw(json_values)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a JSON value that something else could stand in."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)


def flips() -> st.SearchStrategy[list[tuple[int, int]]]:
    """Places in some bytes, counted around their length, each with the byte that it becomes."""
    return st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(0, 255)), min_size=1, max_size=5)
