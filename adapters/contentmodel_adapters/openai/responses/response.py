"""The envelope of Responses answers: output, status, usage, errors (openai 3.52, types/responses; November 2026)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    ErrorBody,
    Fields,
    FinishReasons,
    Hint,
    Record,
)
from contentmodel.message import FinishReason
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.answer import OnlyChoice, misfits
from contentmodel_adapters.openai.errors import ERRORS
from contentmodel_adapters.openai.responses.blocks import API, ERROR, TABLE, USAGE
from contentmodel_adapters.openai.responses.ids import ItemIds
from contentmodel_adapters.openai.responses.messages import decode_items, encode_items

INCOMPLETE = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "max_messages": "length",
    "steered": "other",
}
INCOMPLETE_STATUS = "incomplete"
"""The status of an incomplete answer: the finish reason if its details have none."""
STATUSES = {
    "completed": "stop",
    "failed": "error",
    "cancelled": "cancelled",
    "in_progress": "running",
    "queued": "running",
}

_REASONS: dict[str | int, str] = dict((*STATUSES.items(), *INCOMPLETE.items()))
FINISH = FinishReasons(
    _REASONS,
    {
        "stop": "completed",
        "tool_calls": "completed",
        "length": "max_output_tokens",
        "content_filter": "content_filter",
        "error": "failed",
        "cancelled": "cancelled",
        "running": "in_progress",
    },
    "completed",
    implied=("tool_calls",),
    of_hosts={INCOMPLETE_STATUS: "length"},
    same=(INCOMPLETE_STATUS,),
)
"""The finish reasons: a status, or the reason of an incomplete answer."""

TABLE.known_values("status", *STATUSES, INCOMPLETE_STATUS)
TABLE.known_values("incomplete.reason", *INCOMPLETE)
TABLE.known_values("error.code", *ERRORS.types)


def finish_of(wire: Mapping[str, Any], choice: ChatChoice) -> FinishReason | None:
    """Return the finish reason that the status gives; "tool_calls" if a completed answer has tool calls."""
    status, details = wire.get("status"), wire.get("incomplete_details")
    if not isinstance(status, str):
        return None
    if status == INCOMPLETE_STATUS:
        raw = details.get("reason") if isinstance(details, dict) else None
        if not isinstance(raw, str):
            return FinishReason(reason=FINISH.reasons[status], raw=status)
        return FinishReason(reason=INCOMPLETE.get(raw, "other"), raw=raw)
    reason = STATUSES.get(status, "other")
    if reason == "stop" and any(message.tool_calls for message in choice.messages):
        reason = "tool_calls"
    return FinishReason(reason=reason, raw=status, resumable=reason == "running")


def _other_details(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of an incomplete answer that its finish reason does not hold, for the residue."""
    details = wire.get("incomplete_details")
    if details.__class__ is not dict:
        return {}
    is_read = wire.get("status") == INCOMPLETE_STATUS and details.get("reason").__class__ is str
    others = {key: value for key, value in details.items() if value is not None and not (is_read and key == "reason")}
    return {"incomplete_details": others} if others else {}


def status_of(raw: str | int | None) -> dict[str, Any]:
    """Return the status fields of an encoded finish reason."""
    if raw is None:
        return {}
    if raw in INCOMPLETE:
        return {"status": INCOMPLETE_STATUS, "incomplete_details": {"reason": raw}}
    return {"status": raw, "incomplete_details": None}


ENDED = Hint[dict[str, Any]](API, "ending", "the fields that report the status of the answer")
NO_OUTPUT = Hint[list[Any] | None](API, "output", "the output of an answer that has no items: null or empty")
ENDING = Fields({"finish_reason": "status", "messages": "output"})


class Output(OnlyChoice):
    """The output items and the status: the messages of the only choice, and its finish reason.

    The status fields are kept in the hint `ENDED` and written again, unless the finish reason was changed or comes from
    another API.
    """

    keys = ("output", "status", "incomplete_details")
    parts = {"status": "choices.finish_reason", "incomplete_details": "choices.finish_reason"}

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        is_answer = any(wire.get(key) is not None for key in self.keys)
        return [key for key in self.keys if key in wire] if is_answer else ()

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        items = wire.get("output")
        if items is not None and items.__class__ is not list:
            context.expected(wire, "output", "array", items)
        messages = decode_items(items, context) if items.__class__ is list else []
        if not self.taken(wire):
            return []
        ending = {key: wire[key] for key in self.keys[1:] if key in wire}
        kept = ENDED.entry(ending)
        if "output" in wire and not items:
            kept |= NO_OUTPUT.entry(items)
        extra = {API: {**kept, **misfits(wire, status=str, incomplete_details=dict), **_other_details(wire)}}
        choice = ChatChoice(messages=messages, extra=extra)
        choices = [msgspec.structs.replace(choice, finish_reason=finish_of(wire, choice))]
        context.trace(ENDING, choices, wire, None, spread=False)
        return choices

    def write_choice(
        self, choice: ChatChoice, own: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        # The application may add texts to an answer of this API. All items of another API's answer get ids when it is
        # completed.
        items = encode_items(choice.messages, context, None if context.completes else ItemIds(wire))
        if items or NO_OUTPUT.is_in(own):
            wire["output"] = items or NO_OUTPUT.read(own)
        wire.update(ENDED.read(own) or {})
        finish = choice.finish_reason
        if finish is not None and finish_of(wire, choice) != finish:
            wire.update(status_of(FINISH.encode(finish, context, choice)))


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created_at": "created",
        "usage": ("usage", Record(USAGE)),
        "error": ("error", ErrorBody(ERROR, ERRORS)),
    },
    Output(),
)
