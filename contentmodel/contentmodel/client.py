"""What a client of a chat API is, the errors it raises, and where clients are found.

A client drives an adapter over the API's official SDK: the SDK does transport, auth and retries, the adapter reads the
raw bytes. Clients are found by entry point (group `contentmodel.clients`): an object, usually a module, that has a
`Client` and an `AsyncClient`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from contentmodel.errors import ContentModelError, UnknownApiError
from contentmodel.literals import OnLoss, Policies

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from contentmodel.content.outcomes import ErrorContent
    from contentmodel.engine.losses.loss import Loss
    from contentmodel.engine.pipeline.names import Renames
    from contentmodel.events import StreamEvent
    from contentmodel.limits import RateLimits
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse


class ClientError(ContentModelError):
    """A request was refused, or got no answer. The SDK's own error is its cause.

    `api` is the API id, `status` the HTTP status (None: there was no answer), `code` the provider's word for it,
    `error` the whole body of the answer (its `kind` is the same word for all APIs), `request_id` what to tell the
    provider's support. `retryable` says that the same request may succeed later, `retry_after` in how many seconds, if
    the provider said so, and `limits` what its headers said of rate limits.
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
        """What it says beside its message, by the names of its parameters."""
        names = ("api", "status", "error", "request_id", "retry_after", "retryable", "limits")
        return {name: getattr(self, name) for name in names}


class InvalidRequestError(ClientError):
    """The API refuses what was asked: it is malformed, too long, or names what is not there (400, 404, 413)."""


class AuthenticationError(ClientError):
    """The key is missing or wrong, or does not allow what was asked (401, 403)."""


class RateLimitError(ClientError):
    """Too much was asked in too short a time, or more than was paid for (429)."""


class ServerError(ClientError):
    """The API failed, or is overloaded (500 and above)."""


class ConnectionFailed(ClientError):
    """No answer came: the host was not reached, or the connection broke off."""


class TimeoutExceeded(ClientError):
    """No answer came in time (408, 504, or the SDK waited as long as it was told)."""


@runtime_checkable
class ChatStream(Protocol):
    """One streamed answer: an iterator of its events, and a context manager that closes the connection.

    Nothing is sent before it is entered or iterated. The last event is a TurnComplete or a TurnError, for whatever the
    API sends and wherever the connection breaks off; a ClientError is raised only while nothing has been received.
    """

    failure: ClientError | None
    """Why the connection broke off in the middle of the answer, where it did."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the API cannot carry of the request, with paths in the `ChatRequest`."""
        ...

    @property
    def maps(self) -> Renames:
        """What stood for which id and tool name; it is undone in the events already."""
        ...

    @property
    def events(self) -> Iterator[StreamEvent]:
        """The events that are still to come."""
        ...

    @property
    def response(self) -> ChatResponse:
        """What the events until now amount to: the answer, once all of them have come."""
        ...

    def read(self) -> ChatResponse:
        """Reads the stream to its end, and gives the answer."""
        ...

    def close(self) -> None:
        """Closes the connection, wherever the answer is."""
        ...

    def __iter__(self) -> Iterator[StreamEvent]: ...

    def __next__(self) -> StreamEvent: ...

    def __enter__(self) -> ChatStream: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class AsyncChatStream(Protocol):
    """The same as ChatStream, asynchronously. A task that is cancelled while it waits closes the connection."""

    failure: ClientError | None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the API cannot carry of the request, with paths in the `ChatRequest`."""
        ...

    @property
    def maps(self) -> Renames:
        """What stood for which id and tool name; it is undone in the events already."""
        ...

    @property
    def events(self) -> AsyncIterator[StreamEvent]:
        """The events that are still to come."""
        ...

    @property
    def response(self) -> ChatResponse:
        """What the events until now amount to: the answer, once all of them have come."""
        ...

    async def read(self) -> ChatResponse:
        """Reads the stream to its end, and gives the answer."""
        ...

    async def close(self) -> None:
        """Closes the connection, wherever the answer is."""
        ...

    def __aiter__(self) -> AsyncIterator[StreamEvent]: ...

    async def __anext__(self) -> StreamEvent: ...

    async def __aenter__(self) -> AsyncChatStream: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class ChatClient(Protocol):
    """Sends requests to one API. `model` is asked whatever a request says; None asks the one that it names.

    `keeps_conversations` says whether the API can hold a conversation itself, so that only what is new need be sent;
    the messages of such a client's answers have an `origin`, which tells them from what was made by hand.
    """

    api: str
    model: str | None
    keeps_conversations: bool

    def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        """The answer to a request.

        `timeout` is in seconds, as the SDK understands it; None is the SDK's own. Raises ClientError, DecodeError
        (the answer is none of this API), LossError (`on_loss="raise"`), EncodeError (nothing says which model).
        """
        ...

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> ChatStream:
        """The answer to a request as it comes. Raises what `complete` raises."""
        ...

    def close(self) -> None:
        """Closes the connections of the SDK's client, unless the caller gave it."""
        ...

    def __enter__(self) -> ChatClient: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class AsyncChatClient(Protocol):
    """The same as ChatClient, asynchronously."""

    api: str
    model: str | None
    keeps_conversations: bool

    async def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        """The answer to a request."""
        ...

    def stream(self, request: ChatRequest, *, timeout: float | None = None) -> AsyncChatStream:
        """The answer to a request as it comes."""
        ...

    async def close(self) -> None:
        """Closes the connections of the SDK's client, unless the caller gave it."""
        ...

    async def __aenter__(self) -> AsyncChatClient: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def chat_client(
    api: str,
    *,
    model: str | None = None,
    sdk: Any = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
    on_losses: Callable[[tuple[Loss, ...]], None] | None = None,
    **options: Any,
) -> ChatClient:
    """A client of an API, over its official SDK.

    `sdk` is a client of that SDK; without one, one is made of `options`: `api_key`, `base_url`, `timeout`,
    `max_retries`, `default_headers`, and whatever else that SDK takes. `policies` are those of `convert`; `on_losses`
    is told what the API could not be told of a request, and `on_loss="raise"` refuses to send such a request.

    Raises UnknownApiError (no client is registered for this API), ImportError (its SDK is not installed).
    """
    made: ChatClient = _clients_of(api).Client(
        sdk, model=model, policies=policies, on_loss=on_loss, on_losses=on_losses, **options
    )
    return made


def async_chat_client(
    api: str,
    *,
    model: str | None = None,
    sdk: Any = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
    on_losses: Callable[[tuple[Loss, ...]], None] | None = None,
    **options: Any,
) -> AsyncChatClient:
    """An asynchronous client of an API, made as `chat_client` makes one. `sdk` is the SDK's asynchronous client."""
    made: AsyncChatClient = _clients_of(api).AsyncClient(
        sdk, model=model, policies=policies, on_loss=on_loss, on_losses=on_losses, **options
    )
    return made


GROUP = "contentmodel.clients"


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, EntryPoint]:
    # Imported here: it takes longer than all the rest of this library.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _clients_of(api: str) -> Any:
    point = _entry_points().get(api)
    if point is None:
        known = ", ".join(sorted(_entry_points())) or "none: install contentmodel with its adapters"
        raise UnknownApiError(f"no client for {api!r}: installed are {known}")
    return point.load()
