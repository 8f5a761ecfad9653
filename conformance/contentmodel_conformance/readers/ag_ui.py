"""A hand-written reader of the messages of AG-UI, from the types of ag-ui-protocol 1.0.0 (seen 2026-11-23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    FAILED,
    MEDIUM,
    SYSTEM,
    USER,
    Reading,
    digest,
    link,
    objects,
    texts,
)

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": ASSISTANT}
_MEDIA = ("image", "audio", "video", "document")
_SOURCES: dict[str, Callable[[Any], Any]] = {"data": digest, "url": link, "file": lambda value: value}


def read(kind: str, payload: Any) -> Reading:
    """Return the facts of the input of a run, or of a list of messages."""
    reading = Reading()
    is_list = isinstance(payload, list)
    for path, message in objects(payload if is_list else payload.get("messages"), "$" if is_list else "$.messages"):
        role = message.get("role")
        if role in ("reasoning", "activity"):
            continue
        _content(reading, message.get("content"), f"{path}.content", role, f"{path}.role")
        if role == "tool" and message.get("error"):
            reading.add(FAILED, True, f"{path}.error")
            if message["error"] not in (_joined(message.get("content")), "The tool failed."):
                reading.result(message["error"], f"{path}.error")
        for call_path, call in objects(message.get("toolCalls"), f"{path}.toolCalls"):
            function, at = call.get("function"), f"{call_path}.function"
            if isinstance(function, dict):
                reading.call(function.get("name"), function.get("arguments"), f"{at}.arguments", f"{at}.name")
    return reading


def _joined(content: Any) -> str:
    return "".join(text for _, text in texts(content, "", ("text",)))


def _content(reading: Reading, content: Any, path: str, role: Any, role_path: str) -> None:
    if isinstance(content, str):
        _text(reading, content, path, role, role_path, alone=role in ("system", "developer"))
    for part_path, part in objects(content if isinstance(content, list) else [], path):
        source, kind = part.get("source"), part.get("type")
        if kind == "text":
            _text(reading, part.get("text"), f"{part_path}.text", role, role_path)
        elif kind in _MEDIA and isinstance(source, dict) and source.get("type") in _SOURCES:
            reading.add(MEDIUM, _SOURCES[source["type"]](source.get("value")), f"{part_path}.source.value")
        elif kind == "binary":
            key = "data" if "data" in part else "url"
            reading.add(MEDIUM, digest(part["data"]) if key == "data" else link(part.get(key)), f"{part_path}.{key}")


def _text(reading: Reading, text: Any, path: str, role: Any, role_path: str, *, alone: bool = False) -> None:
    if role == "tool":
        reading.result(text, path, role_path)
    else:
        reading.add(_ROLES.get(role, USER), text, path, role_path, alone=alone)
