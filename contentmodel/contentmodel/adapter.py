"""The protocol of adapters, and the registry of installed adapters."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, cast, runtime_checkable

from contentmodel.errors import DecodeError, EncodeError, Fault, UnknownApiError
from contentmodel.json import JsonArray, kind_of, parse, plain
from contentmodel.lines import ParsedLines, parse_lines
from contentmodel.literals import DocumentForm, PayloadKind
from contentmodel.names import SHORT, api_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from contentmodel.capabilities import Known
    from contentmodel.encoded import Encoded
    from contentmodel.engine.context import DecodeContext
    from contentmodel.engine.streams.decoder import StreamDecoder
    from contentmodel.engine.streams.encoder import StreamEncoder
    from contentmodel.framing import StreamFormat
    from contentmodel.renames import SchemaMap
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse
    from contentmodel.rules import Violation


class SdkObject(Protocol):
    """An object of an official SDK (a pydantic model)."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_unset: bool) -> Any:
        """Return the object as JSON values."""
        ...


JsonText: TypeAlias = bytes | bytearray | memoryview | str
PayloadObject: TypeAlias = Mapping[str, Any] | list[Any] | SdkObject
Payload: TypeAlias = JsonText | PayloadObject
"""The input of decoders: JSON as bytes or str, a dict or a list, or an object of the API's official SDK.

For an adapter with the form "lines": JSON Lines as bytes or str, or the list of the values of the lines.
"""


@runtime_checkable
class Adapter(Protocol):
    """Decode and encode the payloads of one API. Sans-I/O: no sockets, no clocks, no SDK.

    An adapter may also implement the protocols `Traces`, `RecognisesLists`, `FoldsStreams`, `HasForm` and
    `HasStreamFormat`.
    """

    api: str
    issuer: str

    def decode_request(self, payload: Payload) -> ChatRequest:
        """Decode a request. Raise DecodeError with every fault if the payload is not a valid request of this API."""
        ...

    def encode_request(
        self, request: ChatRequest, policies: Mapping[str, str] | None = None, model: str | None = None
    ) -> Encoded:
        """Encode a request for this API and, if given, `model`. Return the payload and its losses."""
        ...

    def decode_response(self, payload: Payload) -> ChatResponse:
        """Decode a response or an error body. Raise DecodeError with every fault if the payload is neither."""
        ...

    def encode_response(self, response: ChatResponse, policies: Mapping[str, str] | None = None) -> Encoded:
        """Encode a response in the format of this API. Return the payload and its losses."""
        ...

    def stream_decoder(self, *, deltas: bool = True) -> StreamDecoder:
        """Return a decoder for one stream of this API. If `deltas` is False, it emits no delta events."""
        ...

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> StreamEncoder:
        """Return an encoder for one stream of this API."""
        ...

    def check_request(self, payload: Payload, model: str | None = None) -> list[Violation]:
        """Return the violations of this API's rules in a request. Raise DecodeError if it is not a JSON object.

        `model` is the model of the request if the payload does not name one.
        """
        ...

    def restore_arguments(self, arguments: Any, adapted: SchemaMap) -> Any:
        """Convert the arguments of a call from an adapted schema back to the original schema."""
        ...

    def recognises(self, payload: dict[str, Any]) -> Mapping[PayloadKind, float]:
        """Return how likely a payload belongs to this API, by kind: {"request": 0.9}; {} if it does not."""
        ...

    def look_up_model(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        """Return the capabilities of a model (`capabilities`), and whether a table lists the model (`status`)."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the tables as data, for documentation, coverage and generators."""
        ...


class Traces(Protocol):
    """An adapter that records the source paths of decoded values.

    With such an adapter, the paths of losses refer to the source payload; without it, they refer to the model. Both
    methods return the decoded value, the payload as plain JSON values, and the record of source paths.
    """

    def trace_request(self, payload: Payload) -> tuple[ChatRequest, Any, DecodeContext]:
        """Decode a request and record source paths."""
        ...

    def trace_response(self, payload: Payload) -> tuple[ChatResponse, Any, DecodeContext]:
        """Decode a response and record source paths."""
        ...


@runtime_checkable
class RecognisesLists(Protocol):
    """An adapter that reads a bare list of messages as a request."""

    def recognises_list(self, items: list[Any]) -> float:
        """Return how likely a list contains messages of this API, from 0 to 1."""
        ...


@runtime_checkable
class FoldsStreams(Protocol):
    """An adapter whose streams are conversations: their events make a request, and not an answer."""

    def request_of_stream(self, stream: bytes) -> dict[str, Any]:
        """Return the payload of the request. Raise DecodeError if an event is malformed."""
        ...


class HasForm(Protocol):
    """An adapter that states the form of its documents. Without this attribute, a document is one JSON value.

    If the form is "lines", a document is JSON Lines: its payload is the list of the values of its lines, in which a
    `str` is the text of a line that is not JSON (`contentmodel.lines`). `recognises_list` detects it.
    """

    form: DocumentForm


class HasStreamFormat(Protocol):
    """An adapter that states how the events of its streams become bytes. Without it: server-sent events."""

    stream_format: StreamFormat


def form_of(api: str) -> DocumentForm:
    """Return the form of the documents of an API; "json" if no such adapter is installed."""
    if api not in _entry_points():
        return "json"
    form: DocumentForm = getattr(adapter(api), "form", "json")
    return form


def as_json(payload: Payload, api: str, form: DocumentForm | None = None) -> Any:
    """Return the payload as plain JSON values. The caller's objects are not modified.

    `form` is the form of the payload; None stands for the form of the installed adapter `api`. If it is "lines",
    return the list of the values of the lines: an object is the only line. Raise DecodeError if the payload is not of
    this form.
    """
    is_text = isinstance(payload, bytes | bytearray | memoryview | str)
    if (form or form_of(api)) == "json":
        return parse(cast(JsonText, payload), api) if is_text else plain(payload, api)
    if payload.__class__ is ParsedLines:
        return [*payload]
    values = _lines_of(cast(JsonText, payload)) if is_text else plain(payload, api)
    if values.__class__ is dict:
        return [values]
    if values.__class__ is not list:
        raise DecodeError(api, [Fault("$", f"expected JSON Lines or an array of their values, got {kind_of(values)}")])
    return values


def _lines_of(text: JsonText) -> JsonArray:
    """Return the values of JSON Lines. One object on several lines is one value."""
    lines = parse_lines(text)
    if len(lines) > 1 and lines[0] == "{":
        try:
            value = parse(text)
        except DecodeError:
            return lines
        return [value]
    return lines


def traced(
    reader: Adapter, kind: str, payload: Payload
) -> tuple[ChatRequest | ChatResponse, tuple[Any, DecodeContext] | None]:
    """Decode `payload`. Also return its source trace for `Encoded.trace_to`, or None if the adapter does not trace."""
    # An isinstance check of the protocol takes a fifth of the time of converting a short response.
    if hasattr(reader, "trace_request"):
        tracing = cast("Traces", reader)
        value, wire, context = tracing.trace_request(payload) if kind == "request" else tracing.trace_response(payload)
        return value, (wire, context)
    return reader.decode_request(payload) if kind == "request" else reader.decode_response(payload), None


GROUP = "contentmodel.adapters"


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, EntryPoint]:
    # Imported lazily: this import takes longer than the rest of the library.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def adapter(api: str) -> Adapter:
    """Return the adapter registered under an API id or a short name of one.

    Raise UnknownApiError, which lists the installed adapters.
    """
    point = _entry_points().get(api_of(api))
    if point is None:
        known = ", ".join(sorted(_entry_points())) or "none: install contentmodel with its adapters"
        hint = did_you_mean(api, [*_entry_points(), *SHORT])
        raise UnknownApiError(f"no adapter for {api!r}: {hint}installed adapters are {known}")
    loaded: Adapter = point.load()
    return loaded


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return the question for the known names that resemble a name, with a space after it; "" if none does."""
    from difflib import get_close_matches

    near = get_close_matches(str(name), names, 3, 0.5)
    return f"did you mean {' or '.join(map(repr, near))}? " if near else ""


def adapters() -> dict[str, Adapter]:
    """Return all installed adapters by API id (entry point group `contentmodel.adapters`).

    If an adapter cannot be loaded, omit it with a RuntimeWarning, so that the others still work.
    """
    loaded = {}
    for name in sorted(_entry_points()):
        try:
            loaded[name] = adapter(name)
        except Exception as error:
            warnings.warn(f"the adapter {name} cannot be loaded: {error}", RuntimeWarning, stacklevel=2)
    return loaded


def violations_of(
    writer: Adapter, payload: Payload, model: str | None, policies: Mapping[str, str] | None
) -> list[Violation]:
    """Return the violations of a request. Adapters that are not made of tables need not accept policies."""
    arguments = (policies,) if policies and policies.keys() & {"capabilities", "dialect"} else ()
    return writer.check_request(payload, model, *arguments)


class RequestsOnly:
    """A base class of adapters that have only requests. The other methods raise an error with a fix."""

    api: str

    def decode_response(self, payload: Payload) -> NoReturn:
        """Raise DecodeError: the format has no responses."""
        raise self._refused("responses")

    def trace_response(self, payload: Payload, *, is_plain: bool = False) -> NoReturn:
        """Raise DecodeError: the format has no responses."""
        raise self._refused("responses")

    def stream_decoder(self, *, deltas: bool = True) -> NoReturn:
        """Raise DecodeError: the format has no streams."""
        raise self._refused("streams")

    def encode_response(self, response: ChatResponse, policies: Mapping[str, str] | None = None) -> NoReturn:
        """Raise EncodeError: the format has no responses."""
        raise EncodeError(
            f"{self.api} has no responses, only conversations: convert the request with the messages of the response"
        )

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> NoReturn:
        """Raise EncodeError: the format has no streams."""
        raise EncodeError(
            f"{self.api} has no streams, only conversations: convert the request with the messages of the response"
        )

    def _refused(self, what: str) -> DecodeError:
        return DecodeError(self.api, [Fault("$", f"{self.api} has no {what}, only conversations: decode a request")])
