"""What people write in another way than this adapter does, kept so that it is written that way again.

Reading is generous, writing has one way. The difference between what was said and what would be written is the residue:
keys that nobody here knows fill what is written, as everywhere; the note ":spelling" has the rest (a null, a key that
was left out, words in another place), each with the value it stands for, so that an edit of that value wins.
"""

from __future__ import annotations

from typing import Any

SPELLING = ":spelling"


def residue_of(written: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """What makes `said` of `written`, for `respelled`; {} where they are equal."""
    if written == said:
        return {}
    notes: list[dict[str, Any]] = []
    residue = _compare(written, said, [], notes)
    return {**residue, SPELLING: notes} if notes else residue


def respelled(written: dict[str, Any], residue: dict[str, Any]) -> dict[str, Any]:
    """`written` with its residue. What has been edited since stays as it is written."""
    wire = _filled(written, residue)
    notes = residue.get(SPELLING)
    for note in notes if isinstance(notes, list) else ():
        if isinstance(note, dict) and isinstance(note.get("at"), list) and note["at"]:
            wire = _put(wire, note["at"], note)
    return wire


def _compare(written: Any, said: Any, at: list[str | int], notes: list[dict[str, Any]]) -> dict[str, Any]:
    """The keys that only `said` has, object by object; everything else that differs becomes a note."""
    if isinstance(written, dict) and isinstance(said, dict):
        return _compare_objects(written, said, at, notes)
    if isinstance(written, list) and isinstance(said, list) and len(written) == len(said):
        for index, (ours, theirs) in enumerate(zip(written, said, strict=True)):
            inside = _compare(ours, theirs, [*at, index], notes)
            notes += [{"at": [*at, index, key], "said": value} for key, value in inside.items()]
    elif written != said:
        notes.append({"at": at, "was": written, "said": said})
    return {}


def _compare_objects(
    written: dict[str, Any], said: dict[str, Any], at: list[str | int], notes: list[dict[str, Any]]
) -> dict[str, Any]:
    residue: dict[str, Any] = {}
    for key, value in said.items():
        if key in written:
            inside = _compare(written[key], value, [*at, key], notes)
            residue.update({key: inside} if inside else {})
        elif value is None or value in ([], {}) or key.startswith(":"):
            # It says nothing that another API could miss; and keys of a residue that begin so are notes.
            notes.append({"at": [*at, key], "said": value})
        else:
            residue[key] = value
    notes += [{"at": [*at, key], "was": written[key]} for key in written if key not in said]
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


def _put(wire: Any, at: list[Any], note: dict[str, Any]) -> Any:
    """A copy of `wire` in which what the note tells stands at the end of the way, if it is still to stand there."""
    step, *rest = at
    if isinstance(wire, dict) and isinstance(step, str):
        there, copy = step in wire, dict(wire)
    elif isinstance(wire, list) and isinstance(step, int) and 0 <= step < len(wire):
        there, copy = True, list(wire)  # type: ignore[assignment]
    else:
        return wire
    if rest:
        if there:
            copy[step] = _put(copy[step], rest, note)
        return copy
    if there != ("was" in note) or (there and copy[step] != note["was"]):
        return wire
    if "said" in note:
        copy[step] = note["said"]
    else:
        del copy[step]
    return copy
