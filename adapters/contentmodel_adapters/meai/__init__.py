"""The adapter of conversations of Microsoft.Extensions.AI (.NET): lists of ChatMessage as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import media, message_pass, objects_of
from contentmodel.content.citations import Citation
from contentmodel_adapters.meai.blocks import API, NAMES, REQUEST, TABLE
from contentmodel_adapters.meai.rules import RULES
from contentmodel_adapters.shared import documents, extensions_ai


class ExtensionsAI(documents.DocumentAdapter):
    """The adapter of lists of ChatMessage, alone or in the field `messages` of a thread or a ChatResponse."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    conversation = "messages"
    is_list = True
    takes_json = True
    records = frozenset({"message_id", "created"})
    reasoning_fields = ("reasoning",)
    request_passes = (
        documents.INSTRUCTIONS,
        documents.NORMALIZED,
        message_pass(media.with_readable_media, needs=media.TYPES, reads=extensions_ai.READS),
        documents.FITTING_CALLS,
        message_pass(extensions_ai.with_spans, needs=(Citation,), unit=NAMES.unit),
    )

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of this format: their contents have a `$type`."""
        return extensions_ai.recognised(items, NAMES.tag)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that it is an object with messages of this format."""
        score = self.recognises_list(objects_of(payload, "messages"))
        return {"request": score} if score else {}


adapter = ExtensionsAI()
