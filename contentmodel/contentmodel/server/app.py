"""The routes: what a chat front end needs of conversations, as a Starlette app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from contentmodel.content import Content
from contentmodel.content.text import TextContent
from contentmodel.errors import ContentModelError
from contentmodel.history import AsyncTurnStore, ConflictError, NotFoundError, Turn
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import bodies
from contentmodel.server.bodies import answer, turn_json
from contentmodel.server.conversing import Begun, Conversing
from contentmodel.server.hub import Hub
from contentmodel.server.signals import heard
from contentmodel.server.stored import follow_stored
from contentmodel.server.streaming import EventStream
from contentmodel.server.transcript import prepared


class RunContext(msgspec.Struct, frozen=True):
    """What a runner is chosen by: the conversation, and the request that begins a turn in it."""

    conversation: str
    request: Request


Runner: TypeAlias = AsyncToolRunner | Callable[[RunContext], AsyncToolRunner | Awaitable[AsyncToolRunner]]
Authorize: TypeAlias = Callable[[Request, str | None], Any]


def create_app(
    store: AsyncTurnStore | str | Path,
    runner: Runner,
    *,
    model: str | None = None,
    instructions: str | Sequence[Content] = (),
    options: ChatOptions | None = None,
    authorize: Authorize | None = None,
    hub: Hub | None = None,
    heartbeat: float = 15.0,
    poll: float = 1.0,
    patience: float = 60.0,
    grace: float = 10.0,
    max_body: int = 10_000_000,
) -> Starlette:
    """An ASGI app of conversations that are kept in `store` and answered by `runner`.

    `store` is one that was opened in the event loop that the app runs in, and is closed by whoever opened it; or where
    it is, to be opened and closed with the app. `runner` runs every turn, or is asked for one at the beginning of each.
    `model`, `instructions` and `options` hold where a stored conversation does not say its own.

    `authorize` is asked about every request, with the conversation that it is about (None: with none), and may be
    asynchronous: what it does not answer with True is refused (403); it may raise an HTTPException of its own. Of a
    list of conversations those remain that it allows. None allows everything to everybody.

    In seconds: `heartbeat` is how often a stream says something, `poll` how often a turn of another process is looked
    at, `patience` how long a client may take none of what it is sent, `grace` how long turns have to end at shutdown.
    `max_body` is the longest body in bytes. `app.state.hub` is the Hub.
    """
    words = [TextContent(text=instructions)] if isinstance(instructions, str) else list(instructions)
    defaults = ChatRequest(model=model, instructions=list(words), options=options or ChatOptions())
    front = Front(runner, defaults, authorize, hub or Hub())
    front.heartbeat, front.poll, front.patience, front.max_body = heartbeat, poll, patience, max_body
    if isinstance(store, AsyncTurnStore):
        front.use(store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if not isinstance(store, AsyncTurnStore):
                front.use(await stack.enter_async_context(await AsyncTurnStore.open(store)))
            stack.push_async_callback(front.hub.close, grace)
            stack.enter_context(heard(front.hub.stop))
            yield

    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, ContentModelError, Exception), bodies.refuse)
    app = Starlette(routes=front.routes(), exception_handlers=handlers, lifespan=lifespan)
    app.state.hub = front.hub
    return app


class Front:
    """The endpoints, and what they share."""

    heartbeat: float
    poll: float
    patience: float
    max_body: int
    store: AsyncTurnStore
    conversing: Conversing

    def __init__(self, runner: Runner, defaults: ChatRequest, authorize: Authorize | None, hub: Hub) -> None:
        self.hub = hub
        self._runner, self._defaults, self._authorize = runner, defaults, authorize

    def use(self, store: AsyncTurnStore) -> None:
        """The store is open."""
        self.store = store
        self.conversing = Conversing(store, self.hub, partial(prepared, defaults=self._defaults))

    def routes(self) -> list[Route]:
        """The endpoints."""
        conversation, turn = "/conversations/{conversation}", "/turns/{turn}"
        return [
            Route("/conversations", self.get_conversations, methods=["GET"]),
            Route(conversation, self.delete_conversation, methods=["DELETE"]),
            Route(f"{conversation}/turns", self.get_turns, methods=["GET"]),
            Route(f"{conversation}/turns", self.post_turn, methods=["POST"]),
            Route(turn, self.get_turn, methods=["GET"], name="turn"),
            Route(f"{turn}/blocks", self.get_blocks, methods=["GET"]),
            Route(f"{turn}/events", self.get_events, methods=["GET"], name="events"),
            Route(f"{turn}/interrupt", self.interrupt, methods=["POST"]),
            Route(f"{turn}/approvals", self.post_approvals, methods=["POST"]),
        ]

    # -- conversations -------------------------------------------------------------------------------------------------

    async def get_conversations(self, request: Request) -> Response:
        await self._allow(request, None)
        limit, newest = bodies.limit_of(request), bodies.flag_of(request, "newest_first")
        place = bodies.place_of(request)
        found = await self.store.conversations(limit + 1, place, newest_first=newest)
        page = [shown for shown in found[:limit] if await self._shows(request, shown.id)]
        following = bodies.cursor_of(found[limit - 1]) if len(found) > limit else None
        return answer({"conversations": [msgspec.to_builtins(shown) for shown in page], "next": following})

    async def delete_conversation(self, request: Request) -> Response:
        conversation = await self._conversation(request)
        await self.store.delete(conversation)
        self.hub.forget(conversation)
        self.conversing.forget(conversation)
        return Response(status_code=204)

    async def get_turns(self, request: Request) -> Response:
        conversation = await self._conversation(request)
        limit, with_blocks = bodies.limit_of(request), bodies.flag_of(request, "blocks")
        await self.store.conversation(conversation)
        found = await self.store.turns(conversation, limit + 1, await self._place(request, conversation))
        page = [turn_json(turn) for turn in found[:limit]]
        if with_blocks:
            page = [{**shown, "blocks": await self._blocks(shown["id"])} for shown in page]
        return answer({"turns": page, "next": found[limit - 1].id if len(found) > limit else None})

    async def _place(self, request: Request, conversation: str) -> Turn | None:
        """The turn that a page follows."""
        after = request.query_params.get("after")
        if after is None:
            return None
        turn = await self.store.turn(after)
        if turn.conversation != conversation:
            raise NotFoundError(f"the conversation {conversation!r} has no turn {after!r}")
        return turn

    # -- turns ---------------------------------------------------------------------------------------------------------

    async def post_turn(self, request: Request) -> Response:
        conversation = await self._conversation(request)
        asked = bodies.asked_of(await bodies.body_of(request, self.max_body))
        begun, is_new = await self.conversing.ask(conversation, asked, self._choose(request, conversation))
        return await self._begun(request, begun, 201 if is_new else 200)

    async def post_approvals(self, request: Request) -> Response:
        turn = await self._turn(request)
        answers = bodies.answers_of(await bodies.body_of(request, self.max_body))
        begun = await self.conversing.approve(turn, answers, self._choose(request, turn.conversation))
        return await self._begun(request, begun, 201)

    def _choose(self, request: Request, conversation: str) -> Callable[[], Any]:
        if self.hub.is_stopping:
            raise HTTPException(503, "the server shuts down: no turn is begun any more")
        runner = self._runner
        return lambda: runner if isinstance(runner, AsyncToolRunner) else runner(RunContext(conversation, request))

    async def _begun(self, request: Request, begun: Begun, status: int) -> Response:
        headers = {"location": request.url_for("turn", turn=begun.turn).path}
        if "text/event-stream" in request.headers.get("accept", "").lower():
            return await self._stream(begun.turn, bodies.after_of(request), status, headers)
        events = request.url_for("events", turn=begun.turn).path
        return answer({**msgspec.to_builtins(begun), "events": events}, status, headers)

    async def get_turn(self, request: Request) -> Response:
        return answer(turn_json(await self._turn(request)))

    async def get_blocks(self, request: Request) -> Response:
        turn = await self._turn(request)
        return answer({"turn": turn.id, "status": turn.status, "blocks": await self._blocks(turn.id)})

    async def get_events(self, request: Request) -> Response:
        turn, after = await self._turn(request), bodies.after_of(request)
        live = self.hub.find(turn.id)
        if live is not None and live.has_told_all(after):
            # The answer that makes a browser's EventSource give up, which comes back by itself after every end.
            return Response(status_code=204)
        return await self._stream(turn.id, after)

    async def _stream(
        self, turn: str, after: int, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response:
        live = self.hub.find(turn)
        if live is not None:
            return EventStream(live.follow(after, self.heartbeat), self.patience, status, headers)
        found = await self.store.turn(turn)
        batches = follow_stored(self.store, found, poll=self.poll, patience=self.heartbeat)
        return EventStream(batches, self.patience, status, headers)

    async def interrupt(self, request: Request) -> Response:
        turn = await self._turn(request)
        live = self.hub.find(turn.id)
        if live is not None:
            live.interrupt()
            await live.ended()
        elif turn.is_open:
            await self.store.recover()
        turn = await self.store.turn(turn)
        if turn.is_open:
            raise ConflictError(f"the turn {turn.id} is written by another process: interrupt it there")
        return answer(turn_json(turn))

    async def _blocks(self, turn: str) -> list[dict[str, Any]]:
        return [{"sequence": block.sequence, "content": block.content} for block in await self.store.blocks(turn)]

    # -- who may -------------------------------------------------------------------------------------------------------

    async def _conversation(self, request: Request) -> str:
        """The conversation that a request is about."""
        conversation: str = request.path_params["conversation"]
        await self._allow(request, conversation)
        return conversation

    async def _turn(self, request: Request) -> Turn:
        """The turn that a request is about. Who may not ask is not told whether it is there."""
        try:
            turn = await self.store.turn(request.path_params["turn"])
        except NotFoundError:
            await self._allow(request, None)
            raise
        await self._allow(request, turn.conversation)
        return turn

    async def _allow(self, request: Request, conversation: str | None) -> None:
        if not await self._allows(request, conversation):
            raise HTTPException(403, "this is not allowed")

    async def _shows(self, request: Request, conversation: str) -> bool:
        """Whether a conversation stands in a list."""
        try:
            return await self._allows(request, conversation)
        except HTTPException:
            return False

    async def _allows(self, request: Request, conversation: str | None) -> bool:
        if self._authorize is None:
            return True
        said = self._authorize(request, conversation)
        return (await said if isawaitable(said) else said) is True
