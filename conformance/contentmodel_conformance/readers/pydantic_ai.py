"""A hand-written reader of messages of Pydantic AI.

From https://ai.pydantic.dev/message-history and the docstrings of pydantic_ai/messages.py (seen 2026-11-23): a request
has system prompts, user prompts and results of tools as parts; a model gets the instructions of the last request.
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
    as_json,
    digest,
    link,
    objects,
)

_ANSWERS_ONLY = ("tool-return", "retry-prompt", "retry-feedback")
_LINKS = ("image-url", "audio-url", "video-url", "document-url")


def read(kind: str, payload: Any) -> Reading:
    """Return the facts of a list of messages, or of an object with such a list."""
    reading = Reading()
    wires, path = (payload, "$") if isinstance(payload, list) else (payload.get("messages"), "$.messages")
    messages = list(objects(wires, path))
    _instructions(reading, [item for item in messages if item[1].get("kind") == "request"])
    for message_path, message in messages:
        for part_path, part in objects(message.get("parts"), f"{message_path}.parts"):
            if message.get("kind") == "request":
                _request_part(reading, part, part_path)
            else:
                _response_part(reading, part, part_path)
    return reading


def _instructions(reading: Reading, requests: list[tuple[str, dict[str, Any]]]) -> None:
    for path, request in reversed(requests[-2:]):
        if isinstance(request.get("instructions"), str):
            reading.add(SYSTEM, request["instructions"], f"{path}.instructions", alone=True)
            return
        if any(part.get("part_kind") not in _ANSWERS_ONLY for _, part in objects(request.get("parts"), "")):
            return


def _request_part(reading: Reading, part: dict[str, Any], path: str) -> None:
    kind, content = part.get("part_kind"), part.get("content")
    if kind in ("system-prompt", "instruction-delta"):
        reading.add(SYSTEM, content, f"{path}.content")
    elif kind == "user-prompt":
        _prompt(reading, content, f"{path}.content")
    elif kind == "tool-return" or (kind == "retry-prompt" and isinstance(part.get("tool_name"), str)):
        _result(reading, part, path)
        if kind == "retry-prompt" or part.get("outcome") in ("failed", "retried"):
            reading.add(FAILED, True, f"{path}.outcome", f"{path}.content", path)
    elif kind in ("retry-prompt", "retry-feedback"):
        reading.add(USER, content if isinstance(content, str) else as_json(content), f"{path}.content")
    elif kind == "speech":
        reading.add(USER, part.get("transcript"), f"{path}.transcript")


def _prompt(reading: Reading, content: Any, path: str) -> None:
    if isinstance(content, str):
        reading.add(USER, content, path)
    for index, item in enumerate(content if isinstance(content, list) else ()):
        at = f"{path}[{index}]"
        if isinstance(item, str):
            reading.add(USER, item, at)
        elif isinstance(item, dict) and item.get("kind") in ("text-content", "structured-content"):
            reading.add(USER, item.get("content"), f"{at}.content")
        else:
            _medium(reading, item, at)


def _medium(reading: Reading, item: Any, path: str) -> bool:
    kind = item.get("kind") if isinstance(item, dict) else None
    if kind == "binary" and isinstance(item.get("data"), str):
        reading.add(MEDIUM, digest(item["data"]), f"{path}.data")
    elif kind in _LINKS and isinstance(item.get("url"), str):
        reading.add(MEDIUM, link(item["url"]), f"{path}.url")
    else:
        return False
    return True


def _result(reading: Reading, part: dict[str, Any], path: str) -> None:
    content = part.get("content")
    if isinstance(content, list) and not any(_is_file(item) for item in content):
        texts = [item for item in content if isinstance(item, str)]
        if len(texts) < len(content) or not content:
            # A list without a file is one JSON value.
            reading.result(content, f"{path}.content")
            return
    for index, item in enumerate(content if isinstance(content, list) else [content]):
        at = f"{path}.content[{index}]" if isinstance(content, list) else f"{path}.content"
        if item is not None and not (_is_file(item) and _medium(reading, item, at)):
            reading.result(item, at, alone=isinstance(content, str))


def _is_file(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    has_type = isinstance(item.get("media_type", 0), str | None)
    return item.get("kind") in ("binary", *_LINKS) and has_type and ("data" in item or "url" in item)


def _response_part(reading: Reading, part: dict[str, Any], path: str) -> None:
    kind = part.get("part_kind")
    if kind == "text":
        reading.add(ASSISTANT, part.get("content"), f"{path}.content")
    elif kind == "tool-call":
        args = part.get("args")
        reading.call(part.get("tool_name"), {} if args is None else args, f"{path}.args", f"{path}.tool_name")
    elif kind == "builtin-tool-return":
        for index, item in enumerate(part["content"] if isinstance(part.get("content"), list) else ()):
            if _is_file(item):
                _medium(reading, item, f"{path}.content[{index}]")
    elif kind == "file" and isinstance(part.get("content"), dict):
        reading.add(MEDIUM, digest(part["content"].get("data")), f"{path}.content.data")
    elif kind == "speech":
        reading.add(ASSISTANT, part.get("transcript"), f"{path}.transcript")
