"""One request of a client, from its route to its answer: tries, fallbacks, streams, and the report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
import httpx2

from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import DecodeError
from contentmodel.gateway.config import GatewayConfig, Route
from contentmodel.gateway.front import Front, GatewayError, Incoming, Reply, without
from contentmodel.gateway.report import ID_HEADER, LOSSES_HEADER, UPSTREAM_HEADER, Attempt, Report, counted, log, logger
from contentmodel.gateway.translation import Answer, Framing, Outgoing, Request
from contentmodel.gateway.upstream import Sender, TooLargeError, UpstreamError, bounded, wait_to_repeat
from contentmodel.limits import read_limits, write_limits
from contentmodel.message import Origin
from contentmodel.streams import StreamConverter

LARGE = 256 * 1024
"""Bytes of a body from which on it is converted in a thread, so that other requests go on."""

HOP_HEADERS = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
) | {"upgrade", "content-length", "set-cookie", "server", "date", "alt-svc", "strict-transport-security"}
"""Headers that belong to one connection or one host. They are not passed on."""

T = TypeVar("T")


class Exchange:
    """One request of a client. `answer` returns the reply; the report is complete when its body was sent."""

    def __init__(
        self,
        config: GatewayConfig,
        senders: Mapping[str, Sender],
        client: httpx2.AsyncClient,
        incoming: Incoming,
        report: Report,
        key: str | None,
    ) -> None:
        self.config, self.senders, self.client = config, senders, client
        self.incoming, self.report, self.key = incoming, report, key
        self._front: Front = incoming.front
        self._began = time.monotonic()

    async def answer(self) -> Reply:
        """Return the answer of the first upstream that gives one, or an error in the client's API."""
        return await self.guarded(self._answered)

    async def guarded(self, work: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the reply of `work`. A refusal of the gateway becomes an error in the client's API."""
        try:
            return await work()
        except GatewayError as error:
            self.report.error = error.error.kind
            return self.finished(self._front.error(error.error, error.limits))

    async def _answered(self) -> Reply:
        route = route_of(self.config, self.incoming.model)
        request = Request(self.incoming, route)
        last: tuple[Sender, UpstreamError] | None = None
        for name in route.upstreams:
            sender = self.senders[name]
            outgoing = await self._run(request.outgoing, sender)
            self.describe(sender, outgoing)
            reply = await self._tried(sender, outgoing, route)
            if isinstance(reply, Reply):
                return reply
            last = sender, reply
            if not reply.may_fall_back:
                break
        assert last is not None
        return self.failed(*last)

    def describe(self, sender: Sender, outgoing: Outgoing) -> None:
        """Record where the request goes, and what it lost."""
        report = self.report
        report.upstream, report.upstream_api, report.upstream_model = sender.name, sender.api, outgoing.model
        report.passed_through, report.request, report.violations = (
            outgoing.passes,
            outgoing.losses,
            outgoing.violations,
        )

    async def _run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function, in a thread if the body is large."""
        if len(self.incoming.body) < LARGE:
            return function(*arguments)
        return await anyio.to_thread.run_sync(partial(function, *arguments))

    # -- tries ---------------------------------------------------------------------------------------------------------

    async def _tried(self, sender: Sender, outgoing: Outgoing, route: Route) -> Reply | UpstreamError:
        """Send the request, and again after failures that certainly caused no answer."""
        for attempt in range(sender.upstream.retries + 1):
            try:
                reply = await self._sent(sender, outgoing, route)
            except UpstreamError as error:
                self._note(sender, error.status, error.kind)
                is_last = attempt == sender.upstream.retries
                if is_last or not error.may_repeat:
                    return error
                if not await wait_to_repeat(error, attempt, sender.upstream.retry_wait):
                    return error
            else:
                self._note(sender, 200, None)
                return reply
        raise AssertionError("unreachable: the last try returns")

    def _note(self, sender: Sender, status: int | None, error: str | None) -> None:
        self.report.attempts = [*self.report.attempts, Attempt(upstream=sender.name, status=status, error=error)]

    async def _sent(self, sender: Sender, outgoing: Outgoing, route: Route) -> Reply:
        headers = sender.headers(self.incoming.headers, self.key, same_api=outgoing.passes)
        method = sender.http.method(streams=outgoing.streams)
        response = await sender.send(self.client, method, outgoing.model, outgoing.body, headers)
        try:
            if outgoing.passes:
                return await self._passed(sender, response)
            answer = Answer(self.incoming, sender, outgoing, route.policies)
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            if outgoing.streams and is_stream:
                return await self._streamed(sender, response, answer)
            return await self._whole(sender, response, answer)
        except BaseException:
            await response.aclose()
            raise

    # -- whole answers -------------------------------------------------------------------------------------------------

    async def _whole(self, sender: Sender, response: httpx2.Response, answer: Answer) -> Reply:
        try:
            body = b"".join([c async for c in bounded(response.aiter_bytes(), self.config.limits.answer_bytes)])
        except TooLargeError:
            raise _bad_answer(sender, "it is larger than the limit answer_bytes of the gateway") from None
        except (httpx2.HTTPError, OSError) as error:
            raise sender.broken(error) from None
        await response.aclose()
        try:
            if self.incoming.streams:
                data = b"".join(await self._run(lambda: list(answer.as_stream(body, self.report))))
                framing = Framing(self.incoming.framing)
                reply = Reply(200, framing.feed(data) + framing.close(), {"content-type": framing.media_type})
            else:
                reply = await self._run(answer.whole, body, self.report)
        except DecodeError as error:
            raise _bad_answer(sender, str(error)) from None
        return self.finished(Reply(reply.status, reply.body, {**self._passed_on(sender, response), **reply.headers}))

    def _passed_on(self, sender: Sender, response: httpx2.Response) -> dict[str, str]:
        """Return the headers of a converted answer: the id of the upstream's request, and the rate limits."""
        limits = write_limits(read_limits(response.headers, sender.api), self._front.api)
        name = response.headers.get(sender.http.request_id)
        return limits if name is None else {**limits, self._front.http.request_id: name}

    # -- streams -------------------------------------------------------------------------------------------------------

    async def _streamed(self, sender: Sender, response: httpx2.Response, answer: Answer) -> Reply:
        """Return a stream. Its first bytes are awaited here: until then, another upstream can be tried."""
        chunks = response.aiter_bytes()
        try:
            first = await anext(chunks, None)
        except (httpx2.HTTPError, OSError) as error:
            raise sender.broken(error) from None
        if first is None:
            raise _bad_answer(sender, "it is empty")
        framing = Framing(self.incoming.framing)
        body = self._converted(first, chunks, response, answer.converter(), framing)
        headers = {**self._passed_on(sender, response), "content-type": framing.media_type}
        return self._begun(Reply(200, body, headers))

    async def _converted(
        self,
        first: bytes,
        chunks: AsyncIterator[bytes],
        response: httpx2.Response,
        converter: StreamConverter,
        framing: Framing,
    ) -> AsyncGenerator[bytes, None]:
        """Yield a converted stream, with keep-alives while the upstream is silent. Close the response at the end."""
        self.report.ended = "left"
        try:
            yield framing.feed(converter.feed(first))
            async for chunk in self._with_keep_alives(chunks, framing):
                yield framing.feed(converter.feed(chunk)) if chunk is not None else self._keep_alive(framing)
                if converter.end is not None:
                    # Some hosts keep the connection open after the last event.
                    break
            self.report.ended = "complete"
        except (httpx2.HTTPError, OSError):
            self.report.ended = "failed"
        except Exception:
            logger.exception("the stream of request %s could not be converted", self.report.id)
            self.report.ended = "failed"
        finally:
            await response.aclose()
            last = framing.feed(converter.close()) if self.report.ended != "left" else b""
            self._end_stream(converter)
        yield last + self._final_comment(framing) + framing.close()

    def _end_stream(self, converter: StreamConverter) -> None:
        self.report.answer = converter.losses
        if converter.end is not None:
            self.report.usage = converter.end.response.usage
            error = converter.end.response.error
            if error is not None and self.report.ended != "left":
                self.report.ended, self.report.error = "failed", error.kind or error.code
        self._complete()

    async def _with_keep_alives(
        self, chunks: AsyncIterator[bytes], framing: Framing
    ) -> AsyncGenerator[bytes | None, None]:
        """Yield the chunks, and None whenever none arrived for the time of a heartbeat."""
        while True:
            waiting = asyncio.ensure_future(anext(chunks, b""))
            try:
                while not (await asyncio.wait({waiting}, timeout=self.config.limits.heartbeat))[0]:
                    yield None
            except BaseException:
                waiting.cancel()
                raise
            chunk = waiting.result()
            if not chunk:
                return
            yield chunk

    def _keep_alive(self, framing: Framing) -> bytes:
        return b"\n" if framing.is_array else self._front.http.keep_alive

    def _final_comment(self, framing: Framing) -> bytes:
        """Return a comment with the counts of all losses, if the clients of this API ignore comments."""
        if framing.is_array or not self._front.http.comments:
            return b""
        return f": {LOSSES_HEADER} {self.report.counts()}\n\n".encode()

    # -- the same API --------------------------------------------------------------------------------------------------

    async def _passed(self, sender: Sender, response: httpx2.Response) -> Reply:
        """Pass the bytes of an answer through."""
        headers = {name: value for name, value in response.headers.items() if name not in HOP_HEADERS}
        chunks = response.aiter_raw()
        try:
            first = await anext(chunks, b"")
        except (httpx2.HTTPError, OSError) as error:
            raise sender.broken(error) from None
        return self._begun(Reply(response.status_code, self._raw(first, chunks, response), headers))

    async def _raw(
        self, first: bytes, chunks: AsyncIterator[bytes], response: httpx2.Response
    ) -> AsyncGenerator[bytes, None]:
        self.report.ended = "left"
        try:
            yield first
            async for chunk in chunks:
                yield chunk
            self.report.ended = "complete"
        except (httpx2.HTTPError, OSError):
            # The client's connection is closed in the middle as well: it sees what happened upstream.
            self.report.ended = "failed"
            raise
        finally:
            await response.aclose()
            self._complete()

    # -- ends ----------------------------------------------------------------------------------------------------------

    def failed(self, sender: Sender, error: UpstreamError) -> Reply:
        """Return the error of the last upstream in the client's API; unchanged, if it is the same API."""
        self.report.error = error.kind
        secrets = (sender.key, self.key)
        if error.status is not None and error.body and sender.api == self._front.api:
            headers = {name: value for name, value in error.headers.items() if name not in HOP_HEADERS}
            return self.finished(Reply(error.status, without(error.body, secrets), headers))
        origin = Origin(api=sender.api, issuer=sender.adapter.issuer) if error.body else None
        reply = self._front.error(error.error, error.limits, origin)
        name = error.headers.get(sender.http.request_id)
        headers = reply.headers if name is None else {**reply.headers, self._front.http.request_id: name}
        assert isinstance(reply.body, bytes)
        return self.finished(Reply(reply.status, without(reply.body, secrets), headers))

    def _begun(self, reply: Reply) -> Reply:
        """Return the reply of a stream with the gateway's headers."""
        self.report.status, self.report.first_byte = reply.status, round(time.monotonic() - self._began, 4)
        stream_headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        return Reply(reply.status, reply.body, {**stream_headers, **reply.headers, **self._own_headers()})

    def finished(self, reply: Reply) -> Reply:
        """Return a whole reply with the gateway's headers, and complete the report."""
        self.report.status = reply.status
        self._complete()
        return Reply(reply.status, reply.body, {**reply.headers, **self._own_headers()})

    def _own_headers(self) -> dict[str, str]:
        losses = {LOSSES_HEADER: counted((*self.report.request, *self.report.answer))}
        upstream = {} if self.report.upstream is None else {UPSTREAM_HEADER: self.report.upstream}
        return {ID_HEADER: self.report.id, **losses, **upstream}

    def _complete(self) -> None:
        self.report.seconds = round(time.monotonic() - self._began, 4)
        log(self.report)


def route_of(config: GatewayConfig, model: str) -> Route:
    """Return the first route of a model. Raise GatewayError if there is none."""
    for route in config.routes:
        if route.matches(model):
            return route
    known = ", ".join(pattern for route in config.routes for pattern in route.models)
    raise GatewayError("not_found", f"the gateway has no route for the model {model!r:.200}: it has {known}")


def _bad_answer(sender: Sender, why: str) -> UpstreamError:
    """Return the error for an answer that is not valid."""
    return UpstreamError(ErrorContent(message=f"{sender.shown} sent no valid answer: {why}", kind="server"), status=502)
