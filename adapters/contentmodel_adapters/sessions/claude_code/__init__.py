"""The adapter of Claude Code's session files: JSON Lines with messages of Anthropic's Messages API.

Observed with @anthropic-ai/claude-code 2.1.330 on 2026-11-23. `claude_agent_sdk.get_session_messages` reads such files.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from contentmodel.authoring import EncodeContext, text_of
from contentmodel.message import Branch
from contentmodel.request import ChatRequest
from contentmodel_adapters.sessions.adapter import SessionAdapter
from contentmodel_adapters.sessions.claude_code.blocks import API, INNER, NOTICES, OF_PROGRAM, PROGRESS, RECORDS
from contentmodel_adapters.sessions.claude_code.reading import Reading
from contentmodel_adapters.sessions.claude_code.rules import RULES
from contentmodel_adapters.sessions.claude_code.writing import Writing
from contentmodel_adapters.sessions.lines import arranged, kept_lines
from contentmodel_adapters.sessions.reading import Place, Session
from contentmodel_adapters.sessions.writing import Writer, Written

_TYPES = frozenset({"user", "assistant", "attachment", "system"})


class ClaudeCodeSession(SessionAdapter):
    """The adapter of Claude Code's sessions."""

    api = API
    issuer = "anthropic"
    rules = RULES
    inner = INNER
    records = frozenset({"created", "response_id", "usage", "finish_reason"})
    writes_records = True
    meaningless = RECORDS

    def recognises_list(self, items: list[Any]) -> float:
        """Return how likely the lines are a session, from 0 to 1."""
        for item in items:
            if item.__class__ is not dict or text_of(item, "type") not in _TYPES or "uuid" not in item:
                continue
            if "parentUuid" in item or ("session_id" in item and "parent_tool_use_id" in item):
                return 0.99
        return 0.0

    def is_of_program(self, kind: str, line: Any) -> bool:
        """Return whether a line has states, titles or notices of the program."""
        fields = line if line.__class__ is dict else {}
        data = fields.get("data")
        subtype = data.get("type") if data.__class__ is dict else fields.get("subtype")
        subtypes = {"system": NOTICES, "progress": PROGRESS}.get(kind, frozenset())
        return kind in OF_PROGRAM or (isinstance(subtype, str) and subtype in subtypes)

    def read(self, lines: list[Any], unreadable: Collection[Place]) -> Session:
        """Return the messages of the conversation, and the other messages as branches."""
        return Reading(lines, unreadable).session

    def line_objects(self, entry: dict[str, Any], writer: Writer) -> list[dict[str, Any]]:
        """Split a new message into the messages of its lines: one for each block of an answer, and for each result."""
        content = entry.get("content")
        if content.__class__ is not list or writer.line_of(entry) is not None:
            return [entry]
        runs: list[tuple[int | None, list[Any]]] = []
        for block in content:
            line = writer.line_of(block)
            together = line is not None or (entry["role"] == "user" and block.get("type") != "tool_result")
            if runs and together and runs[-1][0] == line and runs[-1][1][-1].get("type") != "tool_result":
                runs[-1][1].append(block)
            else:
                runs.append((line, [block]))
        return [{**entry, "content": blocks} for _, blocks in runs]

    def write(
        self, request: ChatRequest, parts: Sequence[tuple[Branch | None, list[Written]]], context: EncodeContext
    ) -> list[Any]:
        """Return the lines of a session."""
        old_lines = kept_lines(request, self.api) if context.native else []
        writing = Writing(request, context)
        groups = [writing.group(written) for _, written in parts]
        return arranged(groups, writing.completed(old_lines, groups), request, self.api)


adapter = ClaudeCodeSession()
