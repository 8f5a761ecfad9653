"""The protocols of chat clients, their errors, and the registry of installed clients.

A client combines an adapter with the API's official SDK. The SDK does transport, authentication and retries; the
adapter decodes the raw bytes. Clients are entry points of the group `contentmodel.clients`: each is an object, usually
a module, with the attributes `Client` and `AsyncClient`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, Unpack, overload, runtime_checkable

from contentmodel.errors import ContentModelError, UnknownApiError
from contentmodel.literals import OnLoss, Policies
from contentmodel.names import SHORT, api_and_model

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from contentmodel.content.base import AIContent
    from contentmodel.content.outcomes import ErrorContent
    from contentmodel.events import StreamEvent
    from contentmodel.inputs import Input
    from contentmodel.limits import RateLimits
    from contentmodel.losses import Loss
    from contentmodel.renames import Renames
    from contentmodel.request import ChatOptions, ChatRequest, Tool
    from contentmodel.response import ChatResponse
    from contentmodel.typed import AsyncTypedStream, OutputMode, Typed, TypedStream

T = TypeVar("T")


class RequestParts(TypedDict, total=False):
    """The parts of a request beside its messages, for input that is messages or a text."""

    instructions: str | Sequence[AIContent | str] | None
    tools: Sequence[Tool] | None
    options: ChatOptions | None


class ClientError(ContentModelError):
    """A request was refused, or no response arrived. `__cause__` is the error of the SDK.

    `api` is the API id. `status` is the HTTP status, or None if no response arrived. `code` is the provider's error
    code. `error` is the body of the response (its `kind` is normalized for all APIs). `request_id` identifies the
    request for the provider's support. `retryable` is whether the same request may succeed later. `retry_after` is the
    time to wait in seconds, if the provider sent it. `limits` are the rate limits of the response headers.
    """

    def __init__(
        self,
        message: str,
        *,
        api: str = "",
        status: int | None = None,
        error: ErrorContent | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
        limits: RateLimits | None = None,
    ) -> None:
        super().__init__(message)
        self.api = api
        self.status = status
        self.code = None if error is None else error.code
        self.error = error
        self.request_id = request_id
        self.retry_after = retry_after
        self.retryable = retryable
        self.limits = limits

    @property
    def fields(self) -> dict[str, Any]:
        """The keyword parameters of the constructor with their values."""
        names = ("api", "status", "error", "request_id", "retry_after", "retryable", "limits")
        return {name: getattr(self, name) for name in names}


class InvalidRequestError(ClientError):
    """The request is malformed, too long, or refers to something that does not exist (400, 404, 413)."""


class AuthenticationError(ClientError):
    """The API key is missing or wrong, or does not permit the request (401, 403)."""


class RateLimitError(ClientError):
    """A rate limit or a quota is exceeded (429)."""


class ServerError(ClientError):
    """The API failed, or is overloaded (500 and above)."""


class ConnectionFailed(ClientError):
    """No response arrived: the host was not reached, or the connection was interrupted."""


class TimeoutExceeded(ClientError):
    """No response arrived in time (408, 504, or the timeout of the SDK)."""


@runtime_checkable
class ChatStream(Protocol):
    """A streamed response: an iterator of its events, and a context manager that closes the connection.

    The request is sent when the stream is entered or first iterated. The last event is always a TurnComplete or a
    TurnError, even if the connection is interrupted. A ClientError is only raised before any data is received.
    """

    failure: ClientError | None
    """The cause, if the connection was interrupted in the middle of the response; else None."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of the request. Their paths refer to the `ChatRequest`."""
        ...

    @property
    def maps(self) -> Renames:
        """The replaced ids and tool names of the request. They are already restored in the events."""
        ...

    @property
    def events(self) -> Iterator[StreamEvent]:
        """The events that are not read yet."""
        ...

    @property
    def response(self) -> ChatResponse:
        """The response so far; the complete response once all events are read."""
        ...

    def read(self) -> ChatResponse:
        """Read the stream to its end and return the response."""
        ...

    def close(self) -> None:
        """Close the connection, even in the middle of the response."""
        ...

    def __iter__(self) -> Iterator[StreamEvent]: ...

    def __next__(self) -> StreamEvent: ...

    def __enter__(self) -> ChatStream: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class AsyncChatStream(Protocol):
    """The asynchronous ChatStream. If a waiting task is cancelled, the connection is closed."""

    failure: ClientError | None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of the request. Their paths refer to the `ChatRequest`."""
        ...

    @property
    def maps(self) -> Renames:
        """The replaced ids and tool names of the request. They are already restored in the events."""
        ...

    @property
    def events(self) -> AsyncIterator[StreamEvent]:
        """The events that are not read yet."""
        ...

    @property
    def response(self) -> ChatResponse:
        """The response so far; the complete response once all events are read."""
        ...

    async def read(self) -> ChatResponse:
        """Read the stream to its end and return the response."""
        ...

    async def close(self) -> None:
        """Close the connection, even in the middle of the response."""
        ...

    def __aiter__(self) -> AsyncIterator[StreamEvent]: ...

    async def __anext__(self) -> StreamEvent: ...

    async def __aenter__(self) -> AsyncChatStream: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class ChatClient(Protocol):
    """A client that sends requests to one API. `model` overrides the model of the request, unless it is None.

    If `keeps_conversations` is true, the API can store a conversation, so a request need only contain new messages. The
    response messages of such a client have an `origin`, which distinguishes them from messages of the application.
    """

    api: str
    model: str | None
    keeps_conversations: bool

    def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        """Send a request and return the response.

        `timeout` is in seconds, with the semantics of the SDK; None means the SDK's default. Raise ClientError,
        DecodeError if the response is not a valid response of this API, LossError if `on_loss` is "raise", and
        EncodeError if neither the client nor the request has a model.
        """
        ...

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> ChatStream:
        """Return a stream of the response. It raises the same errors as `complete`."""
        ...

    def close(self) -> None:
        """Close the connections of the SDK's client, unless the caller passed that client."""
        ...

    def __enter__(self) -> ChatClient: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class AsyncChatClient(Protocol):
    """The asynchronous ChatClient."""

    api: str
    model: str | None
    keeps_conversations: bool

    async def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        """Send a request and return the response. See `ChatClient.complete`."""
        ...

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> AsyncChatStream:
        """Return a stream of the response. See `ChatClient.stream`."""
        ...

    async def close(self) -> None:
        """Close the connections of the SDK's client, unless the caller passed that client."""
        ...

    async def __aenter__(self) -> AsyncChatClient: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class TypedChatClient(ChatClient, Protocol):
    """A client of `chat_client`: it also takes plain input, and returns typed answers."""

    @overload
    def complete(
        self, request: Input, *, timeout: float | None = None, **parts: Unpack[RequestParts]
    ) -> ChatResponse: ...
    @overload
    def complete(
        self,
        request: Input,
        *,
        output: type[T],
        mode: OutputMode | None = None,
        retries: int = 0,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> Typed[T]: ...
    @overload
    def complete(
        self,
        request: Input,
        *,
        output: Any,
        mode: OutputMode | None = None,
        retries: int = 0,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> Typed[Any]: ...
    def complete(self, request: Input, **options: Any) -> Any:
        """Send a request, messages or a text, and return the response, or the value of a type.

        `instructions`, `tools` and `options` belong to messages or a text; a ChatRequest has its own. `output` is the
        type of the answer (`contentmodel.typed.OutputType` lists what it can be). `mode` is an `OutputMode`;
        None chooses. `retries` is the number of further requests after an answer that does not fit. `timeout` is
        that of one request, in seconds.

        Raise OutputError if no answer has a value of the type, and the errors of `ChatClient.complete`.
        """
        ...

    @overload
    def stream(self, request: Input, *, timeout: float | None = None, **parts: Unpack[RequestParts]) -> ChatStream: ...
    @overload
    def stream(
        self,
        request: Input,
        *,
        output: type[T],
        mode: OutputMode | None = None,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> TypedStream[T]: ...
    @overload
    def stream(
        self,
        request: Input,
        *,
        output: Any,
        mode: OutputMode | None = None,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> TypedStream[Any]: ...
    def stream(self, request: Input, **options: Any) -> Any:
        """Return a stream of the response, or of a value of the type `output`. See `complete`."""
        ...

    def __enter__(self) -> TypedChatClient: ...


class AsyncTypedChatClient(AsyncChatClient, Protocol):
    """The asynchronous TypedChatClient."""

    @overload
    async def complete(
        self, request: Input, *, timeout: float | None = None, **parts: Unpack[RequestParts]
    ) -> ChatResponse: ...
    @overload
    async def complete(
        self,
        request: Input,
        *,
        output: type[T],
        mode: OutputMode | None = None,
        retries: int = 0,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> Typed[T]: ...
    @overload
    async def complete(
        self,
        request: Input,
        *,
        output: Any,
        mode: OutputMode | None = None,
        retries: int = 0,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> Typed[Any]: ...
    async def complete(self, request: Input, **options: Any) -> Any:
        """Send a request and return the response, or the value of a type. See `TypedChatClient.complete`."""
        ...

    @overload
    def stream(
        self, request: Input, *, timeout: float | None = None, **parts: Unpack[RequestParts]
    ) -> AsyncChatStream: ...
    @overload
    def stream(
        self,
        request: Input,
        *,
        output: type[T],
        mode: OutputMode | None = None,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> AsyncTypedStream[T]: ...
    @overload
    def stream(
        self,
        request: Input,
        *,
        output: Any,
        mode: OutputMode | None = None,
        timeout: float | None = None,
        **parts: Unpack[RequestParts],
    ) -> AsyncTypedStream[Any]: ...
    def stream(self, request: Input, **options: Any) -> Any:
        """Return a stream of the response, or of a value of the type `output`. See `TypedChatClient.complete`."""
        ...

    async def __aenter__(self) -> AsyncTypedChatClient: ...


def chat_client(
    api: str,
    *,
    model: str | None = None,
    sdk: Any = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
    on_losses: Callable[[tuple[Loss, ...]], None] | None = None,
    **options: Any,
) -> TypedChatClient:
    """Return a client of an API that uses its official SDK.

    `api` is the id of the API, the short name of a provider ("openai", "anthropic"), or a provider and a model:
    "anthropic:claude-opus-5".

    `sdk` is a client of that SDK. If it is None, create one from `options`: `api_key`, `base_url`, `timeout`,
    `max_retries`, `default_headers`, and other parameters of that SDK. `policies` are those of `convert`. `on_losses`
    is called with the losses of a request. If `on_loss` is "raise", a request with significant losses is not sent.

    Raise UnknownApiError if no client is registered for this API, ImportError if its SDK is not installed, ValueError
    if both `api` and `model` name a model.
    """
    api, model = api_and_model(api, model)
    client: TypedChatClient = _clients_of(api).Client(
        sdk, model=model, policies=policies, on_loss=on_loss, on_losses=on_losses, **options
    )
    return client


def async_chat_client(
    api: str,
    *,
    model: str | None = None,
    sdk: Any = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
    on_losses: Callable[[tuple[Loss, ...]], None] | None = None,
    **options: Any,
) -> AsyncTypedChatClient:
    """Return an asynchronous client of an API. `sdk` is the SDK's asynchronous client. See `chat_client`."""
    api, model = api_and_model(api, model)
    client: AsyncTypedChatClient = _clients_of(api).AsyncClient(
        sdk, model=model, policies=policies, on_loss=on_loss, on_losses=on_losses, **options
    )
    return client


GROUP = "contentmodel.clients"


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, EntryPoint]:
    # Imported lazily: this import takes longer than the rest of the library.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _clients_of(api: str) -> Any:
    point = _entry_points().get(api)
    if point is None:
        from contentmodel.adapter import did_you_mean

        known = sorted({*_entry_points(), *SHORT})
        listed = ", ".join(known) or "none: install contentmodel with its adapters"
        raise UnknownApiError(f"no client for {api!r}: {did_you_mean(api, known)}installed clients are {listed}")
    return point.load()
