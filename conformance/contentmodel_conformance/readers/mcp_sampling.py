"""A hand-written reader of MCP sampling, from its specification of 2025-11-25 (seen 2026-11-23)."""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    FAILED,
    FAILURE,
    FILTERED,
    FINISH,
    LENGTH,
    MEDIUM,
    PAUSED,
    STOP,
    SYSTEM,
    TOOL_CALLS,
    USER,
    Reading,
    digest,
    neutral,
    objects,
)

_ENDINGS = {
    "endTurn": STOP,
    "stopSequence": STOP,
    "maxTokens": LENGTH,
    "toolUse": TOOL_CALLS,
    # Any other text is allowed.
    "content_filter": FILTERED,
    "refusal": FILTERED,
    "pause": PAUSED,
    "error": FAILURE,
}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of the parameters of a request, or of its result."""
    reading = Reading()
    if kind == "response":
        content = payload.get("content")
        for path, block in objects(content, "$.content"):
            _block(reading, block, path, ASSISTANT, "$.role", alone=content is block)
        reading.add(FINISH, neutral(_ENDINGS, payload.get("stopReason")), "$.stopReason")
        return reading
    reading.add(SYSTEM, payload.get("systemPrompt"), "$.systemPrompt", alone=True)
    for path, message in objects(payload.get("messages"), "$.messages"):
        role = ASSISTANT if message.get("role") == "assistant" else USER
        for block_path, block in objects(message.get("content"), f"{path}.content"):
            _block(reading, block, block_path, role, f"{path}.role")
    return reading


def _block(
    reading: Reading, block: dict[str, Any], path: str, role: str, role_path: str, *, alone: bool = False
) -> None:
    match block.get("type"):
        case "text":
            reading.add(role, block.get("text"), f"{path}.text", role_path, alone=alone)
        case "image" | "audio":
            reading.add(MEDIUM, digest(block.get("data")), f"{path}.data")
        case "tool_use":
            reading.call(block.get("name"), block.get("input"), f"{path}.input", f"{path}.name")
        case "tool_result":
            if block.get("isError") is True:
                reading.add(FAILED, True, f"{path}.isError")
            for output_path, output in objects(block.get("content"), f"{path}.content"):
                _output(reading, output, output_path)


def _output(reading: Reading, block: dict[str, Any], path: str) -> None:
    resource = block.get("resource")
    match block.get("type"):
        case "text":
            reading.result(block.get("text"), f"{path}.text")
        case "image" | "audio":
            reading.add(MEDIUM, digest(block.get("data")), f"{path}.data")
        case "resource_link":
            reading.add(MEDIUM, block.get("uri"), f"{path}.uri")
        case "resource" if isinstance(resource, dict):
            if "text" in resource:
                reading.result(resource["text"], f"{path}.resource.text")
            reading.add(MEDIUM, digest(resource.get("blob")), f"{path}.resource.blob")
