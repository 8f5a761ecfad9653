"""Hand-written readers of rows of data sets with conversations.

`messages` from https://huggingface.co/docs/transformers/chat_templating and chat_templating_multimodal, and
https://huggingface.co/docs/trl/dataset_formats (seen 2026-11-23). Arrow adds null members to objects: they are not
arguments.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    MEDIUM,
    SYSTEM,
    USER,
    Reading,
    digest,
    first,
    link,
    objects,
    texts,
)

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": ASSISTANT}
_MEDIA = ("image", "audio", "video")


def read_messages(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a row with `messages`."""
    reading = Reading()
    for path, message in objects(payload.get("messages"), "$.messages"):
        role, content = message.get("role", ""), message.get("content")
        for part_path, text in texts(content, f"{path}.content", ["text"]):
            if role == "tool":
                reading.result(text, part_path)
            else:
                reading.add(_ROLES.get(role, USER), text, part_path, f"{path}.role")
        for part_path, part in objects(content, f"{path}.content"):
            _medium(reading, part, part_path)
        for call_path, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
            key = "function" if isinstance(call.get("function"), dict) else ""
            function, at = (call[key], f"{call_path}.{key}") if key else (call, call_path)
            arguments = _without_nulls(function.get("arguments"))
            reading.call(function.get("name"), arguments, f"{at}.arguments", f"{at}.name")
    return reading


def _medium(reading: Reading, part: dict[str, Any], path: str) -> None:
    kind = part.get("type")
    if kind == "image_url" and isinstance(part.get(kind), dict):
        reading.add(MEDIUM, link(part[kind].get("url")), f"{path}.image_url.url")
    elif kind in _MEDIA:
        key, value = first(part, "url", "path", "base64", kind)
        reading.add(MEDIUM, digest(value) if key == "base64" else link(value), f"{path}.{key}")


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value
