"""The steps that adapt requests and answers of other APIs to the Chat API v2, in their order."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    EncodeContext,
    Kinds,
    content_step,
    foreign,
    media,
    payload_step,
    place_instructions,
    request_step,
    settings,
    transcript_step,
    with_fitting_calls,
    with_known_tools,
    without_user_messages,
)
from contentmodel.content.tools import FunctionResultContent
from contentmodel.response import ChatResponse
from contentmodel_adapters.cohere.rules import CALL_IDS, TOOL_NAMES
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.schema_adaptation import OPENAI, with_fitting_schemas

SETTINGS = settings.Form(
    off={"mode": "disabled"}, auto={"mode": "enabled"}, within={"mode": "enabled"}, efforts_as_budgets=True
)
READS = media.MediaSupport(("image/*",), ("image/*",), ("http", "https", "data"), GOOGLE_FILES, texts=True)
READS_NOTHING = media.MediaSupport((), (), texts=True)


def reads(context: EncodeContext) -> media.MediaSupport:
    """Return the media that the model reads. Only some models read images."""
    kinds = context.known.capabilities.media
    return READS if kinds is None or "image" in kinds else READS_NOTHING


REQUEST_STEPS = (
    request_step(settings.with_fitting_settings, native=True, form=SETTINGS),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(place_instructions, native=True),
    *foreign.NORMALIZE,
    foreign.WITHOUT_CITATIONS,
    *media.with_readable_media(reads),
    request_step(foreign.with_a_turn),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES, detach_media="always"),
    request_step(with_fitting_schemas, dialects=OPENAI),
)
REQUEST_PAYLOAD_STEPS = (payload_step(foreign.with_model),)
ANSWER_STEPS = (
    transcript_step(without_user_messages),
    transcript_step(foreign.normalize_answer, cites=True),
    transcript_step(foreign.without_names_of_results, needs=(FunctionResultContent,)),
    content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires, or the body of an error."""
    if response.error is not None and not response.choices:
        return payload
    has_calls = any(message.tool_calls for message in response.messages)
    finish = "TOOL_CALL" if has_calls else "COMPLETE"
    return {"id": "", "finish_reason": finish, "message": {"role": "assistant"}, **payload}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
