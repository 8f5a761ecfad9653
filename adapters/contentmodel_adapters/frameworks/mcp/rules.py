"""Sampling requests that MCP refuses. Source: the specification of sampling, revision 2025-11-25 (seen 2026-11-23)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.mcp.blocks import API

RULES = Rules(API)
SOURCE = "the specification of sampling, and mcp/server/validation.py of mcp 2.3.0"


def _blocks(message: dict[str, Any], path: str) -> list[tuple[str, dict[str, Any]]]:
    content = message.get("content")
    return [(f"{path}.content", content)] if isinstance(content, dict) else list(objects(message, "content", path))


@RULES.rule("refused", fix="add a limit", source=SOURCE)
def limit_required(request: dict[str, Any]) -> Iterator[Broken]:
    """A request must have a limit of output tokens."""
    if request.get("maxTokens") is None:
        yield "$", "no maxTokens"


@RULES.rule("refused", fix="use user or assistant", source=SOURCE)
def roles_are_known(request: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be user or assistant."""
    for path, message in objects(request, "messages"):
        if message.get("role") not in ("user", "assistant"):
            yield f"{path}.role", f"{message.get('role')!r:.60}"


@RULES.rule("refused", fix="put the results into a separate message", source=SOURCE)
def results_are_alone(request: dict[str, Any]) -> Iterator[Broken]:
    """A message with results must have no other contents."""
    for path, message in objects(request, "messages"):
        kinds = {str(block.get("type")) for _, block in _blocks(message, path)}
        if "tool_result" in kinds and len(kinds) > 1:
            yield f"{path}.content", f"results beside {', '.join(sorted(kinds - {'tool_result'}))}"


@RULES.rule("refused", fix="send one result for each call, in the message after the calls", source=SOURCE)
def calls_have_results(request: dict[str, Any]) -> Iterator[Broken]:
    """The message after calls must have one result for each call, and no other results."""
    called: set[Any] = set()
    for path, message in objects(request, "messages"):
        blocks = _blocks(message, path)
        answered = {str(block.get("toolUseId")) for _, block in blocks if block.get("type") == "tool_result"}
        if called != answered:
            yield path, f"calls {sorted(called)}, results {sorted(answered)}"
        called = {str(block.get("id")) for _, block in blocks if block.get("type") == "tool_use"}
