"""Odd values: unknown, torn and misplaced ones, and payloads with one of them in one of their lists."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance.by_itself import MARK

ODD_VALUES: list[Any] = [
    {"x_unknown": 1},
    {"type": "x_unknown", "text": MARK},
    {"type": "x_unknown", "content": [{"type": "text", "text": MARK}]},
    {"id": "x-odd", "type": "x_unknown", "content": MARK},
    {"x_unknown": {"parts": [{"text": MARK}]}},
    {"type": 7, "content": MARK},
    {"type": None},
    7,
    None,
    f"{MARK} {{",
    [],
    [MARK],
]
"""Values of unknown forms. Some have a text."""

_APPLICATION = frozenset(
    {
        *("arguments", "args", "inputs", "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "schema"),
        *(
            "queries",
            "response",
            "structuredContent",
            "metadata",
            "json",
            "value",
            "tools",
            "toolUseResult",
            "resultDisplay",
        ),
    }
)
"""The fields with lists of the application, and of definitions."""


_BY_POSITION = [("images",), ("videos",), ("audios",)]
"""The lists of a document whose entries belong to the placeholders in its texts by their position (ShareGPT).

Another entry there changes which of them a placeholder stands for.
"""


def with_odd(payload: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of pairs: a payload, and the same with an odd value in one of its lists of objects."""
    places = [(steps, at) for steps, size in _lists(payload, ()) if steps not in _BY_POSITION for at in range(size + 1)]
    if not places:
        return st.nothing()
    return st.tuples(st.sampled_from(places), st.sampled_from(ODD_VALUES)).map(
        lambda drawn: (payload, _with(payload, *drawn))
    )


def _lists(value: Any, steps: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield the place and the length of each list of objects."""
    if isinstance(value, list):
        if value and all(isinstance(item, dict) for item in value if not isinstance(item, str)):
            yield steps, len(value)
        for index, item in enumerate(value):
            yield from _lists(item, (*steps, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _APPLICATION and not (key == "input" and isinstance(item, dict)):
                yield from _lists(item, (*steps, key))


def _with(payload: Any, place: tuple[tuple[Any, ...], int], odd: Any) -> Any:
    changed = copy.deepcopy(payload)
    steps, at = place
    holder = changed
    for step in steps:
        holder = holder[step]
    holder.insert(at, copy.deepcopy(odd))
    return changed
