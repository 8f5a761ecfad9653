"""Rules of Gemini CLI's sessions: it does not find the session in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.sessions.gemini_cli.blocks import API

RULES = Rules(API)
SOURCE = "@google/gemini-cli 0.61.0, loadConversationRecord, 2026-11-23"


@RULES.rule("refused", fix="add a first line with sessionId and projectHash", source=SOURCE)
def session_is_named(file: dict[str, Any]) -> Iterator[Broken]:
    """A file must have a line with sessionId and projectHash, unless it is a checkpoint."""
    names: set[str] = set()
    for _, line in objects(file, "lines"):
        if "history" in line:
            return
        names.update(line)
    missing = [name for name in ("sessionId", "projectHash") if name not in names]
    if missing:
        yield "$.lines", f"no line with {' and '.join(missing)}"
