"""The gateway as an ASGI app: its routes, its limits, and the connection of one client."""

from __future__ import annotations

import asyncio
import hmac
import os
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio.to_thread
import httpx2
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as HttpRoute
from starlette.types import Receive, Scope, Send

import contentmodel
from contentmodel.adapter import adapter
from contentmodel.gateway import models
from contentmodel.gateway.bodies import coding_of, decompressed
from contentmodel.gateway.config import GatewayConfig, check_config, hosts_of, http_apis, is_header_value, key_source
from contentmodel.gateway.conversations import Conversations
from contentmodel.gateway.counting import count_tokens
from contentmodel.gateway.exchange import Exchange
from contentmodel.gateway.front import BrokenStreamError, Front, GatewayError, Incoming, Reply, client_key, read_request
from contentmodel.gateway.report import ID_HEADER, Report, Reports, log
from contentmodel.gateway.telemetry import Spans
from contentmodel.gateway.upstream import Sender

Answering = Callable[[Exchange], Awaitable[Reply]]


def create_app(
    config: GatewayConfig,
    *,
    client: httpx2.AsyncClient | None = None,
    environment: Mapping[str, str] | None = None,
    tracer_provider: Any = None,
) -> Starlette:
    """Return the ASGI app of a gateway.

    `client` sends the requests, instead of a new one; it is not closed. `environment` has the keys, instead of the
    environment of the process. `tracer_provider` is OpenTelemetry's; the default is the global one.
    `app.state.reports` has the reports of the latest requests.

    Raise ConfigError with every fault of the configuration, and MissingExtraError if it has a store whose extra is not
    installed.
    """
    variables = os.environ if environment is None else environment
    check_config(config, environment=variables)
    gateway = Gateway(config, variables, Spans(tracer_provider))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with gateway.conversations.running():
            if client is not None:
                gateway.client = client
                yield
                return
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
            # Without the proxies and the netrc file of the environment: requests go where the configuration says.
            async with httpx2.AsyncClient(limits=limits, trust_env=False) as made:
                gateway.client = made
                yield

    app = Starlette(routes=list(gateway.routes()), lifespan=lifespan, exception_handlers={HTTPException: _unknown_path})
    app.state.reports = gateway.reports
    return app


class Gateway:
    """The endpoints of a gateway, and what they share."""

    client: httpx2.AsyncClient

    def __init__(self, config: GatewayConfig, environment: Mapping[str, str], spans: Spans) -> None:
        self.config = config
        self._spans = spans
        self.apis = http_apis()
        self.reports = Reports(config.limits.reports)
        self.senders = {name: self._sender(name, environment) for name in config.upstreams}
        self._key = None if config.key is None else environment[config.key.partition(":")[2]]
        self._key_headers = {http.key_header for http in self.apis.values()}
        self._running = 0
        self.conversations = _conversations(config)

    def _sender(self, name: str, environment: Mapping[str, str]) -> Sender:
        upstream = self.config.upstreams[name]
        http = self.apis[upstream.api] if upstream.dialect is None else hosts_of(upstream.api)[upstream.dialect]
        kind, _, variable = key_source(upstream, http, environment).partition(":")
        key = environment[variable] if kind == "env" else None
        return Sender(name, upstream, http, adapter(upstream.api), key)

    def routes(self) -> Iterator[HttpRoute]:
        """Yield the routes of all APIs, and those of the gateway itself."""
        fronts = [Front(api, http) for api, http in self.apis.items()]
        fronts += [Front(api, http, name) for api in self.apis for name, http in hosts_of(api).items()]
        for front in fronts:
            http = front.http
            if http.count is not None:
                # Before the other methods: in Vertex AI, its name is at the place of a model.
                yield from self._posts(http.count.method.routes, front, count_tokens)
            yield from self._posts(http.generate.routes, front, Exchange.answer)
            if http.stream is not None:
                yield from self._posts(http.stream.routes, front, Exchange.answer, stream=True)
            if http.keeps_conversations:
                yield from self.conversations.routes(front, self._check_key)
        for path in ("/v1/models", "/v1beta/models"):
            yield HttpRoute(path, self.get_models, methods=["GET"])
            yield HttpRoute(f"{path}/{{model:path}}", self.get_model, methods=["GET"])
        yield HttpRoute("/contentmodel/losses/{id}", self.get_losses, methods=["GET"])
        yield HttpRoute("/", self.get_root, methods=["GET"])

    def _posts(
        self, paths: tuple[str, ...], front: Front, answer: Answering, *, stream: bool = False
    ) -> Iterator[HttpRoute]:
        for path in paths:
            yield HttpRoute(path, Endpoint(self, front, answer, stream_method=stream), methods=["POST"])

    # -- requests ------------------------------------------------------------------------------------------------------

    async def answered(self, request: HttpRequest, front: Front, answer: Answering, *, stream_method: bool) -> Reply:
        """Return the reply to a request, or an error in the client's API."""
        report = Report(
            id=f"req_{uuid.uuid4().hex}", client_api=front.api, path=request.url.path, started=round(time.time(), 3)
        )
        self.reports.add(report)
        try:
            key = self._check_key(request)
            incoming = await self._incoming(request, front, stream_method=stream_method)
        except GatewayError as error:
            reply = front.refusal(error)
            report.status, report.error = reply.status, error.error.kind
            self._completed(dict(request.headers), report)
            return Reply(reply.status, reply.body, {**reply.headers, ID_HEADER: report.id})
        except (ClientDisconnect, asyncio.CancelledError):
            report.ended = "left"
            self._completed(dict(request.headers), report)
            raise
        report.model, report.streamed = incoming.model, incoming.streams
        completed = partial(self._completed, incoming.headers)
        shared = self.config, self.senders, self.client
        return await answer(Exchange(*shared, incoming, report, key, completed, self.conversations))

    def _completed(self, headers: Mapping[str, str], report: Report) -> None:
        """Log a finished request, and record its spans."""
        if report.seconds is None:
            report.seconds = round(time.time() - report.started, 4)
        log(report)
        self._spans.record(report, headers)

    async def _incoming(self, request: HttpRequest, front: Front, *, stream_method: bool) -> Incoming:
        headers = dict(request.headers.items())
        body = await self._body(request)
        coding = coding_of(headers)
        if coding is not None:
            body = await anyio.to_thread.run_sync(decompressed, body, coding, self.config.limits.body_bytes)
        if self._key is not None:
            # They have the key of the gateway, which no upstream may see.
            headers = {name: value for name, value in headers.items() if name not in self._key_headers}
        return read_request(
            front,
            request.url.path,
            headers,
            dict(request.query_params),
            body,
            path_model=request.path_params.get("model"),
            stream_method=stream_method,
        )

    async def _body(self, request: HttpRequest) -> bytes:
        most = self.config.limits.body_bytes
        chunks, size = [], 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                raise GatewayError("too_large", f"the request has more than {most:,} bytes, the gateway's limit")
            chunks.append(chunk)
        return b"".join(chunks)

    def _check_key(self, request: HttpRequest) -> str | None:
        """Return the key of the client for upstreams; None if it is the gateway's own, or if there is none."""
        headers = dict(request.headers.items())
        key = client_key(headers, dict(request.query_params), self.apis)
        if self._key is None:
            if key is not None and not is_header_value(key):
                raise GatewayError("authentication", "the API key has characters that a header cannot have")
            return key
        if key is None or not hmac.compare_digest(key.encode(), self._key.encode()):
            raise GatewayError("authentication", "the gateway requires its own key: set it as the API key")
        return None

    def begin(self) -> bool:
        """Count a request that begins. Return False if too many are running."""
        if self._running >= self.config.limits.requests:
            return False
        self._running += 1
        return True

    def end(self) -> None:
        """Count a request that ended."""
        self._running -= 1

    # -- the gateway itself --------------------------------------------------------------------------------------------

    async def get_models(self, request: HttpRequest) -> Response:
        """List the models of the routes, in the form of the API that asks."""
        self._require_key(request)
        return JSONResponse(models.model_list(self.config, request.url.path, request.headers))

    async def get_model(self, request: HttpRequest) -> Response:
        """Return one model of the list."""
        self._require_key(request)
        name = request.path_params["model"]
        found = models.find_model(self.config, name, request.url.path, request.headers)
        if found is None:
            raise HTTPException(404, f"the gateway has no model {name!r:.200}")
        return JSONResponse(found)

    async def get_losses(self, request: HttpRequest) -> Response:
        """Return the report of a request, with the paths and reasons of all losses."""
        self._require_key(request)
        report = self.reports.find(request.path_params["id"])
        if report is None:
            raise HTTPException(404, "no such request, or its report was forgotten (limits.reports)")
        return Response(msgspec.json.encode(report), media_type="application/json")

    async def get_root(self, request: HttpRequest) -> Response:
        """Say what this server is. Some clients ask for it before their first request."""
        return JSONResponse({"contentmodel": contentmodel.__version__, "gateway": sorted(self.apis)})

    def _require_key(self, request: HttpRequest) -> None:
        try:
            self._check_key(request)
        except GatewayError as error:
            raise HTTPException(401, error.error.message) from None


def _conversations(config: GatewayConfig) -> Conversations:
    if config.store is None:
        return Conversations()
    from contentmodel.gateway.keeping import stored_conversations

    return stored_conversations(config.store)


class Endpoint:
    """An ASGI endpoint: answers one request, and gives up when its client leaves."""

    def __init__(self, gateway: Gateway, front: Front, answer: Answering, *, stream_method: bool) -> None:
        self._gateway, self._front, self._answer = gateway, front, answer
        self._stream_method = stream_method

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._gateway.begin():
            error = GatewayError("overloaded", "the gateway answers too many requests at once", retry_after=1)
            return await _send(self._front.refusal(error), send)
        try:
            await self._serve(scope, receive, send)
        finally:
            self._gateway.end()
        return None

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        body_read = asyncio.Event()

        async def receive_body() -> Any:
            message = await receive()
            if not message.get("more_body", False):
                body_read.set()
            return message

        request = HttpRequest(scope, receive_body)

        async def work() -> None:
            answered = self._gateway.answered
            # A client that leaves gets no answer.
            with suppress(ClientDisconnect, BrokenStreamError):
                await _send(await answered(request, self._front, self._answer, stream_method=self._stream_method), send)

        working = asyncio.ensure_future(work())
        leaving = asyncio.ensure_future(_left(body_read, receive))
        try:
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not working.done():
                working.cancel()
                await asyncio.wait({working})
        has_left = leaving.done() and not leaving.cancelled()
        if working.cancelled() or (working.exception() is not None and has_left):
            return
        working.result()


async def _left(body_read: asyncio.Event, receive: Receive) -> None:
    """Return when the client closes the connection. Its body is read first, by the one who answers."""
    await body_read.wait()
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(reply: Reply, send: Send) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in reply.headers.items()]
    if isinstance(reply.body, bytes):
        headers.append((b"content-length", str(len(reply.body)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})
        return
    assert isinstance(reply.body, AsyncGenerator)
    async with aclosing(reply.body) as chunks:
        # A generator that has not begun would not close its upstream.
        first = await anext(chunks, b"")
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if first:
            await send({"type": "http.response.body", "body": first, "more_body": True})
        async for chunk in chunks:
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _unknown_path(request: HttpRequest, error: Exception) -> Response:
    """Return an error for a path that the gateway does not have, in a form that clients of all APIs read."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "internal error"
    if detail in ("Not Found", "Method Not Allowed"):
        detail = f"the gateway has no {request.method} {request.url.path}"
    kind = {401: "authentication_error", 404: "not_found_error"}.get(status, "invalid_request_error")
    return JSONResponse({"type": "error", "error": {"type": kind, "message": detail, "code": status}}, status)
