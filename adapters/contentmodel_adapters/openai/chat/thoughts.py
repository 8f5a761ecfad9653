"""Thoughts of Gemini in Chat Completions: they are in the content, between two tags.

Google's endpoint marks such a message, and in a stream each chunk of a thought, with a flag. The closing tag is at the
start of the answer (streams of Gemini 2.5 as several clients have recorded them, seen 2026-11-28).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import DecodeContext, object_of
from contentmodel_adapters.openai.chat.details import with_whole_details

THOUGHT = "<thought>"
"""The opening tag, and the column of the thought in a message whose content is divided."""
END = "</thought>"
FLAG: dict[str, Any] = {"google": {"thought": True}}


def is_flagged(wire: dict[str, Any]) -> bool:
    """Return whether a message or a delta has the flag of a thought."""
    return object_of(object_of(wire, "extra_content"), "google").get("thought") is True


def with_thought_apart(wire: dict[str, Any], context: DecodeContext) -> dict[str, Any]:
    """Return a message whose thought has a column of its own. If the thought does not end, there is no content."""
    parts = _divided(wire)
    if not parts:
        return wire
    copy = {key: value for key, value in wire.items() if key != "content"} | parts
    context.copied(copy, wire, (THOUGHT, (wire, "content")))
    return copy


def _divided(wire: dict[str, Any]) -> dict[str, str]:
    """Return the thought and the answer in the content of a message; {} if it has no thought."""
    content = wire.get("content")
    if content.__class__ is not str or not content.startswith(THOUGHT) or not is_flagged(wire):
        return {}
    thought, end, rest = content[len(THOUGHT) :].partition(END)
    return {THOUGHT: thought, **({"content": rest} if end else {})} if thought else {}


def expanded(payload: Any) -> Any:
    """Return a payload whose messages have the thought and the answer as a list, for audits."""
    if payload.__class__ is list:
        return [expanded(item) for item in payload]
    if payload.__class__ is not dict:
        return payload
    inner = {key: expanded(payload[key]) for key in ("messages", "choices", "message") if key in payload}
    parts = _divided(payload)
    payload = with_whole_details(payload)
    return {**payload, **inner, **({"content": [*parts.values()]} if parts else {})}


def with_thought_inside(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose thought is in the content: the inverse of `with_thought_apart`."""
    thought, content = f"{THOUGHT}{wire.pop(THOUGHT)}", wire.get("content")
    if content.__class__ is list:
        return {**wire, "content": [{"type": "text", "text": f"{thought}{END}"}, *content]}
    return {**wire, "content": thought if content is None else f"{thought}{END}{content}"}


class Divider:
    """Divide the content of a stream into the thought and the answer. Tags may be cut."""

    def __init__(self) -> None:
        self._waiting = ""
        """Text that may be the beginning of the next tag."""
        self._tags = [THOUGHT, END]
        """The tags that have not been found yet."""
        self._is_empty = True
        """True until a thought has a text. An empty thought is content."""

    @property
    def is_over(self) -> bool:
        """Return whether the rest of the content is the answer."""
        return not self._tags

    def divide(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the pieces of a text, each with its column. The end of the thought is an empty piece of the answer."""
        text, self._waiting = self._waiting + text, ""
        if len(self._tags) == 2:
            if len(text) < len(THOUGHT) and THOUGHT.startswith(text):
                self._waiting = text
                return
            # A content without the tag is an answer.
            self._tags = self._tags[1:] if text.startswith(THOUGHT) else []
            text = text.removeprefix(THOUGHT) if self._tags else text
        if self._tags:
            thought, end, text = text.partition(END)
            self._waiting = "" if end else _beginning_of(END, thought)
            thought = thought.removesuffix(self._waiting)
            self._is_empty = self._is_empty and not thought
            if thought:
                yield THOUGHT, thought
            if not end:
                return
            self._tags = []
            text = f"{THOUGHT}{END}{text}" if self._is_empty else text
        yield "content", text

    def rest(self) -> Iterator[tuple[str, str]]:
        """Yield the text that waited: the stream has ended."""
        is_begun, waiting = len(self._tags) == 1, self._waiting
        self._waiting, self._tags = "", []
        if is_begun and self._is_empty:
            yield ("content", f"{THOUGHT}{waiting}") if not waiting else (THOUGHT, waiting)
        elif waiting:
            yield THOUGHT if is_begun else "content", waiting


def _beginning_of(tag: str, text: str) -> str:
    """Return the end of a text that may be the beginning of a tag."""
    return next((tag[:size] for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), "")
