"""Convert a conversation of each family of content from each API to each other one and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.auditing import unaccounted
from contentmodel.encoded import Encoded
from contentmodel.message import Origin
from contentmodel.vocabularies import vocabulary_of
from contentmodel_conformance.matrix.cases import covers, short
from contentmodel_conformance.matrix.transcripts import BASELINES, FAMILIES, Family
from contentmodel_conformance.subject import kinds_of

__all__ = ["Crossing", "crossings"]


class Crossing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a family of content of `source` at `target`, in requests or answers (`of`).

    `verdict` is "exact", "degraded" (values are reduced, moved or added), "dropped" (values are missing), "silent"
    (values are missing without a loss), "error", or "absent" (the source has no such content). `losses` counts each
    loss by its text. `returns` is true if converting back restores everything.
    """

    source: str
    target: str
    of: str
    family: str
    verdict: str
    losses: dict[str, int] = {}
    returns: bool | None = None


def crossings(adapters: Mapping[str, Any]) -> list[Crossing]:
    """Return the outcome of every family between two adapters each that support its kind.

    An adapter that failed to load is an exception.
    """
    kinds = {api: kinds_of(adapter) for api, adapter in adapters.items()}
    return [
        _crossing(source, target, adapters[source], adapters[target], family)
        for source in adapters
        for target in adapters
        if source != target
        for family in FAMILIES
        if family.of in kinds[source] and family.of in kinds[target]
    ]


def _crossing(source: str, target: str, reader: Any, writer: Any, family: Family) -> Crossing:
    named: dict[str, Any] = {"source": source, "target": target, "of": family.of, "family": family.name}
    for adapter in (reader, writer):
        if isinstance(adapter, Exception):
            return Crossing(**named, verdict="error", losses={short(adapter): 1})
    try:
        return _crossed(named, reader, writer, family)
    except Exception as error:  # Third-party adapters may raise anything.
        return Crossing(**named, verdict="error", losses={short(error): 1})


def _crossed(named: dict[str, Any], reader: Any, writer: Any, family: Family) -> Crossing:
    origin = Origin(api=reader.api, issuer=reader.issuer)
    payload = _encode(reader, family.of, family.build(origin)).payload
    if not family.in_it(_decode(reader, family.of, payload)):
        return Crossing(**named, verdict="absent")
    encoded = _convert(reader, writer, family.of, payload)
    usual = _convert(reader, writer, family.of, _encode(reader, family.of, BASELINES[family.of](origin)).payload)
    of_all = {_text(loss) for loss in usual.losses}
    losses = Counter(_text(loss) for loss in encoded.losses if _text(loss) not in of_all)
    original = _decode(reader, family.of, payload)
    missing = (
        []
        if losses
        else [f"{value.path} is missing, but no loss reports it" for value in _missing(original, encoded, writer)]
    )
    back = _decode(reader, family.of, _convert(writer, reader, family.of, encoded.payload).payload)
    return Crossing(
        **named,
        verdict="silent" if missing else _verdict(losses),
        losses={**dict(sorted(losses.items())), **dict.fromkeys(missing, 1)},
        returns=covers(_whole(original), _whole(back)),
    )


_API_FIELDS = frozenset({"extra", "origin", "code", "kind", "role", "status", "executor", "type", "issuer", "unit"})
"""Model fields whose values every API represents differently, or not at all."""


def _missing(original: Any, encoded: Encoded, writer: Any) -> list[Any]:
    """Return the values of the contents that are missing from the payload in any form."""
    contents = [_plain(content) for content in _contents(original)]
    return unaccounted(contents, encoded.payload, (), target=vocabulary_of(writer))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in _API_FIELDS}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return _plain(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else value


def _contents(value: Any) -> list[Any]:
    contents = [content for message in value.messages for content in message.contents]
    return [*getattr(value, "instructions", ()), *contents]


def _whole(value: Any) -> list[Any]:
    """Return the contents of a conversation with its tools, options, usage and finish reason."""
    end = getattr(value, "finish_reason", None)
    beside = [getattr(value, name, None) for name in ("tools", "options", "usage")]
    return [_contents(value), *beside, end and end.reason]


def _verdict(losses: Mapping[str, int]) -> str:
    if any(" dropped: " in text for text in losses):
        return "dropped"
    return "degraded" if losses else "exact"


def _text(loss: Any) -> str:
    return f"{loss.what} {loss.kind}: {loss.why}"


def _convert(reader: Any, writer: Any, of: str, payload: Any) -> Encoded:
    """Convert like `contentmodel.convert`, also with adapters that are not installed."""
    trace = getattr(reader, f"trace_{of}", None)
    if trace is None:
        return _encode(writer, of, _decode(reader, of, payload))
    value, wire, context = trace(payload)
    return _encode(writer, of, value).trace_to(wire, context)


def _decode(adapter: Any, of: str, payload: Any) -> Any:
    return adapter.decode_request(payload) if of == "request" else adapter.decode_response(payload)


def _encode(adapter: Any, of: str, value: Any) -> Encoded:
    encoded: Encoded = adapter.encode_request(value) if of == "request" else adapter.encode_response(value)
    return encoded
