"""The steps that adapt requests and answers of other APIs to /api/chat, in their order."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    EncodeContext,
    Kinds,
    foreign,
    media,
    payload_step,
    place_instructions,
    request_step,
    settings,
    transcript_step,
    with_date,
    with_fitting_calls,
    with_known_tools,
    with_normalized_texts,
    without_user_messages,
)
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.schema_adaptation import UNENFORCED, with_fitting_schemas
from contentmodel_adapters.ollama.rules import CALL_IDS, TOOL_NAMES
from contentmodel_adapters.ollama.table import API, STREAMED

THINKING = settings.Form(off={"mode": "disabled"}, auto={"mode": "adaptive"})
READS = media.MediaSupport(media_types=("image/*",), links=(), texts=True, in_answers=True)
REQUEST_STEPS = (
    request_step(settings.with_fitting_settings, native=True, form=THINKING),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(place_instructions, native=True),
    *foreign.NORMALIZE,
    *media.with_readable_media(READS),
    request_step(foreign.with_a_turn),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
    request_step(with_fitting_schemas, dialects=UNENFORCED),
    transcript_step(foreign.with_names_of_results),
)


def with_stream(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with `stream` set, unless its source relied on the API's default."""
    streamed = STREAMED.read((request.extra or {}).get(API, {}))
    if streamed is not None and request.options.stream is True:
        return {**{key: value for key, value in payload.items() if key != "stream"}, **streamed}
    return {"stream": False, **payload}


REQUEST_PAYLOAD_STEPS = (payload_step(foreign.with_model), payload_step(with_stream, native=True))
ANSWER_STEPS = (
    transcript_step(without_user_messages),
    transcript_step(with_normalized_texts, native=True, has_errors=False),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API always sends."""
    if response.error is not None and not response.choices:
        context.report_lost_attributes(response, ("model", "created", "usage"))
        return {"error": payload["error"]}
    payload = with_date(payload, "created_at", response, context)
    return {"model": "", "message": {"role": "assistant", "content": ""}, **payload, "done": True}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
