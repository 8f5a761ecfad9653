"""The adapter of Gemini CLI's sessions: JSON Lines of events with parts of generateContent, and checkpoints.

The older form of a session, one object with all records, and a checkpoint (`history`) are documents of one line.
Observed with @google/gemini-cli 0.61.0 on 2026-11-23.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from contentmodel.authoring import TOKEN, EncodeContext, Inner, reasons
from contentmodel.request import ChatRequest
from contentmodel_adapters.sessions.adapter import SessionAdapter
from contentmodel_adapters.sessions.gemini_cli.blocks import API, NOTICES, RECORDS, ROLES
from contentmodel_adapters.sessions.gemini_cli.reading import SUPERSEDED, Reading, is_checkpoint, models_of
from contentmodel_adapters.sessions.gemini_cli.rules import RULES
from contentmodel_adapters.sessions.gemini_cli.writing import Parts, Writing
from contentmodel_adapters.sessions.lines import is_new
from contentmodel_adapters.sessions.reading import Place, Session
from contentmodel_adapters.sessions.writing import Writer


class GeminiCliSession(SessionAdapter):
    """The adapter of Gemini CLI's sessions."""

    api = API
    issuer = "google"
    rules = RULES
    inner = Inner("google-generate-content", "contents")
    records = frozenset({"created"})
    placeholders = (reasons.USER_TURN_FIRST, reasons.NO_USER_MESSAGE)
    meaningless = RECORDS

    def recognises_list(self, items: list[Any]) -> float:
        """Return how likely the lines are a session, from 0 to 1."""
        return max((self._likelihood(item) for item in items if item.__class__ is dict), default=0.0)

    @staticmethod
    def _likelihood(item: dict[str, Any]) -> float:
        if "sessionId" in item and "projectHash" in item:
            return 0.99
        if isinstance(item.get("$rewindTo"), str) or is_checkpoint(item):
            return 0.95
        return 0.9 if item.get("type") == "gemini" and isinstance(item.get("id"), str) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[Any, float]:
        """Return how likely an object is a session of one line, or a checkpoint."""
        if payload.__class__ is not dict:
            return {}
        if is_checkpoint(payload) or (self._likelihood(payload) > 0.9 and isinstance(payload.get("messages"), list)):
            return {"request": self._likelihood(payload)}
        return {}

    def is_of_program(self, kind: str, line: Any) -> bool:
        """Return whether a line is a notice, or has only records that messages repeat (`Reading` has checked them)."""
        return kind in NOTICES or kind == SUPERSEDED

    def read(self, lines: list[Any], unreadable: Collection[Place]) -> Session:
        """Return the messages of the final history, and the messages that were removed from it as branches."""
        return Reading(lines, unreadable).session

    def line_objects(self, entry: dict[str, Any], writer: Writer) -> list[dict[str, Any]]:
        """Return a new content without the fields that a record cannot hold. Report them as lost."""
        if writer.line_of(entry) is not None:
            return [entry]
        fitting = {key: value for key, value in entry.items() if key in ("role", "parts", TOKEN)}
        if fitting.get("role") not in (None, *ROLES):
            del fitting["role"]
        if fitting.get("parts", []).__class__ is not list:
            del fitting["parts"]
        for key in entry:
            if key not in fitting:
                writer.report_field(entry, key)
        return [fitting]

    def write(self, request: ChatRequest, parts: Parts, context: EncodeContext) -> list[Any]:
        """Return the lines of a session."""
        writing = Writing(request, context)
        lines = writing.changed_file(parts) if context.native and not is_new(request, self.api) else None
        lines = writing.new_file(parts) if lines is None else lines
        if request.model is not None and request.model not in models_of(lines):
            context.report_loss(request, "model", reasons.NO_FIELD)
        return lines


adapter = GeminiCliSession()
