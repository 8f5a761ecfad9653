"""An upstream on this machine that sends any bytes, and detects when its client closes the connection."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

CUT, HOLD = "cut", "hold"
"""Steps of an answer: CUT closes the connection, HOLD waits until `release` or until the client closes it."""

Step: TypeAlias = bytes | str
LIMIT = 60
"""The time limit of each wait, in seconds. A test that passes does not reach it."""


@dataclass
class RawRequest:
    """One request as received."""

    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def payload(self) -> Any:
        return json.loads(self.body)


@dataclass
class RawUpstream:
    """Answers requests with the steps of `answers`, the last of which is repeated."""

    port: int = 0
    answers: list[Sequence[Step]] = field(default_factory=list)
    requests: list[RawRequest] = field(default_factory=list)
    client_left: threading.Event = field(default_factory=threading.Event)
    """Set when a client closes the connection before the end of its answer."""
    held: threading.Event = field(default_factory=threading.Event)
    """Set when an answer arrives at HOLD."""
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, api: str) -> str:
        return f"{self.url}/v1" if api.startswith("openai") else self.url

    def set_answers(self, *answers: Sequence[Step]) -> None:
        """Set the next answers, and clear the requests so far."""
        self.answers, self.requests = list(answers), []
        self.client_left.clear()
        self.held.clear()
        self._free.clear()

    def release(self) -> None:
        """Continue the answer that waits at HOLD."""
        self._loop.call_soon_threadsafe(self._free.set)

    # -- the server's thread -------------------------------------------------------------------------------------------

    def run(self, ready: threading.Event) -> None:
        asyncio.run(self._run(ready))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def _run(self, ready: threading.Event) -> None:
        self._loop, self._stopping, self._free = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stopping.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append(RawRequest(first.split(" ")[1], headers, body))
        steps = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        for step in steps:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif step == CUT or not await self._hold(reader):
                return False
        return True

    async def _hold(self, reader: asyncio.StreamReader) -> bool:
        """Wait for `release`. Return False if the client closes the connection first."""
        self.held.set()
        leaving, freed = asyncio.ensure_future(reader.read(1)), asyncio.ensure_future(self._free.wait())
        await asyncio.wait({leaving, freed}, return_when=asyncio.FIRST_COMPLETED)
        if not freed.done():
            freed.cancel()
            self.client_left.set()
            return False
        # One reader at a time: the read must end before the next request is read.
        leaving.cancel()
        await asyncio.wait({leaving})
        return True


@contextmanager
def raw_upstream(*answers: Sequence[Step]) -> Iterator[RawUpstream]:
    """Run an upstream in a thread."""
    upstream, ready = RawUpstream(answers=list(answers)), threading.Event()
    thread = threading.Thread(target=upstream.run, args=(ready,), daemon=True)
    thread.start()
    assert ready.wait(LIMIT)
    try:
        yield upstream
    finally:
        upstream.stop()
        thread.join(LIMIT)


# -- answers -----------------------------------------------------------------------------------------------------------


def head(status: int = 200, kind: str = "application/json", **headers: Any) -> bytes:
    """Return the head of an answer."""
    lines = [f"HTTP/1.1 {status} Status", f"content-type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def answer(
    body: bytes | str | dict[str, Any], status: int = 200, kind: str = "application/json", **headers: Any
) -> list[Step]:
    """Return an answer with a body."""
    data = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    return [head(status, kind, content_length=len(data), **headers) + data]


def zipped(body: bytes, kind: str = "application/json", status: int = 200) -> list[Step]:
    """Return an answer with a compressed body."""
    return answer(gzip.compress(body), status, kind, content_encoding="gzip")


def stream(*parts: bytes | str, kind: str = "text/event-stream", ends: bool = True, **headers: Any) -> list[Step]:
    """Return an answer in chunks, with steps between them. Without `ends`, the connection is cut."""
    steps: list[Step] = [head(200, kind, transfer_encoding="chunked", **headers)]
    steps += [chunk(part) if isinstance(part, bytes) else part for part in parts]
    return [*steps, b"0\r\n\r\n" if ends else CUT]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
