"""Merge the pieces of streamed values: objects, lists, texts, and base64."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from contentmodel.engine.json import Json, JsonArray, JsonObject, write


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
        known = None if index is None else by_index.setdefault(write(index), entry)
        if known is None or known is entry:
            merged.append(entry)
        else:
            merge_into(known, entry)
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
