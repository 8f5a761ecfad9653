"""Samples and messages that Inspect AI refuses to load.

Source: the pydantic models of inspect_ai 0.3.285 (_util/content.py, model/_chat_message.py; seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.inspect.values import API

RULES = Rules(API)
SOURCE = "inspect_ai 0.3.285"
KNOWN_ROLES = ("system", "user", "assistant", "tool")
REQUIRED: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "reasoning": ("reasoning",),
    "image": ("image",),
    "audio": ("audio", "format"),
    "video": ("video", "format"),
    "document": ("document",),
    "tool_use": ("tool_type", "id", "name", "arguments", "result"),
    "data": ("data",),
}
"""The required fields of the parts of a message."""
VALUES = {
    ("audio", "format"): ("wav", "mp3"),
    ("video", "format"): ("mp4", "mpeg", "mov"),
    ("image", "detail"): ("auto", "low", "high", "original"),
    ("tool_use", "tool_type"): ("web_search", "mcp_call", "code_execution"),
}
ERRORS = (
    *("parsing", "timeout", "unicode_decode", "permission", "file_not_found", "is_a_directory", "limit", "approval"),
    *("cancelled", "sandbox_unavailable", "unknown", "output_limit"),
)


@RULES.rule("refused", fix="use system, user, assistant or tool", source=f"{SOURCE}, model/_chat_message.py")
def roles_are_known(sample: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be system, user, assistant or tool."""
    for path, message in objects(sample, "messages"):
        if isinstance(message.get("role"), str) and message["role"] not in KNOWN_ROLES:
            yield f"{path}.role", f"{message['role']!r:.60}"


@RULES.rule("refused", fix="add the content, or an empty string", source=f"{SOURCE}, model/_chat_message.py")
def messages_have_contents(sample: dict[str, Any]) -> Iterator[Broken]:
    """The content of a message must be a string or a list."""
    for path, message in objects(sample, "messages"):
        if not isinstance(message.get("content"), str | list):
            yield f"{path}.content", "missing" if "content" not in message else f"{message['content']!r:.60}"


def _parts(sample: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    for path, message in objects(sample, "messages"):
        for at, part in objects(message, "content", path):
            kind = part.get("type")
            if isinstance(kind, str):
                yield at, part, kind


@RULES.rule("refused", fix="use a type of content that Inspect has", source=f"{SOURCE}, _util/content.py")
def parts_are_known(sample: dict[str, Any]) -> Iterator[Broken]:
    """The parts of a message must have known types and their required fields."""
    for path, part, kind in _parts(sample):
        if kind not in REQUIRED:
            yield f"{path}.type", f"{kind!r:.60}"
        for name in REQUIRED.get(kind, ()):
            if part.get(name) is None:
                yield f"{path}.{name}", "missing"


@RULES.rule("refused", fix="use a value of the list", source=f"{SOURCE}, _util/content.py")
def values_are_known(sample: dict[str, Any]) -> Iterator[Broken]:
    """Formats of media, details of images and types of tools must be among the values that Inspect defines."""
    for path, part, kind in _parts(sample):
        for (owner, name), values in VALUES.items():
            value = part.get(name)
            if kind == owner and isinstance(value, str) and value not in values:
                yield f"{path}.{name}", f"{value!r:.60}"


@RULES.rule("refused", fix="add the missing field", source=f"{SOURCE}, tool/_tool_call.py")
def calls_are_complete(sample: dict[str, Any]) -> Iterator[Broken]:
    """A call must have an id, a function and arguments. The error of a result must have a known type and a message."""
    for path, message in objects(sample, "messages"):
        for at, call in objects(message, "tool_calls", path):
            for name in ("id", "function", "arguments"):
                if call.get(name) is None:
                    yield f"{at}.{name}", "missing"
        error = message.get("error") if message.get("role") == "tool" else None
        if isinstance(error, dict):
            if error.get("type") not in ERRORS:
                yield f"{path}.error.type", f"{error.get('type')!r:.60}"
            if not isinstance(error.get("message"), str):
                yield f"{path}.error.message", "missing"
