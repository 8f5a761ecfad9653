"""Rules of recorded messages: which ones the JSON Schemas of the conventions refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.otel.values import API

RULES = Rules(API)
SOURCE = "gen-ai-input-messages.json of open-telemetry/semantic-conventions-genai, seen 2026-11-23"
REQUIRED = {
    "text": ("content",),
    "tool_call": ("name",),
    "tool_call_response": ("response",),
    "server_tool_call": ("name", "server_tool_call"),
    "server_tool_call_response": ("server_tool_call_response",),
    "blob": ("modality", "content"),
    "file": ("modality", "file_id"),
    "uri": ("modality", "uri"),
    "reasoning": ("content",),
}
"""The required fields of a part, by type."""


@RULES.rule("harmful", fix="add it", source=SOURCE)
def parts_have_required_fields(payload: dict[str, Any]) -> Iterator[Broken]:
    """A part must have the fields that its type requires."""
    for path, message in objects(payload, "gen_ai.input.messages"):
        for part_path, part in objects(message, "parts", path):
            kind = part.get("type")
            for name in REQUIRED.get(kind, ()) if isinstance(kind, str) else ():
                if name not in part:
                    yield f"{part_path}.{name}", "missing"
