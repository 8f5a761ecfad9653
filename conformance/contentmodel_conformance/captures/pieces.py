"""Texts that the events of a stream split: pieces with the same path form one longer text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from contentmodel.json import Json


class Piece:
    """A text in an event that may be a part of a longer text: its container, its key there, and the text.

    `start` is its offset in the longer text. `length` is its length before replacements.
    """

    def __init__(self, container: Any, key: str | int, text: str) -> None:
        self.container, self.key, self.text = container, key, text
        self.length = len(text)
        self.start = 0


def split_texts(events: list[Json]) -> Iterator[tuple[str, list[Piece]]]:
    """Yield the texts that are split over several events, each with its JSON path."""
    slots: dict[Any, list[Piece]] = {}
    for event in events:
        for slot, piece in _pieces(event):
            slots.setdefault(slot, []).append(piece)
    for slot, pieces in slots.items():
        # A field with the same value in each event, such as an id, is not a text that was split.
        if len({piece.text for piece in pieces}) > 1:
            for before, piece in pairwise(pieces):
                piece.start = before.start + before.length
            yield "$[*]" + "".join(f".{key}" for key in slot if isinstance(key, str)), pieces


def put(pieces: Iterable[Piece], start: int, end: int, placeholder: str) -> None:
    """Put a placeholder into the piece where a secret begins, and remove the rest of it from the next pieces."""
    for piece in pieces:
        first, last = start - piece.start, end - piece.start
        if first < piece.length and last > 0:
            piece.text = piece.text[: max(first, 0)] + (placeholder if first >= 0 else "") + piece.text[last:]


def _pieces(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Piece]]:
    """Yield the texts of an event, each with its path and indexes. Texts with the same path form one longer text."""
    if isinstance(value, dict):
        path = (*path, *_indexes(value))
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, str):
            yield (*path, key), Piece(value, key, item)
        elif isinstance(item, dict | list):
            # The index identifies a choice; its position in the list does not.
            has_index = isinstance(key, int) and isinstance(item, dict) and bool(_indexes(item))
            yield from _pieces(item, path if has_index else (*path, key))


def _indexes(value: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the fields of an object that number a block or a choice: `index`, `output_index`, `contentBlockIndex`."""
    return [(key, item) for key, item in value.items() if key.lower().endswith("index") and item.__class__ is int]
