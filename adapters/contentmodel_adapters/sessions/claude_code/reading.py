"""Read the messages of a session of Claude Code from its lines."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import Any

from contentmodel.authoring import TOKEN
from contentmodel.errors import DecodeError
from contentmodel.message import Branch, FinishReason
from contentmodel.usage import Usage
from contentmodel_adapters.sessions.claude_code.blocks import (
    API_ERROR,
    CONTEXT,
    INNER,
    SHAPE,
    SUPERSEDED,
    SYNTHETIC,
    has_context,
    text_path,
    with_value,
)
from contentmodel_adapters.sessions.claude_code.tree import Line, Tree, mark_of, versions
from contentmodel_adapters.sessions.lines import value_at
from contentmodel_adapters.sessions.reading import CONTENT, UNREADABLE, Part, Place, Record, Session, odd

_OTHER = "other"
"""The residue entry of lines without a type."""
OUTCOMES = {"user-rejected": "denied", "interrupted": "interrupted"}
"""The outcome of a call for a `toolDenialKind`."""
_PATHS = {
    "message_id": "uuid",
    "created": "timestamp",
    "response_id": "message.id",
    "usage": "message.usage",
    "finish_reason": "message.stop_reason",
    "artifact": "toolUseResult",
    "outcome": "toolDenialKind",
}
"""The field of a line for each field of a record."""


class Reading:
    """The state of reading one file."""

    def __init__(self, lines: list[Any], unreadable: Collection[Place]) -> None:
        self.session = Session(parts=[Part()])
        self._taken: set[int] = set()
        self._unreadable = unreadable
        with_ids = [
            Line(at, line, can_decode=(at, None) not in unreadable) for at, line in enumerate(lines) if _has_id(line)
        ]
        current = versions(with_ids)
        self._read(Tree(current, mark_of(lines)))
        self._read_shape(lines, unreadable)
        old = {line.index for line in with_ids} - {line.index for line in current}
        for index, line in enumerate(lines):
            if index not in self._taken:
                kind = SUPERSEDED if index in old else _kept_as(index, line)
                self.session.keep(index, line, UNREADABLE if (index, None) in unreadable else kind)

    def _read(self, tree: Tree) -> None:
        *compacted, current = tree.segments()
        boundary = next((line for line in current if line.is_boundary), None)
        anchor, preserved = (None, []) if boundary is None else tree.preserved(boundary)
        moved = {line.uuid for line in preserved}
        for line in current:
            self._add(self.session.parts[0], line)
            if line.uuid == anchor:
                self._add_all(self.session.parts[0], preserved)
        for segment in compacted:
            removed = [line for line in segment if line.uuid not in moved or line.index not in self._taken]
            self._branch(Branch(kind="compacted"), removed)
        self._read_branches(tree)

    def _read_branches(self, tree: Tree) -> None:
        """Add branches for messages beside the path: those of sub-agents, and those that the user took back."""
        summary = tree.summary()
        groups: dict[str, list[Line]] = {}
        group_of: dict[str, str] = {}
        for line in tree.lines:
            if line.index in self._taken or not (line.is_message or line.line.get("rendered")):
                continue
            above = tree.parent(line)
            name = group_of.get(above.uuid, line.uuid) if above is not None else line.uuid
            group_of[line.uuid] = name
            groups.setdefault(name, []).append(line)
        for lines in groups.values():
            first = lines[0]
            if not any(line.is_message for line in lines):
                continue
            above = tree.parent(first)
            agent = first.line.get("agentId")
            is_compacted = summary is not None and above is None and first.order < summary.order
            branch = Branch(
                kind="agent" if first.is_side else "compacted" if is_compacted else "alternative",
                parent_id=None if above is None else above.uuid,
                name=agent if isinstance(agent, str) else None,
            )
            self._branch(branch, lines)

    def _branch(self, branch: Branch, lines: list[Line]) -> None:
        part = Part(branch=branch)
        self._add_all(part, lines)
        if part.entries:
            self.session.parts.append(part)

    def _add_all(self, part: Part, lines: Iterable[Line]) -> None:
        for line in lines:
            self._add(part, line)

    # -- lines ---------------------------------------------------------------------------------------------------------

    def _add(self, part: Part, line: Line) -> None:
        """Add the message of a line to a part, if the line has a readable one."""
        if line.index in self._taken or not line.can_decode:
            return
        kind, path = line.line.get("type"), text_path(line.line)
        if path is not None:
            self._add_text(part, line, path)
        elif kind == "attachment":
            if not self._add_attachment(part, line):
                return
        elif line.is_readable and not line.is_api_error:
            add = self._add_user if kind == "user" else self._add_answer
            add(part, line, line.line["message"])
        else:
            return
        self._taken.add(line.index)

    def _add_text(self, part: Part, line: Line, path: tuple[str, ...]) -> None:
        """Add a message of the user whose content is at a path of TEXTS. None replaces it in the fields of the line."""
        fields = with_value(line.line, path, None)
        if path[0] == "attachment":
            inside = {f"attachment.{key}": value for key, value in fields["attachment"].items()}
            fields = {**fields, "attachment": None, **inside}
        token = self.session.token(line.index, fields, self._record(line))
        entry, at = {"role": "user", "content": value_at(line.line, path), TOKEN: token}, f"$[{line.index}]"
        part.add(INNER.messages, entry, {"": at, ".content": f"{at}.{'.'.join(path)}"}, at)

    def _add_user(self, part: Part, line: Line, message: dict[str, Any]) -> None:
        record = self._record(line)
        if len([*line.ids("tool_result", "tool_use_id")]) == 1:
            record.artifact = line.line.get("toolUseResult")
            record.outcome = OUTCOMES.get(str(line.line.get("toolDenialKind")))
        token = self.session.token(line.index, _envelope(line.line, message, record), record)
        entry, at = {"role": "user", "content": message["content"], TOKEN: token}, f"$[{line.index}]"
        part.add(INNER.messages, entry, {"": f"{at}.message"}, at)

    def _add_answer(self, part: Part, line: Line, message: dict[str, Any]) -> None:
        """Add an answer, or a block of it: an answer has one line for each block, all with the answer's id."""
        content = message["content"]
        record = self._answer_record(line, message)
        token = self.session.token(line.index, _envelope(line.line, message, record), record)
        blocks, message_path = content if isinstance(content, list) else [], f"$[{line.index}].message"
        if not blocks:
            part.add(INNER.messages, {"role": "assistant", "content": content, TOKEN: token}, {"": message_path})
            return
        at = part.positions.get(line.answer_id or "")
        if at is None:
            at = len(part.entries)
            part.add(INNER.messages, {"role": "assistant", "content": []}, {"": message_path})
            if line.answer_id is not None:
                part.positions[line.answer_id] = at
        joined = part.entries[at]["content"]
        for number, block in enumerate(blocks):
            place = f"$.messages[{at}].content[{len(joined)}]"
            part.places[place] = f"{message_path}.content[{number}]"
            if len(blocks) == 1:
                part.lines[place] = f"$[{line.index}]"
            is_valid = block.__class__ is dict and TOKEN not in block
            joined.append({**(block if is_valid else odd(block)), TOKEN: token})

    def _add_attachment(self, part: Part, line: Line) -> bool:
        """Add the messages that the program put into the prompt (`rendered`), each by itself."""
        rendered, role = line.line.get("rendered"), line.line.get("renderedRole", "user")
        if rendered.__class__ is not list or not rendered or role not in ("user", "system"):
            return False
        record = self._record(line)
        if len(rendered) == 1 and _is_rendered(rendered[0]):
            self._add_rendered(part, line, role, 0, record, {**line.line, "rendered": None})
            return True
        light, heavy, is_read = [None] * len(rendered), [None] * len(rendered), False
        for number, entry in enumerate(rendered):
            if _is_rendered(entry) and (line.index, number) not in self._unreadable:
                self._add_rendered(part, line, role, number, record)
                is_read = True
            elif entry is None:
                self.session.nulls.append([line.index, number])
            else:
                heavy[number] = entry
        if is_read:
            self.session.keep(line.index, {**line.line, "rendered": light}, "attachment")
        if is_read and any(entry is not None for entry in heavy):
            self.session.keep(line.index, {"rendered": heavy}, CONTENT)
        return is_read

    def _add_rendered(
        self, part: Part, line: Line, role: str, number: int, record: Record, envelope: dict[str, Any] | None = None
    ) -> None:
        """Add one message of `rendered`. `envelope` are the fields of a line that has only this one."""
        token = self.session.token(line.index, envelope or {}, record, number if envelope is None else None)
        at, content = f"$[{line.index}]", line.line["rendered"][number]["content"]
        entry, places = {"role": role, "content": content, TOKEN: token}, {"": f"{at}.rendered[{number}]"}
        part.add(INNER.messages, entry, places, None if envelope is None else at)

    # -- the model request ---------------------------------------------------------------------------------------------

    def _read_shape(self, lines: list[Any], unreadable: Collection[Place]) -> None:
        """Read the instructions and tools of the newest request that is not of a sub-agent."""
        shapes: dict[Any, tuple[int, dict[str, Any]]] = {}
        used: list[tuple[bool, tuple[int, dict[str, Any]]]] = []
        for index, line in enumerate(lines):
            kind = line.get("type") if line.__class__ is dict else None
            if kind == "api-request-shape" and line.get("shape").__class__ is dict:
                shapes[str(line.get("shapeHash"))] = index, line
            elif kind == "api-request" and str(line.get("shapeHash")) in shapes:
                used.append((line.get("agentId") is None, shapes[str(line.get("shapeHash"))]))
        # A file of a sub-agent has only its own requests.
        main = [shape for is_main, shape in used if is_main] or [shape for _, shape in used] or [*shapes.values()]
        if main and (main[-1][0], None) not in unreadable:
            self._add_shape(*main[-1])

    def _add_shape(self, index: int, line: dict[str, Any]) -> None:
        shape, part = line["shape"], self.session.parts[0]
        part.fields = {name: shape[name] for name in SHAPE if shape.get(name) is not None}
        part.places.update({f"$.{name}": f"$[{index}].shape.{name}" for name in part.fields})
        # An empty list is a slot: those of the file are read, too. Its nulls are kept.
        slots: dict[str, Any] = {name: [] for name in part.fields}
        self.session.keep(index, {**line, "shape": {**shape, **slots}}, line["type"])
        self.session.head_line = index
        self._taken.add(index)

    # -- records -------------------------------------------------------------------------------------------------------

    def _record(self, line: Line) -> Record:
        created = line.line.get("timestamp")
        return Record(message_id=line.uuid, created=created if isinstance(created, str) else None, paths=_PATHS)

    def _answer_record(self, line: Line, message: dict[str, Any]) -> Record:
        """Return the record of an answer's line. Each line of an answer repeats the values of the response."""
        record = self._record(line)
        ending = ending_of(message)
        if ending is None:
            return record
        record.usage, record.finish_reason = ending
        record.response_id = line.answer_id
        model = message.get("model")
        record.model = model if isinstance(model, str) and model != SYNTHETIC else None
        self.session.model = record.model or self.session.model
        if record.model is not None:
            self.session.model_path = f"$[{line.index}].message.model"
        return record


def ending_of(message: dict[str, Any]) -> tuple[Usage | None, FinishReason | None] | None:
    """Return the usage and the finish reason of an answer; None if they are not valid."""
    ending: dict[str, Any] = {key: message[key] for key in ("usage", "stop_reason", "stop_sequence") if key in message}
    whole: dict[str, Any] = {"type": "message", "role": "assistant", "content": [], "model": "", "id": ""}
    try:
        response = INNER.decode_answer({**whole, **ending})
    except DecodeError:
        return None
    return response.usage, response.choices[0].finish_reason if response.choices else None


def _kept_as(index: int, line: Any) -> str:
    """Return the residue entry of a line that no message was read from."""
    kind = line.get("type") if line.__class__ is dict else None
    if kind in ("user", "assistant") and _has_id(line):
        return API_ERROR if Line(index, line).is_api_error else UNREADABLE
    attachment = line.get("attachment") if kind == "attachment" else None
    if kind == "attachment" and (attachment.__class__ is not dict or line.get("rendered")):
        return CONTEXT
    if attachment.__class__ is dict and has_context(attachment) and "rendered" not in line:
        return CONTEXT
    return kind if isinstance(kind, str) else _OTHER


def _is_rendered(entry: Any) -> bool:
    return entry.__class__ is dict and [*entry] == ["content"]


def _has_id(line: Any) -> bool:
    return line.__class__ is dict and isinstance(line.get("uuid"), str)


def _envelope(line: dict[str, Any], message: dict[str, Any], record: Record) -> dict[str, Any]:
    """Return the fields of a line without the content of its message. A field `x` of the message is `message.x`."""
    fields = {**line, "message": None}
    if record.artifact is not None:
        fields["toolUseResult"] = None
    message_fields = {key: None if key in ("role", "content") else value for key, value in message.items()}
    # Equal keys of all lines are one object.
    return {**fields, **{sys.intern(f"message.{key}"): value for key, value in message_fields.items()}}
