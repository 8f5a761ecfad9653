"""The steps that adapt requests and answers to Interactions, in their order."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    EncodeContext,
    Fact,
    Kinds,
    foreign,
    hoist_instructions,
    instructions_as_text,
    media,
    payload_step,
    reasons,
    request_step,
    settings,
    transcript_step,
    turn_step,
    with_contents,
    with_date,
    with_fitting_calls,
    with_known_tools,
)
from contentmodel.content.base import Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.reasoning import KEEP_SIGNATURES, PLACEHOLDER, is_signed
from contentmodel_adapters.common.schema_adaptation import GOOGLE, with_fitting_schemas
from contentmodel_adapters.google.interactions.table import COUNTED, CURRENT
from contentmodel_adapters.google.shared import (
    CALL_IDS,
    TOOL_NAMES,
    requires_signed_calls,
    with_mode_of_strict_tools,
    with_respelled_tools,
    with_shared_fields,
)

# -- messages ----------------------------------------------------------------------------------------------------------

# types.ImageMimeType, DocumentMimeType, AudioMimeType and VideoMimeType of google-genai 3.4 (_gaos/types/interactions).
_OFFICE = "application/vnd.openxmlformats-officedocument"
TYPES = (
    *(f"image/{name}" for name in ("png", "jpeg", "webp", "heic", "heif", "gif", "bmp", "tiff")),
    *("application/pdf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
    *(f"application/vnd.oasis.opendocument.{name}" for name in ("presentation", "text", "spreadsheet")),
    *(f"{_OFFICE}.presentationml.presentation", f"{_OFFICE}.spreadsheetml.sheet"),
    *(f"{_OFFICE}.wordprocessingml.document", f"{_OFFICE}.wordprocessingml.template"),
    *(f"audio/{name}" for name in ("wav", "mp3", "aiff", "aac", "ogg", "flac", "mpeg", "m4a", "l16", "opus", "webm")),
    *("audio/alaw", "audio/mulaw", "video/mp4", "video/mpeg", "video/mpg", "video/mov", "video/avi", "video/x-flv"),
    *("video/webm", "video/wmv", "video/3gpp"),
)
READS = media.MediaSupport(
    media_types=TYPES, links=(*TYPES, "text/csv"), schemes=("http", "https", "gs"), texts=True, in_answers=True
)


def _is_continued(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the server holds the conversation that a request continues. Ids of other APIs are not sent."""
    is_sent = context.native or context.has_no_origin
    return is_sent and request.options.previous_response_id is not None


def with_signed_thoughts(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message whose signatures are on the thought before a text or call, as in Interactions."""
    divided: list[Any] = []
    for content in message.contents:
        if is_signed(content) and not isinstance(content, KEEP_SIGNATURES):
            last = divided[-1] if divided else None
            if isinstance(last, ReasoningContent) and last.protected is None:
                divided[-1] = context.replace(last, protected=content.protected)
            else:
                divided.append(context.replaced(content, ReasoningContent(protected=content.protected)))
            content = context.replace(content, protected=None)
        divided.append(content)
    return with_contents(message, divided)


def with_signed_turn(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API with calls with a thought that has the placeholder, if it has no signature.

    Interactions refuses calls of Gemini 3 without a signed thought (earendil-works/pi#2172, seen 2026-11-28).
    """
    if any(map(is_signed, message.contents)):
        return message
    call = next(content for content in message.contents if content.__class__ is FunctionCallContent)
    context.report_loss(call, "protected", reasons.PLACEHOLDER_SIGNATURE)
    return replace(message, contents=[ReasoningContent(protected=PLACEHOLDER), *message.contents])


# The API has only levels of thinking. The lowest level depends on the model.
FORM = settings.Form(off=None, auto={}, shown=settings.Shown("summary", "auto", "none"))
REQUEST_STEPS = (
    request_step(settings.with_fitting_settings, aimed=True, form=FORM),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(with_respelled_tools),
    request_step(with_shared_fields),
    request_step(with_sendable_tools, current=CURRENT),
    request_step(hoist_instructions),
    turn_step(with_signed_thoughts, needs=(Fact.STATE,)),
    *foreign.NORMALIZE,
    *media.with_readable_media(READS),
    request_step(foreign.with_a_turn, continues=_is_continued),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES, continues=_is_continued),
    turn_step(
        with_signed_turn,
        FunctionCallContent,
        aimed=True,
        needs=(FunctionCallContent,),
        on=requires_signed_calls,
    ),
    transcript_step(instructions_as_text),
    request_step(with_fitting_schemas, dialects=GOOGLE),
    request_step(with_mode_of_strict_tools, native=True),
    transcript_step(foreign.with_names_of_results),
)

# -- payloads ----------------------------------------------------------------------------------------------------------


def with_model(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of a request with a model or an agent. A missing model becomes "", with a loss."""
    if payload.keys() & {"model", "agent"}:
        return payload
    context.report_loss(request, "model", reasons.NO_MODEL)
    return {"model": "", **payload}


PAYLOAD_STEPS = (payload_step(with_model),)
ANSWER_STEPS = (
    turn_step(with_signed_thoughts, needs=(Protected,)),
    transcript_step(foreign.normalize_answer, cites=True),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API always sends, or the body of an error."""
    error = payload.pop("error", None)
    if error is not None and not response.choices:
        return {"error": error}
    if error is not None:
        # An answer that ended in another way keeps its status.
        payload = {"status": "failed", **payload, "errors": [error]}
    if not payload.get("id"):
        # An answer that the server does not store has no id.
        payload.pop("id", None)
    payload = with_date(payload, "created", response, context)
    if "usage" in payload:
        # The API always sends the total.
        usage = payload["usage"]
        payload["usage"] = {"total_tokens": sum(map(usage.get, COUNTED, repeat(0))), **usage}
    return {"object": "interaction", "status": "completed", "steps": [], **payload}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
