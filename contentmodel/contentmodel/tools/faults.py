"""What is wrong with a model's arguments, as data and as words that the model is told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.engine.json import kind_of
from contentmodel.errors import ContentModelError

MAX_FAULTS = 20
"""Faults that are told; how many more there are is said in words."""


class InputFault(msgspec.Struct, frozen=True):
    """One thing wrong with the arguments: the JSON `path` where, what was `expected`, and what was `got`."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


class ToolInputError(ContentModelError, ValueError):
    """A model's arguments are not what the tool's schema says: the tool must not run.

    As text it is what the model is told: each fault's path, what was expected there, and what came.
    """

    def __init__(self, tool: str, faults: Iterable[InputFault]) -> None:
        every = list(faults)
        self.tool, self.faults = tool, tuple(every[:MAX_FAULTS])
        self.more = len(every) - len(self.faults)
        lines = [f"- {fault}" for fault in self.faults] + ([f"- and {self.more} more"] if self.more else [])
        super().__init__("\n".join([f"The arguments of {tool} are not valid; it did not run.", *lines]))

    def to_json(self) -> dict[str, Any]:
        """The same as data: tool, faults with path, expected and got, and how many more there are."""
        said = {"error": "invalid_arguments", "tool": self.tool, "faults": msgspec.to_builtins(self.faults)}
        return {**said, "faults": list(said["faults"]), **({"more": self.more} if self.more else {})}


class InvalidArguments(Exception):
    """Raised by a reader of arguments, which does not know the tool's name."""

    def __init__(self, faults: Iterable[InputFault]) -> None:
        self.faults = list(faults)


def shown(value: Any) -> str:
    """Return a value as a fault shows it: the beginning of its JSON. The rest of a long value is not written."""
    text = ""
    for piece in _ENCODER.iterencode(value[:100] if isinstance(value, str) else value):
        text += piece[:100]
        if len(text) > 60:
            return f"{text[:60]}… ({kind_of(value)})"
    return text


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def as_json_text(value: Any) -> str:
    """Arguments as JSON to show, types that JSON does not know as their text."""
    return json.dumps(value, ensure_ascii=False, default=_simpler)


def _simpler(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    try:
        return msgspec.to_builtins(value)
    except TypeError:
        return str(value)
