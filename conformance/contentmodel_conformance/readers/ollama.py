"""A hand-written reader of Ollama's /api/chat.

From https://docs.ollama.com/api/chat and the types of ollama 0.6 (seen 2026-11-26): a message has one text and a list
of images. A message of the role `tool` is the result of one call. An answer with calls ends with "stop", too.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    ENDED,
    FINISH,
    INPUT,
    LENGTH,
    MEDIUM,
    OUTPUT,
    SYSTEM,
    USER,
    Reading,
    digest,
    neutral,
    number_at,
    objects,
)

_ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_STOPS = {"stop": ENDED, "length": LENGTH}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a request or a response."""
    reading = Reading()
    if kind == "request":
        for path, message in objects(payload.get("messages"), "$.messages"):
            _message(reading, message, path)
        return reading
    for path, message in objects(payload.get("message"), "$.message"):
        _message(reading, message, path)
    if isinstance(payload.get("done_reason"), str):
        reading.add(FINISH, neutral(_STOPS, payload["done_reason"]), "$.done_reason")
    for counter, name in ((INPUT, "prompt_eval_count"), (OUTPUT, "eval_count")):
        reading.add(counter, number_at(payload, name), f"$.{name}")
    return reading


def _message(reading: Reading, message: dict[str, Any], path: str) -> None:
    role, text = message.get("role", ""), message.get("content")
    if isinstance(text, str) and text and role == "tool":
        reading.result(text, f"{path}.content", f"{path}.role", alone=True)
    elif isinstance(text, str):
        reading.add(_ROLES.get(role, USER), text, f"{path}.content", f"{path}.role", alone=True)
    images = message.get("images")
    for index, image in enumerate(images if isinstance(images, list) else ()):
        reading.add(MEDIUM, digest(image), f"{path}.images[{index}]")
    for call_path, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
        for function_path, function in objects(call.get("function"), f"{call_path}.function"):
            name, arguments = function.get("name"), function.get("arguments") or {}
            reading.call(name, arguments, f"{function_path}.arguments", f"{function_path}.name")
