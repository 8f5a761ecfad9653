"""The HTTP routes of a chat front end, as a Starlette app."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from contentmodel.content import Content
from contentmodel.content.text import TextContent
from contentmodel.errors import ContentModelError
from contentmodel.history import AsyncTurnStore, ConflictError, Turn
from contentmodel.history.log_async import AsyncConversationLog
from contentmodel.http_guard import Guard, GuardRules, host_names
from contentmodel.json import write
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.runner import AsyncToolRunner
from contentmodel.serialize import to_builtins
from contentmodel.server import queries, request_models
from contentmodel.server.access import Access, Authorize, Uploads
from contentmodel.server.connections import Connections
from contentmodel.server.front_ends.routes import FrontEnds
from contentmodel.server.hub import Hub
from contentmodel.server.limits import Limits
from contentmodel.server.log import EncodedEvent
from contentmodel.server.questions import turn_in
from contentmodel.server.replies import answer, log_page, refuse, refuse_early, turn_json
from contentmodel.server.request_models import TurnRequest
from contentmodel.server.sent import Rules
from contentmodel.server.signals import stopping_on_signals
from contentmodel.server.sse import frames
from contentmodel.server.stored_replay import follow_stored
from contentmodel.server.streaming import EventStream
from contentmodel.server.transcript import prepared
from contentmodel.server.turn_blocks import row_frames
from contentmodel.server.turn_service import StartedTurn, TurnService


class RunContext(msgspec.Struct, frozen=True):
    """The input for choosing a runner: the conversation, and the request that begins a turn in it."""

    conversation: str
    request: Request


Runner: TypeAlias = AsyncToolRunner | Callable[[RunContext], AsyncToolRunner | Awaitable[AsyncToolRunner]]


def create_app(
    store: AsyncTurnStore | str | Path,
    runner: Runner,
    *,
    model: str | None = None,
    instructions: str | Sequence[Content] = (),
    options: ChatOptions | None = None,
    authorize: Authorize | None = None,
    uploads: Uploads | None = None,
    link_schemes: Iterable[str] = ("http", "https"),
    limits: Limits | None = None,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
    secret: bytes | None = None,
    hub: Hub | None = None,
    heartbeat: float = 15.0,
    poll: float = 1.0,
    patience: float = 60.0,
    grace: float = 10.0,
) -> Starlette:
    """Return an ASGI app that stores conversations in `store` and answers them with `runner`.

    `store` is a store, or the location of one. A store must have been opened in the event loop of the app, and the
    caller closes it. If `store` is a location, the app opens and closes the store. `runner` is a runner for all
    turns, or a function that returns the runner of one turn. `model`, `instructions` and `options` are defaults for
    conversations that do not set their own.

    `authorize` is called for every request, with the conversation (None if the request is about none). It may be
    asynchronous. Only True allows a request. A rejected request is answered with 404 if it is about a conversation,
    else with 403. `authorize` may raise an HTTPException, 401 for example. None allows every request.

    A client may send text, data, links of the `link_schemes`, files, and answers to pending questions. `uploads` is
    called for each file, with the request, the conversation and the file's id. It may be asynchronous. Only True
    accepts the file; None accepts no file. `limits` bounds the requests of one client.

    `hosts` are the names of the server that clients use ("chat.example.com"; with a port, only with this port). The
    names of this machine and the address that a connection arrived at need no entry. Pages of these hosts may use the
    server; `origins` are those of other pages that may ("https://app.example.com"). Other pages are refused.

    `secret` is the encryption key of the cursors of `GET /conversations`, for example 32 random bytes. Processes that
    serve the same clients need the same key. None generates a key for this process.

    Times are in seconds. `heartbeat` is the interval of heartbeats in an idle stream. `poll` is the interval at which
    a turn of another process is read from the store. `patience` is the time a client has to take or send 64 kB before
    it is disconnected. `grace` is the time that turns and connections have to end after the server receives a stop
    signal. `app.state.hub` is the Hub.
    """
    contents = [TextContent(text=instructions)] if isinstance(instructions, str) else list(instructions)
    defaults = ChatRequest(model=model, instructions=list(contents), options=options or ChatOptions())
    rules = Rules(limits or Limits(), frozenset(scheme.lower() for scheme in link_schemes))
    front = Front(runner, defaults, Access(authorize, uploads), hub or Hub(), rules, queries.Cursors(secret))
    front.heartbeat, front.poll = heartbeat, poll
    if isinstance(store, AsyncTurnStore):
        front.use(store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if not isinstance(store, AsyncTurnStore):
                front.use(await stack.enter_async_context(await AsyncTurnStore.open(store)))
            stack.push_async_callback(front.hub.close, grace)
            stack.enter_context(stopping_on_signals(front.hub.stop))
            yield

    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, ContentModelError, Exception), refuse)
    limited = rules.limits
    guard_rules = GuardRules(
        hosts=host_names(hosts),
        origins=frozenset(origins),
        own_origin=True,
        body_bytes=limited.body_bytes,
        body_seconds=limited.body_seconds,
        requests=limited.requests,
    )
    guard = Middleware(Guard, rules=guard_rules, refuse=refuse_early)
    app = App(routes=front.routes(), exception_handlers=handlers, lifespan=lifespan, middleware=[guard])
    app.connections = Connections(patience, grace)
    front.hub.when_stopped(app.connections.stop)
    app.state.hub = front.hub
    return app


class App(Starlette):
    """A Starlette app that limits the time of each client connection, outside of all middleware."""

    connections: Connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        await self.connections.serve(super().__call__, scope, receive, send)


class Front:
    """The endpoints, and their shared state."""

    heartbeat: float
    poll: float
    store: AsyncTurnStore
    conversing: TurnService

    def __init__(
        self, runner: Runner, defaults: ChatRequest, access: Access, hub: Hub, rules: Rules, cursors: queries.Cursors
    ) -> None:
        self.hub, self.rules, self.limits = hub, rules, rules.limits
        self._runner, self._defaults, self._access, self._cursors = runner, defaults, access, cursors

    def use(self, store: AsyncTurnStore) -> None:
        """Serve the conversations of an open store."""
        self.store = store
        prepare = partial(prepared, defaults=self._defaults)
        self.conversing = TurnService(store, self.hub, prepare, self.limits.keys)

    def routes(self) -> list[Route]:
        """Return the endpoints."""
        conversation, turn = "/conversations/{conversation}", "/turns/{turn}"
        return [
            Route("/conversations", self.get_conversations, methods=["GET"]),
            Route(conversation, self.delete_conversation, methods=["DELETE"]),
            Route(f"{conversation}/turns", self.get_turns, methods=["GET"]),
            Route(f"{conversation}/turns", self.post_turn, methods=["POST"]),
            Route(f"{conversation}/log", self.get_log, methods=["GET"]),
            Route(turn, self.get_turn, methods=["GET"], name="turn"),
            Route(f"{turn}/blocks", self.get_blocks, methods=["GET"]),
            Route(f"{turn}/events", self.get_events, methods=["GET"], name="events"),
            Route(f"{turn}/interrupt", self.interrupt, methods=["POST"]),
            Route(f"{turn}/approvals", self.post_approvals, methods=["POST"]),
            *FrontEnds(self).routes(),
        ]

    # -- conversations -------------------------------------------------------------------------------------------------

    async def get_conversations(self, request: Request) -> Response:
        await self._access.check(request)
        limit, newest = queries.limit_of(request), queries.flag_of(request, "newest_first")
        place = self._cursors.read(request)
        page, following = await self._access.page(request, self.store, limit, place, newest, self.limits.listed)
        cursor = None if following is None else self._cursors.write(following)
        return answer({"conversations": [msgspec.to_builtins(shown) for shown in page], "next": cursor})

    async def delete_conversation(self, request: Request) -> Response:
        conversation = await self.conversation_of(request)
        await self.store.delete(conversation)
        self.hub.forget(conversation)
        self.conversing.forget(conversation)
        return Response(status_code=204)

    async def get_turns(self, request: Request) -> Response:
        conversation = await self.conversation_of(request)
        limit, with_blocks = queries.limit_of(request), queries.flag_of(request, "blocks")
        await self.store.conversation(conversation)
        name = request.query_params.get("after")
        after = None if name is None else await turn_in(self.store, conversation, self._name("after", name))
        turns = await self.store.turns(conversation, limit + 1, after)
        page = [turn_json(turn) for turn in turns[:limit]]
        if with_blocks:
            page = await self._with_blocks(page)
        return answer({"turns": page, "next": page[-1]["id"] if len(turns) > len(page) else None})

    async def _with_blocks(self, page: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return turns with their blocks: as many as fit into `page_bytes`, and at least one."""
        shown: list[dict[str, Any]] = []
        remaining = self.limits.page_bytes
        for turn in page:
            whole = {**turn, "blocks": to_builtins(await self._blocks(turn["id"]))}
            remaining -= len(write(whole))
            if shown and remaining < 0:
                break
            shown.append(whole)
        return shown

    async def get_log(self, request: Request) -> Response:
        conversation = await self.conversation_of(request)
        query = queries.log_of(request)
        if query.turn is not None:
            await turn_in(self.store, conversation, self._name("turn", query.turn))
        entries = await AsyncConversationLog(self.store).entries(
            conversation, query.limit + 1, query.after, query.kinds, query.turn
        )
        return answer(log_page(entries, query.limit, self.limits.page_bytes))

    # -- turns ---------------------------------------------------------------------------------------------------------

    async def post_turn(self, request: Request) -> Response:
        conversation = await self.conversation_of(request)
        queries.vocabulary_of(request)
        data = await request.body()
        turn_request = await request_models.decoded(request_models.turn_request_of, data, self.rules)
        await self._access.check_files(request, conversation, turn_request)
        begun, is_new = await self.conversing.ask(conversation, turn_request, self._choose(request, conversation))
        return await self._begun(request, begun, 201 if is_new else 200)

    async def begin(
        self, request: Request, conversation: str, asked: Callable[[], Awaitable[TurnRequest]]
    ) -> StartedTurn:
        """Begin a turn in a conversation, after the check of the caller's access to it."""
        await self._access.check_conversation(request, self._name("conversation", conversation))
        begun, _ = await self.conversing.ask(conversation, await asked(), self._choose(request, conversation))
        return begun

    async def post_approvals(self, request: Request) -> Response:
        turn = await self._turn(request)
        queries.vocabulary_of(request)
        data = await request_models.short_body_of(request, self.limits.answer_bytes)
        turn_request = TurnRequest(request_models.answers_of(data, self.rules), turn.id)
        begun, _ = await self.conversing.ask(turn.conversation, turn_request, self._choose(request, turn.conversation))
        return await self._begun(request, begun, 201)

    def _choose(self, request: Request, conversation: str) -> Callable[[], Any]:
        if self.hub.is_stopping:
            raise HTTPException(503, "the server is shutting down and accepts no new turns")
        if self.hub.running + self.conversing.beginning >= self.limits.running:
            raise HTTPException(503, "too many turns are running: try again later", {"retry-after": "10"})
        runner = self._runner
        return lambda: runner if isinstance(runner, AsyncToolRunner) else runner(RunContext(conversation, request))

    async def _begun(self, request: Request, begun: StartedTurn, status: int) -> Response:
        headers = {"location": request.url_for("turn", turn=begun.turn).path}
        if "text/event-stream" in request.headers.get("accept", "").lower():
            return await self._stream(request, begun.turn, status, headers)
        events = request.url_for("events", turn=begun.turn).path
        if "vocabulary" in request.query_params:
            events += f"?vocabulary={queries.vocabulary_of(request)}"
        return answer({**msgspec.to_builtins(begun), "events": events}, status, headers)

    async def get_turn(self, request: Request) -> Response:
        return answer(turn_json(await self._turn(request)))

    async def get_blocks(self, request: Request) -> Response:
        turn = await self._turn(request)
        return answer({"turn": turn.id, "status": turn.status, "blocks": await self._blocks(turn.id)})

    async def get_events(self, request: Request) -> Response:
        turn, after = await self._turn(request), queries.after_of(request)
        live = self.hub.find(turn.id)
        if live is not None and live.has_sent_all(after):
            # EventSource reconnects after every end of a stream. Status 204 makes it stop.
            return Response(status_code=204)
        return await self._stream(request, turn.id)

    async def _stream(
        self, request: Request, turn: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response:
        after, vocabulary = queries.after_of(request), queries.vocabulary_of(request)
        encode = row_frames if vocabulary == "turn-blocks" else frames
        return EventStream(await self.batches(turn, after), status, headers, encode)

    async def batches(self, turn: str, after: int = 0) -> AsyncGenerator[list[EncodedEvent], None]:
        """Return the events of a turn after number `after`, in batches: of this process, or from the store."""
        live = self.hub.find(turn)
        if live is not None:
            return live.follow(after, self.heartbeat)
        return follow_stored(self.store, await self.store.turn(turn), poll=self.poll, patience=self.heartbeat)

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
            raise ConflictError(f"the turn {turn.id} runs in another process: interrupt it there")
        return answer(turn_json(turn))

    async def _blocks(self, turn: str) -> list[dict[str, Any]]:
        return [{"sequence": block.sequence, "content": block.content} for block in await self.store.blocks(turn)]

    # -- access --------------------------------------------------------------------------------------------------------

    async def conversation_of(self, request: Request) -> str:
        """Return the conversation of a request. Raise NotFoundError if the caller may not see it."""
        conversation = self._name("conversation", request.path_params["conversation"])
        await self._access.check_conversation(request, conversation)
        return conversation

    async def _turn(self, request: Request) -> Turn:
        """Return the turn of a request. Raise NotFoundError if it is missing, or if the caller may not see it."""
        return await self._access.turn(request, self.store, self._name("turn", request.path_params["turn"]))

    def _name(self, kind: str, name: str) -> str:
        limit = self.limits.id_length
        if not (0 < len(name) <= limit and name.isprintable()):
            raise queries.wrong(kind, f"1 to {limit} printable characters", name)
        return name
