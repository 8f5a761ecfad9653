"""Model messages that the schemas of the AI SDK refuse.

Source: `prompt/message.ts` and `prompt/content-part.ts` of ai 7.0.173 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.ai_sdk.model.blocks import API

RULES = Rules(API)
SOURCE = "prompt/message.ts of ai 7.0.173"


@RULES.rule("refused", fix="use system, user, assistant or tool", source=SOURCE)
def roles_are_known(payload: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be system, user, assistant or tool."""
    for path, message in objects(payload, "messages"):
        if message.get("role") not in ("system", "user", "assistant", "tool"):
            yield f"{path}.role", f"{message.get('role')!r:.60}"


@RULES.rule("refused", fix="add the content", source=SOURCE)
def contents_have_the_form_of_the_role(payload: dict[str, Any]) -> Iterator[Broken]:
    """The content of a system message must be a text, that of a tool message a list, and any other one of both."""
    forms: dict[Any, tuple[type, ...]] = {"system": (str,), "tool": (list,)}
    for path, message in objects(payload, "messages"):
        if message.get("content").__class__ not in forms.get(message.get("role"), (str, list)):
            yield f"{path}.content", "missing, or of another form"


@RULES.rule("refused", fix="add the field", source="prompt/content-part.ts of ai 7.0.173")
def calls_and_results_have_ids_and_names(payload: dict[str, Any]) -> Iterator[Broken]:
    """Each call and each result must have an id and a name."""
    for path, message in objects(payload, "messages"):
        for place, part in objects(message, "content", path) if isinstance(message.get("content"), list) else ():
            for name in ("toolCallId", "toolName") if part.get("type") in ("tool-call", "tool-result") else ():
                if part.get(name).__class__ is not str:
                    yield f"{place}.{name}", "missing"
