"""The law of endings: a failure never becomes a usual end, whole or streamed, and a missing end follows one rule."""

from __future__ import annotations

from typing import Any

from contentmodel import events as ev
from contentmodel.response import ChatResponse
from contentmodel.unfolding import unfold
from contentmodel_conformance import streams
from contentmodel_conformance.laws import LawBroken

__all__ = ["honest_endings"]

USUAL = ("stop", "tool_calls")
UNUSUAL = ("error", "cancelled", "content_filter", "refusal", "length")


def honest_endings(target: Any, response: ChatResponse) -> None:
    """Encode an answer so that one that failed, or was cut off, blocked or refused, never ends like a usual one.

    This holds for whole answers and streams of other APIs. A stream ends with a failure without another end before it.
    An answer without a finish reason gets the usual one, "tool_calls" if it has calls, with a loss.
    """
    encoded = target.encode_response(response)
    whole = target.decode_response(encoded.payload)
    raw, losses = streams.encode(target, list(unfold(response)))
    events = streams.decode(target, [raw])
    end: Any = events[-1]
    finish = response.choices[0].finish_reason
    if response.error is not None or (finish is not None and finish.reason == "error"):
        _fails(whole, end)
    elif finish is not None and finish.reason in UNUSUAL:
        _is_unusual("whole", whole)
        _is_unusual("stream", end.response)
    elif finish is None or finish.raw == "":
        expected = "tool_calls" if response.tool_calls else "stop"
        for kind, answer, reported in (("whole", whole, encoded.losses), ("stream", end.response, losses)):
            ending = answer.finish_reason
            if ending is None or ending.reason not in (expected, "stop"):
                raise LawBroken("honest endings", f"{kind}.finish_reason", "a missing end", expected, ending)
            if [loss.code for loss in reported].count("finish-reason") != 1:
                raise LawBroken(
                    "honest endings", kind, "a generated end is not reported once", "finish-reason", reported
                )


def _fails(whole: ChatResponse, end: Any) -> None:
    if whole.error is None:
        _is_unusual("whole", whole)
    if not isinstance(end, ev.TurnError):
        raise LawBroken("honest endings", "stream", "a failed turn has no error at its end", "an error", end)
    if end.response.finish_reason is not None and end.response.finish_reason.reason in USUAL:
        raise LawBroken("honest endings", "stream", "a success before an error", None, end.response.finish_reason)


def _is_unusual(kind: str, answer: ChatResponse) -> None:
    finish = answer.finish_reason
    if answer.error is None and (finish is None or finish.reason in USUAL):
        raise LawBroken("honest endings", f"{kind}.finish_reason", "it looks like a usual end", "no success", finish)
