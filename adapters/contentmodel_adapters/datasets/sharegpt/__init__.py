"""The adapter of training data of the ShareGPT form: an object with `conversations` is one conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    Hint,
    Row,
    media,
    objects_of,
    payload_step,
    place_instructions,
    request_step,
    transcript_step,
)
from contentmodel.content.text import TextContent
from contentmodel_adapters.common import documents
from contentmodel_adapters.datasets.json_texts import ToolsText
from contentmodel_adapters.datasets.sharegpt.blocks import API, REQUEST, TABLE, expanded
from contentmodel_adapters.datasets.sharegpt.placeholders import with_lists, with_pieces, with_plain_placeholders
from contentmodel_adapters.datasets.sharegpt.rules import RULES

ANY_MEDIA = ("image/*", "audio/*", "video/*")
READS = media.MediaSupport(ANY_MEDIA, ANY_MEDIA, ("http", "https", "data", "file", ""), in_answers=True)
TOOLS = ToolsText(Hint[str](API, "tools", "the JSON text of the tools; empty if they are a list"), usual=True)


class ShareGPT(documents.DocumentAdapter):
    """The adapter of conversations with `from` and `value`. Other columns stay in the residue."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"conversations": list}
    conversation = "conversations"
    also_takes = {"tools": (str,)}
    # The format has no reasoning.
    reasoning_fields = ()
    request_steps = (
        *documents.usual_steps(READS, instructions=request_step(place_instructions)),
        transcript_step(with_plain_placeholders, native=True, needs=(TextContent,)),
    )
    request_payload_steps = (payload_step(with_lists, native=True), payload_step(TOOLS.write, native=True))

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        decode = super()._decode_row
        return TOOLS.decode(wire, context, lambda wire, context: decode(row, with_pieces(wire, context), context))

    def expanded(self, payload: Any) -> Any:
        """Return a payload with each value of a text apart, for audits: calls as objects, and texts between media."""
        return expanded(payload)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of this form."""
        return self.recognises({"conversations": items}).get("request", 0.0)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that it is a conversation: its messages have `from` and `value`."""
        messages = objects_of(payload, "conversations")
        if not messages or not all(isinstance(message.get("from"), str) for message in messages):
            return {}
        return {"request": 0.97 if all("value" in message for message in messages) else 0.4}


adapter = ShareGPT()
