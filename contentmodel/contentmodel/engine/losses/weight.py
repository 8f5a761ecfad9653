"""Weigh values without a place in a target: find the texts, calls, results and media that they may hold."""

from __future__ import annotations

from collections.abc import Iterator

from contentmodel.engine.json import Json

_HOLDERS = frozenset(
    {
        *("text", "texts", "content", "contents", "parts", "message", "messages", "prompt", "summary", "transcript"),
        *("thinking", "reasoning", "refusal", "input", "inputs", "args", "arguments", "parameters", "command"),
        *("output", "outputs", "result", "results", "response", "items", "delta", "body", "history"),
        *("data", "url", "uri", "image_url", "imageUrl", "file_data", "fileData", "inlineData", "inline_data"),
        *("functionCall", "functionResponse", "function", "tool_calls", "toolCalls"),
    }
)
"""The names of fields that hold content in the formats of this library, and in those that resemble them."""

_TAGS = frozenset(
    {
        *("type", "kind", "role", "name", "status", "id", "uuid", "mimeType", "mime_type", "media_type", "timestamp"),
        *("model", "version", "sessionId", "encoding", "format", "level", "subtype", "signature"),
    }
)
"""The names of fields whose texts are no content, also inside of fields that hold content."""


def texts_in(value: Json) -> Iterator[str]:
    """Yield the texts that are not blank in fields that hold content, at any depth."""
    pending: list[tuple[Json, bool]] = [(value, False)]
    while pending:
        inner, is_held = pending.pop()
        if inner.__class__ is dict:
            for key, item in inner.items():
                is_tag = key in _TAGS or key.endswith(("_id", "Id", "_at", "UUID"))
                if not is_tag or item.__class__ in (dict, list):
                    pending.append((item, is_held or key in _HOLDERS or key.endswith(("_text", "Text"))))
        elif inner.__class__ is list:
            pending.extend((item, is_held) for item in inner)
        elif is_held and inner.__class__ is str and inner.strip():
            yield inner


def strings_in(value: Json) -> Iterator[str]:
    """Yield all texts of a value without blanks around them, at any depth."""
    pending: list[Json] = [value]
    while pending:
        inner = pending.pop()
        if inner.__class__ is dict:
            pending.extend(inner.values())
        elif inner.__class__ in (list, tuple):
            pending.extend(inner)
        elif inner.__class__ is str:
            yield inner.strip()


def weighed(value: Json) -> bool:
    """Return True, as an entry of `meaningless`: decoding keeps values that may hold content in other fields."""
    return True


def may_hold_content(value: Json) -> bool:
    """Return whether an object or an array may hold a text, a call, a result or a medium."""
    return next(texts_in(value), None) is not None
