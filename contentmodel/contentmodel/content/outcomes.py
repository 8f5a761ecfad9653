"""Errors, refusals and usage as content."""

from __future__ import annotations

from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.literals import ErrorKind, Open, ToolAction
from contentmodel.usage import Usage


class ErrorContent(AIContent, frozen=True, kw_only=True):
    """A failure, in the provider's own words and code. A refusal is an error with code "refusal".

    `kind` says what kind of error an API answered, in the same word for all APIs: "rate_limit", "overloaded",
    "authentication" (`contentmodel.failures.STATUSES` lists them with their HTTP status); None if it is unknown.
    """

    message: str = ""
    code: str | None = None
    kind: Open[ErrorKind | None] = None
    details: dict[str, Any] | None = None


class UsageContent(AIContent, frozen=True, kw_only=True):
    """Token counts that arrived as a part of the conversation."""

    usage: Usage


class CompactionContent(AIContent, frozen=True, kw_only=True):
    """A provider's summary (`text`) or opaque state (`protected`) in place of earlier turns."""

    text: str | None = None


class ToolChangeContent(AIContent, frozen=True, kw_only=True):
    """Tools that are added to ("add") or removed from ("remove") a conversation from here on.

    `tools` are the definitions or references as the provider writes them.
    """

    action: Open[ToolAction]
    tools: list[Any] = []


class ConfigurationContent(AIContent, frozen=True, kw_only=True):
    """A change of settings in the middle of a conversation (reasoning effort, verbosity, serving model).

    `kind` is the provider's word for it; `settings` are its own.
    """

    kind: str
    settings: dict[str, Any] = {}


class ReferenceContent(AIContent, frozen=True, kw_only=True):
    """A stand-in for an item that only the provider's server holds."""

    item_id: str


class UnknownContent(AIContent, frozen=True, kw_only=True):
    """A block whose type nobody here knows, kept whole: `block` is the JSON of `api`."""

    api: str
    block: Any = None
