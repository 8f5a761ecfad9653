"""Rules of APIs and formats of files whose messages are like those of Chat Completions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, chat, objects
from contentmodel_adapters.common.rule_helpers import Declare


def declare(rules: Rules, roles: Collection[str], source: str) -> None:
    """Declare the rules of roles, calls and results."""
    declare_roles(rules, roles, source)
    chat.declare_results(rules, source)


def declare_roles(
    rules: Rules, roles: Collection[str], source: str, *, messages: str = "messages", key: str = "role"
) -> None:
    """Declare that a document has messages, and that each has one of `roles` in its field `key`."""

    @rules.rule("refused", fix=f"use one of {', '.join(roles)}", source=source)
    def roles_are_known(document: dict[str, Any]) -> Iterator[Broken]:
        """Each message must have one of the roles of the format."""
        for path, message in objects(document, messages):
            role = message.get(key)
            if isinstance(role, str) and role not in roles:
                yield f"{path}.{key}", f"the role {role!r:.60}"

    @rules.rule("refused", fix="add a message", source=source)
    def messages_required(document: dict[str, Any]) -> Iterator[Broken]:
        """There must be at least one message."""
        if document.get(messages) == []:
            yield f"$.{messages}", "an empty list"


def declare_pairs(rule: Declare, *, calls: str, results: str) -> None:
    """Declare that the results of a message's calls follow it at once. `calls` and `results` are the sources."""

    @rule("refused", models=None, fix="add a tool message after it", source=calls)
    def calls_have_results(request: dict[str, Any]) -> Iterator[Broken]:
        """Each call of an assistant message must be answered by a tool message before any other message."""
        unanswered: dict[str, str] = {}
        for at, message in [*objects(request, "messages"), ("$", {"role": "end"})]:
            if message.get("role") != "tool":
                yield from ((path, f"{call_id!r:.60} has no result") for call_id, path in unanswered.items())
                unanswered = {call_id: path for path, call_id in call_ids(message, at)}
            for _, call_id in result_id(message, at):
                unanswered.pop(call_id, None)

    @rule("refused", models=None, fix="move it after its call", source=results)
    def results_follow_their_calls(request: dict[str, Any]) -> Iterator[Broken]:
        """A tool message must answer a call of the assistant message before it, with no other message in between."""
        called: set[str] = set()
        for at, message in objects(request, "messages"):
            if message.get("role") != "tool":
                called = {call_id for _, call_id in call_ids(message, at)}
            for path, call_id in result_id(message, at):
                if call_id not in called:
                    yield path, f"no call {call_id!r:.60} before it"


def call_ids(message: dict[str, Any], at: str) -> Iterator[Broken]:
    """Yield the ids of the calls of a message, each with its path."""
    for path, call in objects(message, "tool_calls", at):
        if isinstance(call.get("id"), str):
            yield f"{path}.id", call["id"]


def result_id(message: dict[str, Any], at: str) -> Iterator[Broken]:
    """Yield the id of the call that a tool message answers, with its path."""
    if message.get("role") == "tool" and isinstance(message.get("tool_call_id"), str):
        yield f"{at}.tool_call_id", message["tool_call_id"]
