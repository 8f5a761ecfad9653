"""How turns come to be: a user's turn is stored, the model's is begun behind it and runs. Knows no routes.

Where several ask at once, one of them is first in each conversation, and the same key gives the same turns.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from inspect import isawaitable
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from contentmodel.content.tools import ToolApprovalRequestContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.history import AsyncTurnStore, ConflictError, Turn
from contentmodel.request import ChatRequest
from contentmodel.runner import AsyncToolRunner, answered
from contentmodel.server.bodies import HERE, Asked
from contentmodel.server.hub import Hub
from contentmodel.server.runs import Prepare, TurnRun

MOST_KEYS = 10_000
"""How many keys are remembered."""

ChooseRunner = Callable[[], AsyncToolRunner | Awaitable[AsyncToolRunner]]
"""Gives the runner of one turn."""


class Begun(msgspec.Struct, frozen=True):
    """A user's turn, and the model's that answers it, by their ids."""

    conversation: str
    user_turn: str
    turn: str


class Conversing:
    """Begins turns in a store and runs them in a hub."""

    def __init__(self, store: AsyncTurnStore, hub: Hub, prepare: Prepare) -> None:
        self._store, self._hub, self._prepare = store, hub, prepare
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._keys: OrderedDict[tuple[str, str], tuple[Asked, asyncio.Task[Begun]]] = OrderedDict()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def ask(self, conversation: str, asked: Asked, choose: ChooseRunner) -> tuple[Begun, bool]:
        """The turns of what a user says, and whether they are new. ConflictError, NotFoundError, InvalidTurnError."""
        place = None if asked.key is None else (conversation, asked.key)
        known = None if place is None else self._keys.get(place)
        if known is not None:
            return await self._again(asked, *known), False
        begin = self._begin(conversation, asked.contents, asked.previous, asked.branch, choose)
        task = self._task(begin)
        if place is not None:
            self._remember(place, asked, task)
        return await asyncio.shield(task), True

    async def approve(self, turn: Turn, answers: dict[str, bool | str], choose: ChooseRunner) -> Begun:
        """The turns of a user's answers to the questions that a turn ended with. DecodeError, ConflictError."""
        if turn.is_open:
            raise ConflictError(f"the turn {turn.id} is still being written: what it asks about is known at its end")
        blocks = await self._store.blocks(turn)
        requests = [block.content for block in blocks if isinstance(block.content, ToolApprovalRequestContent)]
        try:
            request = answered(ChatRequest(), requests, answers)
        except ValueError as error:
            raise DecodeError(HERE, [Fault("$", str(error))]) from None
        contents = request.messages[0].contents
        return await asyncio.shield(self._task(self._begin(turn.conversation, contents, turn.id, False, choose)))

    def forget(self, conversation: str) -> None:
        """Forgets the keys of a conversation."""
        for place in [place for place in self._keys if place[0] == conversation]:
            del self._keys[place]

    async def _begin(
        self, conversation: str, contents: Sequence[Any], previous: str | None, branch: bool, choose: ChooseRunner
    ) -> Begun:
        chosen = choose()
        runner = await chosen if isawaitable(chosen) else chosen
        lock = self._locks.setdefault(conversation, asyncio.Lock())
        async with lock:
            asked = await self._store.add_turn(conversation, "user", contents, previous, branch=branch)
            turn = await self._store.begin_turn(conversation, "assistant", asked)
            self._hub.begin(turn.id, conversation, TurnRun(self._store, turn, runner, self._prepare).events)
        return Begun(conversation, asked.id, turn.id)

    def _task(self, work: Coroutine[Any, Any, Begun]) -> asyncio.Task[Begun]:
        """Work that goes on when whoever asked for it leaves: a turn is begun as a whole, or not at all."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _again(self, asked: Asked, before: Asked, task: asyncio.Task[Begun]) -> Begun:
        if asked != before:
            raise ConflictError(f"the idempotency_key {asked.key!r} was used for something else: use another one")
        return await asyncio.shield(task)

    def _remember(self, place: tuple[str, str], asked: Asked, task: asyncio.Task[Begun]) -> None:
        self._keys[place] = asked, task

        def forget_failure(ended: asyncio.Task[Begun]) -> None:
            if ended.cancelled() or ended.exception() is not None:
                self._keys.pop(place, None)

        task.add_done_callback(forget_failure)
        while len(self._keys) > MOST_KEYS:
            self._keys.popitem(last=False)
