"""A hand-written reader of LangChain's messages.

From https://docs.langchain.com/oss/python/langchain/messages and the docstrings of langchain_core/messages (seen
2026-11-23): a model's calls are in `tool_calls`, and those with invalid arguments in `invalid_tool_calls`; blocks of
the content may repeat them. Each result is a message of its own, with a status.
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

_ROLES = {"system": SYSTEM, "ai": ASSISTANT}
_MEDIA = ("image", "audio", "video", "file", "text-plain")
_OF_BEDROCK = ("image", "document", "video", "audio")


def read(kind: str, payload: Any) -> Reading:
    """Return the facts of a list of messages, or of an object with such a list."""
    reading = Reading()
    wires, path = (payload, "$") if isinstance(payload, list) else (payload.get("messages"), "$.messages")
    for message_path, message in objects(wires, path):
        key = next((key for key in ("data", "kwargs") if isinstance(message.get(key), dict)), None)
        body, body_path = (message, message_path) if key is None else (message[key], f"{message_path}.{key}")
        _message(reading, body, body_path, body.get("type") or message.get("type"))
    return reading


def _message(reading: Reading, body: dict[str, Any], path: str, kind: Any) -> None:
    content, word = body.get("content"), str(kind).removesuffix("MessageChunk").lower()
    role = f"{path}.role" if word == "chat" else f"{path}.type"
    sort = _ROLES.get(word, ASSISTANT if body.get("role") == "assistant" else USER)
    if word in ("tool", "function") and body.get("status") == "error":
        reading.add(FAILED, True, f"{path}.status")
    for block_path, block in _blocks(content, f"{path}.content"):
        text = block.get("text") if block.get("type", "text") == "text" else None
        if isinstance(text, str):
            at = f"{path}.content" if isinstance(content, str) else f"{block_path}.text"
            if word in ("tool", "function"):
                reading.result(text, at, f"{path}.status")
            else:
                reading.add(sort, text, at, role)
        else:
            _medium(reading, block, block_path)
    # A custom tool of OpenAI is called with a text. The list repeats its call as that of a function.
    blocks = [block.get("value", block) for _, block in _blocks(content, "")]
    custom = [block.get("call_id") for block in blocks if block.get("type") == "custom_tool_call"]
    for name in ("tool_calls", "invalid_tool_calls"):
        for call_path, call in objects(body.get(name), f"{path}.{name}"):
            if call.get("id") in custom:
                continue
            reading.call(call.get("name"), call.get("args"), f"{call_path}.args", f"{call_path}.name")


def _blocks(content: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(content, str):
        return [(path, {"type": "text", "text": content})]
    items = enumerate(content if isinstance(content, list) else ())
    return [
        (f"{path}[{at}]", {"type": "text", "text": item} if isinstance(item, str) else item)
        for at, item in items
        if isinstance(item, str | dict)
    ]


def _medium(reading: Reading, block: dict[str, Any], path: str) -> None:
    form = block.get("type")
    if form in _MEDIA:
        _standard(reading, block, path)
    elif form == "media":
        reading.add(MEDIUM, digest(block.get("data")), f"{path}.data")
        reading.add(MEDIUM, link(block.get("file_uri")), f"{path}.file_uri")
    elif form == "image_url":
        value = block.get(form)
        if isinstance(value, dict):
            reading.add(MEDIUM, link(value.get("url")), f"{path}.{form}.url")
        else:
            reading.add(MEDIUM, link(value), f"{path}.{form}")
    elif form is None:
        for kind in _OF_BEDROCK:
            medium = block.get(kind)
            source = medium.get("source") if isinstance(medium, dict) else None
            if isinstance(source, dict):
                reading.add(MEDIUM, digest(source.get("bytes")), f"{path}.{kind}.source.bytes")


def _standard(reading: Reading, block: dict[str, Any], path: str) -> None:
    if isinstance(block.get("base64"), str):
        reading.add(MEDIUM, digest(block["base64"]), f"{path}.base64")
    elif isinstance(block.get("url"), str):
        reading.add(MEDIUM, link(block["url"]), f"{path}.url")
    elif isinstance(block.get("file_id"), str):
        reading.add(MEDIUM, block["file_id"], f"{path}.file_id")
    elif isinstance(block.get("text"), str):
        reading.add(MEDIUM, digest_of_bytes(block["text"].encode("utf-8", "surrogatepass")), f"{path}.text")
