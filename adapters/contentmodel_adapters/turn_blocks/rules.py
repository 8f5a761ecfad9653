"""Faults of a transcript that its rows show.

Rows are refused only by a store (`contentmodel.history`) that is asked to keep them, and by the APIs that they are sent
to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import (
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel_adapters.turn_blocks.blocks import API, model_of

RULES = Rules(API)
ROLES = ("user", "assistant", "tool", "system", "developer")
MODELS_OWN = (ReasoningContent, ToolCallContent, ToolResultContent, ToolApprovalRequestContent)
"""Contents that only a model, or a tool that its provider runs, creates. Results of functions are the application's."""
SOURCE = "docs/history.md, 2026-11-21"


def _blocks(turn: dict[str, Any], path: str, *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, block in objects(turn, "blocks", path):
        if not kinds or block.get("block_type") in kinds:
            yield where, block


def _call_id(block: dict[str, Any]) -> Any:
    content = block.get("content")
    return content.get("tool_use_id") if isinstance(content, dict) else None


@RULES.rule("refused", fix=f"use one of {', '.join(ROLES)}", source=SOURCE)
def roles_are_known(payload: dict[str, Any]) -> Iterator[Broken]:
    """A turn is the user's, the assistant's, a tool's, the system's or the developer's."""
    for path, turn in objects(payload, "turns"):
        role = turn.get("role")
        if isinstance(role, str) and role not in ROLES:
            yield f"{path}.role", f"the role {role!r}"


@RULES.rule("refused", fix="put them in a turn of the assistant", source=SOURCE)
def only_the_assistant_thinks_and_calls(payload: dict[str, Any]) -> Iterator[Broken]:
    """Thoughts, calls and results of hosted tools are the assistant's."""
    for path, turn in objects(payload, "turns"):
        if turn.get("role") not in ("user", "system", "developer"):
            continue
        for where, block in _blocks(turn, path):
            # A block may also be the model's JSON of its content, with a `type` in place of `block_type`.
            key = "block_type" if "block_type" in block else "type"
            made = model_of(block.get(key))
            if made is not None and issubclass(made, MODELS_OWN) and made is not FunctionResultContent:
                yield f"{where}.{key}", f"{block[key]} in a turn of the role {turn['role']}"


@RULES.rule("harmful", fix="give the call before its result", source=SOURCE)
def results_follow_their_calls(payload: dict[str, Any]) -> Iterator[Broken]:
    """A result has the id of a call that stands before it. The first turn may go on from turns that are not there."""
    called: set[Any] = set()
    for index, (path, turn) in enumerate(objects(payload, "turns")):
        for where, block in _blocks(turn, path, "tool_use", "tool_result"):
            call_id = _call_id(block)
            if block["block_type"] == "tool_use":
                called.add(call_id)
            elif call_id not in called and index > 0:
                yield f"{where}.content.tool_use_id", f"no call {call_id!r} before it"


@RULES.rule("harmful", fix="give each call an id of its own", source=SOURCE)
def call_ids_are_unique(payload: dict[str, Any]) -> Iterator[Broken]:
    """No two calls of one turn have the same id."""
    for path, turn in objects(payload, "turns"):
        seen: set[Any] = set()
        for where, block in _blocks(turn, path, "tool_use"):
            call_id = _call_id(block)
            if isinstance(call_id, str) and call_id in seen:
                yield f"{where}.content.tool_use_id", f"the second call {call_id!r}"
            seen.add(call_id if isinstance(call_id, str) else None)


@RULES.rule("refused", fix="give each turn an id of its own", source=SOURCE)
def turn_ids_are_unique(payload: dict[str, Any]) -> Iterator[Broken]:
    """No two turns have the same id."""
    seen: set[Any] = set()
    for path, turn in objects(payload, "turns"):
        name = turn.get("id")
        if isinstance(name, str | int) and name in seen:
            yield f"{path}.id", f"the second turn {name!r}"
        seen.add(name if isinstance(name, str | int) else None)
