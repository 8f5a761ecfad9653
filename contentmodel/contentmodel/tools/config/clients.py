"""HTTP clients of an endpoint, and the redaction of their requests in the log."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from threading import Lock
from typing import TYPE_CHECKING, Any

from contentmodel.tools.background import run_in_background

if TYPE_CHECKING:
    import httpx2


class Clients:
    """The client of an endpoint: `client`, or a new one.

    If a call is abandoned in an own client, later calls get a new client. The old one is closed when its other calls
    are done, which ends the abandoned call.
    """

    def __init__(self, client: httpx2.Client | None) -> None:
        self._given = client
        self._own = None if client is not None else _new_client()
        self._lock = Lock()
        self._calls: Counter[httpx2.Client] = Counter()
        self._left: set[httpx2.Client] = set()

    @contextmanager
    def lent(self) -> Iterator[httpx2.Client]:
        """Lend the client for one call."""
        with self._lock:
            client = self._given or self._own
            assert client is not None
            self._calls[client] += 1
        try:
            yield client
        finally:
            with self._lock:
                self._calls[client] -= 1
                is_free = client in self._left and not self._calls[client]
                self._calls += Counter()  # drops what is 0
                self._left -= {client} if is_free else set()
            if is_free:
                run_in_background(client.close, "closing")

    def leave(self, client: httpx2.Client) -> None:
        """Stop lending this client: a call was abandoned in it. A client that the caller gave stays open."""
        with self._lock:
            if client is self._own:
                self._own = _new_client()
            if client is not self._given:
                self._left.add(client)

    def close(self) -> None:
        """Close the connections, unless the client was given."""
        if self._own is not None:
            self._own.close()


def _new_client() -> httpx2.Client:
    import httpx2

    # Calls for different users share a client, so a cookie of one user must not be sent with another's call.
    no_cookies = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    return httpx2.Client(cookies=no_cookies)


def authorization(name: str, password: str) -> dict[str, str]:
    """Return the header for the name and password of a URL. A URL may be logged; headers are not."""
    if not name and not password:
        return {}
    return {"authorization": f"Basic {b64encode(f'{name}:{password}'.encode()).decode('ascii')}"}


def shown_url(url: httpx2.URL) -> str:
    """Return a URL without parts that may be secret: name, password and query."""
    return str(url.copy_with(userinfo=b"", query=None))


@cache
def _private_class() -> Any:
    import httpx2

    class PrivateURL(httpx2.URL):
        """A URL that `redact_log` redacts in the log."""

    return PrivateURL


def private_url(url: httpx2.URL) -> httpx2.URL:
    """Return the same URL, marked for `redact_log`."""
    private: httpx2.URL = _private_class()(url)
    return private


@cache
def redact_log() -> None:
    """Remove the query from logged URLs of our requests, because arguments may be credentials (filter on httpx2)."""
    kind = _private_class()

    def redacted(record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(shown_url(arg) if isinstance(arg, kind) else arg for arg in record.args)
        return True

    logging.getLogger("httpx2").addFilter(redacted)
