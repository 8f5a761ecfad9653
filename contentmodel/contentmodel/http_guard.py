"""Guard every HTTP endpoint of a server: which web pages may call it, and how much a request may cost.

`Guard` is the ASGI middleware of the gateway and of `contentmodel.server`. It wraps the whole application, so a new
endpoint is guarded without a line of its own. Everything but the body is checked before the body is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import msgspec

from contentmodel.compression import TooLargeError, UndecodedError, deflate, gzip, zstandard
from contentmodel.errors import MissingExtraError
from contentmodel.json import whole_number

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "[::1]", "localhost")
"""The names of this machine that no DNS server can give to another one."""

SMALL = 64 * 1024
"""The bytes of a body that are read before the request counts as a running one: a client that sends a part of a body
holds this memory until `body_seconds` are over, and does not delay other clients."""

MAX_WINDOW = 1 << 23
"""The largest window in bytes, as RFC 9659 requires it of zstd in HTTP."""

STATUSES = {
    "invalid_request": 400,
    "authentication": 401,
    "permission": 403,
    "timeout": 408,
    "too_large": 413,
    "media_type": 415,
    "cancelled": 499,
    "overloaded": 503,
}
"""The HTTP status of each kind of refusal."""


class Refusal(Exception):
    """Raised if a request is refused. `kind` is one of STATUSES. The message names the setting that allows it."""

    def __init__(self, kind: str, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.retry_after = kind, message, retry_after

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUSES[self.kind]


class GuardRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a guard.

    - `hosts`: the names of the server in the `Host` header, "llm.example.com" or "localhost:9000" (with a port: only
      with this port). The names of this machine, and the address that the connection arrived at, are always allowed,
      with the port of the server.
    - `origins`: the origins of web pages that may send requests and read answers, as the `Origin` header has them.
      `own_origin`: whether pages of the server's own host may, too.
    - `json_only`: whether every body must be JSON. If not, only those from web pages must.
    - `body_bytes`: the size of a body, after its decompression. `body_seconds`: the time to send it.
    - `requests`: the number of requests at the same time.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    own_origin: bool = False
    json_only: bool = True
    body_bytes: int
    body_seconds: float
    requests: int


class Head:
    """The head of a request. The names of `headers` are in lower case; the values of equal names are joined."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the query."""
        return dict(parse_qsl(self.scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))

    @property
    def host(self) -> str:
        """The value of the `Host` header in lower case; empty if it is missing."""
        return self.headers.get("host", "").strip().lower()

    @property
    def is_of_browser(self) -> bool:
        """True if a web page may have sent the request. Other programs send neither header."""
        return "origin" in self.headers or "sec-fetch-site" in self.headers

    @property
    def has_body(self) -> bool:
        """True if the headers announce a body."""
        return self.headers.get("content-length", "0").strip() != "0" or "transfer-encoding" in self.headers


class Guard:
    """The ASGI middleware. `rules` is a function if they may change.

    `refuse` returns the answer to a refused request as an ASGI app. It is also called, with the kind "cancelled", if
    the client leaves before its body is complete. `admit` is called for each request that no page sent, before its body
    is read, and raises Refusal if it lacks the key of the server.
    """

    def __init__(
        self,
        app: App,
        rules: GuardRules | Callable[[], GuardRules],
        refuse: Callable[[Scope, Refusal], Awaitable[App]],
        admit: Callable[[Head], object] = lambda head: None,
    ) -> None:
        self._app, self._given, self._refuse, self._admit = app, rules, refuse, admit
        self._running = 0

    @property
    def _rules(self) -> GuardRules:
        return self._given if isinstance(self._given, GuardRules) else self._given()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: by a refusal, or by the application with a body that was read and decompressed."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = Head(scope)
        if head.headers.get("origin") in self._rules.origins:
            send = _readable(send, head.headers["origin"])
        slot = _Slot(self)
        try:
            check_page(head, self._rules)
            if head.method == "OPTIONS" and head.headers.get("origin") in self._rules.origins:
                await _answer_preflight(head, send)
                return
            self._admit(head)
            body = await self._body(head, receive, slot)
            slot.take()
            await self._app(_without_coding(scope), _replayed(body, receive), send)
        except Refusal as refusal:
            answer = await self._refuse(scope, refusal)
            if refusal.kind != "cancelled":
                await answer(scope, receive, send)
        finally:
            slot.free()

    async def _body(self, head: Head, receive: Receive, slot: _Slot) -> bytes:
        """Return the body of a request without its coding."""
        _check_type(head, self._rules, has_body=head.has_body)
        most, seconds = self._rules.body_bytes, self._rules.body_seconds
        data = bytearray()
        try:
            async with asyncio.timeout(seconds):
                is_whole = False
                while not is_whole:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal("cancelled", "the client left")
                    data += message.get("body", b"")
                    is_whole = not message.get("more_body", False)
                    if len(data) > most:
                        raise _too_large(most)
                    if len(data) > SMALL:
                        slot.take()
        except TimeoutError:
            raise Refusal("timeout", f"the body did not arrive in {seconds:g} seconds (limits.body_seconds)") from None
        _check_type(head, self._rules, has_body=bool(data))
        return await _decompressed(bytes(data), head, self._rules)

    def begin(self) -> None:
        """Count a request that begins. Raise Refusal if too many are running."""
        most = self._rules.requests
        if self._running >= most:
            message = f"the server answers too many requests at once ({most:,}, limits.requests)"
            raise Refusal("overloaded", message, retry_after=1)
        self._running += 1

    def end(self) -> None:
        """Count a request that ended."""
        self._running -= 1


class _Slot:
    """The place of one request among the running ones."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._is_taken = guard, False

    def take(self) -> None:
        if not self._is_taken:
            self._guard.begin()
            self._is_taken = True

    def free(self) -> None:
        if self._is_taken:
            self._guard.end()


# -- web pages ---------------------------------------------------------------------------------------------------------


def check_page(head: Head, rules: GuardRules) -> None:
    """Raise Refusal if a web page that is not allowed may have sent a request, or may read its answer.

    A page can send simple requests to any address, this machine's as well, and with a DNS name that changes its address
    it can read the answers: then `Host` is a name that the server does not have.
    """
    if not _is_own_host(head, rules):
        raise Refusal("permission", f"the server is not {head.host!r:.200}: add this name to `hosts` if it is")
    origin, site = head.headers.get("origin"), head.headers.get("sec-fetch-site", "none")
    if origin is not None and origin in rules.origins:
        return
    is_own = origin is not None and rules.own_origin and _host_of(origin) == head.host
    if origin is not None and not is_own:
        raise Refusal("permission", f"web pages of {origin!r:.200} are not allowed: add this origin to `origins`")
    if site not in ("none", "same-origin"):
        raise Refusal("permission", "web pages of other sites are not allowed: add their origins to `origins`")


def _host_of(origin: str) -> str | None:
    """Return the host and the port of an origin; None if it is not one."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def host_names(hosts: Iterable[str]) -> frozenset[str]:
    """Return names of a server in the form of `GuardRules.hosts`."""
    return frozenset(host.strip().lower() for host in hosts)


def _is_own_host(head: Head, rules: GuardRules) -> bool:
    name, port = _name_and_port(head.host)
    if head.host in rules.hosts or name in rules.hosts:
        return True
    address, own_port = head.scope.get("server") or (None, None)
    usual = 443 if head.scope.get("scheme") == "https" else 80
    if own_port is not None and (usual if port is None else port) != own_port:
        return False
    reached = f"[{address}]" if ":" in (address or "") else address
    return name in LOOPBACK or (reached is not None and name == reached.lower())


def _name_and_port(host: str) -> tuple[str, int | None]:
    name, colon, text = host.rpartition(":")
    port = whole_number(text, 5) if colon else None
    return (host, None) if port is None else (name, port)


def _readable(send: Send, origin: str) -> Send:
    """Return `send` with the headers that let a page of `origin` read the answer."""

    async def send_readable(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            allowed = [
                (b"access-control-allow-origin", origin.encode("latin-1")),
                (b"access-control-expose-headers", b"*"),
                (b"vary", b"origin"),
            ]
            message = {**message, "headers": [*message.get("headers", ()), *allowed]}
        await send(message)

    return send_readable


async def _answer_preflight(head: Head, send: Send) -> None:
    """Answer the question of a browser before a request of an allowed page. `send` adds the origin."""
    asked = head.headers.get("access-control-request-headers", "")
    headers = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", asked.encode("latin-1")),
        (b"access-control-max-age", b"600"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


# -- bodies ------------------------------------------------------------------------------------------------------------


def _check_type(head: Head, rules: GuardRules, *, has_body: bool) -> None:
    """Raise Refusal if a body is not JSON: browsers send other types to other sites without asking first.

    Without `json_only`, programs may send JSON under another type, as curl does.
    """
    if not has_body or not (rules.json_only or head.is_of_browser):
        return
    kind = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Refusal("media_type", f"expected a body of the type application/json, got {kind[:100] or 'none'}")


async def _decompressed(body: bytes, head: Head, rules: GuardRules) -> bytes:
    """Return the body of a request without its content coding.

    Codex compresses its requests with zstd if the user is logged in, and other clients use gzip (issues of gateways:
    BYK/loreai#1032, SaladDay/cc-switch-cli#469, zyycn/codex-proxy-rs#66; seen 2026-11-27).
    """
    coding = head.headers.get("content-encoding", "").strip().lower()
    if coding in ("", "identity"):
        return body
    decompress = CODINGS.get(coding)
    if decompress is None:
        codings = ", ".join(CODINGS)
        raise Refusal("invalid_request", f"unknown content-encoding {coding!r:.100}: use one of {codings}, or none")
    try:
        return await asyncio.to_thread(decompress, body, rules.body_bytes)
    except TooLargeError:
        raise _too_large(rules.body_bytes) from None
    except UndecodedError:
        raise Refusal("invalid_request", f"the body is damaged: it is not complete {coding} data") from None
    except MissingExtraError as error:
        raise Refusal("invalid_request", f"content-encoding {coding} is not installed: {error}") from None


CODINGS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": deflate,
    "zstd": partial(zstandard, extra="gateway", max_window=MAX_WINDOW),
}
"""The functions that decode the content codings of requests: each reads at most as many bytes of a body."""


def _too_large(most: int) -> Refusal:
    return Refusal("too_large", f"the body is longer than {most:,} bytes (limits.body_bytes)")


def _without_coding(scope: Scope) -> Scope:
    """Return a scope for the decompressed body."""
    if not any(name == b"content-encoding" for name, _ in scope["headers"]):
        return scope
    left_out = (b"content-encoding", b"content-length")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in left_out]}


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a function that receives the body at once, and then what `receive` returns: the end of the connection."""
    is_first = True

    async def receive_body() -> MutableMapping[str, Any]:
        nonlocal is_first
        if is_first:
            is_first = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_body
