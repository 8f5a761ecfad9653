"""What an adapter is, and the registry of those that are installed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

from contentmodel.engine.json import parse, plain
from contentmodel.errors import UnknownApiError
from contentmodel.literals import PayloadKind

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from contentmodel.capabilities import Known
    from contentmodel.engine.context import DecodeContext
    from contentmodel.engine.losses.encoded import Encoded
    from contentmodel.engine.pipeline.names import SchemaMap
    from contentmodel.engine.streams.decoder import StreamDecoder
    from contentmodel.engine.streams.encoder import StreamEncoder
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse
    from contentmodel.rules import Violation


class SdkObject(Protocol):
    """An object of an official SDK: a pydantic model."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_unset: bool) -> Any:
        """Return the object as JSON values."""
        ...


JsonText: TypeAlias = bytes | bytearray | memoryview | str
PayloadObject: TypeAlias = Mapping[str, Any] | list[Any] | SdkObject
Payload: TypeAlias = JsonText | PayloadObject
"""What decoders take: JSON as bytes or str, a dict or a list, or an object of the API's official SDK."""


@runtime_checkable
class Adapter(Protocol):
    """Takes one API's payloads in and out of the model. Sans-I/O: no sockets, no clocks, no SDK.

    An adapter may also be one that `Traces`, and one that `RecognisesLists`.
    """

    api: str
    issuer: str

    def decode_request(self, payload: Payload) -> ChatRequest:
        """DecodeError with every fault where the payload is no request of this API."""
        ...

    def encode_request(
        self, request: ChatRequest, policies: Mapping[str, str] | None = None, model: str | None = None
    ) -> Encoded:
        """The request as this API (and this model of it) takes it, and what it cannot carry."""
        ...

    def decode_response(self, payload: Payload) -> ChatResponse:
        """An answer, or an error body. DecodeError with every fault where it is neither."""
        ...

    def encode_response(self, response: ChatResponse, policies: Mapping[str, str] | None = None) -> Encoded:
        """The answer as this API would have given it, and what it cannot carry."""
        ...

    def stream_decoder(self, *, deltas: bool = True) -> StreamDecoder:
        """What reads one stream of this API; without `deltas`, events are only made of blocks that are complete."""
        ...

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> StreamEncoder:
        """What writes one stream of this API."""
        ...

    def check_request(self, payload: Payload, model: str | None = None) -> list[Violation]:
        """What this API refuses, ignores or answers badly in a request; DecodeError where it is no JSON object.

        `model` is the one that the request is for, where the payload does not say it.
        """
        ...

    def restore_arguments(self, arguments: Any, adapted: SchemaMap) -> Any:
        """Arguments that a model of this API gave for an adapted schema, as the original schema has them."""
        ...

    def recognises(self, payload: dict[str, Any]) -> Mapping[PayloadKind, float]:
        """How much a payload looks like this API's, by kind: {"request": 0.9}; {} where not at all."""
        ...

    def knowing(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        """Return what is known of a model: what it `takes`, and by its `status` whether a table lists it."""
        ...

    def describe(self) -> dict[str, Any]:
        """The tables as data, for documentation, coverage and generators."""
        ...


class Traces(Protocol):
    """An adapter that reports where values come from: losses then have paths of the payload, else of the model.

    Both methods return what decoding returns, the payload as plain JSON values, and what came from where.
    """

    def trace_request(self, payload: Payload) -> tuple[ChatRequest, Any, DecodeContext]:
        """Decode a request."""
        ...

    def trace_response(self, payload: Payload) -> tuple[ChatResponse, Any, DecodeContext]:
        """Decode an answer."""
        ...


@runtime_checkable
class RecognisesLists(Protocol):
    """An adapter that reads a bare list of messages as a request."""

    def recognises_list(self, items: list[Any]) -> float:
        """Return how much a list looks like messages of this API, from 0 to 1."""
        ...


def as_json(payload: Payload, api: str) -> Any:
    """The payload as plain JSON values; what the caller owns is not touched."""
    if isinstance(payload, bytes | bytearray | memoryview | str):
        return parse(payload, api)
    return plain(payload, api)


def traced(
    reader: Adapter, kind: str, payload: Payload
) -> tuple[ChatRequest | ChatResponse, tuple[Any, DecodeContext] | None]:
    """Return what a payload holds, and what came from where in it, as `Encoded.trace_to` takes it.

    The latter is None if the adapter does not trace.
    """
    # Asking whether the adapter is one of the protocol takes a fifth of the time of converting a short answer.
    if hasattr(reader, "trace_request"):
        tracing = cast("Traces", reader)
        value, wire, context = tracing.trace_request(payload) if kind == "request" else tracing.trace_response(payload)
        return value, (wire, context)
    return reader.decode_request(payload) if kind == "request" else reader.decode_response(payload), None


GROUP = "contentmodel.adapters"


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, EntryPoint]:
    # Imported here: it takes longer than all the rest of this library.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def adapter(api: str) -> Adapter:
    """The adapter registered under an API id. UnknownApiError names those that are installed."""
    point = _entry_points().get(api)
    if point is None:
        known = ", ".join(sorted(_entry_points())) or "none: install contentmodel with its adapters"
        raise UnknownApiError(f"no adapter for {api!r}: installed are {known}")
    loaded: Adapter = point.load()
    return loaded


def adapters() -> dict[str, Adapter]:
    """Every installed adapter, by API id (entry point group `contentmodel.adapters`).

    One that cannot be loaded is left out with a warning: it must not take the others with it.
    """
    found = {}
    for name in sorted(_entry_points()):
        try:
            found[name] = adapter(name)
        except Exception as error:
            warnings.warn(f"the adapter {name} cannot be loaded: {error}", RuntimeWarning, stacklevel=2)
    return found
