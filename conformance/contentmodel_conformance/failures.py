"""The law of errors: an error keeps its kind and its message in every API that has a word for it."""

from __future__ import annotations

from typing import Any

from contentmodel import ChatResponse, DecodeError, ErrorContent
from contentmodel_conformance import laws
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
    for name in ("message", "kind"):
        said, kept = getattr(expected, name, None), getattr(made, name, None)
        if said != kept:
            raise LawBroken("errors", f"$.error.{name}", "it is another one in the target", said, kept)
    if made is None or (expected.code is not None and made.code == told.error.code != expected.code):
        raise LawBroken("errors", "$.error.code", "the target has another word", getattr(expected, "code", None), made)
    if not 400 <= (encoded.status or 0) < 600:
        raise LawBroken("errors", "$", "no HTTP status goes with it", "400 to 599", encoded.status)
