"""Read the messages of a session of Gemini CLI from its lines: each line is an event that changes the history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from contentmodel.authoring import TOKEN, write
from contentmodel.message import Branch
from contentmodel.usage import Usage
from contentmodel_adapters.gemini_cli_session.blocks import CONTEXT, COUNTS, NOTICES
from contentmodel_adapters.gemini_cli_session.records import opened, results_of
from contentmodel_adapters.shared.session_lines import count_of
from contentmodel_adapters.shared.session_reading import UNREADABLE, Part, Record, Session

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
        return str(self.value.get("id", _CONTENT))

    @property
    def kind(self) -> str:
        """The type of the record."""
        return str(self.value.get("type", _CONTENT))


class Reading:
    """The state of reading one file."""

    def __init__(self, lines: list[Any], unreadable: Collection[int]) -> None:
        self.session = Session(parts=[Part()])
        self._history: dict[str, Event] = {}
        self._removed: list[tuple[Branch, list[Event]]] = []
        self._versions: dict[str, list[Event]] = {}
        self._lists: dict[int, tuple[str, dict[str, Any], list[str]]] = {}
        """The lines with a list of records: the residue entry, the line, and the keys that lead to the list."""
        self._taken: set[tuple[int, int | None]] = set()
        """The records that became messages, as pairs of `line` and `at`."""
        self._unknown: set[tuple[int, int | None]] = set()
        """The records of an unknown form, as pairs of `line` and `at`."""
        for index, line in enumerate(lines):
            if index in unreadable:
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
        elif _are_records(line.get("messages")) and isinstance(line.get("sessionId"), str):
            self._list(index, line, "messages", "session")
        elif is_checkpoint(line) and not has_slots(line.get("messages")):
            self._list(index, line, "history", "checkpoint")
        else:
            self.session.keep(index, line, "session" if isinstance(line.get("sessionId"), str) else _OTHER)

    def _add(self, event: Event) -> None:
        """Add a record to the history. It replaces a record with the same id."""
        if event.id == _CONTENT:
            self._history[f"{_CONTENT}:{len(self._history)}"] = event
            return
        self._versions.setdefault(event.id, []).append(event)
        self._history[event.id] = event

    def _list(self, index: int, line: dict[str, Any], field: str, kind: str) -> None:
        """Add the records of a line with a list of them."""
        self._lists[index] = kind, line, [field]
        for at, value in enumerate(line[field]):
            self._add(Event(value, index, at, f"$[{index}].{field}[{at}]"))

    def _set(self, index: int, line: dict[str, Any]) -> None:
        """Replace the history by `messages`, if the line has them. Its other fields are settings of the program."""
        messages = line["$set"].get("messages")
        if not _are_records(messages):
            self.session.keep(index, line, "set" if "messages" not in line["$set"] else _OTHER)
            return
        before, self._history = self._history, {}
        self._lists[index] = "set", line, ["$set", "messages"]
        for at, value in enumerate(messages):
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
        known = {key for key in self._history if not key.startswith(f"{_CONTENT}:")}
        for branch, events in reversed(self._removed):
            rest = [event for event in events if event.id not in known]
            known.update(event.id for event in rest)
            if any(event.kind not in NOTICES and not _is_context(event) for event in rest):
                branches.append((branch, rest))
        self._add_all(self.session.parts[0], [*self._history.values()])
        for branch, events in reversed(branches):
            part = Part(branch=branch)
            self._add_all(part, events)
            if part.entries:
                self.session.parts.append(part)
        for versions in self._versions.values():
            for event in versions:
                if event.at is None and (event.line, None) not in self._taken:
                    kind = event.kind if event.kind in NOTICES else SUPERSEDED
                    kind = _OTHER if (event.line, None) in self._unknown else kind
                    self.session.keep(event.line, event.value, kind)
        unknown = {line for line, _ in self._unknown}
        for index, (kind, line, steps) in self._lists.items():
            self._keep_list(index, _OTHER if index in unknown else kind, line, steps)

    def _keep_list(self, index: int, kind: str, line: dict[str, Any], steps: list[str]) -> None:
        """Keep a line with a list of records. None replaces each record that became a message."""
        holder = line
        for step in steps[:-1]:
            holder = holder[step]
        values = holder[steps[-1]]
        rest = [None if (index, at) in self._taken else value for at, value in enumerate(values)]
        changed: dict[str, Any] = {**holder, steps[-1]: rest}
        self.session.keep(index, {**line, steps[0]: changed} if len(steps) > 1 else changed, kind)

    def _add_all(self, part: Part, events: list[Event]) -> None:
        results = _results_in(events)
        for event in events:
            if event.kind in NOTICES or id(event) in results.repeated:
                continue
            if event.id == _CONTENT:
                self._entry(part, event, dict(event.value), {}, {"": ""}, Record())
            else:
                self._message(part, event, results.after.get(id(event), set()))

    def _message(self, part: Part, event: Event, after: set[bytes]) -> None:
        """Add the message of a record. `after` has the parts of later records with results of its calls."""
        found = opened(event.value)
        if found is None:
            self._unknown.add((event.line, event.at))
            return
        is_answer = event.kind == "gemini"
        parts, places, envelope = found
        results = results_of(event.value) if is_answer else None
        has_results = results is not None and results.parts and not after.issuperset(map(write, results.parts))
        if results is not None and has_results:
            calls = zip(envelope["toolCalls"], results.envelope["toolCalls"], strict=True)
            envelope = {
                **envelope,
                "toolCalls": [_with_slot(call, rest) for call, rest in calls],
            }
        role = "model" if is_answer else "user"
        record = self._record(event)
        self._entry(part, event, {"role": role, "parts": parts}, envelope, _places(places, parts), record)
        if results is not None and has_results:
            entry = {"role": "user", "parts": results.parts}
            self._entry(part, event, entry, {}, _places(results.places, results.parts), Record())

    def _entry(
        self,
        part: Part,
        event: Event,
        entry: dict[str, Any],
        envelope: dict[str, Any],
        places: dict[str, str],
        record: Record,
    ) -> None:
        self._taken.add((event.line, event.at))
        token = self.session.token(event.line, envelope, record, event.at, event.place)
        path = f"$.contents[{len(part.entries)}]"
        part.places |= {path + inner: event.place + place for inner, place in [("", ""), *places.items()]}
        if event.kind == "user" and event.at is None:
            part.lines[path] = event.place
        part.entries.append({**entry, TOKEN: token})

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


def _with_slot(call: Any, rest: Any) -> Any:
    """Return a call of a record with its result as `results_of` left it."""
    return {**call, "result": rest["result"]} if rest.__class__ is dict and "result" in rest else call


def has_slots(values: Any) -> bool:
    """Return whether a value is a list with nulls, which replace the records that became messages."""
    return values.__class__ is list and None in values


def is_checkpoint(line: dict[str, Any]) -> bool:
    """Return whether an object is a checkpoint: its `history` is a list of contents of generateContent."""
    return _are_contents(line.get("history"))


def models_of(lines: Iterable[Any]) -> set[str]:
    """Return the models of all records in the lines."""
    found: set[str] = set()
    for line in lines:
        if line.__class__ is dict:
            holder = line["$set"] if line.get("$set").__class__ is dict else line
            records = [line, *(holder["messages"] if _are_records(holder.get("messages")) else ())]
            found.update(record["model"] for record in records if isinstance(record.get("model"), str))
    return found


def _is_record(value: Any) -> bool:
    return value.__class__ is dict and isinstance(value.get("id"), str) and value["id"] != _CONTENT and _has_type(value)


def _has_type(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return TOKEN not in value and isinstance(kind, str) and (kind in ("user", "gemini") or kind in NOTICES)


def _are_records(values: Any) -> bool:
    return values.__class__ is list and all(_is_record(value) for value in values)


def _are_contents(values: Any) -> bool:
    return (
        values.__class__ is list
        and bool(values)
        and all(
            value.__class__ is dict
            and value.get("parts").__class__ is list
            and TOKEN not in value
            and "id" not in value
            for value in values
        )
    )


def _is_context(event: Event) -> bool:
    """Return whether a record is the context that the program adds to a session."""
    found = opened(event.value) if event.kind == "user" else None
    first = found.parts[0] if found is not None and found.parts else {}
    return str(first.get("text", "")).startswith(CONTEXT)


class _Results(msgspec.Struct):
    """The records of results in a list of records: those that are repeated, and those after each answer."""

    repeated: set[int] = set()
    """The `id()` of each event whose parts are all repeated by later ones. A resumed session has each result twice."""
    after: dict[int, set[bytes]] = {}
    """The parts of the records of results after an answer and before the next message, by the `id()` of the answer."""


def _results_in(events: Sequence[Event]) -> _Results:
    found, later = _Results(), set[bytes]()
    for event in reversed(events):
        if event.kind in NOTICES:
            continue
        parts = _parts_with_results(event)
        if parts is None:
            found.after[id(event)], later = later, set()
            continue
        if later.issuperset(parts):
            found.repeated.add(id(event))
        later.update(parts)
    return found


def _parts_with_results(event: Event) -> list[bytes] | None:
    """Return the parts of a record as JSON if it has results; None if it has none."""
    found = opened(event.value) if event.kind == "user" else None
    if found is None or not any("functionResponse" in part for part in found.parts):
        return None
    return [write(part) for part in found.parts]


def _places(places: list[str], parts: list[Any]) -> dict[str, str]:
    """Return the path in the record for each path in the content that is made of it."""
    found: dict[str, str] = {}
    for at, (place, part) in enumerate(zip(places, parts, strict=True)):
        path = f".parts[{at}]"
        found[path] = place
        if place.endswith((".content", ".description")) and "text" in part:
            found[f"{path}.text"] = place
        if place.startswith(".toolCalls") and place.endswith("]") and "functionCall" in part and "result" not in place:
            found[f"{path}.functionCall"] = place
        if place.endswith(".result"):
            found[f"{path}.functionResponse.response.output"] = place
    return found
