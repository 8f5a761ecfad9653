"""The errors of the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec


class ContentModelError(Exception):
    """The base class of all errors of this library. Errors can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with `args`, but the errors below compute their message from other arguments.
        return _unpickled, (type(self), self.args), self.__dict__


def _unpickled(kind: type[ContentModelError], args: tuple[Any, ...]) -> ContentModelError:
    """Return an error without calling its `__init__`. Pickle restores the attributes."""
    error = kind.__new__(kind, *args)
    error.args = args
    return error


class Fault(msgspec.Struct, frozen=True):
    """One fault of a payload: its JSON `path`, and a `message` that describes it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} at {self.path}"


class DecodeError(ContentModelError, ValueError):
    """A payload is not a valid payload of `api`. `faults` lists every fault with its JSON path."""

    def __init__(self, api: str, faults: Sequence[Fault]) -> None:
        self.api = api
        self.faults = tuple(faults)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{api}: {self.faults[0]}{more}")


class EncodeError(ContentModelError, ValueError):
    """A value of the model cannot be encoded, even with losses."""


class StreamError(ContentModelError, ValueError):
    """Stream events contradict each other, e.g. an event refers to a block that has not started."""


class DetectError(ContentModelError, ValueError):
    """No adapter recognizes a payload, or more than one does."""


class UnknownApiError(ContentModelError, LookupError):
    """No adapter, or no client, is registered under this API id."""


class MissingExtraError(ContentModelError, ModuleNotFoundError):
    """An optional dependency is not installed. `name` is the missing module, and the message contains what to install.

    `extra` is the extra that installs it; None if no extra does (the driver of a database, for example).
    """

    def __init__(self, extra: str | None, name: str) -> None:
        self.extra = extra
        fix = "install the package that has this module" if extra is None else f'pip install "contentmodel[{extra}]"'
        super().__init__(f"this needs {name}, which is not installed: {fix}", name=name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.extra, self.name), self.__dict__


class ToolArgumentsError(ContentModelError, ValueError):
    """The arguments of a tool call are not a JSON object. Do not run the call."""

    def __init__(self, name: str | None, text: str, why: str) -> None:
        self.name, self.text = name, text
        super().__init__(f"arguments of {name or 'a tool'} are not a JSON object: {why}")
