"""Ids for calls and results that have none, for APIs that require them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import content_tag
from contentmodel.content.tools import ToolCallContent
from contentmodel.message import ChatMessage
from contentmodel.wire import reasons

if TYPE_CHECKING:
    from contentmodel.wire.context import EncodeContext


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Calls and results that have no id get one: results in the order of their calls, tool by tool."""
    if not _lack_ids(messages):
        return messages
    taken = {content.call_id for m in messages for content in m.contents if content.__class__ in _HAVE_IDS}  # type: ignore[attr-defined]
    names = _CallIds(context, taken)
    return [context.with_contents(m, [names.given(content) for content in m.contents]) for m in messages]


_HAVE_IDS = frozenset(kind for kind in CONTENT_TYPES if "call_id" in kind.__struct_fields__)


def _lack_ids(messages: list[ChatMessage]) -> bool:
    for message in messages:
        for content in message.contents:
            if content.__class__ in _HAVE_IDS and content.call_id is None:  # type: ignore[attr-defined]
                return True
    return False


class _CallIds:
    """Gives out ids in order, and remembers which calls still wait for their result."""

    def __init__(self, context: EncodeContext, taken: set[str | None]) -> None:
        self._context = context
        self._taken = taken
        self._count = 0
        self._waiting: dict[str, _WaitingCalls] = {}

    def given(self, content: Any) -> Any:
        """`content`, with an id if it needs one."""
        if getattr(content, "call_id", "") is not None:
            return content
        tool = content_tag(type(content).__name__).rpartition("_")[0]
        waiting = self._waiting.setdefault(tool, _WaitingCalls())
        if isinstance(content, ToolCallContent):
            call_id = self._next()
            waiting.add(content.name, call_id)
        else:
            call_id = waiting.take(content.name) or self._next()
        self._context.lose(content, "call_id", reasons.CALL_ID)
        return self._context.same(content, msgspec.structs.replace(content, call_id=call_id))

    def _next(self) -> str:
        self._count += 1
        while f"call_{self._count}" in self._taken:
            self._count += 1
        return f"call_{self._count}"


class _WaitingCalls:
    """The ids of calls of one kind of tool that have no result yet."""

    def __init__(self) -> None:
        self._all: deque[str] = deque()
        self._by_name: dict[str | None, deque[str]] = {}
        self._taken: set[str] = set()

    def add(self, name: str | None, call_id: str) -> None:
        self._all.append(call_id)
        self._by_name.setdefault(name, deque()).append(call_id)

    def take(self, name: str | None) -> str | None:
        """Return the id of the first call with this name, else of the first call; None if none waits."""
        named = self._first(self._by_name.get(name)) if name is not None else None
        call_id = named or self._first(self._all)
        if call_id is not None:
            self._taken.add(call_id)
        return call_id

    def _first(self, ids: deque[str] | None) -> str | None:
        while ids and ids[0] in self._taken:
            ids.popleft()
        return ids[0] if ids else None
