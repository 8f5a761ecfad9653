"""Values inside of objects, by dotted path. Nothing is changed in place."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import object_of


def at(wire: dict[str, Any], path: str) -> Any:
    """Return the value at a path; None if there is none."""
    key, _, rest = path.partition(".")
    return at(object_of(wire, key), rest) if rest else wire.get(key)


def is_free(wire: dict[str, Any], path: str) -> bool:
    """Return whether a value can be put at a path, and taken away again, without a change of others."""
    key, _, rest = path.partition(".")
    if key not in wire:
        return True
    return bool(rest) and wire[key].__class__ is dict and is_free(wire[key], rest)


def without(wire: dict[str, Any], path: str) -> dict[str, Any]:
    """Return a copy of an object without the value at a path, and without the objects that are empty then."""
    key, _, rest = path.partition(".")
    left = without(object_of(wire, key), rest) if rest else None
    return {name: value for name, value in wire.items() if name != key} | ({key: left} if left else {})


def put(wire: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of an object with a value at a path."""
    key, _, rest = path.partition(".")
    return {**wire, key: put(object_of(wire, key), rest, value) if rest else value}
