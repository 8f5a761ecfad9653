"""Convert payloads between APIs, and detect the API of a payload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

from contentmodel.adapter import Adapter, Payload, PayloadObject, RecognisesLists, adapter, adapters, as_json, traced
from contentmodel.engine.json import child_path, kind_of, parse
from contentmodel.engine.losses.encoded import Encoded, EncodedStream
from contentmodel.engine.losses.loss import LossError, significant
from contentmodel.engine.pipeline.lowering import check_choices
from contentmodel.engine.pipeline.names import Renames
from contentmodel.engine.streams.framing import AnyFraming, begins_like_sse
from contentmodel.errors import DecodeError, DetectError, Fault
from contentmodel.literals import OnLoss, PayloadKind, Policies
from contentmodel.request import ChatRequest
from contentmodel.rules import Violation
from contentmodel.streams import StreamConverter

KINDS: tuple[PayloadKind, ...] = get_args(PayloadKind)


class ConvertOptions(TypedDict, total=False):
    """The parameters of `convert` that do not affect the class of its result."""

    source: str | None
    model: str | None
    maps: Renames | None
    policies: Policies | None
    on_loss: OnLoss


@overload
def convert(
    payload: PayloadObject,
    *,
    target: str,
    kind: Literal["request", "response"] | None = None,
    **options: Unpack[ConvertOptions],
) -> Encoded: ...
@overload
def convert(
    payload: Payload, *, target: str, kind: Literal["request", "response"], **options: Unpack[ConvertOptions]
) -> Encoded: ...
@overload
def convert(
    payload: Payload, *, target: str, kind: Literal["stream"], **options: Unpack[ConvertOptions]
) -> EncodedStream: ...
@overload
def convert(
    payload: Payload, *, target: str, kind: PayloadKind | None = None, **options: Unpack[ConvertOptions]
) -> Encoded | EncodedStream: ...
def convert(
    payload: Payload,
    *,
    target: str,
    source: str | None = None,
    kind: PayloadKind | None = None,
    model: str | None = None,
    maps: Renames | None = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
) -> Encoded | EncodedStream:
    """Convert `payload` from the API `source` to the API `target`, and report every loss.

    `source` and `kind` ("request", "response", "stream") are detected if they are not given. A stream is converted as a
    whole, from bytes to bytes; use `StreamConverter` to convert it chunk by chunk.

    `model` is the model that will receive a converted request: the request is adapted to it. `maps` are the `maps` of
    the converted request that this response answers: the original ids and tool names are restored. `policies` chooses,
    by family, how to convert content that the target cannot represent (`contentmodel.POLICIES` lists the choices). If
    `on_loss` is "raise", raise LossError if any loss is significant.

    Raise DecodeError if the payload is not a valid payload of `source`, DetectError, UnknownApiError, LossError, and
    ValueError for an unknown kind or policy, or if `maps` are given with a request.
    """
    _check_kind(kind)
    chosen = check_choices(policies, on_loss)
    if kind == "stream" or (kind is None and _is_stream(payload)):
        return _convert_stream(payload, source, target, maps, policies, on_loss)
    if source is None or kind is None:
        payload = as_json(payload, source or "json")
        source, kind = detect(payload, api=source, kind=kind)
    reader, writer = adapter(source), adapter(target)
    if maps is not None and kind == "request":
        raise ValueError("maps apply to a response only, and this payload is a request: do not pass maps")
    value, trace = traced(reader, kind, payload)
    if isinstance(value, ChatRequest):
        encoded = writer.encode_request(value, chosen, model)
    else:
        replaced = None if trace is None else trace[1].replaced
        restored = value if maps is None else maps.restored_names(value, reader.restore_arguments, replaced)
        encoded = writer.encode_response(restored, chosen)
    if trace is not None:
        encoded.trace_to(*trace)
    if on_loss == "raise" and (serious := significant(encoded.losses)):
        raise LossError(target, serious)
    return encoded


def detect(payload: Payload, *, api: str | None = None, kind: PayloadKind | None = None) -> tuple[str, PayloadKind]:
    """Return the API id and the kind ("request", "response" or "stream") of a payload.

    A list of messages is a request. A stream is detected by the first event that only one API could have sent. Pass
    `api` or `kind` if it is already known. Raise DetectError if no API, or more than one, matches.
    """
    if kind == "stream" or (kind is None and _is_stream(payload)):
        return _detect_stream(payload, api), "stream"
    payload = as_json(payload, api or "json")
    if isinstance(payload, list) and kind != "response":
        return _detect_list(payload, api), "request"
    if not isinstance(payload, dict):
        raise DetectError(f"cannot detect the API of this payload: expected an object, got {kind_of(payload)}")
    candidates = adapters() if api is None else {api: adapter(api)}
    scores = {
        (name, key): score
        for name, candidate in candidates.items()
        for key, score in candidate.recognises(payload).items()
        if kind is None or key == kind
    }
    if not scores:
        problem, fix = f"this looks like neither a request nor a response of {api}", "pass its kind"
        if api is None:
            problem = f"no API recognizes an object with the keys {_keys(payload)}"
            fix = f"pass its API, one of {', '.join(sorted(candidates))}"
        misfits = "".join(f"{misfit}; " for misfit in _misfits(payload, candidates, kind))
        raise DetectError(f"{problem}: {misfits and misfits + 'correct the value, or '}{fix}")
    best = max(scores.values())
    winners = [key for key, score in scores.items() if score == best]
    # An error object may be both a response body and a stream event.
    winners = [key for key in winners if key[1] != "stream"] or winners
    if len(winners) > 1:
        names = " or ".join(f"{name} ({key})" for name, key in winners)
        missing = "API" if len({name for name, _ in winners}) > 1 else "kind"
        raise DetectError(f"this may be {names}: pass its {missing}")
    return winners[0]


_EMPTY: dict[str, Any] = {"array": [], "object": {}, "string": ""}
"""An empty value of each JSON class that identifies an API."""
_PROBED = 64
"""The number of keys that are probed for values of the wrong class. Requests of the APIs have fewer."""


def _misfits(payload: Mapping[str, Any], candidates: Mapping[str, Adapter], kind: PayloadKind | None) -> Iterator[str]:
    """Yield each key whose value has the wrong JSON class: with another class, an API recognizes the payload."""
    probe = dict(payload)
    for key in islice(payload, _PROBED):
        given = kind_of(payload[key])
        expected: dict[str, list[str]] = {}
        for name, empty in _EMPTY.items():
            if name != given:
                probe[key] = empty
                expected[name] = _owners(probe, candidates, kind)
        probe[key] = payload[key]
        classes = [name for name, owners in expected.items() if owners]
        if classes:
            owners = dict.fromkeys(owner for name in classes for owner in expected[name])
            yield (f"{child_path('$', key)}: expected {' or '.join(classes)} as in {' or '.join(owners)}, got {given}")


def _owners(payload: dict[str, Any], candidates: Mapping[str, Adapter], kind: PayloadKind | None) -> list[str]:
    """Return what a document may be: "a request of openai-chat"."""
    return [
        f"a {found} of {name}"
        for name, candidate in candidates.items()
        for found in candidate.recognises(payload)
        if found != "stream" and kind in (None, found)
    ]


def _detect_list(items: list[Any], api: str | None) -> str:
    """Return the API that recognizes a list of messages with the highest score. Raise DetectError if none does."""
    candidates = adapters() if api is None else {api: adapter(api)}
    scores = {
        name: candidate.recognises_list(items)
        for name, candidate in candidates.items()
        if isinstance(candidate, RecognisesLists)
    }
    best = max(scores, key=lambda name: scores[name], default="")
    if not scores.get(best):
        owners = "of an API" if api is None else f"of {api}"
        raise DetectError(f"an array must be a conversation, and this one has no messages {owners}")
    return best


def _is_stream(payload: Payload) -> bool:
    """Return whether a payload consists of server-sent events. JSON starts with other characters."""
    if not isinstance(payload, bytes | bytearray | memoryview | str):
        return False
    return begins_like_sse(_as_bytes(payload[:64])) is True


def _as_bytes(payload: Payload) -> bytes:
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogatepass")
    if isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload)
    raise DecodeError("stream", [Fault("$", f"expected the bytes of a stream, got {kind_of(payload)}")])


def _detect_stream(payload: Payload, api: str | None) -> str:
    """Return the API of the first event that only one API recognizes. Raise DetectError if there is no such event."""
    framing = AnyFraming()
    candidates = adapters() if api is None else {api: adapter(api)}
    for _, data in framing.feed(_as_bytes(payload)):
        try:
            event = parse(data)
        except DecodeError:
            continue
        scores = {
            name: candidate.recognises(event).get("stream", 0.0)
            for name, candidate in candidates.items()
            if isinstance(event, dict)
        }
        best = max(scores.values(), default=0.0)
        winners = [name for name, score in scores.items() if score == best]
        if best and len(winners) == 1:
            return winners[0]
    known = ", ".join(sorted(candidates))
    raise DetectError(f"no event of this stream identifies its API: pass its API, one of {known}")


def _convert_stream(
    payload: Payload,
    source: str | None,
    target: str,
    maps: Renames | None,
    policies: Policies | None,
    on_loss: OnLoss,
) -> EncodedStream:
    data = _as_bytes(payload)
    converter = StreamConverter(
        source or _detect_stream(data, None), target, maps=maps, policies=policies, on_loss=on_loss
    )
    return EncodedStream(converter.feed(data) + converter.close(), converter.losses)


def check(payload: Payload, *, api: str | None = None, model: str | None = None) -> list[Violation]:
    """Return the violations of a request payload (parts that `api` refuses, ignores or mishandles), or [].

    If `api` is None, detect it. `model` is the model of the request if the payload does not name one. If a rule does
    not apply to the model, or depends on a model that is missing or not one of the provider's, the rule is checked for
    the provider's newest model, and its violations have the severity "unchecked".
    `adapter(api).look_up_model(model).unlisted()` returns a sentence if no table lists the model, else None.

    Raise DecodeError if the payload is not a JSON object, DetectError, UnknownApiError.
    """
    if api is None:
        payload = as_json(payload, "json")
        api, _ = detect(payload, kind="request")
    violations: list[Violation] = adapter(api).check_request(payload, model)
    return violations


def _keys(payload: Mapping[str, Any]) -> str:
    keys = list(payload)
    return ", ".join(keys[:8]) + (", ..." if len(keys) > 8 else "") if keys else "(none)"


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")
