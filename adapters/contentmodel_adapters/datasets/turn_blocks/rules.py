"""Faults of a transcript that are visible in its rows.

A store (`contentmodel.history`) refuses such rows, and so do the APIs that receive them.
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
from contentmodel_adapters.datasets.turn_blocks.blocks import API, model_of

RULES = Rules(API)
ROLES = ("user", "assistant", "tool", "system", "developer")
MODELS_OWN = (ReasoningContent, ToolCallContent, ToolResultContent, ToolApprovalRequestContent)
"""Contents that only a model or a hosted tool creates. The application creates the results of functions."""
SOURCE = "docs/history.md, 2026-11-21"


def _blocks(turn: dict[str, Any], path: str, *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for block_path, block in objects(turn, "blocks", path):
        if not kinds or block.get("block_type") in kinds:
            yield block_path, block


def _call_id(block: dict[str, Any]) -> Any:
    content = block.get("content")
    return content.get("tool_use_id") if isinstance(content, dict) else None


@RULES.rule("refused", fix=f"use one of {', '.join(ROLES)}", source=SOURCE)
def roles_are_known(payload: dict[str, Any]) -> Iterator[Broken]:
    """The role of a turn must be user, assistant, tool, system or developer."""
    for path, turn in objects(payload, "turns"):
        role = turn.get("role")
        if isinstance(role, str) and role not in ROLES:
            yield f"{path}.role", f"the role {role!r}"


@RULES.rule("refused", fix="move it to an assistant turn", source=SOURCE)
def reasoning_and_calls_in_assistant_turns(payload: dict[str, Any]) -> Iterator[Broken]:
    """Reasoning, calls and hosted tool results must not be in user, system or developer turns."""
    for path, turn in objects(payload, "turns"):
        if turn.get("role") not in ("user", "system", "developer"):
            continue
        for block_path, block in _blocks(turn, path):
            # A block may also be JSON of the content model, with `type` instead of `block_type`.
            key = "block_type" if "block_type" in block else "type"
            model = model_of(block.get(key))
            if model is not None and issubclass(model, MODELS_OWN) and model is not FunctionResultContent:
                yield f"{block_path}.{key}", f"{block[key]} in a turn of the role {turn['role']}"


@RULES.rule("harmful", fix="put the call before its result", source=SOURCE)
def results_follow_their_calls(payload: dict[str, Any]) -> Iterator[Broken]:
    """A result must follow the call with its id. Results in the first turn may refer to earlier turns."""
    called: set[Any] = set()
    for index, (path, turn) in enumerate(objects(payload, "turns")):
        for block_path, block in _blocks(turn, path, "tool_use", "tool_result"):
            call_id = _call_id(block)
            if block["block_type"] == "tool_use":
                called.add(call_id)
            elif call_id not in called and index > 0:
                yield f"{block_path}.content.tool_use_id", f"no call {call_id!r} before it"


@RULES.rule("harmful", fix="give each call a unique id", source=SOURCE)
def call_ids_are_unique(payload: dict[str, Any]) -> Iterator[Broken]:
    """No two calls of one turn may have the same id."""
    for path, turn in objects(payload, "turns"):
        seen: set[Any] = set()
        for block_path, block in _blocks(turn, path, "tool_use"):
            call_id = _call_id(block)
            if isinstance(call_id, str) and call_id in seen:
                yield f"{block_path}.content.tool_use_id", f"duplicate call id {call_id!r}"
            seen.add(call_id if isinstance(call_id, str) else None)


@RULES.rule("refused", fix="give each turn a unique id", source=SOURCE)
def turn_ids_are_unique(payload: dict[str, Any]) -> Iterator[Broken]:
    """No two turns may have the same id."""
    seen: set[Any] = set()
    for path, turn in objects(payload, "turns"):
        turn_id = turn.get("id")
        if isinstance(turn_id, str | int) and turn_id in seen:
            yield f"{path}.id", f"duplicate turn id {turn_id!r}"
        seen.add(turn_id if isinstance(turn_id, str | int) else None)
