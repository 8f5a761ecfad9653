"""The endpoints over real sockets: turns are stored, and sent to clients that join late, lag or reconnect."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.exceptions import HTTPException
from starlette.middleware.base import BaseHTTPMiddleware

from conftest import DATABASES
from contentmodel import (
    ChatOptions,
    ChatRequest,
    ErrorContent,
    FunctionResultContent,
    FunctionTool,
    StreamEvent,
    TextContent,
    check,
    unfold,
)
from contentmodel import adapter as adapter_of
from contentmodel.client import RateLimitError
from contentmodel.content import ToolApprovalRequestContent, ToolApprovalResponseContent
from contentmodel.events import BlockCatchUp, BlockStop, Fold, TurnComplete, TurnError, TurnStart
from contentmodel.framing import SseParser
from contentmodel.history import AsyncTurnStore, TurnStore, arecord
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import EventReader, Hub, Limits, RunContext, create_app
from contentmodel.tools import tool
from scripted import AsyncScripted, AsyncStream, Gate, Line, answer, call

LONG = 30.0
"""The time limit in seconds for anything that a test waits for."""


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    """Return the URL of a new database."""
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a SQLite path, for tests that do not depend on the database."""
    return str(tmp_path / "turns.db")


class Paced(AsyncScripted):
    """A model that sends one event per `let`, or all events if it is `free`."""

    def __init__(self, script: Iterable[Line], *, free: bool = True, size: int = 5) -> None:
        super().__init__(script)
        self.size = size
        self.permits, self.free = asyncio.Semaphore(0), free
        self.asked = asyncio.Event()

    def let(self, count: int) -> None:
        for _ in range(count):
            self.permits.release()

    def let_all(self) -> None:
        self.free = True
        self.let(1_000)

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> AsyncStream:
        return PacedStream(self, request)


class PacedStream(AsyncStream):
    async def __anext__(self) -> StreamEvent:
        self._client.asked.set()
        if not self._client.free:
            await self._client.permits.acquire()
        if self._events is None:
            self._events = unfold(self._client._next(self._request), size=self._client.size)
            self._client.open += 1
        return await super().__anext__()


@dataclass
class Front:
    """A running server, an HTTP client of it, and its store and hub."""

    http: httpx2.AsyncClient
    store: AsyncTurnStore
    hub: Hub
    port: int
    server: uvicorn.Server

    async def ask(self, content: Any = "Hi.", conversation: str = "c", **fields: Any) -> dict[str, Any]:
        response = await self.http.post(f"/conversations/{conversation}/turns", json={"content": content, **fields})
        assert response.status_code == 201, response.text
        return response.json()

    async def get(self, path: str, status: int = 200, **query: Any) -> Any:
        response = await self.http.get(path, params=query)
        assert response.status_code == status, response.text
        return response.json()

    async def post(self, path: str, body: Any, status: int = 201) -> Any:
        response = await self.http.post(path, json=body)
        assert response.status_code == status, response.text
        return response.json()

    async def ended(self, turn: str) -> None:
        live = self.hub.find(turn)
        if live is not None:
            await asyncio.wait_for(live.ended(), LONG)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds` returns true."""
        async with asyncio.timeout(LONG):
            while not holds():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def serving(url: str, runner: Any, middleware: Any = None, **settings: Any) -> AsyncIterator[Front]:
    """Run the app on a loopback port with its own store. `middleware` is a Starlette dispatch function."""
    runner = AsyncToolRunner(runner) if isinstance(runner, AsyncScripted) else runner
    async with await AsyncTurnStore.open(url) as store:
        # The requests of raw sockets are for the host x.
        app = create_app(store, runner, **{"hosts": ["x"], **settings})
        if middleware is not None:
            app.add_middleware(BaseHTTPMiddleware, dispatch=middleware)
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
        bound = socket.create_server(("127.0.0.1", 0))
        # asyncio sets it only on sockets that it creates. Without it, each answer waits 40 ms for an acknowledgement.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A small send buffer, so that slow clients block the server early.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        task = asyncio.create_task(server.serve(sockets=[bound]))
        port = bound.getsockname()[1]
        try:
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LONG) as http:
                front = Front(http, store, app.state.hub, port, server)
                await front.until(lambda: server.started)
                yield front
                app.state.hub.stop()
        finally:
            server.should_exit = True
            await task


@dataclass
class Client:
    """A client that collects events, and reconnects with the last event id."""

    front: Front
    turn: str
    fold: Fold = field(default_factory=Fold)
    events: list[StreamEvent] = field(default_factory=list)
    last: str | None = None
    status: int = 0

    async def listen(self, count: int = 10**9) -> None:
        """Read to the end, or disconnect after `count` events."""
        headers = {} if self.last is None else {"Last-Event-ID": self.last}
        reader = EventReader()
        async with self.front.http.stream("GET", f"/turns/{self.turn}/events", headers=headers) as response:
            self.status = response.status_code
            async for data in response.aiter_bytes():
                for event in reader.feed(data):
                    self.fold.feed(event)
                    self.events.append(event)
                self.last = reader.last_event_id or self.last
                if len(self.events) >= count:
                    return

    @property
    def end(self) -> StreamEvent:
        return self.events[-1]


def run(test: Any) -> None:
    asyncio.run(asyncio.wait_for(test, 4 * LONG))


@tool
async def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


def two_answers() -> list[Line]:
    return [answer("Let me see.", call("weather", "c1", city="Oslo")), answer("It is sunny in Oslo.")]


# -- a turn ------------------------------------------------------------------------------------------------------------


def test_server_runs_stores_and_streams_a_turn(url: str) -> None:
    async def go() -> None:
        model = Paced(two_answers())
        settings = {"instructions": "Be brief.", "model": "m", "options": ChatOptions(temperature=0)}
        async with serving(url, AsyncToolRunner(model, [weather]), **settings) as front:
            begun = await front.ask("How is Oslo?")
            assert begun["events"] == f"/turns/{begun['turn']}/events"
            client = Client(front, begun["turn"])
            await client.listen()
            assert isinstance(client.end, TurnComplete)
            stored = await front.get(f"/turns/{begun['turn']}")
            assert (stored["status"], stored["previous"], stored["role"]) == (
                "complete",
                begun["user_turn"],
                "assistant",
            )
            assert "writer" not in stored
            blocks = await front.get(f"/turns/{begun['turn']}/blocks")
            assert [b["content"]["type"] for b in blocks["blocks"]] == [
                "text",
                "function_call",
                "function_result",
                "text",
            ]
            loaded = await front.store.load("c")
            assert [m.role for m in loaded.messages] == ["user", "assistant", "tool", "assistant"]
            assert loaded.messages[1:] == client.fold.response.messages
            first = model.requests[0]
            assert (first.model, first.instructions) == ("m", [TextContent(text="Be brief.")])
            assert first.options.temperature == 0

    run(go())


def test_sse_events_have_names_and_ids(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hello you.")], free=False)
        async with serving(path, model) as front:
            begun = await front.ask()
            async with front.http.stream("GET", begun["events"]) as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                assert response.headers["cache-control"] == "no-cache"
                await front.until(lambda: front.hub.find(begun["turn"]).followers == 1)
                model.let_all()
                text = (await response.aread()).decode()
            frames = [frame.splitlines() for frame in text.split("\n\n") if frame and frame[0] != ":"]
            assert [frame[0] for frame in frames] == [f"id: {number}" for number in range(1, len(frames) + 1)]
            assert [frame[1] for frame in frames] == [
                "event: turn_start",
                "event: block_start",
                "event: block_delta",
                "event: block_delta",
                "event: block_stop",
                "event: turn_complete",
            ]
            assert json.loads(frames[2][2].removeprefix("data: ")) == {
                "type": "text_delta",
                "index": 0,
                "text": "Hello",
            }

    run(go())


def test_post_that_accepts_events_streams_the_turn(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hello.")])) as front:
            headers = {"Accept": "text/event-stream"}
            body = {"content": [{"type": "text", "text": "Hi."}]}
            reader = EventReader()
            async with front.http.stream("POST", "/conversations/c/turns", json=body, headers=headers) as response:
                assert response.status_code == 201
                turn = response.headers["location"].rpartition("/")[2]
                events = [event async for data in response.aiter_bytes() for event in reader.feed(data)]
            assert isinstance(events[0], TurnStart)
            assert isinstance(events[-1], TurnComplete)
            assert (await front.store.turn(turn)).status == "complete"

    run(go())


def test_several_clients_receive_the_same_events(path: str) -> None:
    async def go() -> None:
        model = Paced(two_answers(), free=False)
        async with serving(path, AsyncToolRunner(model, [weather])) as front:
            begun = await front.ask()
            clients = [Client(front, begun["turn"]) for _ in range(4)]
            listening = [asyncio.create_task(client.listen()) for client in clients]
            model.let(3)
            await front.until(lambda: front.hub.find(begun["turn"]).followers == 4)
            model.let_all()
            await asyncio.gather(*listening)
            assert len(clients[0].events) > 10
            assert all(client.events == clients[0].events for client in clients)

    run(go())


def test_block_is_stored_before_its_block_stop_is_sent(url: str) -> None:
    async def go() -> None:
        model = Paced(two_answers())
        async with serving(url, AsyncToolRunner(model, [weather])) as front:
            begun = await front.ask()
            reader, seen = EventReader(), 0
            with TurnStore.open(url) as other:
                async with front.http.stream("GET", begun["events"]) as response:
                    async for data in response.aiter_bytes():
                        for event in reader.feed(data):
                            if isinstance(event, BlockStop | BlockCatchUp):
                                stored = {b.sequence: b.content for b in other.blocks(begun["turn"])}
                                assert not isinstance(event, BlockStop) or stored[event.index] == event.content
                                seen += 1
                            if isinstance(event, TurnComplete):
                                assert other.turn(begun["turn"]).status == "complete"
            assert seen == 4

    run(go())


# -- clients that disconnect, lag and reconnect ------------------------------------------------------------------------


def test_client_can_resume_after_any_event_id(path: str) -> None:
    async def go() -> None:
        model = Paced(two_answers())
        async with serving(path, AsyncToolRunner(model, [weather])) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            log = front.hub.find(begun["turn"]).log
            events = [one.event for one in log.since(0)]
            for number in range(log.last):
                client = Client(front, begun["turn"], last=str(number))
                for event in events[:number]:
                    client.fold.feed(event)
                await client.listen()
                assert client.fold.response == fold_of(events)
                assert number == 0 or client.events == events[number:]
            response = await front.http.get(begun["events"], headers={"Last-Event-ID": str(log.last)})
            assert response.status_code == 204
            assert (await front.http.get(begun["events"], params={"after": log.last})).status_code == 204
            lost = Client(front, begun["turn"], last="100000")
            await lost.listen()
            assert lost.fold.response == fold_of(events)

    run(go())


def fold_of(events: Iterable[StreamEvent]) -> Any:
    gathered = Fold()
    for event in events:
        gathered.feed(event)
    return gathered.response


@pytest.mark.parametrize("kept", [0, 300, 256_000])
def test_client_that_reconnects_receives_the_whole_turn(url: str, kept: int) -> None:
    async def go() -> None:
        model = Paced(two_answers(), free=False)
        async with serving(url, AsyncToolRunner(model, [weather]), hub=Hub(kept_bytes=kept)) as front:
            begun = await front.ask()
            client, whole = Client(front, begun["turn"]), Client(front, begun["turn"])
            listening = asyncio.create_task(whole.listen())
            for count in (1, 2, 1, 2, 1):
                model.let(3)
                await client.listen(len(client.events) + count)
            await drop(front, begun["events"])
            model.let_all()
            await client.listen()
            await listening
            assert isinstance(client.end, TurnComplete)
            assert client.fold.response == whole.fold.response
            assert client.fold.response.messages == (await front.store.load("c")).messages[1:]
            await front.until(lambda: front.hub.find(begun["turn"]).followers == 0)

    run(go())


async def drop(front: Front, path: str) -> None:
    """Read a few bytes of a stream, and reset the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await reader.readexactly(60)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


def test_turn_continues_if_a_client_disconnects(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hello you.")], free=False)
        async with serving(path, model) as front:
            begun = await front.ask()
            model.let(2)
            await Client(front, begun["turn"]).listen(1)
            await drop(front, begun["events"])
            await front.until(lambda: front.hub.find(begun["turn"]).followers == 0)
            model.let_all()
            await front.ended(begun["turn"])
            assert (await front.store.turn(begun["turn"])).status == "complete"

    run(go())


def test_slow_client_delays_no_other_client_and_gets_catch_up_events(path: str) -> None:
    words = "0123456789" * 20_000

    async def go() -> None:
        model = Paced([answer(words[:70_000], words)], free=False, size=100)
        async with serving(path, model, hub=Hub(kept_bytes=10_000)) as front:
            begun = await front.ask()
            # With a small window and no reader, a few thousand bytes fill the server's buffers.
            raw = socket.socket()
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(raw, ("127.0.0.1", front.port))
            await loop.sock_sendall(raw, f"GET {begun['events']} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            live = front.hub.find(begun["turn"])
            await front.until(lambda: live.followers == 1)
            quick = Client(front, begun["turn"])
            listening = asyncio.create_task(quick.listen())
            await front.until(lambda: live.followers == 2)
            model.let_all()
            await listening
            await front.ended(begun["turn"])
            assert live.followers == 1
            assert live.log.size <= 10_000
            slow = await read_all(loop, raw)
            assert sum(isinstance(event, BlockCatchUp) for event in slow) >= 2
            assert fold_of(slow) == quick.fold.response
            assert fold_of(slow).text == words[:70_000] + words
            assert len(slow) < len(quick.events) / 2

    run(go())


async def read_all(loop: asyncio.AbstractEventLoop, raw: socket.socket) -> list[StreamEvent]:
    """Return the events of a chunked HTTP response on a socket."""
    pieces = []
    while b"0\r\n\r\n" not in b"".join(pieces[-2:])[-10:]:
        pieces.append(await loop.sock_recv(raw, 65536))
    raw.close()
    body = b"".join(pieces).partition(b"\r\n\r\n")[2]
    header = b""
    parts = []
    while body and header != b"0":
        header, _, body = body.partition(b"\r\n")
        size = int(header, 16)
        parts.append(body[:size])
        body = body[size + 2 :]
    return EventReader().feed(b"".join(parts))


def test_server_drops_a_client_that_does_not_read_for_the_patience(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("x" * 1_000_000)], size=1000)
        async with serving(path, model, patience=0.2) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            raw = socket.socket()
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(raw, ("127.0.0.1", front.port))
            await loop.sock_sendall(raw, f"GET {begun['events']} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            live = front.hub.find(begun["turn"])
            await front.until(lambda: live.followers == 1)
            await front.until(lambda: live.followers == 0)
            raw.close()

    run(go())


def test_idle_connection_gets_heartbeats(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hello.")], free=False)
        async with serving(path, model, heartbeat=0.01) as front:
            begun = await front.ask()
            model.let(1)
            async with front.http.stream("GET", begun["events"]) as response:
                data = b""
                async for piece in response.aiter_bytes():
                    data += piece
                    if data.count(b": still here\n") >= 3:
                        model.let_all()
            assert SseParser().feed(data)[-1][0] == "turn_complete"

    run(go())


def test_head_request_gets_no_events(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hello.")], free=False)
        async with serving(path, model) as front:
            begun = await front.ask()
            response = await front.http.head(begun["events"])
            assert (response.status_code, response.content) == (200, b"")
            assert front.hub.find(begun["turn"]).followers == 0

    run(go())


# -- interrupts --------------------------------------------------------------------------------------------------------


def test_interrupt_during_an_answer_keeps_complete_blocks(url: str) -> None:
    async def go() -> None:
        model = Paced([answer("First.", "Second one."), answer("Sure.")], free=False)
        async with serving(url, model) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            listening = asyncio.create_task(client.listen())
            model.let(8)
            await front.until(lambda: sum(isinstance(e, BlockStop) for e in client.events) == 1)
            ended = await front.post(f"/turns/{begun['turn']}/interrupt", None, 200)
            assert ended["status"] == "interrupted"
            await listening
            assert isinstance(client.end, TurnError)
            assert client.end.error.code == "interrupted"
            assert [b.content.text for b in await front.store.blocks(begun["turn"])] == ["First."]
            assert model.open == 0
            again = await front.post(f"/turns/{begun['turn']}/interrupt", None, 200)
            assert again == ended
            model.let_all()
            more = await front.ask("Go on.")
            await front.ended(more["turn"])
            assert [m.text for m in model.requests[1].messages] == ["Hi.", "First.", "Go on."]

    run(go())


@pytest.mark.parametrize("is_async", [True, False])
def test_interrupt_during_a_tool_stores_a_result_for_its_call(path: str, is_async: bool) -> None:
    async def go() -> None:
        entered, gate = asyncio.Event(), Gate()

        @tool(name="wait")
        async def waits() -> str:
            entered.set()
            await asyncio.Event().wait()
            return "never"

        @tool(name="wait")
        def blocks() -> str:
            gate.pass_through()
            return "too late"

        model = Paced([answer("Wait.", call("wait", "c1")), answer("Sure.")])
        async with serving(path, AsyncToolRunner(model, [waits if is_async else blocks])) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            listening = asyncio.create_task(client.listen())
            if is_async:
                await asyncio.wait_for(entered.wait(), LONG)
            else:
                await front.until(lambda: gate.entered.acquire(blocking=False))
            ended = await front.post(f"/turns/{begun['turn']}/interrupt", None, 200)
            assert (ended["status"], ended["stop_reason"]) == ("interrupted", "cancelled")
            assert ended["usage"]["input_tokens"] == 10
            await listening
            gate.opened.set()
            assert client.end.error.code == "interrupted"
            kinds = [type(b.content).__name__ for b in await front.store.blocks(begun["turn"])]
            assert kinds == ["TextContent", "FunctionCallContent", "FunctionResultContent"]
            more = await front.ask("Go on.")
            await front.ended(more["turn"])
            for api in ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content"):
                payload = adapter_of(api).encode_request(model.requests[1], model="m").payload
                assert [v for v in check(payload, api=api) if v.severity == "refused"] == []

    run(go())


def test_interrupt_before_the_first_block_ends_the_turn_without_messages(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hello.")], free=False)
        async with serving(path, model) as front:
            begun = await front.ask()
            await asyncio.wait_for(model.asked.wait(), LONG)
            assert (await front.post(f"/turns/{begun['turn']}/interrupt", None, 200))["status"] == "interrupted"
            client = Client(front, begun["turn"])
            await client.listen()
            assert [type(event) for event in client.events] == [TurnStart, TurnError]
            assert client.fold.response.messages == []

    run(go())


def test_interrupt_of_a_turn_of_another_process_is_refused(path: str) -> None:
    async def go() -> None:
        async with await AsyncTurnStore.open(path) as other, serving(path, Paced([])) as front:
            turn = await other.begin_turn("c", "assistant")
            refused = await front.post(f"/turns/{turn.id}/interrupt", None, 409)
            assert "another process" in refused["error"]["message"]

    run(go())


# -- turns that are streamed from the store ---------------------------------------------------------------------------


def test_new_process_streams_stored_turns(url: str) -> None:
    async def go() -> None:
        clients: dict[str, Client] = {}
        failing = RateLimitError("too much", api="x", error=ErrorContent(message="too much", code="rate_limit"))
        scripts = {"whole": [answer("Hi.", "You.")], "broken": [failing], "stopped": [answer("One.", "Two three.")]}
        for conversation, script in scripts.items():
            model = Paced(script, free=conversation != "stopped")
            async with serving(url, model) as front:
                begun = await front.ask(conversation=conversation)
                client = clients[conversation] = Client(front, begun["turn"])
                if conversation == "stopped":
                    model.let(5)
                    await client.listen(5)
                else:
                    await client.listen()
        async with serving(url, Paced([])) as front:
            for conversation, before in clients.items():
                fresh = Client(front, before.turn)
                await fresh.listen()
                before.front = front
                await before.listen()
                assert before.fold.response == fresh.fold.response
                assert fresh.last == "0"
                loaded = await front.store.load(conversation)
                assert fresh.fold.response.messages == [m for m in loaded.messages[1:] if m.contents]
            ends = {conversation: client.end for conversation, client in clients.items()}
            assert isinstance(ends["whole"], TurnComplete)
            assert clients["whole"].fold.response.finish_reason.reason == "stop"
            assert clients["whole"].fold.response.usage.input_tokens == 10
            assert ends["broken"].error.code == "rate_limit"
            assert ends["stopped"].error.code == "interrupted"
            assert [m.text for m in clients["stopped"].fold.response.messages] == ["One."]
            users = Client(front, (await front.store.turns("whole"))[0].id)
            await users.listen()
            assert [(m.role, m.text) for m in users.fold.response.messages] == [("user", "Hi.")]

    run(go())


def test_turn_that_the_hub_forgot_is_streamed_from_the_store(path: str) -> None:
    async def go() -> None:
        model = Paced(two_answers())
        async with serving(path, AsyncToolRunner(model, [weather]), hub=Hub(kept_turns=0)) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            assert front.hub.find(begun["turn"]) is None
            client = Client(front, begun["turn"], last="3")
            await client.listen()
            assert client.fold.response.messages == (await front.store.load("c")).messages[1:]

    run(go())


def test_turn_of_another_process_is_streamed_from_the_store(url: str) -> None:
    async def go() -> None:
        following = serving(url, Paced([]), poll=0.01, heartbeat=0.05)
        async with await AsyncTurnStore.open(url) as other, following as front:
            turn = await other.begin_turn("c", "assistant", model="m")
            await other.put_block(turn, 0, TextContent(text="One."))
            client = Client(front, turn.id)
            listening = asyncio.create_task(client.listen())
            await front.until(lambda: len(client.events) == 2)
            await other.put_block(turn, 1, TextContent(text="Two."))
            await front.until(lambda: len(client.events) == 3)
            await other.end_turn(turn)
            await listening
            assert client.fold.response.text == "One.Two."
            assert isinstance(client.end, TurnComplete)

    run(go())


def test_stream_of_a_turn_whose_writer_died_ends_as_interrupted(path: str) -> None:
    async def go() -> None:
        script = (
            "import sys\nfrom contentmodel import TextContent\nfrom contentmodel.history import TurnStore\n"
            "store = TurnStore.open(sys.argv[1])\nturn = store.begin_turn('c', 'assistant')\n"
            "store.put_block(turn, 0, TextContent(text='One.'))\nprint(turn.id, flush=True)\nsys.stdin.read()"
        )
        writer = subprocess.Popen(
            [sys.executable, "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        turn = writer.stdout.readline().strip()
        async with serving(path, Paced([]), poll=0.01, heartbeat=0.02) as front:
            client = Client(front, turn)
            listening = asyncio.create_task(client.listen())
            await front.until(lambda: len(client.events) == 2)
            writer.kill()
            writer.communicate()
            await listening
            assert client.end.error.code == "interrupted"

    run(go())


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RateLimitError("slow down", error=ErrorContent(message="slow down", code="rate")), "rate", "slow down"),
        (RuntimeError("the password is x"), "internal_error", "the server's log"),
    ],
)
def test_error_of_the_model_ends_the_turn_with_turn_error(path: str, error: Exception, code: str, words: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([error])) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            await client.listen()
            assert [type(event) for event in client.events] == [TurnStart, TurnError]
            assert client.end.error.code == code
            assert words in client.end.error.message
            stored = await front.get(f"/turns/{begun['turn']}")
            assert stored["status"] == "failed"
            assert words in stored["error"]["message"]

    run(go())


def test_error_of_a_later_model_request_fails_the_turn_and_keeps_its_blocks(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("One.", call("weather", "c1", city="Oslo")), RateLimitError("slow down")])
        async with serving(path, AsyncToolRunner(model, [weather])) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            await client.listen()
            assert isinstance(client.end, TurnError)
            assert [type(b.content).__name__ for b in await front.store.blocks(begun["turn"])] == [
                "TextContent",
                "FunctionCallContent",
                "FunctionResultContent",
            ]
            assert (await front.store.turn(begun["turn"])).status == "failed"

    run(go())


def test_limit_of_iterations_is_sent_as_a_notice(path: str) -> None:
    async def go() -> None:
        model = Paced([answer(call("weather", "c1", city="Oslo"))])
        async with serving(path, AsyncToolRunner(model, [weather], max_iterations=1)) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            await client.listen()
            assert [getattr(event, "kind", "") for event in client.events[-2:]] == ["max_iterations", ""]
            assert isinstance(client.end, TurnComplete)

    run(go())


def test_error_of_the_store_ends_the_turn_for_its_clients(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("One.", "Two.")], free=False)
        async with serving(path, model) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            listening = asyncio.create_task(client.listen())
            model.let(2)
            await front.until(lambda: len(client.events) == 2)
            # Another writer ends the turn, so the server can store nothing more of it.
            await front.store.end_turn(begun["turn"], status="interrupted")
            model.let_all()
            await listening
            assert client.end.error.code == "internal_error"
            assert not any(isinstance(event, BlockStop) for event in client.events)

    run(go())


TURNS = "/conversations/c/turns"
WRONG: list[tuple[str, str, Any, int, str]] = [
    ("POST", TURNS, {}, 400, "$.content"),
    ("POST", TURNS, {"content": ""}, 400, "$.content"),
    ("POST", TURNS, {"content": []}, 400, "$.content"),
    ("POST", TURNS, {"content": 7}, 400, "$.content"),
    ("POST", TURNS, {"content": [{"type": "text"}]}, 400, "$.content[0]"),
    ("POST", TURNS, {"content": ["x"]}, 400, "$.content[0]"),
    ("POST", TURNS, {"content": "x", "previous": 7}, 400, "$.previous"),
    ("POST", TURNS, {"content": "x", "branch": "yes"}, 400, "$.branch"),
    ("POST", TURNS, {"content": "x", "idempotency_key": ""}, 400, "$.idempotency_key"),
    ("POST", TURNS, {"content": "x", "model": "m"}, 400, "unknown field 'model'"),
    ("POST", TURNS, [], 400, "Expected `object`"),
    ("POST", TURNS, b"{", 400, "not JSON"),
    ("POST", TURNS, b"[" * 100_000, 413, "longer"),
    ("POST", TURNS, b"[" * 999, 400, "Expected `object`"),
    ("POST", TURNS, b'{"content": ' + b"[" * 900, 400, "not JSON"),
    ("POST", TURNS, b'{"content": "' + b"x" * 2000 + b'"}', 413, "longer than 1,000 bytes"),
    ("POST", TURNS, {"content": [{"type": "function_call", "name": "f"}]}, 400, "$.content[0].type"),
    ("POST", "/conversations/%00/turns", {"content": "x"}, 400, "printable"),
    ("POST", TURNS, {"content": "x", "previous": "nowhere"}, 404, "nowhere"),
    ("POST", "/turns/nowhere/interrupt", None, 404, "nowhere"),
    ("POST", "/turns/nowhere/approvals", {"x": True}, 404, "nowhere"),
    ("GET", "/turns/nowhere", None, 404, "nowhere"),
    ("GET", "/turns/nowhere/events", None, 404, "nowhere"),
    ("GET", "/turns/nowhere/blocks", None, 404, "nowhere"),
    ("GET", "/conversations/nowhere/turns", None, 404, "nowhere"),
    ("DELETE", "/conversations/nowhere", None, 404, "nowhere"),
    ("GET", "/conversations?limit=0", None, 400, "limit"),
    ("GET", "/conversations?limit=501", None, 400, "limit"),
    ("GET", "/conversations?limit=%C2%B2", None, 400, "limit"),
    ("GET", "/conversations?after=x", None, 400, "after"),
    ("GET", "/conversations?after=2026-01-01T00:00:00~x", None, 400, "after"),
    ("GET", "/conversations?after=2026-01-01T00:00:00%2B00:00", None, 400, "after"),
    ("GET", "/conversations?after=0001-01-01T00:00:00%2B00:00~x", None, 400, "after"),
    ("GET", "/conversations?newest_first=1", None, 400, "newest_first"),
    ("GET", "/turns/{turn}/events?after=x", None, 400, "after"),
    ("GET", "/turns/{turn}/events?after=-1", None, 400, "after"),
    ("POST", "/turns/{turn}/approvals", {}, 400, "answers"),
    ("POST", "/turns/{turn}/approvals", {"x": 1}, 400, "$.x"),
    ("POST", "/turns/{turn}/approvals", {"x": True}, 404, "has no question 'x'"),
    ("GET", "/nowhere", None, 404, "Not Found"),
    ("PUT", "/conversations", None, 405, "Method Not Allowed"),
]


def test_invalid_requests_get_errors_as_json(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hi.")]), limits=Limits(body_bytes=1000)) as front:
            begun = await front.ask(conversation="there")
            await front.ended(begun["turn"])
            for method, url, body, status, words in WRONG:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                response = await front.http.request(
                    method,
                    url.replace("{turn}", begun["turn"]),
                    content=data,
                    headers={"content-type": "application/json"},
                )
                details = (method, url, body, response.text)
                assert response.status_code == status, details
                if status >= 400:
                    error = response.json()["error"]
                    assert set(error) <= {"code", "message", "faults"}
                    assert words in json.dumps(error, ensure_ascii=False), details
            response = await front.http.post(TURNS, content=b'{"content": "x"}', headers={"content-type": "text/plain"})
            assert (response.status_code, response.json()["error"]["code"]) == (415, "unsupported_media_type")
            several = await front.post(TURNS, {"content": 1, "branch": 1, "x": 1}, 400)
            assert len(several["error"]["faults"]) == 3
            # No refused request was stored.
            assert [c.id for c in await front.store.conversations()] == ["there"]

    run(go())


# -- approval ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("approval", "outcome"), [(True, "Booked Oslo."), ("too dear", "too dear"), (False, "not allow")]
)
def test_turn_waits_for_approval_and_continues_in_a_new_turn(url: str, approval: Any, outcome: str) -> None:
    async def go() -> None:
        @tool(approval=True)
        def book(city: str) -> str:
            """Books a hotel."""
            return f"Booked {city}."

        model = Paced([answer(call("book", "c1", city="Oslo")), answer("Done."), answer("You are welcome.")])
        async with serving(url, AsyncToolRunner(model, [book])) as front:
            begun = await front.ask("Book a hotel.")
            client = Client(front, begun["turn"])
            await client.listen()
            assert [getattr(event, "kind", "") for event in client.events[-2:]] == ["approval", ""]
            requests = [
                content
                for message in client.fold.response.messages
                for content in message.contents
                if isinstance(content, ToolApprovalRequestContent)
            ]
            endpoint = f"/turns/{begun['turn']}/approvals"
            assert "has no question" in json.dumps(await front.post(endpoint, {"other": True}, 404))
            more = await front.post(endpoint, {requests[0].request_id: approval})
            assert (await front.post(endpoint, {requests[0].request_id: True}, 409))["error"]["code"] == "conflict"
            after = Client(front, more["turn"])
            await after.listen()
            result, words = (await front.store.blocks(more["turn"]))[0].content, after.fold.response.text
            assert outcome in (result.text or result.error.message)
            assert words == "Done."
            last = await front.ask("Thanks.")
            await front.ended(last["turn"])
            sent = [content for message in model.requests[2].messages for content in message.contents]
            assert not any(isinstance(c, ToolApprovalRequestContent | ToolApprovalResponseContent) for c in sent)
            assert model.requests[2].messages[: len(model.requests[1].messages)] == model.requests[1].messages

    run(go())


def test_approved_tool_runs_in_a_turn_that_the_store_began_before_it_loaded(url: str) -> None:
    async def go() -> None:
        ran = []

        @tool(approval=True)
        def book(city: str) -> str:
            """Books a hotel."""
            ran.append(city)
            return f"Booked {city}."

        model = Paced([answer(call("book", "c1", city="Oslo")), answer("Done.")])
        runner = AsyncToolRunner(model, [book])
        async with serving(url, runner) as front:
            begun = await front.ask("Book a hotel.")
            await front.ended(begun["turn"])
            store = front.store
            approval = ToolApprovalResponseContent(request_id="c1", approved=True)
            user = await store.add_turn("c", "user", [approval])
            turn = await store.begin_turn("c", "assistant", user)
            stream = runner.stream(await store.load("c"))
            async for _ in arecord(stream, store, turn):
                pass
            assert (ran, stream.result.stop, stream.result.report.outcomes) == (["Oslo"], "completed", {"ok": 1})
            assert [message.role for message in (await store.load("c")).messages][-2:] == ["tool", "assistant"]
            blocks = (await front.get(f"/turns/{turn.id}/blocks"))["blocks"]
            assert [block["content"]["type"] for block in blocks] == ["function_result", "text"]

    run(go())


@pytest.mark.parametrize("is_approved", [True, False])
def test_call_of_an_interrupted_run_does_not_run_again(url: str, is_approved: bool) -> None:
    async def go() -> None:
        ran = []

        @tool(approval=is_approved)
        def book(city: str) -> str:
            """Books a hotel."""
            ran.append(city)
            return f"Booked {city}."

        model = Paced([answer("I am sorry."), answer("You are welcome.")])
        async with serving(url, AsyncToolRunner(model, [book])) as front:
            store, made = front.store, call("book", "c1", city="Oslo")
            await store.add_turn("c", "user", [TextContent(text="Book a hotel.")])
            turn = await store.begin_turn("c", "assistant")
            await store.put_block(turn, 0, made)
            if is_approved:
                asking = ToolApprovalRequestContent(request_id="c1", name="book", arguments=made.arguments)
                await store.put_block(turn, 1, asking)
                await store.end_turn(turn)
                await store.add_turn("c", "user", [ToolApprovalResponseContent(request_id="c1", approved=True)])
                turn = await store.begin_turn("c", "assistant")
            # The process ends here, while the tool runs.
            await store.end_turn(turn, status="interrupted")
            for words in ("Hello?", "Thanks."):
                await front.ended((await front.ask(words))["turn"])
            assert ran == []
            first, second = [adapter_of("openai-responses").encode_request(r).payload["input"] for r in model.requests]
            assert second[: len(first)] == first
            outputs = [item["output"] for item in first if item["type"] == "function_call_output"]
            assert len(outputs) == 1
            assert "no result" in outputs[0]
            assert "was recorded" in outputs[0]
            assert "did not run" not in outputs[0]
            assert not any("approval" in item["type"] for item in second)

    run(go())


def test_message_instead_of_an_approval_refuses_the_call(path: str) -> None:
    async def go() -> None:
        ran = []

        @tool(approval=True)
        def book(city: str) -> str:
            """Books a hotel."""
            ran.append(city)
            return "Booked."

        model = Paced([answer(call("book", "c1", city="Oslo")), answer("As you like."), answer("Yes?")])
        async with serving(path, AsyncToolRunner(model, [book])) as front:
            await front.ended((await front.ask("Book a hotel."))["turn"])
            await front.ended((await front.ask("No, wait."))["turn"])
            await front.ended((await front.ask("Well?"))["turn"])
            assert ran == []
            assert [m.role for m in model.requests[1].messages] == ["user", "assistant", "tool", "user"]
            assert model.requests[2].messages[:4] == model.requests[1].messages

    run(go())


# -- conversations -----------------------------------------------------------------------------------------------------


def test_conversations_and_turns_are_listed_in_pages(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer(str(number)) for number in range(20)])) as front:
            for number in range(5):
                for words in ("a", "b"):
                    await front.ended((await front.ask(words, conversation=f"c{number}"))["turn"])
            seen, cursor = [], None
            while True:
                query = {"limit": 2} if cursor is None else {"limit": 2, "after": cursor}
                page = await front.get("/conversations", **query)
                seen += [conversation["id"] for conversation in page["conversations"]]
                cursor = page["next"]
                if cursor is None:
                    break
            assert seen == ["c0", "c1", "c2", "c3", "c4"]
            newest = await front.get("/conversations", newest_first="true", limit=1)
            assert [c["id"] for c in newest["conversations"]] == ["c4"]
            first = await front.get("/conversations/c0/turns", limit=3)
            second = await front.get("/conversations/c0/turns", limit=3, after=first["next"], blocks="true")
            assert [turn["role"] for turn in first["turns"]] == ["user", "assistant", "user"]
            assert [turn["blocks"][0]["content"]["text"] for turn in second["turns"]] == ["1"]
            assert second["next"] is None
            assert (await front.get("/conversations/c1/turns", 404, after=first["next"]))["error"][
                "code"
            ] == "not_found"

    run(go())


def test_delete_removes_a_conversation_with_its_turns_and_idempotency_keys(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hi."), answer("Hi.")], free=False)
        async with serving(path, model) as front:
            begun = await front.ask(idempotency_key="k")
            assert (await front.http.delete("/conversations/c")).status_code == 409
            model.let_all()
            await front.ended(begun["turn"])
            assert (await front.http.delete("/conversations/c")).status_code == 204
            await front.get(f"/turns/{begun['turn']}", 404)
            await front.get(begun["events"], 404)
            assert front.hub.find(begun["turn"]) is None
            again = await front.ask(idempotency_key="k")
            assert again["turn"] != begun["turn"]

    run(go())


def test_branch_replaces_an_earlier_message(path: str) -> None:
    async def go() -> None:
        model = Paced([answer(str(number)) for number in range(4)])
        async with serving(path, model) as front:
            first = await front.ask("one")
            await front.ended(first["turn"])
            await front.post(TURNS, {"content": "other", "previous": None}, 409)
            edited = await front.ask("other", previous=None, branch=True)
            await front.ended(edited["turn"])
            more = await front.ask("more", previous=first["turn"])
            await front.ended(more["turn"])
            texts = [[m.text for m in request.messages] for request in model.requests]
            assert texts == [["one"], ["other"], ["one", "0", "more"]]

    run(go())


def test_concurrent_posts_to_one_conversation_store_only_the_first(url: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hi.")] * 3, free=False)
        async with serving(url, model) as front:
            asking = [front.http.post(TURNS, json={"content": str(number)}) for number in range(6)]
            statuses = sorted(response.status_code for response in await asyncio.gather(*asking))
            assert statuses == [201, 409, 409, 409, 409, 409]
            assert [turn.role for turn in await front.store.turns("c")] == ["user", "assistant"]
            model.let_all()

    run(go())


def test_posts_with_the_same_idempotency_key_return_the_same_turn(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("Hi."), answer("Hi.")])
        async with serving(path, model) as front:
            body = {"content": "x", "idempotency_key": "k"}
            asking = [front.http.post(TURNS, json=body) for _ in range(5)]
            responses = await asyncio.gather(*asking)
            assert sorted(response.status_code for response in responses) == [200, 200, 200, 200, 201]
            assert len({response.json()["turn"] for response in responses}) == 1
            other = await front.post(TURNS, {**body, "content": "y"}, 409)
            assert "idempotency_key" in other["error"]["message"]
            # The key of a refused request can be used again.
            refused = {"content": "x", "idempotency_key": "new", "previous": "nowhere"}
            await front.post(TURNS, refused, 404)
            turn = responses[0].json()["turn"]
            await front.ended(turn)
            begun = await front.post(TURNS, {**refused, "previous": turn})
            await front.ended(begun["turn"])
            assert len(model.requests) == 2

    run(go())


# -- authorization and runners -----------------------------------------------------------------------------------------


def test_every_endpoint_refuses_clients_without_authorization(path: str) -> None:
    async def go() -> None:
        async def allows(request: Any, conversation: str | None) -> bool:
            user = request.headers.get("x-user")
            if user is None:
                raise HTTPException(401, "say who you are", {"www-authenticate": "Basic"})
            return conversation is None or conversation.startswith(user)

        async with serving(path, Paced([answer("Hi."), answer("Hi.")]), authorize=allows) as front:
            turns = {}
            for user in ("ann", "bob"):
                response = await front.http.post(
                    f"/conversations/{user}-1/turns", json={"content": "x"}, headers={"x-user": user}
                )
                turns[user] = response.json()["turn"]
                await front.ended(turns[user])
            requests = [
                ("GET", "/conversations/bob-1/turns"),
                ("GET", "/conversations/bob-1/log"),
                ("POST", "/conversations/bob-1/turns"),
                ("DELETE", "/conversations/bob-1"),
                *(("GET", f"/turns/{turns['bob']}{end}") for end in ("", "/blocks", "/events")),
                *(("POST", f"/turns/{turns['bob']}{end}") for end in ("/interrupt", "/approvals")),
            ]
            for method, url in requests:
                response = await front.http.request(method, url, headers={"x-user": "ann"})
                assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found"), url
                response = await front.http.request(method, url)
                assert response.status_code == 401, url
                assert response.headers["www-authenticate"] == "Basic"
            assert (await front.http.get("/turns/nowhere")).status_code == 401
            listed = (await front.http.get("/conversations", headers={"x-user": "ann"})).json()
            assert [c["id"] for c in listed["conversations"]] == ["ann-1"]

    run(go())


@pytest.mark.parametrize("is_async", [True, False])
def test_runner_can_be_chosen_per_turn(path: str, is_async: bool) -> None:
    async def go() -> None:
        def choose(context: RunContext) -> AsyncToolRunner:
            if context.conversation == "bad":
                raise RuntimeError("no such tenant")
            return AsyncToolRunner(AsyncScripted([answer(context.request.headers["x-tenant"])]))

        async def choose_async(context: RunContext) -> AsyncToolRunner:
            return choose(context)

        async with serving(path, choose_async if is_async else choose) as front:
            begun = await front.http.post(TURNS, json={"content": "x"}, headers={"x-tenant": "acme"})
            await front.ended(begun.json()["turn"])
            assert (await front.store.load("c")).messages[-1].text == "acme"
            response = await front.http.post("/conversations/bad/turns", json={"content": "x"})
            assert response.status_code == 500
            assert "tenant" not in response.text
            assert [c.id for c in await front.store.conversations()] == ["c"]

    run(go())


# -- the end -----------------------------------------------------------------------------------------------------------

SERVER = """
import asyncio, sys
sys.path.insert(0, sys.argv[3])
import uvicorn
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import create_app
from scripted import answer
from test_server_app import Paced

model = Paced([answer("One.", "Two three.")], free=False)
model.let(6)
app = create_app(sys.argv[1], AsyncToolRunner(model))
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_server_stopped_by_a_signal_ends_the_streams_of_its_clients(path: str, number: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here = str(Path(__file__).parent)
    server = subprocess.Popen([sys.executable, "-c", SERVER, path, str(port), here], stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(4 * LONG, server.kill)
    timer.start()
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=LONG) as http:
            while server.poll() is None:
                with suppress(httpx2.ConnectError):
                    http.get("/conversations")
                    break
            begun = http.post("/conversations/c/turns", json={"content": "x"}).json()
            reader, events = EventReader(), []
            with http.stream("GET", begun["events"]) as response:
                for data in response.iter_bytes():
                    events += reader.feed(data)
                    if len(events) == 6:
                        server.send_signal(number)
        assert isinstance(events[-1], TurnError)
        assert events[-1].error.code == "interrupted"
        errors = server.communicate()[1]
        assert "Traceback" not in errors
        # uvicorn raises SIGTERM again when it has ended, and handles SIGINT itself.
        assert server.returncode == (0 if number is signal.SIGINT else -number)
    finally:
        timer.cancel()
        server.kill()
        server.wait()
    with TurnStore.open(path) as store:
        turn = store.turn(begun["turn"])
        assert (turn.status, turn.stop_reason) == ("interrupted", "cancelled")
        assert [block.content.text for block in store.blocks(turn)] == ["One."]


def test_stopping_server_refuses_new_turns(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([])) as front:
            front.hub.stop()
            assert (await front.post(TURNS, {"content": "x"}, 503))["error"]["code"] == "unavailable"
            assert await front.store.conversations() == []

    run(go())


def test_turn_continues_with_a_result_that_the_application_stored(path: str) -> None:
    """A web client cannot send the result of a tool. The application stores it, and the conversation continues."""

    async def go() -> None:
        model = Paced([answer(call("locate", "c1")), answer("You are in Oslo.")])
        runner = AsyncToolRunner(model, [FunctionTool(name="locate", parameters={"type": "object", "properties": {}})])
        async with serving(path, runner) as front:
            begun = await front.ask("Where am I?")
            client = Client(front, begun["turn"])
            await client.listen()
            assert [getattr(event, "kind", "") for event in client.events[-2:]] == ["handed_back", ""]
            result = FunctionResultContent(call_id="c1", outputs=[TextContent(text="Oslo")])
            await front.store.add_turn("c", "tool", [result], begun["turn"])
            await front.ended((await front.ask("Well?"))["turn"])
            assert [m.role for m in model.requests[1].messages] == ["user", "assistant", "tool", "user"]
            assert model.requests[1].messages[2].contents == [result]

    run(go())
