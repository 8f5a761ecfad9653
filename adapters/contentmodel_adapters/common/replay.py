"""An answer that is sent back to its own API in the next request: fields that only answers have are removed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import EncodeContext, hints, is_native, reasons
from contentmodel.message import ChatMessage


class Change(msgspec.Struct, frozen=True):
    """The differences of one kind of object in a request.

    `drops`: fields that are removed. `nulls`: fields that are removed if null. `keeps`: if set, all other fields are
    removed. `fills`: values of missing fields. `replacements`: replacements of values.
    """

    drops: Collection[str] = ()
    nulls: Collection[str] = ()
    keeps: Collection[str] | None = None
    fills: Mapping[str, Any] = {}
    replacements: Mapping[str, Mapping[str, str]] = {}

    def applied(self, wire: dict[str, Any], lost: list[str]) -> dict[str, Any]:
        """Return the object in the form of a request; add the names of changed fields to `lost`."""
        fields = {}
        for name, value in wire.items():
            if name in self.drops or (self.keeps is not None and name not in self.keeps):
                lost += [name] if value is not None else []
            elif value is None and name in self.nulls:
                continue
            elif name in self.replacements and value.__class__ is str and value in self.replacements[name]:
                fields[name] = self.replacements[name][value]
                lost.append(name)
            else:
                fields[name] = value
        return fields | {name: value for name, value in self.fills.items() if name not in fields}


class Replay:
    """The differences of an API's requests from its answers: in blocks of a `type`, and in objects of a field.

    The values of `verbatim` fields are not changed: they are application data or opaque.
    """

    def __init__(
        self,
        *,
        blocks: Mapping[str, Change] | None = None,
        fields: Mapping[str, Change] | None = None,
        verbatim: Collection[str] = (),
    ) -> None:
        self._blocks, self._fields, self._verbatim = blocks or {}, fields or {}, frozenset(verbatim)

    def request_form(self, wire: dict[str, Any], message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
        """Return the wire form of `message` as a request takes it; unchanged if it is not an answer of the API."""
        if not is_own_answer(message, context):
            return wire
        lost: list[str] = []
        fitted: dict[str, Any] = self._fit(wire, "", lost)
        for name in dict.fromkeys(lost):
            owner, field, api = _holder(message, name, context.api)
            context.report_loss(owner, field, reasons.ANSWER_FIELDS, api=api, name=name)
            for content in message.contents:
                if owner is message and hints.COLUMN.of(content, context.api) == name:
                    context.report_loss(content, None, reasons.UNSUPPORTED_IN_MESSAGE)
        return fitted

    def _fit(self, value: Any, field: str, lost: list[str]) -> Any:
        if value.__class__ is list:
            return [self._fit(item, field, lost) for item in value]
        if value.__class__ is not dict:
            return value
        tag = value.get("type")
        for change in (self._fields.get(field), self._blocks.get(tag) if tag.__class__ is str else None):
            value = value if change is None else change.applied(value, lost)
        return {
            name: inner if name in self._verbatim else self._fit(inner, name, lost) for name, inner in value.items()
        }


def _holder(message: ChatMessage, name: str, api: str) -> tuple[object, str | None, str | None]:
    """Return the only content with a wire field, the field, and the API if it is residue; else the message."""
    holders: list[tuple[object, str | None, str | None]] = []
    for content in message.contents:
        if getattr(content, name, None) is not None:
            holders.append((content, name, None))
        elif name in (content.extra or {}).get(api, {}):
            holders.append((content, name, api))
    return holders[0] if len(holders) == 1 else (message, None, None)


def is_own_answer(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether the message is an answer of this API that a request sends back to it."""
    answered = message.origin is not None and message.origin.is_answer
    return answered and context.kind == "request" and is_native(message, context)
