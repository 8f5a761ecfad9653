"""Decide whether an adapter reads a document that it recognizes: the evidence that detection requires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from contentmodel.adapter import Adapter
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.hints import is_hint
from contentmodel.json import JsonArray, JsonObject, steps_of
from contentmodel.literals import PayloadKind
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse

OWN_EVIDENCE = 0.9
"""The confidence from which a document has values that only one format has. Below it, formats share what it has."""
_SAMPLE = 16
"""The number of entries of each list that are decoded first: one message that is read is enough."""
_TRIES = 4
"""The number of times that a document with faults is decoded. Each time, the entries with faults are removed."""
_NO_MESSAGES = frozenset({"tools", "functions", "system"})
"""The lists of a request whose entries are no messages."""


class _Count(NamedTuple):
    """The messages of a document: those with a content that the adapter recognizes, and the others with contents."""

    read: int = 0
    unread: int = 0
    faulty: int = 0
    """Messages, and other entries of lists, that have faults."""
    unmapped: int = 0
    """Messages without contents that have unmapped fields. These may be contents under another name."""


def reads(candidate: Adapter, kind: PayloadKind, payload: JsonObject | JsonArray, confidence: float) -> bool:
    """Return whether an adapter reads a message of a document, if the document has messages.

    A message is read if the adapter recognizes one of its contents. If the document has only values that formats share
    (roles, a list named `messages`), the adapter must recognize a content of each message that has contents, and most
    messages must be without faults. A document that the adapter refuses as a whole counts as read: decoding states the
    reason.
    """
    is_shared = confidence < OWN_EVIDENCE
    sample = payload if is_shared else _sample(payload)
    count = _count(candidate, kind, sample)
    if sample is not payload and count is not None and not count.read:
        count = _count(candidate, kind, payload)
    if count is None or not any((count.unread, count.faulty, count.unmapped)):
        return True
    return count.read > 0 and not (is_shared and (count.unread or count.faulty >= count.read))


def _sample(payload: JsonObject | JsonArray) -> JsonObject | JsonArray:
    """Return a payload with only the first entries of its lists, or the payload itself if it has no more."""
    if isinstance(payload, list):
        return payload[:_SAMPLE] if len(payload) > _SAMPLE else payload
    longer = {key: value[:_SAMPLE] for key, value in payload.items() if isinstance(value, list)}
    is_whole = all(len(value) == len(payload[key]) for key, value in longer.items())
    return payload if is_whole else {**payload, **longer}


def _count(candidate: Adapter, kind: PayloadKind, payload: JsonObject | JsonArray) -> _Count | None:
    """Return how many messages are read; None if the adapter refuses the document as a whole.

    Entries of lists with faults are not read, and the rest is decoded again.
    """
    decode: Any = candidate.decode_request if kind == "request" else candidate.decode_response
    faulty = 0
    for _ in range(_TRIES):
        try:
            value = decode(payload)
        except DecodeError as error:
            remaining, removed = _without_faulty(payload, error.faults)
            if remaining is None:
                return _Count(faulty=faulty) if faulty else None
            payload, faulty = remaining, faulty + removed
        else:
            states = [_state(message) for message in _messages_of(value)]
            return _Count(states.count("read"), states.count("unread"), faulty, states.count("unmapped"))
    return _Count(faulty=faulty)


def _without_faulty(
    payload: JsonObject | JsonArray, faults: Sequence[Fault]
) -> tuple[JsonObject | JsonArray | None, int]:
    """Return a payload without the entries of lists that have faults, and how many of them may be messages.

    Return None if no fault is in a list.
    """
    paths = {tuple(_steps_to_entry(steps_of(fault.path))) for fault in faults}
    entries = sorted((path for path in paths if path and isinstance(path[-1], int)), key=lambda path: path[-1])
    if not entries:
        return None, 0
    remaining: Any = payload
    for path in reversed(entries):
        remaining = _without_entry(remaining, path)
    return remaining, sum(_NO_MESSAGES.isdisjoint(path) for path in entries)


def first_faulty(candidate: Adapter, kind: PayloadKind, payload: JsonObject | JsonArray) -> str:
    """Return the path of the first entry of a list that has a fault; "" if there is none."""
    try:
        (candidate.decode_request if kind == "request" else candidate.decode_response)(payload)
    except DecodeError as error:
        at = error.faults[0].path.find("]")
        return error.faults[0].path[: at + 1]
    return ""


def _steps_to_entry(steps: list[str | int]) -> Iterator[str | int]:
    """Yield the steps of a path up to the first position in a list."""
    for step in steps:
        yield step
        if isinstance(step, int):
            return


def _without_entry(value: Any, path: Sequence[str | int]) -> Any:
    step, *inner_path = path
    if not inner_path:
        return [entry for at, entry in enumerate(value) if at != step]
    return {**value, step: _without_entry(value[step], inner_path)}


def _messages_of(value: ChatRequest | ChatResponse) -> Iterator[ChatMessage]:
    if isinstance(value, ChatResponse):
        yield from (message for choice in value.choices for message in choice.messages)
        return
    yield from value.messages
    for branch in value.branches:
        yield from branch.messages


def _state(message: ChatMessage) -> str:
    """Return "read", "unread" or "unmapped", as in `_Count`, or "empty" for a message without anything."""
    if message.contents:
        return "read" if any(map(_is_known, message.contents)) else "unread"
    fields = [value for residue in (message.extra or {}).values() for key, value in residue.items() if not is_hint(key)]
    if any(isinstance(value, list) and value for value in fields):
        return "unread"
    return "unmapped" if any(isinstance(value, str | dict) and value for value in fields) else "empty"


def _is_known(content: AIContent) -> bool:
    """Return whether a content has a known type. A result without a call and without outputs is only a role."""
    if isinstance(content, ToolResultContent) and content.call_id is None and not content.outputs:
        return False
    return not isinstance(content, UnknownContent)
