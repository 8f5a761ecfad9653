"""Messages that LangChain refuses or that models refuse. Source: langchain-core 1.7.2, messages (seen 2026-11-23)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.langchain.blocks import API

RULES = Rules(API)
SOURCE = "langchain-core 1.7.2, messages"


def _bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, message in objects(document, "messages"):
        key = next((key for key in ("kwargs", "data") if isinstance(message.get(key), dict)), None)
        yield (path, message) if key is None else (f"{path}.{key}", message[key])


@RULES.rule("refused", fix="add the content, or an empty string", source=f"{SOURCE}, base.py")
def messages_have_contents(document: dict[str, Any]) -> Iterator[Broken]:
    """The content of a message must be a string or a list."""
    for path, body in _bodies(document):
        if not isinstance(body.get("content"), str | list):
            yield f"{path}.content", "missing" if "content" not in body else f"{body['content']!r:.60}"


@RULES.rule("harmful", fix="put the result after its call", source=f"{SOURCE}, tool.py")
def results_follow_their_calls(document: dict[str, Any]) -> Iterator[Broken]:
    """A result must follow the call with its id: models refuse it otherwise."""
    called: set[Any] = set()
    for path, body in _bodies(document):
        for _, call in (*objects(body, "tool_calls"), *objects(body, "invalid_tool_calls")):
            called.add(call.get("id") if isinstance(call.get("id"), str) else None)
        call_id = body.get("tool_call_id")
        if isinstance(call_id, str) and call_id not in called:
            yield f"{path}.tool_call_id", f"no call {call_id!r:.60} before it"
