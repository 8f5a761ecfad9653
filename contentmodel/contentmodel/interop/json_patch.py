"""Apply JSON Patch (RFC 6902). AG-UI sends changes of states and activities in this form."""

from __future__ import annotations

from typing import Any

from contentmodel.json import Json, canonical, parse, whole_number, write

MOST_COPIED = 16 * 2**20
"""The maximum number of bytes that the `copy` operations of a patch may add: each one can double the document."""


class PatchError(ValueError):
    """Raised if an operation is not valid, or does not fit the document."""


def patched(document: Json, patch: Json) -> Json:
    """Apply a patch to a document in place, and return the document, which may be another object.

    Raise PatchError if an operation fails. The operations before it stay applied.
    """
    if not isinstance(patch, list):
        raise PatchError("expected an array of operations")
    root = {"": document}
    copied = 0
    for operation in patch:
        kind = operation.get("op") if isinstance(operation, dict) else None
        if kind not in ("add", "remove", "replace", "move", "copy", "test"):
            raise PatchError(f"expected an operation, got {operation!r:.100}")
        path = _steps(operation.get("path"))
        if kind in ("move", "copy"):
            start = _steps(operation.get("from"))
            if kind == "move" and path[: len(start)] == start and path != start:
                raise PatchError("a value cannot be moved into itself")
            value = _taken(root, start) if kind == "move" else _at(root, start)
            if kind == "copy":
                text = write(value)
                copied += len(text)
                if copied > MOST_COPIED:
                    raise PatchError(f"the copies have more than {MOST_COPIED:,} bytes")
                value = parse(text)
            _put(root, path, value)
        elif kind == "remove":
            _taken(root, path)
        elif "value" not in operation:
            raise PatchError(f"the operation {kind} has no value")
        elif kind == "test":
            if canonical(_at(root, path)) != canonical(operation["value"]):
                raise PatchError("the tested value differs")
        elif kind == "replace":
            owner, key = _parent(root, path)
            _at(root, path)
            owner[key] = operation["value"]
        else:
            _put(root, path, operation["value"])
    return root[""]


def _steps(pointer: object) -> list[str]:
    """Return the keys of a JSON Pointer (RFC 6901), without the empty one of the root."""
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchError(f"expected a JSON Pointer, got {pointer!r:.100}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]


def _index(owner: list[Any], key: str, most: int) -> int:
    index = whole_number(key)
    if index is None or index > most or str(index) != key:
        raise PatchError(f"no index {key!r:.100} in an array of {len(owner)} items")
    return index


def _at(root: Json, steps: list[str]) -> Json:
    value = root
    for key in steps:
        if isinstance(value, list):
            value = value[_index(value, key, len(value) - 1)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            raise PatchError(f"no value at {key!r:.100}")
    return value


def _parent(root: Json, steps: list[str]) -> tuple[Any, Any]:
    """Return the object or the array that a pointer's last key is in, and the key. It may be the end of an array."""
    owner = _at(root, steps[:-1])
    if isinstance(owner, dict):
        return owner, steps[-1]
    if not isinstance(owner, list):
        raise PatchError(f"no key {steps[-1]!r:.100} in a value that is neither an object nor an array")
    return owner, len(owner) if steps[-1] == "-" else _index(owner, steps[-1], len(owner))


def _put(root: Json, steps: list[str], value: Json) -> None:
    owner, key = _parent(root, steps)
    if isinstance(owner, list):
        owner.insert(key, value)
    else:
        owner[key] = value


def _taken(root: Json, steps: list[str]) -> Json:
    value = _at(root, steps)
    owner, key = _parent(root, steps)
    del owner[key]
    return value
