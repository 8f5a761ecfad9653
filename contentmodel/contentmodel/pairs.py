"""Which result belongs to which call.

A result that has an id belongs to the call of that id. The other results belong to the calls before them in order: a
group of calls is answered by the results behind it, calls without an id first, and a name, where both have one, is the
same. The adapters, the runner and the pages that show a transcript all pair calls and results by these rules. Later
contents change no pair, so that a stream and the transcript that it becomes agree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import ChatMessage

Place = tuple[int, int]
"""The number of a list of contents, and of a content in it."""


def pair(lists: Sequence[Sequence[AIContent]], roles: Sequence[str] = ()) -> dict[Place, Place]:
    """Return the place of the result of each call that has one. `roles` are those of the messages of the lists."""
    pending = PendingCalls()
    return {
        call: (index, at)
        for index, contents in enumerate(lists)
        for at, call in answers(pending, index, contents, roles[index] if roles else "assistant").items()
    }


def answers(pending: PendingCalls, index: int, contents: Sequence[Any], role: str) -> dict[int, Any]:
    """Add the calls of a message to `pending`, and return the place of the call of each of its results."""
    found: dict[int, Any] = {}
    for at, content in enumerate(contents):
        if isinstance(content, ToolCallContent):
            pending.add(content, (index, at))
        elif isinstance(content, ToolResultContent) and (call := pending.take(content)) is not None:
            found[at] = call
    if contents and role != "assistant":
        pending.close()
    return found


def missing_ids(messages: Sequence[ChatMessage]) -> dict[Place, str]:
    """Return an id for each call and each result that has none: `call_1`, `call_2`, ..., or that of its call.

    The ids depend on the messages alone, and those of the first messages do not change when others follow.
    """
    if all(getattr(content, "call_id", "") is not None for message in messages for content in message.contents):
        return {}
    lists: list[list[Any]] = [message.contents for message in messages]
    calls = {result: call for call, result in pair(lists, [message.role for message in messages]).items()}
    taken = {getattr(content, "call_id", None) for contents in lists for content in contents}
    fresh = (made for number in count(1) if (made := f"call_{number}") not in taken)
    given: dict[Place, str] = {}
    for place, content in _with_places(lists):
        if content.call_id is None:
            call = calls.get(place)
            own = None if call is None else lists[call[0]][call[1]].call_id or given[call]
            given[place] = own or next(fresh)
    return given


def _with_places(lists: Sequence[Sequence[Any]]) -> Iterator[tuple[Place, Any]]:
    """Every content that may have the id of a call, and its place."""
    for index, contents in enumerate(lists):
        for at, content in enumerate(contents):
            if hasattr(content, "call_id"):
                yield (index, at), content


_ANY = object()
"""The key of calls whatever their names."""


class _Entry:
    __slots__ = ("handle", "is_taken")

    def __init__(self, handle: Any) -> None:
        self.handle, self.is_taken = handle, False


class PendingCalls:
    """The calls that have no result yet, in groups: a group ends where results, or another's words, follow it."""

    def __init__(self) -> None:
        self._group = 0
        self._is_closed = False
        self._by_id: dict[str, deque[_Entry]] = {}
        # By family, name (and any name) and whether they have an id: the groups with such calls, the last at the end.
        self._in_order: dict[tuple[Any, ...], list[tuple[int, deque[_Entry]]]] = {}

    def add(self, call: Any, handle: Any) -> None:
        """Add a call; `handle` is what `take` returns for its result."""
        if self._is_closed:
            self._group, self._is_closed = self._group + 1, False
        entry, has_id = _Entry(handle), call.call_id is not None
        if has_id:
            self._by_id.setdefault(call.call_id, deque()).append(entry)
        family = _family(call.__class__)
        for key in ((family, _ANY, has_id), (family, call.name, has_id)):
            groups = self._in_order.setdefault(key, [])
            if not groups or groups[-1][0] != self._group:
                groups.append((self._group, deque()))
            groups[-1][1].append(entry)

    def close(self) -> None:
        """End the group: the next call begins another."""
        self._is_closed = True

    def take(self, result: Any) -> Any:
        """Return the handle of the call of a result, which has its result then; None if there is no such call."""
        self.close()
        entry = self._next(result) if result.call_id is None else _taken(self._by_id.get(result.call_id))
        return None if entry is None else entry.handle

    def _next(self, result: Any) -> _Entry | None:
        """Return the first call that fits of the last group that has one."""
        names = (_ANY,) if result.name is None else (result.name, None)
        keys = ((_family(result.__class__), name, has_id) for has_id in (False, True) for name in names)
        groups = [group for key in keys if (group := self._last_group(key)) is not None]
        return _taken(max(groups, key=lambda group: group[0])[1]) if groups else None

    def _last_group(self, key: tuple[Any, ...]) -> tuple[int, deque[_Entry]] | None:
        groups = self._in_order.get(key)
        while groups:
            entries = groups[-1][1]
            while entries and entries[0].is_taken:
                entries.popleft()
            if entries:
                return groups[-1]
            groups.pop()
        return None


def _taken(entries: deque[_Entry] | None) -> _Entry | None:
    """Take the first call that has no result yet."""
    while entries:
        entry = entries.popleft()
        if not entry.is_taken:
            entry.is_taken = True
            return entry
    return None


@cache
def _family(kind: type) -> str:
    """Return the kind of tool of a call or a result: "Function", "WebSearch", ..."""
    return kind.__name__.removesuffix("Content").removesuffix("Call").removesuffix("Result")
