"""Defects in detection."""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.mutants.broken import CHAT
from contentmodel_conformance.mutants.engine.changes import change, module

reading = module("reading")


@change(reading, "reads", CHAT, "foreign-documents/renamed")
def names_a_format_by_its_keys_alone(original: Any, *arguments: Any) -> bool:
    """Name the format with the highest score, although its adapter reads no message."""
    return True


@change(reading, "_without_faulty", CHAT, "foreign-documents/renamed")
def trusts_a_document_of_faults(original: Any, payload: Any, faults: Any) -> tuple[Any, int]:
    """Read no messages of a document that has faults, and name its format."""
    return None, 0


@change(reading, "_state", CHAT, "known-documents/disturbed")
def reads_only_messages_without_unknown_fields(original: Any, message: Any) -> str:
    """Count messages with unknown fields or blocks as unread."""
    return (
        "unread" if message.extra or any(c.__class__.__name__ == "UnknownContent" for c in message.contents) else "read"
    )
