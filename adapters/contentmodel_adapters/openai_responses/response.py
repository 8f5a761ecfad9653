"""The envelope of Responses answers: output, status, usage, errors (openai 3.52, types/responses; November 2026)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.response import ChatChoice, ChatResponse, FinishReason
from contentmodel.wire.codecs import Codec, Record
from contentmodel.wire.context import DecodeContext, EncodeContext

from contentmodel_adapters.openai_responses.blocks import API, ERROR, TABLE, USAGE
from contentmodel_adapters.openai_responses.messages import decode_items, encode_items

INCOMPLETE = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "max_messages": "length",
    "steered": "other",
}
STATUSES = {
    "completed": "stop",
    "failed": "error",
    "cancelled": "cancelled",
    "in_progress": "running",
    "queued": "running",
}


def finish_of(wire: Mapping[str, Any], choice: ChatChoice) -> FinishReason | None:
    """Why an answer ended, as far as its status says; a completed answer that waits for tools says so."""
    status, details = wire.get("status"), wire.get("incomplete_details")
    if not isinstance(status, str):
        return None
    if status == "incomplete":
        raw = details.get("reason") if isinstance(details, dict) else None
        reason = INCOMPLETE.get(raw, "length" if raw is None else "other") if isinstance(raw, str | None) else "other"
        return FinishReason(reason=reason, raw=raw if isinstance(raw, str) else status)
    reason = STATUSES.get(status, "other")
    if reason == "stop" and any(message.tool_calls for message in choice.messages):
        reason = "tool_calls"
    return FinishReason(reason=reason, raw=status, resumable=reason == "running")


def status_of(finish: FinishReason | None) -> dict[str, Any]:
    """The status that says a finish reason."""
    if finish is None:
        return {}
    for raw, reason in INCOMPLETE.items():
        if finish.reason in (reason, "refusal" if reason == "content_filter" else reason) and reason != "other":
            return {"status": "incomplete", "incomplete_details": {"reason": raw}}
    word = next((status for status, reason in STATUSES.items() if reason == finish.reason), "completed")
    return {"status": word, "incomplete_details": None}


class Output(Codec):
    """The list of output items: the messages of the only choice."""

    classes = (list,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        choice = ChatChoice(messages=decode_items(value, context))
        finish = finish_of(container, choice)
        choices = [msgspec.structs.replace(choice, finish_reason=finish)]
        context.trace(None, choices, container, key, spread=False)
        return choices

    def encode(self, value: list[ChatChoice], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        for choice in value[1:]:
            context.lose(choice, None, f"{API} has one answer")
        first = value[0]
        context.lose_attributes(first, ("logprobs",))
        for api, residue in (first.extra or {}).items():
            context.lose_residue(first, api, residue)
        return encode_items(first.messages, context)


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created_at": "created",
        "output": ("choices", Output()),
        "usage": ("usage", Record(USAGE)),
        "error": ("error", Record(ERROR)),
    },
)


def settle_status(wire: dict[str, Any], response: ChatResponse) -> dict[str, Any]:
    """Makes the status say what the finish reason says, where somebody changed it or another API gave it."""
    choice = response.choices[0] if response.choices else ChatChoice()
    if choice.finish_reason is not None and finish_of(wire, choice) != choice.finish_reason:
        wire.update(status_of(choice.finish_reason))
    return wire
