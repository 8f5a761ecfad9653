"""Faults in a model's arguments, as data and as text for the model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.errors import ContentModelError
from contentmodel.json import kind_of

MAX_FAULTS = 20
"""The maximum number of faults that are listed; the others are only counted."""


class InputFault(msgspec.Struct, frozen=True):
    """One fault in the arguments: its JSON `path`, the `expected` value, and the value that it `got`."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


class ToolInputError(ContentModelError, ValueError):
    """A model's arguments do not match the tool's schema: the tool must not run.

    Its text is sent to the model: the path of each fault, the expected value, and the actual value.
    """

    def __init__(self, tool: str, faults: Iterable[InputFault]) -> None:
        every = list(faults)
        self.tool, self.faults = tool, tuple(every[:MAX_FAULTS])
        self.more = len(every) - len(self.faults)
        lines = [f"- {fault}" for fault in self.faults] + ([f"- and {self.more} more"] if self.more else [])
        super().__init__("\n".join([f"The arguments of {tool} are not valid; it did not run.", *lines]))

    def to_json(self) -> dict[str, Any]:
        """Return the error as data: the tool, the faults, and the number of unlisted faults."""
        fields = {"error": "invalid_arguments", "tool": self.tool, "faults": msgspec.to_builtins(self.faults)}
        return {**fields, "faults": list(fields["faults"]), **({"more": self.more} if self.more else {})}


class InvalidArguments(Exception):
    """Raised by a reader of arguments, which has no access to the tool's name."""

    def __init__(self, faults: Iterable[InputFault]) -> None:
        self.faults = list(faults)


def shown(value: Any) -> str:
    """Return the beginning of a value's JSON for a fault. The rest of a long value is not encoded."""
    text = ""
    for piece in _ENCODER.iterencode(value[:100] if isinstance(value, str) else value):
        text += piece[:100]
        if len(text) > 60:
            return f"{text[:60]}… ({kind_of(value)})"
    return text


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def as_json_text(value: Any) -> str:
    """Return arguments as JSON text for display. Types without a JSON form are converted to text."""
    return json.dumps(value, ensure_ascii=False, default=_simpler)


def _simpler(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    try:
        return msgspec.to_builtins(value)
    except TypeError:
        return str(value)
