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
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route as HttpRoute
from starlette.types import Receive, Scope, Send

import contentmodel
from contentmodel.adapter import adapter
from contentmodel.gateway import models
from contentmodel.gateway.config import (
    GatewayConfig,
    check_config,
    hosts_of,
    http_apis,
    is_header_value,
    is_local,
    key_source,
)
from contentmodel.gateway.conversations import Conversations
from contentmodel.gateway.counting import count_tokens
from contentmodel.gateway.exchange import Exchange
from contentmodel.gateway.front import BrokenStreamError, Front, GatewayError, Incoming, Reply, client_key, read_request
from contentmodel.gateway.keys import Allowances, digest_of, names_of, set_cost
from contentmodel.gateway.metrics import Metrics, Snapshot
from contentmodel.gateway.operation import HEALTH, Feed, Operation
from contentmodel.gateway.passing import pass_through
from contentmodel.gateway.recording import Recorder, private_folder
from contentmodel.gateway.records import Records
from contentmodel.gateway.replies import ApiRoute, error_response, json_response
from contentmodel.gateway.report import ID_HEADER, Report, Reports, log, short
from contentmodel.gateway.state import StateKeys
from contentmodel.gateway.telemetry import Spans
from contentmodel.gateway.upstream import Sender
from contentmodel.http_guard import Guard, GuardRules, Head, Refusal, host_names

Answering = Callable[[Exchange], Awaitable[Reply]]

RESTART = ("host", "port", "store")
"""The settings that a running gateway cannot change."""
CLIENT = "contentmodel.client"
"""The key of the name of a client's key in the scope of a request."""
REPORT = "contentmodel.report"
"""The key of the report in the scope of a request."""


def create_app(
    config: GatewayConfig,
    *,
    client: httpx2.AsyncClient | None = None,
    environment: Mapping[str, str] | None = None,
    tracer_provider: Any = None,
    group: str | None = None,
    secret: bytes | None = None,
    record: str | Path | None = None,
) -> Starlette:
    """Return the ASGI app of a gateway.

    `client` sends the requests, instead of a new one; it is not closed. `environment` has the keys, instead of the
    environment of the process. `tracer_provider` is OpenTelemetry's; the default is the global one.
    `app.state.reports` has the reports of the latest requests. `app.state.gateway.configure(config)` replaces the
    configuration for new requests, except for `host`, `port` and `store`. `group` is the name of the processes whose
    metrics are added, if they have a store. `secret` signs the state of reasoning, if the configuration has no
    `state_key`; by default it is random. `record` is a folder that gets the requests and answers of both sides.

    Raise ConfigError with every fault of the configuration, and MissingExtraError if it has a store whose extra is not
    installed.
    """
    variables = os.environ if environment is None else environment
    check_config(config, environment=variables)
    gateway = Gateway(config, variables, Spans(tracer_provider), group, secret)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with gateway.conversations.running(), gateway.records.running(), gateway.counting():
            if client is not None:
                gateway.client = client
                yield
                return
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
            # Without the proxies and the netrc file of the environment: requests go where the configuration says.
            async with httpx2.AsyncClient(limits=limits, trust_env=False) as made:
                gateway.client = made
                yield

    gateway.endpoints = list(gateway.routes())
    guard = Middleware(Guard, rules=lambda: gateway.rules, refuse=gateway.refuse, admit=gateway.admit)
    counting = Middleware(Counting, gateway=gateway)
    middleware = [counting, guard]
    if record is not None:
        middleware.append(Middleware(Recorder, folder=private_folder(record), key=REPORT))
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, Exception), _refuse_path)
    app = Starlette(routes=gateway.endpoints, lifespan=lifespan, middleware=middleware, exception_handlers=handlers)
    app.state.reports, app.state.gateway = gateway.reports, gateway
    return app


class Gateway:
    """The endpoints of a gateway, and what they share."""

    client: httpx2.AsyncClient

    def __init__(
        self,
        config: GatewayConfig,
        environment: Mapping[str, str],
        spans: Spans,
        group: str | None = None,
        secret: bytes | None = None,
    ) -> None:
        self._environment, self._spans = environment, spans
        self._secret = secret or os.urandom(32)
        self.apis = http_apis()
        self.reports = Reports(config.limits.reports)
        self.senders: dict[str, Sender] = {}
        self._key_headers = {http.key_header for http in self.apis.values()}
        self.endpoints: list[HttpRoute] = []
        self.conversations = _conversations(config)
        self.records = _records(config, self.reports, group)
        self.metrics = Metrics(config)
        self.records.own_metrics = self._snapshot
        self.feed = Feed()
        self.allowances = Allowances(self.records)
        self.running = 0
        self.is_stopping = False
        self._use(config)

    def configure(self, config: GatewayConfig) -> tuple[str, ...]:
        """Use another configuration for new requests. Return the names of settings that need a restart.

        Upstreams that are configured as before keep their state. Raise ConfigError with every fault.
        """
        check_config(config, environment=self._environment)
        kept = {name: getattr(self.config, name) for name in RESTART}
        changed = tuple(name for name in RESTART if getattr(config, name) != kept[name])
        self._use(msgspec.structs.replace(config, **kept))
        return changed

    def _use(self, config: GatewayConfig) -> None:
        self.config = config
        self._key = None if config.key is None else self._environment[config.key.partition(":")[2]]
        self._names = names_of(config, self._environment)
        secrets = [self._environment[source.partition(":")[2]].encode() for source in config.state_keys]
        self._state = StateKeys(secrets or [self._secret], config.limits.state_bytes)
        self.rules = _guard_rules(config)
        self.reports.resize(config.limits.reports)
        self.metrics.configure(config)
        made = {name: self._sender(name, self._environment) for name in config.upstreams}
        before = self.senders
        self.senders = {n: before[n] if n in before and before[n].is_like(made[n]) else made[n] for n in made}

    @asynccontextmanager
    async def counting(self) -> AsyncIterator[None]:
        """Write the counters of keys at the end."""
        yield
        await self.allowances.close()

    def _snapshot(self) -> Snapshot:
        return self.metrics.snapshot({name: sender.circuit.is_open for name, sender in self.senders.items()})

    def stop(self) -> None:
        """Refuse new requests from now on, and end the streams of those who watch the requests."""
        self.is_stopping = True
        self.feed.close()

    def _sender(self, name: str, environment: Mapping[str, str]) -> Sender:
        upstream = self.config.upstreams[name]
        http = self.apis[upstream.api] if upstream.dialect is None else hosts_of(upstream.api)[upstream.dialect]
        kind, _, variable = key_source(upstream, http, environment).partition(":")
        key = environment[variable] if kind == "env" else None
        return Sender(name, upstream, http, adapter(upstream.api), key, self.config.cooldown)

    def routes(self) -> Iterator[HttpRoute]:
        """Yield the routes of all APIs, and those of the gateway itself."""
        fronts = [Front(api, http) for api, http in self.apis.items()]
        fronts += [Front(api, http, name) for api in self.apis for name, http in hosts_of(api).items()]
        for front in fronts:
            http = front.http
            if http.count is not None:
                # Before the other methods: in Vertex AI, its name is at the place of a model.
                yield from self._posts(http.count.method.routes, front, count_tokens)
            for method in http.passed:
                yield from self._posts(method.routes, front, pass_through(method))
            yield from self._posts(http.generate.routes, front, Exchange.answer)
            if http.stream is not None:
                yield from self._posts(http.stream.routes, front, Exchange.answer, stream=True)
            if http.keeps_conversations:
                yield from self.conversations.routes(front)
        for path in ("/v1/models", "/v1beta/models"):
            yield HttpRoute(path, self.get_models, methods=["GET"])
            yield HttpRoute(f"{path}/{{model:path}}", self.get_model, methods=["GET"])
        yield from Operation(self).routes()
        yield HttpRoute("/", self.get_root, methods=["GET"])

    def _posts(
        self, paths: tuple[str, ...], front: Front, answer: Answering, *, stream: bool = False
    ) -> Iterator[HttpRoute]:
        for path in paths:
            yield ApiRoute(path, front, Endpoint(self, front, answer, stream_method=stream), "POST")

    # -- requests ------------------------------------------------------------------------------------------------------

    async def answered(self, request: HttpRequest, front: Front, answer: Answering, *, stream_method: bool) -> Reply:
        """Return the reply to a request, or an error in the client's API."""
        report = self._report_of(request.scope, front)
        try:
            incoming = await self._incoming(request, front, stream_method=stream_method)
        except GatewayError as error:
            return self._refused(front, error, report, request.headers)
        report.model, report.streamed = short(incoming.model), incoming.streams
        try:
            await self._allow(report, incoming.model)
        except GatewayError as error:
            return self._refused(front, error, report, request.headers)
        completed = partial(self._completed, incoming.headers)
        shared = self.config, self.senders, self.client
        key = self.key_of(Head(request.scope))
        return await answer(Exchange(*shared, incoming, report, key, completed, self.conversations, self._state))

    async def _allow(self, report: Report, model: str) -> None:
        """Raise GatewayError if the key of a client does not allow its request."""
        key = self.config.keys.get(report.key or "")
        if report.key is None or key is None:
            return
        if not key.may_use(model):
            allowed = ", ".join(key.routes)
            raise GatewayError("permission", f"the key {report.key!r} may use {allowed} (keys.{report.key}.routes)")
        allows = self.config.limits.on_store_failure == "allow"
        await self.allowances.admit(report.key, key, report, allows_failures=allows)

    def _refused(self, front: Front, error: GatewayError, report: Report, headers: Mapping[str, str]) -> Reply:
        reply = front.refusal(error)
        report.status, report.error = reply.status, error.error.kind
        self._completed(dict(headers), report)
        return Reply(reply.status, reply.body, {**reply.headers, ID_HEADER: report.id})

    def admit(self, head: Head) -> None:
        """Begin the report of a request. Raise Refusal if it does not have the key of the gateway."""
        if head.scope["path"].startswith(HEALTH):
            return
        front = self._front_of(head.scope)
        report = None if front is None else self._report_of(head.scope, front)
        name = head.scope[CLIENT] = self._client_of(head)
        if report is not None:
            report.key = name
        elif name is not None and _is_of_operator(head.scope["path"]):
            raise Refusal("permission", f"the key {name!r} is one for models: use the gateway's own (`key`)")
        if front is not None and self.is_stopping:
            raise Refusal("overloaded", "the gateway is shutting down: try again", retry_after=1)

    async def refuse(self, scope: Scope, refusal: Refusal) -> Response:
        """Return the answer to a request that the guard refuses: an error in the API of its path, with a report."""
        front = self._front_of(scope)
        if front is None:
            return error_response(refusal.status, str(refusal), refusal.retry_after)
        report = self._report_of(scope, front)
        if refusal.kind == "cancelled":
            report.ended = "left"
        kind = {"media_type": "invalid_request"}.get(refusal.kind, refusal.kind)
        error = GatewayError(kind, str(refusal), retry_after=refusal.retry_after)
        reply = self._refused(front, error, report, Head(scope).headers)
        # APIs have no errors of their own for these two.
        status = refusal.status if refusal.kind in ("media_type", "timeout") else reply.status
        return Response(reply.body, status, reply.headers)

    def _front_of(self, scope: Scope) -> Front | None:
        """Return the API of a path; None if it has none."""
        return next((route.front for route in self.endpoints if isinstance(route, ApiRoute) and route.has(scope)), None)

    def _report_of(self, scope: Scope, front: Front) -> Report:
        """Return the report of a request. It begins when the request arrives."""
        report: Report | None = scope.get(REPORT)
        if report is None:
            report = Report(
                id=f"req_{uuid.uuid4().hex}",
                client_api=front.api,
                path=short(scope["path"]),
                started=round(time.time(), 3),
            )
            scope[REPORT] = report
            self.reports.add(report)
            self.feed.publish("begin", report)
        return report

    def _completed(self, headers: Mapping[str, str], report: Report) -> None:
        """Log a finished request, and record its spans."""
        if report.seconds is None:
            report.seconds = round(time.time() - report.started, 4)
        set_cost(report, self.config.prices)
        key = self.config.keys.get(report.key or "")
        if report.key is not None and key is not None:
            self.allowances.count(report.key, key, report)
        log(report)
        self.metrics.add(report)
        self.records.finished(report)
        self.feed.publish("end", report)
        self._spans.record(report, headers)

    async def _incoming(self, request: HttpRequest, front: Front, *, stream_method: bool) -> Incoming:
        headers = dict(request.headers.items())
        body = await request.body()
        if self._has_keys:
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

    def key_of(self, head: Head) -> str | None:
        """Return the key of the client for upstreams; None if it is for the gateway, or if there is none."""
        key = client_key(head.headers, head.query, self.apis)
        if self._has_keys:
            return None
        if key is not None and not is_header_value(key):
            raise Refusal("authentication", "the API key has characters that a header cannot have")
        return key

    @property
    def _has_keys(self) -> bool:
        return self._key is not None or bool(self._names)

    def _client_of(self, head: Head) -> str | None:
        """Return the name of a client's key; None for the gateway's own key, or if the gateway has no keys.

        Raise Refusal if the client sends another key.
        """
        if not self._has_keys:
            self.key_of(head)
            return None
        key = client_key(head.headers, head.query, self.apis)
        own = None if self._key is None else self._key.encode()
        if key is not None and own is not None and hmac.compare_digest(key.encode("utf-8", "replace"), own):
            return None
        name = None if key is None else self._names.get(digest_of(key))
        if name is not None:
            return name
        if key is None and self._key is None and is_local(self.config.host) and _is_of_operator(head.scope["path"]):
            return None
        setting = "`key`" if self._key is not None else "`keys`"
        raise Refusal("authentication", f"the gateway requires its own key ({setting}): set it as the API key")

    # -- the gateway itself --------------------------------------------------------------------------------------------

    async def get_models(self, request: HttpRequest) -> Response:
        """List the models of the routes, in the form of the API that asks."""
        key = self.config.keys.get(request.scope.get(CLIENT) or "")

        def may_use(model: str) -> bool:
            return key is None or key.may_use(model)

        return json_response(models.model_list(self.config, request.url.path, request.headers, may_use))

    async def get_model(self, request: HttpRequest) -> Response:
        """Return one model of the list."""
        name = request.path_params["model"]
        found = models.find_model(self.config, name, request.url.path, request.headers)
        if found is None:
            raise HTTPException(404, f"the gateway has no model {name!r:.200}")
        return json_response(found)

    async def get_root(self, request: HttpRequest) -> Response:
        """Say what this server is. Some clients ask for it before their first request."""
        return json_response({"contentmodel": contentmodel.__version__, "gateway": sorted(self.apis)})


def _is_of_operator(path: str) -> bool:
    return path == "/metrics" or path.startswith("/contentmodel/")


def _conversations(config: GatewayConfig) -> Conversations:
    if config.store is None:
        return Conversations()
    from contentmodel.gateway.keeping import stored_conversations

    return stored_conversations(config.store)


def _records(config: GatewayConfig, reports: Reports, group: str | None) -> Records:
    if config.store is None:
        return Records(reports)
    from contentmodel.gateway.stored_records import StoredRecords

    return StoredRecords(reports, config.store, group)


class Counting:
    """The ASGI middleware that counts the requests that are not finished, so that a shutdown waits for them."""

    def __init__(self, app: Any, gateway: Gateway) -> None:
        self._app, self._gateway = app, gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._gateway.running += scope["type"] == "http"
        try:
            await self._app(scope, receive, send)
        finally:
            self._gateway.running -= scope["type"] == "http"


class Endpoint:
    """An ASGI endpoint: answers one request, and gives up when its client leaves."""

    def __init__(self, gateway: Gateway, front: Front, answer: Answering, *, stream_method: bool) -> None:
        self._gateway, self._front, self._answer = gateway, front, answer
        self._stream_method = stream_method

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
                reply = await answered(request, self._front, self._answer, stream_method=self._stream_method)
                await _send(reply, send, self._gateway.metrics)

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


async def _send(reply: Reply, send: Send, metrics: Metrics) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in reply.headers.items()]
    if isinstance(reply.body, bytes):
        headers.append((b"content-length", str(len(reply.body)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})
        return
    assert isinstance(reply.body, AsyncGenerator)
    async with metrics.open_stream(), aclosing(reply.body) as chunks:
        # A generator that has not begun would not close its upstream.
        first = await anext(chunks, b"")
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if first:
            await send({"type": "http.response.body", "body": first, "more_body": True})
        async for chunk in chunks:
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _guard_rules(config: GatewayConfig) -> GuardRules:
    """Return the rules of the guard. Programs may send JSON under another type: Ollama's documentation does."""
    own = () if is_local(config.host) else (f"[{config.host}]" if ":" in config.host else config.host,)
    return GuardRules(
        hosts=host_names((*config.hosts, *own)),
        origins=frozenset(config.origins),
        json_only=False,
        body_bytes=config.limits.body_bytes,
        body_seconds=config.limits.body_seconds,
        requests=config.limits.requests,
    )


async def _refuse_path(request: HttpRequest, error: Exception) -> Response:
    """Return an error of a path that no API has, or of an endpoint that failed."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "the gateway failed: its log has the cause"
    if detail in ("Not Found", "Method Not Allowed"):
        detail = f"the gateway has no {request.method} {request.url.path:.200}"
    return error_response(status, detail)
