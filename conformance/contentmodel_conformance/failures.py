"""The laws of errors: they keep their kind in every API, and what came before them in a stream counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel import ChatResponse, DecodeError, ErrorContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.events import TurnError, fold
from contentmodel_conformance import laws, streams
from contentmodel_conformance.laws import LawBroken


def errors(source: Any, target: Any, error: ErrorContent) -> None:
    """An error keeps its message and its kind on the way to another API, and has the status that goes with it there."""
    told = source.decode_response(source.encode_response(ChatResponse(error=error)).payload)
    if told.error is None or told.error.kind is None:
        # The adapter tells no kinds of errors apart.
        raise laws.Refused
    encoded = target.encode_response(told)
    try:
        made = target.decode_response(encoded.payload).error
    except DecodeError as fault:
        raise LawBroken("errors", "$", "the target's own error body is refused", told.error, str(fault)) from None
    plain = ErrorContent(message=told.error.message, kind=told.error.kind)
    expected = target.decode_response(target.encode_response(ChatResponse(error=plain)).payload).error
    if made is None or made.message != told.error.message:
        raise LawBroken("errors", "$.error.message", "it is another one in the target", told.error.message, made)
    is_lost = any(loss.path.startswith("$.error") and loss.is_significant for loss in encoded.losses)
    if made.kind != told.error.kind and not is_lost:
        raise LawBroken("errors", "$.error.kind", "it is another one in the target", told.error.kind, made.kind)
    if expected is not None and (expected.code is not None and made.code == told.error.code != expected.code):
        raise LawBroken("errors", "$.error.code", "the target has another word", getattr(expected, "code", None), made)
    if not 400 <= (encoded.status or 0) < 600:
        raise LawBroken("errors", "$", "no HTTP status goes with it", "400 to 599", encoded.status)


def failing(adapter: Any, frames: Sequence[bytes], place: int) -> None:
    """A turn that an error ends keeps all that it had until then when it is written again for its own API."""
    events = streams.decode(adapter, [*frames[:place], error_frame(adapter)])
    if not isinstance(events[-1], TurnError) or events[-1].error.message != ERROR.message:
        # The turn was over.
        raise laws.Refused
    raw, _ = streams.encode(adapter, events)
    again = fold(streams.decode(adapter, [raw]))
    streams.same("failing", _without_halves(fold(events)), _without_halves(again))


ERROR = ErrorContent(message="The error of the test.", kind="server")


def error_frame(adapter: Any) -> bytes:
    """Return an error as the API's stream has it."""
    return streams.encode(adapter, [TurnError(error=ERROR, response=ChatResponse())])[0]


def _without_halves(response: ChatResponse) -> ChatResponse:
    """Return a response without what a block that broke off may lose: calls and results, and the fields of the wire."""
    replace = msgspec.structs.replace
    choices = []
    for choice in response.choices:
        messages = []
        for message in choice.messages:
            whole = [c for c in message.contents if not isinstance(c, ToolCallContent | ToolResultContent)]
            messages.append(replace(message, contents=[replace(content, extra=None) for content in whole]))
        choices.append(replace(choice, messages=messages))
    return replace(response, choices=choices)
