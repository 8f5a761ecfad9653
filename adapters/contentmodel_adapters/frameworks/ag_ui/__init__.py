"""The adapter of AG-UI: the input of a run, which front ends send to agents, or a list of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from contentmodel.authoring import (
    DUMPERS,
    Blocks,
    DecodeContext,
    EncodeContext,
    Row,
    foreign,
    media,
    objects_of,
    payload_step,
)
from contentmodel.content.outcomes import UnknownContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.interop.ag_ui import is_event, read_run
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import documents
from contentmodel_adapters.frameworks.ag_ui.blocks import API, RESUME, ROLES, TABLE, TOOLS
from contentmodel_adapters.frameworks.ag_ui.messages import FIX_OF_EVENTS, Messages, answers_of, expanded
from contentmodel_adapters.frameworks.ag_ui.rules import RULES
from contentmodel_adapters.frameworks.hosted_tools import names_in_calls

READS = media.MediaSupport(schemes=("http", "https", "gs"))
REQUEST = TABLE.record(
    "request", ChatRequest, {"messages": ("messages", Messages()), "tools": ("tools", Blocks(TOOLS))}
)
TABLE.keep(
    "request",
    *("threadId", "runId", "parentRunId", "protocolVersion", "state", "context", "forwardedProps", "resume"),
    *("finished", "error", "events"),
)
_OWN = frozenset({"toolCalls", "toolCallId", "encryptedValue", "activityType", "subagentRunId"})


def with_answers(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with the answers to interrupts, which are contents of the last message of the request."""
    message = answers_of(request.messages)
    answers = [] if message is None else RESUME.encode_list(message.contents, context)
    if message is not None:
        foreign.leave_empty(message, context)
    return {**payload, "resume": answers} if answers else payload


def with_ids(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with ids of its thread and its run, unless it has only messages."""
    return payload if payload.keys() <= {"messages"} else {"threadId": "", "runId": "", **payload}


class AgUi(documents.ListAdapter):
    """The adapter of the input of runs. The fields `state`, `context` and `forwardedProps` stay in the residue."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    keeps_state = True
    reasoning_fields = ()
    records = frozenset({"message_id"})
    meaningless = {
        **dict.fromkeys(("id", "threadId", "runId", "parentRunId", "protocolVersion")),
        "content": ("", None),
        **{key: {} for key in ("state", "forwardedProps", "metadata")},
        "context": [],
        "finished": ({}, {"outcome": {"type": "success"}}),
    }
    request_steps = (
        documents.KNOWN_TOOLS,
        documents.INSTRUCTIONS,
        *documents.NORMALIZED,
        *media.with_readable_media(READS),
        documents.WITH_A_TURN,
        documents.FITTING_CALLS,
        documents.FITTING_SCHEMAS,
        names_in_calls(),
    )
    request_payload_steps = (payload_step(with_answers, native=True), payload_step(with_ids))

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        answers = wire.get("resume")
        if answers.__class__ is not list or not answers:
            return super()._decode_row(row, wire, context)
        contents = RESUME.decode_list(answers, context)
        if all(content.__class__ is UnknownContent for content in contents):
            # Only answers show that a message is from this field: unknown entries alone stay in the residue.
            return super()._decode_row(row, wire, context)
        request = super()._decode_row(row, context.without(wire, ["resume"]), context)
        context.trace(RESUME, contents, wire, "resume", spread=True)
        message = ChatMessage(role="user", contents=contents, origin=context.origin)
        context.trace(None, [message], wire, "resume", spread=False)
        return replace(request, messages=[*request.messages, message])

    def expanded(self, payload: Any) -> Any:
        """Return a payload for audits: opaque state without its wrapper, and no text twice."""
        if isinstance(payload, list):
            return expanded(payload)
        messages = payload.get("messages") if isinstance(payload, dict) else None
        return {**payload, "messages": expanded(messages)} if isinstance(messages, list) else payload

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of AG-UI, which have ids, roles and specific fields.

        A list of events is no other API's. Decoding refuses it, and names the function that reads it.
        """
        if items and all(map(is_event, items)):
            return 0.97
        if not self.have_roles(items) or not all(item["role"] in ROLES and "parts" not in item for item in items):
            return 0.0
        parts = [part.get("source") for item in items for part in objects_of(item, "content")]
        is_own = any(item["role"] in ("activity", "reasoning") or not _OWN.isdisjoint(item) for item in items)
        if is_own or any(isinstance(source, dict) and "value" in source for source in parts):
            return 0.97
        return 0.5 if all(isinstance(item.get("id"), str) for item in items) else 0.0

    def request_of_stream(self, stream: bytes) -> dict[str, Any]:
        """Return the input of a run with the messages after its events. Raise DecodeError if an event is malformed."""
        return {"threadId": "", "runId": "", **read_run(stream)}

    def stream_decoder(self, *, deltas: bool = True) -> NoReturn:
        """Raise DecodeError: the events of a run are a conversation, not one answer."""
        problem = f"the events of a run are a conversation, not one answer: {FIX_OF_EVENTS}"
        raise DecodeError(API, [Fault("$", problem)])

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds that a payload may be, with confidences: "request" for input, "stream" for an event."""
        if is_event(payload):
            return {"stream": 0.97}
        is_run = isinstance(payload.get("messages"), list) and "threadId" in payload and "runId" in payload
        return {"request": 0.99} if is_run else super().recognises(payload)


def _dumped(value: Any) -> Any:
    """Return an object of ag-ui-protocol as the library sends it. The library itself omits unset fields."""
    return value.model_dump(mode="json", by_alias=True)


DUMPERS["ag_ui"] = _dumped
adapter = AgUi()
