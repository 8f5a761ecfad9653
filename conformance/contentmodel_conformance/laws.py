"""The laws that an adapter keeps, one plain function each; pytest is not needed.

A law that is broken raises `LawBroken`: which law, where in the payload, and both values.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec

from contentmodel import ChatRequest, ContentModelError, Encoded, audit, dumps, loads
from contentmodel.accounting import unaccounted
from contentmodel.wire.json import child_path, steps_of, write


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
    """Every value of the source is in the output, under the path of a loss, or a word of structure."""
    for value in audit(source, encoded):
        raise LawBroken("accounting", value.path, str(value))


def acceptance(judge: Any, encoded: Encoded) -> None:
    """What is emitted validates strictly against the official SDK's types."""
    for fault in judge.faults(json.loads(encoded.to_json())):
        raise LawBroken("acceptance", "$", fault)


def prefixes(adapter: Any, request: ChatRequest) -> None:
    """What was written for the first turns stands, byte for byte, at the head of what is written for more; only the
    last message of it may have grown, by whole blocks.
    """
    before: list[Any] = []
    for count in range(1, len(request.messages) + 1):
        start = msgspec.structs.replace(request, messages=request.messages[:count])
        after = _turns(adapter.encode_request(start).payload)
        for index, turn in enumerate(before):
            whole = index < len(before) - 1
            if index >= len(after) or not (_is_same if whole else _has_grown)(turn, after[index]):
                raise LawBroken("prefixes", f"$[{index}]", f"{_short(turn)} changed when turn {count} was added")
        before = after


def _turns(payload: dict[str, Any]) -> list[Any]:
    found: Any = next((payload[key] for key in ("messages", "input", "contents") if key in payload), [])
    return found if isinstance(found, list) else [found]


def _is_same(one: Any, other: Any) -> bool:
    return write(one) == write(other)


def _has_grown(one: Any, other: Any) -> bool:
    """Whether `other` is `one`, or `one` with more blocks at the end of its lists of blocks."""
    if isinstance(one, list) and isinstance(other, list):
        return _is_same(one, other[: len(one)])
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == [key for key in other if key in one]:
        return all(_has_grown(value, other[key]) for key, value in one.items())
    return _is_same(one, other)


OPAQUE = frozenset(
    {
        "signature",
        "encrypted_content",
        "encrypted_index",
        "encrypted_stdout",
        "thoughtSignature",
        "thought_signature",
        "fingerprint",
        "previous_response_id",
        "file_id",
        "container_id",
        "continuation_token",
    }
)
"""The fields of all APIs whose values mean something to their issuer alone."""


def opacity(source: Any, target: Any, kind: str, payload: dict[str, Any]) -> None:
    """No opaque value crosses from one issuer to another: each is marked, and none of the marks is found abroad."""
    if source.issuer == target.issuer:
        return
    marked, marks = _with_marks(payload)
    text = encode(target, kind, decode(source, kind, marked)).to_json().decode()
    for mark, path in marks.items():
        if mark in text:
            raise LawBroken("opacity", path, f"what only {source.issuer} can read went to {target.api}")


def _with_marks(payload: Any) -> tuple[Any, dict[str, str]]:
    marked = copy.deepcopy(payload)
    marks: dict[str, str] = {}
    stack: list[tuple[Any, str]] = [(marked, "$")]
    while stack:
        value, path = stack.pop()
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            where = child_path(path, key) if isinstance(key, str) else f"{path}[{key}]"
            if isinstance(item, dict | list):
                stack.append((item, where))
            elif key in OPAQUE and isinstance(item, str) and item:
                value[key] = f"b3BhcXVl{len(marks):08d}"
                marks[value[key]] = where
    return marked, marks


def restoration(source: Any, target: Any, kind: str, payload: dict[str, Any]) -> None:
    """There and back again: what the target could carry is in the source's payload as it was.

    Every value is there that no loss of either way names, and where the first way lost nothing, nothing else changed.
    """
    there, wire, trace = _traced(source, kind, payload)
    out = encode(target, kind, there).trace_to(wire, trace)
    here, wire_out, trace_out = _traced(target, kind, out.payload)
    back = encode(source, kind, here).trace_to(wire_out, trace_out)
    lost_on_return = [_at(out.payload, loss.path) for loss in back.losses if loss.kind in ("dropped", "degraded")]
    returned = [back.payload, *lost_on_return]
    for value in unaccounted(payload, returned, out.losses):
        raise LawBroken("restoration", value.path, f"{_short(value.value)} did not come back")


def _traced(adapter: Any, kind: str, payload: Any) -> tuple[Any, Any, Any]:
    traced: tuple[Any, Any, Any]
    traced = adapter.trace_request(payload) if kind == "request" else adapter.trace_response(payload)
    return traced


def _at(payload: Any, path: str) -> Any:
    value = payload
    for step in steps_of(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


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
