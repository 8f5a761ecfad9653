"""UI messages that the validation of the AI SDK refuses.

Source: `ui/validate-ui-messages.ts` of ai 7.0.173 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.ai_sdk.ui.blocks import API

RULES = Rules(API)
SOURCE = "ui/validate-ui-messages.ts of ai 7.0.173"


@RULES.rule("refused", fix="add a message", source=SOURCE)
def messages_are_not_empty(payload: dict[str, Any]) -> Iterator[Broken]:
    """A list must have at least one message."""
    if payload.get("messages") == []:
        yield "$.messages", "an empty list"


@RULES.rule("refused", fix="add the id", source=SOURCE)
def messages_have_ids(payload: dict[str, Any]) -> Iterator[Broken]:
    """Each message must have an id."""
    for path, message in objects(payload, "messages"):
        if message.get("id").__class__ is not str:
            yield f"{path}.id", "missing"


@RULES.rule("refused", fix="use system, user or assistant", source=SOURCE)
def roles_are_known(payload: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be system, user or assistant."""
    for path, message in objects(payload, "messages"):
        if message.get("role") not in ("system", "user", "assistant"):
            yield f"{path}.role", f"{message.get('role')!r:.60}"


@RULES.rule("refused", fix="add a part", source=SOURCE)
def messages_have_parts(payload: dict[str, Any]) -> Iterator[Broken]:
    """System and user messages must have at least one part."""
    for path, message in objects(payload, "messages"):
        if message.get("role") != "assistant" and message.get("parts") == []:
            yield f"{path}.parts", "an empty list"
