"""One request of a client, from its route to its answer: tries, fallbacks, streams, and the report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
import httpx2
import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import DecodeError
from contentmodel.events import TurnError
from contentmodel.gateway.config import GatewayConfig, Route, Target
from contentmodel.gateway.conversations import Conversations, Thread
from contentmodel.gateway.front import (
    BrokenStreamError,
    Front,
    GatewayError,
    Incoming,
    Reply,
    Scrubbing,
    secrets_of,
    without,
)
from contentmodel.gateway.metering import Meter, read_usage
from contentmodel.gateway.report import ID_HEADER, LOSSES_HEADER, UPSTREAM_HEADER, Attempt, Report, log, logger, short
from contentmodel.gateway.state import StateKeys
from contentmodel.gateway.streams import Conversion, sniffed
from contentmodel.gateway.translation import Answer, Framing, Outgoing, Request
from contentmodel.gateway.upstream import (
    FAILURES,
    Sender,
    TooLargeError,
    UpstreamError,
    bad_answer,
    bounded,
    has_contents,
    headers_to_pass,
    refusal,
    wait_to_repeat,
)
from contentmodel.limits import read_limits, write_limits
from contentmodel.message import Origin
from contentmodel.streams import StreamConverter

BINARY = "application/vnd.amazon.eventstream"
"""The type of streams whose frames have lengths and checksums: their bytes cannot be changed."""
CHECK_AFTER = 0.02
"""The seconds after which the rules of a converted request are checked: it was sent, and its answer takes longer."""
LARGE = 256 * 1024
"""The size in bytes from which a body is converted in a thread, so that other requests are not delayed."""

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
        on_complete: Callable[[Report], None] = log,
        conversations: Conversations | None = None,
        state: StateKeys | None = None,
    ) -> None:
        self._state = state
        self._conversations = conversations or Conversations()
        self._thread: Thread | None = None
        self._outgoing: Outgoing | None = None
        self.config, self.senders, self.client = config, senders, client
        self.incoming, self.report, self.key = incoming, report, key
        self._front: Front = incoming.front
        self._on_complete = on_complete
        self._began = time.monotonic()

    async def answer(self) -> Reply:
        """Return the answer of the first upstream that gives one, or an error in the client's API."""
        return await self.guarded(self._answered)

    async def guarded(self, work: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the reply of `work`. A refusal of the gateway becomes an error in the client's API."""
        try:
            reply = await work()
        except GatewayError as error:
            self.report.error = error.error.kind
            reply = self.finished(self._front.refusal(error))
        except asyncio.CancelledError:
            self.report.ended = "left"
            self._complete()
            raise
        except Exception:
            logger.exception("request %s failed", self.report.id)
            failure = ErrorContent(message="the gateway failed: its log has the cause", kind="server")
            self.report.error = failure.kind
            reply = self.finished(self._front.error(failure))
        if isinstance(reply.body, bytes):
            self._complete()
        return reply

    async def _answered(self) -> Reply:
        route = self.route()
        request = self.request(self.incoming, route)
        last: tuple[Sender, UpstreamError] | None = None
        try:
            for target in self._in_order(request, self._available(route)):
                sender = self.senders[target.upstream]
                request.route = route.at(target, self.config.upstreams)
                outgoing = await self._run(self._prepared, request, sender, await self.thread(request, sender))
                self.describe(sender, outgoing)
                if outgoing.thread is not None:
                    await outgoing.thread.begin()
                reply = await self._tried(sender, outgoing, request.route)
                if isinstance(reply, Reply):
                    self._thread = None if self._thread is outgoing.thread else self._thread
                    return reply
                last = sender, reply
                if reply.failure not in route.fallback_on:
                    break
        finally:
            if self._thread is not None:
                await self._thread.abandon()
        assert last is not None
        return self.failed(*last)

    def route(self) -> Route:
        """Return the route of the request. Raise GatewayError if there is none."""
        route = route_of(self.config, self.incoming.model)
        self.report.route = route.name
        return route

    def _available(self, route: Route) -> Sequence[Target]:
        """Return the targets of a route whose upstreams are not skipped; the first one, if all are."""
        open_ones = [target for target in route.targets if not self.senders[target.upstream].circuit.is_open]
        return open_ones or route.targets[:1]

    def request(self, incoming: Incoming, route: Route) -> Request:
        """Return the request, for conversion."""
        return Request(incoming, route, self._state, self.key)

    def _in_order(self, request: Request, targets: Sequence[Target]) -> Sequence[Target]:
        """Return the targets in the order in which they are tried: first the one that issued the newest state."""
        if len(targets) < 2 or not request.has_envelopes:
            return targets
        return sorted(targets, key=lambda target: not request.issued_by(self.senders[target.upstream]))

    async def thread(self, request: Request, sender: Sender) -> Thread | None:
        """Return the kept conversation of a request; None if its API keeps none, or if the upstream has the same API.

        Raise GatewayError if the request refers to something that the gateway does not have.
        """
        if sender.api == self._front.api or not self._front.http.keeps_conversations:
            return None
        if self._thread is None:
            self._thread = await self._conversations.thread(request, self.report.notes)
        return self._thread

    def _prepared(self, request: Request, sender: Sender, thread: Thread | None) -> Outgoing:
        """Return the request for an upstream. A large one is checked at once, because this is done in a thread."""
        outgoing = request.outgoing(sender, thread)
        if len(self.incoming.body) >= LARGE:
            _ = outgoing.violations
        return outgoing

    def describe(self, sender: Sender, outgoing: Outgoing) -> None:
        """Record where the request goes, and what it lost. The rules that it breaks are found while it is answered."""
        report = self.report
        report.upstream, report.upstream_api, report.upstream_model = sender.name, sender.api, short(outgoing.model)
        report.passed_through = outgoing.passes
        report.describe_request(outgoing.losses)
        self._outgoing = outgoing
        asyncio.get_running_loop().call_later(CHECK_AFTER, self._check, outgoing)

    def _check(self, outgoing: Outgoing) -> None:
        """Record the rules that a request breaks, if it is the latest one and the report is not complete."""
        if outgoing is not self._outgoing:
            return
        self._outgoing = None
        try:
            self.report.describe_violations(outgoing.violations)
        except Exception:
            logger.exception("the rules of request %s cannot be checked", self.report.id)

    async def _run(self, function: Callable[..., T], *arguments: Any, size: int = 0) -> T:
        """Call a function, in a thread if the request, or an answer of `size` bytes, is large."""
        if max(size, len(self.incoming.body)) < LARGE:
            return function(*arguments)
        return await anyio.to_thread.run_sync(partial(function, *arguments))

    # -- tries ---------------------------------------------------------------------------------------------------------

    async def _tried(self, sender: Sender, outgoing: Outgoing, route: Route) -> Reply | UpstreamError:
        """Send the request, and again after failures that certainly caused no answer."""
        retries = 0 if sender.circuit.was_open else sender.upstream.retries
        for attempt in range(retries + 1):
            began = time.time()
            sender.circuit.tried()
            try:
                reply = await self._sent(sender, outgoing, route)
            except UpstreamError as error:
                self._note(sender, outgoing, began, error.status, error.kind)
                if error.kind in FAILURES:
                    sender.circuit.failed(error.kind)
                elif error.kind == "rate_limit":
                    sender.circuit.limited(error.limits.retry_after)
                else:
                    sender.circuit.succeeded()
                is_last = attempt == retries
                if is_last or not error.may_repeat:
                    return error
                if not await wait_to_repeat(error, attempt, sender.upstream.retry_wait):
                    return error
            else:
                sender.circuit.succeeded()
                self._note(sender, outgoing, began, 200)
                return reply
        raise AssertionError("unreachable: the last try returns")

    def _note(
        self, sender: Sender, outgoing: Outgoing, began: float, status: int | None, error: str | None = None
    ) -> None:
        attempt = Attempt(
            upstream=sender.name,
            api=sender.api,
            model=short(outgoing.model),
            status=status,
            error=None if error is None else short(error),
            started=round(began, 4),
            seconds=round(time.time() - began, 4),
        )
        self.report.attempts = [*self.report.attempts, attempt]

    async def _sent(self, sender: Sender, outgoing: Outgoing, route: Route) -> Reply:
        headers = sender.headers(self.incoming.headers, self.key, same_api=outgoing.passes)
        method = sender.http.method(streams=outgoing.streams)
        if outgoing.passes and self.incoming.framing == "array":
            method = msgspec.structs.replace(method, query={})
        response = await sender.send(self.client, method, outgoing.model, outgoing.body, headers)
        try:
            if outgoing.passes:
                return await self._passed(sender, response)
            answer = Answer(self.incoming, sender, outgoing, route.choices, self._secrets(sender))
            chunks: AsyncIterator[bytes] = response.aiter_bytes()
            is_stream = sender.stream_format.is_type(response.headers.get("content-type", ""))
            if outgoing.streams and not is_stream:
                is_stream, chunks = await self._sniffed(sender, chunks)
            if outgoing.streams and is_stream:
                return await self._streamed(sender, response, chunks, answer)
            return await self._whole(sender, response, chunks, answer)
        except BaseException:
            await response.aclose()
            raise

    async def _sniffed(self, sender: Sender, chunks: AsyncIterator[bytes]) -> tuple[bool, AsyncIterator[bytes]]:
        """Return whether a body without the content type of streams is one, and its chunks."""
        try:
            return await sniffed(chunks, sender.stream_format)
        except (httpx2.HTTPError, OSError) as error:
            raise sender.broken(error) from None

    # -- whole answers -------------------------------------------------------------------------------------------------

    async def _whole(
        self, sender: Sender, response: httpx2.Response, chunks: AsyncIterator[bytes], answer: Answer
    ) -> Reply:
        body = await self.body_of(sender, response, chunks)
        try:
            repeated = (
                None if self.incoming.streams else await self._run(answer.repeated, body, self.report, size=len(body))
            )
            reply = repeated or await self._by_model(sender, response, body, answer)
        except DecodeError as error:
            raise bad_answer(sender, str(error)) from None
        if answer.thread is not None:
            await answer.thread.end()
        return self.finished(Reply(reply.status, reply.body, {**self._passed_on(sender, response), **reply.headers}))

    async def _by_model(self, sender: Sender, response: httpx2.Response, body: bytes, answer: Answer) -> Reply:
        """Convert a whole answer through the model. Raise UpstreamError if it is an error."""
        value, trace = await self._run(answer.read, body, size=len(body))
        if value.error is not None and not has_contents(value):
            raise refusal(sender, response, value.error)
        if not self.incoming.streams:
            return await self._run(answer.whole, value, trace, self.report, size=len(body))
        data = await self._run(answer.as_stream, value, self.report, size=len(body))
        framing = Framing(self.incoming)
        return Reply(200, framing.feed(data) + framing.close(), {"content-type": framing.media_type})

    async def body_of(self, sender: Sender, response: httpx2.Response, chunks: AsyncIterator[bytes]) -> bytes:
        """Read the body of an answer, and close the response."""
        try:
            body = b"".join([chunk async for chunk in bounded(chunks, self.config.limits.answer_bytes)])
        except TooLargeError:
            raise bad_answer(sender, "it is larger than the limit answer_bytes of the gateway") from None
        except (httpx2.HTTPError, OSError) as error:
            raise sender.broken(error) from None
        await response.aclose()
        return body

    def _passed_on(self, sender: Sender, response: httpx2.Response) -> dict[str, str]:
        """Return the headers of a converted answer: the id of the upstream's request, and the rate limits."""
        headers = write_limits(read_limits(response.headers, sender.api), self._front.api)
        name = response.headers.get(sender.http.request_id)
        if name is not None:
            headers = {**headers, self._front.http.request_id: name}
        return {name: without(value, sender.secrets) for name, value in headers.items()}

    # -- streams -------------------------------------------------------------------------------------------------------

    async def _streamed(
        self, sender: Sender, response: httpx2.Response, chunks: AsyncIterator[bytes], answer: Answer
    ) -> Reply:
        """Return a stream. Its first event is awaited here: until then, another upstream can be tried.

        An upstream that sends comments only is working. After a heartbeat without an event, the stream begins.
        """
        converter, framing = answer.converter(), Framing(self.incoming)
        conversion = Conversion(chunks, converter, self._front, answer.thread)
        pieces = conversion.pieces(self.config.limits.heartbeat)
        first: bytes | None = b""
        try:
            while first == b"" and converter.end is None:
                first = await anext(pieces, None)
            if isinstance(converter.end, TurnError) and not has_contents(converter.end.response):
                if conversion.failure is not None:
                    raise sender.broken(conversion.failure)
                raise refusal(sender, response, converter.end.error)
        except BaseException:
            await pieces.aclose()
            raise
        body = self._sending(first, pieces, sender, response, answer, converter, framing)
        headers = {**self._passed_on(sender, response), "content-type": framing.media_type}
        return self._begun(Reply(200, body, headers))

    async def _sending(
        self,
        first: bytes | None,
        pieces: AsyncGenerator[bytes | None, None],
        sender: Sender,
        response: httpx2.Response,
        answer: Answer,
        converter: StreamConverter,
        framing: Framing,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of a converted stream for the client. Close the response at the end."""
        try:
            async with aclosing(pieces):
                yield self._framed(first, framing)
                async for piece in pieces:
                    yield self._framed(piece, framing)
            self.report.ended = "complete"
        finally:
            await response.aclose()
            if answer.thread is not None:
                await answer.thread.end()
            self._end_stream(converter)
        yield self._final_comment(framing) + framing.close()

    def _framed(self, piece: bytes | None, framing: Framing) -> bytes:
        if piece is None:
            return b"\n" if framing.is_array else self._front.http.keep_alive
        return framing.feed(piece)

    def _end_stream(self, converter: StreamConverter) -> None:
        self.report.describe_answer(converter.losses, self.report.usage)
        self.report.ended, self.report.partial = self.report.ended or "left", converter.end is None
        self.report.usage = converter.leave()
        if converter.end is not None:
            # A client may leave after the last event.
            self.report.ended = "complete"
        if isinstance(converter.end, TurnError):
            error = converter.end.error
            self.report.ended, self.report.error = "failed", short(error.kind or error.code or "server")
        self._complete()

    def _final_comment(self, framing: Framing) -> bytes:
        """Return a comment with the counts of all losses, if the clients of this API ignore comments."""
        if framing.is_array or not self._front.http.comments:
            return b""
        return f": {LOSSES_HEADER} {self.report.counts()}\n".encode()

    # -- the same API --------------------------------------------------------------------------------------------------

    async def _passed(self, sender: Sender, response: httpx2.Response) -> Reply:
        """Pass the bytes of an answer through. A whole one is read first: until then, another upstream can be tried."""
        passed = headers_to_pass(response.headers, is_decoded=False)
        headers = {name: without(value, sender.secrets) for name, value in passed.items()}
        chunks = response.aiter_raw()
        if not self.incoming.streams:
            body = without(await self.body_of(sender, response, chunks), sender.secrets)
            await self._run(read_usage, sender, response.headers, body, self.report, size=len(body))
            return self.finished(Reply(response.status_code, body, headers))
        try:
            first = await anext(chunks, b"")
        except (httpx2.HTTPError, OSError) as error:
            raise sender.broken(error) from None
        return self._begun(Reply(response.status_code, self._raw(sender, first, chunks, response), headers))

    async def _raw(
        self, sender: Sender, first: bytes, chunks: AsyncIterator[bytes], response: httpx2.Response
    ) -> AsyncGenerator[bytes, None]:
        scrubbing = Scrubbing(() if sender.stream_format.media_type == BINARY else sender.secrets)
        meter = Meter(sender, response.headers, self.report)
        try:
            meter.feed(first)
            yield scrubbing.feed(first)
            async for chunk in chunks:
                meter.feed(chunk)
                yield scrubbing.feed(chunk)
            yield scrubbing.close()
            self.report.ended = "complete"
        except (httpx2.HTTPError, OSError):
            # The client's connection is closed in the middle as well: the client gets what the upstream sent.
            self.report.ended, self.report.error = "failed", "server"
            raise BrokenStreamError from None
        finally:
            await response.aclose()
            self.report.ended = self.report.ended or "left"
            meter.close()
            self._complete()

    # -- ends ----------------------------------------------------------------------------------------------------------

    def failed(self, sender: Sender, error: UpstreamError) -> Reply:
        """Return the error of the last upstream in the client's API; unchanged, if it is the same API."""
        self.report.error = short(error.kind)
        if error.status in (401, 403) and not sender.takes_client_key:
            error = sender.refused_credentials(error)
        elif error.status is not None and error.body and sender.speaks(self._front):
            passed = headers_to_pass(error.headers, is_decoded=True)
            headers = {name: without(value, self._secrets(sender)) for name, value in passed.items()}
            return self.finished(Reply(error.status, without(error.body, self._secrets(sender)), headers))
        origin = Origin(api=sender.api, issuer=sender.adapter.issuer) if error.is_reported else None
        reply = self._front.error(error.for_client, error.limits, origin)
        name = error.headers.get(sender.http.request_id)
        headers = reply.headers if name is None else {**reply.headers, self._front.http.request_id: name}
        headers = {name: without(value, self._secrets(sender)) for name, value in headers.items()}
        assert isinstance(reply.body, bytes)
        status = 502 if error.is_of_gateway else reply.status
        return self.finished(Reply(status, without(reply.body, self._secrets(sender)), headers))

    def _secrets(self, sender: Sender) -> tuple[str, ...]:
        """Return what no error may contain: the secrets of the upstream, and the key of the client."""
        return sender.secrets + secrets_of(self.key)

    def _begun(self, reply: Reply) -> Reply:
        """Return the reply of a stream with the gateway's headers."""
        self.report.status, self.report.first_byte = reply.status, round(time.monotonic() - self._began, 4)
        stream_headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        return Reply(reply.status, reply.body, {**stream_headers, **reply.headers, **self._own_headers()})

    def finished(self, reply: Reply) -> Reply:
        """Return a whole reply with the gateway's headers."""
        self.report.status = reply.status
        return Reply(reply.status, reply.body, {**reply.headers, **self._own_headers()})

    def _own_headers(self) -> dict[str, str]:
        upstream = {} if self.report.upstream is None else {UPSTREAM_HEADER: self.report.upstream}
        return {ID_HEADER: self.report.id, LOSSES_HEADER: self.report.counts(), **upstream}

    def _complete(self) -> None:
        if self._outgoing is not None:
            self._check(self._outgoing)
        self.report.seconds = round(time.monotonic() - self._began, 4)
        self._on_complete(self.report)


def route_of(config: GatewayConfig, model: str) -> Route:
    """Return the first route of a model. Raise GatewayError if there is none."""
    for route in config.routes:
        if route.matches(model):
            return route
    known = ", ".join(pattern for route in config.routes for pattern in route.models)
    raise GatewayError("not_found", f"the gateway has no route for the model {model!r:.200}: it has {known}")
