"""A client for Converse that uses boto3.

The methods of boto3 drop fields that its service model does not have. So events of the SDK ("Extensibility guide")
replace the body of a request before it is signed, and take the body of an answer before it is parsed. A third one sends
a request whose call has a timeout of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from typing import Any

from contentmodel.authoring import parse, write
from contentmodel.client import ClientError
from contentmodel.errors import DecodeError
from contentmodel.extras import needs_extra
from contentmodel_adapters.anthropic.aws_errors import TYPE, type_of
from contentmodel_adapters.anthropic.bedrock_converse import HTTP
from contentmodel_adapters.anthropic.bedrock_converse.table import API
from contentmodel_adapters.common import clients
from contentmodel_adapters.common.calls import AsyncChunks, Call, Chunks

with needs_extra("bedrock"):
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.exceptions import ClientError as Refusal
    from botocore.httpsession import URLLib3Session

_METHODS = ("Converse", "ConverseStream")


class _Exchange:
    """One call: the body to send, its timeout, and the body that was received."""

    def __init__(self, body: bytes, timeout: float | None) -> None:
        self.body, self.timeout = body, timeout
        self.received: Any = None


_current: ContextVar[_Exchange | None] = ContextVar("exchange", default=None)


def _replace_body(params: dict[str, Any], **event: Any) -> None:
    exchange = _current.get()
    if exchange is not None:
        params["body"] = exchange.body


def _send_in_time(request: Any, **event: Any) -> Any:
    """Send the request of a call that has a timeout of its own. The SDK sends all others."""
    exchange = _current.get()
    if exchange is None or exchange.timeout is None:
        return None
    return URLLib3Session(timeout=exchange.timeout).send(request)


def _take_body(response_dict: dict[str, Any], **event: Any) -> None:
    exchange = _current.get()
    if exchange is not None:
        exchange.received = response_dict["body"]


_HANDLERS: dict[str, Callable[..., Any]] = {
    "before-call": _replace_body,
    "before-send": _send_in_time,
    "before-parse": _take_body,
}


def exchanged(sdk: Any, call: Call, timeout: float | None, *, stream: bool) -> Any:
    """Send a payload, and return the body of its answer: bytes, or a stream of bytes."""
    for event, handler in _HANDLERS.items():
        for method in _METHODS:
            # To register a handler again has no effect.
            name = f"{event}.bedrock-runtime.{method}"
            sdk.meta.events.register_last(name, handler, unique_id=f"{API}.{name}")
    exchange = _Exchange(write(HTTP.body_of(call.payload)), timeout)
    token = _current.set(exchange)
    try:
        (sdk.converse_stream if stream else sdk.converse)(modelId=call.model)
    except Refusal as error:
        error.response["Body"] = exchange.received
        raise
    finally:
        _current.reset(token)
    return exchange.received


def with_model(body: bytes, model: str) -> bytes:
    """Return an answer with the model that was called, which the service does not name."""
    try:
        answer = parse(body)
    except DecodeError:
        return body
    return write(HTTP.with_path_model(answer, model)) if isinstance(answer, dict) else body


def error_body(error: Refusal) -> Any:
    """Return the body of a refusal, with the name of the exception, which may be in a header."""
    body = error.response.get("Body")
    try:
        wire = parse(body or b"")
    except DecodeError:
        return body or b""
    if not isinstance(wire, dict) or "message" not in wire:
        return body
    return {TYPE: type_of(str(error.response.get("Error", {}).get("Code", ""))), **wire}


class Common(clients.BaseClient):
    """The common part of sync and async clients: boto3 has one class for both."""

    api = API
    has_stream_field = False

    def make_sdk(self, options: dict[str, Any]) -> Any:
        """Return a client of boto3. Options that other SDKs have are translated; `api_key` is one of Bedrock."""
        named = {**options}
        settings: dict[str, Any] = {}
        headers = dict(named.pop("default_headers", None) or {})
        if (base_url := named.pop("base_url", None)) is not None:
            named["endpoint_url"] = str(base_url)
            # The SDK requires a region, even if the address is known.
            named.setdefault("region_name", boto3.Session().region_name or "us-east-1")
        if (timeout := named.pop("timeout", None)) is not None:
            settings |= {"connect_timeout": timeout, "read_timeout": timeout}
        if (retries := named.pop("max_retries", None)) is not None:
            settings["retries"] = {"total_max_attempts": retries + 1}
        if (api_key := named.pop("api_key", None)) is not None:
            settings["signature_version"] = UNSIGNED
            headers["Authorization"] = f"Bearer {api_key}"
        if settings:
            config = Config(**settings)
            named["config"] = named["config"].merge(config) if "config" in named else config
        sdk = boto3.client("bedrock-runtime", **named)
        sdk.meta.events.register(
            "before-call.bedrock-runtime", lambda params, **event: params["headers"].update(headers)
        )
        return sdk

    def failure_of(self, error: Exception) -> ClientError | None:
        if not isinstance(error, Refusal):
            return self.unanswered(error)
        answer = error.response.get("ResponseMetadata", {})
        headers = {**answer.get("HTTPHeaders", {}), "x-request-id": answer.get("RequestId")}
        return self.refused(answer.get("HTTPStatusCode", 500), error_body(error), headers)


class Client(Common, clients.SyncClient):
    """A ChatClient over a client of boto3 for `bedrock-runtime`."""

    def send(self, call: Call, timeout: float | None) -> bytes:
        return with_model(exchanged(self.sdk, call, timeout, stream=False), call.model)

    def open(self, call: Call, timeout: float | None) -> Chunks:
        body = exchanged(self.sdk, call, timeout, stream=True)
        return iter(body.stream()), body.close


class AsyncClient(Common, clients.AsyncClient):
    """An AsyncChatClient over a client of boto3, whose calls are made in threads."""

    async def close_sdk(self) -> None:
        self.sdk.close()

    async def send(self, call: Call, timeout: float | None) -> bytes:
        return with_model(await asyncio.to_thread(exchanged, self.sdk, call, timeout, stream=False), call.model)

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        body = await asyncio.to_thread(exchanged, self.sdk, call, timeout, stream=True)

        async def close() -> None:
            body.close()

        return _in_threads(iter(body.stream())), close


async def _in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the chunks of a blocking iterator."""
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk
