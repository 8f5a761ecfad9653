"""Encode a turn as the bytes of one API, and apply faults. Pure: no sockets and no clocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import msgspec

from contentmodel.adapter import adapter
from contentmodel.content.base import Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel.framing import StreamFormat, stream_format_of
from contentmodel.json import write
from contentmodel.losses import Loss, significant
from contentmodel.message import ChatMessage, FinishReason, Origin
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.unfolding import unfold
from contentmodel_conformance.server.endpoints import STATUSES, Endpoint
from contentmodel_conformance.server.script import Fault

JSON_TYPE = "application/json"
SCRIPTED = Origin(api="script", issuer="script")
"""The origin of answers that have none. For it, encoders supply what their API always sends."""
SIGNATURE = Protected(issuer="google", kind="signature", data="c2NyaXB0ZWQ=")
"""The signature of a turn with calls, which Gemini 3 requires in the next request."""


@dataclass(frozen=True)
class Stall:
    """The server sends nothing for `seconds`."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The server closes the connection."""


Step: TypeAlias = bytes | Stall | Cut


@dataclass(frozen=True)
class Body:
    """An answer in frames: the events of a stream, or one whole body. Frames from index `closing` on end it.

    `stream_format` is the format of the events; None for a JSON body, whether it is whole or streamed as an array.
    """

    status: int
    media_type: str
    frames: tuple[bytes, ...]
    closing: int
    losses: tuple[Loss, ...] = ()
    stream_format: StreamFormat | None = None

    @property
    def is_stream(self) -> bool:
        """True if the frames are events."""
        return self.stream_format is not None or len(self.frames) > 1


# -- missing ids, models and finish reasons ----------------------------------------------------------------------------


def dressed(response: ChatResponse, endpoint: Endpoint, model: str | None, number: int) -> ChatResponse:
    """Return the response with missing ids, model and finish reason filled in.

    A response that came from this API is returned unchanged.
    """
    if response.origin is not None and response.origin.api == endpoint.api:
        return response
    signs = endpoint.signs if adapter(endpoint.api).look_up_model(model).capabilities.signed_calls else None
    choices = [_dressed_choice(choice, partial(endpoint.call_id.format, number), signs) for choice in response.choices]
    return msgspec.structs.replace(
        response,
        id=response.id or f"{endpoint.id_prefix}{number}",
        model=response.model or model or "scripted",
        origin=response.origin or SCRIPTED,
        choices=choices,
    )


def _dressed_choice(choice: ChatChoice, id_of: Callable[[int], str], signs: str | None) -> ChatChoice:
    numbers = count()
    messages = [_with_call_ids(message, numbers, id_of) for message in choice.messages]
    if signs is not None:
        messages = _signed(messages, signs)
    has_calls = any(message.tool_calls for message in messages)
    finish = choice.finish_reason or FinishReason(reason="tool_calls" if has_calls else "stop")
    return msgspec.structs.replace(choice, messages=messages, finish_reason=finish)


def _with_call_ids(message: ChatMessage, numbers: Iterator[int], id_of: Callable[[int], str]) -> ChatMessage:
    contents: list[Any] = []
    for place, content in zip(numbers, message.contents, strict=False):
        if isinstance(content, ToolCallContent) and content.executor == "client" and not content.call_id:
            content = msgspec.structs.replace(content, call_id=id_of(place))
        contents.append(content)
    return msgspec.structs.replace(message, contents=contents, origin=message.origin or SCRIPTED)


def _signed(messages: list[ChatMessage], signs: str) -> list[ChatMessage]:
    """Return messages with a signature on the first call, or on a thought before it, unless something is signed."""
    places = [(message, place) for message in messages for place in range(len(message.contents))]
    signed = any(getattr(message.contents[place], "protected", None) for message, place in places)
    first = next(((m, at) for m, at in places if isinstance(m.contents[at], FunctionCallContent)), None)
    if signed or first is None:
        return messages
    contents: list[Any] = list(first[0].contents)
    if signs == "thought":
        contents.insert(first[1], ReasoningContent(protected=SIGNATURE))
    else:
        contents[first[1]] = msgspec.structs.replace(contents[first[1]], protected=SIGNATURE)
    changed = msgspec.structs.replace(first[0], contents=contents)
    return [changed if message is first[0] else message for message in messages]


# -- bodies ------------------------------------------------------------------------------------------------------------


def error_body(endpoint: Endpoint, status: int, message: str, retry_after: float | None = None) -> Body:
    """Return an error of this API."""
    return Body(status, JSON_TYPE, (write(endpoint.error_body(status, message, retry_after)),), 1)


def body_of(response: ChatResponse, endpoint: Endpoint, *, streams: str | None = None, size: int | None = None) -> Body:
    """Encode an answer: plain (`streams` is None), as "events" of the API's stream, or as a streamed JSON "array".

    A response with only an error becomes an error body with a matching HTTP status, streamed or not.
    """
    if response.error is not None and not response.choices:
        body = _failure(response, endpoint)
        if body is not None:
            return body
    if streams is None:
        encoded = adapter(endpoint.api).encode_response(response, endpoint.policies)
        return Body(200, JSON_TYPE, (write(encoded.payload),), 1, significant(encoded.losses))
    body = _stream(response, endpoint, size)
    return body if streams == "events" else _as_array(body)


def _failure(response: ChatResponse, endpoint: Endpoint) -> Body | None:
    """Return an error body; None if the API reports the failure in a full answer."""
    assert response.error is not None
    encoded = adapter(endpoint.api).encode_response(response, endpoint.policies)
    payload, own_error = encoded.payload, encoded.payload.get("error")
    is_native = response.origin is not None and response.origin.api == endpoint.api
    if is_native and not payload.keys() <= endpoint.error_fields:
        return None
    # The fields of an error are in an object, or at the top of the body.
    error = own_error if isinstance(own_error, dict) else payload
    status = status_of([response.error.code, *error.values()])
    if not is_native:
        usual = endpoint.error_body(status, response.error.message)
        payload = {**usual, "error": {**usual["error"], **error}} if error is own_error else {**usual, **payload}
    return Body(status, JSON_TYPE, (write(payload),), 1, significant(encoded.losses))


def status_of(codes: Iterable[Any]) -> int:
    """Return the HTTP status for an error's codes: the first that is a status or a known error code; else 500."""
    for code in codes:
        if isinstance(code, int) and 400 <= code <= 599:
            return code
        if isinstance(code, str) and code in STATUSES:
            return STATUSES[code]
    return 500


def _stream(response: ChatResponse, endpoint: Endpoint, size: int | None) -> Body:
    encoder = adapter(endpoint.api).stream_encoder(endpoint.policies)
    form = stream_format_of(adapter(endpoint.api), endpoint.policies)
    opening: list[bytes] = []
    closing: list[bytes] = []
    for event in unfold(response, size=size):
        (closing if isinstance(event, TurnComplete | TurnError) else opening).append(encoder.feed(event))
    closing.append(encoder.close())
    frames = form.split(b"".join(opening))
    ends = form.split(b"".join(closing))
    return Body(200, form.media_type, (*frames, *ends), len(frames), significant(encoder.losses), form)


def _as_array(body: Body) -> Body:
    """Return the events as elements of one JSON array, as Gemini sends them without `alt=sse`."""
    assert body.stream_format is not None
    parsed = body.stream_format.framing().feed(b"".join(body.frames))
    frames = [(b"," if place else b"[") + data for place, (_, data) in enumerate(parsed)]
    return Body(body.status, JSON_TYPE, (*frames, b"]" if frames else b"[]"), body.closing, body.losses)


# -- faults ------------------------------------------------------------------------------------------------------------


def steps_of(body: Body, fault: Fault | None) -> Iterator[Step]:
    """Yield what to send, and when to wait or to close the connection."""
    if fault is None:
        yield from body.frames
        return
    marks: list[tuple[int, Step]] = []
    if fault.stall is not None:
        marks.append((fault.stall_after, Stall(fault.stall)))
    if fault.drop_after is not None:
        marks.append((fault.drop_after, Cut()))
    # At the same offset, the wait comes first: nothing follows a cut.
    yield from _with_marks(with_fault(body, fault), sorted(marks, key=lambda mark: mark[0]))


def with_fault(body: Body, fault: Fault) -> list[bytes]:
    """Return the frames with the fault applied (`malformed_at`, `truncate`)."""
    frames = list(body.frames)
    if fault.malformed_at is not None:
        place = min(fault.malformed_at, len(frames) - 1)
        frames[place] = _broken(frames[place], body.stream_format)
    if not fault.truncate:
        return frames
    return frames[: body.closing] if body.is_stream else [_half(frames[0])]


def _broken(frame: bytes, form: StreamFormat | None) -> bytes:
    """Return a frame with its JSON cut in half."""
    events = [] if form is None else form.framing().feed(frame)
    if form is None or len(events) != 1:
        return _half(frame)
    name, data = events[0]
    return form.write(_half(data), name)


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _with_marks(frames: Iterable[bytes], marks: list[tuple[int, Step]]) -> Iterator[Step]:
    """Yield the frames, with each mark at its byte offset, or at the end if the frames are shorter."""
    at = 0
    for frame in frames:
        while marks and marks[0][0] < at + len(frame):
            place, mark = marks.pop(0)
            if place > at:
                yield frame[: place - at]
                frame, at = frame[place - at :], place
            yield mark
        yield frame
        at += len(frame)
    yield from (mark for _, mark in marks)
