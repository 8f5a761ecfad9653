"""The adapter of Microsoft.Extensions.AI (.NET): lists of ChatMessage, and ChatResponse, as JSON."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import transcript_step
from contentmodel.content.citations import Citation
from contentmodel_adapters.common.citations import with_spans
from contentmodel_adapters.frameworks.extensions_ai import answers
from contentmodel_adapters.frameworks.extensions_ai import contents as extensions_ai
from contentmodel_adapters.frameworks.extensions_ai.meai.blocks import API, NAMES, REQUEST, RESPONSE, TABLE
from contentmodel_adapters.frameworks.extensions_ai.meai.rules import RULES

WITH_SPANS = transcript_step(with_spans, needs=(Citation,), unit=NAMES.unit)


class ExtensionsAI(answers.WithAnswers):
    """The adapter of lists of ChatMessage, alone or in the field `messages` of a thread, and of ChatResponse."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    takes_json = True
    keeps_approvals = True
    records = frozenset({"message_id", "created"})
    reasoning_fields = ("reasoning",)
    request_steps = (*extensions_ai.STEPS, WITH_SPANS)
    answer_steps = (*answers.MESSAGE_STEPS, WITH_SPANS)
    of_answers = frozenset({"responseId", "modelId", "createdAt", "finishReason", "usage", "continuationToken"})

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of this format: their contents have a `$type`."""
        return extensions_ai.recognised(items, NAMES.tag)


adapter = ExtensionsAI()
