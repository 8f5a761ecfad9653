"""The laws of errors: they keep their kind in every API, and content before an error in a stream is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, repeat
from typing import Any

from msgspec.structs import replace

from contentmodel import ChatResponse, DecodeError, ErrorContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.events import BlockStop, StreamEvent, TurnError, fold
from contentmodel_conformance import laws, streams
from contentmodel_conformance.laws import LawBroken


def errors(source: Any, target: Any, error: ErrorContent) -> None:
    """A converted error keeps its message and its kind, and has the code and the HTTP status of that kind.

    The target may begin the message with words by which its clients recognize the kind, and reports them.
    """
    decoded = source.decode_response(source.encode_response(ChatResponse(error=error)).payload)
    if decoded.error is None or decoded.error.kind is None:
        # The adapter does not distinguish kinds of errors.
        raise laws.Refused
    encoded = target.encode_response(decoded)
    try:
        converted = target.decode_response(encoded.payload).error
    except DecodeError as fault:
        raise LawBroken(
            "errors", "$", "the target's adapter refuses its own error body", decoded.error, str(fault)
        ) from None
    plain = ErrorContent(message=decoded.error.message, kind=decoded.error.kind)
    expected = target.decode_response(target.encode_response(ChatResponse(error=plain)).payload).error
    is_worded = any(loss.code == "error-words" for loss in encoded.losses)
    if converted is None or not _is_kept(decoded.error.message, converted.message, is_worded=is_worded):
        raise LawBroken("errors", "$.error.message", "the target has another message", decoded.error.message, converted)
    is_lost = any(loss.path.startswith("$.error") and loss.is_significant for loss in encoded.losses)
    errors = getattr(target, "errors", None)
    # The bodies of some APIs have no type of the error: the status of the response has it.
    in_status = errors is not None and not errors.keys and encoded.status == errors.status_of(decoded.error.kind)
    if converted.kind != decoded.error.kind and not is_lost and not in_status:
        raise LawBroken("errors", "$.error.kind", "the target has another kind", decoded.error.kind, converted.kind)
    if expected is not None and (expected.code is not None and converted.code == decoded.error.code != expected.code):
        raise LawBroken(
            "errors", "$.error.code", "the target has another code", getattr(expected, "code", None), converted
        )
    if not 400 <= (encoded.status or 0) < 600:
        raise LawBroken("errors", "$", "the error has no HTTP error status", "400 to 599", encoded.status)


def _is_kept(message: str | None, converted: str | None, *, is_worded: bool) -> bool:
    return converted == message or (is_worded and converted is not None and converted.endswith(message or ""))


def failing(adapter: Any, frames: Sequence[bytes], place: int) -> None:
    """A turn that ends with an error keeps its content when it is encoded for its own API.

    Incomplete content may change: a call is dropped with its result, and other blocks lose their unknown fields.
    """
    events = streams.decode(adapter, [*frames[:place], error_frame(adapter)])
    if not isinstance(events[-1], TurnError) or events[-1].error.message != ERROR.message:
        # The turn ended before the error.
        raise laws.Refused
    raw, _ = streams.encode(adapter, events)
    again = streams.decode(adapter, [raw])
    before, after = _without_calls(events), _without_calls(again)
    halves = [content in _halves(events) for content in _contents(before)]
    streams.same("failing", _without_fields(before, halves), _without_fields(after, halves))


ERROR = ErrorContent(message="The error of the test.", kind="server")


def error_frame(adapter: Any) -> bytes:
    """Return the error as an event of the API's stream."""
    return streams.encode(adapter, [TurnError(error=ERROR, response=ChatResponse())])[0]


def _halves(events: Sequence[StreamEvent]) -> list[Any]:
    """Return the contents of incomplete blocks."""
    return [event.content for event in events if isinstance(event, BlockStop) and not event.is_complete]


def _contents(response: ChatResponse) -> list[Any]:
    return [content for choice in response.choices for message in choice.messages for content in message.contents]


def _without_calls(events: Sequence[StreamEvent]) -> ChatResponse:
    """Fold a turn. Remove incomplete calls, their results, and empty messages."""
    calls = {half.call_id for half in _halves(events) if isinstance(half, ToolCallContent)}
    return _mapped(fold(events), lambda content: None if _is_of_call(content, calls) else content)


def _is_of_call(content: Any, calls: Collection[str | None]) -> bool:
    return isinstance(content, ToolCallContent | ToolResultContent) and content.call_id in calls


def _without_fields(response: ChatResponse, halves: Iterable[bool]) -> ChatResponse:
    """Return a response with the `extra` of incomplete contents removed."""
    rest = chain(halves, repeat(False))
    return _mapped(response, lambda content: replace(content, extra=None) if next(rest) else content)


def _mapped(response: ChatResponse, change: Callable[[Any], Any]) -> ChatResponse:
    """Return a response with its contents changed. Contents that become None, and empty messages, are removed."""
    choices = []
    for choice in response.choices:
        messages = []
        for message in choice.messages:
            contents = [changed for content in message.contents if (changed := change(content)) is not None]
            messages += [replace(message, contents=contents)] if contents else []
        choices.append(replace(choice, messages=messages, extra=choice.extra if messages else None))
    return replace(response, choices=choices)
