"""Send requests to an upstream, and classify its failures. Converts nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import DecodeError
from contentmodel.events import ENDED, MALFORMED
from contentmodel.failures import error_kind, kind_of_status
from contentmodel.framing import stream_format_of
from contentmodel.gateway.config import Cooldown, Failure, Upstream, host_policies
from contentmodel.gateway.cooldown import Circuit
from contentmodel.gateway.front import Front, GatewayError, secrets_of
from contentmodel.gateway.recording import CURRENT
from contentmodel.http_api import HttpApi, HttpMethod
from contentmodel.json import parse
from contentmodel.limits import RateLimits, read_limits
from contentmodel.response import ChatResponse

MAX_ERROR = 2**20
"""The size of an upstream's error in bytes that is read."""

NO_ANSWER = ("rate_limit", "overloaded")
"""The kinds of errors that certainly cost nothing: the same request may be sent again."""

UNREACHABLE = "unreachable"
"""The kind of the error if no connection to the upstream could be made."""

FALLBACKS: dict[str, Failure] = {
    UNREACHABLE: "connection",
    "rate_limit": "rate_limit",
    "overloaded": "overloaded",
    "server": "server",
    "timeout": "timeout",
    "context_length": "context",
    "too_large": "context",
    "authentication": "auth",
    "permission": "auth",
    "billing": "auth",
}
"""The word of `fallback_on` for each kind of error. Other kinds are faults of the request."""

FAILURES = (UNREACHABLE, "timeout", "server", "overloaded")
"""The kinds of errors that count as failures of the upstream itself."""


class UpstreamError(Exception):
    """An upstream gave no answer. `error` is the reason, `status` and `body` are its own if it sent a response.

    `is_of_gateway` is true if the fault is between the gateway and its upstream: the client gets status 502.

    `sent` is false if the upstream certainly did not work on the request. `is_reported` is true if the upstream
    reported the error itself.
    """

    def __init__(
        self,
        error: ErrorContent,
        *,
        status: int | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        limits: RateLimits | None = None,
        sent: bool = True,
        is_reported: bool = False,
        is_of_gateway: bool = False,
    ) -> None:
        super().__init__(error.message)
        self.is_reported, self.is_of_gateway = is_reported, is_of_gateway
        self.error, self.status, self.body, self.sent = error, status, body, sent
        self.headers = dict(headers or {})
        self.limits = limits or RateLimits()

    @property
    def kind(self) -> str:
        """The kind of the error (`contentmodel.failures.STATUSES`)."""
        return error_kind(self.error) or "server"

    @property
    def for_client(self) -> ErrorContent:
        """The error that the client gets. No API has an error for an upstream that is not reached."""
        return msgspec.structs.replace(self.error, kind="server") if self.kind == UNREACHABLE else self.error

    @property
    def may_repeat(self) -> bool:
        """True if the same request may be sent again without the risk of a second answer."""
        return not self.sent or (self.status is not None and self.kind in NO_ANSWER)

    @property
    def failure(self) -> Failure | None:
        """The word of `fallback_on` for the error; None if the request caused it."""
        return FALLBACKS.get(self.kind)


class Sender:
    """Sends the requests of one upstream. `key` is its API key; None to send the client's."""

    def __init__(
        self,
        name: str,
        upstream: Upstream,
        http: HttpApi,
        adapter: Any,
        key: str | None,
        cooldown: Cooldown | None = None,
    ) -> None:
        self.circuit = Circuit(cooldown or Cooldown())
        self.name, self.upstream, self.http, self.adapter = name, upstream, http, adapter
        self.api, self.dialect = upstream.api, upstream.dialect
        self.policies = host_policies(adapter, upstream.dialect)
        self.stream_format = stream_format_of(adapter, self.policies)
        self.key = key
        known = {*http.headers, *http.forwarded, "user-agent"}
        configured = [value for name, value in upstream.headers.items() if name.lower() not in known]
        self.secrets = secrets_of(key, configured)
        self.takes_client_key = upstream.key == "client"
        self.lanes: dict[object, Any] = {}
        """The lanes of requests and answers, by the client's API and the settings of the conversion."""
        self.last_headers: Mapping[str, str] = {}
        """The headers of the latest response."""
        self._base = (upstream.base_url or http.base_url).rstrip("/")
        self._timeout = httpx2.Timeout(upstream.timeout, connect=upstream.connect_timeout)

    def is_like(self, other: Sender) -> bool:
        """Return whether another sender has the same configuration."""
        mine, theirs = (
            (self.upstream, self.key, self.circuit.cooldown),
            (other.upstream, other.key, other.circuit.cooldown),
        )
        return mine == theirs

    def speaks(self, front: Front) -> bool:
        """Return whether clients of `front` use the same API, at the same host: bytes can be passed through."""
        return (self.api, self.dialect) == (front.api, front.dialect)

    def url(self, method: HttpMethod, model: str) -> str:
        """Return the URL of a method. The model cannot change the host or the path.

        Raise GatewayError if it would: `.` and `..` cannot be escaped in a path (RFC 3986, section 6.2.2.3).
        """
        try:
            path = method.path.replace("{model}", quote(model, safe=""))
        except UnicodeEncodeError:
            path = "/.."
        if {".", ".."} & set(path.split("/")):
            raise GatewayError("invalid_request", f"{model!r:.100} cannot be the name of a model of {self.shown}")
        query = f"?{urlencode(method.query)}" if method.query else ""
        return f"{self._base}{path}{query}"

    def headers(self, client: Mapping[str, str], client_key: str | None, *, same_api: bool) -> dict[str, str]:
        """Return the headers of a request. Those of the client are only sent to its own API."""
        names = self.http.forwarded if same_api else ()
        if same_api and self.takes_client_key and self.http.key_header not in client and "authorization" in client:
            # The client logs in with a token in place of a key.
            names, client_key = (*names, "authorization"), None
        key = client_key if self.takes_client_key else self.key
        return {
            **self.http.headers,
            **{name: client[name] for name in names if name in client},
            **({} if key is None else self.http.key_headers(key)),
            **{name.lower(): value for name, value in self.upstream.headers.items()},
            "content-type": "application/json",
            "accept-encoding": "identity",
        }

    async def send(
        self, client: httpx2.AsyncClient, method: HttpMethod, model: str, body: bytes, headers: Mapping[str, str]
    ) -> httpx2.Response:
        """Send a request and return the response, whose body is not read yet. Raise UpstreamError.

        The caller closes the response.
        """
        url, sent = self.url(method, model), [(n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items()]
        request = client.build_request("POST", url, content=body, headers=sent, timeout=self._timeout)
        try:
            response = await client.send(request, stream=True, follow_redirects=False)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise self.broken(error) from None
        self.last_headers = response.headers
        recording = CURRENT.get()
        if recording is not None:
            recording.sent(self, method.path, body, response)
        if response.status_code < 300:
            return response
        try:
            raise await self._refused(response)
        finally:
            await response.aclose()

    async def _refused(self, response: httpx2.Response) -> UpstreamError:
        status = response.status_code
        try:
            body = b"".join([chunk async for chunk in bounded(response.aiter_bytes(), MAX_ERROR)])
        except (httpx2.HTTPError, OSError, TooLargeError):
            body = b""
        if status < 400:
            error = ErrorContent(message=f"{self.shown} redirected the request (HTTP {status})", kind="server")
            return UpstreamError(error, status=502)
        parsed = _error_body(body)
        error = self._error_in(body, parsed, status)
        limits = read_limits(response.headers, self.api, body=parsed)
        return UpstreamError(
            error, status=status, body=body, headers=headers_of(response), limits=limits, is_reported=bool(body)
        )

    def _error_in(self, body: bytes, parsed: Any, status: int) -> ErrorContent:
        """Return the error of a body. A body that is not of this API becomes the message."""
        try:
            error: ErrorContent | None = self.adapter.decode_response(body if parsed is None else parsed).error
        except DecodeError:
            error = None
        if error is None:
            text = " ".join(body[:2000].decode("utf-8", "replace").split())
            error = ErrorContent(message=text or f"{self.shown} answered with HTTP {status}")
        if error_kind(error) in (None, "invalid_request", "server"):
            # The general error types are sent with many statuses: OpenAI's invalid_request_error also with 403 and 413.
            return msgspec.structs.replace(error, kind=kind_of_status(status))
        return error

    def refused_credentials(self, error: UpstreamError) -> UpstreamError:
        """Return the error for a client if the upstream refused the key of the gateway: the client has another one."""
        setting = f"`upstreams.{self.name}.key`"
        why = f"{self.shown} refused the credentials of the gateway (HTTP {error.status}): check {setting}"
        message = f"{why}: {error.error.message}" if error.error.message else why
        return UpstreamError(ErrorContent(message=message, kind="server"), is_of_gateway=True)

    def broken(self, error: Exception) -> UpstreamError:
        """Return the error for a failure of the transport. Its text may contain a URL or a header: it is left out."""
        name = type(error).__name__
        not_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)
        if isinstance(error, httpx2.TimeoutException):
            message, kind = f"{self.shown} did not answer in time ({name})", "timeout"
        elif not_sent:
            message, kind = f"{self.shown} could not be reached ({name})", UNREACHABLE
        else:
            message, kind = f"the connection to {self.shown} broke ({name})", "server"
        return UpstreamError(
            ErrorContent(message=message, kind=kind), sent=not not_sent, is_of_gateway=kind == UNREACHABLE
        )

    @property
    def shown(self) -> str:
        """The upstream for messages."""
        return f"the upstream {self.name}"


class TooLargeError(Exception):
    """A body has more bytes than its limit."""


async def bounded(chunks: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """Yield the chunks of a body. Raise TooLargeError if it has more than `most` bytes."""
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise TooLargeError
        yield chunk


async def wait_to_repeat(error: UpstreamError, attempt: int, longest: float) -> bool:
    """Wait before a request is repeated. Return False if the upstream asks for more time than `longest` seconds."""
    wanted = error.limits.retry_after
    wait = min(0.25 * 2**attempt, longest) if wanted is None else wanted
    if wait > longest:
        return False
    await asyncio.sleep(wait)
    return True


def bad_answer(sender: Sender, why: str) -> UpstreamError:
    """Return the error for an answer that is not valid."""
    return UpstreamError(ErrorContent(message=f"{sender.shown} sent no valid answer: {why}", kind="server"), status=502)


def refusal(sender: Sender, response: httpx2.Response, error: ErrorContent) -> UpstreamError:
    """Return the error for a response without an answer, although its status is one of success."""
    if error.code in (ENDED, MALFORMED):
        return bad_answer(sender, error.message)
    if error.kind is None:
        error = msgspec.structs.replace(error, kind=error_kind(error) or "server")
    limits = read_limits(response.headers, sender.api)
    return UpstreamError(
        error, status=response.status_code, headers=headers_of(response), limits=limits, is_reported=True
    )


def headers_of(response: httpx2.Response) -> dict[str, str]:
    """Return the headers of a response, with names in lower case. A str has the bytes of a value, as Latin-1."""
    headers: dict[str, str] = {}
    for name, value in response.headers.raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


HOP_HEADERS = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
) | {"upgrade", "content-length", "set-cookie", "server", "date", "alt-svc", "strict-transport-security"}
"""Headers that belong to one connection or one host. They are not passed on."""


def headers_to_pass(headers: Mapping[str, str], *, is_decoded: bool) -> dict[str, str]:
    """Return the headers of an answer that is passed through. `is_decoded` is whether its body was decompressed."""
    named = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    left_out = HOP_HEADERS | named | ({"content-encoding"} if is_decoded else set())
    return {name: value for name, value in headers.items() if name not in left_out}


def has_contents(response: ChatResponse) -> bool:
    """Return whether a response has any content."""
    return any(message.contents for choice in response.choices for message in choice.messages)


def _error_body(body: bytes) -> Any:
    """Return the JSON of a body, None if it is not JSON. Of a list of one object, return the object.

    Gemini sends an error in such a list for streams, and to clients of OpenAI (Simpleyyt/ai-manus#101,
    MinLL/SkyrimNet-GamePlugin#77; seen 2026-11-27).
    """
    try:
        parsed = parse(body)
    except DecodeError:
        return None
    is_list = isinstance(parsed, list) and len(parsed) == 1 and isinstance(parsed[0], dict)
    return parsed[0] if is_list else parsed
