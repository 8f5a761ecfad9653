"""The side of the clients: their requests, and errors in the client's own API. No I/O."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import quote

from contentmodel.adapter import Adapter, adapter, as_json
from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import DecodeError
from contentmodel.framing import stream_format_of
from contentmodel.gateway.config import host_policies
from contentmodel.http_api import HttpApi
from contentmodel.json import JsonObject, parse, write
from contentmodel.limits import RateLimits, with_wait_in_body, write_limits
from contentmodel.message import Origin
from contentmodel.response import ChatResponse
from contentmodel.serialize import convert_value, to_builtins

JSON_TYPE = "application/json"

MIN_KEY, MIN_SECRET = 16, 8
"""The numbers of characters of the shortest API key, and of the shortest secret in a configured header."""


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


def secrets_of(key: str | None, headers: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the secrets in a key and in the values of configured headers, as bodies and URLs spell them.

    A key shorter than MIN_KEY is no key of a provider, but a placeholder, which may be an ordinary word. A header may
    have the name of a scheme before its secret ("Bearer ...").
    """
    found = [] if key is None or len(key) < MIN_KEY else [key]
    found += [part for value in headers for part in (value, value.split(" ")[-1]) if len(part) >= MIN_SECRET]
    spelled = [form for text in found for form in (text, text.replace("/", "\\/"), quote(text, ""))]
    spelled += [write(form)[1:-1].decode() for form in spelled]
    return tuple(sorted(dict.fromkeys(spelled), key=len, reverse=True))


def without(text: Text, secrets: tuple[str, ...]) -> Text:
    """Return a body or a header without secrets: an upstream may repeat those that it was sent."""
    for secret in secrets:
        if isinstance(text, str):
            text = text.replace(secret, "[key]")
        else:
            text = text.replace(secret.encode(), b"[key]")
    return text


def without_secrets(error: ErrorContent, secrets: tuple[str, ...]) -> ErrorContent:
    """Return the error of an upstream without secrets, in its unknown fields as well."""
    data = write(to_builtins(error))
    scrubbed = without(data, secrets)
    return error if scrubbed == data else convert_value(parse(scrubbed), ErrorContent)


class Scrubbing:
    """Removes secrets from a body that arrives in chunks. The start of a secret at the end of a chunk is held back."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = secrets
        self._starts = [secret.encode() for secret in secrets]
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes that can be sent."""
        data = without(self._held + chunk, self._secrets)
        held = max((_common(data, secret) for secret in self._starts), default=0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def close(self) -> bytes:
        """Return the rest."""
        return self._held


def _common(data: bytes, secret: bytes) -> int:
    """Return the length of the end of `data` that is the start of a secret."""
    longest = min(len(secret) - 1, len(data))
    return next((size for size in range(longest, 0, -1) if data.endswith(secret[:size])), 0)
