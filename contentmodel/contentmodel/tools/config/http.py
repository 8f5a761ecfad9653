"""Make one HTTP call with limits on its time, its size, and its host.

The whole call has one deadline. The timeouts of an HTTP client limit only each read, so a server that slowly sends
single bytes could keep a call open for hours. The call is made on a thread, which is abandoned after the deadline.
"""

from __future__ import annotations

import codecs
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.display import count_of
from contentmodel.extras import needs_extra
from contentmodel.tools.background import TimedOut, run_within
from contentmodel.tools.config.clients import Clients, authorization, private_url, redact_log, shown_url
from contentmodel.tools.config.faults import ExecutorError, ExecutorTimeoutError
from contentmodel.tools.outcome import ToolOutcome

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 4 * 2**20
"""The maximum size of an answer in bytes, after decompression."""
MAX_REDIRECTS = 5
MAX_ERROR_TEXT = 2000
"""The number of characters of a failed call's body that are put into the error."""

_JSON = re.compile(r"application/(json|.*\+json)|text/json")
_TEXT = re.compile(r"text/.*|application/(xml|.*\+xml|javascript|yaml|x-yaml|x-www-form-urlencoded)")


@dataclass(frozen=True)
class Answer:
    """A server's answer; `body` is complete and decompressed."""

    status: int
    reason: str
    media_type: str
    charset: str | None
    body: bytes

    @property
    def is_json(self) -> bool:
        return _JSON.fullmatch(self.media_type) is not None

    @property
    def is_text(self) -> bool:
        return self.is_json or _TEXT.fullmatch(self.media_type) is not None

    def text(self) -> tuple[str, bool]:
        """Return the body as text, and whether all of it could be decoded."""
        try:
            return self.body.decode(_charset(self.charset)), True
        except (UnicodeError, LookupError):
            return self.body.decode("utf-8", "replace"), False


class Endpoint:
    """A base URL for repeated calls, from any thread.

    The name and password of `url` become an Authorization header. The log shows only scheme, host and path of request
    URLs. Raise ValueError if `url` is not an http or https URL.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None,
        client: httpx2.Client | None,
        timeout: float,
        max_bytes: int,
    ) -> None:
        with needs_extra("tools"):
            import httpx2

        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, TypeError):
            raise ValueError("the URL is not valid; example: https://host/path") from None
        if parsed.scheme not in ("http", "https") or not parsed.host or parsed.fragment:
            raise ValueError("the URL must begin with http:// or https:// and a host, and have no fragment")
        self.url = parsed.copy_with(userinfo=b"")
        self._headers = {**authorization(parsed.username, parsed.password), **_lower(headers or {})}
        self._timeout, self._max_bytes = timeout, max_bytes
        self._clients = Clients(client)
        redact_log()

    @property
    def shown(self) -> str:
        """The URL without parts that may be secret: name, password and query."""
        return shown_url(self.url)

    def exchange(self, method: str, url: httpx2.URL, body: bytes | None, accept: str = "*/*") -> Answer:
        """Send one request and read the whole answer. Raise ExecutorError if it fails or exceeds a limit."""
        with self._clients.lent() as client:
            call = partial(self._exchange, client, method, url, body, accept)
            try:
                return run_within(call, self._timeout, "HTTP call")
            except TimedOut:
                self._clients.leave(client)
                raise _late(self._timeout) from None

    def _exchange(self, client: httpx2.Client, method: str, url: httpx2.URL, body: bytes | None, accept: str) -> Answer:
        import httpx2

        deadline = time.monotonic() + self._timeout
        try:
            request = self._request(client, method, url, body, accept)
            for _ in range(MAX_REDIRECTS + 1):
                answer = self._once(client, request, deadline)
                if isinstance(answer, Answer):
                    return answer
                request = answer
        except httpx2.TimeoutException:
            raise _late(self._timeout) from None
        except zlib.error:
            raise ExecutorError("the API's answer is not valid compressed data") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError, ValueError) as error:
            # Without the cause and its message: they may contain a header or the URL.
            raise ExecutorError(f"the API could not be reached: {type(error).__name__}") from None
        raise ExecutorError(f"the API redirected more than {MAX_REDIRECTS} times")

    def close(self) -> None:
        """Close the connections, unless the client was given."""
        self._clients.close()

    def _request(
        self, client: httpx2.Client, method: str, url: httpx2.URL, body: bytes | None, accept: str
    ) -> httpx2.Request:
        fixed = {"accept": accept}
        if body is not None:
            fixed["content-type"] = "application/json"
        headers = {**fixed, **self._headers, "accept-encoding": "gzip"}
        return client.build_request(method, url, content=body, headers=headers)

    def _once(self, client: httpx2.Client, request: httpx2.Request, deadline: float) -> Answer | httpx2.Request:
        """Send one request. Return the answer, or the next request of a redirect."""
        import httpx2

        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise _late(self._timeout)
        request.extensions = {**request.extensions, "timeout": httpx2.Timeout(remaining).as_dict()}
        request.url = private_url(request.url)
        response = client.send(request, stream=True, follow_redirects=False)
        try:
            if response.next_request is not None:
                return self._redirected(request, response.next_request)
            body = b"".join(self._bounded(response, deadline))
        finally:
            response.close()
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Answer(response.status_code, response.reason_phrase, media_type, response.charset_encoding, body)

    def _redirected(self, request: httpx2.Request, to: httpx2.Request) -> httpx2.Request:
        before, after = request.url, to.url
        if (before.scheme, before.host, before.port) != (after.scheme, after.host, after.port):
            raise ExecutorError(
                "the API redirected to another host; such redirects are not followed. Call that host instead"
            )
        return to

    def _bounded(self, response: httpx2.Response, deadline: float) -> Iterator[bytes]:
        """Yield the body in pieces, decompressed here with a limit: a few bytes may expand to fill all memory."""
        if response.is_stream_consumed:
            # A custom transport, not a network, may return the whole body at once.
            yield self._whole(response.content)
            return
        decoder = _decoder(response.headers.get("content-encoding", "").strip().lower())
        remaining = self._max_bytes
        for raw in response.iter_raw():
            if time.monotonic() > deadline:
                raise _late(self._timeout)
            piece = decoder.decode(raw, remaining + 1)
            remaining -= len(piece)
            if remaining < 0:
                raise self._too_much()
            yield piece
        if not decoder.is_whole:
            raise ExecutorError("the API's answer is incomplete")

    def _whole(self, body: bytes) -> bytes:
        if len(body) > self._max_bytes:
            raise self._too_much()
        return body

    def _too_much(self) -> ExecutorError:
        return ExecutorError(f"the API's answer has more than {self._max_bytes:,} bytes: ask for less")


def contents_of_answer(answer: Answer, subject: str) -> ToolOutcome:
    """Convert an answer to contents. A status other than 2xx becomes an error with the beginning of the body."""
    if not 200 <= answer.status < 300:
        return ToolOutcome(failure(answer, subject))
    if not answer.body:
        return ToolOutcome([TextContent(text=f"{answer.status} {answer.reason}: done; the answer is empty")])
    if not answer.media_type and _is_utf8(answer.body):
        return ToolOutcome([TextContent(text=answer.body.decode())])
    if answer.is_text:
        text, whole = answer.text()
        note = (
            None if whole else "Some bytes of the answer are not text; each is replaced by \N{REPLACEMENT CHARACTER}."
        )
        return ToolOutcome([TextContent(text=text)], note=note)
    media_type = answer.media_type or "application/octet-stream"
    return ToolOutcome([DataContent.from_bytes(answer.body, media_type)])


def failure(answer: Answer, subject: str) -> list[AIContent]:
    """Convert the answer of a failed call to an error with its status and body."""
    text = answer.text()[0] if answer.is_text or _is_utf8(answer.body) else count_of(len(answer.body), "byte")
    shown = text if len(text) <= MAX_ERROR_TEXT else f"{text[:MAX_ERROR_TEXT]}… ({len(text):,} characters)"
    message = f"{subject} failed: {answer.status} {answer.reason}".rstrip() + (f": {shown}" if shown else "")
    details: dict[str, Any] = {"status": answer.status, "body": shown}
    return [ErrorContent(message=message, code="http_error", details=details)]


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _late(seconds: float) -> ExecutorError:
    return ExecutorTimeoutError(f"the API did not answer within {seconds:g} seconds")


class _Plain:
    """A decoder for bytes that are not compressed."""

    is_whole = True

    def decode(self, raw: bytes, most: int) -> bytes:
        return raw


class _Compressed:
    """A decoder for gzip or zlib that limits the bytes of each step."""

    def __init__(self) -> None:
        self._inflater: Any = None

    @property
    def is_whole(self) -> bool:
        """True if the compressed data so far are complete."""
        return self._inflater is None or bool(self._inflater.eof)

    def decode(self, raw: bytes, most: int) -> bytes:
        data = b""
        while raw and len(data) < most:
            if self.is_whole:
                # Start of a gzip member: the first, or a following one.
                self._inflater = zlib.decompressobj(47)
            data += self._inflater.decompress(raw, most - len(data))
            raw = self._inflater.unused_data
        return data


def _decoder(encoding: str) -> _Plain | _Compressed:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Compressed()
    raise ExecutorError("the API compressed its answer with an encoding that was not requested")


def _charset(charset: str | None) -> str:
    """Return the codec name of a charset. Refuse Python codecs that are not a charset: some are very slow."""
    name = codecs.lookup(charset or "utf-8").name
    if name in ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"):
        raise LookupError(name)
    return name


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
