"""Rules of formats of files whose messages are like those of Chat Completions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, chat, objects


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
        """A document must have at least one message."""
        if document.get(messages) == []:
            yield f"$.{messages}", "an empty list"
