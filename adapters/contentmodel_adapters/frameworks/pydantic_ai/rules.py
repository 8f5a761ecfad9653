"""Messages that Pydantic AI refuses to load.

Source: `ModelMessagesTypeAdapter` of pydantic-ai-slim 2.68.0 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.pydantic_ai.values import API

RULES = Rules(API)
SOURCE = "pydantic_ai/messages.py of pydantic-ai-slim 2.68.0"
REQUEST_KINDS = (
    *("system-prompt", "user-prompt", "speech", "tool-return", "retry-prompt", "retry-feedback", "compaction"),
    *("tool-availability-delta", "capability-load-delta", "model-settings-delta"),
    *("instruction-delta", "instruction-baseline"),
)
RESPONSE_KINDS = (
    *("text", "thinking", "tool-call", "builtin-tool-call", "builtin-tool-return", "compaction", "file", "speech"),
)
KINDS = {"request": REQUEST_KINDS, "response": RESPONSE_KINDS}


@RULES.rule("refused", fix="use request or response", source=SOURCE)
def kinds_are_known(document: dict[str, Any]) -> Iterator[Broken]:
    """The kind of a message must be request or response."""
    for path, message in objects(document, "messages"):
        if isinstance(message.get("kind"), str) and message["kind"] not in KINDS:
            yield f"{path}.kind", f"{message['kind']!r:.60}"


@RULES.rule("refused", fix="use a kind of part that such a message may have", source=SOURCE)
def parts_fit_their_message(document: dict[str, Any]) -> Iterator[Broken]:
    """Requests may have only prompts and results; responses only texts, thoughts, calls and files."""
    for path, message in objects(document, "messages"):
        kinds = KINDS.get(message.get("kind", ""), ())
        for at, part in objects(message, "parts", path) if kinds else ():
            if part.get("part_kind") not in kinds:
                yield f"{at}.part_kind", f"{part.get('part_kind')!r:.60} in a {message['kind']}"


@RULES.rule("refused", fix="add the provider's name", source=f"{SOURCE}, UploadedFile")
def files_have_a_provider(document: dict[str, Any]) -> Iterator[Broken]:
    """An uploaded file must have the name of the provider that stores it."""
    for path, message in objects(document, "messages"):
        for at, part in objects(message, "parts", path):
            for where, item in objects(part, "content", at):
                if item.get("kind") == "uploaded-file" and not isinstance(item.get("provider_name"), str):
                    yield f"{where}.provider_name", "missing"
