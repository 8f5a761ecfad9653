"""Rules of Claude Code's sessions: a part of the conversation is missing when the session is resumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.sessions.claude_code.blocks import API

RULES = Rules(API)
SOURCE = "@anthropic-ai/claude-code 2.1.330, claude --resume, 2026-11-23"


@RULES.rule("harmful", fix="add the line with this uuid, or set parentUuid to that of the line before", source=SOURCE)
def parents_are_in_the_file(file: dict[str, Any]) -> Iterator[Broken]:
    """Each parentUuid must be the uuid of a line in the file. Otherwise, the messages before it are missing."""
    lines = [*objects(file, "lines")]
    ids = {line.get("uuid") for _, line in lines if isinstance(line.get("uuid"), str)}
    for path, line in lines:
        parent = line.get("parentUuid")
        if parent is not None and not (isinstance(parent, str) and parent in ids):
            yield f"{path}.parentUuid", f"no line has the uuid {parent!r}"
