"""Find the opaque values of a payload, and replace them by marks."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from contentmodel.json import child_path, steps_of

OPAQUE = frozenset(
    {
        "signature",
        "encrypted_content",
        "encrypted_index",
        "encrypted_stdout",
        "thoughtSignature",
        "thought_signature",
        "fingerprint",
        "previous_response_id",
        "file_id",
        "container_id",
        "continuation_token",
    }
)
"""The fields of all APIs whose values only their issuer can read."""


def protected_in(value: Any, issuers: Collection[str] | None = None) -> set[str]:
    """Return the protected data in a model value, which only its issuer can read; if set, only that of `issuers`."""
    protected_values = _protected(msgspec.to_builtins(value))
    return {protected["data"] for protected in protected_values if issuers is None or protected["issuer"] in issuers}


def readable_by(target: Any, value: Any) -> set[str]:
    """Return the protected data in a model value that an adapter's API reads, or the host of the value's model."""
    host = getattr(target, "host", None)
    return protected_in(value, {target.issuer, *(() if host is None else host(value.model).issuers)})


def _protected(value: Any) -> Iterator[dict[str, str]]:
    """Yield each `protected` in the JSON of a model value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and isinstance(value.get("protected"), dict):
        yield value["protected"]
    for item in inner:
        yield from _protected(item)


def opaque_marks(marks: dict[str, str], protected: Collection[str]) -> dict[str, str]:
    """Return the marks of opaque values.

    A value that equals protected data, but is decoded as something else, such as file data, is not opaque.
    """
    return {mark: path for mark, path in marks.items() if steps_of(path)[-1] in OPAQUE or mark in protected}


def with_marks(payload: Any, protected: Collection[str]) -> tuple[Any, dict[str, str]]:
    """Return a copy of a payload with a mark in place of each value that may be opaque, and the path of each mark."""
    marked = copy.deepcopy(payload)
    marks: dict[str, str] = {}
    stack: list[tuple[Any, str]] = [(marked, "$")]
    while stack:
        value, path = stack.pop()
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            child = child_path(path, key) if isinstance(key, str) else f"{path}[{key}]"
            if isinstance(item, dict | list):
                stack.append((item, child))
            elif isinstance(item, str) and item and (key in OPAQUE or item in protected):
                value[key] = f"b3BhcXVl{len(marks):08d}"
                marks[value[key]] = child
    return marked, marks
