"""Contents for errors, usage, compaction, changes of settings, references and unknown blocks."""

from __future__ import annotations

from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.literals import ErrorKind, Open, ToolAction
from contentmodel.usage import Usage


class ErrorContent(AIContent, frozen=True, kw_only=True):
    """A failure or a refusal, with the provider's message and code."""

    message: str = ""
    """The provider's message."""
    code: str | None = None
    """The provider's code; `refusal` for a refusal."""
    kind: Open[ErrorKind | None] = None
    """The normalized kind of error, the same for all APIs: `rate_limit`, `overloaded`, `authentication`.

    `contentmodel.failures.STATUSES` lists all with their HTTP status. None if it is unknown.
    """
    details: dict[str, Any] | None = None
    """Further fields of the provider's error."""


class UsageContent(AIContent, frozen=True, kw_only=True):
    """Token counts that the API sent as part of the conversation."""

    usage: Usage
    """The token counts."""


class CompactionContent(AIContent, frozen=True, kw_only=True):
    """A provider's summary (`text`) or opaque state (`protected`) that replaces earlier turns."""

    text: str | None = None
    """The summary."""


class ToolChangeContent(AIContent, frozen=True, kw_only=True):
    """A change of the available tools from here on."""

    action: Open[ToolAction]
    """`add` or `remove`."""
    tools: list[Any] = []
    """The definitions or references, in the provider's format."""


class ConfigurationContent(AIContent, frozen=True, kw_only=True):
    """A change of settings in the middle of a conversation (reasoning effort, verbosity, serving model)."""

    kind: str
    """The provider's name of the change."""
    settings: dict[str, Any] = {}
    """The settings, in the provider's format."""


class ReferenceContent(AIContent, frozen=True, kw_only=True):
    """A reference to an item that is stored on the provider's server."""

    item_id: str
    """The provider's id of the item."""


class UnknownContent(AIContent, frozen=True, kw_only=True):
    """A block of an unknown type."""

    api: str
    """The API id."""
    block: Any = None
    """The complete JSON of the block."""
