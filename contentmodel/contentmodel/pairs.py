"""The transcript index: pairs calls with results, and requests for approval or input with responses.

A call has at most one result. A result with an id pairs with a call of that id. A result of a hosted tool only pairs
with a call of a hosted tool. Any other result prefers a call that is not of a hosted tool. If no call has the id of a
result, or if the result has no id, it pairs with a call of the same kind of tool, and of the same name if both have
one. Such a result prefers a call without an id, and if it has an id itself, it pairs with no other call. An empty id,
and one that an adapter generated, counts as none.

Calls form groups. A result, or a message of a role other than "assistant", ends a group. If several calls match, the
result pairs with the first match in the last group that has one. So a reused id refers to the later call. Among calls
of the same id in a group, a call of the result's name is preferred, then a call of the same kind of tool. (A function
result has no such preference: most APIs have no other results for custom tools.)

A request for approval or input pairs with its response by id, in the same way. An approval request for a call of the
application's tools has the id of that call. Later contents never change a pair, so a stream and its final transcript
have the same pairs.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache
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
from contentmodel.derived import derives
from contentmodel.hints import minted, with_call_id
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
    return (call_id for number in count(1) if (call_id := _new_id(answer_id or "", number)) not in taken)


@derives
def _new_id(answer_id: str, number: int) -> str:
    return f"call_{_hash_of(answer_id)}_{number}" if answer_id else f"call_{number}"


@lru_cache(maxsize=64)
def _hash_of(answer_id: str) -> str:
    from hashlib import blake2s

    return blake2s(answer_id.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


_NEW_ID = re.compile(r"(call_(?:[0-9a-f]{12}_)?)([1-9][0-9]{0,8})")
"""The ids of `new_ids`: the text before the number, and the number."""


def is_minted_id(call_id: str) -> bool:
    """Return whether an id is like those of `new_ids`."""
    return _NEW_ID.fullmatch(call_id) is not None


class DistinctIds:
    """Make the ids of calls unique: the first call keeps its id, and a later one with the same id gets a number.

    `taken` are the ids so far. An id depends only on earlier ids, so that those of a growing conversation are stable.
    """

    def __init__(self, taken: Iterable[str | None] = ()) -> None:
        self.taken = set(taken)
        self._numbers: dict[str, int] = {}

    def give(self, call_id: str, *, is_minted: bool = False) -> str:
        """Return a unique id: `call_id`, `call_id` with a number, or the next number of a generated id."""
        unique = call_id
        if unique in self.taken:
            new = _NEW_ID.fullmatch(call_id) if is_minted else None
            prefix, number = (f"{call_id}_", 1) if new is None else (new[1], int(new[2]))
            number = max(number, self._numbers.get(prefix, 0))
            while unique in self.taken:
                number += 1
                unique = f"{prefix}{number}"
            self._numbers[prefix] = number
        self.taken.add(unique)
        return unique


def missing_ids(messages: Sequence[ChatMessage], answer_id: str | None = None) -> dict[Place, str]:
    """Return an id for each call and each result whose id is None or empty. A result gets the id of its call.

    A result that has an id, but whose call has none, gets the id of its call, too. The ids only depend on the messages
    and `answer_id` (see `new_ids`). If messages are appended, the ids of earlier messages do not change.
    """
    if all(map(getattr, contents_of(messages), repeat("call_id"), repeat("-"))):
        return {}
    index = TranscriptIndex(messages)
    taken = {_id_at(messages, place) for place in [*index.calls, *index.results]}
    fresh = new_ids(taken, answer_id)
    assigned: dict[Place, str] = {}
    for place in sorted([*index.calls, *index.results]):
        call = index.call_of.get(place)
        if call is not None and (call in assigned or _id_at(messages, place) is None):
            assigned[place] = assigned.get(call) or _id_at(messages, call) or ""
        elif _id_at(messages, place) is None:
            assigned[place] = next(fresh)
    return assigned


def _id_at(messages: Sequence[ChatMessage], place: Place) -> str | None:
    content: Any = messages[place[0]].contents[place[1]]
    return content.call_id or None


class AnswerCallIds:
    """Ids for the calls and results of one choice of an answer, whole or streamed.

    A call without an id gets the id that `missing_ids` gives. A call of the application whose id another call has gets
    another one; `taken` are the ids of the conversation before the answer. A result gets the id of its call.
    """

    def __init__(self, answer_id: str | None = None, taken: Iterable[str] = ()) -> None:
        self._index: TranscriptIndex | None = None
        """The index of the calls and results; None before the first result."""
        self._calls: list[ToolCallContent | ToolResultContent] = []
        """The calls before the first result."""
        self._ids: list[str] = []
        """The ids, in the order of the index."""
        self._places: dict[tuple[int, str | None], int] = {}
        """The position of each block and its own id in that order."""
        self._distinct = DistinctIds(taken)
        self._fresh = new_ids(self._distinct.taken, answer_id)

    def give(self, index: int, content: ToolCallContent | ToolResultContent) -> ToolCallContent | ToolResultContent:
        """Return the call or result of a block with an id: its own, the id of its call, or a new one."""
        key = index, content.call_id or None
        if key not in self._places:
            self._places[key] = len(self._ids)
            self._ids.append(self._id_of(content))
        call_id = self._ids[self._places[key]]
        return content if call_id == content.call_id else with_call_id(content, call_id)

    def _id_of(self, content: ToolCallContent | ToolResultContent) -> str:
        is_call = isinstance(content, ToolCallContent)
        # Without arguments, because the index keeps the calls.
        indexed = msgspec.structs.replace(content, arguments=None) if is_call else content
        if self._index is None and is_call:
            self._calls.append(indexed)
        else:
            call = self._call_of(indexed)
            if call is not None:
                return self._ids[call[0]]
        if not content.call_id:
            return self._distinct.give(next(self._fresh))
        if is_call and content.executor == "client":
            return self._distinct.give(content.call_id, is_minted=minted(content) is not None)
        if is_call:
            # The provider's own call: a later answer may refer to it.
            self._distinct.taken.add(content.call_id)
        return content.call_id

    def _call_of(self, content: ToolCallContent | ToolResultContent) -> Place | None:
        """Add a call or a result to the index. Return the place of the call of a result."""
        if self._index is None:
            self._index = TranscriptIndex()
            for call in self._calls:
                self._index.add([call], "assistant")
        self._index.add([content], "assistant")
        return self._index.call_of.get((len(self._ids), 0))


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
        key = (isinstance(call, HostedToolCallContent), call.call_id) if call.call_id else None
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
        call = self._take_by_id(result) if result.call_id else None
        if call is not None:
            return call
        self._add_keys()
        names = (_ANY,) if result.name is None else (result.name, None)
        family = _family(result.__class__)
        have_ids = (False,) if result.call_id else (False, True)
        return self.take(*((family, name, has_id) for has_id in have_ids for name in names))

    def _take_by_id(self, result: Any) -> Place | None:
        is_hosted = isinstance(result, HostedToolResultContent)
        keys: list[Any] = [(kind, result.call_id) for kind in ((True,) if is_hosted else (False, True))]
        if any(self._has_several(key) for key in keys):
            self._add_keys()
            names = (_ANY,) if result.name is None else (result.name, _ANY)
            families = (_ANY,) if result.__class__ is FunctionResultContent else (_family(result.__class__), _ANY)
            keys = [(*key, family, name) for key in keys for name in names for family in families]
        return self.take(*keys)

    def _has_several(self, key: Any) -> bool:
        groups = self._by_key.get(key)
        return groups is not None and bool(groups) and len(groups[-1]) > 1

    def _add_keys(self) -> None:
        """Index the calls by name and by kind of tool."""
        for entry in self._without_keys:
            call, family = entry.call, _family(entry.call.__class__)
            has_id = bool(call.call_id) and minted(call) is None
            self._put((family, _ANY, has_id), entry)
            self._put((family, call.name, has_id), entry)
            if call.call_id:
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
