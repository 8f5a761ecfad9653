"""Contents for errors, usage, compaction, changes of settings, references and unknown blocks."""

from __future__ import annotations

from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.literals import ErrorKind, Open, ToolAction
from contentmodel.usage import Usage


class ErrorContent(AIContent, frozen=True, kw_only=True):
    """A failure, with the provider's message and code. A refusal is an error with the code "refusal".

    `kind` is the normalized kind of error, the same for all APIs: "rate_limit", "overloaded", "authentication"
    (`contentmodel.failures.STATUSES` lists all with their HTTP status); None if it is unknown.
    """

    message: str = ""
    code: str | None = None
    kind: Open[ErrorKind | None] = None
    details: dict[str, Any] | None = None


class UsageContent(AIContent, frozen=True, kw_only=True):
    """Token counts that the API sent as part of the conversation."""

    usage: Usage


class CompactionContent(AIContent, frozen=True, kw_only=True):
    """A provider's summary (`text`) or opaque state (`protected`) that replaces earlier turns."""

    text: str | None = None


class ToolChangeContent(AIContent, frozen=True, kw_only=True):
    """A change of the available tools from here on: `action` is "add" or "remove".

    `tools` are the definitions or references in the provider's format.
    """

    action: Open[ToolAction]
    tools: list[Any] = []


class ConfigurationContent(AIContent, frozen=True, kw_only=True):
    """A change of settings in the middle of a conversation (reasoning effort, verbosity, serving model).

    `kind` is the provider's name of the change. `settings` are provider-specific.
    """

    kind: str
    settings: dict[str, Any] = {}


class ReferenceContent(AIContent, frozen=True, kw_only=True):
    """A reference to an item that is stored on the provider's server."""

    item_id: str


class UnknownContent(AIContent, frozen=True, kw_only=True):
    """A block of an unknown type. `block` is its complete JSON, as `api` sent it."""

    api: str
    block: Any = None
