"""Rules of rollouts: Codex refuses the file, or a part of its history is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.sessions.codex.blocks import API

RULES = Rules(API)
SOURCE = "@openai/codex 0.169.0, codex exec resume, 2026-11-23"


@RULES.rule("refused", fix="put the line of the type session_meta first", source=SOURCE)
def session_meta_is_first(file: dict[str, Any]) -> Iterator[Broken]:
    """The first line of a rollout must have the type session_meta."""
    for path, line in objects(file, "lines"):
        if line.get("type") != "session_meta":
            yield f"{path}.type", f"the type {line.get('type')!r}"
        return


@RULES.rule("refused", fix="keep the file of that thread in Codex's folder of sessions", source=SOURCE)
def history_is_in_the_file(file: dict[str, Any]) -> Iterator[Broken]:
    """A rollout with history_base continues another file: it does not contain the lines before the fork or revert."""
    for path, line in objects(file, "lines"):
        base = line["payload"].get("history_base") if line.get("payload").__class__ is dict else None
        if line.get("type") == "session_meta" and base.__class__ is dict:
            yield f"{path}.payload.history_base", f"earlier lines are in the file of {base.get('thread_id')!r}"
