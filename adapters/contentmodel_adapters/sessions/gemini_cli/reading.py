"""Read the messages of a session of Gemini CLI from its lines: each line is an event that changes the history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec

from contentmodel.authoring import TOKEN, strings_in, texts_in, write
from contentmodel.message import Branch
from contentmodel.usage import Usage
from contentmodel_adapters.sessions.gemini_cli.blocks import CONTEXT, COUNTS, MESSAGES, NOTICE_FIELDS, NOTICES, RECORDS
from contentmodel_adapters.sessions.gemini_cli.records import (
    SLOTS,
    Slot,
    envelope_of,
    filled,
    message_parts,
    place_of,
    result_parts,
)
from contentmodel_adapters.sessions.lines import count_of
from contentmodel_adapters.sessions.reading import UNREADABLE, Part, Place, Record, Session, without_odd

_OTHER = "other"
"""The residue entry of lines without a known form."""
SUPERSEDED = "superseded"
"""The residue entry of records that a later line replaces or repeats."""
_CONTENT = ""
"""The id for contents of checkpoints, which have no ids."""


class Event(msgspec.Struct, eq=False):
    """A record, the index of its line, its index in the line's list of records (`at`), and its path (`place`)."""

    value: dict[str, Any]
    line: int
    at: int | None = None
    place: str = ""

    @property
    def id(self) -> str:
        """The id of the record."""
        return self.value["id"] if _is_record(self.value) else _CONTENT

    @property
    def kind(self) -> str:
        """The type of the record; "" if it is no text."""
        kind = self.value.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def is_known(self) -> bool:
        """True if the program has the type of the record, and the record has no field of this library."""
        return (self.kind in MESSAGES or self.kind in NOTICES) and TOKEN not in self.value


class Reading:
    """The state of reading one file."""

    def __init__(self, lines: list[Any], unreadable: Collection[Place]) -> None:
        self.session = Session(parts=[Part()])
        self._unreadable = unreadable
        self._history: dict[str, Event] = {}
        self._removed: list[tuple[Branch, list[Event]]] = []
        self._versions: dict[str, list[Event]] = {}
        self._records: dict[Place, Event] = {}
        self._lists: dict[int, tuple[str, dict[str, Any], list[str]]] = {}
        """The lines with a list of records: the residue entry, the line, and the keys that lead to the list."""
        self._taken: set[Place] = set()
        """The records that became messages."""
        self._repeated: set[int] = set()
        """The `id()` of each record of results that later records repeat."""
        for index, line in enumerate(lines):
            if (index, None) in unreadable:
                self.session.keep(index, line, UNREADABLE)
            else:
                self._read(index, line)
        self._finish()

    # -- events --------------------------------------------------------------------------------------------------------

    def _read(self, index: int, line: Any) -> None:
        if line.__class__ is not dict:
            self.session.keep(index, line, _OTHER)
        elif isinstance(line.get("$rewindTo"), str):
            self._rewind(line["$rewindTo"])
            self.session.keep(index, line, "rewind")
        elif _is_record(line):
            self._add(Event(line, index, None, f"$[{index}]"))
        elif line.get("$set").__class__ is dict:
            self._set(index, line)
        elif _has_record(line.get("messages")) and isinstance(line.get("sessionId"), str):
            self._list(index, line, "messages", "session")
        elif is_checkpoint(line) and not is_listing(line.get("messages")):
            self._list(index, line, "history", "checkpoint")
        else:
            is_named = isinstance(line.get("sessionId"), str) and not line.get("messages")
            self.session.keep(index, line, "session" if is_named else _OTHER)

    def _add(self, event: Event) -> None:
        """Add a record to the history. It replaces a record with the same id, if the program has its type.

        A record of an unknown type is sent to no model, but a later line may remove the records after it.
        """
        if event.id == _CONTENT:
            self._history[f"{_CONTENT}:{len(self._history)}"] = event
            return
        self._versions.setdefault(event.id, []).append(event)
        self._records[event.line, event.at] = event
        if event.is_known or event.id not in self._history:
            self._history[event.id] = event

    def _list(self, index: int, line: dict[str, Any], field: str, kind: str) -> None:
        """Add the records of a line with a list of them, each by itself."""
        self._lists[index] = kind, line, [field]
        is_valid = _is_content if field == "history" else _is_record
        for at, value in enumerate(line[field]):
            if is_valid(value):
                self._add(Event(value, index, at, f"$[{index}].{field}[{at}]"))

    def _set(self, index: int, line: dict[str, Any]) -> None:
        """Replace the history by the records in `messages`, if the line has any, or an empty list.

        The other fields are settings of the program.
        """
        messages = line["$set"].get("messages")
        if messages != [] and not _has_record(messages):
            self.session.keep(index, line, "set" if messages is None else _OTHER)
            return
        before, self._history = self._history, {}
        self._lists[index] = "set", line, ["$set", "messages"]
        for at, value in enumerate(messages):
            if _is_record(value):
                self._add(Event(value, index, at, f"$[{index}]['$set'].messages[{at}]"))
        self._removed.append(
            (Branch(kind="compacted"), [event for key, event in before.items() if key not in self._history])
        )

    def _rewind(self, target: str) -> None:
        """Remove a record and all records after it. If the history does not contain the record, remove all."""
        removed: list[Event] = []
        key: str | None = None
        while self._history and key != target:
            key, event = self._history.popitem()
            removed.append(event)
        parent = next(reversed(self._history), None)
        self._removed.append((Branch(kind="alternative", parent_id=parent), removed[::-1]))

    # -- messages ------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Add the messages of the final history, and a branch for each group of removed records."""
        branches: list[tuple[Branch, list[Event]]] = []
        current_ids = {key for key in self._history if not key.startswith(f"{_CONTENT}:")}
        for branch, events in reversed(self._removed):
            removed = [event for event in events if event.id not in current_ids]
            current_ids.update(event.id for event in removed)
            if any(event.kind in MESSAGES and not _is_context(event) for event in removed):
                branches.append((branch, removed))
        self._add_all(self.session.parts[0], [*self._history.values()])
        for branch, events in reversed(branches):
            part = Part(branch=branch)
            self._add_all(part, events)
            if part.entries:
                self.session.parts.append(part)
        for versions in self._versions.values():
            for event in versions:
                if event.at is None and (event.line, None) not in self._taken:
                    self.session.keep(event.line, event.value, self._kept_as(event, versions[-1]))
        for index, (kind, line, steps) in self._lists.items():
            self._keep_list(index, kind, line, steps)

    def _kept_as(self, event: Event, last: Event) -> str:
        """Return the residue entry of a record that is no message. `last` is the last record with its id."""
        if not event.is_known or (event.line, event.at) in self._unreadable:
            return _OTHER
        if event.kind in NOTICES:
            return event.kind if event.value.keys() <= NOTICE_FIELDS else _OTHER
        if id(event) in self._repeated or _is_context(event):
            return SUPERSEDED
        return SUPERSEDED if self._is_repeated(event.value, last.value) else _OTHER

    def _is_repeated(self, value: dict[str, Any], last: dict[str, Any]) -> bool:
        """Return whether a record has only texts, calls and results that are in messages.

        The records of an answer that grows have the beginning of its text. `last` is the last record with the same id.
        """
        message = message_parts(value)
        if message is None:
            return False
        parts = [*message[0], *(result_parts(value)[0] if value["type"] == "gemini" else ())]
        unknown = {key: item for key, item in value.items() if key not in RECORDS}
        final = _first_text(last.get("content"))
        texts = (*strings_in(parts), *texts_in(unknown))
        return all(text in self._texts or final.startswith(text) for text in texts)

    @cached_property
    def _texts(self) -> set[str]:
        """All texts of the messages."""
        return {*strings_in([part.entries for part in self.session.parts])}

    def _keep_list(self, index: int, kind: str, line: dict[str, Any], steps: list[str]) -> None:
        """Keep a line with a list of records. None replaces each record that became a message.

        The records that may hold other content are kept in an entry of their own.
        """
        holders: list[Any] = [line]
        for step in steps:
            holders.append(holders[-1][step])
        values: list[Any] = holders[-1]
        light: list[Any] = [None] * len(values)
        heavy: list[Any] = [None] * len(values)
        for at, value in enumerate(values):
            if value is None:
                self.session.nulls.append([index, at])
            elif (index, at) not in self._taken:
                (light if self._is_light(Event(value, index, at)) else heavy)[at] = value
        for kept_values, name in ((light, kind), (heavy, _OTHER)):
            nested: Any = kept_values
            for holder, step in zip(reversed(holders[:-1]), reversed(steps), strict=True):
                nested = {**holder, step: nested} if kept_values is light else {step: nested}
            if kept_values is light or any(value is not None for value in kept_values):
                self.session.keep(index, nested, name)

    def _is_light(self, event: Event) -> bool:
        """Return whether a record in a list of records is no message, and holds no content that messages do not."""
        if not _is_record(event.value):
            return False
        recorded = self._records.get((event.line, event.at))
        return recorded is not None and self._kept_as(recorded, self._versions[recorded.id][-1]) != _OTHER

    def _add_all(self, part: Part, events: list[Event]) -> None:
        results = _results_in(events)
        self._repeated |= results.repeated
        for event in events:
            if event.kind not in MESSAGES and event.id != _CONTENT:
                continue
            if id(event) in results.repeated or (event.line, event.at) in self._unreadable:
                continue
            if event.id == _CONTENT:
                self._entry(part, event, {**event.value, "parts": [*event.value["parts"]]}, {}, {"": ""}, Record())
            else:
                self._message(part, event, results.after.get(id(event), set()))

    def _message(self, part: Part, event: Event, after: set[bytes]) -> None:
        """Add the message of a record. `after` has the parts of later records with results of its calls."""
        message = message_parts(event.value)
        if message is None:
            return
        parts, slots = message
        results, places = result_parts(event.value) if event.kind == "gemini" else ([], [])
        repeats = bool(results) and after.issuperset(map(write, results))
        if repeats:
            results, places = [], []
        envelope = envelope_of(event.value, parts, slots, places, repeats=repeats)
        record = filled(envelope, [without_odd(part) for part in parts], slots)
        if record is None or filled(record, [without_odd(part) for part in results], places) != event.value:
            return
        role = "model" if event.kind == "gemini" else "user"
        entry = {"role": role, "parts": parts}
        self._entry(part, event, entry, envelope, _places(slots), self._record(event), slots)
        if results:
            self._entry(part, event, {"role": "user", "parts": results}, {}, _places(places), Record(), places)

    def _entry(
        self,
        part: Part,
        event: Event,
        entry: dict[str, Any],
        envelope: dict[str, Any],
        places: dict[str, str],
        record: Record,
        slots: list[Slot] | None = None,
    ) -> None:
        self._taken.add((event.line, event.at))
        hints = {} if slots is None else {SLOTS.key: slots}
        token = self.session.token(event.line, envelope, record, event.at, event.place, hints)
        paths = {inner: event.place + place for inner, place in [("", ""), *places.items()]}
        is_alone = event.kind == "user" and event.at is None
        part.add("contents", {**entry, TOKEN: token}, paths, event.place if is_alone else None)

    def _record(self, event: Event) -> Record:
        """Return the values of a record for its message.

        If a record is repeated without its usage or its model, the earlier version has them.
        """
        paths = {"message_id": f"{event.place}.id", "created": f"{event.place}.timestamp"}
        record = Record(message_id=event.id, paths=paths)
        if isinstance(event.value.get("timestamp"), str):
            record.created = event.value["timestamp"]
        for version in reversed(self._versions[event.id] if event.kind == "gemini" else ()):
            tokens, model = version.value.get("tokens"), version.value.get("model")
            if record.usage is None and tokens.__class__ is dict:
                counts: dict[str, Any] = {name: count_of(tokens.get(key)) for name, key in COUNTS.items()}
                record.usage, paths["usage"] = Usage(**counts, reasoning_inside=False), f"{version.place}.tokens"
            if record.model is None and isinstance(model, str):
                record.model = model
                self.session.model, self.session.model_path = model, f"{version.place}.model"
        return record


def is_listing(values: Any) -> bool:
    """Return whether a value is a list with nulls, which replace the records that became messages."""
    return values.__class__ is list and None in values


def is_checkpoint(line: dict[str, Any]) -> bool:
    """Return whether an object is a checkpoint: its `history` is a list with contents of generateContent."""
    history = line.get("history")
    return history.__class__ is list and any(map(_is_content, history))


def models_of(lines: Iterable[Any]) -> set[str]:
    """Return the models of all records in the lines."""
    models: set[str] = set()
    for line in lines:
        if line.__class__ is dict:
            holder = line["$set"] if line.get("$set").__class__ is dict else line
            messages = holder.get("messages")
            records = [line, *(filter(_is_record, messages) if messages.__class__ is list else ())]
            models.update(record["model"] for record in records if isinstance(record.get("model"), str))
    return models


def _is_record(value: Any) -> bool:
    """Return whether a value is a record for the program, which reads any object with an id (`isMessageRecord`)."""
    return value.__class__ is dict and isinstance(value.get("id"), str) and value["id"] != _CONTENT


def _has_record(values: Any) -> bool:
    return values.__class__ is list and any(map(_is_record, values))


def _is_content(value: Any) -> bool:
    # A message of the A2A protocol has parts, too.
    is_other = value.__class__ is not dict or not {"id", "messageId", TOKEN}.isdisjoint(value)
    return not is_other and value.get("parts").__class__ is list


def _is_context(event: Event) -> bool:
    """Return whether a record is the context that the program adds to a session."""
    return event.kind == "user" and _first_text(event.value.get("content")).startswith(CONTEXT)


def _first_text(content: Any) -> str:
    """Return the first text of a content; "" if it begins with another part."""
    first = content[0] if content.__class__ is list and content else content
    text = first.get("text") if first.__class__ is dict else first
    return text if isinstance(text, str) else ""


class _Results(msgspec.Struct):
    """The records of results in a list of records: those that are repeated, and those after each answer."""

    repeated: set[int] = set()
    """The `id()` of each event whose parts are all repeated by later ones. A resumed session has each result twice."""
    after: dict[int, set[bytes]] = {}
    """The parts of the records of results after an answer and before the next message, by the `id()` of the answer."""


def _results_in(events: Sequence[Event]) -> _Results:
    results, later = _Results(), set[bytes]()
    for event in reversed(events):
        if event.kind not in MESSAGES and event.id != _CONTENT:
            continue
        read = message_parts(event.value) if event.kind == "user" else None
        if read is None or not any("functionResponse" in part for part in read[0]):
            results.after[id(event)], later = later, set()
            continue
        parts = [*map(write, read[0])]
        if later.issuperset(parts):
            results.repeated.add(id(event))
        later.update(parts)
    return results


def _places(slots: list[Slot]) -> dict[str, str]:
    """Return the path in the record for each path in the content that is made of it."""
    paths: dict[str, str] = {}
    for at, slot in enumerate(slots):
        path, inside = place_of(slot)
        paths[f".parts[{at}]"] = path
        if inside:
            paths[f".parts[{at}]{inside}"] = path
    return paths
