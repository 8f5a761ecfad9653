"""Wrong JSON classes and unknown words: fields that the tables know, and whose values they cannot hold or name.

Decoding keeps such a value, so that it comes back unchanged; a check of the payload reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from contentmodel.engine.context import DecodeContext
from contentmodel.engine.json import JsonObject, kind_of, name_of, value_at, wire_at, wire_path
from contentmodel.engine.losses.provenance import spelled
from contentmodel.engine.table.codecs import AnyCodec
from contentmodel.engine.table.rows import Row
from contentmodel.errors import Fault


class Takes(Protocol):
    """Says whether an API takes a value in a field that has another JSON class, or no such word, in the tables."""

    def __call__(self, name: str, value: object, codec: AnyCodec) -> bool: ...


def misfits(payload: JsonObject, context: DecodeContext, takes: Takes, *, is_own: bool) -> Iterator[Fault]:
    """Yield a fault for each field of a decoded payload whose value its codec cannot hold or name; null is no value.

    `is_own` says that the model is the provider's: words that other hosts may add to are judged for these alone.
    """
    for path, row in context.paths(payload).rows():
        wire = value_at(payload, path)
        # Some places are found by other means than a row, whose fields are those of rows that are found as well.
        for name, codec in row.codecs() if wire.__class__ is dict and isinstance(row, Row) else ():
            value = wire_at(wire, name)
            what = None if value is None else _misfit(value, codec, is_own)
            if what is not None and not takes(name, value, codec):
                yield Fault(spelled(payload, wire_path(path, name)), what)
            if codec.tagged is not None and value.__class__ is dict and (is_own or not codec.hosts_add_words):
                tag, known = codec.tagged
                what = _strange(value.get(tag), known)
                if what is not None and not takes(f"{name}.{tag}", value[tag], codec):
                    yield Fault(spelled(payload, wire_path(path, f"{name}.{tag}")), what)


def _misfit(value: object, codec: AnyCodec, is_own: bool) -> str | None:
    if codec.classes and value.__class__ not in codec.classes:
        # Every API reads an integer where it wants a number.
        classes = [kind for kind in codec.classes if kind is not int or float not in codec.classes]
        wanted = " or ".join(dict.fromkeys(map(name_of, classes)))
        return f"expected {wanted}, got {kind_of(value)}"
    return _strange(value, codec.known_words) if is_own or not codec.hosts_add_words else None


def _strange(value: object, known: frozenset[str] | None) -> str | None:
    """Return what is wrong with a text that is none of the words that an API has."""
    if known is None or value.__class__ is not str or value in known:
        return None
    return f"{value!r:.60} is none of {', '.join(sorted(known))}"
