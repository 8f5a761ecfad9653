"""Begin turns: store a user's turn, begin the model's turn after it, and run it. Does not depend on routes.

Concurrent requests of one conversation run one after another. The same idempotency key returns the same turns.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from contentmodel.history import AsyncTurnStore, ConflictError, Turn
from contentmodel.runner import AsyncToolRunner
from contentmodel.server.hub import Hub
from contentmodel.server.questions import asking_turn, check_answers, turn_in
from contentmodel.server.request_models import TurnRequest
from contentmodel.server.runs import Prepare, TurnRun

ChooseRunner = Callable[[], AsyncToolRunner | Awaitable[AsyncToolRunner]]
"""Return the runner of one turn."""


class StartedTurn(msgspec.Struct, frozen=True):
    """The ids of a user's turn and of the model's turn that answers it."""

    conversation: str
    user_turn: str
    turn: str


class TurnService:
    """Begin turns in a store, and run them in a hub. Remember the latest `keys` idempotency keys."""

    def __init__(self, store: AsyncTurnStore, hub: Hub, prepare: Prepare, keys: int) -> None:
        self._store, self._hub, self._prepare, self._most_keys = store, hub, prepare, keys
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._keys: OrderedDict[tuple[str, str], tuple[bytes, asyncio.Task[StartedTurn]]] = OrderedDict()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def beginning(self) -> int:
        """The number of turns that are about to begin."""
        return len(self._tasks)

    async def ask(self, conversation: str, turn_request: TurnRequest, choose: ChooseRunner) -> tuple[StartedTurn, bool]:
        """Begin the turns of a user's request. Return their ids, and whether they are new.

        Raise ConflictError, NotFoundError or InvalidTurnError if the turn cannot begin there, or if it answers a
        question that is not pending there.
        """
        place = None if turn_request.key is None else (conversation, turn_request.key)
        earlier = None if place is None else self._keys.get(place)
        if earlier is not None:
            return await self._again(turn_request, *earlier), False
        task = self._task(self._begin(conversation, turn_request, choose))
        if place is not None:
            self._remember(place, turn_request.digest, task)
        return await asyncio.shield(task), True

    def forget(self, conversation: str) -> None:
        """Forget the keys of a conversation."""
        for place in [place for place in self._keys if place[0] == conversation]:
            del self._keys[place]

    async def _begin(self, conversation: str, turn_request: TurnRequest, choose: ChooseRunner) -> StartedTurn:
        chosen = choose()
        runner = await chosen if isawaitable(chosen) else chosen
        lock = self._locks.setdefault(conversation, asyncio.Lock())
        async with lock:
            user, is_new = await self._user_turn(conversation, turn_request)
            turn = await self._store.begin_turn(conversation, "assistant", user, branch=not is_new)
            self._hub.begin(turn.id, conversation, TurnRun(self._store, turn, runner, self._prepare).events)
        return StartedTurn(conversation, user.id, turn.id)

    async def _user_turn(self, conversation: str, turn_request: TurnRequest) -> tuple[Turn, bool]:
        """Return the user's turn, and whether it is new."""
        if turn_request.again is not None:
            return await turn_in(self._store, conversation, turn_request.again), False
        previous = turn_request.previous
        if turn_request.has_answers:
            previous = await self._asking(conversation, turn_request)
        contents, branch = turn_request.contents, turn_request.branch
        return await self._store.add_turn(conversation, "user", contents, previous, branch=branch), True

    async def _asking(self, conversation: str, turn_request: TurnRequest) -> str:
        """Check the answers against the turn that asked. Return its id, which the new turn follows."""
        turn = await asking_turn(self._store, conversation, turn_request.previous)
        blocks = await self._store.blocks(turn)
        check_answers(turn, [block.content for block in blocks], turn_request.contents)
        return turn.id

    def _task(self, work: Coroutine[Any, Any, StartedTurn]) -> asyncio.Task[StartedTurn]:
        """Run `work` in a task that survives a client's disconnect: a turn is begun completely, or not at all."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _again(self, turn_request: TurnRequest, digest: bytes, task: asyncio.Task[StartedTurn]) -> StartedTurn:
        if turn_request.digest != digest:
            raise ConflictError(f"the idempotency_key {turn_request.key!r} was used for another request: use a new key")
        return await asyncio.shield(task)

    def _remember(self, place: tuple[str, str], digest: bytes, task: asyncio.Task[StartedTurn]) -> None:
        self._keys[place] = digest, task

        def forget_failure(ended: asyncio.Task[StartedTurn]) -> None:
            entry = self._keys.get(place)
            if entry is not None and entry[1] is ended and (ended.cancelled() or ended.exception() is not None):
                del self._keys[place]

        task.add_done_callback(forget_failure)
        while len(self._keys) > self._most_keys:
            self._keys.popitem(last=False)
