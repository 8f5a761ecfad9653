"""The transcript index: pairs calls with results, and requests for approval or input with responses.

A call has at most one result. A result with an id pairs with a call of that id. A result of a hosted tool only pairs
with a call of a hosted tool. Any other result prefers a call that is not of a hosted tool. A result without an id pairs
with a call of the same kind of tool, and of the same name if both have one; it prefers a call without an id.

Calls form groups. A result, or a message of a role other than "assistant", ends a group. If several calls match, the
result pairs with the first match in the last group that has one. So a reused id refers to the later call. Among calls
of the same id in a group, a call of the result's name is preferred, then a call of the same kind of tool. (A function
result has no such preference: most APIs have no other results for custom tools.)

A request for approval or input pairs with its response by id, in the same way. An approval request for a call of the
application's tools has the id of that call. Later contents never change a pair, so a stream and its final transcript
have the same pairs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import count, product, repeat
from typing import Any

import msgspec

from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, contents_of

Place = tuple[int, int]
"""The index of a message, and the index of a content in it."""


class TranscriptIndex:
    """The pairs of contents in a list of messages. Contents are identified by their `Place`.

    `calls` and `results` are all calls and all results, in order. `result_of` maps a call to its result, and `call_of`
    maps a result to its call. `requests` are all requests for approval or input. `response_of` maps a request to its
    response, and `request_of` maps a response to its request. `approvals_of` maps a call to the approval requests and
    responses that follow it and have its id, in order.

    Add the messages of a growing transcript one by one; earlier pairs do not change. The total time is linear.
    """

    def __init__(self, messages: Iterable[ChatMessage] = ()) -> None:
        self.calls: list[Place] = []
        self.results: list[Place] = []
        self.requests: list[Place] = []
        self.result_of: dict[Place, Place] = {}
        self.call_of: dict[Place, Place] = {}
        self.response_of: dict[Place, Place] = {}
        self.request_of: dict[Place, Place] = {}
        self.approvals_of: dict[Place, list[Place]] = {}
        self._count = 0
        self._pending = _Pending()
        self._last_call: dict[str | None, Place] = {}
        for message in messages:
            self.add(message.contents, message.role)

    def add(self, contents: Sequence[Any], role: str) -> None:
        """Add the contents of the next message."""
        index, self._count = self._count, self._count + 1
        content: Any
        for at, content in enumerate(contents):
            if content.__class__ is TextContent:
                continue
            place = index, at
            if isinstance(content, ToolCallContent):
                self.calls.append(place)
                self._last_call[content.call_id] = place
                self._pending.add_call(content, place)
            elif isinstance(content, ToolResultContent):
                self.results.append(place)
                call = self._pending.take_call(content)
                if call is not None:
                    self.result_of[call] = place
                    self.call_of[place] = call
            elif content.__class__ in _QUESTIONS:
                self._add_question(content, place)
        if contents and role != "assistant":
            self._pending.close()

    def _add_question(self, content: Any, place: Place) -> None:
        kind: type = _QUESTIONS[content.__class__]
        if isinstance(content, ToolApprovalRequestContent | InputRequestContent):
            self.requests.append(place)
            self._pending.add((kind, content.request_id), place)
        elif (request := self._pending.take((kind, content.request_id))) is not None:
            self.response_of[request] = place
            self.request_of[place] = request
        call = self._last_call.get(content.request_id) if kind is ToolApprovalRequestContent else None
        if call is not None:
            self.approvals_of.setdefault(call, []).append(place)

    @property
    def unanswered(self) -> list[Place]:
        """The calls without a result."""
        return [call for call in self.calls if call not in self.result_of]

    @property
    def unmatched(self) -> list[Place]:
        """The results without a call."""
        return [result for result in self.results if result not in self.call_of]


_QUESTIONS: dict[type, type] = {
    ToolApprovalRequestContent: ToolApprovalRequestContent,
    ToolApprovalResponseContent: ToolApprovalRequestContent,
    InputRequestContent: InputRequestContent,
    InputResponseContent: InputRequestContent,
}
"""The type of the request, by the type of a request or a response."""


def is_clients(messages: Sequence[ChatMessage], place: Place) -> bool:
    """Return whether the application runs the call at this place."""
    call: Any = messages[place[0]].contents[place[1]]
    return bool(call.executor == "client")


def new_ids(taken: Container[str | None], answer_id: str | None = None) -> Iterator[str]:
    """Yield new ids for calls, none of them in `taken`: `call_1`, `call_2`, ...

    If `answer_id` is given, the ids contain a hash of it (`call_8d1f0c6b2a57_1`, ...), so that the ids of several
    responses of a conversation differ.
    """
    prefix = "call_"
    if answer_id:
        from hashlib import blake2s

        prefix += blake2s(answer_id.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest() + "_"
    return (call_id for number in count(1) if (call_id := f"{prefix}{number}") not in taken)


def missing_ids(messages: Sequence[ChatMessage], answer_id: str | None = None) -> dict[Place, str]:
    """Return an id for each call and each result whose id is None or empty. A result gets the id of its call.

    The ids only depend on the messages and `answer_id` (see `new_ids`). If messages are appended, the ids of earlier
    messages do not change.
    """
    if all(map(getattr, contents_of(messages), repeat("call_id"), repeat("-"))):
        return {}
    index = TranscriptIndex(messages)
    taken = {_id_at(messages, place) for place in [*index.calls, *index.results]}
    fresh = new_ids(taken, answer_id)
    assigned: dict[Place, str] = {}
    for place in sorted([*index.calls, *index.results]):
        if _id_at(messages, place) is None:
            call = index.call_of.get(place)
            assigned[place] = (_id_at(messages, call) or assigned[call]) if call is not None else next(fresh)
    return assigned


def _id_at(messages: Sequence[ChatMessage], place: Place) -> str | None:
    content: Any = messages[place[0]].contents[place[1]]
    return content.call_id or None


_ANY = object()
"""The key of calls with any name, or of any kind of tool."""


class _Entry(msgspec.Struct, eq=False, gc=False):
    place: Place
    group: int
    call: Any
    is_taken: bool = False


class _Pending:
    """The calls without a result and the requests without a response, by key and group."""

    def __init__(self) -> None:
        self._group = 0
        self._is_closed = False
        # The entries by key and group, the last group at the end.
        self._by_key: dict[Any, list[deque[_Entry]]] = {}
        # Calls that have only their id as a key until `_add_keys`. Most transcripts need no other keys.
        self._without_keys: list[_Entry] = []

    def add(self, key: Any, place: Place, call: Any = None) -> _Entry:
        """Add a request or a call under its key, if it has one."""
        if self._is_closed:
            self._group, self._is_closed = self._group + 1, False
        entry = _Entry(place, self._group, call)
        if key is not None:
            self._put(key, entry)
        return entry

    def add_call(self, call: Any, place: Place) -> None:
        """Add a call under its id. Its other keys are added when needed."""
        key = None if call.call_id is None else (isinstance(call, HostedToolCallContent), call.call_id)
        self._without_keys.append(self.add(key, place, call))

    def close(self) -> None:
        """End the group. The next call starts another one."""
        self._is_closed = True

    def take(self, *keys: Any) -> Place | None:
        """Take the first entry of the last group that has one under these keys. Return its place, or None."""
        last: deque[_Entry] | None = None
        for key in keys:
            entries = self._last_group(key) if key in self._by_key else None
            if entries is not None and (last is None or entries[0].group > last[0].group):
                last = entries
        if last is None:
            return None
        entry = last.popleft()
        entry.is_taken = True
        return entry.place

    def take_call(self, result: Any) -> Place | None:
        """Take the call that a result pairs with. Return its place, or None if there is no such call."""
        self.close()
        if result.call_id is not None:
            is_hosted = isinstance(result, HostedToolResultContent)
            keys: list[Any] = [(kind, result.call_id) for kind in ((True,) if is_hosted else (False, True))]
            if any(self._has_several(key) for key in keys):
                self._add_keys()
                names = (_ANY,) if result.name is None else (result.name, _ANY)
                families = (_ANY,) if result.__class__ is FunctionResultContent else (_family(result.__class__), _ANY)
                keys = [(*key, family, name) for key in keys for name in names for family in families]
            return self.take(*keys)
        self._add_keys()
        names = (_ANY,) if result.name is None else (result.name, None)
        return self.take(*((_family(result.__class__), name, has_id) for has_id in (False, True) for name in names))

    def _has_several(self, key: Any) -> bool:
        groups = self._by_key.get(key)
        return groups is not None and bool(groups) and len(groups[-1]) > 1

    def _add_keys(self) -> None:
        """Index the calls by name and by kind of tool."""
        for entry in self._without_keys:
            call, family, has_id = entry.call, _family(entry.call.__class__), entry.call.call_id is not None
            self._put((family, _ANY, has_id), entry)
            self._put((family, call.name, has_id), entry)
            if has_id:
                key = isinstance(call, HostedToolCallContent), call.call_id
                for variant in product((family, _ANY), {call.name, _ANY}):
                    self._put((*key, *variant), entry)
        self._without_keys.clear()

    def _put(self, key: Any, entry: _Entry) -> None:
        groups = self._by_key.get(key)
        if groups is None:
            self._by_key[key] = [deque((entry,))]
        elif groups and groups[-1] and groups[-1][-1].group == entry.group:
            groups[-1].append(entry)
        else:
            groups.append(deque((entry,)))

    def _last_group(self, key: Any) -> deque[_Entry] | None:
        groups = self._by_key.get(key)
        while groups:
            entries = groups[-1]
            while entries and entries[0].is_taken:
                entries.popleft()
            if entries:
                return entries
            groups.pop()
        return None


@cache
def _family(kind: type) -> str:
    """Return the kind of tool of a call or a result: "Function", "WebSearch", ..."""
    return kind.__name__.removesuffix("Content").removesuffix("Call").removesuffix("Result")
