"""The library's errors, by who is at fault."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class ContentModelError(Exception):
    """The base of every error that this library raises on purpose."""


class Fault(msgspec.Struct, frozen=True):
    """One thing wrong with a payload: the JSON `path` where, and the `message` what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} at {self.path}"


class DecodeError(ContentModelError, ValueError):
    """A payload is not of the API it was said to be. `faults` has all of them, each with its JSON path."""

    def __init__(self, api: str, faults: Sequence[Fault]) -> None:
        self.api = api
        self.faults = tuple(faults)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{api}: {self.faults[0]}{more}")


class EncodeError(ContentModelError, ValueError):
    """A model value cannot be written, whatever the losses."""


class StreamError(ContentModelError, ValueError):
    """Stream events contradict each other: one is about a block that has not started."""


class DetectError(ContentModelError, ValueError):
    """No adapter recognises a payload, or more than one does."""


class UnknownApiError(ContentModelError, LookupError):
    """No adapter is registered under this API id."""


class MissingExtraError(ContentModelError, ModuleNotFoundError):
    """An optional dependency is not installed. The message says what to install; `name` is the missing module."""

    def __init__(self, extra: str, name: str) -> None:
        self.extra = extra
        super().__init__(f'this needs {name}, which is not installed: pip install "contentmodel[{extra}]"', name=name)


class ToolArgumentsError(ContentModelError, ValueError):
    """A model's arguments for a tool are not a JSON object: they must not be run."""

    def __init__(self, name: str | None, text: str, why: str) -> None:
        self.name, self.text = name, text
        super().__init__(f"arguments of {name or 'a tool'} are not a JSON object: {why}")
