"""Shared by the clients of all APIs: requests, answers and errors.

Imports no SDK. A client defines how its SDK sends a payload and returns the raw bytes of the answer, and how its errors
are translated.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import iscoroutinefunction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from contentmodel.adapter import adapter
from contentmodel.authoring import Loss, LossError, check_choices, significant, write
from contentmodel.client import (
    AuthenticationError,
    ClientError,
    ConnectionFailed,
    InvalidRequestError,
    RateLimitError,
    ServerError,
    TimeoutExceeded,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.errors import DecodeError, EncodeError
from contentmodel.failures import kind_of_status
from contentmodel.inputs import Input, request_of
from contentmodel.limits import read_limits
from contentmodel.literals import OnLoss, Policies
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.typed import Asking, AsyncTypedStream, OutputMode, TypedStream
from contentmodel_adapters.common.calls import AsyncChunks, AsyncStream, Call, Chunks, SyncStream

if TYPE_CHECKING:
    import httpx2

OnLosses = Callable[[tuple[Loss, ...]], None]


class BaseClient:
    """The I/O-free part of sync and async clients."""

    api: str
    has_stream_field = True
    """True if the payload itself requests a stream."""
    keeps_conversations = False
    async_types: tuple[type[Any], ...] = ()
    """The asynchronous clients of the SDK, if they have classes of their own."""
    model_fields: tuple[str, ...] = ("model",)
    """The fields of a payload that name what answers it."""
    typed_stream: type[TypedStream[Any] | AsyncTypedStream[Any]]
    """The class of streams of typed answers."""

    def __init__(
        self,
        sdk: Any = None,
        *,
        model: str | None = None,
        policies: Policies | None = None,
        on_loss: OnLoss = "report",
        on_losses: OnLosses | None = None,
        **options: Any,
    ) -> None:
        if sdk is not None and options:
            raise TypeError(f"options cannot be combined with an SDK client: {', '.join(options)}")
        self.adapter = adapter(self.api)
        self.model = model
        self.policies = check_choices(policies, on_loss)
        self.on_loss = on_loss
        self.on_losses = on_losses
        self._owns_sdk = sdk is None
        self.sdk = self.make_sdk(options) if sdk is None else sdk
        self.check_sdk()

    def check_sdk(self) -> None:
        """Raise TypeError if the caller's SDK client is sync and should be async, or the reverse."""

    def is_async_sdk(self) -> bool | None:
        """Return whether the SDK's client is asynchronous; None if the SDK has one class for both."""
        return isinstance(self.sdk, self.async_types) if self.async_types else None

    def make_sdk(self, options: dict[str, Any]) -> Any:
        """Return a client of the SDK."""
        raise NotImplementedError

    def choices(self) -> Mapping[str, str] | None:
        """Return the policies of an encoding: the caller's, and those that follow from the SDK's settings."""
        return self.policies

    def adapt_payload(self, payload: dict[str, Any], *, stream: bool) -> None:
        """Set or remove the fields of a payload that depend on whether its answer is streamed."""

    def failure_of(self, error: Exception) -> ClientError | None:
        """Return the ClientError for an error of the SDK; None if the error is not about a request."""
        return self.unanswered(error)

    def prepare(self, request: ChatRequest, *, stream: bool) -> Call:
        """Encode a request and return it as a Call.

        Raise EncodeError if no model is set, and LossError if `on_loss` is "raise" and there are significant losses.
        """
        if not isinstance(request, ChatRequest):
            raise EncodeError(f"expected a ChatRequest, got {type(request).__name__}")
        request = self._with_stream(request, stream=stream)
        encoded = self.adapter.encode_request(request, self.choices(), self.model)
        payload = dict(encoded.payload)
        named = (payload[name] for name in self.model_fields if name in payload)
        model = self.model or request.model or next(named, None)
        if not isinstance(model, str) or not model:
            raise EncodeError(f"{self.api}: no model is set: set it in the request or the client")
        self.adapt_payload(payload, stream=stream)
        call = Call(self.adapter, encoded, payload, model)
        if self.on_loss == "raise" and (refused := significant(call.losses)):
            raise LossError(self.api, refused)
        if self.on_losses is not None and call.losses:
            self.on_losses(call.losses)
        return call

    def asking(self, request: ChatRequest, output: Any, mode: OutputMode | None, retries: int = 0) -> Asking[Any]:
        """Return the question whose answer is a value of the type `output`."""
        model = self.model or request.model
        return Asking(
            request, output, adapter=self.adapter, model=model, policies=self.choices(), mode=mode, retries=retries
        )

    def stream(
        self,
        request: Input,
        *,
        output: Any = None,
        mode: OutputMode | None = None,
        timeout: float | None = None,
        **parts: Any,
    ) -> Any:
        """Return the stream of the answer to a request, or of a typed answer."""
        asked = request_of(request, **parts)
        if output is None:
            return self._streamed(asked, timeout)
        asking = self.asking(asked, output, mode)
        return self.typed_stream(self._streamed(asking.request, timeout), asking)

    def _streamed(self, request: ChatRequest, timeout: float | None) -> Any:
        """Return the stream of the answer to a request."""
        raise NotImplementedError

    def _with_stream(self, request: ChatRequest, *, stream: bool) -> ChatRequest:
        requested = request.options.stream
        value = (True if stream else None if requested else requested) if self.has_stream_field else None
        changed: dict[str, Any] = {}
        if value is not requested:
            changed["options"] = msgspec.structs.replace(request.options, stream=value)
        return msgspec.structs.replace(request, **changed) if changed else request

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except ClientError:
            raise
        except Exception as error:
            failure = self.failure_of(error)
            if failure is None:
                raise
            raise failure from error

    # -- what went wrong ---------------------------------------------------------------------------------------

    def refused(
        self,
        status: int,
        body: Any,
        headers: Mapping[str, str],
        *,
        kind: type[ClientError] | None = None,
    ) -> ClientError:
        """Return the error for a failed request. `body` is the response's bytes or its JSON."""
        error = self._error_in(body)
        if error.kind is None:
            error = msgspec.structs.replace(error, kind=kind_of_status(status))
        limits = read_limits(headers, self.api, body=body)
        text = " ".join(f"{error.code or ''} {error.message}".split())
        return (kind or class_of_status(status))(
            f"{self.api}: {status} {text if len(text) <= LONGEST else text[:LONGEST] + '...'}".strip(),
            api=self.api,
            status=status,
            error=error,
            request_id=headers.get("request-id") or headers.get("x-request-id"),
            limits=limits,
            retry_after=limits.retry_after,
            retryable=may_retry(status, error, headers),
        )

    def _error_in(self, body: Any) -> ErrorContent:
        try:
            error: ErrorContent | None = self.adapter.decode_response(body).error
        except DecodeError:
            error = None
        if error is not None:
            return error
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else write(body).decode()
        return ErrorContent(message=text.strip())

    def unanswered(self, error: BaseException) -> ClientError | None:
        """Return the ClientError for an error of the transport or the credentials; None for any other error."""
        names = {kind.__name__ for kind in type(error).__mro__}
        why = f"{type(error).__name__} {error}".strip()
        if names & TIMEOUTS:
            return TimeoutExceeded(f"{self.api}: no answer in time: {why}", api=self.api, retryable=True)
        if names & BREAKS:
            return ConnectionFailed(f"{self.api}: the connection failed: {why}", api=self.api, retryable=True)
        if names & CREDENTIALS:
            return AuthenticationError(f"{self.api}: the credentials are missing or invalid: {why}", api=self.api)
        return None

    def broken(self, error: Exception) -> ClientError:
        """Return the ClientError for an error that ended a stream."""
        why = f"{type(error).__name__} {error}".strip()
        return self.unanswered(error) or ConnectionFailed(
            f"{self.api}: the connection failed: {why}", api=self.api, retryable=True
        )


# -- what went wrong ---------------------------------------------------------------------------------------------------

LONGEST = 500
"""Characters of an error's text that are kept in an exception's message: a proxy may send a page."""

# By name: the SDK chooses httpx2, httpx, aiohttp, requests or urllib3 as its transport, and seldom are all installed.
TIMEOUTS = frozenset({"TimeoutException", "TimeoutError", "Timeout"})
BREAKS = frozenset(
    {
        "RequestError",
        "StreamError",
        "ClientError",
        "RequestException",
        "TransportError",
        "OSError",
        "EndpointConnectionError",
        "HTTPClientError",
    }
)
CREDENTIALS = frozenset({"CredentialsError", "GoogleAuthError", "NoCredentialsError"})


def class_of_status(status: int) -> type[ClientError]:
    """Return the error class of an HTTP status."""
    if status in (401, 403):
        return AuthenticationError
    if status == 429:
        return RateLimitError
    if status in (408, 504):
        return TimeoutExceeded
    return ServerError if status >= 500 else InvalidRequestError


def may_retry(status: int, error: ErrorContent, headers: Mapping[str, str]) -> bool:
    """Return whether the same request may succeed later. It does not if the account has no credit left."""
    header = headers.get("x-should-retry")
    if header in ("true", "false"):
        return header == "true"
    return (status in (408, 409, 429) or status >= 500) and error.kind != "billing"


# -- clients -----------------------------------------------------------------------------------------------------------


class SyncClient(BaseClient):
    """A ChatClient. Subclasses define `send`, `open` and `close_sdk` for their SDK."""

    typed_stream = TypedStream

    def check_sdk(self) -> None:
        if self.is_async_sdk() is True:
            raise TypeError(f"{type(self.sdk).__name__} is asynchronous: use async_chat_client")

    def send(self, call: Call, timeout: float | None) -> bytes | str:
        """Send a payload and return the whole body of the answer."""
        raise NotImplementedError

    def open(self, call: Call, timeout: float | None) -> Chunks:
        """Send a payload and return the body of the answer as it is received."""
        raise NotImplementedError

    def close_sdk(self) -> None:
        self.sdk.close()

    def complete(
        self,
        request: Input,
        *,
        output: Any = None,
        mode: OutputMode | None = None,
        retries: int = 0,
        timeout: float | None = None,
        **parts: Any,
    ) -> Any:
        """Return the answer to a request, or the typed answer. See `TypedChatClient.complete`."""
        asked = request_of(request, **parts)
        if output is None:
            return self._answer(asked, timeout)
        asking = self.asking(asked, output, mode, retries)
        while (typed := asking.answered(self._answer(asking.request, timeout))) is None:
            pass
        return typed

    def _answer(self, request: ChatRequest, timeout: float | None) -> ChatResponse:
        call = self.prepare(request, stream=False)
        with self._translated():
            body = self.send(call, timeout)
        return call.restored(self.adapter.decode_response(body))

    def _streamed(self, request: ChatRequest, timeout: float | None) -> SyncStream:
        call = self.prepare(request, stream=True)

        def send() -> Chunks:
            with self._translated():
                return self.open(call, timeout)

        return SyncStream(call, send, self.broken)

    def close(self) -> None:
        """Close the connections of the SDK's client, unless the caller passed that client."""
        if self._owns_sdk:
            self.close_sdk()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(BaseClient):
    """An AsyncChatClient: the asynchronous form of SyncClient."""

    typed_stream = AsyncTypedStream

    def check_sdk(self) -> None:
        if self.is_async_sdk() is False:
            raise TypeError(f"{type(self.sdk).__name__} is not asynchronous: use chat_client")

    async def send(self, call: Call, timeout: float | None) -> bytes | str:
        """Send a payload and return the whole body of the answer."""
        raise NotImplementedError

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        """Send a payload and return the body of the answer as it is received."""
        raise NotImplementedError

    async def close_sdk(self) -> None:
        await self.sdk.close()

    async def complete(
        self,
        request: Input,
        *,
        output: Any = None,
        mode: OutputMode | None = None,
        retries: int = 0,
        timeout: float | None = None,
        **parts: Any,
    ) -> Any:
        """Return the answer to a request, or the typed answer. See `TypedChatClient.complete`."""
        asked = request_of(request, **parts)
        if output is None:
            return await self._answer(asked, timeout)
        asking = self.asking(asked, output, mode, retries)
        while (typed := asking.answered(await self._answer(asking.request, timeout))) is None:
            pass
        return typed

    async def _answer(self, request: ChatRequest, timeout: float | None) -> ChatResponse:
        call = self.prepare(request, stream=False)
        with self._translated():
            body = await self.send(call, timeout)
        return call.restored(self.adapter.decode_response(body))

    def _streamed(self, request: ChatRequest, timeout: float | None) -> AsyncStream:
        call = self.prepare(request, stream=True)

        async def send() -> AsyncChunks:
            with self._translated():
                return await self.open(call, timeout)

        return AsyncStream(call, send, self.broken)

    async def close(self) -> None:
        """Close the connections of the SDK's client, unless the caller passed that client."""
        if self._owns_sdk:
            await self.close_sdk()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


# -- SDKs whose responses are those of httpx ---------------------------------------------------------------------------


class Responses(BaseClient):
    """The common part of clients for SDKs that return a response of httpx or httpx2, also if its status is an error."""

    def error_of(self, response: Any) -> Exception:
        """Return the SDK's error for a response whose status is an error."""
        raise NotImplementedError

    def content_of(self, response: Any) -> bytes:
        """Return the body of a response. If its status is an error, raise the ClientError for it."""
        body: bytes = response.content
        if response.status_code >= 400:
            raise self.refused(response.status_code, body, response.headers) from self.error_of(response)
        return body


class ResponseClient(Responses, SyncClient):
    """A client for such SDKs. Subclasses define `respond`, and `error_of`."""

    def respond(self, call: Call, timeout: float | None, *, stream: bool) -> Any:
        """Send a payload and return the response. If `stream` is true, its body is not read."""
        raise NotImplementedError

    def send(self, call: Call, timeout: float | None) -> bytes:
        return self.content_of(self.respond(call, timeout, stream=False))

    def open(self, call: Call, timeout: float | None) -> Chunks:
        response = self.respond(call, timeout, stream=True)
        return self.opened(response, response.close)

    def opened(self, response: Any, close: Callable[[], None]) -> Chunks:
        """Return the body of a response as it is received. If its status is an error, close it and raise that."""
        if response.status_code >= 400:
            try:
                response.read()
            finally:
                close()
            self.content_of(response)
        return response.iter_bytes(), close


class AsyncResponseClient(Responses, AsyncClient):
    """The asynchronous form of ResponseClient."""

    async def respond(self, call: Call, timeout: float | None, *, stream: bool) -> Any:
        """Send a payload and return the response. If `stream` is true, its body is not read."""
        raise NotImplementedError

    async def send(self, call: Call, timeout: float | None) -> bytes:
        return self.content_of(await self.respond(call, timeout, stream=False))

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        response = await self.respond(call, timeout, stream=True)
        return await self.opened(response, response.aclose)

    async def opened(self, response: Any, close: Callable[[], Awaitable[None]]) -> AsyncChunks:
        """Return the body of a response as it is received. If its status is an error, close it and raise that."""
        if response.status_code >= 400:
            try:
                await response.aread()
            finally:
                await close()
            self.content_of(response)
        return response.aiter_bytes(), close


# -- SDKs that can post ------------------------------------------------------------------------------------------------


class Posting(BaseClient):
    """The common part of clients for SDKs whose `post` sends a payload unchanged: those of OpenAI and Anthropic.

    `post(path, cast_to=httpx2.Response, body=...)` is how their readmes call endpoints that the SDK does not have.
    """

    path: str
    errors: Any
    """The module that has APIStatusError and APIConnectionError."""
    plain: tuple[type[Any], ...]
    """The SDK's clients that send a payload unchanged."""

    def is_async_sdk(self) -> bool:
        return iscoroutinefunction(self.sdk.post)

    def failure_of(self, error: Exception) -> ClientError | None:
        if isinstance(error, self.errors.APIStatusError):
            response: httpx2.Response = error.response
            return self.refused(response.status_code, response.content, response.headers)
        if isinstance(error, self.errors.APIConnectionError):
            # The SDK's message is "Connection error."; its cause has the details.
            return self.broken(error.__cause__ if isinstance(error.__cause__, Exception) else error)
        return self.unanswered(error)

    def posted(self, call: Call, timeout: float | None, *, stream: bool = False) -> dict[str, Any]:
        """Return the arguments of `post`. If `timeout` is None, the SDK's own timeout applies."""
        # Imported here, so that a missing provider SDK is reported first.
        import httpx2

        options = {} if timeout is None else {"timeout": timeout}
        return {"cast_to": httpx2.Response, "body": call.payload, "options": options, "stream": stream}

    def escaped(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the same arguments with the payload as bytes: lone surrogates, which the SDK refuses, are escaped.

        Raise EncodeError if the SDK's client is none of `plain`: others change a payload before they send it.
        """
        if type(self.sdk) not in self.plain:
            names = ", ".join(kind.__name__ for kind in self.plain)
            raise EncodeError(
                f"a text of this request contains a lone surrogate, which {type(self.sdk).__name__} cannot send: "
                f"remove it, or use {names}"
            )
        other_arguments = {name: value for name, value in arguments.items() if name != "body"}
        return {**other_arguments, "content": write(arguments["body"])}


class PostingClient(Posting, SyncClient):
    """A client for such SDKs."""

    def send(self, call: Call, timeout: float | None) -> bytes:
        response: httpx2.Response = self._post(self.posted(call, timeout))
        return response.content

    def open(self, call: Call, timeout: float | None) -> Chunks:
        response: httpx2.Response = self._post(self.posted(call, timeout, stream=True))
        return response.iter_bytes(), response.close

    def _post(self, arguments: dict[str, Any]) -> Any:
        try:
            return self.sdk.post(self.path, **arguments)
        except UnicodeEncodeError:
            return self.sdk.post(self.path, **self.escaped(arguments))


class AsyncPostingClient(Posting, AsyncClient):
    """The asynchronous form of PostingClient."""

    async def send(self, call: Call, timeout: float | None) -> bytes:
        response: httpx2.Response = await self._post(self.posted(call, timeout))
        return response.content

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        response: httpx2.Response = await self._post(self.posted(call, timeout, stream=True))
        return response.aiter_bytes(), response.aclose

    async def _post(self, arguments: dict[str, Any]) -> Any:
        try:
            return await self.sdk.post(self.path, **arguments)
        except UnicodeEncodeError:
            return await self.sdk.post(self.path, **self.escaped(arguments))
