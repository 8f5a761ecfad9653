"""Hand-written readers of the messages of Vercel's AI SDK.

From https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message and /model-message, and `convertToModelMessages` of ai
7.0.173 (seen 2026-11-23): a tool part is a call, and its result if it has one.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    FAILED,
    MEDIUM,
    SYSTEM,
    USER,
    Reading,
    digest,
    digest_of_bytes,
    link,
    objects,
)

_ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_DENIED = "Tool call execution denied."


def read_ui(kind: str, payload: Any) -> Reading:
    """Return the facts of UI messages: a list, or an object with the list."""
    reading = Reading()
    is_list = isinstance(payload, list)
    messages = payload if is_list else payload.get("messages")
    for path, message in objects(messages, "$" if is_list else "$.messages"):
        for part_path, part in objects(message.get("parts"), f"{path}.parts"):
            _part(reading, part, part_path, message.get("role", ""), f"{path}.role")
    return reading


def _is_compaction(part: dict[str, Any], field: str) -> bool:
    """Return whether a text is the summary of a compaction, which is no text in Anthropic Messages."""
    of_providers = part.get(field)
    of_anthropic = of_providers.get("anthropic") if isinstance(of_providers, dict) else None
    return isinstance(of_anthropic, dict) and of_anthropic.get("type") == "compaction"


def _part(reading: Reading, part: dict[str, Any], path: str, role: str, role_path: str) -> None:
    kind = part.get("type")
    if not isinstance(kind, str) or _is_compaction(part, "providerMetadata"):
        return
    if kind == "text":
        reading.add(_ROLES.get(role, USER), part.get("text"), f"{path}.text", role_path)
    elif kind in ("file", "reasoning-file"):
        reading.add(MEDIUM, link(part.get("url")), f"{path}.url")
    elif kind == "steering-message":
        for inner_path, inner in objects(part.get("parts"), f"{path}.parts"):
            _part(reading, inner, inner_path, "user", f"{path}.type")
    elif kind == "dynamic-tool" or kind.startswith("tool-"):
        _tool(reading, part, path, kind)


def _tool(reading: Reading, part: dict[str, Any], path: str, kind: str) -> None:
    if part.get("providerExecuted") is True:
        # The other readers count no calls of hosted tools.
        return
    name, name_path = (part.get("toolName"), "toolName") if kind == "dynamic-tool" else (kind[5:], "type")
    reading.call(name, part.get("input"), f"{path}.input", f"{path}.{name_path}")
    state, approval = part.get("state"), part.get("approval")
    is_refused = isinstance(approval, dict) and approval.get("approved") is False
    if state == "output-available":
        _output(reading, part.get("output"), f"{path}.output")
    elif state == "output-error":
        reading.result(part.get("errorText"), f"{path}.errorText", alone=True)
        reading.add(FAILED, True, f"{path}.state")
    elif state in ("output-denied", "approval-responded") and isinstance(approval, dict) and is_refused:
        reason = approval.get("reason")
        reading.result(_DENIED if reason is None else reason, f"{path}.approval.reason")
        reading.add(FAILED, True, f"{path}.state")


def _output(reading: Reading, output: Any, path: str) -> None:
    """Add the texts and media of an output: a text, any JSON, or the result of an MCP tool."""
    is_result = isinstance(output, dict) and output.get("isError", True) is True
    blocks = output.get("content") if is_result else None
    types = {"text", "image", "audio", "resource_link"}
    if blocks and isinstance(blocks, list) and all(isinstance(b, dict) and b.get("type") in types for b in blocks):
        reading.add(FAILED, "isError" in output or None, f"{path}.isError")
        for block_path, block in objects(blocks, f"{path}.content"):
            if block["type"] == "text":
                reading.result(block.get("text"), f"{block_path}.text")
            elif block["type"] == "resource_link":
                reading.add(MEDIUM, block.get("uri"), f"{block_path}.uri")
            else:
                reading.add(MEDIUM, digest(block.get("data")), f"{block_path}.data")
    elif output is not None:
        reading.result(output, path)


def read_model(kind: str, payload: Any) -> Reading:
    """Return the facts of model messages: a list, or an object with the list."""
    reading = Reading()
    is_list = isinstance(payload, list)
    messages = payload if is_list else payload.get("messages")
    for path, message in objects(messages, "$" if is_list else "$.messages"):
        role, content = message.get("role", ""), message.get("content")
        if isinstance(content, str):
            reading.add(_ROLES.get(role, USER), content, f"{path}.content", f"{path}.role", alone=role == "system")
        for part_path, part in objects(content if isinstance(content, list) else [], f"{path}.content"):
            _model_part(reading, part, part_path, role, f"{path}.role")
    return reading


def _model_part(reading: Reading, part: dict[str, Any], path: str, role: str, role_path: str) -> None:
    kind = part.get("type")
    if _is_compaction(part, "providerOptions"):
        return
    if kind == "text":
        reading.add(_ROLES.get(role, USER), part.get("text"), f"{path}.text", role_path)
    elif kind in ("file", "reasoning-file", "image"):
        _file(reading, part, path, "image" if kind == "image" else "data")
    elif kind == "tool-call" and part.get("providerExecuted") is not True:
        reading.call(part.get("toolName"), part.get("input"), f"{path}.input", f"{path}.toolName")
    elif kind == "tool-result" and role == "tool" and isinstance(part.get("output"), dict):
        _model_output(reading, part["output"], f"{path}.output")


def _file(reading: Reading, part: dict[str, Any], path: str, key: str) -> None:
    """Add a file: base64, an address, or an object with either."""
    data = part.get(key)
    if isinstance(data, str):
        reading.add(MEDIUM, link(data) if ":" in data else digest(data), f"{path}.{key}")
    elif isinstance(data, dict) and data.get("type") == "url":
        reading.add(MEDIUM, link(data.get("url")), f"{path}.{key}.url")
    elif isinstance(data, dict) and data.get("type") == "data":
        reading.add(MEDIUM, digest(data.get("data")), f"{path}.{key}.data")
    elif isinstance(data, dict) and isinstance(data.get("text"), str):
        reading.add(MEDIUM, digest_of_bytes(data["text"].encode("utf-8", "surrogatepass")), f"{path}.{key}.text")


def _model_output(reading: Reading, output: dict[str, Any], path: str) -> None:
    form, value = output.get("type"), output.get("value")
    if form in ("error-text", "error-json", "execution-denied"):
        reading.add(FAILED, True, f"{path}.type")
    if form == "execution-denied":
        reason = output.get("reason")
        reading.result(_DENIED if reason is None else reason, f"{path}.reason", alone=True)
    elif form == "content":
        for part_path, part in objects(value, f"{path}.value"):
            if part.get("type") == "text":
                reading.result(part.get("text"), f"{part_path}.text")
            elif part.get("type") == "file":
                _file(reading, part, part_path, "data")
            elif part.get("type") in ("file-data", "image-data", "media"):
                reading.add(MEDIUM, digest(part.get("data")), f"{part_path}.data")
            elif part.get("type") in ("file-url", "image-url"):
                reading.add(MEDIUM, link(part.get("url")), f"{part_path}.url")
    elif value is not None:
        reading.result(value, f"{path}.value", alone=form == "error-text")
