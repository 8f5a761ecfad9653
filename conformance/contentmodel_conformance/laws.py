"""The laws that an adapter keeps, one plain function each; pytest is not needed.

A law that is broken raises `LawBroken`: which law, where in the payload, and both values.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from contentmodel import ContentModelError, Encoded, dumps, loads
from contentmodel.wire.json import child_path


class LawBroken(AssertionError):
    """One law does not hold for one value."""

    def __init__(self, law: str, where: str, detail: str) -> None:
        self.law, self.where, self.detail = law, where, detail
        super().__init__(f"{law}: at {where}: {detail}")


def identity(adapter: Any, kind: str, payload: Any) -> None:
    """What is decoded and encoded within one API is the same JSON value, and nothing is reported as lost."""
    value = decode(adapter, kind, payload)
    encoded = encode(adapter, kind, value)
    found = difference(payload, encoded.payload)
    if found is not None:
        raise LawBroken("identity", *found)
    if encoded.losses:
        raise LawBroken("identity", encoded.losses[0].path, f"reported as lost: {encoded.losses[0].what}")


def model_json(value: Any) -> None:
    """A value of the model survives its own JSON."""
    if loads(dumps(value)) != value:
        raise LawBroken("model JSON", "$", "loads(dumps(value)) is another value")


def purity(adapter: Any, kind: str, payload: dict[str, Any]) -> None:
    """Inputs are not changed, and the same input gives the same bytes."""
    before = copy.deepcopy(payload)
    first = encode(adapter, kind, decode(adapter, kind, payload)).to_json()
    found = difference(before, payload)
    if found is not None:
        raise LawBroken("purity", *found)
    if encode(adapter, kind, decode(adapter, kind, payload)).to_json() != first:
        raise LawBroken("purity", "$", "the same payload gave other bytes the second time")


def totality(adapter: Any, kind: str, payload: Any) -> None:
    """Whatever comes in, a value comes out or an error of the library, and a value can be written again."""
    try:
        encode(adapter, kind, decode(adapter, kind, payload)).to_json()
    except ContentModelError:
        return


def accounting(source: Any, encoded: Encoded) -> None:
    """Every leaf value of the source is in the output, under the path of a loss, or a word of structure."""
    for path, value in unaccounted(source, encoded):
        raise LawBroken("accounting", path, f"{value!r} is neither in the output nor under a loss")


def acceptance(judge: Any, encoded: Encoded) -> None:
    """What is emitted validates strictly against the official SDK's types."""
    for fault in judge.faults(json.loads(encoded.to_json())):
        raise LawBroken("acceptance", "$", fault)


def decode(adapter: Any, kind: str, payload: Any) -> Any:
    """The model value of a payload of either kind."""
    return adapter.decode_request(payload) if kind == "request" else adapter.decode_response(payload)


def encode(adapter: Any, kind: str, value: Any) -> Encoded:
    """The payload of a model value of either kind."""
    encoded: Encoded = adapter.encode_request(value) if kind == "request" else adapter.encode_response(value)
    return encoded


# -- comparing JSON ------------------------------------------------------------------------------------------------


def difference(one: Any, other: Any, path: str = "$") -> tuple[str, str] | None:
    """The path and kind of the first difference of two JSON values; None where they are equal. 1 and 1.0 are."""
    if isinstance(one, dict) and isinstance(other, dict):
        return _object_difference(one, other, path)
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return path, f"{len(one)} elements became {len(other)}"
        pairs = ((f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)))
        return next(filter(None, (difference(a, b, where) for where, a, b in pairs)), None)
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    same_kind = type(one) is type(other) or (numbers and not isinstance(one, bool) and not isinstance(other, bool))
    return None if same_kind and one == other else (path, f"{_short(one)} became {_short(other)}")


def _object_difference(one: dict[str, Any], other: dict[str, Any], path: str) -> tuple[str, str] | None:
    for key in one.keys() - other.keys():
        return child_path(path, key), f"{_short(one[key])} is gone"
    for key in other.keys() - one.keys():
        return child_path(path, key), f"{_short(other[key])} is new"
    found = (difference(one[key], other[key], child_path(path, key)) for key in one)
    return next(filter(None, found), None)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 80 else text[:77] + "..."


# -- accounting ----------------------------------------------------------------------------------------------------

# Fields whose values are an API's own words for what every API says in its own: their loss is reported where the other
# API has only a coarser word, and a translation is none.
STRUCTURE = frozenset(
    {
        "type",
        "role",
        "object",
        "status",
        "mode",
        "index",
        "finish_reason",
        "finishReason",
        "stop_reason",
        "incomplete_details",
        "tool_choice",
        "effort",
        "reasoning_effort",
        "thinkingLevel",
        "modalities",
        "responseModalities",
        "responseMimeType",
    }
)


# Chat has a short word for a format where others have a media type.
MEDIA_WORDS = {"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav"}


def unaccounted(source: Any, encoded: Encoded) -> Iterator[tuple[str, Any]]:
    """Leaves of the source that are neither in the output, nor under a loss, nor structure."""
    present: set[Any] = set()
    _collect(encoded.payload, present)
    strings = [item for item in present if isinstance(item, str)]
    lost = [loss.path for loss in encoded.losses]
    for path, value in leaves(source):
        if value is None or isinstance(value, bool) or value == "" or _is_structure(path):
            continue
        if any(path == loss or path.startswith((loss + ".", loss + "[")) for loss in lost):
            continue
        if value not in present and not _told(value, present, strings):
            yield path, value


def leaves(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Every scalar of a JSON value, with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, child_path(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def _is_structure(path: str) -> bool:
    parts = [part.partition("[")[0] for part in path.split(".")]
    return parts[-1] in STRUCTURE or (len(parts) > 1 and parts[-2] in STRUCTURE)


def _told(value: Any, present: set[Any], strings: list[str]) -> bool:
    """Whether a string is in the output in another form: as the JSON it spells, in a data URI, or inside a text."""
    if not isinstance(value, str):
        return False
    parts: set[Any] = set()
    if _collect_text(value, parts):
        return parts <= present
    if value in MEDIA_WORDS:
        return MEDIA_WORDS[value] in present
    return any(value in text for text in strings)


def _collect(value: Any, present: set[Any]) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _collect(item, present)
    elif isinstance(value, list):
        for item in value:
            _collect(item, present)
    elif not isinstance(value, bool):
        present.add(value)
        if isinstance(value, str):
            _collect_text(value, present)


def _collect_text(text: str, present: set[Any]) -> bool:
    if text.startswith("data:") and ";base64," in text:
        head, _, data = text.partition(";base64,")
        present.update((head[5:], data))
        return True
    if text[:1] not in ("{", "["):
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    _collect(value, present)
    return True
