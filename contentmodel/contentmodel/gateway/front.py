"""The side of the clients: their requests, and errors in the client's own API. No I/O."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from contentmodel.adapter import Adapter, adapter, as_json
from contentmodel.content.outcomes import ErrorContent
from contentmodel.engine.json import JsonObject, parse, write
from contentmodel.engine.streams.formats import stream_format_of
from contentmodel.errors import DecodeError
from contentmodel.gateway.config import host_policies
from contentmodel.http_api import HttpApi
from contentmodel.limits import RateLimits, with_wait_in_body, write_limits
from contentmodel.message import Origin
from contentmodel.response import ChatResponse

JSON_TYPE = "application/json"

MIN_KEY = 16
"""The number of characters of the shortest API key."""


class GatewayError(Exception):
    """The gateway refuses a request itself. `error.kind` gives the status of the answer.

    `fields` are added to the error in the body of an API that has them.
    """

    def __init__(
        self, kind: str, message: str, *, retry_after: float | None = None, fields: JsonObject | None = None
    ) -> None:
        super().__init__(message)
        self.fields = fields
        self.error = ErrorContent(message=message, kind=kind)
        self.limits = RateLimits(retry_after=retry_after)


@dataclass(frozen=True)
class Reply:
    """An answer to a client. A streamed body is closed by the one who sends it."""

    status: int
    body: bytes | AsyncIterator[bytes]
    headers: dict[str, str] = field(default_factory=dict)


class BrokenStreamError(Exception):
    """The body of an answer broke. The connection of the client is closed in the middle."""


class Front:
    """One API that clients use, at its own host or at another one (`dialect`)."""

    def __init__(self, api: str, http: HttpApi, dialect: str | None = None) -> None:
        self.api, self.http, self.dialect = api, http, dialect
        self.adapter: Adapter = adapter(api)
        self.policies = host_policies(self.adapter, dialect)
        self.stream_format = stream_format_of(self.adapter, self.policies)

    def error(self, error: ErrorContent, limits: RateLimits | None = None, origin: Origin | None = None) -> Reply:
        """Return an error in this API: its status, its body, and the headers of its rate limits.

        `origin` is the API that the error came from.
        """
        encoded = self.adapter.encode_response(ChatResponse(error=error, origin=origin), self.policies)
        limits = limits or RateLimits()
        body = encoded.payload
        if self.http.retry_in_body and limits.retry_after is not None:
            body = with_wait_in_body(body, limits.retry_after)
        headers = {"content-type": JSON_TYPE, **write_limits(limits, self.api)}
        return Reply(encoded.status or 500, write(body), headers)

    def refusal(self, refused: GatewayError) -> Reply:
        """Return an error of the gateway itself in this API."""
        reply = self.error(refused.error, refused.limits)
        if not refused.fields or not isinstance(reply.body, bytes):
            return reply
        body = parse(reply.body)
        return Reply(reply.status, write({**body, "error": {**body["error"], **refused.fields}}), reply.headers)


@dataclass(frozen=True)
class Incoming:
    """A request of a client. `headers` have lower-case names. `model` is the one in the path, if the path names it.

    `streams` is whether the answer is streamed, and `framing` is how: as the "events" of the API, or as the elements of
    an "array".
    """

    front: Front
    path: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    payload: JsonObject
    model: str
    streams: bool
    framing: str = "events"

    @property
    def asks_usage(self) -> bool:
        """True if the client asks for the usage in a separate chunk."""
        return bool(self.front.http.usage_fields) and self.front.http.asks_usage(self.payload)


def read_request(
    front: Front,
    path: str,
    headers: Mapping[str, str],
    query: Mapping[str, str],
    body: bytes,
    *,
    path_model: str | None,
    stream_method: bool,
) -> Incoming:
    """Return the request in a body. Raise GatewayError if it is not a JSON object, or names no model."""
    try:
        payload = as_json(body, front.api)
    except DecodeError as error:
        raise GatewayError("invalid_request", str(error)) from None
    if not isinstance(payload, dict):
        raise GatewayError("invalid_request", f"{front.api}: expected a JSON object")
    payload = front.http.with_path_model(payload, path_model)
    model = path_model if path_model is not None else payload.get("model")
    if not isinstance(model, str) or not model:
        raise GatewayError("invalid_request", f"{front.api}: the request names no model: set `model`")
    streams = stream_method or (front.http.stream is None and front.http.asks_stream(payload))
    framing = "array" if stream_method and front.http.asks_array(query) else "events"
    return Incoming(front, path, headers, query, body, payload, model, streams, framing)


def client_key(headers: Mapping[str, str], query: Mapping[str, str], apis: Mapping[str, HttpApi]) -> str | None:
    """Return the key that a client sends, in the form of any API."""
    return next((key for http in apis.values() if (key := http.key_of(headers, query)) is not None), None)


Text = TypeVar("Text", bytes, str)


def without(text: Text, secrets: tuple[str | None, ...]) -> Text:
    """Return a body or a header without keys: an upstream's error may repeat the one that it was sent.

    A text shorter than MIN_KEY is no key of a provider, but a placeholder, which may be an ordinary word.
    """
    for secret in secrets:
        if secret is None or len(secret) < MIN_KEY:
            continue
        if isinstance(text, str):
            text = text.replace(secret, "[key]")
        else:
            text = text.replace(secret.encode(), b"[key]")
    return text
