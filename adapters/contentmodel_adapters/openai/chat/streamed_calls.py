"""The calls of a stream in the format of Chat: the fields in a delta, and the call that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from contentmodel.authoring import canonical, merge_into, object_of, parse
from contentmodel.errors import DecodeError


class StreamedCalls:
    """Calls in the order in which they began. A call's place is its position in that order."""

    __slots__ = ("_by_id", "_by_number", "_numbers")

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._by_number: dict[int, int] = {}
        self._by_id: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: int) -> int:
        """Add a call with this number, and return its place."""
        place = self._by_number[number] = len(self._numbers)
        self._numbers.append(number)
        return place

    def name(self, place: int, call_id: Any) -> None:
        """Remember the id of a call, whatever JSON value it is."""
        key = canonical(call_id)
        self._by_id[key] = max(place, self._by_id.get(key, place))

    def place_of(self, number: int) -> int | None:
        """Return the place of the last call with this number."""
        return self._by_number.get(number)

    def number_of(self, call_id: Any) -> int | None:
        """Return the number of the last call with this id."""
        place = self._by_id.get(canonical(call_id))
        return None if place is None else self._numbers[place]

    def last_number(self, back: int = 1) -> int:
        """Return the number of the call that began last; with `back`, that many from the end, or the first."""
        return self._numbers[max(0, len(self._numbers) - back)]

    def in_order(self) -> list[int]:
        """Return the places of all calls in the order of their numbers."""
        return sorted(range(len(self._numbers)), key=self._numbers.__getitem__)

    def numbers(self) -> list[int]:
        """Return the numbers of all calls, in order."""
        return sorted(self._numbers)


def split_delta(entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fields of a call in a delta, and those that are appended to."""
    wire: dict[str, Any] = {}
    pieces = {}
    for name, value in entry.items():
        if name == "index" or (name == "type" and value is None):
            continue
        grown = GROWN.get(name)
        if grown is not None and value.__class__ is dict and value.get(grown).__class__ is str:
            pieces[f"{name}.{grown}"] = value[grown]
            value = {key: inner for key, inner in value.items() if key != grown}
        wire[name] = value
    # Some hosts (Snowflake) also send an empty object for the other kind of call. It has no text to append.
    if len(pieces) > 1 and not pieces["custom.input"]:
        wire["custom"] = {**wire["custom"], "input": pieces.pop("custom.input")}
    return wire, pieces


GROWN = {"function": "arguments", "custom": "input"}


def stub(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a call before its arguments. A call of another type has no arguments that grow."""
    kind = "custom" if wire.get("type") == "custom" else "function"
    if wire.get("type") not in (None, *GROWN) and kind not in wire:
        return {"id": "", **wire}
    return {"id": "", **wire, kind: {"name": "", GROWN[kind]: "", **object_of(wire, kind)}}


def is_another(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether a delta begins another call: some hosts number every call 0, but give each an id."""
    return bool(is_named(new) and new.get("id") and old.get("id") and new["id"] != old["id"])


def is_named(entry: dict[str, Any]) -> bool:
    """Return whether a call has a name, so that it can start."""
    return any(object_of(entry, kind).get("name") for kind in GROWN)


def lacks_name(entry: dict[str, Any]) -> bool:
    """Return whether a call still has no name. Calls of other types than functions and custom tools have none."""
    return not is_named(entry) and entry.get("type") in (None, "", *GROWN)


def with_distances(entries: list[Any]) -> Iterable[tuple[dict[str, Any], int]]:
    """Return each call of a delta, with its distance from the end of the calls that have begun.

    Some hosts (Moonshot) send several calls in a delta without number, id or name: they continue the last calls.
    """
    calls = [entry for entry in entries if entry.__class__ is dict]
    if len(calls) == 1:
        return [(calls[0], 1)]
    continuing = [not (entry.get("index").__class__ is int or entry.get("id") or is_named(entry)) for entry in calls]
    return zip(calls, [*accumulate(reversed(continuing))][::-1], strict=True)


def merge_call(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Merge a later delta into a call. Ids and names are not appended to."""
    for name, value in new.items():
        if value.__class__ is dict and old.get(name).__class__ is dict:
            merge_into(old[name], value, tuple(value))
        else:
            merge_into(old, {name: value}, ("id", "type"))


def is_complete_call(content: Any) -> bool:
    """Return whether a call's arguments are complete."""
    text = content.arguments
    if text.__class__ is not str or not text:
        return False
    try:
        return parse(text).__class__ is dict
    except DecodeError:
        return False
