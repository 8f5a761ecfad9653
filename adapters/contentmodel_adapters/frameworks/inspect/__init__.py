"""The adapter of conversations in eval logs of Inspect AI: one sample of a log, or a list of its messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    DUMPERS,
    DecodeContext,
    Fact,
    Row,
    content_step,
    foreign,
    is_data_uri,
    list_of,
    media,
    objects_of,
    payload_step,
    text_of,
    transcript_step,
    with_custom_results,
)
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import documents
from contentmodel_adapters.frameworks.inspect.anchors import is_anchor
from contentmodel_adapters.frameworks.inspect.attachments import REFERENCES, resolved, with_references
from contentmodel_adapters.frameworks.inspect.blocks import TABLE
from contentmodel_adapters.frameworks.inspect.messages import (
    CONVERSATION,
    repeats_error,
    with_error,
    with_known_state,
    with_names_of_calls,
)
from contentmodel_adapters.frameworks.inspect.rules import KNOWN_ROLES, REQUIRED, RULES
from contentmodel_adapters.frameworks.inspect.values import API, FORMATS, with_usual_pages

_FORMATS = tuple(media_type for formats in FORMATS.values() for media_type in formats.values())
_TYPES = ("image/*", *_FORMATS, "application/*", "text/*", "font/*", "model/*")
READS = media.MediaSupport(_TYPES, _TYPES, ("http", "https", "file", "gs", "s3", "data", ""), in_answers=True)


class InspectEvalLog(documents.ListAdapter):
    """The adapter of samples and of lists of messages. All other fields of a sample stay in the residue."""

    api = API
    table = TABLE
    rules = RULES
    request = CONVERSATION
    refused = {"samples": "a log has many conversations: read them with contentmodel.interop.inspect_ai.samples"}
    keeps_state = True
    results_in_calls = True
    reasoning_fields = ()
    records = frozenset({"message_id", "outcome"})
    meaningless = {
        **dict.fromkeys(("id", "epoch", "source", "model", "internal", "view", "format", "mime_type", "tool_type")),
        **dict.fromkeys(("input", "output", "events", "events_data", "timelines", "attachments", "uuid", "sandbox")),
        **dict.fromkeys(("model_usage", "role_usage", "model_fallbacks", "started_at", "completed_at", "total_time")),
        **dict.fromkeys(("working_time", "turn_count", "token_limit", "token_limit_type", "token_limit_usage")),
        **dict.fromkeys(("message_limit", "time_limit", "files", "setup", "error_retries")),
        "content": "",
        "result": "",
        "error": "error",
        "redacted": False,
        "refusal": False,
        "citations": False,
        "detail": "auto",
        "metadata": {},
        "store": {},
    }
    request_steps = (
        documents.INSTRUCTIONS,
        *documents.NORMALIZED,
        *media.with_readable_media(READS),
        documents.WITH_A_TURN,
        documents.FITTING_CALLS,
        content_step(with_known_state, attribute="protected", native=True, needs=(Fact.STATE,)),
        content_step(with_error, *foreign.RESULTS, native=True, needs=foreign.RESULTS),
        transcript_step(with_names_of_calls, needs=foreign.RESULTS),
    )
    request_payload_steps = (payload_step(with_references, native=True),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        whole, references = resolved(wire, context)
        request = super()._decode_row(row, whole, context)
        if not isinstance(request, ChatRequest):
            return request
        request = with_custom_results(request, context)
        return REFERENCES.on(request, API, references) if references else request

    def expanded(self, payload: Any) -> Any:
        """Return a payload for audits: attachments are in the messages, and values have the forms of other APIs."""
        if isinstance(payload, list):
            return [_expanded(message) for message in payload]
        whole = resolved(payload)[0]
        return {**whole, "messages": self.expanded(list_of(whole, "messages"))} if "messages" in whole else whole

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of Inspect AI, which have specific fields."""
        if not items or not all(map(_is_message, items)):
            return 0.0
        return 0.98 if any(map(_has_own_fields, items)) else 0.1

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that an object is a sample, or a whole log, which the decoder refuses with advice."""
        if "samples" in payload and "eval" in payload and "messages" not in payload:
            return {"request": 0.9}
        is_sample = "epoch" in payload and "target" in payload and isinstance(payload.get("messages"), list)
        return {"request": 0.99} if is_sample else super().recognises(payload)


def _expanded(message: Any) -> Any:
    if isinstance(message, dict) and repeats_error(message):
        return {**message, "content": ""}
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    return {**message, "content": [_expanded_part(part) for part in message["content"]]}


def _expanded_part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    if part.get("cache_breakpoint") is True:
        return {**part, "cache_breakpoint": {"type": "ephemeral"}}
    if is_anchor(part):
        return {**part, "internal": None}
    kind: Any = part.get("type")
    if kind == "text" and isinstance(part.get("citations"), list):
        part = {**part, "citations": [with_usual_pages(citation) for citation in part["citations"]]}
    formats = FORMATS.get(kind, {}) if isinstance(kind, str) and not is_data_uri(part.get(kind)) else {}
    return {**part, "format": formats[part["format"]]} if part.get("format") in [*formats] else part


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and text_of(item, "role") in KNOWN_ROLES and "content" in item


def _has_own_fields(message: dict[str, Any]) -> bool:
    if message.get("source") in ("input", "generate", "operator") or isinstance(message.get("function"), str):
        return True
    calls, parts = objects_of(message, "tool_calls"), objects_of(message, "content")
    if any(isinstance(call.get("function"), str) and isinstance(call.get("arguments"), dict) for call in calls):
        return True
    return any(
        part.get("type") in ("reasoning", "tool_use", "audio", "video", "document", "data")
        and all(name in part for name in REQUIRED[part["type"]])
        for part in parts
    )


def _dumped(value: Any) -> Any:
    """Return a message, a sample or a content as Inspect AI writes it. NaN and infinities become strings."""
    return json.loads(value.model_dump_json(exclude_none=True), parse_constant=str)


DUMPERS["inspect_ai"] = _dumped
adapter = InspectEvalLog()
