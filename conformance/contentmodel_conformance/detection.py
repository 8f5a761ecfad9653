"""The laws of detection: a format is named only if its adapter reads a message, also with something unknown inside."""

from __future__ import annotations

import re
from typing import Any

import contentmodel
from contentmodel import DecodeError, UnknownContent
from contentmodel.errors import DetectError
from contentmodel_conformance.differences import Label
from contentmodel_conformance.laws import LawBroken, Refused

_MESSAGE = re.compile(r"\$(\.(messages|contents|conversations|input|steps|turns))?\[\d+\]")
"""The path of an entry of a list of messages."""


def foreign_documents(payload: Any) -> None:
    """A format is named for a document only if its adapter reads a message, or the document has none."""
    try:
        api, kind = contentmodel.detect(payload)
    except DetectError:
        return
    if kind == "stream":
        return
    adapter = contentmodel.adapter(api)
    try:
        value: Any = (adapter.decode_request if kind == "request" else adapter.decode_response)(payload)
    except DecodeError as error:
        entries = {match[0] for fault in error.faults if (match := _MESSAGE.match(fault.path))}
        if entries and len(entries) == _messages_of(payload, min(entries)):
            raise _broken(api, "every message has a fault") from None
        return
    states = _states(value)
    if False in states and True not in states:
        raise _broken(api, "no message is read")


def _states(value: Any) -> list[bool | None]:
    """Return whether each message of a decoded document is read, also of its branches."""
    owners = [*getattr(value, "choices", [value]), *getattr(value, "branches", ())]
    return [_is_read(message) for owner in owners for message in owner.messages]


def _broken(api: str, problem: str) -> LawBroken:
    return LawBroken("foreign documents", "$", f"is detected, and {problem}", Label("no format"), api)


def _messages_of(payload: Any, path: str) -> int:
    """Return the number of entries of the list of messages. `path` leads to one of them."""
    name = path.partition("[")[0].removeprefix("$").removeprefix(".")
    return len(payload[name] if name else payload)


def _is_read(message: Any) -> bool | None:
    """Return whether a content of a message is known; None for a message that has nothing."""
    if message.contents:
        return not all(isinstance(content, UnknownContent) for content in message.contents)
    fields = (item for residue in (message.extra or {}).values() for item in residue.items())
    has_fields = any(key[:1] != ":" and value and isinstance(value, str | list | dict) for key, value in fields)
    return False if has_fields else None


def known_documents(api: str, kind: str, payloads: tuple[Any, Any]) -> None:
    """A document is detected as before if it has unknown fields, or an unknown block beside the others.

    An adapter must read a message of it: in messages without contents, unknown fields may be the contents.
    """
    plain, disturbed = payloads
    try:
        detected = contentmodel.detect(plain)
    except DetectError:
        return
    if detected != (api, kind):
        return
    adapter = contentmodel.adapter(api)
    if True not in _states((adapter.decode_request if kind == "request" else adapter.decode_response)(plain)):
        raise Refused("no message has contents")
    try:
        again: Any = contentmodel.detect(disturbed)
    except DetectError as error:
        again = str(error)
    if again != detected:
        raise LawBroken("known documents", "$", "is detected in another way", detected, again)
