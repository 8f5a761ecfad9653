"""What Chat Completions refuses, ignores or answers badly in a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.rules import Alphabet, Broken, Rules, objects

RULES = Rules("openai-chat")
CALL_IDS = Alphabet(".", 40)


@RULES.rule(
    "refused",
    fix="shorten the id, the same way on the call and on its result",
    source="BerriAI/litellm#11392: string too long, maximum length 40; seen 2026-11-21",
)
def call_ids_are_short(request: dict[str, Any]) -> Iterator[Broken]:
    """Ids of tool calls have at most 40 characters."""
    for at, message in objects(request, "messages"):
        for where, call in objects(message, "tool_calls", at):
            call_id = call.get("id")
            if isinstance(call_id, str) and len(call_id) > CALL_IDS.longest:
                yield f"{where}.id", f"{len(call_id)} characters"
