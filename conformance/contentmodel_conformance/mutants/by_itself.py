"""Broken adapters and engines that lose values beside odd ones, or that report the loss of content as insignificant."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any
from unittest import mock

from contentmodel_conformance.mutants.broken import Broken, mutant

GEMINI_CLI, CLAUDE_CODE, CODEX = "gemini-cli-session", "claude-code-session", "codex-rollout"


@mutant(GEMINI_CLI, "each-by-itself/anywhere")
class ReadsAllRecordsOrNone(Broken):
    """Read the records of a session object only if each of them has an id."""

    def read(self, kind: str, payload: Any) -> Any:
        lines = copy.deepcopy(payload)
        for line in lines if isinstance(lines, list) else ():
            records = line.get("messages") if isinstance(line, dict) else None
            if isinstance(records, list) and not all(isinstance(record, dict) and "id" in record for record in records):
                line["messages"] = []
        return lines


class _Changed(Broken):
    """A broken adapter of session files with another function of its shared code."""

    owner, attribute = "", ""

    def change(self, *arguments: Any) -> Any:
        """Return the result of the changed function."""

    def trace_request(self, payload: Any) -> Any:
        owner: Any = import_module(self.owner) if self.owner else type(self.inner)
        change = self.change
        with mock.patch.object(owner, self.attribute, lambda *arguments: change(*arguments)):
            return super().trace_request(payload)


@mutant(CLAUDE_CODE, "each-by-itself/anywhere")
class LeavesTheLineOfAnOddBlock(_Changed):
    """Leave the whole line of a session file out of the conversation if one of its blocks has a fault."""

    owner, attribute = "contentmodel_adapters.sessions.reading", "_mark"


@mutant(CODEX, "weight/crossing")
class WeighsLinesByTheirType(_Changed):
    """Report each line of a known type of a session file as an insignificant loss."""

    attribute = "weigh"


@mutant(CLAUDE_CODE, "weight/crossing")
class CountsAllAttachmentsAsStates(_Changed):
    """Report attachments of unknown kinds in a session file as insignificant losses."""

    attribute = "weigh"

    def change(self, *arguments: Any) -> Any:
        _, session = arguments
        session.kept.setdefault("attachment", []).extend(session.kept.pop("context", []))
