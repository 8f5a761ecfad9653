"""Convert payloads between APIs, and check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict, Unpack, get_args, overload

from contentmodel.adapter import Adapter, FoldsStreams, Payload, PayloadObject, adapter, traced, violations_of
from contentmodel.detecting import bytes_of, detect, detect_stream, identify, is_stream
from contentmodel.encoded import Encoded, EncodedStream
from contentmodel.lanes.lane import lane_of
from contentmodel.literals import OnLoss, PayloadKind, Policies
from contentmodel.losses import LossError, significant
from contentmodel.names import SHORT, api_and_model
from contentmodel.policies import check_choices, check_policies
from contentmodel.renames import Renames
from contentmodel.request import ChatRequest
from contentmodel.rules import Violation
from contentmodel.streams import StreamConverter

__all__ = ["KINDS", "ConvertOptions", "check", "convert", "detect"]

_SHORT = 10_000
"""Shorter texts of requests take no lane."""

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

    `target` may name the model, too: "anthropic:claude-opus-5". "openai", "anthropic" and other names of providers
    stand for their newest API (`contentmodel.names.SHORT`).

    `source` and `kind` ("request", "response", "stream") are detected if they are not given. A stream is converted as a
    whole, from bytes to bytes; use `StreamConverter` to convert it chunk by chunk. The events of a run of AG-UI,
    and the chunks of a UI message, are a conversation: they become a request.

    `model` is the model that will receive a converted request: the request is adapted to it. `maps` are the `maps` of
    the converted request that this response answers: the original ids and tool names are restored. `policies` chooses,
    by family, how to convert content that the target cannot represent (`contentmodel.POLICIES` lists the choices). If
    `on_loss` is "raise", raise LossError if any loss is significant.

    Raise DecodeError if the payload is not a valid payload of `source`, DetectError, UnknownApiError, LossError, and
    ValueError for an unknown kind or policy, or if `maps` are given with a request.
    """
    if ":" in target or target in SHORT:
        target, model = api_and_model(target, model)
    source = source and SHORT.get(source, source)
    _check_kind(kind)
    chosen = check_choices(policies, on_loss)
    if kind != "response" and is_stream(payload):
        data = bytes_of(payload)
        source = source or detect_stream(data, None)
        whole = adapter(source)
        if kind != "stream" and isinstance(whole, FoldsStreams):
            payload, kind = whole.request_of_stream(data), "request"
        elif kind is None:
            kind = "stream"
    if kind == "stream":
        return _convert_stream(payload, source, target, maps, policies, on_loss)
    if source is None or kind is None:
        payload, source, kind = identify(payload, source, kind)
    reader, writer = adapter(source), adapter(target)
    if maps is not None and kind == "request":
        raise ValueError("maps apply to a response only, and this payload is a request: do not pass maps")
    is_short = kind == "request" and isinstance(payload, bytes | str) and len(payload) < _SHORT
    lane = lane_of(reader, writer, chosen) if maps is None and not is_short else None
    if lane is None:
        encoded = _by_model(payload, reader, writer, kind, model, maps, chosen)
    else:
        encoded = lane.answer(payload) if kind == "response" else lane.request(payload, model)
    if on_loss == "raise" and (serious := significant(encoded.losses)):
        raise LossError(target, serious)
    return encoded


def _by_model(
    payload: Payload,
    reader: Adapter,
    writer: Adapter,
    kind: str,
    model: str | None,
    maps: Renames | None,
    policies: Mapping[str, str] | None,
) -> Encoded:
    value, trace = traced(reader, kind, payload)
    if isinstance(value, ChatRequest):
        encoded = writer.encode_request(value, policies, model)
    else:
        replaced = None if trace is None else trace[1].replaced
        restored = value if maps is None else maps.restored_names(value, reader.restore_arguments, replaced)
        encoded = writer.encode_response(restored, policies)
    return encoded if trace is None else encoded.trace_to(*trace)


def _convert_stream(
    payload: Payload,
    source: str | None,
    target: str,
    maps: Renames | None,
    policies: Policies | None,
    on_loss: OnLoss,
) -> EncodedStream:
    data = bytes_of(payload)
    converter = StreamConverter(
        source or detect_stream(data, None), target, maps=maps, policies=policies, on_loss=on_loss
    )
    return EncodedStream(converter.feed(data) + converter.close(), converter.losses)


def check(
    payload: Payload, *, api: str | None = None, model: str | None = None, policies: Policies | None = None
) -> list[Violation]:
    """Return the violations of a request payload (parts that `api` refuses, ignores or mishandles), or [].

    If `api` is None, detect it. `model` is the model of the request if the payload does not name one. If a rule does
    not apply to the model, or depends on a model that is missing or not one of the provider's, the rule is checked for
    the provider's newest model, and its violations have the severity "unchecked". The policy `capabilities` describes
    the model, and `dialect` names its host.
    `adapter(api).look_up_model(model).unlisted()` returns a sentence if no table lists the model, else None.

    Raise DecodeError if the payload is not a document of the API's form, DetectError, UnknownApiError, and ValueError
    for an unknown policy.
    """
    if api is None:
        payload, api, _ = identify(payload, None, "request")
    else:
        api, model = api_and_model(api, model)
    return violations_of(adapter(api), payload, model, check_policies(policies))


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")
