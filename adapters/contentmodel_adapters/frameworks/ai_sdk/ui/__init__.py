"""The adapter of the UI messages of Vercel's AI SDK: what front ends hold, and what `useChat` sends and stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from contentmodel.authoring import (
    EncodeContext,
    content_step,
    media,
    payload_step,
    text_of,
    transcript_step,
    with_guests,
)
from contentmodel.content.text import TextContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.interop.vercel_ui import is_chunk, read_message
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import approvals, documents
from contentmodel_adapters.frameworks.ai_sdk import parts as ai_sdk
from contentmodel_adapters.frameworks.ai_sdk.approvals import with_functions, with_server_approvals
from contentmodel_adapters.frameworks.ai_sdk.openai_texts import with_openai_ids
from contentmodel_adapters.frameworks.ai_sdk.ui import older
from contentmodel_adapters.frameworks.ai_sdk.ui.blocks import API, METADATA, TABLE
from contentmodel_adapters.frameworks.ai_sdk.ui.messages import Messages
from contentmodel_adapters.frameworks.ai_sdk.ui.rules import RULES
from contentmodel_adapters.frameworks.ai_sdk.ui.tools import GUESTS, decode_half
from contentmodel_adapters.frameworks.provider_state import OF_ITEMS

READS = media.MediaSupport(schemes=("http", "https", "gs"), in_answers=True, files=False)
REQUEST = TABLE.record("request", ChatRequest, {"messages": ("messages", Messages())})
TABLE.keep("request", "id", "trigger", "messageId")
_PARTS = frozenset({"text", "reasoning", "file", "step-start", "dynamic-tool", "source-url", "source-document"})


def with_ids(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with the ids that the format requires: numbers of messages and sources."""
    messages = [
        {**message, "id": message.get("id", f"message-{n}")} for n, message in enumerate(payload.get("messages", ()), 1)
    ]
    for message in messages:
        sources = [part for part in message["parts"] if part.get("type") in ("source-url", "source-document")]
        cited = [c["source"] for part in message["parts"] for c in part.get("citations", ()) if "source" in c]
        for number, source in enumerate(sources, 1):
            source.setdefault("sourceId", f"source-{number}")
        for number, source in enumerate(cited, len(sources) + 1):
            source.setdefault("id", f"source-{number}")
    return {**payload, "messages": messages}


class VercelUIMessages(documents.ListAdapter):
    """The adapter of UI messages. `metadata` of messages, which the application defines, stays in the residue."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    keeps_approvals = True
    keeps_state = True
    results_in_calls = True
    reasoning_fields = ()
    takes_json = True
    records = frozenset({"message_id", "outcome"})
    meaningless = {"state": "done", "sourceId": None, "step": None, "text": ""}
    request_steps = (
        transcript_step(with_guests, native=True, guests=GUESTS),
        transcript_step(with_functions, decode=decode_half),
        transcript_step(with_server_approvals),
        ai_sdk.KNOWN_TOOLS,
        documents.INSTRUCTIONS,
        *documents.NORMALIZED,
        ai_sdk.WITHOUT_CUSTOM_PARTS,
        transcript_step(with_openai_ids, needs=(*OF_ITEMS, TextContent), api=API, at=METADATA),
        *media.with_readable_media(READS),
        content_step(ai_sdk.with_media_type, *ai_sdk.MEDIA, own="always", needs=ai_sdk.MEDIA),
        content_step(ai_sdk.in_base64, native=True, needs=media.TYPES),
        documents.WITH_A_TURN,
        documents.FITTING_CALLS,
        approvals.WITH_OWN_IDS,
        transcript_step(ai_sdk.with_tool_names),
    )
    request_payload_steps = (payload_step(with_ids),)

    def request_of_stream(self, stream: bytes) -> dict[str, Any]:
        """Return a request with the message of a UI message stream. Raise DecodeError if a chunk is malformed."""
        return {"messages": [read_message(stream)]}

    def stream_decoder(self, *, deltas: bool = True) -> NoReturn:
        """Raise DecodeError: a UI message is a conversation, not one answer."""
        fix = "read it with contentmodel.interop.vercel_ui.read_message, and decode the request"
        raise DecodeError(API, [Fault("$", f"a UI message is a conversation, not one answer: {fix}")])

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that it is a chunk of a UI message stream, or has UI messages."""
        return {"stream": 0.97} if is_chunk(payload) else super().recognises(payload)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has UI messages: they have ids, and parts with types."""
        if not self.have_roles(items):
            return 0.0
        is_older = any(map(older.is_older, items))
        if is_older and all(isinstance(item.get("parts"), list) or older.is_flat(item) for item in items):
            return 0.97
        if not all(isinstance(item.get("parts"), list) for item in items):
            return 0.0
        types = {text_of(part, "type") for item in items for part in item["parts"] if isinstance(part, dict)}
        is_known = any(kind in _PARTS or kind.startswith(("tool-", "data-")) for kind in types)
        return (0.97 if all("id" in item for item in items) else 0.7) if is_known else 0.0


adapter = VercelUIMessages()
