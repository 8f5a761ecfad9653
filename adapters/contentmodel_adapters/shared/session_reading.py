"""Read the messages of session files: replace the tokens of decoded messages by the fields of their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from contentmodel.authoring import TOKEN, Hint, escaped, translated
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.errors import DecodeError
from contentmodel.message import Branch, ChatMessage, FinishReason
from contentmodel.request import ChatRequest
from contentmodel.usage import Usage

LINE = Hint[int](None, "line", "the index of the line of a session file")
INDEX = Hint[int](None, "index", "the index of a wire object in the list of its line")
INSIDE = Hint[str](None, "inside", "the key of the inner API's residue that holds the other fields of the wire object")

UNREADABLE = "unreadable"
"""The residue entry of lines that the inner adapter cannot decode."""


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
    paths: dict[str, str] = {}


class Source(NamedTuple):
    """The position of a wire object in the file, and the other fields of its line (`envelope`).

    `at` is the index of the wire object, if its line has a list of them.
    """

    line: int
    envelope: dict[str, Any]
    record: Record
    at: int | None = None
    inside: str = ""
    """The path of the object that has the fields of `envelope`, if it is not the line itself."""

    @property
    def place(self) -> str:
        """The path of the object that has the fields of `envelope`."""
        return self.inside or f"$[{self.line}]"


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

    def token(
        self, line: int, envelope: dict[str, Any], record: Record, index: int | None = None, inside: str = ""
    ) -> int:
        """Store the source of a wire object, and return its token."""
        self.sources.append(Source(line, envelope, record, index, inside))
        return len(self.sources) - 1

    def keep(self, index: int, line: Any, kind: str) -> None:
        """Keep a line that is not part of a message."""
        self.kept.setdefault(kind, []).append([index, line])


class Translation:
    """Translate the paths of an inner payload to those of the file."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __call__(self, path: str) -> tuple[str, bool]:
        return translated(path, self._places)


def sources_of(part: Part, session: Session) -> Iterator[Source]:
    """Yield the sources of the wire objects of a part."""
    for entry in part.entries:
        blocks = entry.get("content") if TOKEN not in entry else None
        for wire in (entry, *(blocks if blocks.__class__ is list else ())):
            if TOKEN in wire:
                yield session.sources[wire[TOKEN]]


def lines_at(error: DecodeError, part: Part) -> Iterator[int]:
    """Yield the index of the line for each fault of an inner payload."""
    for fault in error.faults:
        path, exact = translated(fault.path, part.places)
        if exact:
            yield int(path[2 : path.index("]")])


class Reader:
    """Replace the tokens in the residue of decoded messages by the fields of their lines."""

    def __init__(self, api: str, inner: str, session: Session) -> None:
        self._api, self._inner, self._session = api, inner, session
        self._paths: list[tuple[object, str, str, Any]] = []

    def own_paths(self, request: ChatRequest) -> dict[tuple[int, str], list[tuple[str, Any]]]:
        """Return the paths of the fields that came from the lines, by object and field."""
        paths: dict[tuple[int, str], list[tuple[str, Any]]] = {}
        for owner, field, path, residue in self._paths:
            paths.setdefault((id(owner), field), []).append((path, residue))
        for kind, kept in self._session.kept.items():
            paths[id(request), f"extra.{kind}"] = [(f"$[{index}]", line) for index, line in kept]
        branches = [(path, None) for part in self._session.parts[1:] for path in self._lines_of_branch(part)]
        if branches:
            paths[id(request), "branches"] = branches
        if self._session.model_path is not None:
            paths[id(request), "model"] = [(self._session.model_path, None)]
        return paths

    def _lines_of_branch(self, part: Part) -> Iterator[str]:
        """Yield the paths of a branch: its lines. In a line with several wire objects, only those of the branch."""
        tokens = [source for source in sources_of(part, self._session) if source.at is None]
        yield from dict.fromkeys(f"$[{source.line}]" for source in tokens)
        lines = {f"$[{source.line}]" for source in tokens}
        yield from (place for place in part.places.values() if place.partition("]")[0] + "]" not in lines)

    def messages_of(self, messages: Iterable[ChatMessage], trace: Any) -> list[ChatMessage]:
        """Return messages with the fields of their lines."""
        return [self._message(message, trace) for message in messages]

    def _message(self, message: ChatMessage, trace: Any) -> ChatMessage:
        extra, own = self._own(message.extra)
        contents, sources = [], [] if own is None else [own]
        for content in message.contents:
            changed, source = self._content(content, trace)
            contents.append(self._with_result_record(changed, source or own, trace))
            if source is not None:
                sources.append(source)
        if not sources:
            return message
        read = self._with_record(replace(message, contents=contents, extra=extra), sources)
        trace.replaced(message, read)
        if own is not None:
            self._note(read, own)
        self._note_record(read, sources)
        return read

    def _content(self, content: AIContent, trace: Any) -> tuple[AIContent, Source | None]:
        block = content.block if isinstance(content, UnknownContent) else None
        if isinstance(block, dict) and TOKEN in block:
            source = self._session.sources[block[TOKEN]]
            own = {**_residue(source), INSIDE.key: "block"}
            rest = {key: value for key, value in block.items() if key != TOKEN}
            changed: dict[str, Any] = {"block": rest, "extra": {**(content.extra or {}), self._api: own}}
            read: AIContent = replace(content, **changed)
        else:
            extra, known = self._own(content.extra)
            if known is None:
                return content, None
            source, read = known, replace(content, extra=extra)
        self._note(read, source)
        trace.replaced(content, read)
        return read, source

    def _with_result_record(self, content: AIContent, source: Source | None, trace: Any) -> AIContent:
        """Return a result with the program's form of it and its outcome."""
        if source is None or not isinstance(content, ToolResultContent):
            return content
        record = source.record
        values = {"artifact": record.artifact, "outcome": record.outcome}
        changed = {name: value for name, value in values.items() if value is not None}
        if not changed:
            return content
        read = replace(content, **changed)
        trace.replaced(content, read)
        self._paths += [(read, name, f"$[{source.line}].{record.paths[name]}", None) for name in changed]
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
        rest = {key: value for key, value in holder.items() if key != TOKEN}
        residue = rest if inside is None else {**residue, inside: rest}
        own = _residue(source) if inside is None else {**_residue(source), INSIDE.key: inside}
        others = {key: value for key, value in (extra or {}).items() if key != self._inner}
        return {**others, **({self._inner: residue} if residue else {}), self._api: own}, source

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

    def _note(self, owner: object, source: Source) -> None:
        for key, value in source.envelope.items():
            self._paths.append((owner, f"extra.{key}", f"{source.place}.{key}", value))

    def _note_record(self, message: ChatMessage, sources: list[Source]) -> None:
        for source, names in (
            (sources[0], ("message_id", "created")),
            (sources[-1], ("response_id", "usage", "finish_reason")),
        ):
            for name in names:
                path = source.record.paths.get(name)
                if path is not None:
                    self._paths.append((message, name, f"$[{source.line}].{path}" if path[0] != "$" else path, None))


def _residue(source: Source) -> dict[str, Any]:
    place = {LINE.key: source.line} if source.at is None else {LINE.key: source.line, INDEX.key: source.at}
    return {**escaped(source.envelope), **place}
