"""Hand-written readers of rows of data sets with conversations.

`messages` from https://huggingface.co/docs/transformers/chat_templating and chat_templating_multimodal, and
https://huggingface.co/docs/trl/dataset_formats (seen 2026-11-23). Arrow adds null members to objects: they are not
arguments. The roles `tool_call` and `tool_response` are those of ms-swift
(https://swift.readthedocs.io/en/latest/Instruction/Agent-support.html, seen 2026-11-27).

`conversations` from data/README.md of hiyouga/LLaMA-Factory, and its
src/llamafactory/v1/plugins/data_plugins/converter.py (seen 2026-11-23).
"""

from __future__ import annotations

import json
import re
from collections import Counter
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
        calls = _calls(content) if role == "tool_call" else None
        for call in calls or ():
            reading.call(call["name"], call["arguments"], f"{path}.content")
        for part_path, text in texts(content, f"{path}.content", ["text"]) if calls is None else ():
            if role in ("tool", "tool_response"):
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


_SPEAKERS = {
    "system": SYSTEM,
    "human": USER,
    "user": USER,
    "gpt": ASSISTANT,
    "assistant": ASSISTANT,
    "function_call": ASSISTANT,
}
_LISTS = {"image": "images", "video": "videos", "audio": "audios"}
_PLACEHOLDERS = re.compile("<(image|video|audio)>")


def read_conversations(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a document with `conversations`."""
    reading = Reading()
    reading.add(SYSTEM, payload.get("system"), "$.system")
    media = _listed(payload)
    for path, message in objects(payload.get("conversations"), "$.conversations"):
        role, value, at = message.get("from"), message.get("value"), f"{path}.value"
        calls = _calls(value) if role == "function_call" else None
        for call in calls or ():
            reading.call(call["name"], call["arguments"], at)
        for text in _texts(value, media) if calls is None and isinstance(value, str) else ():
            if role in ("observation", "tool", "observations", "function_response"):
                reading.result(text, at, alone=True)
            else:
                reading.add(_SPEAKERS.get(str(role), USER), text, at, f"{path}.from", alone=True)
    for kind_of_media in media:
        name = _LISTS[kind_of_media]
        for index, item in enumerate(payload[name]):
            reading.add(MEDIUM, link(item), f"$.{name}[{index}]")
    return reading


def _calls(value: Any) -> list[dict[str, Any]] | None:
    try:
        calls = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
    calls = calls if isinstance(calls, list) else [calls]
    are_calls = calls and all(
        isinstance(call, dict) and isinstance(call.get("name"), str) and isinstance(call.get("arguments"), dict | str)
        for call in calls
    )
    return calls if are_calls else None


def _listed(payload: dict[str, Any]) -> list[str]:
    """Return the kinds of media whose list has one string for each placeholder, all of them in usual values."""
    counts: Counter[str] = Counter()
    fixed: set[str] = set()
    for _, message in objects(payload.get("conversations"), "$"):
        value = message.get("value")
        kinds = _PLACEHOLDERS.findall(value) if isinstance(value, str) else []
        counts.update(kinds)
        fixed.update(kinds if message.get("from") in ("system", "function_call") else ())
    lists = {kind: payload.get(name) for kind, name in _LISTS.items()}
    return [
        kind
        for kind, items in lists.items()
        if isinstance(items, list)
        and len(items) == counts[kind]
        and kind not in fixed
        and all(isinstance(item, str) for item in items)
    ]


def _texts(value: str, media: list[str]) -> list[str]:
    """Return the texts between the placeholders of media."""
    return re.split("|".join(f"<{kind}>" for kind in media), value) if media else [value]


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
