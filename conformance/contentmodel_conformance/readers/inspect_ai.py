"""A hand-written reader of samples and messages of Inspect AI.

From https://inspect.aisi.org.uk/reference/inspect_ai.model.html and `resolve_sample_attachments` of inspect_ai 0.3.285
(seen 2026-11-23): a model gets the message of a tool's error instead of the content; attachments replace references.
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
    link,
    objects,
)

_ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_MEDIA = ("image", "audio", "video", "document")


def read(kind: str, payload: Any) -> Reading:
    """Return the facts of a list of messages, or of a sample."""
    reading = Reading()
    wires, path = (payload, "$") if isinstance(payload, list) else (payload.get("messages"), "$.messages")
    attachments = payload.get("attachments") if isinstance(payload, dict) else None
    for message_path, message in objects(wires, path):
        _Message(reading, attachments if isinstance(attachments, dict) else {}).read(message, message_path)
    return reading


class _Message:
    def __init__(self, reading: Reading, attachments: dict[str, Any]) -> None:
        self._reading, self._attachments = reading, attachments

    def _whole(self, value: Any) -> Any:
        """Return a text, or the attachment that it refers to."""
        is_reference = isinstance(value, str) and value.startswith("attachment://")
        return self._attachments.get(value.removeprefix("attachment://"), value) if is_reference else value

    def read(self, message: dict[str, Any], path: str) -> None:
        """Read one message."""
        reading, role, content = self._reading, message.get("role"), self._whole(message.get("content"))
        parts = list(objects(content if isinstance(content, list) else [], f"{path}.content"))
        error: Any = message.get("error") if isinstance(message.get("error"), dict) else {}
        if role == "tool":
            if isinstance(content, str):
                reading.result(content, f"{path}.content", alone=True)
            for part_path, part in parts:
                if part.get("type") == "text":
                    reading.result(self._whole(part.get("text")), f"{part_path}.text")
            if isinstance(error.get("message"), str):
                reading.result(error["message"], f"{path}.error.message", alone=True)
                reading.add(FAILED, True, f"{path}.error.type", f"{path}.error")
        else:
            kind = _ROLES.get(role if isinstance(role, str) else "", USER)
            if isinstance(content, str):
                reading.add(kind, content, f"{path}.content", f"{path}.role")
            for part_path, part in parts:
                if part.get("type") == "text" and part.get("refusal") is not True:
                    reading.add(kind, self._whole(part.get("text")), f"{part_path}.text", f"{path}.role")
        for part_path, part in parts:
            self._medium(part, part_path)
        for call_path, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
            reading.call(call.get("function"), call.get("arguments"), f"{call_path}.arguments", f"{call_path}.function")

    def _medium(self, part: dict[str, Any], path: str) -> None:
        kind = part.get("type")
        if kind in _MEDIA and isinstance(part.get(kind), str):
            self._reading.add(MEDIUM, link(self._whole(part[kind])), f"{path}.{kind}")
