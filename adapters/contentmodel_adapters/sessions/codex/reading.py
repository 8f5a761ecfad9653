"""Find the history of a session in the lines of a Codex rollout."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import msgspec

from contentmodel.authoring import TOKEN
from contentmodel.message import Branch
from contentmodel.usage import Usage
from contentmodel_adapters.sessions.codex.blocks import (
    AGENT_MESSAGE,
    COMMUNICATION,
    CONTEXT,
    ITEMS,
    OUTPUT,
    PASSTHROUGH,
    SNAPSHOT,
    SUMMARY,
)
from contentmodel_adapters.sessions.lines import count_of, value_at
from contentmodel_adapters.sessions.reading import CONTENT, UNREADABLE, Part, Place, Record, Session

OTHER = "other"
"""The residue entry of lines without a type, and of lines with a null where reading a line sets None (`has_slot`)."""


class Item(NamedTuple):
    """An item of the history, the path in the file for each path inside of it, and whether it begins a turn."""

    entry: dict[str, Any]
    places: dict[str, str]
    is_prompt: bool


class Reading:
    """The state of reading one file. `_read_TYPE` reads the lines of a type."""

    def __init__(self, lines: list[Any], unreadable: Collection[Place]) -> None:
        self.session = Session(parts=[Part()])
        self._unreadable = unreadable
        self._history: list[Item] = []
        self._prompts: list[int] = []
        """The indexes of the items that begin turns."""
        self._summary: int | None = None
        """The token of the last summary of a compaction."""
        self._settled = 0
        """The number of items at the beginning of the history that stay beside the next summary."""
        self._rollbacks = _rollbacks_of_compactions(lines)
        """The line of the rollback that takes a compaction back, by the line of the compaction."""
        self._taken: dict[int, list[Item]] = {}
        """The items of compactions that are taken back, by the line of the rollback."""
        self._answer: Record | None = None
        """The record of the last item of the model."""
        self._model_line: list[Any] | None = None
        self._total: Any = None
        """The sum of the token counts of the session so far, as the last event has it."""
        for index, line in enumerate(lines):
            self._read(index, line)
        self._finish(self.session.parts[0], self._history)

    def _read(self, index: int, line: Any) -> None:
        kind = line.get("type") if line.__class__ is dict else None
        if kind.__class__ is not str:
            self.session.keep(index, line, _kind_without_type(line))
        elif (index, None) in self._unreadable:
            self.session.keep(index, line, UNREADABLE)
        elif kind in ITEMS and "payload" not in line:
            self._item(line, index, "", {}, Record())
        elif line.get("payload").__class__ is not dict:
            self.session.keep(index, line, OTHER)
        else:
            read = getattr(self, f"_read_{kind}", None) if kind in _READ else None
            if read is None or not read(index, line, line["payload"]):
                self.session.keep(index, line, OTHER if has_slot(line) else kind)

    def _item(
        self,
        item: dict[str, Any],
        index: int,
        path: str,
        envelope: dict[str, Any],
        record: Record,
        at: int | None = None,
        places: Mapping[str, str] = {},
        *,
        is_summary: bool = False,
    ) -> bool:
        """Add an item to the history. Return False if it cannot be added."""
        if TOKEN in item:
            return False
        if PASSTHROUGH in item:
            envelope = {**envelope, f"{path}.{PASSTHROUGH}"[1:]: item[PASSTHROUGH]}
            item = {key: value for key, value in item.items() if key != PASSTHROUGH}
        paths = {"": f"$[{index}]{path}", **places}
        if _has_output_object(item):
            output = item["output"]
            envelope = {**envelope, f"{path}.output"[1:]: {**output, "content": None}}
            item = {**item, "output": output["content"]}
            record.is_error = None if output.get("success") is None else not output["success"]
            record.paths = {**record.paths, "is_error": f"{path}.output.success"[1:]}
            paths[".output"] = f"$[{index}]{path}.output.content"
        token = self.session.token(index, envelope, record, at)
        self._append(Item({**item, TOKEN: token}, paths, not is_summary and _is_prompt(item)))
        kind = str(item.get("type", "message"))
        if not kind.endswith(OUTPUT) and item.get("role", "assistant") == "assistant":
            self._answer = record
        return True

    def _append(self, item: Item) -> None:
        if item.is_prompt:
            self._prompts.append(len(self._history))
        self._history.append(item)

    def _remove(
        self, kind: str, start: int, stays: Callable[[Item], bool] = lambda item: False, taken: list[Item] | None = None
    ) -> None:
        """Move the items from an index on to a branch, except those that stay, and with those that were `taken`."""
        tail = self._history[start:]
        moved = [item for item in tail if not stays(item)]
        if taken:
            # Tokens have the order of the file.
            moved = sorted([*moved, *taken], key=lambda item: item.entry[TOKEN])
        if not moved:
            return
        del self._history[start:]
        while self._prompts and self._prompts[-1] >= start:
            self._prompts.pop()
        for item in tail:
            if stays(item):
                self._append(item)
        self._settled = min(self._settled, len(self._history))
        branch = Part(branch=Branch(kind=kind))
        self._finish(branch, moved)
        self.session.parts.append(branch)

    @staticmethod
    def _finish(part: Part, items: list[Item]) -> None:
        """Add items to a part of the session."""
        for item in items:
            part.add("input", item.entry, item.places)

    # -- by the type of the line ---------------------------------------------------------------------------------------

    def _read_response_item(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        if is_snapshot(payload):
            self.session.keep(index, line, SNAPSHOT)
            return True
        return self._item(payload, index, ".payload", {**line, "payload": None}, _record_of(line))

    def _read_inter_agent_communication(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Read a message of another agent as the item that Codex makes of it, if it is not encrypted."""
        text = payload.get("content")
        if not isinstance(text, str) or not text or payload.get("encrypted_content") is not None:
            return False
        names = {key: payload[key] for key in AGENTS if key in payload}
        item = {"type": AGENT_MESSAGE, **names, "content": [{"type": "input_text", "text": text}]}
        other_fields = {f"payload.{key}": value for key, value in payload.items() if key not in (*AGENTS, "content")}
        places = {".content[0].text": f"$[{index}].payload.content"}
        return self._item(
            item, index, ".payload", {**line, "payload": None, **other_fields}, _record_of(line), places=places
        )

    def _read_session_meta(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        instructions = payload.get("base_instructions")
        part = self.session.parts[0]
        if instructions.__class__ is not dict or not isinstance(instructions.get("text"), str) or part.fields:
            return False
        part.fields["instructions"] = instructions["text"]
        part.places["$.instructions"] = f"$[{index}].payload.base_instructions.text"
        kept_payload = {**payload, "base_instructions": {**instructions, "text": None}}
        self.session.keep(index, {**line, "payload": kept_payload}, "session_meta")
        return True

    def _read_turn_context(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Read the model of a turn. The model of the last turn is that of the session."""
        if not isinstance(payload.get("model"), str):
            return False
        session = self.session
        if self._model_line is not None:
            before = self._model_line[1]
            self._model_line[1] = {**before, "payload": {**before["payload"], "model": session.model}}
        session.model, session.model_path = payload["model"], f"$[{index}].payload.model"
        session.keep(index, {**line, "payload": {**payload, "model": None}}, "turn_context")
        self._model_line = session.kept["turn_context"][-1]
        return True

    def _read_compacted(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Replace the history, or keep the items of the line for the branch of the rollback that takes it back."""
        if index not in self._rollbacks:
            return self._compact(index, line, payload)
        state = self._history, self._prompts, self._settled, self._summary
        self._history, self._prompts, self._settled = [], [], 0
        is_read = self._compact(index, line, payload)
        self._taken.setdefault(self._rollbacks[index], []).extend(self._history)
        self._history, self._prompts, self._settled, self._summary = state
        return is_read

    def _compact(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Replace the history. The previous items become a branch."""
        history = payload.get("replacement_history")
        if history is None:
            return self._read_summary(index, line, payload)
        if history.__class__ is not list or (history and not any(map(_is_item, history))):
            return False
        self._remove("compacted", 0)
        light: list[Any] = [None] * len(history)
        heavy: list[Any] = [None] * len(history)
        for at, item in enumerate(history):
            if item is None:
                self.session.nulls.append([index, at])
            elif is_snapshot(item):
                light[at] = item
            elif not _is_item(item) or (index, at) in self._unreadable:
                heavy[at] = item
            else:
                self._item(item, index, f".payload.replacement_history[{at}]", {}, Record(), at)
        self.session.keep(index, {**line, "payload": {**payload, "replacement_history": light}}, "compacted")
        if any(item is not None for item in heavy):
            self.session.keep(index, {"payload": {"replacement_history": heavy}}, CONTENT)
        return True

    def _read_summary(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Replace the history as Codex does if a line has only the summary: by the prompts and instructions, then it.

        Source: `build_compacted_history` in codex-rs/core/src/compact.rs of openai/codex (seen 2026-11-26).
        """
        summary = payload.get("message")
        if not isinstance(summary, str) or not summary:
            return False
        before = self._summary
        self._remove(
            "compacted",
            self._settled,
            lambda item: item.entry.get("role") in _STAYS and item.entry[TOKEN] != before,
        )
        self._settled = len(self._history)
        self.session.keep(index, {**line, "payload": {**payload, "message": None}}, "compacted")
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}
        places = dict.fromkeys((".content[0]", ".content[0].text"), f"$[{index}].payload.message")
        self._item(item, index, ".payload", {}, Record(), 0, places, is_summary=True)
        self._summary = self._history[-1].entry[TOKEN]
        return True

    def _read_event_msg(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Read the token counts of an answer, or move the last turns to a branch if the user took them back."""
        turns = payload.get("num_turns")
        if payload.get("type") == "token_count":
            self._read_counts(index, payload.get("info"))
        if payload.get("type") == _ROLLBACK and isinstance(turns, int) and turns > 0:
            # If there are fewer turns, Codex removes all.
            start = self._prompts[-min(turns, len(self._prompts))] if self._prompts else len(self._history)
            self._remove("alternative", start, taken=self._taken.pop(index, []))
        return False

    def _read_token_usage_record(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        usage, answer = payload.get("usage"), self._answer
        if answer is None or usage.__class__ is not dict:
            return False
        place = f"$[{index}].payload"
        answer.paths = {**answer.paths, "response_id": f"{place}.response_id", "usage": f"{place}.usage"}
        if isinstance(payload.get("response_id"), str):
            answer.response_id = payload["response_id"]
        answer.usage = _usage_of(usage)
        return False

    def _read_counts(self, index: int, info: Any) -> None:
        """Read the token counts of the last answer from an event, if no `token_usage_record` has them.

        Older versions write no such record. An event can repeat the counts of the one before: its sum is the same.
        """
        usage, total = (info.get(key) if info.__class__ is dict else None for key in ("last_token_usage", _TOTAL))
        answer, is_repeated, self._total = self._answer, total == self._total, total
        if answer is None or answer.usage is not None or usage.__class__ is not dict or is_repeated:
            return
        answer.usage = _usage_of(usage)
        answer.paths = {**answer.paths, "usage": f"$[{index}].payload.info.last_token_usage"}


class Turn(msgspec.Struct):
    """A turn of the file. `has_prompt` is false for a turn that only compacts."""

    has_prompt: bool = False
    compactions: list[int] = []
    """The indexes of the lines `compacted`."""


def _rollbacks_of_compactions(lines: list[Any]) -> dict[int, int]:
    """Return the line of the rollback that takes a compaction back, by the line of the compaction.

    A rollback takes back the compactions of the last turns, also of those between them without a prompt. Codex uses
    none of them as the base of the history, so the items before them are in the history again. An event begins a turn,
    or a prompt in older files, which have no such events.
    Source: `finalize_active_segment` in codex-rs/core/src/session/rollout_reconstruction.rs of openai/codex (seen
    2026-11-29).
    """
    rollbacks: dict[int, int] = {}
    if not any(line.__class__ is dict and line.get("type") == "compacted" for line in lines):
        return rollbacks
    turns, has_starts = [Turn()], False
    for index, line in enumerate(lines):
        kind, payload = (line.get("type"), line.get("payload")) if line.__class__ is dict else (None, None)
        if payload.__class__ is not dict:
            payload = line if kind.__class__ is str and kind in ITEMS and "payload" not in line else {}
        event = payload.get("type")
        if kind == "compacted":
            turns[-1].compactions.append(index)
        elif kind == "event_msg" and event.__class__ is str and event in _STARTS:
            has_starts = True
            turns.append(Turn())
        elif kind == "event_msg" and event == _ROLLBACK:
            count = payload.get("num_turns")
            while turns and isinstance(count, int) and count > 0:
                turn = turns.pop()
                count -= turn.has_prompt
                rollbacks.update(dict.fromkeys(turn.compactions, index))
            turns.append(Turn())
        elif kind == COMMUNICATION or ((kind == "response_item" or payload is line) and _is_prompt(payload)):
            if not has_starts:
                turns.append(Turn())
            turns[-1].has_prompt = True
    return rollbacks


_ROLLBACK = "thread_rolled_back"
_STARTS = ("task_started", "turn_started")
"""The event that begins a turn, by its name in the file and its later name."""
_STAYS = ("user", "developer", "system")
"""The roles of the messages that stay in the history beside a summary."""
_READ = frozenset(
    {
        *("response_item", "session_meta", "turn_context", "compacted", "event_msg", "token_usage_record"),
        COMMUNICATION,
    }
)
AGENTS = ("author", "recipient")
"""The fields of a line COMMUNICATION that its item has, too."""
_COUNTS = {
    "input_tokens": "input_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_output_tokens",
    "total_tokens": "total_tokens",
}


_TOTAL = "total_token_usage"


def _record_of(line: dict[str, Any]) -> Record:
    time = line.get("timestamp")
    return Record(created=time, paths={"created": "timestamp"}) if isinstance(time, str) else Record()


def _usage_of(counts: dict[str, Any]) -> Usage:
    counters: dict[str, Any] = {name: count_of(counts.get(key)) for name, key in _COUNTS.items()}
    return Usage(**counters)


def _has_output_object(item: dict[str, Any]) -> bool:
    """Return whether a result has the form of versions that wrote its content beside a flag of its success."""
    output = item.get("output") if str(item.get("type")).endswith(OUTPUT) else None
    return (
        output.__class__ is dict
        and output.keys() <= {"content", "success"}
        and output.get("content").__class__ in (str, list)
        and output.get("success").__class__ in (bool, type(None))
    )


_SLOTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "session_meta": (("base_instructions", "text"),),
    "turn_context": (("model",),),
    "compacted": (("replacement_history",), ("message",)),
}
"""The paths in the payload of the values that become values of the model, by the type of the line."""


def has_slot(line: Any) -> bool:
    """Return whether a value of a line that becomes a value of the model is None, or a list with None."""
    paths = _SLOTS.get(str(line.get("type")), ()) if line.__class__ is dict else ()
    values = [value_at(line.get("payload"), path) for path in paths]
    return any(value is None or (value.__class__ is list and None in value) for value in values)


def is_header(line: Any) -> bool:
    """Return whether a line is the first one of versions whose lines have no envelope."""
    return (
        line.__class__ is dict
        and "type" not in line
        and isinstance(line.get("id"), str)
        and isinstance(line.get("timestamp"), str)
        and "instructions" in line
    )


def is_snapshot(item: Any) -> bool:
    """Return whether an item holds the state of the files."""
    return item.__class__ is dict and item.get("type") == SNAPSHOT


def _kind_without_type(line: Any) -> str:
    """Return the residue entry of a line without a type. Older versions sent the instructions of a header."""
    if is_header(line) and not line["instructions"]:
        return "session_meta"
    return "state" if line.__class__ is dict and line.get("record_type") == "state" else OTHER


def _is_item(item: Any) -> bool:
    return item.__class__ is dict and TOKEN not in item


_CONTEXT_TEXT = re.compile(
    rf"\s*(?:<({'|'.join(sorted(CONTEXT))})\b[^>]*>.*</\1>|# AGENTS\.md instructions.*</INSTRUCTIONS>)\s*",
    re.IGNORECASE | re.DOTALL,
)


def _is_prompt(item: dict[str, Any]) -> bool:
    """Return whether an item begins a turn: a prompt or a message of another agent, and not context or a summary.

    Source: `is_user_turn_boundary` in codex-rs/core/src/context_manager/history.rs of openai/codex (seen 2026-11-27).
    """
    content = item.get("content")
    if item.get("type") == AGENT_MESSAGE:
        return True
    if item.get("role") not in ("user", "assistant") or content.__class__ is not list:
        return False
    texts = [part["text"] for part in content if part.__class__ is dict and isinstance(part.get("text"), str)]
    if item["role"] == "assistant":
        return len(texts) == len(content) == 1 and _is_communication(texts[0])
    return not any(_CONTEXT_TEXT.fullmatch(text) or text.startswith(SUMMARY) for text in texts)


def _is_communication(text: str) -> bool:
    """Return whether the text of an answer is a message of another agent, as versions before AGENT_MESSAGE wrote it."""
    if not text.startswith("{"):
        return False
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    names = ("author", "recipient", "content")
    return (
        value.__class__ is dict and all(isinstance(value.get(name), str) for name in names) and "trigger_turn" in value
    )
