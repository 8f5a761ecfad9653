"""Write the lines of a session of Gemini CLI."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from contentmodel.authoring import TOKEN, EncodeContext, reasons
from contentmodel.message import Branch, ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.sessions.gemini_cli.blocks import API
from contentmodel_adapters.sessions.gemini_cli.reading import Reading, is_listing
from contentmodel_adapters.sessions.gemini_cli.records import SLOTS, Slot, filled
from contentmodel_adapters.sessions.lines import (
    ORDER,
    arranged,
    first_time,
    iso_time,
    kept_lines,
    made_id,
    session_id,
)
from contentmodel_adapters.sessions.reading import UNREADABLE, Place, Source, without_odd
from contentmodel_adapters.sessions.writing import Written, nulls_of, with_current

Parts = Sequence[tuple[Branch | None, list[Written]]]

_IN_LIST = object()
"""A placeholder for a record that is in the list of another line."""


class Writing:
    """The state of writing one file."""

    def __init__(self, request: ChatRequest, context: EncodeContext) -> None:
        self._request, self._context = request, context
        self._session = context.policies.get("session") or made_id(API, session_id(request, context))
        self._time = first_time(request.messages) or iso_time(0)
        self._count = 0

    # -- a file that was read ------------------------------------------------------------------------------------------

    def changed_file(self, parts: Parts) -> list[Any] | None:
        """Return the lines of a file that was read, with edited messages, and with a line for each new message.

        Return None if these lines would be read as other messages. Lines are events that repeat and replace each other,
        so not every edit can be written in this form.
        """
        old_lines = kept_lines(self._request, API)
        lists: dict[int, dict[int, Any]] = {}
        groups: list[list[tuple[int | None, Any]]] = []
        for _, written in parts:
            groups.append([])
            for line, at, record in self._records(written):
                if record is None:
                    return None
                if line is not None and at is not None:
                    lists.setdefault(line, {})[at] = record
                    groups[-1].append((line, _IN_LIST))
                else:
                    groups[-1].append((line, record))
        # The kept lines that messages were read from are those with lists of records. Other nulls are of the file.
        read = {*(ORDER.of(self._request, API) or ())}
        whole = [
            (
                index,
                _with_records(line, lists.get(index, {}), nulls_of(self._request, API, index))
                if index in read
                else line,
            )
            for index, line in old_lines
        ]
        lines = [line for line in arranged(groups, whole, self._request, API) if line is not _IN_LIST]
        return lines if self._is_read_as(lines, parts) else None

    def _records(self, written: list[Written]) -> list[tuple[int | None, int | None, dict[str, Any] | None]]:
        """Return each record with its line and its index in the line's list; None for one that cannot be written."""
        records: list[tuple[int | None, int | None, dict[str, Any] | None]] = []
        previous: ChatMessage | None = None
        for item in written:
            source, parts = item.source, item.wire.get("parts", [])
            if source is None:
                records.append((None, None, self._new_record(item)))
            elif not source.envelope and records and records[-1][:2] == (source.line, source.at):
                # The results after an answer belong into its calls.
                line, at, record = records[-1]
                records[-1] = line, at, None if record is None else filled(record, parts, _slots_of(source))
            elif not source.envelope:
                records.append((source.line, source.at, item.wire))
            else:
                record = filled(source.envelope, parts, _slots_of(source))
                if record is not None and item.message is not previous and item.message is not None:
                    created = item.message.created
                    if created is not None and "timestamp" in record:
                        record["timestamp"] = created
                records.append((source.line, source.at, record))
            previous = item.message
        return records

    def _is_read_as(self, lines: list[Any], parts: Parts) -> bool:
        """Return whether reading the lines gives exactly these messages."""
        residue = (self._request.extra or {}).get(API, {})
        unreadable = {id(line) for _, line in residue.get(UNREADABLE, ())}
        places: set[Place] = {(at, None) for at, line in enumerate(lines) if id(line) in unreadable}
        session = Reading(lines, places).session
        read = [
            [without_odd({key: value for key, value in entry.items() if key != TOKEN}) for entry in part.entries]
            for part in session.parts
        ]
        return read == [[item.wire for item in written] for branch, written in parts if written or branch is None]

    # -- a new file ----------------------------------------------------------------------------------------------------

    def new_file(self, parts: Parts) -> list[Any]:
        """Return the lines of a new file: the session, and a record for each message."""
        request, context = self._request, self._context
        written = parts[0][1]
        for branch, _ in parts[1:]:
            if branch is not None:
                context.report_loss(request, "branches", reasons.NO_BRANCHES)
                break
        if first_time(request.messages) is None and request.messages:
            context.report_loss(request, None, reasons.UNKNOWN_TIME)
        old_lines = kept_lines(request, API) if context.native else []
        sessions = [line for _, line in old_lines if line.__class__ is dict and "projectHash" in line]
        header = {key: value for key, value in (sessions[0] if sessions else self._header()).items() if value != []}
        return [{key: value for key, value in header.items() if key != "messages"}, *map(self._any_record, written)]

    def _header(self) -> dict[str, Any]:
        directory = self._context.policies.get("directory", "/")
        return {
            "sessionId": self._session,
            "projectHash": hashlib.sha256(directory.encode("utf-8", "surrogatepass")).hexdigest(),
            "startTime": self._time,
            "lastUpdated": self._time,
            "kind": "main",
        }

    def _any_record(self, item: Written) -> dict[str, Any]:
        record = self._new_record(item)
        envelope = {} if item.source is None else item.source.envelope
        return {
            **record,
            **{key: envelope[key] for key in ("id", "tokens", "model", "displayContent") if key in envelope},
        }

    def _new_record(self, item: Written) -> dict[str, Any]:
        """Return the record of a new message. Gemini CLI resumes a session with these fields (seen with 0.61.0)."""
        self._count += 1
        message, is_answer = item.message, item.wire.get("role") == "model"
        if message is not None and message.created is not None:
            self._time = iso_time(message.created)
        parts = item.wire.get("parts", [])
        record = {
            "id": made_id(self._session, self._count),
            "timestamp": self._time,
            "type": "gemini" if is_answer else "user",
            "content": [_ordered(part) for part in parts],
        }
        origin = None if message is None else message.origin
        model = self._context.model or (origin.model if origin is not None else None) or self._request.model
        return {**record, "model": model} if is_answer and model is not None else record


def _ordered(part: Any) -> Any:
    """Return a part with its signature last, as the inner adapter writes a part that it read."""
    if part.__class__ is not dict or "thoughtSignature" not in part:
        return part
    rest = {key: value for key, value in part.items() if key != "thoughtSignature"}
    return {**rest, "thoughtSignature": part["thoughtSignature"]}


def _slots_of(source: Source) -> list[Slot]:
    return SLOTS.read(source.residue) or []


def _with_records(line: dict[str, Any], records: dict[int, Any], nulls: set[int]) -> Any:
    """Return a line with the records of messages in its list, without the records of removed messages."""
    if line.get("$set").__class__ is dict:
        return {**line, "$set": _with_records(line["$set"], records, nulls)}
    for field in ("messages", "history"):
        values: Any = line.get(field)
        if is_listing(values):
            return {**line, field: with_current(values, records, nulls)}
    return line
