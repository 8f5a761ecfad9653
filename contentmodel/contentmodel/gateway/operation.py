"""The endpoints for those who operate a gateway: health, metrics, reports, upstreams, and a stream of requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from contentmodel.errors import ContentModelError
from contentmodel.gateway.config import unknown
from contentmodel.gateway.metrics import MEDIA_TYPE, openmetrics, summed
from contentmodel.gateway.records import Wanted
from contentmodel.gateway.replies import json_response
from contentmodel.gateway.report import Report, logger
from contentmodel.json import JsonObject, whole_number, write
from contentmodel.limits import read_limits

if TYPE_CHECKING:
    from contentmodel.gateway.app import Gateway

HEALTH = "/health/"
"""The start of the paths that need no key."""
MOST, USUAL = 1000, 100
"""The longest and the usual number of reports of an answer."""
WAITING = 1000
"""The events that wait for one reader of the stream. If there are more, the oldest are left out."""


class Feed:
    """The readers of the stream of requests."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._missed: dict[asyncio.Queue[bytes | None], int] = {}

    def publish(self, event: str, report: Report) -> None:
        """Send an event to all readers."""
        if not self._queues:
            return
        data = b"event: " + event.encode() + b"\ndata: " + write(report.summary()) + b"\n\n"
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
                self._missed[queue] = self._missed.get(queue, 0) + 1
            queue.put_nowait(data)

    def close(self) -> None:
        """End the streams of all readers."""
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)

    async def events(self, heartbeat: float) -> AsyncIterator[bytes]:
        """Yield the events from now on, and a comment if there was none for `heartbeat` seconds."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING)
        self._queues.add(queue)
        try:
            yield b": the requests of this process\n\n"
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), heartbeat)
                except TimeoutError:
                    yield b": keep-alive\n\n"
                    continue
                if event is None:
                    return
                missed = self._missed.pop(queue, 0)
                yield event if not missed else f": {missed} events were left out\n\n".encode() + event
        finally:
            self._queues.discard(queue)
            self._missed.pop(queue, None)


class Operation:
    """The endpoints of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def routes(self) -> Iterator[Route]:
        """Yield the routes."""
        for path, endpoint in (
            ("/health/live", self.get_live),
            ("/health/ready", self.get_ready),
            ("/metrics", self.get_metrics),
            ("/contentmodel/requests", self.get_requests),
            ("/contentmodel/upstreams", self.get_upstreams),
            ("/contentmodel/stream", self.get_stream),
            ("/contentmodel/losses/{id}", self.get_losses),
        ):
            yield Route(path, endpoint, methods=["GET"])

    async def get_live(self, request: Request) -> Response:
        """Say that the process runs."""
        return json_response({"status": "live"})

    async def get_ready(self, request: Request) -> Response:
        """Return 200 if the gateway answers requests; 503 with the reason if it does not."""
        if self._gateway.is_stopping:
            return _not_ready("the gateway is shutting down")
        try:
            await self._gateway.records.check()
        except ContentModelError as error:
            # Its text may contain a path or a host.
            logger.error("the store cannot be read: %s", error)
            return _not_ready("the store (`store`) cannot be read: the log of the gateway has the cause")
        return json_response({"status": "ready"})

    async def get_metrics(self, request: Request) -> Response:
        """Return the metrics as OpenMetrics text."""
        return Response(openmetrics(summed(await self._gateway.records.metrics())), media_type=MEDIA_TYPE)

    async def get_requests(self, request: Request) -> Response:
        """List the latest reports, the newest first, with counts in place of the losses."""
        records = self._gateway.records
        found = await records.latest(_wanted(request.query_params))
        return json_response({"scope": records.scope, "requests": [report.summary() for report in found]})

    async def get_losses(self, request: Request) -> Response:
        """Return the report of a request, with the paths and reasons of all losses."""
        report = await self._gateway.records.find(request.path_params["id"])
        if report is None:
            raise HTTPException(404, "no such request, or its report was forgotten (limits.reports)")
        return json_response(report)

    async def get_upstreams(self, request: Request) -> Response:
        """Return the state of each upstream, as this process sees it."""
        return json_response(
            {"scope": "process", "upstreams": {n: _state(s) for n, s in self._gateway.senders.items()}}
        )

    async def get_stream(self, request: Request) -> Response:
        """Stream an event for the begin, and one for the end, of each request of this process."""
        events = self._gateway.feed.events(self._gateway.config.limits.heartbeat)
        return StreamingResponse(events, headers={"cache-control": "no-cache"}, media_type="text/event-stream")


def _not_ready(reason: str) -> Response:
    return json_response({"status": "not ready", "reason": reason}, 503, {"retry-after": "1"})


def _wanted(query: Any) -> Wanted:
    """Return the reports that a query asks for. Raise HTTPException if it is not valid."""
    for name in query:
        if name not in Wanted.__struct_fields__:
            raise HTTPException(400, unknown("parameter", name, Wanted.__struct_fields__))
    limit = whole_number(query.get("limit", str(USUAL)))
    if limit is None or not 1 <= limit <= MOST:
        raise HTTPException(400, f"`limit` must be from 1 to {MOST}")
    try:
        since = float(query.get("since", "0"))
    except ValueError:
        raise HTTPException(400, "`since` must be a time in seconds since 1970") from None
    texts = {name: query[name] for name in ("upstream", "status", "code") if name in query}
    return Wanted(since=since, limit=limit, **texts)


def _state(sender: Any) -> JsonObject:
    """Return the state of an upstream for JSON. Times are in seconds since 1970."""
    circuit, limits = sender.circuit, read_limits(sender.last_headers, sender.api)
    state: JsonObject = {"api": sender.api, "state": "open" if circuit.is_open else "closed"}
    if circuit.is_open:
        state["open_until"] = round(time.time() + circuit.wait, 3)
    state["failures"] = circuit.failures
    if circuit.last_error is not None:
        state["last_error"] = {"error": circuit.last_error, "at": circuit.last_failed}
    return {**state, "rate_limits": limits}
