"""The finish reasons of a stream of another API: the last event has one, and an error follows none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.loss import Loss, loss_of
from contentmodel.engine.pipeline.answers import end_for, finish_for_calls, finish_for_refusal
from contentmodel.message import FinishReason

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolCallContent
    from contentmodel.engine.streams.outgoing import Written
    from contentmodel.response import ChatResponse

Report = Callable[[list[Loss]], None]
"""Records losses of the envelope."""


def with_ends(
    response: ChatResponse, written: Iterable[Written], api: str, report: Report, *, shows_refusals: bool
) -> ChatResponse:
    """Return a complete answer with a finish reason in each choice. Clients run its calls by it, and see a refusal.

    `shows_refusals`: whether the API has a finish reason for refusals. Finish reasons that are replaced or missing are
    reported.
    """
    calls: dict[int, list[ToolCallContent]] = {}
    refused: set[int] = set()
    for block in written:
        if block.is_refusal and shows_refusals:
            refused.add(block.choice)
        if block.call is not None and block.call.executor == "client":
            calls.setdefault(block.choice, []).append(block.call)
    choices = []
    for number, choice in enumerate(response.choices):
        ended = choice.finish_reason
        if ended is None or ended.raw == "":
            ended = end_for(ended, has_calls=bool(calls.get(number)))
            path = f"$.choices[{number}].finish_reason"
            report([loss_of(reasons.FINISH_REASON, path, "finish_reason", api, family="settings")])
        finish = finish_for_calls(ended, calls[number]) if number in calls else ended
        finish = finish_for_refusal(finish, is_refused=True) if number in refused else finish
        if finish is not None and finish is not ended:
            report([_replaced(number, finish, api)])
        choices.append(msgspec.structs.replace(choice, finish_reason=finish))
    return msgspec.structs.replace(response, choices=choices)


def without_ends(response: ChatResponse, api: str, report: Report) -> ChatResponse:
    """Return a failed answer without finish reasons, because its error follows. Report those that are no failure."""
    choices = []
    for number, choice in enumerate(response.choices):
        finish = choice.finish_reason
        if finish is not None and finish.reason not in ("error", "cancelled", "running"):
            report([_replaced(number, finish, api)])
        choices.append(msgspec.structs.replace(choice, finish_reason=None))
    return msgspec.structs.replace(response, choices=choices)


def _replaced(number: int, finish: FinishReason, api: str) -> Loss:
    path, name = f"$.choices[{number}].finish_reason.raw", "finish_reason.raw of ChatChoice"
    value = finish.raw or finish.reason
    return loss_of(reasons.NO_FINISH_REASON, path, name, api, family="settings", value=value)
