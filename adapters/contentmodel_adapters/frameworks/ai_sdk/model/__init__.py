"""The adapter of the model messages of Vercel's AI SDK: what an application sends to a model, and gets back."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import content_step, media, objects_of, text_of, transcript_step, with_guests
from contentmodel.content.text import TextContent
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import approvals, documents
from contentmodel_adapters.frameworks.ai_sdk import parts as ai_sdk
from contentmodel_adapters.frameworks.ai_sdk.approvals import with_functions, with_server_approvals
from contentmodel_adapters.frameworks.ai_sdk.model.blocks import API, GUESTS, OPTIONS, TABLE, decode_part
from contentmodel_adapters.frameworks.ai_sdk.model.messages import Messages
from contentmodel_adapters.frameworks.ai_sdk.model.rules import RULES
from contentmodel_adapters.frameworks.ai_sdk.openai_texts import with_openai_ids
from contentmodel_adapters.frameworks.provider_state import OF_ITEMS

READS = media.MediaSupport(schemes=("http", "https", "gs"), in_answers=True)
REQUEST = TABLE.record("request", ChatRequest, {"messages": ("messages", Messages())})
_OWN = frozenset({"tool-call", "tool-result", "redacted-reasoning", "tool-approval-request", "tool-approval-response"})
_PARTS = _OWN | {"text", "reasoning", "file", "image", "custom", "reasoning-file"}


class VercelModelMessages(documents.ListAdapter):
    """The adapter of model messages."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    keeps_approvals = True
    keeps_state = True
    reasoning_fields = ()
    takes_json = True
    records = frozenset({"outcome"})
    # The text of omitted thinking.
    meaningless = {"text": ""}
    request_steps = (
        transcript_step(with_guests, native=True, guests=GUESTS),
        transcript_step(with_functions, decode=decode_part),
        transcript_step(with_server_approvals, options=OPTIONS),
        ai_sdk.KNOWN_TOOLS,
        documents.INSTRUCTIONS,
        *documents.NORMALIZED,
        ai_sdk.WITHOUT_CUSTOM_PARTS,
        transcript_step(with_openai_ids, needs=(*OF_ITEMS, TextContent), api=API, at=OPTIONS),
        *media.with_readable_media(READS),
        content_step(ai_sdk.with_media_type, *ai_sdk.MEDIA, own="always", needs=ai_sdk.MEDIA),
        documents.WITH_A_TURN,
        documents.FITTING_CALLS,
        approvals.WITH_OWN_IDS,
        transcript_step(approvals.with_asked_calls, needs=approvals.APPROVALS),
        approvals.WITHOUT_APPROVALS,
        transcript_step(ai_sdk.with_tool_names),
    )

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has model messages: their parts have types that no other format has."""
        if not self.have_roles(items):
            return 0.0
        parts = [part for item in items for part in objects_of(item, "content")]
        if any(part.get("type") == "tool-call" and "result" in part for part in parts):
            # In assistant-ui, a call has its result.
            return 0.0
        if any(text_of(part, "type") in _OWN or "providerOptions" in part for part in parts):
            return 0.99
        if any(isinstance(item.get("providerOptions"), dict) for item in items):
            return 0.9
        files = any(part.get("type") == "file" and ("mediaType" in part or "mimeType" in part) for part in parts)
        return 0.95 if files else 0.04 if all(text_of(part, "type") in _PARTS for part in parts) else 0.0


adapter = VercelModelMessages()
