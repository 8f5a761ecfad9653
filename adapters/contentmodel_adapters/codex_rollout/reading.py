"""Find the history of a session in the lines of a Codex rollout."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from contentmodel.authoring import TOKEN
from contentmodel.message import Branch
from contentmodel.usage import Usage
from contentmodel_adapters.codex_rollout.blocks import ITEMS, OUTPUT, PASSTHROUGH
from contentmodel_adapters.shared.session_lines import count_of
from contentmodel_adapters.shared.session_reading import UNREADABLE, Part, Record, Session

OTHER = "other"
"""The residue entry of lines without a type, and of lines with a null where reading a line sets None (`has_slot`)."""


class Reading:
    """The state of reading one file. `_read_TYPE` reads the lines of a type."""

    def __init__(self, lines: list[Any], unreadable: Collection[int]) -> None:
        self.session = Session(parts=[Part()])
        self._unreadable = unreadable
        self._answer: Record | None = None
        """The record of the last item of the model."""
        self._model_line: list[Any] | None = None
        for index, line in enumerate(lines):
            self._read(index, line)

    def _read(self, index: int, line: Any) -> None:
        kind = line.get("type") if line.__class__ is dict else None
        if kind.__class__ is not str:
            self.session.keep(index, line, OTHER)
        elif index in self._unreadable:
            self.session.keep(index, line, UNREADABLE)
        elif kind in ITEMS and "payload" not in line:
            self._item(line, index, "", {}, Record())
        elif line.get("payload").__class__ is not dict:
            self.session.keep(index, line, kind)
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
    ) -> bool:
        """Add an item to the conversation. Return False if it cannot be added."""
        if TOKEN in item:
            return False
        part = self.session.parts[0]
        item, envelope = _without_passthrough(item, envelope, path)
        token = self.session.token(index, envelope, record, at)
        part.places[f"$.input[{len(part.entries)}]"] = f"$[{index}]{path}"
        part.entries.append({**item, TOKEN: token})
        kind = str(item.get("type", "message"))
        if not kind.endswith(OUTPUT) and item.get("role", "assistant") == "assistant":
            self._answer = record
        return True

    # -- by the type of the line ---------------------------------------------------------------------------------------

    def _read_response_item(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        record = Record()
        if isinstance(line.get("timestamp"), str):
            record.created, record.paths = line["timestamp"], _PATHS
        return self._item(payload, index, ".payload", {**line, "payload": None}, record)

    def _read_session_meta(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        instructions = payload.get("base_instructions")
        part = self.session.parts[0]
        if instructions.__class__ is not dict or not isinstance(instructions.get("text"), str) or part.fields:
            return False
        part.fields["instructions"] = instructions["text"]
        part.places["$.instructions"] = f"$[{index}].payload.base_instructions.text"
        rest = {**payload, "base_instructions": {**instructions, "text": None}}
        self.session.keep(index, {**line, "payload": rest}, "session_meta")
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
        """Replace the history. The previous items become a branch."""
        history = payload.get("replacement_history")
        if history.__class__ is not list or not history or any(not _is_item(item) for item in history):
            return False
        self._branch("compacted", 0)
        self.session.keep(index, {**line, "payload": {**payload, "replacement_history": None}}, "compacted")
        for at, item in enumerate(history):
            self._item(item, index, f".payload.replacement_history[{at}]", {}, Record(), at)
        return True

    def _read_event_msg(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Move the last turns to a branch if the user took them back."""
        turns = payload.get("num_turns")
        if payload.get("type") == "thread_rolled_back" and isinstance(turns, int) and turns > 0:
            prompts = [at for at, entry in enumerate(self.session.parts[0].entries) if _is_prompt(entry)]
            if len(prompts) >= turns:
                self._branch("alternative", prompts[-turns])
        return False

    def _read_token_usage_record(self, index: int, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        usage, answer = payload.get("usage"), self._answer
        if answer is None or usage.__class__ is not dict:
            return False
        place = f"$[{index}].payload"
        answer.paths = {**answer.paths, "response_id": f"{place}.response_id", "usage": f"{place}.usage"}
        if isinstance(payload.get("response_id"), str):
            answer.response_id = payload["response_id"]
        counts: dict[str, Any] = {name: count_of(usage.get(key)) for name, key in _COUNTS.items()}
        answer.usage = Usage(**counts)
        return False

    def _branch(self, kind: str, start: int) -> None:
        """Move the entries of the conversation from `start` on to a branch."""
        session, main = self.session, self.session.parts[0]
        rest = main.entries[start:]
        if not rest:
            return
        moved = {f"$.input[{at}]": f"$.input[{at - start}]" for at in range(start, len(main.entries))}
        places = {new: main.places.pop(old) for old, new in moved.items()}
        whole = {new: main.lines.pop(old) for old, new in moved.items() if old in main.lines}
        branch = Branch(kind=kind)
        session.parts.append(Part(entries=rest, places=places, lines=whole, branch=branch))
        del main.entries[start:]


_READ = frozenset({"response_item", "session_meta", "turn_context", "compacted", "event_msg", "token_usage_record"})
_PATHS = {"created": "timestamp"}
_COUNTS = {
    "input_tokens": "input_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_output_tokens",
    "total_tokens": "total_tokens",
}


def _without_passthrough(
    item: dict[str, Any], envelope: dict[str, Any], path: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Move the field PASSTHROUGH of an item to the fields of its line. Return both."""
    if PASSTHROUGH not in item:
        return item, envelope
    rest = {key: value for key, value in item.items() if key != PASSTHROUGH}
    return rest, {**envelope, f"{path}.{PASSTHROUGH}"[1:]: item[PASSTHROUGH]}


_SLOTS = {
    "session_meta": ("base_instructions", "text"),
    "turn_context": ("model",),
    "compacted": ("replacement_history",),
}
"""The path in the payload of the value that becomes a value of the model, by the type of the line."""


def has_slot(line: Any) -> bool:
    """Return whether the value of a line that becomes a value of the model is None."""
    path = _SLOTS.get(str(line.get("type"))) if line.__class__ is dict else None
    held = line.get("payload") if path is not None else ""
    for key in path or ():
        held = held.get(key, "") if held.__class__ is dict else ""
    return held is None


def _is_item(item: Any) -> bool:
    return item.__class__ is dict and TOKEN not in item


def _is_prompt(item: dict[str, Any]) -> bool:
    """Return whether an item is a prompt, and not context that the program adds with the role "user"."""
    if item.get("role") != "user" or item.get("content").__class__ is not list:
        return False
    first = item["content"][0] if item["content"] else None
    text = first.get("text") if first.__class__ is dict else None
    return not (isinstance(text, str) and text.startswith("<") and not text.startswith("<image"))
