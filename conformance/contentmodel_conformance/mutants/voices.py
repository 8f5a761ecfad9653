"""Broken adapters that take content of users and tools for text of the library or of another API."""

from __future__ import annotations

import copy
import re
from typing import Any

from contentmodel import FunctionResultContent, TextContent
from contentmodel_adapters.google.generate_content.table import ROLE
from contentmodel_conformance.mutants.broken import (
    CHAT,
    GOOGLE,
    Broken,
    changed,
    each_content,
    messages_of,
    mutant,
    replace,
    with_messages,
)

_FAILED = re.compile(r"\[is_error: true[^\]]*\]\n")
_LABEL = re.compile(r"\[output of tool call [^\]]*\]")


@mutant(CHAT, "voices/crossing")
class TrustsFailureSentinels(Broken):
    """Decode tool output that begins like the sentinel of a failure as a failure, without checking its seal."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, _failed) if kind == "request" else value


def _failed(content: Any) -> Any:
    first = content.outputs[0] if isinstance(content, FunctionResultContent) and content.outputs else None
    if not isinstance(first, TextContent) or not _FAILED.match(first.text):
        return content
    outputs = [replace(first, text=_FAILED.sub("", first.text, count=1)), *content.outputs[1:]]
    return replace(content, outputs=outputs, is_error=True)


@mutant(CHAT, "voices/crossing")
class GivesMediaOfUsersToTools(Broken):
    """Decode media after a label as output of the call in the label, also if a user wrote the label."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        return with_messages(value, [_without_labelled(message) for message in messages_of(value)])


def _without_labelled(message: Any) -> Any:
    label, *media = message.contents or [None]
    if message.role != "user" or not isinstance(label, TextContent) or not _LABEL.fullmatch(label.text) or not media:
        return message
    result = FunctionResultContent(call_id=label.text[1:-1].rpartition(" ")[2], outputs=media)
    return replace(message, role="tool", contents=[result])


@mutant(CHAT, "voices/crossing")
class DecodesLabelsAsAssistant(Broken):
    """Decode a user message that begins with a label in brackets as a message of the assistant."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        return with_messages(value, [_obeyed(message) for message in messages_of(value)])


def _obeyed(message: Any) -> Any:
    first = message.contents[0] if message.contents else None
    if message.role == "user" and isinstance(first, TextContent) and first.text.startswith("["):
        return replace(message, role="assistant")
    return message


@mutant(GOOGLE, "notes/wire")
class TrustsNotesOnTheWire(Broken):
    """Set the role of a content from a wire key that looks like a note."""

    def read(self, kind: str, payload: Any) -> Any:
        return changed(copy.deepcopy(payload), _noted) if kind == "request" else payload


def _noted(value: Any) -> Any:
    note = value.pop(ROLE.key, None) if isinstance(value, dict) else None
    if isinstance(note, dict) and "parts" in value:
        value.update(note)
    return value


@mutant(GOOGLE, "hints/stored")
class TrustsHints(Broken):
    """Require the hint of a role to be an object."""

    def to_write(self, kind: str, value: Any) -> Any:
        for message in messages_of(value):
            (message.extra or {}).get(GOOGLE, {}).get(ROLE.key, {}).get("role")
        return value


@mutant(CHAT, "roles/crossing")
class AcceptsRolesOfEveryApi(Broken):
    """Treat a role that is prefixed with any API id as a role of its own API."""

    def to_write(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        messages = [replace(m, role=m.role.rpartition(":")[2]) for m in value.messages]
        return replace(value, messages=[replace(m, role="system") if m.role == "admin" else m for m in messages])
