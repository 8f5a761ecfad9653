"""What is wrong with a tool configuration file, or with what a caller gives beside it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from contentmodel.errors import ContentModelError


class ToolFileFault(msgspec.Struct, frozen=True):
    """One thing wrong with a tool configuration file.

    `file` is its name, or "tools" where it has none; `tool` the name of the tool, None where the fault is in none;
    `path` the JSON path in the file; `message` says what is wrong and what to do about it.
    """

    file: str
    tool: str | None
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {f'{self.tool}: ' if self.tool else ''}{self.message} (at {self.path})"


class ToolFileError(ContentModelError, ValueError):
    """A tool configuration file cannot be used. `faults` has all that is wrong; as text, a line each."""

    def __init__(self, faults: Iterable[ToolFileFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class ToolFileWarning(UserWarning):
    """Some tools of a tool configuration file are left out. `faults` says why; as text, a line each."""

    def __init__(self, faults: Iterable[ToolFileFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class ToolContextError(ContentModelError, ValueError):
    """The caller's context lacks values that the tools of a file need, or has wrong ones. `faults` has all of them."""

    def __init__(self, file: str, faults: Iterable[str]) -> None:
        self.file, self.faults = file, tuple(faults)
        super().__init__("\n".join(f"{file}: context: {fault}" for fault in self.faults))


class ExecutorError(ContentModelError):
    """An executor could not do what it was asked to. The message is fit for a model: no credentials are in it."""


class ExecutorTimeoutError(ExecutorError, TimeoutError):
    """An API or a database did not answer in time."""


class MessageStoreError(ContentModelError):
    """Messages of a conversation could not be saved or loaded. The message says why, and no credentials are in it."""
