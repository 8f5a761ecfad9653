"""What an adapter is, and the registry of those that are installed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from contentmodel.errors import UnknownApiError
from contentmodel.wire.json import parse, plain

if TYPE_CHECKING:
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse
    from contentmodel.rules import Violation
    from contentmodel.wire.encoded import Encoded
    from contentmodel.wire.names import SchemaMap
    from contentmodel.wire.stream_encoding import StreamEncoder
    from contentmodel.wire.streaming import StreamDecoder

Payload = Any
"""What decoders take: JSON as bytes or str, a dict, or an object of the API's official SDK."""


@runtime_checkable
class Adapter(Protocol):
    """Takes one API's payloads in and out of the model. Sans-I/O: no sockets, no clocks, no SDK.

    An adapter may also have `trace_request` and `trace_response`, which give what decoding gives, the payload as plain
    JSON, and where everything came from: then losses are named by their places in the payload, else by those in the
    model. One that reads a bare list of messages as a request has `recognises_list`, which gives how much a list looks
    like them, from 0 to 1. One that knows what models take has `knowing`, which returns that for a model's name.
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

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """How much a payload looks like this API's, by kind: {"request": 0.9}; {} where not at all."""
        ...

    def describe(self) -> dict[str, Any]:
        """The tables as data, for documentation, coverage and generators."""
        ...


def as_json(payload: Payload, api: str) -> Any:
    """The payload as plain JSON values; what the caller owns is not touched."""
    if isinstance(payload, bytes | bytearray | memoryview | str):
        return parse(payload, api)
    return plain(payload, api)


def traced(reader: Adapter, kind: str, payload: Payload) -> tuple[Any, tuple[Any, Any] | None]:
    """What a payload is, and what came from where in it, as `Encoded.trace_to` takes it; None where nobody knows."""
    trace = getattr(reader, f"trace_{kind}", None)
    if trace is not None:
        value, wire, context = trace(payload)
        return value, (wire, context)
    return (reader.decode_request if kind == "request" else reader.decode_response)(payload), None


GROUP = "contentmodel.adapters"


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, Any]:
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
