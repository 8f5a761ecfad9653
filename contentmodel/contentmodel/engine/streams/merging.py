"""Put together what a stream has in pieces: objects, lists, texts, base64, and choices in their order."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from contentmodel.json import Json, JsonArray, JsonObject, write


def merge_into(old: JsonObject, new: Mapping[str, object], first: Iterable[str] = ()) -> None:
    """Merge `new` into `old` in place. Nulls are ignored; keys in `first` keep their first value."""
    for key, value in new.items():
        existing = old.get(key)
        if existing is None or existing == "":
            if value is not None or key not in old:
                old[key] = value
        elif value is not None and key not in first:
            old[key] = _both(existing, value) if existing.__class__ is dict and value.__class__ is dict else value


def _both(old: JsonObject, new: JsonObject) -> JsonObject:
    return {**old, **{key: value for key, value in new.items() if value is not None or key not in old}}


def extended(old: object, new: Mapping[str, object]) -> JsonObject:
    """Return `old` merged with `new`: lists are extended, other values replaced. Nulls are ignored."""
    merged = dict(old) if old.__class__ is dict else {}
    for key, value in new.items():
        existing = merged.get(key)
        if existing.__class__ is list and value.__class__ is list:
            existing.extend(value)
        elif value is not None or existing is None:
            merged[key] = value
    return merged


def extended_list(old: object, new: JsonArray, by_index: dict[bytes, Json]) -> JsonArray:
    """Append entries to a list and return it. An entry with a known index is merged into the entry in `by_index`."""
    if old.__class__ is not list:
        by_index.clear()
    merged = old if old.__class__ is list else []
    for entry in new:
        index = entry.get("index") if entry.__class__ is dict else None
        earlier = None if index is None else by_index.setdefault(write(index), entry)
        if earlier is None or earlier is entry:
            merged.append(entry)
        else:
            merge_into(earlier, entry)
    return merged


def owner_at(wire: JsonObject, path: str) -> tuple[JsonObject, str]:
    """Return the object that has the field at a dotted path, and the field's name. Missing objects are created."""
    *outer, name = path.split(".")
    for key in outer:
        wire = wire.setdefault(key, {})
    return wire, name


def append_text(owner: JsonObject, key: str, more: str) -> None:
    """Append to the string at `key`. A string with a single reference grows in place, so take it out of its owner."""
    text, owner[key] = owner[key], None
    text += more
    owner[key] = text


def join_base64(pieces: list[str]) -> str:
    """Return the joined pieces of base64. Padded pieces are joined as bytes."""
    if not any(piece.endswith("=") for piece in pieces[:-1]):
        return "".join(pieces)
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece) for piece in pieces)).decode("ascii")
    except ValueError:
        return "".join(pieces)


T = TypeVar("T")


class ChoiceOrder(Generic[T]):
    """The choices of a stream that have begun, and the chunks of choices that have to wait.

    The number of a choice is its position in the answer, but some hosts begin choice 1 before choice 0 (llama.cpp). Its
    chunks wait until every choice with a lower number has begun, or until the end of the stream. Chunks keep their
    order, so that a stream that breaks off has a prefix of the events of the whole one.
    """

    def __init__(self, make: Callable[[int], T]) -> None:
        """Create an empty answer. `make` returns the decoder's object for the choice at a position."""
        self._make = make
        self.choices: dict[Any, T] = {}
        """The choices by their numbers, in the order of the answer."""
        self._next = 0
        """The lowest number that has not begun."""
        self._waiting: list[tuple[int, JsonObject]] = []

    def begin(self, number: Any) -> T:
        """Return the choice with a number. If it is new, it follows the others."""
        if number not in self.choices:
            self.choices[number] = self._make(len(self.choices))
        return self.choices[number]

    def take(self, number: Any, wire: JsonObject) -> list[JsonObject]:
        """Return the chunks that can be read now: none, or this one after those that waited for it.

        A chunk whose number is not a position is returned at once.
        """
        if number.__class__ is not int or number < self._next:
            return [wire]
        self._waiting.append((number, wire))
        if number > self._next:
            return []
        numbers = {waiting for waiting, _ in self._waiting}
        while self._next in numbers:
            self.begin(self._next)
            self._next += 1
        ready = [delayed for waiting, delayed in self._waiting if waiting < self._next]
        self._waiting = [entry for entry in self._waiting if entry[0] >= self._next]
        return ready

    def rest(self) -> list[JsonObject]:
        """Return the chunks that still wait: the stream has ended."""
        waiting, self._waiting = self._waiting, []
        for number in sorted({number for number, _ in waiting}):
            self.begin(number)
        return [wire for _, wire in waiting]
