"""The law of hints: damaged or misplaced round-trip hints in stored conversations are harmless."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel import DecodeError, EncodeError, dumps, loads
from contentmodel_conformance.differences import difference
from contentmodel_conformance.laws import LawBroken, encode


def hints(adapters: Sequence[Any], kind: str, values: tuple[Any, Any, Any]) -> None:
    """Hints of a wrong type in a stored conversation are ignored, and misplaced hints never make encoding fail.

    `values` are one value without more hints, with hints of wrong types, and with hints of the right types on any part
    of it. Hints of the right types may only change the payload. The first adapter is the one of the value's API.
    """
    plain, wrong, right = values
    for adapter in adapters:
        encoded = encode(adapter, kind, right)
        encoded.to_json()
        tuple(encoded.losses)
        payloads = [_read(adapter, kind, value) for value in (plain, wrong)]
        differs = difference(*payloads)
        if differs is not None:
            location = f"{differs.where} of the decoded payload of {adapter.api}"
            raise LawBroken("hints", location, differs.detail, differs.expected, differs.found)


def _read(adapter: Any, kind: str, value: Any) -> Any:
    """Encode and decode a value. Return its JSON without `extra`, which has the hints."""
    encoded = encode(adapter, kind, value)
    tuple(encoded.losses)
    decode = adapter.decode_request if kind == "request" else adapter.decode_response
    return without_extra(msgspec.to_builtins(decode(encoded.payload)))


def without_extra(value: Any) -> Any:
    """Return the JSON of a model value without its `extra` fields."""
    if isinstance(value, list):
        return [without_extra(item) for item in value]
    if isinstance(value, dict):
        return {key: without_extra(item) for key, item in value.items() if key != "extra"}
    return value


def stored_documents(targets: Sequence[Any], kind: str, value: Any) -> None:
    """A stored document is written and encoded, also with odd hints, unmapped fields and fields of newer versions.

    An adapter may refuse it with EncodeError. No other exception is raised.
    """
    for adapter in targets:
        try:
            encoded = encode(adapter, kind, value)
            encoded.to_json()
            tuple(encoded.losses)
        except (EncodeError, DecodeError):
            continue
    try:
        written = dumps(value)
    except EncodeError:
        return
    again = dumps(loads(written))
    differs = difference(json.loads(written), json.loads(again))
    if differs is not None:
        detail = f"reading and writing it again changes the document: {differs.detail}"
        raise LawBroken("stored documents", differs.where, detail, differs.expected, differs.found)
