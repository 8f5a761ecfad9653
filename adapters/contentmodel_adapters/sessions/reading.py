"""Read the messages of session files: replace the tokens of decoded messages by the fields of their lines."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from contentmodel.authoring import TOKEN, Hint, child_path, escaped, steps_of, translated, wire_fields, write
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.errors import DecodeError
from contentmodel.message import Branch, ChatMessage, FinishReason
from contentmodel.request import ChatRequest
from contentmodel.serialize import to_builtins
from contentmodel.usage import Usage

LINE = Hint[int](None, "line", "the index of the line of a session file")
INDEX = Hint[int](None, "index", "the index of a wire object in the list of its line")
RECORDS = Hint[int](None, "records", "a check value of the response id, the counts and the ending of a read answer")
IS_ERROR = Hint[bool](None, "is_error", "the flag of a failure in the line of a read result")
INSIDE = Hint[str](None, "inside", "the key of the inner API's residue that holds the other fields of the wire object")

NULLS = Hint[list[list[int]]](None, "file_nulls", "the nulls in the lists of a session file: their lines and indexes")

UNREADABLE = "unreadable"
"""The residue entry of lines that the inner adapter cannot decode."""
CONTENT = "content"
"""The residue entry of lines of known types that may hold content which is not in the conversation."""

Place = tuple[int, int | None]
"""The index of a line, and the index of a wire object in the list of the line, if it has one."""

_ODD = "contentmodel:odd"


def odd(value: Any) -> dict[str, Any]:
    """Return a part that every inner adapter decodes as unknown, for a value that it cannot decode."""
    return {"type": _ODD, _ODD: value}


def is_odd(value: Any) -> bool:
    """Return whether a value was returned by `odd`."""
    return value.__class__ is dict and value.get("type") == _ODD and _ODD in value


def without_odd(value: Any) -> Any:
    """Return a wire value with the values that `odd` marked, at any depth."""
    if value.__class__ is list:
        return [without_odd(item) for item in value]
    if value.__class__ is not dict:
        return value
    return value[_ODD] if is_odd(value) else {key: without_odd(item) for key, item in value.items()}


class Record(msgspec.Struct):
    """The values of a line that become fields of its message, and their paths in the line."""

    message_id: str | None = None
    created: str | None = None
    response_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    finish_reason: FinishReason | None = None
    artifact: Any = None
    outcome: str | None = None
    is_error: bool | None = None
    paths: Mapping[str, str] = {}
    """The path of each field in the line. It may have fields that are not set."""


class Source(NamedTuple):
    """The position of a wire object in the file, and the residue with the other fields of its line.

    `at` is the index of the wire object, if its line has a list of them.
    """

    line: int
    residue: dict[str, Any]
    record: Record
    at: int | None = None
    inside: str = ""
    """The path of the object that has the fields of `envelope`, if it is not the line itself."""

    @property
    def envelope(self) -> dict[str, Any]:
        """A new dict of the other fields of the line."""
        return wire_fields(self.residue)

    @property
    def place(self) -> str:
        """The path of the object that has the fields of `envelope`."""
        return self.inside or f"$[{self.line}]"

    def path(self, inside: str) -> str:
        """Return a path in the line as a path in the file. A path that begins with "$" is one already."""
        return inside if inside[:1] == "$" else f"$[{self.line}].{inside}"


class Part(msgspec.Struct):
    """Wire objects that are decoded together: the conversation, or a branch."""

    entries: list[dict[str, Any]] = []
    """The wire objects, each with its TOKEN."""
    places: dict[str, str] = {}
    """The path in the file for each path in the payload of the entries."""
    lines: dict[str, str] = {}
    """The path of the line of each wire object that is alone in its line, by the wire object's path in the payload."""
    branch: Branch | None = None
    """The branch without its messages; None for the conversation."""
    fields: dict[str, Any] = {}
    """Further fields of the payload for the inner adapter."""
    positions: dict[str, int] = {}
    """The index of the entry of each answer, by the id of the answer."""

    def add(self, field: str, entry: dict[str, Any], places: Mapping[str, str], line: str | None = None) -> None:
        """Add a wire object of a field. `places` has the path in the file for each path in the object.

        `line` is the path of its line if it is alone there.
        """
        path = f"$.{field}[{len(self.entries)}]"
        self.entries.append(entry)
        self.places |= {path + inside: place for inside, place in places.items()}
        if line is not None:
            self.lines[path] = line


class Session(msgspec.Struct):
    """A file that was read: the wire objects of its messages, and all other lines."""

    sources: list[Source] = []
    """The source of each wire object. The value of TOKEN is an index of this list."""
    parts: list[Part] = []
    """The conversation, then its branches."""
    kept: dict[str, list[list[Any]]] = {}
    """The other lines with their indexes, by type."""
    model: str | None = None
    model_path: str | None = None
    head_line: int | None = None
    """The line that holds the instructions and tools that the agent sends, if the file has one."""

    nulls: list[list[int]] = []
    """The line and the index of each null in a list of wire objects. The other nulls replace read wire objects."""

    def token(
        self,
        line: int,
        envelope: dict[str, Any],
        record: Record,
        index: int | None = None,
        inside: str = "",
        hints: Mapping[str, Any] = {},
    ) -> int:
        """Store the source of a wire object, and return its token. `hints` are further hints of the wire object."""
        place = {LINE.key: line} if index is None else {LINE.key: line, INDEX.key: index}
        self.sources.append(Source(line, {**escaped(envelope), **hints, **place}, record, index, inside))
        return len(self.sources) - 1

    def keep(self, index: int, line: Any, kind: str) -> None:
        """Keep a line that is not part of a message."""
        self.kept.setdefault(kind, []).append([index, line])


def sources_of(part: Part, session: Session) -> Iterator[Source]:
    """Yield the sources of the wire objects of a part."""
    for entry in part.entries:
        blocks = entry.get("content") if TOKEN not in entry else None
        for wire in (entry, *(blocks if blocks.__class__ is list else ())):
            if TOKEN in wire:
                yield session.sources[wire[TOKEN]]


def mark_odd(error: DecodeError, part: Part, session: Session, field: str) -> set[Place]:
    """Mark each value in a list that has a fault as odd. Return the places of the wire objects with other faults.

    Raise the error if a fault is in no line.
    """
    bad: set[Place] = set()
    fresh: set[int] = set()
    for fault in error.faults:
        path_steps: list[Any] = [*steps_of(fault.path), "", ""]
        name, at, *steps = path_steps
        if name == field and isinstance(at, int):
            entry = part.entries[at]
            if not _mark(entry, steps, fresh):
                is_block = TOKEN not in entry and len(steps) > 1 and isinstance(steps[1], int)
                source = session.sources[(entry["content"][steps[1]] if is_block else entry)[TOKEN]]
                bad.add((source.line, source.at))
            continue
        path, exact = translated(fault.path, part.places)
        if not exact:
            raise error
        bad.add((int(path[2 : path.index("]")]), None))
    return bad


def _mark(value: Any, steps: Sequence[str | int], fresh: set[int]) -> bool:
    """Mark the innermost item of a list on a path that is not marked yet. Return whether there is one.

    `fresh` are the ids of the containers that were copied before: the others are of the input, which is not changed.
    """
    step, *rest = *steps, ""
    try:
        inner = value[step]
    except (LookupError, TypeError):
        return False
    if is_odd(inner):
        return False
    if inner.__class__ in (dict, list) and id(inner) not in fresh:
        inner = value[step] = inner.copy()
        fresh.add(id(inner))
    if _mark(inner, rest, fresh):
        return True
    if step.__class__ is not int:
        return False
    token = {TOKEN: inner.pop(TOKEN)} if inner.__class__ is dict and TOKEN in inner else {}
    value[step] = {**odd(without_odd(inner)), **token}
    return True


def odd_paths(part: Part, field: str) -> Iterator[str]:
    """Yield the path in the file of each value that is marked as odd."""
    pending: list[tuple[str, Any]] = [(f"$.{field}[{at}]", entry) for at, entry in enumerate(part.entries)][::-1]
    while pending:
        path, value = pending.pop()
        if is_odd(value):
            yield translated(path, part.places)[0]
        elif value.__class__ is list:
            pending.extend((f"{path}[{at}]", item) for at, item in reversed([*enumerate(value)]))
        elif value.__class__ is dict:
            pending.extend((child_path(path, key), item) for key, item in reversed(value.items()))


class _Read(NamedTuple):
    """A value that was read, and the sources of its fields."""

    value: object
    fields: Source | None = None
    """The source of the residue."""
    first: Source | None = None
    """The source of the id and the time of a message: its first line."""
    last: Source | None = None
    """The source of the other records: the last line of a message."""


_RECORDED = frozenset(
    {"message_id", "created", "response_id", "usage", "finish_reason", "artifact", "outcome", "is_error"}
)


class Reader:
    """Replace the tokens in the residue of decoded messages by the fields of their lines."""

    def __init__(self, api: str, inner: str, session: Session, *, writes_records: bool) -> None:
        self._api, self._inner, self._session, self._writes_records = api, inner, session, writes_records
        self._read: dict[int, _Read] = {}

    def own_paths(self, owner: object, field: str) -> list[tuple[str, Any]] | None:
        """Return the paths of a field that came from the lines, each with the value that is residue; None if none did.

        The paths are made when they are read: a file has many fields, and a conversion loses few of them.
        """
        if isinstance(owner, ChatRequest):
            return self._paths_in_request(field)
        read = self._read.get(id(owner))
        if read is None:
            return None
        name = field.removeprefix("extra.")
        if name != field:
            source = read.fields
            has_field = source is not None and name in source.residue
            return [(f"{source.place}.{name}", source.residue[name])] if source is not None and has_field else None
        source = read.first if field in ("message_id", "created") else read.last
        path = None if source is None or field not in _RECORDED else source.record.paths.get(field)
        return None if path is None or source is None else [(source.path(path), None)]

    def _paths_in_request(self, field: str) -> list[tuple[str, Any]] | None:
        session = self._session
        if field == "branches":
            paths: list[str] = []
            for part in session.parts[1:]:
                # In a line with several wire objects, only those of the branch.
                lines = dict.fromkeys(f"$[{source.line}]" for source in sources_of(part, session) if source.at is None)
                paths += (*lines, *(path for path in part.places.values() if path.partition("]")[0] + "]" not in lines))
            return [(path, None) for path in paths] or None
        if field == "model":
            return None if session.model_path is None else [(session.model_path, None)]
        entries = session.kept.get(field.removeprefix("extra."))
        return None if entries is None else [(f"$[{index}]", line) for index, line in entries]

    def message(self, message: ChatMessage, trace: Any) -> ChatMessage:
        """Return a message with the fields of its lines."""
        extra, message_source = self._own(message.extra)
        contents, sources = [], [] if message_source is None else [message_source]
        for content in message.contents:
            changed, source = self._content(content, trace)
            contents.append(self._with_result_record(changed, source or message_source, trace))
            if source is not None:
                sources.append(source)
        if not sources:
            return message
        read = self._with_record(replace(message, contents=contents, extra=extra), sources)
        if read.role == "assistant" and not self._writes_records:
            read = RECORDS.on(read, self._api, check_value(read))
        trace.replaced(message, read)
        self._read[id(read)] = _Read(read, message_source, sources[0], sources[-1])
        return read

    def _content(self, content: AIContent, trace: Any) -> tuple[AIContent, Source | None]:
        content = self._with_odd_apart(content, trace)
        block = content.block if isinstance(content, UnknownContent) else None
        if isinstance(block, dict) and TOKEN in block:
            source = self._session.sources[block[TOKEN]]
            residue = {**source.residue, INSIDE.key: "block"}
            inner_block = {key: value for key, value in block.items() if key != TOKEN}
            changed: dict[str, Any] = {"block": inner_block, "extra": {**(content.extra or {}), self._api: residue}}
            read: AIContent = replace(content, **changed)
        else:
            extra, line_source = self._own(content.extra)
            if line_source is None:
                return content, None
            source, read = line_source, replace(content, extra=extra)
        self._read[id(read)] = _Read(read, source)
        trace.replaced(content, read)
        return read, source

    def _with_odd_apart(self, content: AIContent, trace: Any) -> AIContent:
        """Return a content in which values marked as odd are of this format: the inner API must not get them."""
        read = content
        if isinstance(content, UnknownContent) and is_odd(content.block):
            read = replace(content, api=self._api)
        elif isinstance(content, ToolResultContent):
            outputs = [self._with_odd_apart(output, trace) for output in content.output_list]
            if any(new is not old for new, old in zip(outputs, content.output_list, strict=True)):
                read = replace(content, outputs=outputs)
        if read is not content:
            trace.replaced(content, read)
        return read

    def _with_result_record(self, content: AIContent, source: Source | None, trace: Any) -> AIContent:
        """Return a result with the program's form of it and its outcome."""
        if source is None or not isinstance(content, ToolResultContent):
            return content
        record = source.record
        values = {"artifact": record.artifact, "outcome": record.outcome, "is_error": record.is_error}
        changed = {name: value for name, value in values.items() if value is not None}
        if not changed:
            return content
        read = replace(content, **changed)
        if record.is_error is not None:
            read = IS_ERROR.on(read, self._api, record.is_error)
        trace.replaced(content, read)
        self._read[id(read)] = _Read(read, source, last=source)
        return read

    def _own(self, extra: dict[str, Any] | None) -> tuple[dict[str, Any] | None, Source | None]:
        """Return `extra` with the fields of the line in place of its token, and the source."""
        residue = (extra or {}).get(self._inner)
        if residue is None:
            return extra, None
        inside = next(
            (key for key, value in residue.items() if value.__class__ is dict and isinstance(value.get(TOKEN), int)),
            None,
        )
        if inside is None and not isinstance(residue.get(TOKEN), int):
            return extra, None
        holder = residue if inside is None else residue[inside]
        source = self._session.sources[holder[TOKEN]]
        fields = {key: value for key, value in holder.items() if key != TOKEN}
        residue = fields if inside is None else {**residue, inside: fields}
        line_fields = source.residue if inside is None else {**source.residue, INSIDE.key: inside}
        others = {key: value for key, value in (extra or {}).items() if key != self._inner}
        return {**others, **({self._inner: residue} if residue else {}), self._api: line_fields}, source

    def _with_record(self, message: ChatMessage, sources: list[Source]) -> ChatMessage:
        first, last = sources[0].record, sources[-1].record
        origin = message.origin
        if origin is not None and first.model is not None:
            origin = replace(origin, model=first.model)
        return replace(
            message,
            message_id=message.message_id if first.message_id is None else first.message_id,
            created=first.created,
            response_id=last.response_id,
            usage=last.usage,
            finish_reason=last.finish_reason,
            origin=origin,
        )


def check_value(message: ChatMessage) -> int:
    """Return a number that changes if the response id, the usage or the finish reason does; 0 without them."""
    records = (message.response_id, message.usage, message.finish_reason)
    return 0 if records == (None, None, None) else zlib.crc32(write(to_builtins(records)))
