"""Find the conversation in the lines of a session of Claude Code.

The lines with an id form a tree: `parentUuid` is the id of the line before. The conversation is the path to the newest
message, with the lines beside the path that belong to it: the other lines of an answer, and the other results of its
parallel calls. A compaction begins a new path; the messages that it preserves come after its summary.

The lines that `claude -p --output-format stream-json` prints have no `parentUuid`: each follows the line before. Those
of a sub-agent name its call in `parent_tool_use_id` (seen 2026-11-26 in logs of versions 2.0 and 2.1).

If the user goes back to an earlier message, a line `last-prompt` names it (`Mark`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from contentmodel.authoring import TOKEN
from contentmodel_adapters.sessions.claude_code.blocks import CHAIN, SYNTHETIC, text_path


class Line:
    """A line with an id."""

    __slots__ = ("can_decode", "index", "line", "order")

    def __init__(self, index: int, line: dict[str, Any], *, can_decode: bool = True) -> None:
        self.index, self.line, self.can_decode = index, line, can_decode
        self.order = index
        """The index of the first line with this id."""

    @property
    def uuid(self) -> str:
        """The id of the line."""
        return self.line["uuid"]  # type: ignore[no-any-return]

    @property
    def is_message(self) -> bool:
        """True if the line is a message of the user or of the model, or has a text that is sent as one of the user."""
        return self.line.get("type") in ("user", "assistant") or text_path(self.line) is not None

    @property
    def is_sent(self) -> bool:
        """True if the line is a message, and not a text that the program adds to one."""
        return self.line.get("type") in ("user", "assistant")

    @property
    def is_readable(self) -> bool:
        """True if the line has a message that can be read. If not, it is only a link between other lines."""
        if not self.can_decode or not self.is_message or text_path(self.line) is not None:
            return self.can_decode and self.is_message
        message = self.line.get("message")
        if message.__class__ is not dict or "content" not in message or TOKEN in message:
            return False
        return bool(message.get("role") == self.line["type"])

    @property
    def is_api_error(self) -> bool:
        """True if the answer is an error of the API, which the program shows to the user only."""
        message = self.line.get("message")
        is_made = message.__class__ is dict and message.get("model") == SYNTHETIC
        return is_made and self.line.get("type") == "assistant" and self.line.get("isApiErrorMessage") is True

    @property
    def is_side(self) -> bool:
        """True if the line belongs to a sub-agent."""
        return bool(self.line.get("isSidechain")) or self.call_id is not None

    @property
    def call_id(self) -> str | None:
        """The id of the call of the sub-agent, in printed lines."""
        call_id = self.line.get("parent_tool_use_id")
        return call_id if isinstance(call_id, str) else None

    @property
    def is_boundary(self) -> bool:
        """True if a compaction begins a new conversation here."""
        return self.line.get("subtype") == "compact_boundary"

    @property
    def answer_id(self) -> str | None:
        """The id of the answer that the line is part of."""
        message = self.line.get("message")
        answer_id = message.get("id") if self.line.get("type") == "assistant" and message.__class__ is dict else None
        return answer_id if isinstance(answer_id, str) else None

    def ids(self, kind: str, field: str) -> Iterator[str]:
        """Yield the ids of the calls or results in the message."""
        message = self.line.get("message")
        content = message.get("content") if message.__class__ is dict else None
        for block in content if content.__class__ is list else ():
            if block.__class__ is dict and block.get("type") == kind and isinstance(block.get(field), str):
                yield block[field]


def versions(lines: list[Line]) -> list[Line]:
    """Return the last readable line of each id, in the order of the first lines with these ids.

    A resumed session can repeat lines. `claude_agent_sdk.get_session_messages` takes the last one (seen with 0.2.187).
    """
    by_id: dict[str, Line] = {}
    for line in lines:
        before = by_id.get(line.uuid)
        if before is not None:
            if before.is_readable and not line.is_readable:
                continue
            line.order = before.order
        by_id[line.uuid] = line
    return [*by_id.values()]


class Mark(NamedTuple):
    """The end of the conversation, to which the user went back, and after which no line was written."""

    uuid: str | None
    """The id of the last line; None if the conversation is empty."""


def mark_of(lines: list[Any]) -> Mark | None:
    """Return the end of the conversation if a line `last-prompt` marks it: with `explicit` or `rewound`.

    A later line of the conversation takes it back. Source: the loading of sessions in @anthropic-ai/claude-code 2.1.332
    (seen 2026-11-27).
    """
    mark: Mark | None = None
    for line in lines:
        if line.__class__ is not dict:
            continue
        if line.get("type") == "last-prompt" and "leafUuid" in line:
            leaf = line["leafUuid"]
            is_given = line.get("explicit") is True or line.get("rewound") is True
            if leaf is None or isinstance(leaf, str):
                mark = Mark(leaf) if is_given or (mark is not None and mark.uuid == leaf) else None
        elif isinstance(line.get("uuid"), str) and not line.get("isSidechain") and line.get("type") in _ROWS:
            mark = None
    return mark


_ROWS = ("user", "assistant", "attachment", "system")


class Tree:
    """The lines of a file that have ids, as a tree."""

    def __init__(self, lines: list[Line], mark: Mark | None = None) -> None:
        self.lines, self._mark = lines, mark
        self.by_id: dict[str, Line] = {}
        self._before: dict[str, Line] = {}
        """The line before each message without a field CHAIN, by the id of the message."""
        last: dict[str | None, Line] = {}
        for line in lines:
            self.by_id[line.uuid] = line
            if not line.is_message or any(field in line.line for field in CHAIN):
                continue
            above = last.get(line.call_id, last.get(None))
            if above is not None:
                self._before.setdefault(line.uuid, above)
            last[line.call_id] = line

    def parent(self, line: Line) -> Line | None:
        """Return the line before a line; None if the file does not contain it."""
        for field in CHAIN:
            above = line.line.get(field)
            if isinstance(above, str) and above in self.by_id:
                return self.by_id[above]
        return self._before.get(line.uuid)

    def path(self) -> list[Line]:
        """Return the lines to the end of the conversation, across compactions, and the attachments after it."""
        path: list[Line] = []
        seen: set[str] = set()
        line = last = self._last()
        while line is not None and line.uuid not in seen:
            seen.add(line.uuid)
            path.append(line)
            line = self.parent(line)
        return [*path[::-1], *([] if last is None else self._attached(last, seen))]

    def summary(self) -> Line | None:
        """Return the summary that the conversation begins with, in files of versions that wrote no boundary."""
        path = self.path()
        first = path[0] if path else None
        return first if first is not None and first.line.get("isCompactSummary") is True else None

    def _last(self) -> Line | None:
        """Return the marked end of the conversation, or else the newest message outside of sub-agents."""
        mark = self._mark
        if mark is not None and (mark.uuid is None or mark.uuid in self.by_id):
            return None if mark.uuid is None else self.by_id[mark.uuid]
        messages = [line for line in self.lines if line.is_readable]
        main = [line for line in messages if not line.is_side] or messages
        return main[-1] if main else None

    def _attached(self, last: Line, seen: set[str]) -> list[Line]:
        """Return the attachments after the end of the conversation, with no message between."""
        ids, attached = {last.uuid}, list[Line]()
        for line in self.lines:
            above = line.line.get("parentUuid")
            if isinstance(above, str) and above in ids and line.uuid not in seen and not line.is_sent:
                ids.add(line.uuid)
                attached.append(line)
        return attached

    def segments(self) -> list[list[Line]]:
        """Split the path at its compactions. The last segment is the current conversation."""
        segments: list[list[Line]] = [[]]
        for line in self.path():
            if line.is_boundary:
                segments.append([])
            segments[-1].append(line)
        used_ids = {line.uuid for segment in segments for line in segment}
        return [self._completed(segment, used_ids) for segment in segments]

    def _completed(self, segment: list[Line], used_ids: set[str]) -> list[Line]:
        """Add the lines beside a segment that belong to its answers and calls. Return all in the order of the file."""
        answers = {line.answer_id for line in segment} - {None}
        members = list(segment)
        for line in self.lines:
            if line.uuid not in used_ids and line.answer_id in answers and line.answer_id is not None:
                used_ids.add(line.uuid)
                members.append(line)
        calls = {call for line in members for call in line.ids("tool_use", "id")}
        answered = {call for line in members for call in line.ids("tool_result", "tool_use_id")}
        for line in self.lines:
            results = set(line.ids("tool_result", "tool_use_id"))
            if line.uuid not in used_ids and results and results <= calls and not results & answered:
                used_ids.add(line.uuid)
                answered |= results
                members.append(line)
        return sorted(members, key=lambda line: line.order)

    def preserved(self, boundary: Line) -> tuple[str | None, list[Line]]:
        """Return the lines that a compaction preserved, and the id of the line that they follow."""
        metadata = boundary.line.get("compactMetadata")
        if metadata.__class__ is not dict:
            return None, []
        messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
        if messages.__class__ is dict and messages.get("uuids").__class__ is list:
            ids = [uuid for uuid in messages["uuids"] if isinstance(uuid, str)]
            return messages.get("anchorUuid"), [self.by_id[uuid] for uuid in ids if uuid in self.by_id]
        if segment.__class__ is dict:
            return segment.get("anchorUuid"), self._between(segment.get("headUuid"), segment.get("tailUuid"))
        return None, []

    def _between(self, head: object, tail: object) -> list[Line]:
        """Return the lines of a preserved segment. Claude Code preserves nothing if the way from its tail is broken."""
        lines: list[Line] = []
        seen: set[str] = set()
        above = tail
        while isinstance(above, str) and above in self.by_id and above not in seen:
            seen.add(above)
            lines.append(self.by_id[above])
            if above == head:
                return self._completed(lines, seen)
            above = lines[-1].line.get("parentUuid")
        return []
