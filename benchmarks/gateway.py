"""Load a gateway with concurrent streams, beside a plain pass-through and no proxy at all, in one run.

    python benchmarks/gateway.py                200 streams, 10 events a second each
    python benchmarks/gateway.py --rate 25      more events
    python benchmarks/gateway.py --markdown     the same, written into docs/gateway.md too

Upstream, proxy and clients are three processes on this machine. The upstream writes the time into each event; a client
compares it with its own clock. Each event also has the number of its stream, so that a mix-up is found. Nothing here
passes or fails, but a mix-up ends the run.

The last table is of an agent: each of its requests has some turns more, and gets a whole answer.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from report import Report, Table, milliseconds

PAGE = Path(__file__).parents[1] / "docs" / "gateway.md"
CHAT, RESPONSES, ANTHROPIC, GOOGLE = (
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "google-generate-content",
)
DIRECT, PLAIN = "no proxy", "pass-through (Starlette, httpx2)"
MARK = re.compile(rb"(\d+):(\d{12,})\.")
SECONDS = 6.0
PAD = 8192
"""The characters that an event has in addition, where clients do not read."""

THINKING = 0.05
"""The seconds until a whole answer."""
TURNS, REQUESTS, FIRST = 40, 120, 40
"""The turns of an agent's first request, the number of its requests, and of those that are not measured."""

PATHS = {
    CHAT: "/v1/chat/completions",
    RESPONSES: "/v1/responses",
    ANTHROPIC: "/v1/messages",
    GOOGLE: "/v1beta/models/m:streamGenerateContent?alt=sse",
}


@dataclass(frozen=True)
class Case:
    """One measurement: the API of the clients, the API of the upstream, and the proxy between them."""

    name: str
    client: str
    upstream: str
    proxy: str = "gateway"


CASES = (
    Case(DIRECT, CHAT, CHAT, "none"),
    Case(PLAIN, CHAT, CHAT, "plain"),
    Case("gateway, Chat to Chat", CHAT, CHAT),
    Case("gateway, Chat to Anthropic", CHAT, ANTHROPIC),
    Case("gateway, Anthropic to Chat", ANTHROPIC, CHAT),
    Case("gateway, Responses to Anthropic", RESPONSES, ANTHROPIC),
    Case("gateway, Gemini to Chat", GOOGLE, CHAT),
)


# -- the upstream ------------------------------------------------------------------------------------------------------


class Upstream:
    """A server that streams answers with the time in each event."""

    def __init__(self, rate: float, events: int) -> None:
        self.rate, self.events = rate, events
        self.active = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", head.lower())
                body = await reader.readexactly(int(length[1])) if length else b""
                await self._answer(head.split(b" ", 2)[1].decode(), body, writer)
        writer.close()

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path == "/active":
            text = str(self.active).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
            await writer.drain()
            return
        asked = re.search(rb"stream (\d+), pad (\d+)", body)
        if asked is None:
            await asyncio.sleep(THINKING)
            whole = json.dumps(_whole(ANTHROPIC if "messages" in path else CHAT, len(body))).encode()
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            writer.write(head % len(whole) + whole)
            await writer.drain()
            return
        self.active += 1
        try:
            await self._stream(path, int(asked[1]), "x" * int(asked[2]), writer)
        finally:
            self.active -= 1

    async def _stream(self, path: str, number: int, pad: str, writer: asyncio.StreamWriter) -> None:
        frames = _anthropic(self.events, pad) if "messages" in path else _chat(self.events, pad)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        begin = time.monotonic()
        for place, frame in enumerate(frames):
            await asyncio.sleep(max(0.0, begin + place / self.rate - time.monotonic()))
            data = frame.replace("@", f"{number}:{time.monotonic_ns()}.").encode()
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _whole(api: str, number: int) -> dict[str, Any]:
    """Return a whole answer with a text and a call."""
    text, city, usage = f"I look at city {number}.", {"city": f"Oslo {number}"}, 1000 + number
    if api == ANTHROPIC:
        call = {"type": "tool_use", "id": f"toolu_01abcd{number:08d}", "name": "weather", "input": city}
        answer = {"id": f"msg_01abcd{number:08d}", "type": "message", "role": "assistant", "model": "claude-opus-4-8"}
        end = {"stop_reason": "tool_use", "stop_sequence": None}
        tokens = {"input_tokens": usage, "output_tokens": 20}
        return {**answer, "content": [{"type": "text", "text": text}, call], **end, "usage": tokens}
    function = {"name": "weather", "arguments": json.dumps(city, separators=(",", ":"))}
    call = {"id": f"call_abcdefghijklm{number:08d}", "type": "function", "function": function}
    message = {"role": "assistant", "content": text, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    tokens = {"prompt_tokens": usage, "completion_tokens": 20, "total_tokens": usage + 20}
    answer = {"id": f"chatcmpl-abcd{number:08d}", "object": "chat.completion", "created": 1_800_000_000 + number}
    return {**answer, "model": "gpt-5.2", "choices": [choice], "usage": tokens}


def _chat(events: int, pad: str) -> Iterator[str]:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        return f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    for _ in range(events):
        yield chunk({"content": "@" + pad})
    yield chunk({}, "stop") + "data: [DONE]\n\n"


def _anthropic(events: int, pad: str) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None}) + event(
        "content_block_start", index=0, content_block={"type": "text", "text": ""}
    )
    for _ in range(events):
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": "@" + pad})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield event("content_block_stop", index=0) + event("message_delta", delta=end, usage=usage) + event("message_stop")


def run_upstream(port: int, rate: float, events: int) -> None:
    """Run the upstream until the process is ended."""

    async def main() -> None:
        server = await asyncio.start_server(Upstream(rate, events).serve, "127.0.0.1", port, backlog=1000)
        await server.serve_forever()

    asyncio.run(main())


# -- proxies -----------------------------------------------------------------------------------------------------------


def plain_proxy(upstream: str) -> Any:
    """Return the least that a proxy does: it sends the body on, and streams the answer back."""
    import httpx2
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    client = httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None), trust_env=False)

    async def forward(request: Request) -> StreamingResponse:
        body = await request.body()
        sent = client.build_request("POST", f"{upstream}{request.url.path}", content=body)
        response = await client.send(sent, stream=True)

        async def chunks() -> AsyncIterator[bytes]:
            try:
                async for chunk in response.aiter_raw():
                    yield chunk
            finally:
                await response.aclose()

        return StreamingResponse(chunks(), response.status_code, media_type=response.headers["content-type"])

    return Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])


def gateway(api: str, upstream: str) -> Any:
    """Return a gateway with one upstream."""
    from contentmodel.gateway import create_app, read_config

    base_url = f"{upstream}/v1" if api == CHAT else upstream
    route = {"to": "up", "model": "claude-opus-4-8" if api == ANTHROPIC else "gpt-5.2"}
    return create_app(
        read_config({"upstreams": {"up": {"api": api, "base_url": base_url, "key": "none"}}, "routes": [route]})
    )


def run_proxy(port: int, kind: str, api: str, upstream: str) -> None:
    """Run a proxy until the process is ended."""
    import uvicorn

    app = plain_proxy(upstream) if kind == "plain" else gateway(api, upstream)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False, backlog=1000)


# -- clients -----------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """The latencies of all streams in seconds: of the first event, and of each event."""

    first: list[float] = field(default_factory=list)
    each: list[float] = field(default_factory=list)
    ended: int = 0


class Client:
    """One client that reads one stream."""

    def __init__(self, port: int, api: str, number: int, seen: Seen) -> None:
        self._port, self._api, self._number, self._seen = port, api, number, seen

    async def read(self, *, leave_after: int | None = None, pad: int = 0, reads: bool = True) -> None:
        """Read the stream. `leave_after` events close the connection. Without `reads`, wait until cancelled."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
        try:
            body = _request(self._api, f"stream {self._number}, pad {pad}")
            head = f"POST {PATHS[self._api]} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n"
            began = time.monotonic()
            writer.write(f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            if not reads:
                await asyncio.Event().wait()
            await self._events(reader, began, leave_after)
        finally:
            writer.transport.abort()

    async def _events(self, reader: asyncio.StreamReader, began: float, leave_after: int | None) -> None:
        count = 0
        while (line := await reader.readline()) != b"0\r\n":
            if not line:
                raise SystemExit("a stream was cut")
            found = MARK.search(line)
            # The last events of some APIs repeat the whole text.
            if found is None or len(MARK.findall(line)) > 1:
                continue
            if int(found[1]) != self._number:
                raise SystemExit(f"stream {self._number} got an event of stream {int(found[1])}")
            count += 1
            now = time.monotonic()
            if count == 1:
                self._seen.first.append(now - began)
            self._seen.each.append(now - int(found[2]) / 1e9)
            if count == leave_after:
                return
        self._seen.ended += 1


def _request(api: str, text: str) -> bytes:
    payload: dict[str, Any] = {"model": "m", "stream": True}
    if api == RESPONSES:
        payload["input"] = text
    elif api == GOOGLE:
        payload = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    else:
        payload["messages"] = [{"role": "user", "content": text}]
    if api == ANTHROPIC:
        payload["max_tokens"] = 9
    return json.dumps(payload).encode()


# -- runs --------------------------------------------------------------------------------------------------------------


class Processes:
    """The upstream and the proxy of one case."""

    def __init__(self, case: Case, rate: float, events: int, lanes: str = "on") -> None:
        self.upstream_port, self.port = _free_port(), _free_port()
        here = [sys.executable, __file__]
        self._upstream = subprocess.Popen([*here, "--upstream", str(self.upstream_port), str(rate), str(events)])
        self._proxy: subprocess.Popen[bytes] | None = None
        url = f"http://127.0.0.1:{self.upstream_port}"
        if case.proxy == "none":
            self.port = self.upstream_port
        else:
            command = [*here, "--proxy", str(self.port), case.proxy, case.upstream, url]
            self._proxy = subprocess.Popen(command, env={**os.environ, "CONTENTMODEL_LANES": lanes})
        for port in (self.upstream_port, self.port):
            _wait_for(port)

    def memory(self) -> float:
        """Return the memory of the proxy in MB."""
        return 0.0 if self._proxy is None else _status(self._proxy.pid, "VmRSS") / 1024

    def peak(self) -> float:
        """Return the largest memory of the proxy in MB."""
        return 0.0 if self._proxy is None else _status(self._proxy.pid, "VmHWM") / 1024

    def seconds(self) -> float:
        """Return the processor time of the proxy."""
        if self._proxy is None:
            return 0.0
        fields = Path(f"/proc/{self._proxy.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def active(self) -> int:
        """Return the number of streams that the upstream is sending."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.upstream_port}/active") as answer:
            return int(answer.read())

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._proxy, self._upstream):
            if process is not None:
                process.kill()
                process.wait()


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name)))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise SystemExit("a server did not start")


async def _all(clients: list[Any]) -> None:
    """Run clients, which begin within one second."""

    async def later(number: int, work: Any) -> None:
        await asyncio.sleep(number / len(clients))
        await work

    await asyncio.gather(*(later(number, work) for number, work in enumerate(clients)))


def measure_streams(case: Case, streams: int, rate: float) -> tuple[str, ...]:
    """Measure streams that are all read to their ends. Return a row of the table."""
    seen, events = Seen(), round(SECONDS * rate)
    with Processes(case, rate, events) as processes:
        asyncio.run(Client(processes.port, case.client, 0, Seen()).read())
        before = processes.seconds()
        asyncio.run(_all([Client(processes.port, case.client, n + 1, seen).read() for n in range(streams)]))
        used, memory = processes.seconds() - before, processes.peak()
    assert seen.ended == streams, f"{streams - seen.ended} streams did not end"
    proxy = "-" if case.proxy == "none" else f"{used / len(seen.each) * 1e6:.0f} µs"
    return (
        case.name,
        milliseconds(statistics.median(seen.first)),
        milliseconds(_high(seen.first)),
        milliseconds(statistics.median(seen.each)),
        milliseconds(_high(seen.each)),
        proxy,
        "-" if case.proxy == "none" else f"{memory:.0f} MB",
    )


def _high(values: list[float]) -> float:
    """Return the value that 99% of the values are below."""
    return sorted(values)[int(len(values) * 0.99)]


def measure_slow_readers(case: Case, streams: int, rate: float) -> tuple[str, ...]:
    """Measure streams beside as many clients that read nothing. Return a row of the table."""
    seen, events = Seen(), round(SECONDS * rate)
    with Processes(case, rate, events) as processes:
        asyncio.run(Client(processes.port, case.client, 0, Seen()).read())

        async def run() -> None:
            slow = [Client(processes.port, case.client, n + 1, Seen()) for n in range(streams // 2)]
            waiting = [asyncio.create_task(client.read(pad=PAD, reads=False)) for client in slow]
            await asyncio.sleep(2)
            clients = [Client(processes.port, case.client, 1000 + n, seen).read() for n in range(streams // 2)]
            await _all(clients)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

        before = processes.memory()
        asyncio.run(run())
        peak = processes.peak()
    latencies = milliseconds(statistics.median(seen.each)), milliseconds(_high(seen.each))
    return (case.name, *latencies, f"{before:.0f} MB", f"{peak:.0f} MB")


def measure_leaving(case: Case, streams: int, rate: float) -> tuple[str, ...]:
    """Measure how soon the upstream is free of the streams whose clients left. Return a row of the table."""
    events = round(SECONDS * rate)
    with Processes(case, rate, events) as processes:

        async def run() -> float:
            staying = [Client(processes.port, case.client, n, Seen()).read() for n in range(streams // 2)]
            leaving = [
                Client(processes.port, case.client, 1000 + n, Seen()).read(leave_after=3) for n in range(streams // 2)
            ]
            rest = asyncio.gather(*staying)
            await asyncio.gather(*leaving)
            began = time.monotonic()
            while await asyncio.to_thread(processes.active) > streams // 2:
                await asyncio.sleep(0.005)
            ended = time.monotonic() - began
            await rest
            return ended

        return case.name, milliseconds(asyncio.run(run()))


def _conversation(api: str, turns: int) -> bytes:
    """Return an agent's request: a call and its result for each turn."""
    from contentmodel import convert

    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at all cities."}]
    for number in range(turns):
        function = {"name": "weather", "arguments": json.dumps({"city": f"Oslo {number}"}, separators=(",", ":"))}
        call_id = f"call_abcdefghijklm{number:08d}"
        calls = [{"id": call_id, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": f"I look at city {number}.", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": f"It rains in city {number}. " * 10})
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"name": "weather", "description": "The weather of a city.", "parameters": schema}
    limit = {"max_completion_tokens": 1000}
    request = {"model": "m", **limit, "messages": messages, "tools": [{"type": "function", "function": tool}]}
    return convert(request, source=CHAT, target=api, kind="request").to_json()


def measure_agent(case: Case, lanes: str = "on") -> tuple[str, ...]:
    """Measure the whole answers to the requests of one agent, without the first ones. Return a row of the table."""
    bodies = [_conversation(case.client, TURNS + number // 4) for number in range(REQUESTS)]
    path = PATHS[case.client].replace("streamGenerateContent?alt=sse", "generateContent")
    seconds: list[float] = []
    with Processes(case, 1, 1, lanes) as processes:

        async def run() -> float:
            used = 0.0
            reader, writer = await asyncio.open_connection("127.0.0.1", processes.port, limit=2**20)
            for number, body in enumerate(bodies):
                used = processes.seconds() if number == FIRST else used
                head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{processes.port}\r\ncontent-type: application/json\r\n"
                began = time.monotonic()
                writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
                answered = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = re.search(rb"content-length: (\d+)", answered)
                if b" 200 ok" not in answered:
                    raise SystemExit(f"no whole answer: {answered!r}")
                await (reader.readuntil(b"0\r\n\r\n") if length is None else reader.readexactly(int(length[1])))
                seconds.append(time.monotonic() - began)
            writer.close()
            return processes.seconds() - used

        used = asyncio.run(run())
    measured = seconds[FIRST:]
    times = milliseconds(min(measured)), milliseconds(statistics.median(measured)), milliseconds(_high(measured))
    return (case.name, *times, "-" if case.proxy == "none" else milliseconds(used / len(measured)))


def main() -> None:
    """Run all measurements, or one of the processes that they need."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=200, help="concurrent streams")
    parser.add_argument("--rate", type=float, default=10, help="events a second of each stream")
    parser.add_argument("--markdown", action="store_true", help="write the tables into docs/gateway.md")
    parser.add_argument("--upstream", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--proxy", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    if options.upstream:
        run_upstream(int(options.upstream[0]), float(options.upstream[1]), int(options.upstream[2]))
        return
    if options.proxy:
        run_proxy(int(options.proxy[0]), *options.proxy[1:])
        return
    report, streams, rate = Report(), options.streams, options.rate
    columns = ("", "first event", "99%", "each event", "99%", "processor time of an event", "memory")
    table = Table(f"{streams} streams, {rate:g} events a second each: the time to the client", columns)
    for case in CASES:
        table.row(*measure_streams(case, streams, rate))
    report.add(table)
    proxies = [case for case in CASES if case.name in (PLAIN, "gateway, Chat to Anthropic")]
    columns = ("", "each event", "99%", "memory before", "largest memory")
    table = Table(f"{streams // 2} streams beside {streams // 2} clients that read nothing", columns)
    for case in proxies:
        table.row(*measure_slow_readers(case, streams, rate))
    report.add(table)
    table = Table(f"{streams // 2} of {streams} clients leave", ("", "until the upstream has ended their streams"))
    for case in proxies:
        table.row(*measure_leaving(case, streams, rate))
    report.add(table)
    columns = ("", "shortest", "median", "99%", "processor time of a request")
    title = f"An agent's requests of {TURNS} turns and more, answered after 50 ms: the time of a whole answer"
    table = Table(title, columns)
    for case in CASES:
        table.row(*measure_agent(case))
        if case.client != case.upstream:
            table.row(*measure_agent(replace(case, name=f"{case.name}, `CONTENTMODEL_LANES=off`"), "off"))
    report.add(table)
    if options.markdown:
        report.write(PAGE, "make bench-gateway BENCH_ARGS=--markdown")


if __name__ == "__main__":
    main()
