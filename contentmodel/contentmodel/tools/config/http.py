"""One HTTP call, bounded: in time, in size, and in the host that it goes to.

The whole call has one deadline. The timeouts of an HTTP client bound each read alone, so a server that sends a byte now
and then could keep a call for hours: the call is made on a thread, which is left behind when its time is over.
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
from contentmodel.tools.aside import Late, within
from contentmodel.tools.config.clients import Clients, authorization, private_url, redact_log, shown_url
from contentmodel.tools.config.faults import ExecutorError, ExecutorTimeoutError
from contentmodel.tools.outcome import ToolOutcome

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 4 * 2**20
"""Bytes of an answer, after decompression."""
MAX_REDIRECTS = 5
MAX_ERROR_TEXT = 2000
"""Characters of the body of a failed call that are told."""

_JSON = re.compile(r"application/(json|.*\+json)|text/json")
_TEXT = re.compile(r"text/.*|application/(xml|.*\+xml|javascript|yaml|x-yaml|x-www-form-urlencoded)")


@dataclass(frozen=True)
class Answer:
    """What a server answered; `body` is all of it, decompressed."""

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
        """The body as text, and whether all of it could be read."""
        try:
            return self.body.decode(_charset(self.charset)), True
        except (UnicodeError, LookupError):
            return self.body.decode("utf-8", "replace"), False


class Endpoint:
    """A place of the web that is called again and again, from any thread.

    Name and password of `url` become an Authorization header. Of the URLs of requests, the log shows scheme, host and
    path alone. ValueError if `url` is no http or https URL.
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
        import httpx2

        try:
            given = httpx2.URL(url)
        except (httpx2.InvalidURL, TypeError):
            raise ValueError("this is no URL: it is written as https://host/path") from None
        if given.scheme not in ("http", "https") or not given.host or given.fragment:
            raise ValueError("the URL of an API begins with http:// or https:// and a host, and has no fragment")
        self.url = given.copy_with(userinfo=b"")
        self._headers = {**authorization(given.username, given.password), **_lower(headers or {})}
        self._timeout, self._max_bytes = timeout, max_bytes
        self._clients = Clients(client)
        redact_log()

    @property
    def shown(self) -> str:
        """The URL, without what may be a secret: name, password and query."""
        return shown_url(self.url)

    def exchange(self, method: str, url: httpx2.URL, body: bytes | None, accept: str = "*/*") -> Answer:
        """Send one request, and read all of the answer. Raise ExecutorError if there is none, or one beyond bounds."""
        with self._clients.lent() as client:
            call = partial(self._exchange, client, method, url, body, accept)
            try:
                return within(call, self._timeout, "HTTP call")
            except Late:
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
            raise ExecutorError("the API's answer is not compressed as it says") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError, ValueError) as error:
            # Without its cause and its words: they may show a header or the URL.
            raise ExecutorError(f"the API could not be reached: {type(error).__name__}") from None
        raise ExecutorError(f"the API redirected more than {MAX_REDIRECTS} times")

    def close(self) -> None:
        """Closes the connections, unless the client was given."""
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
        """The answer to one request, or the request that a redirect asks for."""
        import httpx2

        left = deadline - time.monotonic()
        if left <= 0:
            raise _late(self._timeout)
        request.extensions = {**request.extensions, "timeout": httpx2.Timeout(left).as_dict()}
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
            raise ExecutorError("the API redirected to another host, which is not followed: call that host instead")
        return to

    def _bounded(self, response: httpx2.Response, deadline: float) -> Iterator[bytes]:
        """The body in pieces, decompressed here: a few bytes can be made to grow beyond all memory."""
        if response.is_stream_consumed:
            # A transport that is no network's may give all of it at once.
            yield self._whole(response.content)
            return
        decoder = _decoder(response.headers.get("content-encoding", "").strip().lower())
        left = self._max_bytes
        for raw in response.iter_raw():
            if time.monotonic() > deadline:
                raise _late(self._timeout)
            piece = decoder.decode(raw, left + 1)
            left -= len(piece)
            if left < 0:
                raise self._too_much()
            yield piece
        if not decoder.is_whole:
            raise ExecutorError("the API's answer was cut short")

    def _whole(self, body: bytes) -> bytes:
        if len(body) > self._max_bytes:
            raise self._too_much()
        return body

    def _too_much(self) -> ExecutorError:
        return ExecutorError(f"the API's answer has more than {self._max_bytes:,} bytes: ask for less")


def contents_of_answer(answer: Answer, what: str) -> ToolOutcome:
    """An answer as contents. What has another status than 2xx is an error, with the body as far as it is shown."""
    if not 200 <= answer.status < 300:
        return ToolOutcome(failure(answer, what))
    if not answer.body:
        return ToolOutcome([TextContent(text=f"{answer.status} {answer.reason}: done, with nothing in the answer")])
    if not answer.media_type and _is_utf8(answer.body):
        return ToolOutcome([TextContent(text=answer.body.decode())])
    if answer.is_text:
        text, whole = answer.text()
        note = None if whole else "Some bytes of the answer are no text; \N{REPLACEMENT CHARACTER} stands for them."
        return ToolOutcome([TextContent(text=text)], note=note)
    media_type = answer.media_type or "application/octet-stream"
    return ToolOutcome([DataContent.from_bytes(answer.body, media_type)])


def failure(answer: Answer, what: str) -> list[AIContent]:
    """An answer that says that the call failed, as an error: its status and body."""
    text = answer.text()[0] if answer.is_text or _is_utf8(answer.body) else f"{len(answer.body):,} bytes"
    shown = text if len(text) <= MAX_ERROR_TEXT else f"{text[:MAX_ERROR_TEXT]}… ({len(text):,} characters)"
    message = f"{what} failed: {answer.status} {answer.reason}".rstrip() + (f": {shown}" if shown else "")
    details: dict[str, Any] = {"status": answer.status, "body": shown}
    return [ErrorContent(message=message, code="http_error", details=details)]


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _late(seconds: float) -> ExecutorError:
    return ExecutorTimeoutError(f"the API did not answer within {seconds:g} seconds")


class _Plain:
    """Bytes that are not compressed."""

    is_whole = True

    def decode(self, raw: bytes, most: int) -> bytes:
        return raw


class _Compressed:
    """Bytes of gzip or zlib, of which at most so many are made at once."""

    def __init__(self) -> None:
        self._inflater: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether what has come is complete."""
        return self._inflater is None or bool(self._inflater.eof)

    def decode(self, raw: bytes, most: int) -> bytes:
        made = b""
        while raw and len(made) < most:
            if self.is_whole:
                # The first member of a file, or the next one.
                self._inflater = zlib.decompressobj(47)
            made += self._inflater.decompress(raw, most - len(made))
            raw = self._inflater.unused_data
        return made


def _decoder(encoding: str) -> _Plain | _Compressed:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Compressed()
    raise ExecutorError("the API compressed its answer in a way that was not asked for")


def _charset(said: str | None) -> str:
    """The codec of a text. Some that Python has are no character set, and take ages, or make other text of it."""
    name = codecs.lookup(said or "utf-8").name
    if name in ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"):
        raise LookupError(name)
    return name


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
