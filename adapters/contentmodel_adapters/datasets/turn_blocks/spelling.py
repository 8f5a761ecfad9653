"""Keep spellings that differ from this adapter's, so that they are written again.

Reading accepts many spellings, writing has one. The difference between the block and what would be written is the
residue. Unknown keys are added to what is written. The hint `SPELLING` has the rest (a null, a missing key, text in
another field), each with the value that it replaces, so that an edit of that value wins.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from contentmodel.authoring import Hint


class Difference(TypedDict):
    """A path in a block, the value that this adapter would write there, and the value that was read."""

    at: list[str | int]
    was: NotRequired[Any]
    said: NotRequired[Any]


SPELLING = Hint[list[Difference]](
    "turn-blocks", "spelling", "the parts of a block that this adapter would write in another way"
)


def residue_of(written: dict[str, Any], wire: dict[str, Any]) -> dict[str, Any]:
    """Return the residue that turns `written` into `wire`, for `respelled`; {} if they are equal."""
    if written == wire:
        return {}
    differences: list[Difference] = []
    residue = _compare(written, wire, [], differences)
    return {**residue, **SPELLING.entry(differences)} if differences else residue


def respelled(written: dict[str, Any], residue: dict[str, Any]) -> dict[str, Any]:
    """Return `written` with its residue. Values that were edited since stay as they are written."""
    wire = _filled(written, residue)
    for difference in SPELLING.read(residue) or ():
        if difference["at"]:
            wire = _put(wire, difference["at"], difference)
    return wire


def _compare(written: Any, read: Any, at: list[str | int], differences: list[Difference]) -> dict[str, Any]:
    """Return the keys that only `read` has, object by object. Everything else that differs becomes a difference."""
    if isinstance(written, dict) and isinstance(read, dict):
        return _compare_objects(written, read, at, differences)
    if isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for index, (ours, theirs) in enumerate(zip(written, read, strict=True)):
            inside = _compare(ours, theirs, [*at, index], differences)
            differences += [{"at": [*at, index, key], "said": value} for key, value in inside.items()]
    elif written != read:
        differences.append({"at": at, "was": written, "said": read})
    return {}


def _compare_objects(
    written: dict[str, Any], read: dict[str, Any], at: list[str | int], differences: list[Difference]
) -> dict[str, Any]:
    residue: dict[str, Any] = {}
    for key, value in read.items():
        if key in written:
            inside = _compare(written[key], value, [*at, key], differences)
            residue.update({key: inside} if inside else {})
        elif value is None or value in ([], {}) or key.startswith(":"):
            # An empty value has no meaning in another API, and keys of a residue that begin with ":" are hints.
            differences.append({"at": [*at, key], "said": value})
        else:
            residue[key] = value
    differences += [{"at": [*at, key], "was": written[key]} for key in written if key not in read]
    return residue


def _filled(wire: dict[str, Any], residue: dict[str, Any]) -> dict[str, Any]:
    filled = dict(wire)
    for key, value in residue.items():
        if key.startswith(":"):
            continue
        if key not in filled:
            filled[key] = value
        elif isinstance(filled[key], dict) and isinstance(value, dict):
            filled[key] = _filled(filled[key], value)
    return filled


def _put(wire: Any, at: list[Any], difference: Difference) -> Any:
    """Return a copy of `wire` with the read value at the path, unless the value to be written there has changed."""
    step, *rest = at
    if isinstance(wire, dict) and isinstance(step, str):
        exists, copy = step in wire, dict(wire)
    elif isinstance(wire, list) and isinstance(step, int) and 0 <= step < len(wire):
        exists, copy = True, list(wire)  # type: ignore[assignment]
    else:
        return wire
    if rest:
        if exists:
            copy[step] = _put(copy[step], rest, difference)
        return copy
    if exists != ("was" in difference) or (exists and copy[step] != difference["was"]):
        return wire
    if "said" in difference:
        copy[step] = difference["said"]
    else:
        del copy[step]
    return copy
