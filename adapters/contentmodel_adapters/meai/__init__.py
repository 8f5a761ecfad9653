"""The adapter of Microsoft.Extensions.AI (.NET): lists of ChatMessage, and ChatResponse, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import DecodeContext, Row, media, message_pass, passes, response_pass
from contentmodel.content.citations import Citation
from contentmodel_adapters.meai.blocks import API, NAMES, REQUEST, TABLE
from contentmodel_adapters.meai.response import FINISH, RESPONSE, with_error_in_message, without_error_in_message
from contentmodel_adapters.meai.rules import RULES
from contentmodel_adapters.shared import documents, extensions_ai
from contentmodel_adapters.shared.citations import with_spans

OF_ANSWERS = frozenset({"responseId", "modelId", "createdAt", "finishReason", "usage", "continuationToken"})
"""The fields that a ChatResponse has and a thread does not."""


class ExtensionsAI(documents.Lists):
    """The adapter of lists of ChatMessage, alone or in the field `messages` of a thread, and of ChatResponse."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    finish = FINISH
    has_failed_answers = True
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    takes_json = True
    keeps_approvals = True
    records = frozenset({"message_id", "created"})
    reasoning_fields = ("reasoning",)
    request_passes = (
        *extensions_ai.PASSES,
        message_pass(with_spans, needs=(Citation,), unit=NAMES.unit),
    )

    answer_passes = (
        message_pass(passes.normalize_answer, cites=True),
        message_pass(media.with_readable_media, reads=extensions_ai.READS),
        message_pass(with_spans, needs=(Citation,), unit=NAMES.unit),
    )
    response_passes = (response_pass(with_error_in_message, native=True),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        value = super()._decode_row(row, wire, context)
        return without_error_in_message(value, context) if row is RESPONSE else value

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds that an object may be. One with fields of a ChatResponse is an answer."""
        found = super().recognises(payload)
        return {"response": found["request"]} if found and not OF_ANSWERS.isdisjoint(payload) else found

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of this format: their contents have a `$type`."""
        return extensions_ai.recognised(items, NAMES.tag)


adapter = ExtensionsAI()
