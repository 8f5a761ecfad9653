"""The lines of Gemini CLI's sessions: their types and fields (observed with version 0.61.0 on 2026-11-23)."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import weighed

API = "gemini-cli-session"

ROLES = ("user", "model")
"""The roles of the contents that records hold."""

MESSAGES = frozenset({"user", "gemini"})
"""The types of records that the program sends to a model."""

NOTICES = frozenset({"info", "error", "warning"})
"""The types of records that the program shows to the user, and never sends to a model."""

NOTICE_FIELDS = frozenset({"id", "timestamp", "type", "content", "displayContent"})
"""The fields of notices."""

RECORDS: dict[str, Any] = {
    "content": "",
    **dict.fromkeys(("id", "timestamp", "type", "model", "tokens", "displayContent")),
    **dict.fromkeys(("thoughts", "toolCalls"), lambda value: value.__class__ is list),
    **dict.fromkeys((*NOTICES, "session", "set", "rewind", "superseded", "checkpoint"), weighed),
}
"""Fields, and types of lines, whose losses are insignificant: they repeat the history, or no model receives them.

A value that may hold other content is kept under another name.
"""

CONTEXT = "<session_context>"
"""The beginning of the message with the context of a session. The program adds it again when it resumes a session."""

COUNTS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_tokens": "cached",
    "reasoning_tokens": "thoughts",
    "tool_input_tokens": "tool",
    "total_tokens": "total",
}
"""The field of a record's `tokens` for each field of Usage."""
