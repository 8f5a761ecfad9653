"""Rules of formats whose messages are like those of Chat Completions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects, objects_along


def functions_of(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the functions of the tools, and those of the calls, each with its path."""
    yield from objects_along(request, "tools", "function")
    yield from objects_along(request, "messages", "tool_calls", "function")


def declare_model(
    rules: Rules, source: str, *, fix: str = "name the model", missing: Collection[str | None] = (None,)
) -> None:
    """Declare that a request names its model. The values in `missing` are no names."""

    @rules.rule("refused", fix=fix, source=source)
    def model_required(request: dict[str, Any]) -> Iterator[Broken]:
        """A request must name its model."""
        if request.get("model") in missing:
            yield "$", "no model"


def declare(rules: Rules, roles: Collection[str], source: str) -> None:
    """Declare the rules of roles, calls and results."""
    declare_roles(rules, roles, source)
    declare_results(rules, source)


def declare_results(rules: Rules, source: str) -> None:
    """Declare that a result follows its call."""

    @rules.rule("harmful", fix="put the call before its result", source=source)
    def results_follow_their_calls(document: dict[str, Any]) -> Iterator[Broken]:
        """A result with an id must follow the call with that id."""
        called: set[Any] = set()
        for path, message in objects(document, "messages"):
            called.update(str(call.get("id")) for _, call in objects(message, "tool_calls"))
            call_id = message.get("tool_call_id")
            if message.get("role") == "tool" and isinstance(call_id, str) and call_id not in called:
                yield f"{path}.tool_call_id", f"no call {call_id!r:.60} before it"


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
        """A document must have at least one message."""
        if document.get(messages) == []:
            yield f"$.{messages}", "an empty list"
