"""The adapter of OpenTelemetry's GenAI messages: the attributes of a span or an event of one model call.

A payload has the attributes of both the request and the response. A decoded request keeps those of the response
unchanged, and a decoded response those of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    DUMPERS,
    DecodeContext,
    EncodeContext,
    Row,
    TableAdapter,
    counted,
    foreign,
    media,
    objects_of,
    payload_step,
    request_step,
    response_step,
    text_of,
    transcript_step,
    with_json_schemas,
    without_user_messages,
)
from contentmodel.response import ChatResponse
from contentmodel_adapters.common import approvals, documents
from contentmodel_adapters.frameworks.otel.blocks import TABLE, TYPES
from contentmodel_adapters.frameworks.otel.messages import (
    COUNTS,
    ERRORS,
    FINISH_REASONS,
    INPUT,
    INSTRUCTIONS,
    OUTPUT,
    REQUEST,
    RESPONSE,
    SETTINGS,
    STOP,
    TOOLS,
)
from contentmodel_adapters.frameworks.otel.rules import RULES
from contentmodel_adapters.frameworks.otel.spelling import (
    ALL_MESSAGES,
    expanded,
    with_finish_reasons,
    with_listed_reasons,
    with_original_spelling,
    with_usual_spelling,
)
from contentmodel_adapters.frameworks.otel.values import API, FINISH

READS = media.MediaSupport(schemes=("http", "https", "gs", "s3", "file"), in_answers=True)
LISTS = (INPUT, INSTRUCTIONS, TOOLS)
OF_REQUESTS, OF_ANSWERS = SETTINGS.union(LISTS, (STOP,)), COUNTS.union((OUTPUT, FINISH_REASONS))
REQUESTS = frozenset(REQUEST.known_keys())
RESPONSES = frozenset(RESPONSE.known_keys()) - {OUTPUT} | {FINISH_REASONS}
OF_CALLS = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.system", "server.address", "server.port")
OF_OTHERS = (
    *("gen_ai.prompt", "gen_ai.completion", "gen_ai.request.messages", "gen_ai.response.text"),
    *("request_data", "response_data", "ai.prompt", "ai.response.", "gcp.vertex.agent.llm_"),
)
"""The beginnings of attributes with the messages of a span of other conventions, which this adapter does not read.

OpenLLMetry, Sentry, Logfire, the AI SDK before version 7 and ADK write them beside `gen_ai.usage.*` (seen 2026-11-27).
"""
EVENTS = "events"
"""The attribute with the messages of a span of Pydantic AI and Logfire, in the first version of the format."""
_OWN = frozenset({"tool_call", "tool_call_response", "server_tool_call", "server_tool_call_response", "blob", "uri"})


def with_counted_usage(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return a response with token counts as the conventions define them: those of all input and of all output."""
    response = counted(response, context, cached_inside=True, reasoning_inside=True)
    if response.usage is not None:
        context.leave_residue(response.usage)
    return response


class OtelGenAI(TableAdapter):
    """The adapter of the attributes `gen_ai.*`. It has no issuer, and no opaque state of providers."""

    api = API
    issuer = ""
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    errors = ERRORS
    has_failed_answers = True
    conversation = INPUT
    keeps_approvals = True
    keeps_state = True
    takes_json = True
    finish = FINISH
    records = frozenset({"finish_reason"})
    # A span has a request and its response: the response repeats the request, and a request ignores the response.
    meaningless = dict.fromkeys(("modality", *OF_CALLS))
    answered = RESPONSES
    structure = frozenset({FINISH_REASONS, "gen_ai.output.type"})
    repeated = REQUESTS
    request_steps = (
        documents.KNOWN_TOOLS,
        *documents.NORMALIZED,
        *media.with_readable_media(READS),
        approvals.WITHOUT_OWN_IDS,
        request_step(with_json_schemas),
    )
    request_payload_steps = (payload_step(with_original_spelling, native=True),)
    answer_steps = (
        transcript_step(without_user_messages),
        transcript_step(foreign.normalize_answer),
        *media.with_readable_media(READS),
    )
    response_steps = (response_step(with_counted_usage),)
    response_payload_steps = (
        payload_step(with_listed_reasons, native=True),
        payload_step(with_original_spelling, native=True),
    )

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        wire, spelling = with_usual_spelling(wire, OF_REQUESTS if row is REQUEST else OF_ANSWERS, context)
        value = super()._decode_row(row, wire, context)
        return spelling.on(with_finish_reasons(value, context) if isinstance(value, ChatResponse) else value)

    def _is_conversation(self, wire: object) -> bool:
        return wire.__class__ is list

    def expanded(self, payload: Any) -> Any:
        """Return a payload with the values of attributes that are texts."""
        return expanded(payload)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of the conventions, which have typed `parts`."""
        if not self.have_roles(items) or not all(item.get("parts").__class__ is list for item in items):
            return 0.0
        parts = [part for item in items for part in objects_of(item, "parts")]
        if any(
            text_of(part, "type") in _OWN or (text_of(part, "type") in TYPES and "content" in part) for part in parts
        ):
            return 0.98
        return 0.0 if parts else 0.03

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds that a payload may be, each with a confidence. If it may be both kinds, it is a request."""
        kinds = {"request": any(key in payload for key in (*LISTS, ALL_MESSAGES)), "response": OUTPUT in payload}
        if any(kinds.values()):
            return {kind: {"request": 0.99, "response": 0.98}[kind] for kind, is_it in kinds.items() if is_it}
        if EVENTS in payload or any(key.startswith(OF_OTHERS) for key in payload):
            return {}
        if any(key.startswith(("gen_ai.response.", "gen_ai.usage.")) for key in payload):
            return {"response": 0.9}
        return {"request": 0.9} if any(key.startswith("gen_ai.request.") for key in payload) else {}


def _dumped(value: Any) -> Any:
    """Return the attributes of a span or a log record of OpenTelemetry."""
    attributes = getattr(value, "attributes", None)
    return attributes if isinstance(attributes, Mapping) else NotImplemented


DUMPERS["opentelemetry"] = _dumped
adapter = OtelGenAI()
