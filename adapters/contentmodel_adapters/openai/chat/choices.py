"""The state of one choice of a stream of Chat Completions, and of its calls. stream.py would be too long with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from contentmodel.authoring import BlockState, canonical, merge_into, object_of, parse
from contentmodel.errors import DecodeError
from contentmodel.events import ReasoningDelta, TextDelta
from contentmodel_adapters.openai.chat.messages import Divider, is_flagged, row_of_wire
from contentmodel_adapters.openai.chat.parts import TEXT_PART

# -- calls -------------------------------------------------------------------------------------------------------------


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

    def last_number(self, back: int) -> int:
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
    for kind in GROWN:
        inner = entry.get(kind)
        if inner.__class__ is dict and inner.get("name"):
            return True
    return False


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


# -- choices -----------------------------------------------------------------------------------------------------------

Key = tuple[str, int]
"""A column of the message, and the position of a content in it."""


class Choice:
    """The state of one choice: its message, by columns, and its blocks."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.rest: dict[str, Any] = {}
        self.message: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {}
        self.blocks: dict[Key, BlockState] = {}
        self.calls = StreamedCalls()
        self.unnamed: dict[int, BlockState] = {}
        """The calls that have no name yet, by place. Their blocks have not started."""
        self.details: dict[bytes, int] = {}
        """The index of the first detail with each key (see `detail_names`)."""
        self.listed: dict[str, dict[bytes, Any]] = {}
        """The entries of each growing list, by their index."""
        self.stopped: set[Key] = set()
        self.current: Key | None = None
        self.is_detailed = False
        self.repeats = False
        self.has_deltas = False
        self.has_message = False
        self.divider: Divider | None = None
        """Divides the content, if it begins with a thought."""

    def text(self, column: str) -> str:
        """Return the text of a column so far."""
        existing = self.message.get(column)
        text = self.message[column] = "".join(
            [existing if existing.__class__ is str else "", *self.texts.pop(column, ())]
        )
        return text

    def clashes(self, column: str, value: Any) -> bool:
        """Return whether a text column already has a value of another type."""
        existing = self.message.get(column)
        return column in self.texts or (existing is not None and existing.__class__ is not value.__class__)

    def begin_thought(self, delta: dict[str, Any]) -> None:
        """Divide the content from now on, if it begins with the thought that a delta has."""
        has_content = self.texts.get("content") or self.message.get("content")
        if self.divider is None and not has_content and is_flagged(delta):
            self.divider = Divider()

    def merge_pieces(self) -> dict[str, Any]:
        """Return the wire choice with everything that was appended to it."""
        for column in list(self.texts):
            self.text(column)
        for block in self.blocks.values():
            block.merge_pieces()
        if self.calls:
            self.message["tool_calls"] = [self.blocks[key].wire for key in self.call_keys()]
        # Every answer is an assistant's, but some hosts send no role in a stream.
        self.message["role"] = self.message.get("role") or "assistant"
        return {**self.rest, "message": self.message}

    def call_keys(self) -> list[Key]:
        """Return the keys of the calls in the order of their numbers."""
        return [("tool_calls", place) for place in self.calls.in_order()]

    def call_at(self, place: int) -> BlockState | None:
        """Return the block of the call at a place."""
        return self.blocks.get(("tool_calls", place)) or self.unnamed.get(place)

    def number_of(self, entry: dict[str, Any], back: int) -> int:
        """Return the number of a call without one: by its id, a new one, or of the call `back` from the end."""
        name = entry.get("id")
        number = self.calls.number_of(name) if name else None
        if number is not None:
            return number
        waits = len(self.calls) - 1 in self.unnamed
        is_new = name or not self.calls or (is_named(entry) and not waits)
        return len(self.calls) if is_new else self.calls.last_number(back)

    def keys(self) -> Iterator[Key]:
        """Yield the key of each content of the message, in the order of the columns."""
        for column, count in row_of_wire(self.message).counts(self.message):
            yield from self.call_keys() if column == "tool_calls" else [(column, place) for place in range(count)]

    def missing(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the delta from what was received to the whole message, which some hosts send at the end (MiniMax).

        Calls are compared by position. A value that does not continue the received one is ignored.
        """
        fields: dict[str, Any] = {}
        for key, value in message.items():
            existing = self.text(key) if key in self.texts else self.message.get(key)
            if key == "tool_calls" and value.__class__ in (list, dict):
                calls: list[Any] = value if value.__class__ is list else [value]
                known_calls: list[Any] = [self.call_at(place) for place in self.calls.in_order()]
                fields[key] = [*map(_missing_of, self.calls.numbers(), known_calls, calls), *calls[len(known_calls) :]]
            elif not existing:
                fields[key] = value
            elif existing.__class__ is str:
                fields[key] = _rest_of(value, existing)
        return {key: value for key, value in fields.items() if value}


def _missing_of(number: int, block: BlockState, call: Any) -> dict[str, Any]:
    """Return the delta from the call of a block to the whole call."""
    block.merge_pieces()
    delta: dict[str, Any] = {"index": number}
    for kind, grown in GROWN.items():
        text = object_of(call, kind).get(grown) if call.__class__ is dict else None
        if text.__class__ is str:
            delta[kind] = {grown: _rest_of(text, object_of(block.wire, kind).get(grown) or "")}
    return delta


def _rest_of(whole: Any, begun: Any) -> str:
    """Return the rest of a text; an empty text if it does not begin so."""
    return whole[len(begun) :] if whole.__class__ is begun.__class__ is str and whole.startswith(begun) else ""


def place_of_thinking(blocks: list[Any], entry: dict[str, Any]) -> int | None:
    """Return the index of the last block if a block continues it: it has no signature yet. Blocks have no numbers."""
    last = blocks[-1] if blocks else None
    if not isinstance(last, dict) or last.get("signature"):
        return None
    return len(blocks) - 1 if last.get("type") == entry.get("type") == "thinking" else None


def text_of(part: Any) -> tuple[Any, str]:
    """Return the event for more text of a part, and its text; None and "" for a part that has more than a text."""
    if part.__class__ is dict and part.keys() == {"type", "text"} and TEXT_PART.is_part(part):
        return TextDelta, part["text"]
    if part.__class__ is dict and part.keys() == {"type", "thinking"} and TEXT_PART.holds_all(part["thinking"]):
        return ReasoningDelta, TEXT_PART.text_of(part["thinking"])
    return None, ""
