"""Faults in a tool configuration file, or in the caller's context, and errors of execution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.errors import ContentModelError


class ToolFileFault(msgspec.Struct, frozen=True):
    """One fault in a tool configuration file.

    `file` is the file's name, or "tools" if it has none. `tool` is the tool's name, None if the fault is not in a tool.
    `path` is the JSON path in the file. `message` describes the fault and its fix.
    """

    file: str
    tool: str | None
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {f'{self.tool}: ' if self.tool else ''}{self.message} (at {self.path})"


class ToolFileError(ContentModelError, ValueError):
    """A tool configuration file cannot be used. `faults` has all faults; the text has one line for each."""

    def __init__(self, faults: Iterable[ToolFileFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class ToolFileWarning(UserWarning):
    """Some tools of a configuration file are left out. `faults` has the reasons; the text has one line for each."""

    def __init__(self, faults: Iterable[ToolFileFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.faults,), self.__dict__


class ToolContextError(ContentModelError, ValueError):
    """The caller's context has missing or invalid values for the tools of a file. `faults` has all of them."""

    def __init__(self, file: str, faults: Iterable[str]) -> None:
        self.file, self.faults = file, tuple(faults)
        super().__init__("\n".join(f"{file}: context: {fault}" for fault in self.faults))


class ExecutorError(ContentModelError):
    """An executor failed. The message may be sent to a model: it contains no credentials."""


class ExecutorTimeoutError(ExecutorError, TimeoutError):
    """An API or a database did not answer in time."""


class MessageStoreError(ContentModelError):
    """Messages of a conversation could not be saved or loaded. The message has the reason, without credentials."""
