"""Runs and messages that readers of AG-UI refuse.

Source: ag_ui/_generated/models.py of ag-ui-protocol 1.0.0 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.ag_ui.blocks import API, ROLES

RULES = Rules(API)
SOURCE = "the types of ag-ui-protocol 1.0.0"
TEXTS = {"system", "developer", "reasoning"}
"""The roles of messages whose content is a string."""
_OF_RUNS = {"threadId", "runId", "tools", "context", "state", "forwardedProps", "resume"}


@RULES.rule("refused", fix="add it", source=SOURCE)
def runs_have_ids(payload: dict[str, Any]) -> Iterator[Broken]:
    """The input of a run must have the ids of its thread and of the run, except a list of messages."""
    if not _OF_RUNS.isdisjoint(payload):
        for name in ("threadId", "runId"):
            if payload.get(name).__class__ is not str:
                yield f"$.{name}", "missing"


@RULES.rule("refused", fix="add the id", source=SOURCE)
def messages_have_ids(payload: dict[str, Any]) -> Iterator[Broken]:
    """Each message must have an id."""
    for path, message in objects(payload, "messages"):
        if message.get("id").__class__ is not str:
            yield f"{path}.id", "missing"


@RULES.rule("refused", fix="use a role of the format", source=SOURCE)
def roles_are_known(payload: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be one of the format."""
    for path, message in objects(payload, "messages"):
        if message.get("role") not in ROLES:
            yield f"{path}.role", f"{message.get('role')!r:.60}"


@RULES.rule("refused", fix="send a string", source=SOURCE)
def contents_are_strings(payload: dict[str, Any]) -> Iterator[Broken]:
    """The content of a message must be a string if its role allows no parts. Assistant messages may have no content."""
    for path, message in objects(payload, "messages"):
        role, content = message.get("role"), message.get("content")
        is_string = role in TEXTS or (role == "assistant" and content is not None)
        if is_string and content.__class__ is not str:
            yield f"{path}.content", "not a string"


@RULES.rule("harmful", fix="put the result after its call", source=SOURCE)
def results_follow_their_calls(payload: dict[str, Any]) -> Iterator[Broken]:
    """A result must follow the call with its id."""
    called: set[Any] = set()
    for path, message in objects(payload, "messages"):
        called.update(call["id"] for _, call in objects(message, "toolCalls") if isinstance(call.get("id"), str))
        call_id = message.get("toolCallId")
        if message.get("role") == "tool" and not (isinstance(call_id, str) and call_id in called):
            yield f"{path}.toolCallId", f"no call {call_id!r:.60} before it"
