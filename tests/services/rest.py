"""A REST server for tests, on a loopback port: it sends the answers that tool files expect, and invalid ones."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from contentmodel_conformance.server.serving import serving

PNG = bytes.fromhex("89504e470d0a1a0a")


@dataclass
class Seen:
    """One request as received, with undecoded path and query."""

    method: str
    raw_path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def segments(self) -> list[str]:
        return self.raw_path.split("/")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return parse_qsl(self.query, keep_blank_values=True, strict_parsing=bool(self.query))

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Rest:
    """The server's URL and its requests. `elsewhere` is the target of the redirect at /away."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    elsewhere: str = "http://localhost:1/"

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        path = scope["raw_path"].decode("ascii")
        body = await request.body()
        self.seen.append(Seen(request.method, path, scope["query_string"].decode("ascii"), dict(request.headers), body))
        if path == "/silent":
            await asyncio.sleep(60)
        await self._answer(path)(scope, receive, send)

    def _answer(self, path: str) -> Response:
        if path == "/away":
            return Response(status_code=302, headers={"location": self.elsewhere})
        if path == "/moved":
            return Response(status_code=307, headers={"location": "/advice"})
        if path == "/circle":
            return Response(status_code=302, headers={"location": "/circle"})
        answers: dict[str, Any] = {
            "/flood": lambda: StreamingResponse(_flood(), media_type="text/plain"),
            "/hang": lambda: StreamingResponse(_hang(), media_type="text/plain"),
            "/drip": lambda: StreamingResponse(_drip(), media_type="text/plain"),
            "/bomb": lambda: Response(
                gzip.compress(bytes(50_000_000)), media_type="text/plain", headers={"content-encoding": "gzip"}
            ),
            "/packed": lambda: Response(
                gzip.compress(b"unpacked"), media_type="text/plain", headers={"content-encoding": "gzip"}
            ),
            "/members": lambda: Response(
                gzip.compress(b"one ") + gzip.compress(b"two"), headers={"content-encoding": "gzip"}
            ),
            "/cut": lambda: Response(gzip.compress(b"unpacked")[:-9], headers={"content-encoding": "gzip"}),
            "/odd": lambda: Response(b"x", headers={"content-encoding": "br"}),
            "/torn": lambda: Response(b"no gzip at all", headers={"content-encoding": "gzip"}),
            "/image": lambda: Response(PNG, media_type="image/png"),
            "/empty": lambda: Response(status_code=204),
            "/bytes": lambda: Response(b"caf\xe9", media_type="text/plain; charset=utf-8"),
            "/latin": lambda: Response(b"caf\xe9", headers={"content-type": "text/plain; charset=latin-1"}),
            "/puny": lambda: Response(b"x" * 300_000 + b"-a", headers={"content-type": "text/plain; charset=punycode"}),
            "/untyped": lambda: Response(b"plain"),
            "/cookie": lambda: Response(b"{}", media_type="application/json", headers={"set-cookie": "who=one"}),
            "/error": lambda: Response(b'{"why":"' + b"x" * 5000 + b'"}', 503, media_type="application/json"),
            "/missing": lambda: Response(b'{"why":"no such thing"}', 404, media_type="application/json"),
        }
        default = Response(json.dumps({"slip": {"id": 1, "advice": "Look up."}}), media_type="application/json")
        return answers[path]() if path in answers else default


async def _flood() -> Any:
    while True:
        yield b"x" * 65536
        await asyncio.sleep(0)


async def _hang() -> Any:
    yield b"wait"
    await asyncio.sleep(60)


async def _drip() -> Any:
    for _ in range(600):
        yield b"."
        await asyncio.sleep(0.05)


def listening(app: Any) -> AbstractContextManager[str]:
    """Serve an ASGI app on a loopback port while the block runs. Yields its URL."""
    return serving(app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=0)


@contextmanager
def rest_server() -> Iterator[Rest]:
    """Run a REST server while the block runs."""
    rest = Rest()
    with listening(rest) as url:
        rest.url = url
        yield rest
