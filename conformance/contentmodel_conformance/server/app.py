"""The loopback server as an ASGI app: records each request, and answers it with the script's next turn.

Any ASGI server can run it. Closing a connection needs the transport that `running.py` puts into the request's state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from contentmodel.display import count_of
from contentmodel.response import ChatResponse
from contentmodel_conformance.server.answers import Body, Cut, Stall, body_of, dressed, error_body, steps_of
from contentmodel_conformance.server.endpoints import ENDPOINTS, Endpoint
from contentmodel_conformance.server.records import Recorded, read_body
from contentmodel_conformance.server.script import Fault, Script, Taken, TurnLike

DELTA_SIZE = 16
"""The default number of characters per text delta: small, so that clients must join deltas."""


class Loopback:
    """Answers requests of every API from one script, and records them.

    `on_request` is called with each record when its answer is ready, before it is sent.
    """

    def __init__(
        self,
        script: Iterable[TurnLike],
        *,
        repeat: bool = False,
        delta_size: int | None = DELTA_SIZE,
        endpoints: Sequence[Endpoint] = ENDPOINTS,
        on_request: Callable[[Recorded], object] | None = None,
    ) -> None:
        self.script = Script(script, repeat=repeat)
        self.requests: list[Recorded] = []
        self.stopping = asyncio.Event()
        self._delta_size = delta_size
        self._on_request = on_request
        self.endpoints = tuple(endpoints)
        self.app = Starlette(routes=list(self._routes()), exception_handlers={HTTPException: self._refuse})

    def _routes(self) -> Iterable[Route]:
        for endpoint in (served for api in self.endpoints for served in (api, *api.hosts)):
            for path in endpoint.paths:
                yield Route(path, partial(self._answer, endpoint, False), methods=["POST"])
            for path in endpoint.stream_paths:
                yield Route(path, partial(self._answer, endpoint, True), methods=["POST"])

    async def _refuse(self, request: Request, error: Exception) -> Response:
        """Return an error that lists the server's paths, for a request to another path or with another method."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        paths = ", ".join(path for endpoint in self.endpoints for path in (*endpoint.paths, *endpoint.stream_paths))
        message = f"the loopback server has no {request.method} {request.url.path}: it answers POST at {paths}"
        return JSONResponse({"error": {"message": message, "type": "not_found_error"}}, status, _NO_RETRY)

    async def _answer(self, endpoint: Endpoint, is_stream: bool, request: Request) -> Sending:
        record = await self._record(endpoint, is_stream, request)
        body, taken, headers = await self._prepare(endpoint, record)
        is_silent = record.fault is not None and record.fault.drop_after == 0
        record.status, record.losses = None if is_silent else body.status, body.losses
        if self._on_request is not None:
            self._on_request(record)
        return Sending(self, body, taken, {endpoint.id_header: f"req_{record.number}", **headers})

    async def _record(self, endpoint: Endpoint, is_stream: bool, request: Request) -> Recorded:
        body = await request.body()
        record = Recorded(
            number=len(self.requests) + 1,
            api=endpoint.api,
            path=request.url.path,
            query=dict(request.query_params),
            headers=dict(request.headers),
            payload=None,
            is_stream=is_stream,
            model=request.path_params.get("model"),
            dialect=endpoint.dialect,
        )
        self.requests.append(record)
        read_body(record, body)
        if isinstance(record.payload, dict) and not endpoint.stream_paths:
            record.is_stream = endpoint.http.asks_stream(record.payload)
        return record

    # -- which answer ------------------------------------------------------------------------------------------

    async def _prepare(self, endpoint: Endpoint, record: Recorded) -> tuple[Body, Taken | None, dict[str, str]]:
        if record.error is not None:
            return error_body(endpoint, 400, str(record.error)), None, _NO_RETRY
        taken = self.script.take()
        if taken is None:
            return error_body(endpoint, 500, self._exhausted(record)), None, _NO_RETRY
        record.turn, record.fault = taken.number, taken.fault
        try:
            return await self._body(endpoint, record, taken), taken, _headers_of(taken.fault)
        except Exception as error:  # A script's function may raise anything; report it to the client.
            record.fault = None
            why = f"turn {taken.number} of the script: {type(error).__name__}: {error}"
            return error_body(endpoint, 500, why), None, _NO_RETRY

    def _exhausted(self, record: Recorded) -> str:
        turns = count_of(len(self.script.turns), "turn")
        return f"the script is exhausted: it has {turns}, all answered, and this is request {record.number}"

    async def _body(self, endpoint: Endpoint, record: Recorded, taken: Taken) -> Body:
        fault, turn = taken.fault, taken.turn
        if fault is not None and fault.status is not None:
            message = fault.message or f"a scripted fault: HTTP {fault.status}"
            return error_body(endpoint, fault.status, message, fault.retry_after)
        response = turn.response
        if response is None:
            return Body(200, "", (), 0)  # The fault closes the connection before the response.
        if not isinstance(response, ChatResponse):
            assert record.request is not None
            make = partial(response, record.request)
            response = await anyio.to_thread.run_sync(make, abandon_on_cancel=True)
            if not isinstance(response, ChatResponse):
                raise TypeError(f"expected a ChatResponse from the function, got {type(response).__name__}")
        response = dressed(response, endpoint, record.model, record.number)
        size = turn.delta_size or self._delta_size
        return body_of(response, endpoint, streams=_form_of(record, endpoint), size=size)


class Sending:
    """The ASGI app that sends one answer."""

    def __init__(self, loopback: Loopback, body: Body, taken: Taken | None, headers: dict[str, str]) -> None:
        self._loopback, self._taken = loopback, taken
        self._fault = None if taken is None else taken.fault
        self._body = body
        self._headers = {"content-type": body.media_type, **headers}
        if not body.is_stream and (self._fault is None or not self._fault.spoils):
            self._headers["content-length"] = str(sum(map(len, body.frames)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False
        for step in steps_of(self._body, self._fault):
            if isinstance(step, Stall):
                if not await self._wait(step.seconds, receive):
                    return await _cut(scope, receive)
                self._finish_stall()
            elif isinstance(step, Cut):
                return await _cut(scope, receive)
            else:
                if not has_begun:
                    await self._begin(send)
                    has_begun = True
                await send({"type": "http.response.body", "body": step, "more_body": True})
        if not has_begun:
            await self._begin(send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None

    async def _begin(self, send: Send) -> None:
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": self._body.status, "headers": headers})

    async def _wait(self, seconds: float, receive: Receive) -> bool:
        """Wait. Return False if the client disconnects or the server stops before the time is over."""
        stopped = asyncio.ensure_future(self._loopback.stopping.wait())
        disconnected: asyncio.Future[Any] = asyncio.ensure_future(receive())
        done, waiting = await asyncio.wait(
            {stopped, disconnected}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        for task in waiting:
            task.cancel()
        return not done

    def _finish_stall(self) -> None:
        """Mark the turn as done: the client waited until the stall ended, and now gets the answer."""
        if self._taken is not None and self._fault is not None and self._fault.only_delays:
            self._loopback.script.finish(self._taken)


async def _cut(scope: Scope, receive: Receive) -> None:
    """Close the connection in the middle of the response."""
    transport = scope.get("state", {}).get("transport")
    if transport is None:
        raise ConnectionAbortedError("the connection is closed here: a scripted fault")
    transport.close()
    # Wait for the disconnect: if the app returned before, the server would report an incomplete response.
    while (await receive())["type"] != "http.disconnect":
        pass


_NO_RETRY = {"x-should-retry": "false"}
"""Stops retries of the official OpenAI and Anthropic clients: an error in a test does not go away."""


def _headers_of(fault: Fault | None) -> dict[str, str]:
    if fault is None or fault.retry_after is None:
        return {}
    return {"retry-after": f"{fault.retry_after:g}"}


def _form_of(record: Recorded, endpoint: Endpoint) -> str | None:
    """Return the form of a record's answer: plain (None), a stream of events ("events"), or a JSON array ("array")."""
    if not record.is_stream:
        return None
    return "array" if endpoint.http.asks_array(record.query) else "events"
