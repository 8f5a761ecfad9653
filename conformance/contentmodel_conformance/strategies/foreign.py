"""Documents of other formats, made of known ones: with other names of keys and of values, or with something unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

__all__ = ["disturbed_documents", "renamed"]

_SYNONYMS = (
    "author",
    "speaker",
    "body",
    "blocks",
    "items",
    "parts",
    "content",
    "role",
    "text",
    "kind",
    "type",
    "value",
)
_TAGS = ("type", "$type", "part_kind", "block_type")
"""The fields that name the type of a block."""


@st.composite
def renamed(draw: DrawFn, payload: Any) -> Any:
    """Draw a document in which some keys of the objects in lists, or values under one of them, have other names."""
    keys = sorted({*_keys(payload, is_inside=False)})
    if not keys:
        return payload
    chosen = draw(st.sets(st.sampled_from(keys), min_size=1, max_size=len(keys)))
    names = {key: draw(st.sampled_from([*_SYNONYMS, f"{key}_", key.upper()])) for key in sorted(chosen)}
    changed = _mapped(payload, lambda key, value: (names.get(key, key), value))
    word = draw(st.sampled_from([None, *keys]))
    if word is None:
        return changed
    return _mapped(changed, lambda key, value: (key, f"x-{value}" if key == word and isinstance(value, str) else value))


def _keys(value: Any, *, is_inside: bool) -> Iterator[str]:
    """Yield the keys of all objects that are in a list."""
    if isinstance(value, list):
        for item in value:
            yield from _keys(item, is_inside=True)
    elif isinstance(value, dict):
        for key, item in value.items():
            if is_inside:
                yield key
            yield from _keys(item, is_inside=is_inside)


def _mapped(value: Any, change: Callable[[str, Any], tuple[str, Any]], *, is_inside: bool = False) -> Any:
    """Return a value whose objects in lists have changed entries. Two keys with one new name become one."""
    if isinstance(value, list):
        return [_mapped(item, change, is_inside=True) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _mapped(item, change, is_inside=is_inside) for key, item in value.items()}
    return dict(change(key, item) for key, item in inner.items()) if is_inside else inner


@st.composite
def disturbed_documents(draw: DrawFn, payload: Any) -> tuple[Any, Any]:
    """Draw a document, and the same with an unknown field in each message, or with an unknown block beside another."""
    lists = list(_lists_of_blocks(payload))
    is_block: bool = draw(st.booleans())
    if lists and is_block:
        return payload, _at(payload, draw(st.sampled_from(lists)), _with_new_block)
    name, value = draw(st.sampled_from(["mood", "trace_id"])), draw(st.sampled_from([1, "x", None, {"a": 1}, ["a"]]))
    return payload, _with_field(payload, name, value)


def _with_new_block(blocks: list[Any]) -> list[Any]:
    """Return blocks with one of a new type. It names its type in the field in which the others do."""
    tags = [tag for tag in _TAGS if all(tag in block for block in blocks)]
    return [*blocks, {**dict.fromkeys(tags[:1], "hologram"), "hologram": {"data": "x"}}]


def _lists_of_blocks(value: Any, path: tuple[str | int, ...] = (), depth: int = 0) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of lists of objects that are in an object of a list: the blocks of messages."""
    if isinstance(value, list):
        if depth == 1 and value and all(isinstance(item, dict) for item in value):
            yield path
        for at, item in enumerate(value if depth == 0 else ()):
            yield from _lists_of_blocks(item, (*path, at), 1)
    elif isinstance(value, dict):
        inner = {"content", "parts", "contents"} if depth else {"messages", "contents", "input"}
        for key in inner & value.keys():
            yield from _lists_of_blocks(value[key], (*path, key), depth)


def _at(value: Any, path: tuple[str | int, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    step, *rest = path
    if isinstance(value, list):
        return [_at(item, tuple(rest), change) if at == step else item for at, item in enumerate(value)]
    return {key: _at(item, tuple(rest), change) if key == step else item for key, item in value.items()}


def _with_field(payload: Any, name: str, field: Any) -> Any:
    """Return a document whose messages have another field."""
    if isinstance(payload, dict):
        inner = {key: payload[key] for key in ("messages", "contents", "input") if isinstance(payload.get(key), list)}
        return {**payload, **{key: _with_field(value, name, field) for key, value in inner.items()}}
    return [{**item, name: field} if isinstance(item, dict) else item for item in payload]
